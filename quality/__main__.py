"""``python -m quality faults|mutants|fuzz …``: how good the checks of the program are; each has its own ``--help``."""

from __future__ import annotations

import importlib
import sys

PARTS = ("faults", "mutants", "fuzz")


def main(argv: list[str]) -> int:
    """Hand the words that follow to the part that the first one names."""
    if not argv or argv[0] not in PARTS:
        print(f"python -m quality {'|'.join(PARTS)} …", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"quality.{argv[0]}").main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
