"""The levels of an attribute: what its values look like, from nothing (the root, ``*``) to themselves.

An attribute with a hierarchy has the levels of the hierarchy; intervals of numbers get one more below: the numbers.
Without a hierarchy, numbers have nested intervals, ordered categories nested ranges, other categories the root and
themselves. A missing value is in no part: it shows nothing at any level, and counts as a value of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from incrowd.measures.mdl import roundest
from incrowd.plan.steps import Bin, Part
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Shown,
    Suppressed,
    Value,
    ValueSet,
    parse_day,
    parse_number,
)
from incrowd.vocabulary.schema import ColumnType

Whole = npt.NDArray[np.int64]
DEPTH = 5  # generations of halves: at most 32 intervals
MOST_NUMBERS = 10_000
ShowInterval = Callable[[Interval], Form]


def tally(places: Whole, counts: Whole, size: int) -> Whole:
    """The sum of the rows of ``counts`` that have the same place, for each of ``size`` places."""
    classes = counts.shape[1]
    cells = places[:, None] * classes + np.arange(classes)
    summed = np.bincount(cells.ravel(), weights=counts.ravel(), minlength=size * classes)
    return summed.astype(np.int64).reshape(size, classes)


def nested_cuts(rows: npt.NDArray[np.int64], depth: int = DEPTH) -> list[list[int]]:
    """For each generation the places to cut, each the number of values before it; a generation keeps all earlier cuts.

    A piece is cut where its rows are halved best, the first such place of several; a single value is not cut. There
    are fewer generations if nothing is left to cut.
    """
    below = np.concatenate([[0], np.cumsum(rows)])
    generations: list[list[int]] = []
    ends = [0, len(rows)]
    for _ in range(depth):
        fresh = [_middle(below, first, last) for first, last in pairwise(ends) if last - first > 1]
        if not fresh:
            break
        ends = sorted([*ends, *fresh])
        generations.append(ends[1:-1])
    return generations


def _middle(below: npt.NDArray[np.int64], first: int, last: int) -> int:
    """The cut between first and last with the most even rows on its two sides."""
    inside = below[first + 1 : last]
    return first + 1 + int(np.argmin(np.abs(2 * inside - below[first] - below[last])))


def leaf_values(column: EncodedColumn, hierarchy: Hierarchy) -> list[Value | None]:
    """For each leaf of a hierarchy of values the value that it covers, also if no row has it; None if there is none.

    In a column of numbers a leaf covers the number it writes. Of two leaves that write the same number the first does.
    """
    labels = [hierarchy.labels[leaf] for leaf in hierarchy.leaves]
    if column.type is ColumnType.DATE:
        return [parse_day(label) for label in labels]
    if not column.type.is_numeric:
        return list(labels)
    numbers = [parse_number(label) for label in labels]
    return [
        None if number is None or hierarchy.leaf_of(number) != place else _as_in(column, number)
        for place, number in enumerate(numbers)
    ]


def _as_in(column: EncodedColumn, number: float) -> Value:
    """A number as a column of its type holds it; one that it cannot hold stays as it is."""
    if column.type is ColumnType.REAL:
        return float(number)
    return int(number) if number == int(number) else number


@dataclass(frozen=True, eq=False)
class AttributeLevel:
    """One level: its parts, their rows not counted yet, and the part of each code of the column.

    ``places`` has an entry per code, the missing one last; one past the last part says that nothing is shown.
    """

    parts: tuple[Part, ...]
    places: npt.NDArray[np.int64]

    def counts(self, contingency: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Rows per part and class from rows per code and class; what shows nothing comes last."""
        return tally(self.places, contingency, len(self.parts) + 1)


def levels_of(
    column: EncodedColumn, rows: npt.NDArray[np.int64], hierarchy: Hierarchy | None, show: ShowInterval
) -> tuple[AttributeLevel, ...]:
    """The levels of a column, root first.

    Parameters
    ----------
    rows
        Rows per code, the missing one last; they decide where numbers and ordered categories are halved.
    hierarchy
        The hierarchy of the column, if it has one; every value must have a leaf in it.
    show
        What rows of an interval show.
    """
    if hierarchy is not None:
        levels = _node_levels(column, hierarchy, show)
        return *levels, *(_numbers(column) if hierarchy.kind is not Leaves.VALUES else ())
    nothing = _level((), np.full(column.width - 1, -1))
    if column.type.is_numeric:
        return nothing, *_nested_intervals(column, rows[:-1], show), *_numbers(column)
    ranges = _nested_ranges(column, rows[:-1]) if column.type is ColumnType.ORDERED else []
    return nothing, *ranges, _raw(column)


def _level(parts: Sequence[Part], places: npt.NDArray[np.int64]) -> AttributeLevel:
    """A level from the part of each value, -1 for none; parts that show nothing are no parts."""
    shown = np.array([not isinstance(part.form, Suppressed) for part in parts], bool)
    renumbered = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
    part_of = np.append(renumbered[places], -1)
    kept = tuple(part for part, keep in zip(parts, shown, strict=True) if keep)
    return AttributeLevel(kept, np.where(part_of < 0, len(kept), part_of))


def _raw(column: EncodedColumn) -> AttributeLevel:
    """Every value by itself."""
    parts = [Part((value,), Shown(value), 0) for value in column.values]
    return _level(parts, np.arange(len(parts)))


def _numbers(column: EncodedColumn) -> tuple[AttributeLevel, ...]:
    """The raw numbers, unless there are too many of them."""
    return (_raw(column),) if len(column.dictionary) <= MOST_NUMBERS else ()


def _nested_intervals(column: EncodedColumn, rows: npt.NDArray[np.int64], show: ShowInterval) -> list[AttributeLevel]:
    """Halves of halves, cut at the roundest number between the two values that are parted."""
    numbers, whole = column.numbers, column.type is not ColumnType.REAL
    levels = []
    for places in nested_cuts(rows):
        cuts = [roundest(numbers[place - 1].item(), numbers[place].item(), whole) for place in places]
        parts = [Part(interval, show(interval), 0) for interval in Bin.intervals(cuts)]
        levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _nested_ranges(column: EncodedColumn, rows: npt.NDArray[np.int64]) -> list[AttributeLevel]:
    """Halves of halves of ordered categories, as the sets of their values; without the last, where all are single."""
    values = column.values
    levels = []
    for places in nested_cuts(rows):
        if len(places) < len(values) - 1:
            ends = [0, *places, len(values)]
            sets = [tuple(values[first:last]) for first, last in pairwise(ends)]
            parts = [Part(members, ValueSet(members) if len(members) > 1 else Shown(members[0]), 0) for members in sets]
            levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _node_levels(column: EncodedColumn, hierarchy: Hierarchy, show: ShowInterval) -> list[AttributeLevel]:
    """The levels of a hierarchy: a part for each node of a level but the root, with all leaves below it."""
    leaves = hierarchy.encode(column)[:-1]
    part_of = _interval_part(hierarchy, show) if hierarchy.kind is not Leaves.VALUES else _value_part(column, hierarchy)
    levels = []
    for level in range(1, hierarchy.height + 1):
        nodes, positions = np.unique(hierarchy.at_level(level), return_inverse=True)
        levels.append(_level([part_of(int(node)) for node in nodes], positions[leaves]))
    return levels


def _interval_part(hierarchy: Hierarchy, show: ShowInterval) -> Callable[[int], Part]:
    """The part of each node of a hierarchy of intervals; the root shows nothing."""

    def part_of(node: int) -> Part:
        interval = hierarchy.interval(node) or Interval()
        return Part(interval, show(interval) if node else Suppressed(), 0)

    return part_of


def _value_part(column: EncodedColumn, hierarchy: Hierarchy) -> Callable[[int], Part]:
    """The part of each node of a hierarchy of values: a leaf shows its value, a group its name, the root nothing."""
    values = leaf_values(column, hierarchy)

    def part_of(node: int) -> Part:
        below = [values[leaf] for leaf in hierarchy.leaves_below(node)]
        members = tuple(value for value in below if value is not None)
        if not node or not members:
            return Part(members, Suppressed(), 0)
        form = Category(hierarchy.labels[node]) if hierarchy.children(node) else Shown(members[0])
        return Part(members, form, 0)

    return part_of
