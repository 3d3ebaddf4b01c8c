"""Pools: rows that wait together, known by how many come from which cell of the table.

A cell is a resting node of the tree (or a node and a class). Which rows of a cell are meant is never decided
here; only how many. That is all the release needs, and it is what both engines can count.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.randomness import Randomness, distinct

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pool:
    """``counts[i]`` rows of ``cells[i]``; cells ascending, no count zero."""

    cells: Counts
    counts: Counts

    @classmethod
    def of(cls, cells: Iterable[int], counts: Iterable[int]) -> Pool:
        """A pool with so many rows of each cell; empty cells are left out."""
        cell_array = np.asarray(list(cells), np.int64)
        count_array = np.asarray(list(counts), np.int64)
        kept = count_array > 0
        return cls(cell_array[kept], count_array[kept])

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())


EMPTY = Pool(np.empty(0, np.int64), np.empty(0, np.int64))


def union(pools: Sequence[Pool]) -> Pool:
    """All rows of the pools together.

    Examples
    --------
    >>> both = union([Pool.of([3, 5], [2, 1]), Pool.of([5], [4])])
    >>> both.cells.tolist(), both.counts.tolist()
    ([3, 5], [2, 5])
    """
    if len(pools) == 1:
        return pools[0]
    if not pools:
        return EMPTY
    cells, where = np.unique(np.concatenate([pool.cells for pool in pools]), return_inverse=True)
    counts = np.bincount(where, weights=np.concatenate([pool.counts for pool in pools])).astype(np.int64)
    return Pool(cells, counts)


def minus(pool: Pool, part: Pool) -> Pool:
    """The rows of the pool that are not in the part."""
    counts = pool.counts.copy()
    counts[np.searchsorted(pool.cells, part.cells)] -= part.counts
    kept = counts > 0
    return Pool(pool.cells[kept], counts[kept])


def draw(pool: Pool, size: int, randomness: Randomness) -> Pool:
    """``size`` rows of the pool, every set of rows equally likely."""
    chosen = distinct(pool.size, size, randomness)
    cell_of = np.searchsorted(np.cumsum(pool.counts), chosen, side="right")
    return _part(pool, np.bincount(cell_of, minlength=len(pool.cells)))


def draw_stratified(pool: Pool, size: int, randomness: Randomness, classes: int) -> Pool:
    """``size`` rows with the class mix of the pool (largest remainder), drawn at random within a class.

    The cells must be numbered node * classes + class.
    """
    label = pool.cells % classes
    totals = np.bincount(label, weights=pool.counts, minlength=classes).astype(np.int64)
    quota = largest_remainder(totals, size)
    parts = [
        draw(Pool(pool.cells[label == c], pool.counts[label == c]), int(quota[c]), randomness)
        for c in np.flatnonzero(quota)
    ]
    return union(parts)


def largest_remainder(totals: Counts, size: int) -> Counts:
    """``size`` seats in proportion to the totals, none above its total.

    Examples
    --------
    >>> largest_remainder(np.array([6, 3, 1]), 5).tolist()
    [3, 2, 0]
    """
    whole, rest = np.divmod(totals * size, totals.sum())
    order = np.argsort(-rest, kind="stable")
    whole[order[: size - int(whole.sum())]] += 1
    return whole


def _part(pool: Pool, counts: Counts) -> Pool:
    kept = counts > 0
    return Pool(pool.cells[kept], counts[kept])
