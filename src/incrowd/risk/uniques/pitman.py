"""Pitman: classes arise by chance, large ones and new ones both, as in many tables of people."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.risk.uniques.sample import Answer, Sample, estimate, known
from incrowd.risk.unmeasured import NotMeasured

NAME = "Pitman"
_STARTS = ((0.0, 0.5), (3.0, 1.0), (-3.0, 0.5))


def pitman(sample: Sample) -> Answer:
    r"""Population uniques by Pitman's sampling formula, fitted to the sample by maximum likelihood.

    With T\ :sub:`j` of u classes of size j in n rows, 0 <= alpha < 1 and theta > -alpha, up to a constant

        log L = sum_{i=1}^{u-1} log(theta + i alpha) - sum_{i=1}^{n-1} log(theta + i)
                + sum_j T_j sum_{i=1}^{j-1} log(i - alpha),
        uniques = N Gamma(theta + 1) Gamma(theta + alpha + N - 1) / (Gamma(theta + alpha) Gamma(theta + N)),

    the expectation itself, not its limit Gamma(theta + 1) / Gamma(theta + alpha) N^alpha.

    Pitman: Exchangeable and partially exchangeable random partitions, Probability Theory and Related Fields 102, 1995;
    Hoshino: Applying Pitman's sampling formula to microdata disclosure risk assessment, Journal of Official Statistics
    17, 2001.

    Conditions: a simple random sample. Best of all for sampling fractions up to a tenth (Dankar et al. 2012).

    Examples
    --------
    >>> found = pitman(Sample(((1, 60), (2, 10), (3, 5), (20, 2)), 5000))
    >>> 500 < found.uniques < 2500
    True
    """
    if (found := known(sample)) is not None:
        return found
    if sample.classes == sample.rows:
        return NotMeasured("every row of the sample is unique, which the model cannot be fitted to")
    if sample.classes == 1:
        return NotMeasured("the sample has one class only")
    fitted = _fit(sample)
    if fitted is None:
        return NotMeasured("the likelihood has no maximum that could be found")
    theta, alpha = fitted
    return estimate(sample, expected_uniques(theta, alpha, sample.people), NAME, theta=theta, alpha=alpha)


def expected_uniques(theta: float, alpha: float, people: int) -> float:
    """Expected classes of one among so many people.

    Examples
    --------
    >>> round(expected_uniques(2.0, 0.0, 11), 6) == round(11 * 2 / 12, 6)
    True
    """
    from scipy.special import gammaln

    terms = gammaln(theta + 1) - gammaln(theta + alpha) + gammaln(theta + alpha + people - 1) - gammaln(theta + people)
    return people * float(np.exp(terms))


def log_likelihood(sample: Sample, theta: float, alpha: float) -> float:
    """Of the sample's class sizes, without the terms that do not depend on the parameters."""
    from scipy.special import gammaln

    new = np.log(theta + alpha * np.arange(1, sample.classes)).sum()
    all_rows = gammaln(theta + sample.rows) - gammaln(theta + 1)
    inside = (sample.counts * (gammaln(sample.sizes - alpha) - gammaln(1 - alpha))).sum()
    return float(new - all_rows + inside)


def _fit(sample: Sample) -> tuple[float, float] | None:
    """Theta and alpha of the greatest likelihood, from several starts; None if all run away."""
    from scipy.optimize import minimize

    def parameters(place: npt.NDArray[np.float64]) -> tuple[float, float]:
        alpha = float(1 / (1 + np.exp(-place[0])))
        return float(np.exp(np.clip(place[1], -40, 40))) - alpha, alpha

    def loss(place: npt.NDArray[np.float64]) -> float:
        value = -log_likelihood(sample, *parameters(place))
        return value if np.isfinite(value) else 1e300

    level = np.log(sample.classes)
    starts = [np.array([logit, level * share]) for logit, share in _STARTS]
    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000}
    tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    settled = [one for one in tried if one.success and one.fun < 1e299 and abs(one.x[1]) < 39]
    return parameters(min(settled, key=lambda one: float(one.fun)).x) if settled else None
