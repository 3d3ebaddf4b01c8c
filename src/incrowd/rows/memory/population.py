"""A table in memory, as algorithms know it: combinations numbered, rare ones hidden, values as parts or bins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import PlanError
from incrowd.methods.method import Combinations, PopulationPart, Presence
from incrowd.plan.steps import DROPPED, GROUP, Bin, Hide, Place, Recode, Recoding, Seat
from incrowd.trees.packing import class_places
from incrowd.trees.routing import route
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, LazyColumns
from incrowd.vocabulary.randomness import Randomness, permutation
from incrowd.vocabulary.released_value import Interval, Value, render
from incrowd.vocabulary.schema import ColumnType, Schema


# Dealing rows to groups: the shares say how many, chance says which.
@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of a placing step as arrays, cell by cell: so many rows of a cell go to a group."""

    cells: int
    cell: npt.NDArray[np.int64]
    group: Codes
    rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, step: Place) -> Shares:
        """Those of a step, in the order of their cells."""
        cell = np.array([step.cell(share) for share in step.shares], np.int64)
        group = np.array([share.group for share in step.shares], np.int32)
        rows = np.array([share.rows for share in step.shares], np.int64)
        order = np.argsort(cell, kind="stable")
        return cls(step.cells, cell[order], group[order], rows[order])

    def of_block(self, rows: npt.NDArray[np.int64]) -> Shares:
        """The same shares for some of the rows: so many of each."""
        some = np.flatnonzero(rows)
        return Shares(self.cells, self.cell[some], self.group[some], rows[some])

    @property
    def divided(self) -> npt.NDArray[np.bool_]:
        """Whether the rows of each cell go to several groups."""
        return np.bincount(self.cell, minlength=self.cells) > 1

    def check(self, counts: npt.NDArray[np.int64]) -> None:
        """Refuse other rows than those the step was made for: the shares account for all that rest in each cell."""
        promised = np.zeros(self.cells, np.int64)
        np.add.at(promised, self.cell, self.rows)
        if not np.array_equal(promised, counts):
            raise PlanError(
                "The plan was made for other rows: its counts differ from the table's. "
                "Use transform to see new rows through it."
            )


def deal(cells: npt.NDArray[np.integer], shares: Shares, randomness: Randomness) -> Codes:
    """The group of every row, given the cell it rests in.

    Rows of a cell that goes to several groups are shuffled first; every way to deal them is equally likely.
    """
    shares.check(np.bincount(cells, minlength=shares.cells))
    whole = np.full(shares.cells, DROPPED, np.int32)
    whole[shares.cell] = shares.group
    groups: Codes = whole[cells]
    divided = shares.divided
    rows = np.flatnonzero(divided[cells])
    rows = rows[permutation(len(rows), randomness)]
    rows = rows[np.argsort(cells[rows], kind="stable")]
    several = divided[shares.cell]
    groups[rows] = np.repeat(shares.group[several], shares.rows[several])
    return groups


def seated(step: Seat, rows: int) -> Codes:
    """The group of every row; raises if the step was made for other rows."""
    seats = step.known
    sizes = np.bincount(seats[seats != DROPPED], minlength=len(step.sizes))
    if len(seats) != rows or sizes.tolist() != list(step.sizes):
        raise PlanError("The plan was made for other rows: its groups do not fit the table's rows.")
    return seats


def main_groups(step: Place) -> Codes:
    """For each node of the step's tree the group most of its rows went to; climbs where no row came to rest.

    ``DROPPED`` where neither the node nor any node above it sent rows to a group.
    """
    nodes = len(step.tree.nodes)
    best = np.zeros(nodes, np.int64)
    group = np.full(nodes, DROPPED, np.int32)
    totals: dict[tuple[int, int], int] = {}
    for share in step.shares:
        totals[share.node, share.group] = totals.get((share.node, share.group), 0) + share.rows
    for (node, number), rows in totals.items():
        if number != DROPPED and rows > best[node]:
            best[node], group[node] = rows, number
    for node, parent in enumerate(step.tree.parents):
        if group[node] == DROPPED and parent >= 0:
            group[node] = group[parent]
    return group


# Numbers seen as the public bins they lie in.
def bin_table(table: EncodedTable, step: Bin) -> EncodedTable:
    """The table with the step's attributes as categories, one for each bin that occurs, named by its interval."""
    cuts = dict(step.cuts)

    def seen(name: str) -> EncodedColumn:
        return bin_column(table[name], cuts[name]) if name in cuts else table[name]

    return EncodedTable(LazyColumns({name: partial(seen, name) for name in table.columns}), table.height)


def bin_column(column: EncodedColumn, cuts: Sequence[float]) -> EncodedColumn:
    """A numeric column as a category of its bins; a missing value stays missing.

    Without cuts there is only one bin, which tells nothing: all values are missing.
    """
    if not cuts:
        empty = pl.Series(column.name, [], pl.String)
        return EncodedColumn(column.name, ColumnType.CATEGORICAL, np.zeros_like(column.codes), empty)
    bins = np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")
    present = np.unique(bins)
    intervals = Bin.intervals(cuts)
    labels = pl.Series(column.name, [render(intervals[b], column.type) for b in present], pl.String)
    places = np.append(np.searchsorted(present, bins), len(present)).astype(np.int32)
    return EncodedColumn(column.name, ColumnType.CATEGORICAL, places[column.codes], labels)


# Combinations of codes, numbered: which rows are equal in several columns.
Numbers = npt.NDArray[np.int64]
_SMALL_TABLE = 1 << 20  # flags, 1 MB: so few are cheaper than sorting, however few the rows


def combine(columns: Sequence[EncodedColumn], height: int) -> tuple[Numbers, int]:
    """The number of each row's combination, and how many there are; numbers follow the lexical order of the codes."""
    numbers, count = np.zeros(height, np.int64), min(height, 1)
    for column in columns:
        numbers, count = _without_gaps(numbers * column.width + column.codes, count * column.width)
    return numbers, count


def first_rows(numbers: Numbers, count: int) -> Numbers:
    """The first row of each combination."""
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _without_gaps(keys: Numbers, bound: int) -> tuple[Numbers, int]:
    """Keys below a bound, renumbered in their order without gaps."""
    if bound <= max(_SMALL_TABLE, 4 * len(keys)):
        present = np.zeros(bound, bool)
        present[keys] = True
        places = np.cumsum(present, dtype=np.int64)
        return places[keys] - 1, int(places[-1]) if bound else 0
    values, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64), len(values)


# Rows of rare combinations show nothing.
def rare_rows(
    table: EncodedTable, step: Hide, kept: npt.NDArray[np.intp], owners: Codes | None = None
) -> npt.NDArray[np.intp]:
    """The rows, of those that are kept, whose combination is rare or named by the step.

    ``owners`` has the person of every row, if rows are not persons: then combinations of few persons are rare.
    """
    columns = [table[name].take(kept) for name in step.names]
    numbers, count = combine(columns, len(kept))
    if owners is None:
        rare = np.bincount(numbers, minlength=count) < step.below
    else:
        from incrowd.methods.person_records import distinct_persons

        rare = distinct_persons(numbers, owners[kept], count) < step.below
    if step.also:
        named = set(step.also)
        first = first_rows(numbers, count)
        shown = zip(*(column.codes[first].tolist() for column in columns), strict=True)
        rare |= np.fromiter((codes in named for codes in shown), bool, count)
    return kept[rare[numbers]]


def hide_rows(table: EncodedTable, step: Hide, rows: npt.NDArray[np.intp]) -> EncodedTable:
    """The table with nothing shown of the step's attributes in these rows."""
    columns = dict(table.columns)
    for name in step.hidden:
        codes = columns[name].codes.copy()
        codes[rows] = columns[name].missing_code
        columns[name] = replace(columns[name], codes=codes)
    return EncodedTable(columns, table.height)


def drop_rows(groups: Codes | None, height: int, rows: npt.NDArray[np.intp]) -> Codes:
    """The groups of all rows, these rows left out."""
    left = np.zeros(height, np.int32) if groups is None else groups.copy()
    left[rows] = DROPPED
    return left


# Values seen as the parts they belong to.
def recode_table(table: EncodedTable, step: Recode) -> EncodedTable:
    """The table with the step's attributes as positions of parts; what belongs to no part is missing."""
    columns = dict(table.columns)
    for recoding in step.columns:
        columns[recoding.name] = recode_column(columns[recoding.name], recoding)
    return EncodedTable.of(columns.values())


def recode_column(column: EncodedColumn, recoding: Recoding) -> EncodedColumn:
    """One column as positions of parts."""
    names = pl.int_range(len(recoding.parts), eager=True).cast(pl.String).alias(column.name)
    return EncodedColumn(column.name, ColumnType.CATEGORICAL, part_of_code(column, recoding)[column.codes], names)


def part_of_code(column: EncodedColumn, recoding: Recoding) -> Codes:
    """For each code of a column the position of its part; one past the last for none, and for missing."""
    nothing = len(recoding.parts)
    positions = np.full(column.width, nothing, np.int32)
    if column.type.is_numeric:
        for position, part in enumerate(recoding.parts):
            if isinstance(part.members, Interval):
                positions[_between(column, part.members)] = position
    by_value: dict[Value, int] = {
        value: position
        for position, part in enumerate(recoding.parts)
        if not isinstance(part.members, Interval)
        for value in part.members
    }
    if by_value:
        for code, value in enumerate(column.values):
            positions[code] = by_value.get(value, positions[code])
    return positions


def _between(column: EncodedColumn, interval: Interval) -> slice:
    """The codes whose numbers lie in an interval."""
    low = 0 if interval.low is None else int(np.searchsorted(column.numbers, interval.low, side="right"))
    high = (
        len(column.numbers)
        if interval.high is None
        else int(np.searchsorted(column.numbers, interval.high, side="right"))
    )
    return slice(low, high)


@dataclass(frozen=True, eq=False)
class EmbeddedPopulation:
    """Encoded quasi-identifiers, target and columns of the requirement; after placing, the group of every row.

    ``owners`` has the person of every row, if rows are not persons.
    """

    table: EncodedTable
    schema: Schema
    randomness: Randomness
    groups: Codes | None = None
    owners: Codes | None = None
    _routed: dict[int, tuple[Tree, Codes]] = field(default_factory=dict, repr=False)
    _numbers: dict[tuple[str, ...], tuple[Numbers, int]] = field(default_factory=dict, repr=False)
    _next: dict[int, tuple[Any, EmbeddedPopulation]] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.height

    def sample(self) -> EncodedTable:
        """All rows: memory holds them anyway."""
        return self._with_groups

    @cached_property
    def _with_groups(self) -> EncodedTable:
        if self.groups is None:
            return self.table
        count = int(self.groups.max(initial=-1)) + 1
        names = pl.int_range(count, eager=True)
        codes = np.where(self.groups < 0, count, self.groups).astype(np.int32)
        group = EncodedColumn(GROUP, ColumnType.INTEGER, codes, names)
        return EncodedTable.of([*self.table.columns.values(), group])

    def parts(self, rows: int) -> Iterator[PopulationPart]:  # noqa: ARG002, all of them are here anyway
        """All rows as one part."""
        yield PopulationPart(np.arange(self.rows), self)

    def count(self, tree: Tree) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, class by class."""
        width = len(tree.classes)
        cells = self._resting(tree).astype(np.int64) * width + self._labels(tree)
        return np.bincount(cells, minlength=len(tree.nodes) * width).reshape(len(tree.nodes), width)

    def histograms(self, tree: Tree, name: str) -> npt.NDArray[np.int64]:
        """Rows that come to rest at each node, by their value of a column."""
        column = self.table[name]
        cells = self._resting(tree).astype(np.int64) * column.width + column.codes
        return np.bincount(cells, minlength=len(tree.nodes) * column.width).reshape(len(tree.nodes), column.width)

    def contingency(self, name: str) -> npt.NDArray[np.int64]:
        """Rows per code of an attribute and class."""
        column = self.table[name]
        return self._by_class(column.codes.astype(np.int64), column.width, np.arange(self.rows))

    def combinations(self, names: Sequence[str]) -> Combinations:
        """The combinations of these attributes that occur among the rows that are not left out."""
        kept = self.kept
        numbers, count = self._combined(names)
        first = kept[first_rows(numbers, count)]
        codes = [self._column(name).codes[first] for name in names]
        shape = np.stack(codes, axis=1) if codes else np.empty((count, 0), np.int32)
        return Combinations(shape, self._by_class(numbers, count, kept))

    def presence(
        self,
        of: Tree | Sequence[str],
        names: Sequence[str] = (),
        most: int | None = None,  # noqa: ARG002, all of them are here anyway
    ) -> Presence:
        """Who is where: at which node, or in which combination, with the codes of some columns."""
        assert self.owners is not None
        if isinstance(of, Tree):
            return Presence(self._resting(of), self.owners, tuple(self.table[name].codes for name in names))
        kept = self.kept
        cells, _ = self._combined(of)
        return Presence(cells, self.owners[kept], tuple(self.table[name].codes[kept] for name in names))

    def _combined(self, names: Sequence[str]) -> tuple[Numbers, int]:
        """The number of the combination of each row that is kept, and how many there are; the last is remembered."""
        if tuple(names) not in self._numbers:
            self._numbers.clear()
            kept = self.kept
            self._numbers[tuple(names)] = combine([self._column(name).take(kept) for name in names], len(kept))
        return self._numbers[tuple(names)]

    def _column(self, name: str) -> EncodedColumn:
        """A column, or the group of each row."""
        return self._with_groups[name] if name == GROUP else self.table[name]

    @property
    def kept(self) -> npt.NDArray[np.intp]:
        """The rows that are not left out."""
        return np.arange(self.rows) if self.groups is None else np.flatnonzero(self.groups != DROPPED)

    def _by_class(self, cells: npt.NDArray[np.int64], count: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """Rows per cell and class; without a target there is one class."""
        if self.schema.target is None:
            return np.bincount(cells, minlength=count).reshape(count, 1)
        target = self.table[self.schema.target]
        keys = cells * target.width + target.codes[rows]
        return np.bincount(keys, minlength=count * target.width).reshape(count, target.width)

    def recode(self, step: Recode) -> EmbeddedPopulation:
        """The same rows, the step's attributes seen as the parts their values belong to."""
        return self._once(step, lambda: self._changed(recode_table(self.table, step), self.groups))

    def hide(self, step: Hide) -> EmbeddedPopulation:
        """The same rows, nothing shown of the step's attributes where their combination is rare."""

        def hidden() -> EmbeddedPopulation:
            rows = rare_rows(self.table, step, self.kept, self.owners)
            if step.drop:
                return self._changed(self.table, drop_rows(self.groups, self.rows, rows))
            return self._changed(hide_rows(self.table, step, rows), self.groups)

        return self._once(step, hidden)

    def bin(self, step: Bin) -> EmbeddedPopulation:
        """The same rows, the step's attributes seen as the bins they lie in."""
        return self._once(step, lambda: self._changed(bin_table(self.table, step), self.groups))

    def place(self, step: Place) -> EmbeddedPopulation:
        """The same rows, dealt to groups; the same step gives the same groups again."""
        return self._once(step, lambda: self.dealt(step, Shares.of(step)))

    def dealt(self, step: Place, shares: Shares) -> EmbeddedPopulation:
        """The same rows, dealt to the groups of a step, so many as the shares say."""
        return self._changed(self.table, deal(self._cells(step), shares, self.randomness))

    def seat(self, step: Seat) -> EmbeddedPopulation:
        """The same rows, each in the group the step gives it."""
        return self._once(step, lambda: self._changed(self.table, seated(step, self.rows)))

    def resting(self, step: Place) -> npt.NDArray[np.int64]:
        """Rows that rest in each cell of a placing step."""
        return np.bincount(self._cells(step), minlength=step.cells)

    def _cells(self, step: Place) -> npt.NDArray[np.integer]:
        """The cell each row rests in: its node, or its node and class."""
        cells = self._resting(step.tree)
        if step.stratified:
            return cells.astype(np.int64) * len(step.tree.classes) + self._labels(step.tree)
        return cells

    def _once(self, step: object, make: Callable[[], EmbeddedPopulation]) -> EmbeddedPopulation:
        """The population after a step; asked again, the same one."""
        if id(step) not in self._next:
            self._next[id(step)] = (step, make())
        return self._next[id(step)][1]

    def _changed(self, table: EncodedTable, groups: Codes | None) -> EmbeddedPopulation:
        return EmbeddedPopulation(table, self.schema, self.randomness, groups, self.owners)

    def _resting(self, tree: Tree) -> Codes:
        """The node each row rests at; the walk through the last tree is remembered."""
        known = self._routed.get(id(tree))
        if known is None:
            known = tree, route(tree, self._with_groups)
            self._routed.clear()
            self._routed[id(tree)] = known
        return known[1]

    def _labels(self, tree: Tree) -> Codes:
        """The position of each row's class among the tree's classes; a tree without a target has one."""
        if not tree.target:
            return np.zeros(self.rows, np.int32)
        return class_places(tree, self.table).astype(np.int32)
