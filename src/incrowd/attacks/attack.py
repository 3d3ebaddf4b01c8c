"""What an attack is, what it finds, and how sure its measure is.

An attack that cannot run says so and why: "not run" is never a low risk. Intervals say what a sample of people can say,
at 99 %: at this level an attack that is worth nothing gives a false alarm in one run of two hundred.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from incrowd.comparisons.summary import wilson_interval

Verdict = Literal["no leak found", "leak", "not run"]
NO_LEAK: Verdict = "no leak found"
LEAK: Verdict = "leak"
NOT_RUN: Verdict = "not run"


@dataclass(frozen=True)
class Finding:
    """What one attack found."""

    verdict: Verdict  # ``no leak found``, ``leak`` or ``not run``
    words: str  # what was found, or why the attack did not run, in a sentence without any cell value
    measured: float | None = None
    control: float | None = None
    interval: tuple[float, float] | None = None  # the 99 % confidence interval of what was measured
    goal: float | None = None  # what the measure shall keep to, if the design names a number
    unit: str = ""  # of measured, control, interval and goal: ``share``, ``points``, ``AUC`` and so on
    details: Mapping[str, float] = field(default_factory=dict)  # more numbers, by name
    attack: str = ""  # its name in the catalog
    seconds: float = 0.0  # how long it took

    def __str__(self) -> str:
        if self.measured is None or self.interval is None:
            return f"{self.attack}: {self.verdict}. {self.words}"
        low, high = self.interval
        figures = [f"{self.measured:.4g} {self.unit} (99 % interval {low:.4g} to {high:.4g})"]
        figures += [] if self.control is None else [f"control {self.control:.4g}"]
        figures += [] if self.goal is None else [f"goal {self.goal:.4g}"]
        return f"{self.attack}: {self.verdict}. {', '.join(figures)}. {self.words}"

    def to_json(self) -> dict[str, Any]:
        """The finding as plain data."""
        rounded = {"interval": self.interval and list(self.interval), "seconds": round(self.seconds, 3)}
        return {"attack": self.attack, **asdict(self), **rounded}


LEVEL = 0.99
Z = 2.5758293035489004  # the normal quantile of that level, two-sided
Floats = npt.NDArray[np.float64]
Interval = tuple[float, float]


def share_interval(count: float, rows: int) -> Interval:
    """Wilson's interval of a share."""
    wilson = wilson_interval(min(1.0, count / rows), rows, LEVEL)
    return round(wilson.low, 12), round(wilson.high, 12)


def difference_interval(first: tuple[int, int], second: tuple[int, int]) -> Interval:
    """Of the difference of two shares (count, rows) of different people (Newcombe 1998, method 10)."""
    one, other = first[0] / first[1], second[0] / second[1]
    (low1, high1), (low2, high2) = share_interval(*first), share_interval(*second)
    gap = one - other
    return gap - math.hypot(one - low1, high2 - other), gap + math.hypot(high1 - one, other - low2)


def mean_interval(values: npt.ArrayLike, generator: np.random.Generator, draws: int = 1000) -> Interval:
    """Of the mean of some values, by drawing them anew (bootstrap percentiles)."""
    numbers = np.asarray(values, np.float64)
    means = numbers[generator.integers(0, len(numbers), (draws, len(numbers)))].mean(axis=1)
    return _percentiles(means)


def ratio_interval(both: tuple[int, int, int, int], generator: np.random.Generator, draws: int = 2000) -> Interval:
    """Of the ratio of two hit rates of the same people, by drawing people anew.

    ``both`` counts people: hit by neither, by the first only, by the second only, by both. The ratio is first over
    second.
    """
    total = sum(both)
    drawn = generator.multinomial(total, np.array(both) / total, draws)
    first, second = drawn[:, 1] + drawn[:, 3], drawn[:, 2] + drawn[:, 3]
    return _percentiles(first / np.maximum(second, 1))


def ratio_of_sums_interval(above: Floats, below: Floats, generator: np.random.Generator, draws: int = 1000) -> Interval:
    """Of the sum of one number of each person over that of another, by drawing persons anew."""
    picks = (generator.integers(0, len(above), len(above)) for _ in range(draws))
    return _percentiles(np.array([above[pick].sum() / max(below[pick].sum(), 1) for pick in picks]))


def _percentiles(values: Floats) -> Interval:
    low, high = np.quantile(values, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def area(members: Floats, others: Floats) -> float:
    """The chance that a member scores above somebody else, ties counting half: the area under the ROC curve."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([members, others]))
    count = len(members)
    return float((ranks[:count].sum() - count * (count + 1) / 2) / (count * len(others)))


def area_interval(measured: float, members: int, others: int) -> Interval:
    """Of an area under the ROC curve (Hanley, McNeil 1982)."""
    one, two = measured / (2 - measured), 2 * measured**2 / (1 + measured)
    spread = measured * (1 - measured) + (members - 1) * (one - measured**2) + (others - 1) * (two - measured**2)
    width = Z * math.sqrt(max(spread, 0.0) / (members * others))
    return max(0.0, measured - width), min(1.0, measured + width)


def rank_correlation(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Spearman's rho; 0 if one of the two never changes."""
    return round(float(centred_ranks(first) @ centred_ranks(second)), 12)


def centred_ranks(values: npt.ArrayLike) -> Floats:
    """Ranks around 0, of length 1, so that a rank correlation is a product; all 0 if the values never change."""
    from scipy.stats import rankdata

    ranks = rankdata(values)
    ranks = ranks - ranks.mean()
    size = math.sqrt(float(ranks @ ranks))
    return np.asarray(ranks / size if size else ranks)


def correlation_interval(rho: float, rows: int) -> Interval:
    """Of a rank correlation (Fisher's transformation)."""
    middle, width = math.atanh(max(-0.999999, min(0.999999, rho))), Z * 1.03 / math.sqrt(max(rows - 3, 1))
    return math.tanh(middle - width), math.tanh(middle + width)
