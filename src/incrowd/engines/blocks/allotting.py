"""How many of a block's rows go where: draws for the whole table, shared out over its blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.engines.blocks.hypergeometric import good_ones
from incrowd.engines.embedded.dealing import Shares
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


def allotted(shares: Shares, counts: Counts, randomness: Randomness) -> list[Shares]:
    """The shares of each block, given how many rows of it (blocks x cells) rest in each cell.

    Those of all blocks add up to those that are given; every way to deal the rows of a cell is equally likely.
    """
    shares.check(counts.sum(axis=0))
    taken = counts[:, shares.cell]
    for cell in np.flatnonzero(shares.divided):
        left = counts[:, cell]
        for part in range(*np.searchsorted(shares.cell, [cell, cell + 1])):
            taken[:, part] = allot(left, int(shares.rows[part]), randomness)
            left = left - taken[:, part]
    return [shares.of_block(rows) for rows in taken]
