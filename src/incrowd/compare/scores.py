"""How good a classifier is: pure functions of scores and true classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.compare.examples import Codes, Numbers
from incrowd.compare.learners.learner import predicted


@dataclass(frozen=True)
class Quality:
    """Accuracy, mean recall of the classes, and area under the ROC curve (NaN where there is none)."""

    accuracy: float
    balanced_accuracy: float
    auc: float


def quality(scores: Numbers, truth: Codes) -> Quality:
    """All measures at once."""
    guesses = predicted(scores)
    return Quality(accuracy(guesses, truth), balanced_accuracy(guesses, truth), auc(scores, truth))


def accuracy(guesses: Codes, truth: Codes) -> float:
    """Share of the rows that are right."""
    return float(np.mean(guesses == truth))


def balanced_accuracy(guesses: Codes, truth: Codes) -> float:
    """Mean over the classes that occur of the share of their rows that are right."""
    rows = np.bincount(truth)
    right = np.bincount(truth, guesses == truth, len(rows))
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


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
    _, place, ties = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    ones = int(inside.sum())
    zeros = len(inside) - ones
    return float((ranks[inside].sum() - ones * (ones + 1) / 2) / (ones * zeros))
