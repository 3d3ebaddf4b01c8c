"""Zayatz: how likely is a sample unique alone in the population, if the population's classes are spread alike?"""

from __future__ import annotations

import numpy as np

from incrowd.risk.uniques.sample import Estimate, Sample, estimate, known

NAME = "Zayatz"


def zayatz(sample: Sample) -> Estimate:
    r"""Population uniques by Bayes' rule, with the sample's classes standing for the population's.

    With T\ :sub:`i` of u sample classes of size i, n rows of N people:

        P(F=1 | f=1) = T_1 P(f=1 | F=1) / sum_i T_i P(f=1 | F=i),
        P(f=1 | F=i) = i C(N-i, n-1) / C(N, n),
        uniques = T_1 P(F=1 | f=1) N / n.

    Zayatz: Estimation of the Percent of Unique Population Elements on a Microdata File Using the Sample, US Bureau of
    the Census 1991; Dankar et al. 2012, appendix A.

    Conditions: a simple random sample; classes of the sample spread as those of the population, which holds for large
    sampling fractions only. For small ones it estimates far too many.

    Examples
    --------
    >>> round(zayatz(Sample(((1, 40), (2, 30)), 200)).uniques, 1)
    45.6
    """
    if (found := known(sample)) is not None:
        return found
    from scipy.special import gammaln

    n, people, sizes = sample.rows, sample.people, sample.sizes
    with np.errstate(invalid="ignore"):
        ways = gammaln(people - sizes + 1) - gammaln(people - sizes - n + 2)
        ways = np.where(people - sizes >= n - 1, np.exp(ways - gammaln(people) + gammaln(people - n + 1)), 0.0)
    weights = sample.counts * sizes * ways
    alone = float(weights[0] / weights.sum())
    return estimate(sample, sample.number_of(1) * alone / sample.fraction, NAME, unique_if_unique_in_sample=alone)
