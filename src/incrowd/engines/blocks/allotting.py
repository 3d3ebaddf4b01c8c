"""How many of a block's rows go where: draws for the whole table, shared out over its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from incrowd.engines.blocks.hypergeometric import good_ones
from incrowd.engines.embedded.dealing import check_counts
from incrowd.plan.steps import Place, Share
from incrowd.vocabulary.randomness import Randomness

Counts = npt.NDArray[np.int64]


def allot(sizes: Sequence[int] | Counts, count: int, randomness: Randomness) -> Counts:
    """How many of ``count`` things, drawn from piles of the given sizes, come from each pile.

    Every set of that many things is equally likely, up to the rounding of
    the law's shares: below one in a hundred thousand for a billion things.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> allot([2, 0, 3], 5, SystemRandomness()).tolist()
    [2, 0, 3]
    """
    left, wanted = int(np.sum(sizes, dtype=np.int64)), count
    if count > left:
        raise ValueError("more things asked for than there are")
    taken = np.zeros(len(sizes), np.int64)
    for place, size in enumerate(sizes):
        left -= int(size)
        if 0 < wanted < left + size and size > 0:
            taken[place] = good_ones(int(size), left, wanted, _chance(randomness))
        else:
            taken[place] = size if wanted else 0
        wanted -= int(taken[place])
    return taken


def _chance(randomness: Randomness) -> float:
    """A uniform number in [0, 1)."""
    return float(randomness.words(1)[0] >> np.uint64(11)) * 2.0**-53


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
