"""The Friedman test with the correction of Iman and Davenport: do several methods differ over many cases?

Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7, 2006, section 3.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.lab.statistics.ranks import ranks


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

    Examples
    --------
    >>> print(friedman_test([[85, 83, 80], [84, 83, 81], [90, 88, 89], [70, 69, 69]]))
    the 3 methods differ over 4 cases (F(2, 6) = 9.8, p = 0.013)
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
