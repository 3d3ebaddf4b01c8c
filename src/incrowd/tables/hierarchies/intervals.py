"""Intervals of numbers, nested: equal frequency, by class information, or with edges made by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from incrowd.errors import ParameterError
from incrowd.measures.mdl import mdl_cuts
from incrowd.tables.hierarchies.grouping import Partition, agglomerated, balanced, class_counts, ways
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import interval_text
from incrowd.vocabulary.schema import ColumnType

_SMALLEST = 10  # rows of an interval: of fewer the class says little


def from_edges(
    name: str,
    edges: Sequence[float],
    *coarser: Sequence[float],
    low: float | None = None,
    high: float | None = None,
    dates: bool = False,
) -> Hierarchy:
    """Intervals between edges made by hand; each coarser level keeps some of the edges of the one before.

    Parameters
    ----------
    name
        The attribute.
    edges
        The inner edges of the leaves. An edge belongs to the interval below it.
    coarser
        The inner edges of each further level.
    low, high
        The outer ends; open if not given.
    dates
        The edges are days since 1970-01-01.

    Examples
    --------
    >>> age = from_edges("age", [20, 40, 60], [40])
    >>> age.labels
    ('*', '(-inf, 40]', '(-inf, 20]', '(20, 40]', '(40, inf)', '(40, 60]', '(60, inf)')
    """
    levels = [_sound(name, level, low, high) for level in (edges, *coarser)]
    for finer, level in itertools.pairwise(levels):
        if not set(level) <= set(finer):
            raise ParameterError(f"Hierarchy {name!r}: a coarser level has an edge that the finer one lacks.")
    partitions = [_partition(levels[0], level) for level in levels[1:]]
    return _joined(name, levels[0], partitions, low, high, dates)


def _sound(name: str, edges: Sequence[float], low: float | None, high: float | None) -> list[float]:
    numbers = [_whole(edge) for edge in edges]
    ends = [*([] if low is None else [low]), *numbers, *([] if high is None else [high])]
    if not all(map(math.isfinite, ends)) or any(a >= b for a, b in itertools.pairwise(ends)):
        raise ParameterError(f"Hierarchy {name!r}: edges must be finite and ascending, and lie between low and high.")
    return numbers


def _whole(number: float) -> float:
    number = number.item() if isinstance(number, np.generic) else number
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**53 else number


def _partition(leaf_edges: list[float], edges: list[float]) -> Partition:
    groups: Partition = [[0]]
    for leaf, edge in enumerate(leaf_edges, start=1):
        if edge in edges:
            groups.append([leaf])
        else:
            groups[-1].append(leaf)
    return groups


def _joined(
    name: str, edges: list[float], partitions: list[Partition], low: float | None, high: float | None, dates: bool
) -> Hierarchy:
    ends = [low, *edges, high]
    leaves = [interval_text(a, b, dates=dates) for a, b in itertools.pairwise(ends)]

    def name_group(group: list[int]) -> str:
        return interval_text(ends[group[0]], ends[group[-1] + 1], dates=dates)

    kind = Leaves.DATES if dates else Leaves.NUMBERS
    return Hierarchy.from_paths(name, ways(leaves, partitions, name_group), kind)


def intervals(column: EncodedColumn, target: EncodedColumn | None = None, *, bins: int = 8) -> Hierarchy:
    """Nested intervals of a numeric column, the outer ones open, so that every number has a leaf.

    Parameters
    ----------
    column
        Whole numbers, reals or dates. Missing values are left out; they need no leaf.
    target
        The class. With it, edges are where the class changes (Fayyad and Irani 1993, each interval of 10 rows at
        least), and intervals are joined so that least class information is lost.
    bins
        About how many leaves of equally many rows, where no class is given; neighbours are joined two by two.
    """
    if not column.type.is_numeric:
        raise ParameterError(f"Column {column.name!r} is {column.type}; intervals are for numbers and dates.")
    if len(column.dictionary) == 0:
        raise ParameterError(f"Column {column.name!r} has no values to build intervals from.")
    if bins < 1:
        raise ParameterError("bins must be at least 1.")
    edges = frequency_edges(column, bins) if target is None else class_edges(column, target)
    partitions = balanced(len(edges) + 1) if target is None else _by_loss(column, target, edges)
    return _joined(column.name, edges, partitions, None, None, column.type is ColumnType.DATE)


def frequency_edges(column: EncodedColumn, bins: int) -> list[float]:
    """Edges that part the rows into equal shares, as far as equal values allow."""
    below = np.cumsum(column.counts[:-1])
    wanted = below[-1] * np.arange(1, bins) / bins
    places = np.unique(np.searchsorted(below, wanted, side="left")) + 1
    return [_edge(column, int(place)) for place in places if place < len(column.dictionary)]


def class_edges(column: EncodedColumn, target: EncodedColumn) -> list[float]:
    """Edges where the class changes and the gain pays for the description; none if no cut pays."""
    return [_edge(column, place) for place in mdl_cuts(class_counts(column, target), _SMALLEST)]


def _edge(column: EncodedColumn, place: int) -> float:
    """The roundest number from the value below a cut up to, but not including, the value above it."""
    low, high = column.numbers[place - 1].item(), column.numbers[place].item()
    return low if column.type is ColumnType.DATE else round_between(low, high)


def round_between(low: float, high: float) -> float:
    """The number with the fewest decimals that is at least ``low`` and below ``high``."""
    for digits in range(-20, 16):
        scaled = low * 10.0**digits
        for number in (math.floor(scaled), math.ceil(scaled)) if math.isfinite(scaled) else ():
            edge = float(f"{number}e{-digits}")
            if low <= edge < high:
                return _whole(edge)
    return _whole(low)


def _by_loss(column: EncodedColumn, target: EncodedColumn, edges: list[float]) -> list[Partition]:
    counts = class_counts(column, target)
    pieces = np.searchsorted(np.array(edges), column.numbers, side="left")
    merged = np.zeros((len(edges) + 1, counts.shape[1]), np.int64)
    np.add.at(merged, pieces, counts)
    return agglomerated(merged, neighbours=True)
