"""The combined 5x2cv F test: do two methods differ, given five repetitions of two-fold cross-validation?

Alpaydin, "Combined 5 x 2 cv F Test for Comparing Supervised Classification Learning Algorithms", Neural
Computation 11, 1999.
"""

from __future__ import annotations

from dataclasses import dataclass

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

    Parameters
    ----------
    differences
        Error of one method minus error of the other (or accuracies, it does not matter), a row for each of the five
        repetitions, a column for each of the two folds.
    alpha
        The level of the test.

    Notes
    -----
    F = (sum of the squared differences) / (2 sum of s_i^2) with s_i^2 the squared deviations from the mean of
    repetition i, compared with the F distribution with 10 and 5 degrees of freedom. Where no repetition varies, F is 0
    if all differences are 0, and infinite if not.

    Examples
    --------
    >>> print(five_by_two_test([(.02, .01), (.03, .01), (.00, .02), (.01, .01), (.02, .03)]))
    the methods do not differ significantly (mean difference +0.016, 5x2cv F = 3.4, p = 0.095)
    """
    found = np.asarray(differences, np.float64)
    if found.shape != (REPETITIONS, FOLDS):
        raise ParameterError(f"The 5x2cv F test takes 5 repetitions of 2 folds, not values of shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ParameterError("The 5x2cv F test takes a number for each fold; some are missing or infinite.")
    statistic = _statistic(found)
    return FiveByTwoTest(float(found.mean()), statistic, _p_value(statistic), alpha)


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
