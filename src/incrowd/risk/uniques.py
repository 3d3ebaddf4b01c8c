"""How many people are alone with their values: counted in the table, estimated in the population it was drawn from.

Every estimator takes the same counts: how many classes of each size the sample has, and the size of the population.
Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets, BMC Medical Informatics and
Decision Making 12:66, 2012, compare them; none is good everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.risk.classes import NotMeasured


# What the estimators know: the sizes of the sample's classes, and how many people there are.
@dataclass(frozen=True)
class Sample:
    """Classes by size, and the number of people in the population."""

    histogram: tuple[tuple[int, int], ...]
    people: int

    def __post_init__(self) -> None:
        if isinstance(self.people, bool) or not isinstance(self.people, int | np.integer) or self.people < self.rows:
            raise ParameterError(
                f"The population must be a whole number of persons, at least the {self.rows} rows of the table."
            )

    @property
    def sizes(self) -> npt.NDArray[np.float64]:
        """The sizes that occur, ascending."""
        return np.array([size for size, _ in self.histogram], np.float64)

    @property
    def counts(self) -> npt.NDArray[np.float64]:
        """How many classes have each of these sizes."""
        return np.array([count for _, count in self.histogram], np.float64)

    @property
    def rows(self) -> int:
        """Rows of the sample, n."""
        return sum(size * count for size, count in self.histogram)

    @property
    def classes(self) -> int:
        """Classes of the sample, u."""
        return sum(count for _, count in self.histogram)

    @property
    def fraction(self) -> float:
        """The sampling fraction n / N."""
        return self.rows / self.people

    def number_of(self, size: int) -> int:
        """Classes of that size."""
        return dict(self.histogram).get(size, 0)


@dataclass(frozen=True)
class Estimate:
    """Estimated uniques of the population."""

    uniques: float  # how many people are estimated to be alone with their values; never above the population
    share: float  # of the population
    how: str  # the estimator that gave it
    parameters: tuple[tuple[str, float], ...] = ()  # what was fitted

    def to_json(self) -> dict[str, object]:
        """The numbers."""
        return {"uniques": self.uniques, "share": self.share, "how": self.how, "parameters": dict(self.parameters)}


Answer = Estimate | NotMeasured


def estimate(sample: Sample, uniques: float, how: str, **parameters: float) -> Estimate:
    """An estimate, kept within 0 and the population."""
    kept = min(max(uniques, 0.0), float(sample.people))
    return Estimate(kept, kept / sample.people, how, tuple(parameters.items()))


def known(sample: Sample) -> Estimate | None:
    """What needs no model: all of the population is in the sample, or no row of the sample is unique."""
    if sample.people == sample.rows:
        return estimate(sample, float(sample.number_of(1)), "counting, as the table is the population")
    return None if sample.number_of(1) else estimate(sample, 0.0, "the lack of any unique row in the sample")


# Ewens: classes arise by chance, and one number says how readily a new one does.
EWENS = "Ewens"


def ewens(sample: Sample) -> Answer:
    """Population uniques by Ewens' sampling formula, Pitman's with alpha = 0.

    The likelihood depends on the number u of classes only; theta solves

        u = sum over i from 0 to n-1 of theta / (theta + i),   then   uniques = N theta / (theta + N - 1).

    Ewens: The sampling theory of selectively neutral alleles, Theoretical Population Biology 3, 1972; for disclosure:
    Samuels: A Bayesian, species-sampling-inspired approach to the uniques problem, Journal of Official Statistics 14,
    1998.

    Conditions: uniques hardly grow with the population, which tables of people seldom obey: mostly far too few.
    """
    if (certain := known(sample)) is not None:
        return certain
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
    return estimate(sample, sample.people * theta / (theta + sample.people - 1), EWENS, theta=theta)


# Pitman: classes arise by chance, large ones and new ones both, as in many tables of people.
PITMAN = "Pitman"
_PITMAN_STARTS = ((0.0, 0.5), (3.0, 1.0), (-3.0, 0.5))


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
    """
    if (certain := known(sample)) is not None:
        return certain
    if sample.classes == sample.rows:
        return NotMeasured("every row of the sample is unique, which the model cannot be fitted to")
    if sample.classes == 1:
        return NotMeasured("the sample has one class only")
    fitted = _fit(sample)
    if fitted is None:
        return NotMeasured("the likelihood has no maximum that could be found")
    theta, alpha = fitted
    return estimate(sample, expected_uniques(theta, alpha, sample.people), PITMAN, theta=theta, alpha=alpha)


def expected_uniques(theta: float, alpha: float, people: int) -> float:
    """Expected classes of one among so many people."""
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
    starts = [np.array([logit, level * share]) for logit, share in _PITMAN_STARTS]
    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 2000}
    tried = [minimize(loss, start, method="Nelder-Mead", options=options) for start in starts]
    settled = [one for one in tried if one.success and one.fun < 1e299 and abs(one.x[1]) < 39]
    return parameters(min(settled, key=lambda one: float(one.fun)).x) if settled else None


# The slide negative binomial: sizes of the population's classes, less one, are negative binomial.
SLIDE = "SNB"
_SLIDE_STARTS = tuple((a, b) for a in (-2.0, 0.0, 1.5) for b in (-4.0, -1.5, 0.5))
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
    """
    if (certain := known(sample)) is not None:
        return certain
    if not sample.number_of(2):
        return NotMeasured("the sample has no class of two rows, which the equations need")
    classes = classes_of_population(sample)
    solved = _solve(sample, classes)
    if solved is None:
        return NotMeasured("the equations of the model have no solution for this sample")
    a, b = solved
    return estimate(sample, classes * b**a, SLIDE, classes=classes, a=a, b=b)


def classes_of_population(sample: Sample) -> float:
    r"""How many classes the population has, by the modified estimator of Shlosser.

        K = u + T_1 (sum i p^2 (1-p^2)^(i-1) T_i) / (sum (1-p)^i ((1+p)^i - 1) T_i)
                (sum (1-p)^i T_i / sum i p (1-p)^(i-1) T_i)^2

    Haas, Stokes: Estimating the number of classes in a finite population, JASA 93, 1998.
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
        fitted = np.array(expected_counts(*parameters(place), classes, sample.fraction))
        return np.asarray(np.log(np.maximum(fitted, 1e-300)) - np.log(wanted))

    for start in _SLIDE_STARTS:
        tried = root(gap, np.array(start))
        if np.abs(gap(tried.x)).max() < _CLOSE and np.abs(tried.x).max() < 29:
            return parameters(tried.x)
    return None


# Zayatz: how likely is a sample unique alone in the population, if the population's classes are spread alike?
ZAYATZ = "Zayatz"


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
    """
    if (certain := known(sample)) is not None:
        return certain
    from scipy.special import gammaln

    n, people, sizes = sample.rows, sample.people, sample.sizes
    with np.errstate(invalid="ignore"):
        ways = gammaln(people - sizes + 1) - gammaln(people - sizes - n + 2)
        ways = np.where(people - sizes >= n - 1, np.exp(ways - gammaln(people) + gammaln(people - n + 1)), 0.0)
    weights = sample.counts * sizes * ways
    alone = float(weights[0] / weights.sum())
    return estimate(sample, sample.number_of(1) * alone / sample.fraction, ZAYATZ, unique_if_unique_in_sample=alone)


# Which estimator to believe: the decision rule of Dankar et al., and all estimates side by side.
SMALL = 0.1
"""Up to this sampling fraction the rule believes Pitman."""

CONDITIONS = {
    "Zayatz": "large sampling fractions; far too many for small ones",
    "Ewens": "uniques that hardly grow with the population; mostly too few",
    "Pitman": "sampling fractions up to 0.1",
    "SNB": "sampling fractions above 0.1, where its equations have a solution",
    "decision rule": "Pitman up to 0.1, above it the smaller of Zayatz and SNB",
}


@dataclass(frozen=True)
class Estimates:
    """All estimates of the population's uniques, by name, and the one the rule chooses."""

    by_name: dict[str, Answer]
    chosen: Estimate

    def to_json(self) -> dict[str, object]:
        """The estimates, each with its condition."""
        by_name = {name: {**one.to_json(), "condition": CONDITIONS[name]} for name, one in self.by_name.items()}
        return {**by_name, "decision rule": {**self.chosen.to_json(), "condition": CONDITIONS["decision rule"]}}


def estimates_of(sample: Sample) -> Estimates:
    """Every estimate, and the rule's choice.

    The rule of Dankar et al. 2012: up to a sampling fraction of 0.1 Pitman, or Zayatz where Pitman cannot be fitted;
    above it the smaller of Zayatz and SNB, or Zayatz where SNB has no solution. Ewens is shown beside them and never
    chosen.
    """
    by_zayatz = zayatz(sample)
    by_name: dict[str, Answer] = {
        "Zayatz": by_zayatz,
        "Ewens": ewens(sample),
        "Pitman": pitman(sample),
        "SNB": slide_negative_binomial(sample),
    }
    return Estimates(by_name, _chosen(sample, by_zayatz, by_name))


def _chosen(sample: Sample, by_zayatz: Estimate, by_name: dict[str, Answer]) -> Estimate:
    other = by_name["Pitman" if sample.fraction <= SMALL else "SNB"]
    if not isinstance(other, Estimate):
        return by_zayatz
    if sample.fraction <= SMALL:
        return other
    return min(other, by_zayatz, key=lambda one: one.uniques)
