"""``python -m quality faults|mutants|fuzz|house …``: how good the checks are, and how large the program is."""

from __future__ import annotations

import importlib
import sys

PARTS = ("faults", "mutants", "fuzz", "house")


def main(argv: list[str]) -> int:
    """Hand the words that follow to the part that the first one names."""
    if not argv or argv[0] not in PARTS:
        print(f"python -m quality {'|'.join(PARTS)} …", file=sys.stderr)
        return 2
    return int(importlib.import_module(f"quality.{argv[0]}").main(argv[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
