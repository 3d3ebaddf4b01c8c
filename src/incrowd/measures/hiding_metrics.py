"""What hiding cells costs: distance, divergence, mutual information, conditional entropy; all logs base 2.

A *transition* counts, for one column, the rows by what their cell was (a node of the taxonomy, 0 for missing) and what
it is published as. Distributions and contingencies are over the values of a column; cells that show a group are shared
out among its values beforehand (:func:`leaf_weights`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import mutual_information

Numbers = npt.NDArray[np.float64]


def direct_distance(transition: npt.ArrayLike) -> int:
    """Cells of a column that are published differently; a generalized cell counts 1 whatever its level."""
    counts = np.asarray(transition, np.int64)
    return int(counts.sum() - np.trace(counts))


def estimated(
    own: npt.NDArray[np.int64], parents: Sequence[int], ends: Sequence[int], node: int, top: int = 0
) -> Fraction:
    """Cells of a node, with its share of those that show a node above it, up to ``top``.

    On the way down from ``top`` a node receives what its parent holds in proportion to the aggregated counts of the
    children; children without any cell share equally (Zhang and Honavar 2003). Nodes are numbered depth first from the
    root, 0; ``ends[x]`` is the first node that is not below ``x``, ``own[x]`` the cells that show exactly ``x``.
    """
    way = [node]
    while way[-1] != top:
        way.append(parents[way[-1]])
    cells = own.tolist()
    held, of = sum(cells[top : ends[top]]), 1
    for child in reversed(way[:-1]):
        parent = parents[child]
        below = sum(cells[parent + 1 : ends[parent]])
        held *= sum(cells[child : ends[child]]) if below else 1
        of *= below or sum(other == parent for other in parents)
    return Fraction(held, of)


def leaf_weights(
    own: npt.NDArray[np.int64], parents: Sequence[int], ends: Sequence[int], leaves: Sequence[int]
) -> Numbers:
    """Nodes x leaves: how a cell that shows a node is shared out among the values below it; nothing for the root.

    Shares follow the :func:`estimated` counts.
    """
    weights = np.zeros((len(own), len(leaves)))
    for place, leaf in enumerate(leaves):
        node = leaf
        while node > 0:
            whole = estimated(own, parents, ends, node, node)
            if whole:
                weights[node, place] = float(estimated(own, parents, ends, leaf, node) / whole)
            node = parents[node]
    return weights


@dataclass(frozen=True)
class Divergence:
    """A divergence in bits, and how many values have lost all their cells (each makes it infinite, unless mended)."""

    bits: float
    vanished: int = 0


def kullback_leibler(
    before: npt.ArrayLike, after: npt.ArrayLike, rows: int | None = None, mend: bool = False
) -> Divergence:
    """KLD = sum p(v) log(p(v) / p'(v)) over the values of a column.

    ``before``, ``after``: cells of each value, before and after. ``rows``: none: frequencies among known cells. A
    number of rows: frequencies among all rows, so that every deletion adds to the divergence. ``mend``: count a value
    that has lost all its cells as half a cell, instead of an infinite divergence.
    """
    old, new = np.asarray(before, np.float64), np.asarray(after, np.float64)
    present = old > 0
    old_total = float(rows or old.sum())
    new_total = float(rows or new.sum())
    old, new = old[present] / (old_total or 1), new[present]
    vanished = int((new <= 0).sum())
    if vanished and not mend:
        return Divergence(math.inf, vanished)
    shares = np.where(new > 0, new / (new_total or 1), 0.5 / (old_total or 1))
    bits = float((old * np.log2(old / shares)).sum()) if len(old) else 0.0
    return Divergence(bits if mend or rows else max(0.0, bits), vanished)


def summed(divergences: Iterable[Divergence]) -> Divergence:
    """SKLD: the sum over columns."""
    parts = list(divergences)
    return Divergence(math.fsum(part.bits for part in parts), sum(part.vanished for part in parts))


@dataclass(frozen=True)
class InformationChange:
    """How the mutual information of pairs of columns changed.

    ``ratio`` is the mean of before over after (nothing over nothing is 1, something over nothing infinite; ``lost``
    counts those), ``difference`` the mean size of the change in bits.
    """

    ratio: float
    difference: float
    lost: int


def information_change(pairs: Iterable[tuple[npt.ArrayLike, npt.ArrayLike]]) -> InformationChange:
    """ACMI over the given pairs of columns (contingencies before and after; take every pair i < j once).

    The printed formula sums over j >= i and divides by the number of pairs with j > i; this is the mean over j > i.
    """
    ratios, differences = [], []
    for before, after in pairs:
        old, new = _information(before), _information(after)
        ratios.append(old / new if new else math.inf if old else 1.0)
        differences.append(abs(old - new))
    if not ratios:
        return InformationChange(1.0, 0.0, 0)
    lost = sum(math.isinf(ratio) for ratio in ratios)
    return InformationChange(math.fsum(ratios) / len(ratios), math.fsum(differences) / len(ratios), lost)


def _information(contingency: npt.ArrayLike) -> float:
    """Mutual information, with what is rounding error taken for 0."""
    counts = np.asarray(contingency, np.float64)
    total = counts.sum()
    if not total:
        return 0.0
    bits = mutual_information(counts) if total.is_integer() and (counts % 1 == 0).all() else _of_weights(counts)
    return bits if bits > 1e-12 else 0.0


def _of_weights(weights: Numbers) -> float:
    """Mutual information of weights that are no whole numbers."""
    shares = weights / weights.sum()
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    seen = shares > 0
    return max(0.0, float((shares[seen] * np.log2(shares[seen] / expected[seen])).sum()))


def uncertainty(transition: npt.ArrayLike) -> float:
    """H = -sum p(v, v') log p(v | v'): what is left to know of a cell once its published form is seen.

    Rows whose cell was missing (the first row of the transition) are left out. SCE is the sum over columns.
    """
    counts = np.asarray(transition, np.float64)[1:]
    total = counts.sum()
    if not total:
        return 0.0
    shown = np.broadcast_to(counts.sum(axis=0), counts.shape)
    seen = counts > 0
    return abs(float(-(counts[seen] * np.log2(counts[seen] / shown[seen])).sum() / total))
