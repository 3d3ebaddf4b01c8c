"""Intervals of numbers, nested: equal frequency, by class information, or with edges made by hand.

How leaves are grouped, level by level: neighbours in equal shares, or those that cost least class information.

A partition lists groups, a group lists leaves. A grouping is a list of partitions, each coarser than the one before;
the leaves themselves and the root are not in it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.measures.information import bits, mdl_cuts
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves
from incrowd.vocabulary.released_value import interval_text
from incrowd.vocabulary.schema import ColumnType

Counts = npt.NDArray[np.int64]
Partition = list[list[int]]
_PAIRWISE = 500  # of more groups only neighbours are compared: all pairs grow with the square
_EQUAL = 1e-9  # losses that differ by rounding alone are equal, so that ties are broken the same everywhere


def class_counts(column: EncodedColumn, target: EncodedColumn | None) -> Counts:
    """Rows per value and class; rows without a value are left out, rows without a class are one more class."""
    if target is None:
        return column.counts[:-1, None]
    cells = column.codes.astype(np.int64) * target.width + target.codes
    return np.bincount(cells, minlength=column.width * target.width).reshape(column.width, target.width)[:-1]


def balanced(count: int) -> list[Partition]:
    """Neighbours joined two by two, in shares as equal as can be.

    Examples
    --------
    >>> balanced(5)
    [[[0, 1], [2, 3], [4]], [[0, 1, 2, 3], [4]]]
    """
    partitions: list[Partition] = []
    groups: Partition = [[leaf] for leaf in range(count)]
    while len(groups) > 2:
        shares = np.array_split(np.arange(len(groups)), -(-len(groups) // 2))
        groups = [[leaf for group in share for leaf in groups[group]] for share in shares]
        partitions.append(groups)
    return partitions


def agglomerated(counts: Counts, *, neighbours: bool = False) -> list[Partition]:
    """Join, again and again, the two groups whose union loses least class information; kept at half the number.

    The loss of joining a and b is n(a∪b)·H(a∪b) - n(a)·H(a) - n(b)·H(b), the information (in bits over all rows) about
    the class that the distinction carried. Of equal losses the smaller union wins, then the first. ``counts`` are rows
    per leaf and class. ``neighbours``: join only groups that lie side by side, as for numbers; beyond 500 leaves, they
    are put in the order of their class shares, and only neighbours in that order are joined.

    Examples
    --------
    >>> agglomerated(np.array([[9, 1], [1, 9], [8, 1], [1, 8]]))
    [[[0, 2], [1, 3]]]
    """
    order = np.arange(len(counts))
    if not neighbours and len(counts) > _PAIRWISE:
        neighbours = True
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        order = np.lexsort(shares.T[::-1])
    merge = _neighbour_merges if neighbours else _pair_merges
    groups: list[list[int] | None] = [[int(leaf)] for leaf in order]
    partitions: list[Partition] = []
    wanted = -(-len(groups) // 2)
    left = len(groups)
    for kept, gone in merge(counts[order].astype(np.float64), max(left - 2, 0)):
        groups[kept] = sorted([*(groups[kept] or ()), *(groups[gone] or ())])
        groups[gone] = None
        left -= 1
        if left == wanted:
            partitions.append(sorted(group for group in groups if group))
            wanted = -(-left // 2)
    return partitions


def _pair_merges(counts: npt.NDArray[np.float64], steps: int) -> list[tuple[int, int]]:
    """The pairs to join, in turn; the second of a pair is gone afterwards."""
    size = len(counts)
    loss = np.full((size, size), np.inf)
    for row in range(size - 1):
        loss[row, row + 1 :] = _losses(counts[row], counts[row + 1 :])
    merges = []
    for _ in range(steps):
        ties = np.argwhere(loss <= loss.min() + _EQUAL)
        weight = counts.sum(axis=1)
        kept, gone = map(int, ties[np.argmin(weight[ties[:, 0]] + weight[ties[:, 1]])])
        merges.append((kept, gone))
        counts[kept] += counts[gone]
        loss[gone, :] = loss[:, gone] = np.inf
        fresh = _losses(counts[kept], counts)
        before, after = np.isfinite(loss[:, kept]), np.isfinite(loss[kept])
        loss[before, kept], loss[kept, after] = fresh[before], fresh[after]
    return merges


def _neighbour_merges(counts: npt.NDArray[np.float64], steps: int) -> list[tuple[int, int]]:
    places = np.arange(len(counts))
    merges = []
    for _ in range(steps):
        loss = _pairs(counts)
        ties = np.flatnonzero(loss <= loss.min() + _EQUAL)
        weight = counts.sum(axis=1)
        best = int(ties[np.argmin(weight[ties] + weight[ties + 1])])
        merges.append((int(places[best]), int(places[best + 1])))
        counts[best] += counts[best + 1]
        counts = np.delete(counts, best + 1, axis=0)
        places = np.delete(places, best + 1)
    return merges


def _pairs(counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    alone = bits(counts)
    return np.asarray(bits(counts[:-1] + counts[1:]) - alone[:-1] - alone[1:])


def _losses(one: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(bits(others + one) - bits(others) - bits(one[None]))


def ways(leaves: Sequence[str], partitions: list[Partition], name_group: Callable[[list[int]], str]) -> list[list[str]]:
    """The way of each leaf to the root. A group of one is its leaf; a name that is taken gets a mark.

    Examples
    --------
    >>> ways(["a", "b", "c"], [[[0, 1], [2]]], lambda group: "ab")
    [['a', 'ab', '*'], ['b', 'ab', '*'], ['c', 'c', '*']]
    """
    paths = [[leaf] for leaf in leaves]
    taken = {*leaves, ROOT}
    named: dict[tuple[int, ...], str] = {}
    for partition in partitions:
        for group in partition:
            key = tuple(group)
            if key not in named and len(group) > 1:
                named[key] = _free(name_group(group), taken)
            for leaf in group:
                paths[leaf].append(named.get(key, leaves[leaf]))
    return [[*way, ROOT] for way in paths]


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


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
