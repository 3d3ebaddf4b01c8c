"""Tables that stay on disk: columns as files of codes, what their cells show, and rows looked for by what they show.

In memory, arrays and the sorted index of :mod:`incrowd.hiding.published` do the same.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.tables.reading.draft import Shared
from incrowd.tables.streams.body import scratch_full
from incrowd.tables.streams.encode import Blocks
from incrowd.tables.streams.stream import Stream
from incrowd.vocabulary.encoded_table import EncodedTable, LazyColumns, WholeColumn
from incrowd.vocabulary.schema import ColumnType

Nodes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.intp]
_MANY = 1 << 16  # cells read at once after which pages of the file are given back
_FIRST, _LARGEST = 1 << 14, 1 << 22  # rows looked through at first, and at most at once
_SHOWN = pl.Series(["a value"])


@dataclass(frozen=True, eq=False)
class FlatTable:
    """Lays columns into files of a folder when they are first asked for."""

    stream: Stream
    blocks: Blocks
    beside: dict[str, Shared]
    folder: Path = field(repr=False)  # private; it must outlive the table

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


class ShownCells:
    """The cells of a column on disk; those that were changed are kept in memory.

    Indexed by a row, a slice or an array of rows it gives nodes, and by assignment cells change, as an array does.
    """

    def __init__(self, codes: npt.NDArray[Any], of_code: Nodes) -> None:
        self._codes, self._of_code = codes, of_code
        self._changed: dict[int, int] = {}
        self._sorted: tuple[npt.NDArray[np.intp], Nodes] | None = None

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, rows: Any) -> Any:
        if isinstance(rows, int | np.integer):
            node = self._changed.get(int(rows))
            return self._of_code[self._codes[rows]] if node is None else np.int32(node)
        nodes: Nodes = self._of_code[self._codes[rows]]
        if len(nodes) > _MANY:
            forget(self._codes)
        return self._with_changes(np.arange(len(self))[rows] if isinstance(rows, slice) else rows, nodes)

    def __setitem__(self, rows: npt.NDArray[np.intp], nodes: npt.NDArray[Any]) -> None:
        self._changed.update(zip(rows.tolist(), nodes.tolist(), strict=True))
        self._sorted = None

    def _with_changes(self, rows: npt.NDArray[np.intp], nodes: Nodes) -> Nodes:
        if not self._changed:
            return nodes
        if self._sorted is None:
            changed = sorted(self._changed.items())
            self._sorted = np.array([row for row, _ in changed]), np.array([node for _, node in changed], np.int32)
        places = np.minimum(np.searchsorted(self._sorted[0], rows), len(self._sorted[0]) - 1)
        return np.where(self._sorted[0][places] == rows, self._sorted[1][places], nodes)


class ScannedRows:
    """Rows by what they show: nothing is sorted, rows are looked for when they are asked for."""

    def __init__(self, keys: Callable[[int, int], npt.NDArray[np.int64]], height: int) -> None:
        self._keys, self._height = keys, height

    def rows(self, key: int) -> Rows:
        """All rows of a key."""
        return np.concatenate([np.empty(0, np.intp), *self.chunks(key)])

    def chunks(self, key: int) -> Iterator[Rows]:
        """The rows of a key, a few at a time."""
        start, size = 0, _FIRST
        while start < self._height:
            stop = min(start + size, self._height)
            rows = np.flatnonzero(self._keys(start, stop) == key)
            if len(rows):
                yield rows + start
            start, size = stop, min(2 * size, _LARGEST)


def on_disk(codes: npt.NDArray[Any]) -> bool:
    """Whether the codes of a column are in a file."""
    return isinstance(codes, np.memmap)


def forget(codes: npt.NDArray[Any]) -> None:
    """Let the system take back the memory in which it holds pages of the file."""
    mapped = getattr(codes, "_mmap", None)
    if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)
