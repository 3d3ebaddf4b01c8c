"""How each quasi-identifier may be cut, how wide it is, and the tables of numbers in which cuts are made.

::

    RANGE  in two, between neighbours: numbers, dates, ordered categories (for Mondrian all categories, in their order)
    SET    in two sets of values, neighbours in their class mix: categories without an order
    TREE   into the groups right below the current one in the attribute's hierarchy

Rows with a missing value are a part of their own in every cut.

A cut is a row of six numbers: ``FIRST`` to ``LAST`` are its preference, ``NEXT`` is the first place after it. A node
is a row of nine: whether it is cut (``KIND``), its dimension, the places on both sides of the cut, its first child and
how many parts it has, whether the last part is that of the missing, and where its rows begin and end.

Counts of a node's rows, of which its cuts are made: class by class, and person by person (Numba kernels).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.methods.counting import count_parts, count_spans
from incrowd.methods.limits import limit_of
from incrowd.trees.compiled import compiled
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.released_value import Interval, Value, parse_day, parse_number
from incrowd.vocabulary.schema import Column, ColumnType, Schema


@compiled
def tally_places(table: Placed, rows: Any, a: int, width: int, room: Scratch) -> int:
    """Class counts of the places present among the rows; returns how many are present, ascending."""
    hist, present, count = room.hist, room.present, 0
    if rows.size * 4 < width:
        keys = np.empty(rows.size, np.int64)
        for i in range(rows.size):
            keys[i] = table.places[rows[i], a]
        keys.sort()
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[i - 1]:
                present[count] = keys[i]
                count += 1
                hist[keys[i], :] = 0
        for i in range(rows.size):
            hist[table.places[rows[i], a], table.labels[rows[i]]] += 1
        return count
    hist[:width, :] = 0
    for i in range(rows.size):
        hist[table.places[rows[i], a], table.labels[rows[i]]] += 1
    for place in range(width):
        for c in range(table.classes):
            if hist[place, c] > 0:
                present[count] = place
                count += 1
                break
    return count


@compiled
def note_persons(table: Placed, rows: Any, room: Scratch) -> None:
    """Note whose the rows of a node are, if rows are not persons."""
    if table.owners.size > 0:
        for i in range(rows.size):
            room.owners[i] = table.owners[rows[i]]


@compiled
def count_persons(table: Placed, dims: Dims, rows: Any, a: int, at: int, order: Any, count: int, room: Scratch) -> int:
    """Count persons by the first and the last of their places in an order, or by the groups below the current one.

    Returns those with a missing value.
    """
    groups, owners, i = 0, room.owners[: rows.size], 0
    if dims.kind[a] == TREE:
        groups = dims.begin[at + 1] - dims.begin[at]
        for number in range(groups):
            while i < count and room.present[i] < dims.end[dims.children[dims.begin[at] + number]]:
                room.part[room.present[i]] = number
                i += 1
    else:
        for i in range(count):
            room.part[order[i]] = i
    room.part[dims.width[a] - 1] = -1
    for i in range(rows.size):
        room.ranks[i] = room.part[table.places[rows[i], a]]
    room.first[: max(groups, count)] = 0
    room.last[: max(groups, count)] = 0
    if dims.kind[a] == TREE:
        return count_parts(owners, room.ranks, room.first[:groups], room.last[:groups])
    return count_spans(owners, room.ranks, room.first[:count], room.last[:count])


RANGE, SET, TREE = 0, 1, 2
FIRST, WIDTH, DIMENSION, THEN, LAST, NEXT = range(6)
LEAF, CUT = 0, 1
KIND, ATTRIBUTE, FROM, TO, CHILD, PARTS, MISSING, BEGIN, END = range(9)
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Dimension:
    """One quasi-identifier, as the partitioning sees it.

    A place is a code of the column's dictionary, or, with a hierarchy, the place of a leaf; the last place is that
    of the missing. ``weight`` is the factor of its width, or of what its cuts tell about the class; ``coarsest`` the
    groups of the hierarchy that may be shown at most, None if that is the root; ``as_sets`` whether its groups have no
    names, and are shown as sets of values.
    """

    column: EncodedColumn
    kind: int
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    coarsest: tuple[int, ...] | None = None
    as_sets: bool = False

    @property
    def name(self) -> str:
        """The name of the attribute."""
        return self.column.name

    @property
    def whole(self) -> bool:
        """Whether thresholds are whole numbers."""
        return self.column.type is not ColumnType.REAL

    @property
    def width(self) -> int:
        """Number of places, that of the missing included."""
        return self.column.width if self.hierarchy is None else len(self.hierarchy.leaves) + 1

    @cached_property
    def places(self) -> Codes:
        """The place of each row."""
        if self.hierarchy is None:
            return self.column.codes
        return self.hierarchy.encode(self.column).astype(np.int32)[self.column.codes]

    @property
    def counted(self) -> bool:
        """Whether the width of a part is its number of values; otherwise it is the way from the first to the last."""
        return not self.column.type.has_order

    @cached_property
    def positions(self) -> npt.NDArray[np.float64]:
        """Where each value lies between the first (0) and the last (1)."""
        if not self.column.type.is_numeric:
            return np.linspace(0.0, 1.0, max(1, len(self.column.dictionary)))
        return positions_of(self.column.numbers)

    @property
    def has_intervals(self) -> bool:
        """Whether the attribute is shown as an interval of numbers."""
        if self.hierarchy is None:
            return self.column.type.is_numeric
        return self.hierarchy.kind is not Leaves.VALUES

    def settled(self, node: int) -> int:
        """The lowest group of the hierarchy with the same leaves as this one: an only child stands for its parent."""
        assert self.hierarchy is not None
        while len(below := self.hierarchy.children(node)) == 1:
            node = below[0]
        return node

    def parts(self, node: int) -> list[int]:
        """The groups into which a group of the hierarchy is cut; the first goes down to the coarsest ones at once."""
        assert self.hierarchy is not None
        below: Sequence[int] = self.hierarchy.children(node)
        if self.coarsest is not None and node == self.settled(0):
            below = self.coarsest
        return [self.settled(child) for child in below]

    @cached_property
    def intervals(self) -> list[Interval]:
        """The interval of each group of a hierarchy of numbers or dates."""
        assert self.hierarchy is not None
        bounds = [self.hierarchy.interval(group) for group in range(len(self.hierarchy))]
        return [Interval() if interval is None else interval for interval in bounds]

    @cached_property
    def leaf_values(self) -> list[Value | None]:
        """The value of each leaf of a hierarchy of values, in the type of the column; None if no value can meet it."""
        assert self.hierarchy is not None
        labels = [self.hierarchy.labels[leaf] for leaf in self.hierarchy.leaves]
        if self.column.type is ColumnType.DATE:
            return [parse_day(label) for label in labels]
        if not self.column.type.is_numeric:
            return list(labels)
        numbers = [parse_number(label) for label in labels]
        met = [number is not None and self.hierarchy.leaf_of(number) == leaf for leaf, number in enumerate(numbers)]
        return [number if is_met else None for number, is_met in zip(numbers, met, strict=True)]


def positions_of(numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ascending numbers, moved and scaled to begin at 0 and to end at 1."""
    if len(numbers) < 2:
        return np.zeros(len(numbers))
    if numbers.dtype.kind == "i":  # the difference of two 64-bit numbers fits 64 bits without a sign
        apart = (numbers.astype(np.uint64) - numbers[:1].astype(np.uint64)).astype(np.float64)
    else:
        near = numbers / 4 if np.abs(numbers).max() > 1e300 else numbers  # so that no difference is infinite
        apart = near - near[0]
    return np.asarray(apart / apart[-1], np.float64)


def dimensions_of(
    table: EncodedTable, schema: Schema, by_class: bool, preferences: Preferences = INDIFFERENT
) -> tuple[Dimension, ...]:
    """The quasi-identifiers as dimensions; a value without a leaf in the attribute's hierarchy is an error."""
    names = schema.quasi_identifiers
    weights = preferences.factors(names)
    return tuple(
        _dimension(table[name], schema[name], by_class, weight, preferences)
        for name, weight in zip(names, weights, strict=True)
    )


def _dimension(
    column: EncodedColumn, known: Column, by_class: bool, weight: float, preferences: Preferences
) -> Dimension:
    limit = limit_of(column, known, preferences)
    if limit is not None:
        return Dimension(column, TREE, limit.hierarchy, weight, limit.coarsest, limit.made)
    kind = TREE if known.hierarchy is not None else SET if by_class and not column.type.has_order else RANGE
    return Dimension(column, kind, known.hierarchy, weight)


def stacked(dimensions: Sequence[Dimension], rows: Ints | slice, count: int) -> npt.NDArray[np.int32]:
    """The places of so many rows, rows x dimensions."""
    places = np.empty((count, len(dimensions)), np.int32)
    for number, dimension in enumerate(dimensions):
        places[:, number] = dimension.places[rows]
    return places


class Placed(NamedTuple):
    """Places of all rows (rows x dimensions), their classes, how many classes there are; whose each row is.

    ``owners`` is empty where rows are persons; else rows are sorted by it.
    """

    places: Any
    labels: Any
    classes: int
    owners: Any


class Dims(NamedTuple):
    """The dimensions side by side; groups of all hierarchies are numbered through, each a range of leaves."""

    kind: Any
    width: Any
    counted: Any
    offset: Any  # of the dimension's positions
    position: Any
    leaves: Any  # of the dimension's hierarchy
    first: Any
    end: Any
    begin: Any  # of the group's children
    children: Any
    weight: Any  # of the width, or of what a cut tells about the class
    must: Any  # the group that is cut in any case, before anything else is; -1 for none


class CutRules(NamedTuple):
    """Which cuts are wanted: by class or at the median, rows or persons of a part, bits a cut must gain."""

    by_class: bool
    smallest: int
    min_gain: float


class Scratch(NamedTuple):
    """Scratch space: class counts of each place, the places present, the part of each place.

    Where rows are not persons: whose the rows of a node are, where their places rank, and by rank, or by part, the
    persons who begin and who end there.
    """

    hist: Any
    present: Any
    part: Any
    owners: Any
    ranks: Any
    first: Any
    last: Any


class GrownCuts(NamedTuple):
    """The cuts so far: nodes, the group of each node in each hierarchy, what goes to which part, how much is used."""

    nodes: Any
    at: Any
    marks: Any
    used: Any


@dataclass(frozen=True, eq=False)
class Cuts:
    """The cuts that were made, a forest of numbers."""

    # One row of nine numbers per node. Parents come before their children, and the children of a node are neighbours.
    nodes: Ints
    marks: Ints  # (node, place or group of the hierarchy, part) where a threshold does not say it

    @property
    def is_cut(self) -> npt.NDArray[np.bool_]:
        """Which nodes are cut."""
        return np.asarray(self.nodes[:, KIND] == CUT)

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node, also where its cut was taken back; -1 for the root."""
        parents = np.full(len(self.nodes), -1, np.int64)
        first, parts = self.nodes[:, CHILD], self.nodes[:, PARTS]
        ever = np.flatnonzero(parts)
        ever = ever[np.argsort(first[ever])]
        parents[1:] = np.repeat(ever, parts[ever])
        return parents
