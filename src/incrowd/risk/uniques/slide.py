"""The slide negative binomial: sizes of the population's classes, less one, are negative binomial."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.risk.uniques.sample import Answer, Sample, estimate, known
from incrowd.risk.unmeasured import NotMeasured

NAME = "SNB"
_STARTS = tuple((a, b) for a in (-2.0, 0.0, 1.5) for b in (-4.0, -1.5, 0.5))
_CLOSE = 1e-6


def slide_negative_binomial(sample: Sample) -> Answer:
    r"""Population uniques where F - 1 is negative binomial with parameters a and b.

    P(F = k) = C(a + k - 2, k - 1) (1 - b)^(k-1) b^a for k >= 1, so K classes have K b^a uniques. From a sample of
    fraction p, with d = (1 - p)(1 - b), a and b solve

        T_1 = K p (b / (1 - d))^a (1 + a d / (1 - d)),
        T_2 = K p^2 a b^a (1 - b) (2 - (1 - a) d) / (2 (1 - d)^(a + 2)),

    where K, the number of classes of the population, is estimated first: see :func:`classes_of_population`.

    Chen, Keller-McNulty: Estimation of identification disclosure risk in microdata, Journal of Official Statistics 14,
    1998; Dankar et al. 2012, appendix A.

    Conditions: a simple random sample that is not small; there may be no solution, and then nothing is estimated.

    Examples
    --------
    >>> found = slide_negative_binomial(Sample(((1, 400), (2, 160), (3, 70), (4, 30), (5, 15)), 2500))
    >>> 300 < found.uniques < 900
    True
    """
    if (found := known(sample)) is not None:
        return found
    if not sample.number_of(2):
        return NotMeasured("the sample has no class of two rows, which the equations need")
    classes = classes_of_population(sample)
    solved = _solve(sample, classes)
    if solved is None:
        return NotMeasured("the equations of the model have no solution for this sample")
    a, b = solved
    return estimate(sample, classes * b**a, NAME, classes=classes, a=a, b=b)


def classes_of_population(sample: Sample) -> float:
    r"""How many classes the population has, by the modified estimator of Shlosser.

        K = u + T_1 (sum i p^2 (1-p^2)^(i-1) T_i) / (sum (1-p)^i ((1+p)^i - 1) T_i)
                (sum (1-p)^i T_i / sum i p (1-p)^(i-1) T_i)^2

    Haas, Stokes: Estimating the number of classes in a finite population, JASA 93, 1998.

    Examples
    --------
    >>> round(classes_of_population(Sample(((1, 40), (2, 30)), 200)))
    97
    """
    p, i, t = sample.fraction, sample.sizes, sample.counts
    upper = (i * p**2 * (1 - p**2) ** (i - 1) * t).sum()
    lower = ((1 - p**2) ** i * t).sum() - ((1 - p) ** i * t).sum()
    missed = ((1 - p) ** i * t).sum() / (i * p * (1 - p) ** (i - 1) * t).sum()
    return float(sample.classes + sample.number_of(1) * upper / lower * missed**2)


def expected_counts(a: float, b: float, classes: float, fraction: float) -> tuple[float, float]:
    """The sample's expected classes of one and of two rows."""
    d = (1 - fraction) * (1 - b)
    seen = classes * fraction * (b / (1 - d)) ** a
    once = seen * (1 + a * d / (1 - d))
    return once, seen * fraction * a * (1 - b) * (2 - (1 - a) * d) / (2 * (1 - d) ** 2)


def _solve(sample: Sample, classes: float) -> tuple[float, float] | None:
    """A solution a > 0, 0 < b < 1 of both equations, found from several starts; None if there is none."""
    from scipy.optimize import root

    wanted = np.array([sample.number_of(1), sample.number_of(2)], np.float64)

    def parameters(place: npt.NDArray[np.float64]) -> tuple[float, float]:
        bounded = np.clip(place, -30, 30)
        return float(np.exp(bounded[0])), float(1 / (1 + np.exp(-bounded[1])))

    def gap(place: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        found = np.array(expected_counts(*parameters(place), classes, sample.fraction))
        return np.asarray(np.log(np.maximum(found, 1e-300)) - np.log(wanted))

    for start in _STARTS:
        tried = root(gap, np.array(start))
        if np.abs(gap(tried.x)).max() < _CLOSE and np.abs(tried.x).max() < 29:
            return parameters(tried.x)
    return None
