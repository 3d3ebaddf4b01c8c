"""What a stream asks of the file behind it, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import polars as pl


class Body(Protocol):
    """Rows of a table that can be read piece by piece, any number of times, always in the same order."""

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows of the named columns in frames of any size, at best near ``rows``."""
        ...

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        ...

    def check(self) -> None:
        """Refuse to go on if a file is not what it was when it was opened."""
        ...


def regrouped(pieces: Iterator[pl.DataFrame], rows: int) -> Iterator[pl.DataFrame]:
    """The same rows in frames of exactly the given number of rows; the last may have fewer.

    Examples
    --------
    >>> pieces = (pl.DataFrame({"a": [0] * size}) for size in (3, 0, 1, 5))
    >>> [frame.height for frame in regrouped(pieces, 4)]
    [4, 4, 1]
    """
    waiting: list[pl.DataFrame] = []
    missing = rows
    for piece in pieces:
        at = 0
        while piece.height - at >= missing:
            waiting.append(piece.slice(at, missing))
            yield pl.concat(waiting) if len(waiting) > 1 else waiting[0]
            at, waiting, missing = at + missing, [], rows
        if at < piece.height:
            waiting.append(piece.slice(at))
            missing -= piece.height - at
    if waiting:
        yield pl.concat(waiting)


def exact(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """The named columns in the given order; a name is never taken for a pattern.

    Examples
    --------
    >>> exact(pl.DataFrame({"a": [1], "^a$": [2]}), ["^a$"]).columns
    ['^a$']
    """
    return pl.DataFrame([frame.get_column(name) for name in names])
