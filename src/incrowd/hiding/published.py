"""The table as it would be published: what cells show, how often, and a way back.

Hiding a cell is tried on a :class:`PublishedTable` and taken back if it does not help. The counts the adversaries
reckon with are made once for each pair of attributes and then kept up to date cell by cell; rows are found by an index
that is made once. The source table is never changed.
"""

from __future__ import annotations

import heapq
import math
import mmap
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import HeaderError, ParameterError
from incrowd.hiding.taxonomy import CellTaxonomy
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import Schema, unknown_column

Nodes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]
_WIDEST = 50_000_000  # pairs of values counted together: 400 MB
_CHUNK = 256  # rows handed out first; twice as many each time
_AT_ONCE = 1 << 22  # rows of a table on disk
_MANY = 1 << 16  # cells read at once after which pages of the file are given back
_FIRST, _LARGEST = 1 << 14, 1 << 22  # rows looked through at first, and at most at once


@dataclass
class Reads:
    """What was read so far: whole columns (to count or index them) and single rows."""

    scans: int = 0
    rows: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class _Moved:
    """Cells of one attribute that were changed together, and what they showed before."""

    rows: Rows
    name: str
    before: Nodes


@dataclass(eq=False, repr=False)
class PublishedTable:
    """What every cell of a table shows, with the counts adversaries reckon with."""

    table: EncodedTable
    schema: Schema
    predictors: tuple[str, ...] = ()  # the columns an adversary reckons with; all released columns if not given
    work: Reads = field(default_factory=Reads)
    _nodes: dict[str, Nodes | ShownCells] = field(default_factory=dict)
    _taxonomies: dict[str, CellTaxonomy] = field(default_factory=dict)
    _counts: dict[str, Counts] = field(default_factory=dict)
    _joint: dict[tuple[str, str], Counts] = field(default_factory=dict)
    _index: dict[tuple[str, ...], RowIndex | ScannedRows] = field(default_factory=dict)
    _journal: list[_Moved] = field(default_factory=list)
    _arrived: dict[tuple[str, int], set[int]] = field(default_factory=lambda: defaultdict(set))

    def __post_init__(self) -> None:
        self.predictors = tuple(self.predictors) or self.attributes
        for name in self.predictors:
            if name not in self.attributes:
                raise HeaderError(unknown_column(name, self.attributes))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The columns that are published."""
        return self.schema.released

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.table.height

    def others(self, attribute: str) -> tuple[str, ...]:
        """The predictors of an attribute: all but itself."""
        return tuple(name for name in self.predictors if name != attribute)

    def taxonomy(self, name: str) -> CellTaxonomy:
        """What the cells of a column may show."""
        if name not in self._taxonomies:
            self._taxonomies[name] = CellTaxonomy.of(self.table[name], self.schema[name].hierarchy)
        return self._taxonomies[name]

    def nodes(self, name: str) -> Nodes | ShownCells:
        """What each cell of a column shows now. To be read only."""
        if name not in self._nodes:
            self.work.scans += 1
            codes, of_code = self.table[name].codes, self.taxonomy(name).of_code
            self._nodes[name] = ShownCells(codes, of_code) if on_disk(codes) else of_code[codes]
        return self._nodes[name]

    def stretches(self, *names: str) -> Iterator[tuple[int, list[Nodes]]]:
        """What the cells of some columns show now: all rows at once, or of a table on disk some after the other."""
        columns = [self.nodes(name) for name in names]
        size = _AT_ONCE if any(isinstance(column, ShownCells) for column in columns) else max(1, self.height)
        for start in range(0, self.height, size):
            yield start, [column[start : start + size] for column in columns]

    def rows_showing(self, name: str, nodes: Sequence[int]) -> Rows:
        """All rows that show one of these nodes of a column now, ascending."""
        parts = [np.flatnonzero(np.isin(shown, nodes)) + start for start, (shown,) in self.stretches(name)]
        return np.concatenate([np.empty(0, np.intp), *parts])

    def node(self, row: int, name: str) -> int:
        """What one cell shows now."""
        return int(self.nodes(name)[row])

    def original(self, row: int, name: str) -> int:
        """What one cell of the source shows."""
        return int(self.taxonomy(name).of_code[self.table[name].codes[row]])

    def counts(self, name: str) -> Counts:
        """Cells of a column that show each node. To be read only."""
        if name not in self._counts:
            width = len(self.taxonomy(name))
            parts = (np.bincount(nodes, minlength=width) for _, (nodes,) in self.stretches(name))
            self._counts[name] = sum(parts, np.zeros(width, np.int64))
        return self._counts[name]

    def joint(self, name: str, other: str) -> Counts:
        """Rows that show each node of one column and each node of another one. To be read only."""
        if (name, other) not in self._joint:
            self._check_width(name, other, len(self.taxonomy(name)) * len(self.taxonomy(other)))
            self.work.scans += 1
            counts = self.pairs(name, other)
            self._joint[name, other] = counts
            self._joint[other, name] = counts.T
        return self._joint[name, other]

    def pairs(self, name: str, other: str) -> Counts:
        """The same counts, made anew and not kept."""
        wide = len(self.taxonomy(other))
        size = len(self.taxonomy(name)) * wide
        counts = np.zeros(size, np.int64)
        for _, (nodes, beside) in self.stretches(name, other):
            counts += np.bincount(nodes.astype(np.int64) * wide + beside, minlength=size)
        return counts.reshape(-1, wide)

    def _check_width(self, name: str, other: str, size: int) -> None:
        if size > _WIDEST:
            raise ParameterError(
                f"Columns {name!r} and {other!r} have too many distinct values to count together ({size:,} pairs). "
                "Round or bin one of them, or leave it out of the predictors."
            )

    def show(self, rows: Sequence[int] | Rows, name: str, node: int) -> None:
        """Let the cells of these rows (each named once) show a node."""
        places = np.asarray(rows, np.intp)
        moved = _Moved(places, name, self.nodes(name)[places].copy())
        self._journal.append(moved)
        self._put(moved, np.full(len(places), node, np.int32))

    def _put(self, moved: _Moved, after: Nodes) -> None:
        """Change cells and every count they belong to."""
        self.work.rows += len(moved.rows)
        before = self.nodes(moved.name)[moved.rows].copy()
        self._nodes[moved.name][moved.rows] = after
        if moved.name in self._counts:
            np.subtract.at(self._counts[moved.name], before, 1)
            np.add.at(self._counts[moved.name], after, 1)
        for (name, other), counts in self._joint.items():
            if name == moved.name:
                beside = self._nodes[other][moved.rows]
                np.subtract.at(counts, (before, beside), 1)
                np.add.at(counts, (after, beside), 1)
        away = after != self.taxonomy(moved.name).of_code[self.table[moved.name].codes[moved.rows]]
        for row, node in zip(moved.rows[away].tolist(), after[away].tolist(), strict=True):
            self._arrived[moved.name, node].add(row)

    def mark(self) -> int:
        """A place to come back to."""
        return len(self._journal)

    def back(self, mark: int) -> None:
        """Take back everything that was shown since a mark."""
        while len(self._journal) > mark:
            moved = self._journal.pop()
            self._put(moved, moved.before)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Whatever is shown within is taken back at the end."""
        mark = self.mark()
        try:
            yield
        finally:
            self.back(mark)

    def touched(self, since: int = 0) -> list[tuple[int, str]]:
        """Cells that show something else than at a mark, by row and column order."""
        first: dict[tuple[int, str], int] = {}
        for moved in self._journal[since:]:
            for row, node in zip(moved.rows.tolist(), moved.before.tolist(), strict=True):
                first.setdefault((row, moved.name), node)
        order = {name: place for place, name in enumerate(self.attributes)}
        changed = [cell for cell, node in first.items() if self.node(*cell) != node]
        return sorted(changed, key=lambda cell: (cell[0], order[cell[1]]))

    def rows_with(self, *shown: tuple[str, int]) -> Iterator[int]:
        """Rows that show the given nodes of one or two columns now, ascending, read as they are asked for.

        A row is checked before it is handed out, so cells may be changed on the way; rows that come to show the
        nodes on the way are not found.
        """
        arrived = sorted(set().union(*(self._arrived.get(pair, ()) for pair in shown)))
        self.work.rows += len(arrived)
        indexed = (int(row) for rows in self._chunks(shown) for row in self._still(rows, shown))
        last = -1
        for row in heapq.merge(indexed, arrived):
            if row != last and all(self.node(row, name) == node for name, node in shown):
                last = row
                yield row

    def all_rows_with(self, name: str, node: int) -> Rows:
        """All rows that show a node of a column now, ascending."""
        indexed = self._index_of((name,)).rows(node)
        arrived = np.fromiter(self._arrived.get((name, node), ()), np.intp)
        rows = np.union1d(indexed, arrived) if len(arrived) else indexed
        return self._still(rows, ((name, node),))

    def _chunks(self, shown: tuple[tuple[str, int], ...]) -> Iterator[Rows]:
        key = 0
        for name, node in shown:
            key = key * len(self.taxonomy(name)) + node
        return self._index_of(tuple(name for name, _ in shown)).chunks(key)

    def _still(self, rows: Rows, shown: tuple[tuple[str, int], ...]) -> Rows:
        """Those of the rows that show the nodes now."""
        self.work.rows += len(rows)
        for name, node in shown:
            rows = rows[self.nodes(name)[rows] == node]
        return rows

    def _index_of(self, names: tuple[str, ...]) -> RowIndex | ScannedRows:
        """Rows by what they showed in the source: what changed since is in ``_arrived``."""
        if names not in self._index:
            self.work.scans += 1
            if any(on_disk(self.table[name].codes) for name in names):
                self._index[names] = ScannedRows(lambda start, stop: self._keys(names, start, stop), self.height)
            else:
                size = math.prod(len(self.taxonomy(name)) for name in names)
                self._index[names] = RowIndex(self._keys(names, 0, self.height), size)
        return self._index[names]

    def _keys(self, names: tuple[str, ...], start: int, stop: int) -> npt.NDArray[np.int64]:
        """What rows showed of some columns in the source, as one number."""
        keys = np.zeros(stop - start, np.int64)
        for name in names:
            taxonomy, codes = self.taxonomy(name), self.table[name].codes
            keys = keys * len(taxonomy) + taxonomy.of_code[codes[start:stop]]
            forget(codes)
        return keys


class RowIndex:
    """The rows of each key, ascending, sorted once; keys are whole numbers below ``size``."""

    def __init__(self, keys: npt.NDArray[np.int64], size: int) -> None:
        self._order = np.argsort(keys, kind="stable").astype(np.uint32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])

    def rows(self, key: int) -> Rows:
        """All rows of a key."""
        return self._order[self._starts[key] : self._starts[key + 1]].astype(np.intp)

    def chunks(self, key: int) -> Iterator[Rows]:
        """The rows of a key, a few at a time, twice as many each time."""
        first, last, size = int(self._starts[key]), int(self._starts[key + 1]), _CHUNK
        while first < last:
            yield self._order[first : min(first + size, last)].astype(np.intp)
            first, size = first + size, 2 * size


# Of a table that stays on disk, arrays and the sorted index are files and searches.
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
