"""Where to cut a number so that the pieces tell the class apart, and when to stop.

Fayyad and Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for Classification Learning"
(IJCAI 1993).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


def mdl_cuts(counts: Counts, smallest: int = 1) -> list[int]:
    """The places to cut, each the number of values below it, ascending.

    The best cut (smallest weighted class entropy) of a piece is accepted if its gain pays for describing it:
    gain > (log2(n - 1) + log2(3^c - 2) - c·H + c1·H1 + c2·H2) / n, with n rows and c, c1, c2 classes present in
    the piece and its two parts. Accepted parts are cut again.

    Parameters
    ----------
    counts
        Rows per value (ascending) and class.
    smallest
        Every piece keeps at least that many rows.

    Examples
    --------
    >>> mdl_cuts(np.array([[20, 0], [20, 0], [0, 20], [0, 20]]))
    [2]
    >>> mdl_cuts(np.array([[5, 5], [5, 5]]))
    []
    """
    below = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])
    cuts: list[int] = []
    pieces = [(0, len(counts))]
    while pieces:
        first, last = pieces.pop()
        cut = _best_cut(below, first, last, smallest)
        if cut is not None:
            cuts.append(cut)
            pieces += [(first, cut), (cut, last)]
    return sorted(cuts)


def _best_cut(below: Counts, first: int, last: int, smallest: int) -> int | None:
    """The accepted cut of the values first to last - 1, or None."""
    whole = below[last] - below[first]
    rows = int(whole.sum())
    if last - first < 2 or rows < max(2, 2 * smallest):
        return None
    left = below[first + 1 : last] - below[first]
    right = whole - left
    large = (left.sum(axis=1) >= smallest) & (right.sum(axis=1) >= smallest)
    if not large.any():
        return None
    bits = np.where(large, _bits(left) + _bits(right), np.inf)
    best = int(np.argmin(bits))
    inside = float(_bits(whole[None])[0])
    gain = (inside - float(bits[best])) / rows
    sides = np.stack([left[best], right[best]])
    present = (sides > 0).sum(axis=1)
    classes = int((whole > 0).sum())
    weights = sides.sum(axis=1)
    entropies = _bits(sides) / np.maximum(weights, 1)
    delta = np.log2(3.0**classes - 2) - (classes * inside / rows - float((present * entropies).sum()))
    return first + 1 + best if gain > (np.log2(rows - 1) + delta) / rows else None


def _bits(histograms: Counts) -> npt.NDArray[np.float64]:
    """n·H of each histogram, in bits."""
    totals = histograms.sum(axis=1)
    return np.asarray(_xlogx(totals) - _xlogx(histograms).sum(axis=1), np.float64)


def _xlogx(numbers: Counts) -> npt.NDArray[np.float64]:
    return np.asarray(numbers * np.log2(np.maximum(numbers, 1)), np.float64)
