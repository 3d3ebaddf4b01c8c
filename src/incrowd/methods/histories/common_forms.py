"""What rows that stand side by side have in common, as one cell: a value, a set, an interval, a group of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from incrowd.methods.histories.rows_of_persons import Ints, even_places
from incrowd.methods.numeric import round_cuts
from incrowd.methods.partitioning.dimensions import RANGE, SET, TREE, Dimension
from incrowd.methods.partitioning.tree_of_cuts import FormOf, Side, form_makers
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import Form, Interval, ShownMissing, Suppressed
from incrowd.vocabulary.schema import Column

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
