"""Naive Bayes for mixed types that leaves missing values out, with the estimates of Weka's NaiveBayes.

John and Langley, "Estimating Continuous Distributions in Bayesian Classifiers" (UAI 1995).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from incrowd.comparisons.learners.learner import Examples, called, class_weights, weighing
from incrowd.errors import ParameterError
from incrowd.recipients.matrix import Attribute, Binning, Codes, Numbers

PRECISION = 0.01  # of a number with one value only
SMALLEST = np.log(1e-75)  # no value speaks more strongly against a class
LARGE = 1e100  # numbers beyond it are divided first, so that their squares stay finite
FAR = 40.0  # standard deviations; the probability beyond is below SMALLEST
NARROW = 1e-5  # an interval of fewer standard deviations has the density of its middle throughout

LogLikelihood = Callable[[Attribute], Numbers]


@dataclass(frozen=True, eq=False)
class BayesModel:
    """Log priors, and for each attribute the log likelihood of a row's value, or its bin, under each class."""

    log_prior: Numbers
    likelihoods: tuple[LogLikelihood, ...]
    bins: Binning

    def scores(self, examples: Examples) -> Numbers:
        """The probabilities of the classes."""
        logs, examples = np.tile(self.log_prior, (examples.height, 1)), self.bins.binned(examples)
        for attribute, likelihood in zip(examples.attributes, self.likelihoods, strict=True):
            known = np.flatnonzero(~attribute.is_missing)
            logs[known] += likelihood(Attribute(attribute.name, attribute.values[known], attribute.categories))
        odds = np.exp(logs - logs.max(axis=1, keepdims=True, initial=-np.inf))
        return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class NaiveBayes:
    """Naive Bayes; a missing value is skipped, in training and in testing.

    The share of a class is (rows + laplace) / (all rows + laplace · classes), that of a category within a class
    (rows + laplace) / (known rows + laplace · categories). A number is rounded to the attribute's precision (the
    mean distance of neighbouring distinct values) and has, under a class, the probability of a normal distribution
    within half a precision of it. Its standard deviation is at least a sixth of the precision.

    As in Weka, except where a class has no known number: Weka then believes in values near 0, we in the distribution
    of all classes together.
    """

    laplace: float = 1.0  # what is added to each count

    def __post_init__(self) -> None:
        if isinstance(self.laplace, bool) or not isinstance(self.laplace, int | float) or not 0 < self.laplace < 1e9:
            raise ParameterError("laplace must be a number above 0. Weka's is 1.")

    @property
    def name(self) -> str:
        """What the catalog calls it."""
        return called("nb", self)

    def fit(self, examples: Examples, seed: int) -> BayesModel:  # noqa: ARG002
        """Count; there is no chance in it."""
        counts = class_weights(examples) + self.laplace
        examples = weighing(examples)
        bins = Binning.of_bins(examples)
        examples = bins.binned(examples)
        weights = np.ones(examples.height) if examples.weights is None else examples.weights
        return BayesModel(
            np.log(counts / counts.sum()),
            tuple(self._likelihood(attribute, examples, weights) for attribute in examples.attributes),
            bins,
        )

    def _likelihood(self, attribute: Attribute, examples: Examples, weights: Numbers) -> LogLikelihood:
        """What is learned about one attribute."""
        known = ~attribute.is_missing
        values, classes, weights = attribute.values[known], examples.classes[known], weights[known]
        labels = len(examples.labels)
        if attribute.categories is not None:
            table = np.zeros((len(attribute.categories), labels))
            np.add.at(table, (values.astype(np.int64), classes), weights)
            table += self.laplace
            return partial(_of_categories, np.log(table / table.sum(axis=0)))
        if not len(values):
            return partial(_of_nothing, labels)
        return partial(_of_numbers, normal_of(values.astype(np.float64), classes, weights, labels))


@dataclass(frozen=True, eq=False)
class Normal:
    """A normal distribution for each class, of numbers rounded to a precision; in units of ``unit``."""

    unit: float
    precision: float
    mean: Numbers
    deviation: Numbers


def normal_of(values: Numbers, classes: Codes, weights: Numbers, labels: int) -> Normal:
    """The normal distribution of each class, as Weka's NormalEstimator has it."""
    largest = float(np.abs(values).max())
    unit = largest if largest > LARGE else 1.0
    values = values / unit
    distinct = len(np.unique(values))
    precision = float(np.ptp(values)) / (distinct - 1) if distinct > 1 else PRECISION / unit
    values = rounded(values, precision)
    size = np.bincount(classes, weights, labels)
    empty = size == 0
    size[empty] = 1.0
    mean = np.bincount(classes, weights * values, labels) / size
    deviation = np.sqrt(np.bincount(classes, weights * (values - mean[classes]) ** 2, labels) / size)
    mean[empty] = np.average(values, weights=weights)
    deviation[empty] = np.sqrt(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))
    return Normal(unit, precision, mean, np.maximum(deviation, max(precision / 6, np.finfo(float).tiny)))


def rounded(values: Numbers, precision: float) -> Numbers:
    """The nearest multiples of the precision; numbers too large for that stay as they are."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steps = np.rint(values / precision) * precision
    return np.where(np.isfinite(steps), steps, values)


def _of_categories(table: Numbers, attribute: Attribute) -> Numbers:
    """The log share of each category, under each class."""
    return np.asarray(table[attribute.values.astype(np.int64)])


def _of_nothing(labels: int, attribute: Attribute) -> Numbers:
    """An attribute that was never known says nothing."""
    return np.zeros((len(attribute.values), labels))


def _of_numbers(normal: Normal, attribute: Attribute) -> Numbers:
    """The log probability of the interval around each number, under each class."""
    from scipy.special import log_ndtr

    values = rounded(attribute.values / normal.unit, normal.precision)[:, None]
    with np.errstate(over="ignore"):
        middle = np.clip((values - normal.mean) / normal.deviation, -FAR, FAR)
    half = normal.precision / normal.deviation / 2
    upper = np.minimum(half - np.abs(middle), FAR)
    lower = np.maximum(-half - np.abs(middle), -FAR)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = log_ndtr(upper) + np.log1p(-np.exp(log_ndtr(lower) - log_ndtr(upper)))
        narrow = np.log(2 * half) - middle**2 / 2 - np.log(2 * np.pi) / 2
    return np.asarray(np.maximum(np.where(half < NARROW, narrow, inside), SMALLEST), np.float64)
