"""The rows of the table in which cells are withheld: in memory, or read again from their file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from incrowd.reading.source import Origin, Source
from incrowd.reading.streams.stream import Stream


class Rows(Protocol):
    """Rows that can be read any number of times, always in the same order."""

    @property
    def origin(self) -> Origin:
        """Where they come from."""
        ...

    @property
    def height(self) -> int:
        """How many there are."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """The names of their columns."""
        ...

    @property
    def large(self) -> bool:
        """Whether there are too many for the memory."""
        ...

    def frames(self) -> Iterator[pl.DataFrame]:
        """All of them, in one frame or several."""
        ...


@dataclass(frozen=True, eq=False)
class WholeRows:
    """Rows in memory."""

    source: Source
    large = False

    @property
    def origin(self) -> Origin:
        """Where they come from."""
        return self.source.origin

    @property
    def height(self) -> int:
        """How many there are."""
        return self.source.frame.height

    @property
    def columns(self) -> Sequence[str]:
        """The names of their columns."""
        return self.source.frame.columns

    def frames(self) -> Iterator[pl.DataFrame]:
        """All of them, in one frame."""
        yield self.source.frame


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """Rows of a file, read some at a time."""

    stream: Stream
    at_once: int
    large = True

    @property
    def origin(self) -> Origin:
        """Where they come from."""
        return self.stream.origin

    @property
    def height(self) -> int:
        """How many there are."""
        return self.stream.rows

    @property
    def columns(self) -> Sequence[str]:
        """The names of their columns."""
        return self.stream.columns

    def frames(self) -> Iterator[pl.DataFrame]:
        """All of them, some at a time."""
        return self.stream.frames(self.at_once)
