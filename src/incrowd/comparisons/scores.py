"""How good a classifier is: pure functions of scores and true classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.comparisons.learners.learner import predicted
from incrowd.errors import ParameterError
from incrowd.recipients.matrix import Codes, Numbers

LEAST_SHARE = 0.001
"""A smaller probability counts as this one in the log loss: trees give 0, which would outweigh all other rows."""


@dataclass(frozen=True)
class Measure:
    """A way to say how good classifiers are.

    Parameters
    ----------
    name
        What it is called on the command line.
    column
        What it is called in the results.
    words, unit
        What it is called in sentences, and what follows a number.
    baseline
        What predicts without looking at a row.
    scale, digits
        How a number is shown: times what, with how many decimals.
    sign
        1 if more is better, -1 if less is.
    """

    name: str
    column: str
    words: str
    baseline: str = "always predicting the most frequent class"
    unit: str = " %"
    scale: float = 100.0
    digits: int = 1
    sign: int = 1

    def number(self, value: float) -> str:
        """The value as tables show it."""
        return f"{self.scale * value:.{self.digits}f}"

    def shown(self, value: float) -> str:
        """The value as sentences show it.

        Examples
        --------
        >>> MEASURES["accuracy"].shown(0.8512), MEASURES["auc"].shown(0.8512)
        ('85.1 %', '0.851')
        """
        return self.number(value) + self.unit

    def difference(self, value: float) -> str:
        """A difference of two values, without its sign."""
        return self.number(abs(value)) + (" points" if self.unit else "")

    @property
    def baseline_label(self) -> str:
        """The baseline in a table or a legend."""
        return f"baseline: {'class shares' if self.baseline == _SAME_FOR_ALL else 'most frequent class'}"

    @property
    def axis(self) -> str:
        """What stands beside an axis."""
        return f"{self.words}, %" if self.unit else self.words


_SAME_FOR_ALL = "predicting the same class shares for every row"
MEASURES = {
    measure.name: measure
    for measure in (
        Measure("accuracy", "accuracy", "accuracy"),
        Measure("balanced-accuracy", "balanced_accuracy", "balanced accuracy"),
        Measure("auc", "auc", "AUC", _SAME_FOR_ALL, "", 1.0, 3),
        Measure("log-loss", "log_loss", "log loss", _SAME_FOR_ALL, "", 1.0, 3, -1),
        Measure("person-accuracy", "person_accuracy", "mean accuracy over persons"),
    )
}
ACCURACY, PERSON_ACCURACY = MEASURES["accuracy"], MEASURES["person-accuracy"]


def find_measure(name: str) -> Measure:
    """The measure of this name; one that does not exist is refused."""
    if name not in MEASURES:
        raise ParameterError(f"The measure must be one of {', '.join(MEASURES)}.")
    return MEASURES[name]


@dataclass(frozen=True)
class Quality:
    """Accuracy, mean recall of the classes, area under the ROC curve, log loss; NaN where there is none."""

    accuracy: float
    balanced_accuracy: float
    auc: float
    log_loss: float


def quality(scores: Numbers, truth: Codes) -> Quality:
    """All measures at once."""
    right = predicted(scores) == truth
    rows = np.bincount(truth)
    recalls = np.bincount(truth, right)[rows > 0] / rows[rows > 0]
    return Quality(float(np.mean(right)), float(np.mean(recalls)), auc(scores, truth), log_loss(scores, truth))


def log_loss(scores: Numbers, truth: Codes) -> float:
    """Mean of minus the natural logarithm of the true class's probability; NaN if scores are no probabilities."""
    if not len(truth) or (scores < 0).any() or not np.allclose(scores.sum(axis=1), 1, atol=1e-6):
        return float("nan")
    return float(-np.log(np.maximum(scores[np.arange(len(truth)), truth], LEAST_SHARE)).mean())


def auc(scores: Numbers, truth: Codes) -> float:
    """Area under the ROC curve; of several classes the mean of each against the rest, weighted by its rows.

    The rank statistic: the chance that a row of the class scores higher than a row of the rest, a tie counts half
    (Hanley and McNeil 1982; the weighted mean: Provost and Domingos 2001). NaN if only one class occurs.
    """
    rows = np.bincount(truth, minlength=scores.shape[1])
    occurring = np.flatnonzero(rows)
    if len(occurring) < 2:
        return float("nan")
    if scores.shape[1] == 2:
        return _against_the_rest(scores[:, 1] - scores[:, 0], truth == 1)
    areas = [_against_the_rest(scores[:, label], truth == label) for label in occurring]
    return float(np.average(areas, weights=rows[occurring]))


def _against_the_rest(scores: Numbers, inside: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    from scipy.stats import rankdata

    ones = int(inside.sum())
    return float((rankdata(scores)[inside].sum() - ones * (ones + 1) / 2) / (ones * (len(inside) - ones)))
