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

from incrowd.algorithms.mutual_information.halving import nested_cuts
from incrowd.algorithms.mutual_information.leaf_values import leaf_values, values_of
from incrowd.algorithms.mutual_information.tally import tally
from incrowd.measures.cuts import roundest
from incrowd.plan.steps import Bin, Part
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import Category, Form, Interval, Shown, Suppressed, ValueSet
from incrowd.vocabulary.schema import ColumnType

MOST_NUMBERS = 10_000
ShowInterval = Callable[[Interval], Form]


@dataclass(frozen=True, eq=False)
class Level:
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
) -> tuple[Level, ...]:
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


def _level(parts: Sequence[Part], places: npt.NDArray[np.int64]) -> Level:
    """A level from the part of each value, -1 for none; parts that show nothing are no parts."""
    shown = np.array([not isinstance(part.form, Suppressed) for part in parts], bool)
    renumbered = np.append(np.where(shown, np.cumsum(shown) - 1, -1), -1)
    found = np.append(renumbered[places], -1)
    kept = tuple(part for part, keep in zip(parts, shown, strict=True) if keep)
    return Level(kept, np.where(found < 0, len(kept), found))


def _raw(column: EncodedColumn) -> Level:
    """Every value by itself."""
    parts = [Part((value,), Shown(value), 0) for value in values_of(column)]
    return _level(parts, np.arange(len(parts)))


def _numbers(column: EncodedColumn) -> tuple[Level, ...]:
    """The raw numbers, unless there are too many of them."""
    return (_raw(column),) if len(column.dictionary) <= MOST_NUMBERS else ()


def _nested_intervals(column: EncodedColumn, rows: npt.NDArray[np.int64], show: ShowInterval) -> list[Level]:
    """Halves of halves, cut at the roundest number between the two values that are parted."""
    numbers, whole = column.numbers, column.type is not ColumnType.REAL
    levels = []
    for places in nested_cuts(rows):
        cuts = [roundest(numbers[place - 1].item(), numbers[place].item(), whole) for place in places]
        parts = [Part(interval, show(interval), 0) for interval in Bin.intervals(cuts)]
        levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _nested_ranges(column: EncodedColumn, rows: npt.NDArray[np.int64]) -> list[Level]:
    """Halves of halves of ordered categories, as the sets of their values; without the last, where all are single."""
    values = values_of(column)
    levels = []
    for places in nested_cuts(rows):
        if len(places) < len(values) - 1:
            ends = [0, *places, len(values)]
            sets = [tuple(values[first:last]) for first, last in pairwise(ends)]
            parts = [Part(members, ValueSet(members) if len(members) > 1 else Shown(members[0]), 0) for members in sets]
            levels.append(_level(parts, np.searchsorted(places, np.arange(len(rows)), side="right")))
    return levels


def _node_levels(column: EncodedColumn, hierarchy: Hierarchy, show: ShowInterval) -> list[Level]:
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
