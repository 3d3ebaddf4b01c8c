"""Ewens: classes arise by chance, and one number says how readily a new one does."""

from __future__ import annotations

from incrowd.risk.uniques.sample import Answer, Sample, estimate, known
from incrowd.risk.unmeasured import NotMeasured

NAME = "Ewens"


def ewens(sample: Sample) -> Answer:
    """Population uniques by Ewens' sampling formula, Pitman's with alpha = 0.

    The likelihood depends on the number u of classes only; theta solves

        u = sum over i from 0 to n-1 of theta / (theta + i),   then   uniques = N theta / (theta + N - 1).

    Ewens: The sampling theory of selectively neutral alleles, Theoretical Population Biology 3, 1972; for disclosure:
    Samuels: A Bayesian, species-sampling-inspired approach to the uniques problem, Journal of Official Statistics 14,
    1998.

    Conditions: uniques hardly grow with the population, which tables of people seldom obey: mostly far too few.

    Examples
    --------
    >>> round(ewens(Sample(((1, 40), (2, 30)), 1000)).uniques, 1)
    92.9
    """
    if (found := known(sample)) is not None:
        return found
    n, u = sample.rows, sample.classes
    if u == n:
        return NotMeasured("every row of the sample is unique, which no finite theta explains")
    if u == 1:
        return NotMeasured("the sample has one class only")
    from math import exp, log

    from scipy.optimize import brentq
    from scipy.special import digamma

    def surplus(log_theta: float) -> float:
        theta = exp(log_theta)
        return float(theta * (digamma(theta + n) - digamma(theta))) - u

    theta = exp(brentq(surplus, -40, log(10 * n**2), xtol=1e-12))  # theta is about n^2 / 2 for one pair among uniques
    return estimate(sample, sample.people * theta / (theta + sample.people - 1), NAME, theta=theta)
