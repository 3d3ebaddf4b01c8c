"""What a run of the benchmarks was asked for, and how it tells where it is."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """Where Adult lies, if it is at hand, and whether a tiny run is enough."""

    data: Path | None = None
    quick: bool = False

    @property
    def repetitions(self) -> int:
        """How often each measurement is made."""
        return 1 if self.quick else 3


def tell(words: str) -> None:
    """One line of progress; results go to standard output, this does not."""
    print(f"  {words}", file=sys.stderr, flush=True)
