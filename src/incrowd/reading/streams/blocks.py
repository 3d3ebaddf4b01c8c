"""An encoded table in blocks on disk, all of which share their dictionaries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from incrowd.errors import Notice
from incrowd.reading.streams.hashing import RawCodes
from incrowd.reading.streams.scratch import scratch_changed, scratch_full
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, LazyColumns, WholeColumn
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True)
class Stored:
    """Raw codes of one column in the file of a block: where they are, and their type."""

    offset: int
    type: str


@dataclass(frozen=True)
class BlockFile:
    """The file of one block: its rows and where its columns are."""

    path: Path
    rows: int
    columns: Mapping[str, Stored]

    @classmethod
    def write(cls, path: Path, codes: Mapping[str, RawCodes]) -> BlockFile:
        """Write the raw codes of one block, each column in the smallest type that holds it."""
        columns, offset = {}, 0
        try:
            with path.open("xb") as file:
                for name, column in codes.items():
                    small = column.astype(np.min_scalar_type(int(column.max(initial=0))), copy=False)
                    columns[name] = Stored(offset, small.dtype.str)
                    offset += file.write(np.ascontiguousarray(small).data)
        except OSError:
            raise scratch_full() from None
        return cls(path, len(next(iter(codes.values()))) if codes else 0, columns)

    def read(self, name: str) -> npt.NDArray[np.unsignedinteger]:
        """The raw codes of one column."""
        stored = self.columns[name]
        try:
            codes = np.fromfile(self.path, stored.type, self.rows, offset=stored.offset)
        except OSError:
            raise scratch_changed() from None
        if len(codes) != self.rows:
            raise scratch_changed()
        return codes


@dataclass(frozen=True, eq=False)
class Blocks:
    """An encoded table in blocks of rows.

    Parameters
    ----------
    columns
        Type, dictionary and counts of each column over all blocks.
    rows
        Rows of each block.
    schema
        The schema the columns were encoded by, types settled on all values.
    notices
        What was unified or looks odd, as the encoding of a small table tells.
    markers
        Markers of missing values in these columns, as the reader of small files tells.
    """

    columns: Mapping[str, WholeColumn]
    rows: tuple[int, ...]
    schema: Schema
    notices: tuple[Notice, ...]
    markers: tuple[Notice, ...]
    _files: Sequence[BlockFile] = field(repr=False)
    _places: Mapping[str, Codes] = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def height(self) -> int:
        """Number of rows of all blocks together."""
        return sum(self.rows)

    def block(self, place: int, names: Sequence[str] | None = None) -> EncodedTable:
        """One block as an encoded table; all its columns, or the named ones, each read when it is first asked for."""
        file = self._files[place]
        chosen = self.columns if names is None else names
        return EncodedTable(LazyColumns({name: partial(self._column, file, name) for name in chosen}), file.rows)

    def __iter__(self) -> Iterator[EncodedTable]:
        return (self.block(place) for place in range(len(self)))

    def _column(self, file: BlockFile, name: str) -> EncodedColumn:
        column = self.columns[name]
        return EncodedColumn(name, column.type, np.take(self._places[name], file.read(name)), column.dictionary)
