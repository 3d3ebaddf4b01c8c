"""An encoded table whose columns are files: each column is one array of codes that stays on disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.reading.streams.blocks import Blocks
from incrowd.reading.streams.repeats import Shared
from incrowd.reading.streams.scratch import scratch_full
from incrowd.reading.streams.stream import Stream
from incrowd.vocabulary.encoded_table import EncodedTable, LazyColumns, WholeColumn
from incrowd.vocabulary.schema import ColumnType

Codes = npt.NDArray[np.unsignedinteger]
_SHOWN = pl.Series(["a value"])


@dataclass(frozen=True, eq=False)
class FlatTable:
    """Lays columns into files of a folder when they are first asked for.

    Parameters
    ----------
    stream, blocks
        The table, and those of its columns that were encoded.
    beside
        Columns that were not, with their counts: of them only whether a cell shows something is known.
    folder
        Private; it must outlive the table.
    """

    stream: Stream
    blocks: Blocks
    beside: dict[str, Shared]
    folder: Path = field(repr=False)

    def table(self, names: Sequence[str]) -> EncodedTable:
        """The table of the named columns."""
        makers = {name: partial(self._made, place, name) for place, name in enumerate(names)}
        return EncodedTable(LazyColumns(makers), self.stream.rows)

    def _made(self, place: int, name: str) -> WholeColumn:
        path = self.folder / f"column-{place:05d}"
        if name in self.beside:
            shared = self.beside[name]
            counts = np.array([shared.rows, self.stream.rows - shared.rows])
            return WholeColumn(
                name, ColumnType.CATEGORICAL, self._laid(path, self._nulls(name), 1), _SHOWN, total=counts
            )
        column = self.blocks.columns[name]
        width = len(column.dictionary)
        codes = (self.blocks.block(block, [name])[name].codes for block in range(len(self.blocks)))
        return WholeColumn(name, column.type, self._laid(path, codes, width), column.dictionary, total=column.counts)

    def _nulls(self, name: str) -> Iterable[npt.NDArray[np.bool_]]:
        return (frame[name].is_null().to_numpy() for frame in self.stream.frames(columns=[name]))

    def _laid(self, path: Path, pieces: Iterable[npt.NDArray[np.generic]], largest: int) -> npt.NDArray[np.int32]:
        """Codes in a file, in the smallest type that holds them."""
        kind = np.min_scalar_type(largest)
        try:
            with path.open("xb") as file:
                for piece in pieces:
                    file.write(np.ascontiguousarray(piece.astype(kind)).data)
        except OSError:
            raise scratch_full() from None
        mapped: npt.NDArray[np.int32] = np.memmap(path, kind, "r", shape=self.stream.rows)
        return mapped
