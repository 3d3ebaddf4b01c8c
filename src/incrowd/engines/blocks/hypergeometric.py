"""How many of the things that are drawn are good ones: the hypergeometric law, by inversion."""

from __future__ import annotations

import math

from incrowd.trees.compiled import compiled


@compiled
def good_ones(good: int, bad: int, drawn: int, chance: float) -> int:
    """How many of ``drawn`` things, taken from ``good`` and ``bad`` ones without putting back, are good.

    ``chance`` is uniform in [0, 1). The outcomes are visited from the likeliest one outwards, and the one is taken in
    whose share of [0, 1) the chance falls; so the work grows with the spread of the law, not with the numbers.
    """
    least, most = max(0, drawn - bad), min(good, drawn)
    middle = min(most, max(least, int((drawn + 1.0) * (good + 1.0) / (good + bad + 2.0))))
    share = math.exp(_choices(good, middle) + _choices(bad, drawn - middle) - _choices(good + bad, drawn))
    chance -= share
    if chance < 0:
        return middle
    up, down, above, below = middle, middle, share, share
    while up < most or down > least:
        if up < most:
            above *= (good - up) / (up + 1.0) * (drawn - up) / (bad - drawn + up + 1.0)
            up += 1
            chance -= above
            if chance < 0:
                return up
        if down > least:
            below *= down / (good - down + 1.0) * (bad - drawn + down) / (drawn - down + 1.0)
            down -= 1
            chance -= below
            if chance < 0:
                return down
        if above < 1e-300 and below < 1e-300:
            break  # what is left is smaller than the rounding of the chance itself
    return middle


@compiled
def _choices(total: int, chosen: int) -> float:
    """The logarithm of the number of ways to choose."""
    return math.lgamma(total + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(total - chosen + 1.0)
