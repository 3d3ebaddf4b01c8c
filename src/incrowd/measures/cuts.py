"""Where to cut numbers, and which number to write for the cut."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

MAX_FLOAT = 1.7e308  # two floats may differ by more than the largest, which would be infinite


def even_cuts(rows: npt.NDArray[np.int64], smallest: int) -> list[int]:
    """Cuts as soon as a piece has enough rows; the rest below that joins the last piece.

    Examples
    --------
    >>> even_cuts(np.array([5, 1, 9, 4, 2]), 5)
    [1, 3]
    """
    places, size, left = [], 0, int(rows.sum())
    for place, here in enumerate(rows.tolist(), start=1):
        size, left = size + here, left - here
        if size >= smallest and left >= smallest:
            places.append(place)
            size = 0
    return places


def roundest(low: float, high: float, whole: bool) -> float:
    """The number at or above ``low`` and below ``high`` with the fewest digits; of several, the one in the middle.

    Examples
    --------
    >>> roundest(59_000, 9_001_337, True), roundest(30, 41, True), roundest(37, 38, True)
    (5000000, 40, 37)
    >>> roundest(0.1234, 0.1391, False)
    0.13
    """
    middle = (Fraction(low) + Fraction(high)) / 2
    for exponent in range(math.floor(math.log10(min(high - low, MAX_FLOAT))) + 1, -18, -1):
        step = Fraction(10) ** exponent
        for multiple in (round(middle / step), math.ceil(Fraction(low) / step)):
            cut = int(multiple * step) if whole else float(multiple * step)
            if low <= cut < high:
                return cut
    return low


def outer_ends(
    numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64], rows: npt.NDArray[np.int64], k: int, whole: bool
) -> tuple[float, float]:
    """Round numbers near the two ends of a column, with at least k rows beyond each: they tell of no single row.

    Parameters
    ----------
    numbers, rows
        The distinct numbers, ascending, and how many rows have each.
    whole
        Whether the ends shall be whole numbers.

    Examples
    --------
    >>> outer_ends(np.arange(17, 91), np.ones(74, np.int64), 5, True)
    (21, 85)
    """
    last = len(numbers) - 1
    if last < 1:
        only = numbers[0].item() if len(numbers) else 0
        return only, only
    low = min(int(np.searchsorted(np.cumsum(rows), k)), last - 1)
    high = max(last - int(np.searchsorted(np.cumsum(rows[::-1]), k)), 1)
    low_end = roundest(numbers[low].item(), numbers[low + 1].item(), whole)
    return low_end, max(low_end, roundest(numbers[high - 1].item(), numbers[high].item(), whole))
