"""Nested halves: where a row of values is cut in two, each part in two again, and so on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

DEPTH = 5


def nested_cuts(rows: npt.NDArray[np.int64], depth: int = DEPTH) -> list[list[int]]:
    """For each generation the places to cut, each the number of values before it; a generation keeps all earlier cuts.

    A piece is cut where its rows are halved best, the first such place of several; a single value is not cut. There
    are fewer generations if nothing is left to cut.

    Examples
    --------
    >>> nested_cuts(np.array([5, 1, 1, 1, 2]))
    [[1], [1, 3], [1, 2, 3, 4]]
    """
    below = np.concatenate([[0], np.cumsum(rows)])
    generations: list[list[int]] = []
    ends = [0, len(rows)]
    for _ in range(depth):
        fresh = [_middle(below, first, last) for first, last in pairwise(ends) if last - first > 1]
        if not fresh:
            break
        ends = sorted([*ends, *fresh])
        generations.append(ends[1:-1])
    return generations


def _middle(below: npt.NDArray[np.int64], first: int, last: int) -> int:
    """The cut between first and last with the most even rows on its two sides."""
    inside = below[first + 1 : last]
    return first + 1 + int(np.argmin(np.abs(2 * inside - below[first] - below[last])))
