"""The rows of persons: how many each keeps, which stand side by side, and what those have in common as one cell.

Persons in groups: by how many rows they keep, then by what does not change and what sums up the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.judging import Judge
from incrowd.methods.numeric import round_cuts
from incrowd.methods.partitioning.dimensions import RANGE, SET, TREE, Dimension, dimensions_of
from incrowd.methods.partitioning.mondrian import class_codes, grow_cuts
from incrowd.methods.partitioning.tree_of_cuts import FormOf, Side, form_makers, tree_of_cuts
from incrowd.trees.compiled import compiled
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Form, Interval, ShownMissing, Suppressed
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Histories:
    """Who has which rows.

    ``owners`` has the person of each row; a person may have no row. ``columns`` are what an attacker knows of a row,
    ``order`` puts the rows of a person in order, ``draw`` is a number for each row, by chance.
    """

    owners: Ints
    persons: int
    columns: tuple[EncodedColumn, ...]
    order: Ints | None
    draw: npt.NDArray[np.uint64]

    @classmethod
    def of(
        cls,
        owners: Codes,
        persons: int,
        columns: Sequence[EncodedColumn],
        order: EncodedColumn | None,
        randomness: Randomness,
    ) -> Histories:
        """The rows of so many persons."""
        ranks = None if order is None else order.codes.astype(np.int64)
        return cls(owners.astype(np.int64), persons, tuple(columns), ranks, randomness.words(len(owners)))

    @cached_property
    def lengths(self) -> Ints:
        """How many rows each person has."""
        return np.bincount(self.owners, minlength=self.persons)

    @cached_property
    def _by_value(self) -> Ints:
        """For each row the number of its combination of values, in the order of the columns."""
        numbers = np.zeros(len(self.owners), np.int64)
        for column in self.columns:
            numbers = np.unique(numbers * column.width + column.codes, return_inverse=True)[1].astype(np.int64)
        return numbers

    @cached_property
    def _preference(self) -> Ints:
        """All rows, person by person, those first that are rather kept.

        The earliest; without an order by chance, but rows like another one of the same person after all that are not.
        """
        if self.order is not None:
            return np.lexsort((self.draw, self._by_value, self.order, self.owners))
        alike = np.lexsort((self.draw, self._by_value, self.owners))
        again = _places(self.owners[alike] * (len(self.owners) + 1) + self._by_value[alike])
        order = np.lexsort((self.draw[alike], again, self.owners[alike]))
        return np.asarray(alike[order])

    def kept(self, lengths: Ints) -> npt.NDArray[np.bool_]:
        """Which rows are left if each person keeps at most so many."""
        rows, kept = self._preference, np.zeros(len(self.owners), bool)
        kept[rows] = _places(self.owners[rows]) < lengths[self.owners[rows]]
        return kept

    def places(self, kept: npt.NDArray[np.bool_]) -> Ints:
        """The place of each kept row among those of its person, by order, else by values; -1 for other rows."""
        rows = np.flatnonzero(kept)
        keys = [self.draw[rows], self._by_value[rows], self.owners[rows]]
        if self.order is not None:
            keys.insert(2, self.order[rows])
        rows = rows[np.lexsort(keys)]
        places = np.full(len(self.owners), -1, np.int64)
        places[rows] = _places(self.owners[rows])
        return places


def _places(sorted_keys: Ints) -> Ints:
    """The place of each entry among those with the same key, which stand together."""
    count = len(sorted_keys)
    new = np.ones(count, bool)
    new[1:] = sorted_keys[1:] != sorted_keys[:-1]
    starts = np.flatnonzero(new)
    return np.asarray(np.arange(count) - np.repeat(starts, np.diff(np.append(starts, count))))


def levels(lengths: Ints, k: int, randomness: Randomness) -> Ints:
    """How many rows each person keeps so that k persons keep each number, and as few rows as possible are lost.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SeededRandomness
    >>> sorted(levels(np.array([9, 4, 4, 3, 1, 1, 1]), 2, SeededRandomness(1)).tolist())
    [1, 1, 1, 3, 3, 4, 4]
    """
    order = np.lexsort((randomness.words(len(lengths)), lengths))
    kept = np.empty(len(lengths), np.int64)
    kept[order] = _levelled(lengths[order].astype(np.int64), max(1, k))
    return kept


@compiled
def _levelled(ascending: Any, k: int) -> Any:
    """Persons in the order of their rows, cut into stretches of k to 2k - 1; each keeps as many as its first."""
    count = len(ascending)
    total = np.zeros(count + 1, np.int64)
    for i in range(count):
        total[i + 1] = total[i] + ascending[i]
    worst = total[count] + 1
    lost = np.full(count + 1, worst, np.int64)
    start = np.zeros(count + 1, np.int64)
    lost[0] = 0
    for end in range(k, count + 1):
        for begin in range(max(0, end - 2 * k + 1), end - k + 1):
            here = lost[begin] + total[end] - total[begin] - (end - begin) * ascending[begin]
            if lost[begin] < worst and here < lost[end]:
                lost[end], start[end] = here, begin
    kept = np.zeros(count, np.int64)
    end = count
    while end > 0:
        begin = start[end]
        for i in range(begin, end):
            kept[i] = ascending[begin]
        end = begin
    return kept


@compiled
def _cut_places(codes: Any, persons: Any, people: int, smallest: int, last: Any) -> Any:
    """Cuts as soon as a piece has enough persons, and as many are beyond it."""
    seen = np.full(people, -1, np.int64)
    places = np.empty(len(codes), np.int64)
    used, here, left = 0, 0, people
    for i in range(len(codes)):
        person = persons[i]
        if seen[person] != used:
            seen[person] = used
            here += 1
        if last[person] == i:
            left -= 1
        ends = i + 1 < len(codes) and codes[i + 1] != codes[i]
        if ends and here >= smallest and left >= smallest:
            places[used] = codes[i] + 1
            used += 1
            here = 0
    return places[:used]


def even_places(column: EncodedColumn, owners: Ints, smallest: int) -> list[int]:
    """Codes before which a number is cut so that every piece has rows of enough persons.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = np.array([0, 0, 1, 2, 3, 3], np.int32)
    >>> column = EncodedColumn("day", ColumnType.INTEGER, codes, pl.Series([0, 10, 20, 30]))
    >>> even_places(column, np.array([0, 0, 1, 0, 1, 2]), 2)
    [2]
    """
    rows = np.flatnonzero(column.codes != column.missing_code)
    rows = rows[np.argsort(column.codes[rows], kind="stable")]
    known, people = np.unique(owners[rows], return_inverse=True)
    last = np.zeros(len(known), np.int64)
    np.maximum.at(last, people, np.arange(len(rows)))
    codes = column.codes[rows].astype(np.int64)
    places: list[int] = _cut_places(codes, people.astype(np.int64), len(known), smallest, last).tolist()
    return places


_PIECES = 64  # of the persons: finer cuts would tell little more, and let fewer cells look alike


def common_forms(
    column: EncodedColumn, known: Column, owners: Ints, seats: Ints, count: int, *, k: int, boxes: str
) -> list[Form]:
    """For each of ``count`` seats what its rows have in common; rows with a negative seat have none.

    Numbers are shown as intervals whose ends have rows of k persons between them; with ``boxes="extremes"`` from the
    smallest to the largest. A set or interval that excludes nothing shows nothing, nor does a seat some of whose rows
    have no value.
    """
    dimension = Dimension(
        column, TREE if known.hierarchy else RANGE if column.type.is_numeric else SET, known.hierarchy
    )
    rows = np.flatnonzero(seats >= 0)
    missing = column.codes[rows] == column.missing_code
    gone = np.bincount(seats[rows][missing], minlength=count)
    there = np.bincount(seats[rows][~missing], minlength=count)
    form_of = form_makers([dimension], "interval", boxes, k, [False])[0]  # who has no value is told apart below
    rows = rows[~missing]
    if dimension.hierarchy is not None:
        shown = _of_ends(dimension, form_of, _ancestors(dimension.hierarchy, dimension), rows, seats[rows], count)
    elif column.type.is_numeric:
        shown = _of_ends(dimension, form_of, _between_cuts(column, owners, k), rows, seats[rows], count)
    else:
        shown = _of_sets(dimension, form_of, rows, seats[rows], count)
    return [ShownMissing() if not there[seat] else Suppressed() if gone[seat] else shown[seat] for seat in range(count)]


def _of_ends(
    dimension: Dimension, form_of: FormOf, side: Callable[[int, int], Side], rows: Ints, seats: Ints, count: int
) -> list[Form]:
    """What covers the first and the last place of each seat."""
    places = dimension.places[rows]
    least, most = np.full(count, dimension.width, np.int64), np.full(count, -1, np.int64)
    np.minimum.at(least, seats, places)
    np.maximum.at(most, seats, places)
    return [
        Suppressed() if last < 0 else form_of(side(first, last))
        for first, last in zip(least.tolist(), most.tolist(), strict=True)
    ]


def _ancestors(hierarchy: Hierarchy, dimension: Dimension) -> Callable[[int, int], Side]:
    """The lowest group of the hierarchy that has two leaves, and so all between them."""

    @cache
    def lowest(first: int, last: int) -> Side:
        node = dimension.settled(0)
        while True:
            below = (child for child in hierarchy.children(node) if first in hierarchy.leaves_below(child))
            child = next(below, None)
            if child is None or last not in hierarchy.leaves_below(child):
                return node
            node = dimension.settled(child)

    return lowest


def _between_cuts(column: EncodedColumn, owners: Ints, k: int) -> Callable[[int, int], Side]:
    """The shortest interval between public cuts that has two numbers."""
    persons = len(np.unique(owners))
    cuts = round_cuts(column, even_places(column, owners, max(k, -(-persons // _PIECES))))
    low = np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left").tolist()
    ends: Sequence[float | None] = [None, *cuts, None]

    @cache
    def between(first: int, last: int) -> Side:
        return Interval(ends[low[first]], ends[low[last] + 1])

    return between


def _of_sets(dimension: Dimension, form_of: FormOf, rows: Ints, seats: Ints, count: int) -> list[Form]:
    """The values that occur."""
    width = dimension.column.width
    cells = np.unique(seats * width + dimension.column.codes[rows])
    values, starts = (cells % width).tolist(), np.searchsorted(cells // width, np.arange(count + 1)).tolist()
    return [form_of(tuple(values[first:last])) if last > first else Suppressed() for first, last in pairwise(starts)]


def is_static(column: EncodedColumn, owners: Ints, persons: int) -> bool:
    """Whether no person has two values; missing is one.

    Examples
    --------
    >>> sex = EncodedColumn("sex", ColumnType.TEXT, np.array([0, 0, 1], np.int32), pl.Series(["f", "m"]))
    >>> is_static(sex, np.array([0, 0, 1]), 2), is_static(sex, np.array([0, 1, 1]), 2)
    (True, False)
    """
    first = np.zeros(persons, np.int64)
    first[owners] = column.codes
    return bool((first[owners] == column.codes).all())


def summaries(table: EncodedTable, schema: Schema, owners: Ints, persons: int) -> tuple[EncodedTable, Schema]:
    """A table with a row for each person, and its columns.

    A quasi-identifier that never changes is as it is; of the others there is the commonest value, or the smallest,
    largest and mean number. The class is the commonest one.
    """
    columns: list[EncodedColumn] = []
    described: list[Column] = []
    for name in schema.quasi_identifiers:
        column, known = table[name], schema[name]
        if column.type.is_numeric and not is_static(column, owners, persons):
            parts = list(_of_numbers(column, owners, persons))
            columns += parts
            described += [Column(part.name, Role.QUASI_IDENTIFIER, part.type) for part in parts]
        else:
            columns.append(commonest(column, owners, persons))
            described.append(known)
    if schema.target is not None:
        columns.append(commonest(table[schema.target], owners, persons))
        described.append(schema[schema.target])
    return EncodedTable.of(columns), Schema(tuple(described))


def commonest(column: EncodedColumn, owners: Ints, persons: int) -> EncodedColumn:
    """The value that most rows of each person have, the first of several; missing where there is no row."""
    cells, rows = np.unique(owners * column.width + column.codes, return_counts=True)
    order = np.lexsort((cells % column.width, -rows, cells // column.width))
    people, first = np.unique(cells[order] // column.width, return_index=True)
    codes = np.full(persons, column.missing_code, np.int32)
    codes[people] = (cells[order] % column.width)[first]
    return EncodedColumn(column.name, column.type, codes, column.dictionary)


def _of_numbers(column: EncodedColumn, owners: Ints, persons: int) -> Iterator[EncodedColumn]:
    """The smallest, largest and mean number of each person; missing where there is none."""
    rows = column.codes != column.missing_code
    codes, people = column.codes[rows], owners[rows]
    least = np.full(persons, column.missing_code, np.int32)
    np.minimum.at(least, people, codes)
    most = np.full(persons, -1, np.int32)
    np.maximum.at(most, people, codes)
    most[most < 0] = column.missing_code
    yield EncodedColumn(f"{column.name} #least", column.type, least, column.dictionary)
    yield EncodedColumn(f"{column.name} #most", column.type, most, column.dictionary)
    numbers = column.numbers.astype(np.float64)[codes]
    count = np.bincount(people, minlength=persons)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = np.bincount(people, numbers, persons) / count
    known = np.isfinite(means)
    values, places = np.unique(means[known], return_inverse=True)
    of_mean = np.full(persons, len(values), np.int32)
    of_mean[known] = places
    yield EncodedColumn(f"{column.name} #mean", ColumnType.REAL, of_mean, pl.Series(values, dtype=pl.Float64))


@dataclass(frozen=True, eq=False)
class Grouping:
    """Trees of groups, and the node that each person is at: ``parents`` has the node above each, -1 for a root.

    All below a root keep as many rows.
    """

    parents: Ints
    nodes: Ints

    @property
    def groups(self) -> tuple[Ints, int]:
        """The group of each person, numbered without gaps, and how many there are."""
        used, groups = np.unique(self.nodes, return_inverse=True)
        return groups.astype(np.int64), len(used)

    def roots(self, groups: Ints) -> npt.NDArray[np.bool_]:
        """Which of these groups have no group above them."""
        return np.asarray(self.parents[np.unique(self.nodes)[groups]] < 0)

    def taken_back(self, failing: Ints) -> Grouping:
        """The grouping with the last cut above these groups undone; none of them is a root."""
        used = np.unique(self.nodes)
        undone = {int(self.parents[used[group]]) for group in failing.tolist()}
        node_of = {}
        for node in used.tolist():
            above = node_of[node] = node
            while (above := int(self.parents[above])) >= 0:
                if above in undone:
                    node_of[node] = above
        return Grouping(self.parents, np.array([node_of[node] for node in self.nodes.tolist()], np.int64))


def group_persons(
    table: EncodedTable,
    schema: Schema,
    lengths: Ints,
    judge_of: Callable[[int], tuple[Judge, Ints]],
    rows_of: list[Ints] | None = None,
) -> Grouping:
    """Cut persons by the rows they keep (``lengths``), then each part as Mondrian does, by class if there is one.

    ``table`` has a row for each person, or, with ``rows_of`` (the rows of each person in it), for each row.
    ``judge_of`` has for each length the judge, and what it must know of each row (:meth:`Judge.of_rows`).
    """
    parents: list[int] = []
    nodes = np.zeros(len(lengths), np.int64)
    for length in np.unique(lengths).tolist():
        people = np.flatnonzero(lengths == length)
        rows, first, root = people, np.arange(len(people)), len(parents)
        if rows_of is not None:
            rows = np.concatenate([rows_of[person] for person in people.tolist()])
            first = np.cumsum([0, *(len(rows_of[person]) for person in people.tolist())])[:-1]
        judge, marks = judge_of(length)
        resting, above = _cut(table.take(rows), schema, judge, marks[rows])
        nodes[people] = resting[first] + root
        parents += [-1 if one < 0 else one + root for one in above.tolist()]
    return Grouping(np.array(parents, np.int64), nodes)


def _cut(table: EncodedTable, schema: Schema, judge: Judge, marks: Ints) -> tuple[Ints, Ints]:
    """The node that each row comes to rest at, and the node above each."""
    by_class = schema.target is not None
    dimensions = dimensions_of(table, schema, by_class)
    labels, classes = class_codes(table, schema.target)
    cuts = grow_cuts(dimensions, labels, len(classes), judge, marks, by_class=by_class, min_gain=None)
    tree = tree_of_cuts(cuts, dimensions, schema.target or "", classes)
    return np.asarray(tree.owners, np.int64)[route(tree.tree, table)], cuts.parents
