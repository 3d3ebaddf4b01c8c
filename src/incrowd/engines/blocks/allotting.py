"""How many of a block's rows go where: draws for the whole table, shared out over its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from incrowd.engines.embedded.dealing import check_counts
from incrowd.plan.steps import Place, Share
from incrowd.vocabulary.randomness import Randomness, distinct

Counts = npt.NDArray[np.int64]


def allot(sizes: Sequence[int] | Counts, count: int, randomness: Randomness) -> Counts:
    """How many of ``count`` things, drawn from piles of the given sizes, come from each pile.

    Every set of that many things is equally likely.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> allot([2, 0, 3], 5, SystemRandomness()).tolist()
    [2, 0, 3]
    """
    ends = np.cumsum(sizes, dtype=np.int64)
    chosen = distinct(int(ends[-1]) if len(ends) else 0, count, randomness)
    return np.bincount(np.searchsorted(ends, chosen, side="right"), minlength=len(sizes)).astype(np.int64)


def allotted(step: Place, counts: Counts, randomness: Randomness) -> list[Place]:
    """The step for each block, given how many rows of it (blocks x cells) rest in each cell.

    The shares of all blocks add up to those of the step; every way to deal the rows of a cell is equally likely.
    """
    check_counts(counts.sum(axis=0), step)
    shares: list[list[Share]] = [[] for _ in counts]
    for cell, of_cell in groupby(sorted(step.shares, key=step.cell), key=step.cell):
        left, parts = counts[:, cell], list(of_cell)
        for place, share in enumerate(parts):
            taken = left if place == len(parts) - 1 else allot(left, share.rows, randomness)
            left = left - taken
            for block in np.flatnonzero(taken):
                shares[block].append(Share(share.node, share.label, share.group, int(taken[block])))
    return [Place(step.tree, tuple(of_block)) for of_block in shares]
