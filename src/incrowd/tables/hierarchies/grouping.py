"""How leaves are grouped, level by level: neighbours in equal shares, or those that cost least class information.

A partition lists groups, a group lists leaves. A grouping is a list of partitions, each coarser than the one before;
the leaves themselves and the root are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import bits
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT

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
