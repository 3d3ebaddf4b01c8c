"""What a stream asks of the file behind it, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from incrowd.errors import FileFormatError, OutputError


class Body(Protocol):
    """Rows of a table that can be read piece by piece, any number of times, always in the same order."""

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows of the named columns in frames of any size, at best near ``rows``; text perhaps as categories."""

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""

    def check(self) -> None:
        """Refuse to go on if a file is not what it was when it was opened."""


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
    """The named columns in the given order; a name is never taken for a pattern."""
    return pl.DataFrame([frame.get_column(name) for name in names])


# Notice a file that changes between two passes over it.
@dataclass(frozen=True)
class Stamp:
    """What a file looked like when it was opened."""

    path: Path
    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The present look of a file."""
        status = path.stat()
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    @property
    def holds(self) -> bool:
        """Whether the file is what it was."""
        try:
            return Stamp.of(self.path) == self
        except OSError:
            return False

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        if not self.holds:
            raise changed(self.path)


def changed(path: Path) -> FileFormatError:
    """The error for a file that is not what it was."""
    return FileFormatError(f"{path.name!r} changed while it was read. Start again when it is at rest.")


# What can go wrong with the folder in which a run keeps its own files.
def scratch_full() -> OutputError:
    """The error for a scratch folder that takes no more."""
    return OutputError("The scratch folder is full or cannot be written. Free space there, or choose another.")


def scratch_changed() -> FileFormatError:
    """The error for a file of this run that is not as it was written."""
    return FileFormatError("A file in the scratch folder of this run was changed or removed. Start again.")
