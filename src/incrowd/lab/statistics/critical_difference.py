"""Which methods differ, after a Friedman test: mean ranks that lie further apart than a critical difference.

Bonferroni-Dunn compares all methods with one of them, Nemenyi all with all (Demšar, JMLR 7, 2006, section 3.2.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from incrowd.errors import ParameterError


class PostHoc(StrEnum):
    """How the critical difference was found."""

    BONFERRONI_DUNN = "Bonferroni-Dunn"
    NEMENYI = "Nemenyi"


@dataclass(frozen=True)
class CriticalDifference:
    """Mean ranks, best first, and how far apart they must be to differ.

    With a ``control`` only differences from it may be read; without one, all.
    """

    test: PostHoc
    mean_ranks: tuple[tuple[str, float], ...]
    cases: int
    difference: float
    alpha: float
    control: str | None = None

    def differ(self, one: str, other: str) -> bool:
        """Whether two methods differ significantly."""
        if self.control not in (None, one, other):
            raise ParameterError(f"The {self.test} test compares with {self.control!r} only. Use Nemenyi's for pairs.")
        return abs(self.rank(one) - self.rank(other)) > self.difference

    def rank(self, name: str) -> float:
        """The mean rank of a method."""
        known = dict(self.mean_ranks)
        if name not in known:
            raise ParameterError(f"{name!r} was not compared. There are: {', '.join(known)}.")
        return known[name]

    def better_than(self, name: str) -> tuple[str, ...]:
        """The methods that are significantly better than this one, best first."""
        return self._differing(name, better=True)

    def worse_than(self, name: str) -> tuple[str, ...]:
        """The methods that are significantly worse than this one, best first."""
        return self._differing(name, better=False)

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The longest runs of methods, best first, of which no two differ; a method alone is no run."""
        if self.control is not None:
            raise ParameterError(f"The {self.test} test makes no groups: it compares with {self.control!r} only.")
        runs = [self._run_from(start) for start in range(len(self.mean_ranks))]
        names = [name for name, _ in self.mean_ranks]
        longest = [(start, end) for i, (start, end) in enumerate(runs) if i == 0 or end > runs[i - 1][1]]
        return tuple(tuple(names[start:end]) for start, end in longest if end - start > 1)

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {rank:.3f}" for name, rank in self.mean_ranks)
        begin = f"mean ranks over {self.cases} cases: {listed}; critical difference {self.difference:.3f} ({self.test})"
        return f"{begin}; {self.finding()}"

    def finding(self) -> str:
        """What differs from what, in words."""
        if self.control is None:
            runs = "; ".join(f"{', '.join(run[:-1])} and {run[-1]} do not differ" for run in self.groups())
            return runs or "all methods differ from each other"
        worse, better = self.worse_than(self.control), self.better_than(self.control)
        said = [f"{self.control} is better than {_listed(worse)}"] if worse else []
        said += [f"{self.control} is worse than {_listed(better)}"] if better else []
        return "; ".join(said) or f"{self.control} differs from none"

    def _differing(self, name: str, better: bool) -> tuple[str, ...]:
        own = self.rank(name)
        others = [(other, rank) for other, rank in self.mean_ranks if other != name and (rank < own) == better]
        return tuple(other for other, _ in others if self.differ(name, other))

    def _run_from(self, start: int) -> tuple[int, int]:
        """From a method to behind the last that does not differ from it."""
        first = self.mean_ranks[start][1]
        return start, start + sum(rank - first <= self.difference for _, rank in self.mean_ranks[start:])


def bonferroni_dunn(
    mean_ranks: Mapping[str, float], cases: int, control: str, alpha: float = 0.05
) -> CriticalDifference:
    """Compare all methods with one of them.

    Examples
    --------
    >>> print(bonferroni_dunn({"TDR": 2.347, "TDS": 2.444, "kACTUS": 1.208}, cases=72, control="kACTUS").finding())
    kACTUS is better than TDR and TDS
    """
    if control not in mean_ranks:
        raise ParameterError(f"{control!r} was not ranked. There are: {', '.join(mean_ranks)}.")
    difference = _difference(bonferroni_dunn_quantile(len(mean_ranks), alpha), len(mean_ranks), cases)
    return CriticalDifference(PostHoc.BONFERRONI_DUNN, _sorted(mean_ranks), cases, difference, alpha, control)


def nemenyi(mean_ranks: Mapping[str, float], cases: int, alpha: float = 0.05) -> CriticalDifference:
    """Compare all methods with each other.

    Examples
    --------
    >>> print(nemenyi({"TDR": 2.347, "TDS": 2.444, "kACTUS": 1.208}, cases=72).finding())
    TDR and TDS do not differ
    """
    difference = _difference(nemenyi_quantile(len(mean_ranks), alpha), len(mean_ranks), cases)
    return CriticalDifference(PostHoc.NEMENYI, _sorted(mean_ranks), cases, difference, alpha)


def bonferroni_dunn_quantile(methods: int, alpha: float = 0.05) -> float:
    """The normal quantile at 1 - alpha / (2 (methods - 1)).

    Examples
    --------
    >>> [round(bonferroni_dunn_quantile(methods), 3) for methods in (2, 3, 4, 5)]
    [1.96, 2.241, 2.394, 2.498]
    """
    from scipy.stats import norm

    _check(methods, alpha)
    return float(norm.isf(alpha / (2 * (methods - 1))))


def nemenyi_quantile(methods: int, alpha: float = 0.05) -> float:
    """The quantile of the studentized range for infinite degrees of freedom, divided by the root of two.

    Examples
    --------
    >>> [round(nemenyi_quantile(methods), 3) for methods in (2, 3, 4, 5)]
    [1.96, 2.344, 2.569, 2.728]
    """
    from scipy.stats import studentized_range

    _check(methods, alpha)
    return float(studentized_range.ppf(1 - alpha, methods, math.inf)) / math.sqrt(2)


def _difference(quantile: float, methods: int, cases: int) -> float:
    if cases < 1:
        raise ParameterError("A critical difference needs at least one case.")
    return quantile * math.sqrt(methods * (methods + 1) / (6 * cases))


def _check(methods: int, alpha: float) -> None:
    if methods < 2:
        raise ParameterError("There must be two methods at least to compare.")
    if not 0 < alpha < 1:
        raise ParameterError("alpha, the level of a test, must lie between 0 and 1.")


def _sorted(mean_ranks: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(((name, float(rank)) for name, rank in mean_ranks.items()), key=lambda item: item[1]))


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
