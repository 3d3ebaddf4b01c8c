"""Do methods differ, or is it chance?

- Two methods, five repetitions of two-fold cross-validation: the combined 5x2cv F test (Alpaydin, "Combined 5 x 2 cv F
  Test for Comparing Supervised Classification Learning Algorithms", Neural Computation 11, 1999).
- Several methods over many cases: the Friedman test with the correction of Iman and Davenport; after it, Bonferroni and
  Dunn's critical difference of mean ranks between one method and the others (Demšar, "Statistical Comparisons of
  Classifiers over Multiple Data Sets", JMLR 7, 2006, section 3.2.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError

REPETITIONS, FOLDS = 5, 2


@dataclass(frozen=True)
class FiveByTwoTest:
    """The outcome of a combined 5x2cv F test."""

    mean_difference: float
    statistic: float
    p_value: float
    alpha: float

    @property
    def is_significant(self) -> bool:
        """Whether equal performance is rejected at the level ``alpha``."""
        return self.p_value < self.alpha

    def __str__(self) -> str:
        verdict = "differ" if self.is_significant else "do not differ significantly"
        return (
            f"the methods {verdict} (mean difference {self.mean_difference:+.4g}, 5x2cv F = {self.statistic:.4g}, "
            f"p = {self.p_value:.2g})"
        )


def five_by_two_test(differences: npt.ArrayLike, alpha: float = 0.05) -> FiveByTwoTest:
    """Test whether the differences of two methods, on the same folds, could be chance.

    F = (sum of the squared differences) / (2 sum of s_i^2) with s_i^2 the squared deviations from the mean of
    repetition i, compared with the F distribution with 10 and 5 degrees of freedom. Where no repetition varies, F is 0
    if all differences are 0, and infinite if not.
    """
    numbers = np.asarray(differences, np.float64)
    if numbers.shape != (REPETITIONS, FOLDS):
        raise ParameterError(f"The 5x2cv F test takes 5 repetitions of 2 folds, not values of shape {numbers.shape}.")
    if not np.isfinite(numbers).all():
        raise ParameterError("The 5x2cv F test takes a number for each fold; some are missing or infinite.")
    statistic = _statistic(numbers)
    return FiveByTwoTest(float(numbers.mean()), statistic, _p_value(statistic), alpha)


def _statistic(differences: npt.NDArray[np.float64]) -> float:
    """F; scaled first, so that tiny differences do not vanish when they are squared."""
    largest = np.abs(differences).max()
    if largest == 0:
        return 0.0
    scaled = differences / largest
    variances = (scaled[:, 0] - scaled[:, 1]) ** 2 / 2
    below = 2 * variances.sum()
    return float((scaled**2).sum() / below) if below > 0 else float("inf")


def _p_value(statistic: float) -> float:
    from scipy.stats import f

    return float(f.sf(statistic, REPETITIONS * FOLDS, REPETITIONS))


TEST = "Bonferroni-Dunn"
Numbers = npt.NDArray[np.float64]


def ranks(values: npt.ArrayLike, larger_is_better: bool = True) -> Numbers:
    """The rank of each method (column) in each case (row): 1 is best, equals share the mean of their ranks."""
    numbers = np.asarray(values, np.float64)
    if numbers.ndim != 2 or 0 in numbers.shape:
        raise ParameterError("Ranks need a table of values: a row for each case, a column for each method.")
    if np.isnan(numbers).any():
        raise ParameterError("Ranks need a value for each case and method; some are missing. Leave those cases out.")
    from scipy.stats import rankdata

    return np.asarray(rankdata(-numbers if larger_is_better else numbers, axis=1), np.float64)


@dataclass(frozen=True)
class FriedmanTest:
    """The outcome of a Friedman test over ``cases`` cases.

    ``chi_square`` is Friedman's statistic, ``f_statistic`` that of Iman and Davenport, which is less conservative.
    """

    mean_ranks: tuple[float, ...]
    cases: int
    chi_square: float
    chi_square_p: float
    f_statistic: float
    f_p: float
    alpha: float

    @property
    def methods(self) -> int:
        """How many methods were compared."""
        return len(self.mean_ranks)

    @property
    def is_significant(self) -> bool:
        """Whether equal performance is rejected at the level ``alpha``, by Iman's and Davenport's statistic."""
        return self.f_p < self.alpha

    def __str__(self) -> str:
        verdict = "differ" if self.is_significant else "do not differ significantly"
        freedom = f"{self.methods - 1}, {(self.methods - 1) * (self.cases - 1)}"
        return (
            f"the {self.methods} methods {verdict} over {self.cases} cases "
            f"(F({freedom}) = {self.f_statistic:.4g}, p = {self.f_p:.2g})"
        )


def friedman_test(values: npt.ArrayLike, larger_is_better: bool = True, alpha: float = 0.05) -> FriedmanTest:
    """Test whether methods (columns) differ over cases (rows).

    The statistic is the plain one, without a correction for equals, as Demšar's and the papers' figures are. Cases
    are taken as independent; the same data with another k are not, which makes the test optimistic.
    """
    ranked = ranks(values, larger_is_better)
    cases, methods = ranked.shape
    if cases < 2 or methods < 2:
        raise ParameterError(f"The Friedman test needs 2 cases and 2 methods at least, not {cases} and {methods}.")
    sums = [Fraction(int(total), 2) for total in (2 * ranked).sum(axis=0)]
    chi_square = _chi_square(sums, cases)
    f_statistic = _iman_davenport(chi_square, cases, methods)
    chi_square_p, f_p = _p_values(float(chi_square), f_statistic, cases, methods)
    return FriedmanTest(
        tuple(float(total / cases) for total in sums),
        cases,
        float(chi_square),
        chi_square_p,
        f_statistic,
        f_p,
        alpha,
    )


def _chi_square(sums: list[Fraction], cases: int) -> Fraction:
    """12 N / (K (K + 1)) (sum of squared mean ranks - K (K + 1)^2 / 4), exactly."""
    methods = len(sums)
    squares = sum(((total / cases) ** 2 for total in sums), Fraction(0))
    return Fraction(12 * cases, methods * (methods + 1)) * (squares - Fraction(methods * (methods + 1) ** 2, 4))


def _iman_davenport(chi_square: Fraction, cases: int, methods: int) -> float:
    """(N - 1) chi^2 / (N (K - 1) - chi^2); infinite where all cases agree on the same order."""
    below = cases * (methods - 1) - chi_square
    return float((cases - 1) * chi_square / below) if below else float("inf")


def _p_values(chi_square: float, f_statistic: float, cases: int, methods: int) -> tuple[float, float]:
    from scipy.stats import chi2, f

    freedom = methods - 1
    return float(chi2.sf(chi_square, freedom)), float(f.sf(f_statistic, freedom, freedom * (cases - 1)))


@dataclass(frozen=True)
class CriticalDifference:
    """Mean ranks, best first, and how far from that of the ``control`` one must be to differ from it."""

    mean_ranks: tuple[tuple[str, float], ...]
    cases: int
    difference: float
    alpha: float
    control: str

    def differ(self, one: str, other: str) -> bool:
        """Whether two methods differ significantly."""
        if self.control not in (one, other):
            raise ParameterError(f"The {TEST} test compares with {self.control!r} only.")
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

    def __str__(self) -> str:
        listed = ", ".join(f"{name} {rank:.3f}" for name, rank in self.mean_ranks)
        begin = f"mean ranks over {self.cases} cases: {listed}; critical difference {self.difference:.3f} ({TEST})"
        return f"{begin}; {self.finding()}"

    def finding(self) -> str:
        """What differs from what, in words."""
        worse, better = self.worse_than(self.control), self.better_than(self.control)
        sentences = [f"{self.control} is better than {_listed(worse)}"] if worse else []
        sentences += [f"{self.control} is worse than {_listed(better)}"] if better else []
        return "; ".join(sentences) or f"{self.control} differs from none"

    def _differing(self, name: str, better: bool) -> tuple[str, ...]:
        own = self.rank(name)
        others = [(other, rank) for other, rank in self.mean_ranks if other != name and (rank < own) == better]
        return tuple(other for other, _ in others if self.differ(name, other))


def bonferroni_dunn(
    mean_ranks: Mapping[str, float], cases: int, control: str, alpha: float = 0.05
) -> CriticalDifference:
    """Compare all methods with one of them."""
    if control not in mean_ranks:
        raise ParameterError(f"{control!r} was not ranked. There are: {', '.join(mean_ranks)}.")
    difference = _difference(bonferroni_dunn_quantile(len(mean_ranks), alpha), len(mean_ranks), cases)
    return CriticalDifference(_sorted(mean_ranks), cases, difference, alpha, control)


def bonferroni_dunn_quantile(methods: int, alpha: float = 0.05) -> float:
    """The normal quantile at 1 - alpha / (2 (methods - 1))."""
    from scipy.stats import norm

    _check(methods, alpha)
    return float(norm.isf(alpha / (2 * (methods - 1))))


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
