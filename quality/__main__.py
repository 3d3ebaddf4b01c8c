"""``python -m quality fuzz …``."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from quality.fuzz import main

    sys.exit(main(sys.argv[2:]))
