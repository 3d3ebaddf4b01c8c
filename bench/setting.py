"""What a run of the benchmarks was asked for, and how it tells where it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Size = TypeVar("Size")


@dataclass(frozen=True)
class Setting:
    """Where Adult lies, if it is at hand, and whether a tiny run is enough."""

    data: Path | None = None
    quick: bool = False
    up_to: int | None = None

    def affordable(self, sizes: Sequence[Size], size: Callable[[Size], int]) -> list[Size]:
        """The sizes that were asked for; all, unless there is a limit."""
        return [each for each in sizes if self.up_to is None or size(each) <= self.up_to] or list(sizes[:1])

    @property
    def repetitions(self) -> int:
        """How often each measurement is made."""
        return 1 if self.quick else 3


def tell(words: str) -> None:
    """One line of progress; results go to standard output, this does not."""
    print(f"  {words}", file=sys.stderr, flush=True)
