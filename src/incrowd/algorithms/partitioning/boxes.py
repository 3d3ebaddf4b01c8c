"""What a part may hold of each attribute, and what its rows show of it.

A side of a box is an :class:`Interval` of numbers, the codes of the values that are possible, a group of the
attribute's hierarchy, or :class:`ShownMissing`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from incrowd.algorithms.numeric_forms import ends_of, interval_form
from incrowd.algorithms.partitioning.dimensions import Dimension
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Mean,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    Value,
    ValueSet,
)

Side = Interval | tuple[int, ...] | int | ShownMissing
Box = tuple[Side, ...]
FormOf = Callable[[Side], Form]


def whole_box(dimensions: Sequence[Dimension]) -> Box:
    """The box that holds everything."""
    return tuple(_whole_side(dimension) for dimension in dimensions)


def _whole_side(dimension: Dimension) -> Side:
    if dimension.hierarchy is not None:
        return dimension.settled(0)
    return Interval() if dimension.column.type.is_numeric else tuple(range(len(dimension.column.dictionary)))


def form_makers(
    dimensions: Sequence[Dimension], numeric: str, boxes: str, k: int, with_missing: Sequence[bool]
) -> tuple[FormOf, ...]:
    """For each dimension, what a side of a box shows.

    Parameters
    ----------
    numeric, boxes
        As in :class:`~incrowd.algorithms.partitioning.mondrian.Mondrian`.
    k
        The ends that stand for open ones, where a middle is shown, have k rows beyond them.
    with_missing
        Whether the attribute is missing in some row: then a box that was not cut there shows nothing of it.
    """
    return tuple(
        cache(_maker(dimension, numeric, boxes, k, missing))
        for dimension, missing in zip(dimensions, with_missing, strict=True)
    )


def _maker(dimension: Dimension, numeric: str, boxes: str, k: int, missing: bool) -> FormOf:
    whole = _whole_side(dimension)
    ends = ends_of(dimension.column, k) if numeric == "midpoint" and dimension.has_intervals else (0, 0)

    def form(side: Side) -> Form:
        if isinstance(side, ShownMissing):
            return side
        ranged = boxes == "extremes" and isinstance(side, Interval)
        if side == whole:
            return Range() if ranged and not missing and len(dimension.column.dictionary) else Suppressed()
        if isinstance(side, tuple):
            return _set_form(dimension, side)
        if not dimension.has_intervals:
            return _group_form(dimension, side)
        interval = dimension.intervals[side] if isinstance(side, int) else side
        if ranged:
            return Range()
        return Mean() if numeric == "mean" else interval_form(interval, numeric, ends)

    return form


def _set_form(dimension: Dimension, codes: tuple[int, ...]) -> Form:
    values = tuple(dimension.values[code] for code in codes)
    return Shown(values[0]) if len(values) == 1 else ValueSet(values)


def _group_form(dimension: Dimension, group: Side) -> Form:
    """The value of a leaf, or the name of a group of values."""
    hierarchy = dimension.hierarchy
    assert hierarchy is not None
    assert isinstance(group, int)
    below = hierarchy.leaves_below(group)
    value: Value | None = dimension.leaf_values[below[0]] if len(below) == 1 else None
    return Category(hierarchy.labels[group]) if value is None else Shown(value)
