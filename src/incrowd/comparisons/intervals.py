"""How sure an accuracy is. Each interval says what it is, for they answer different questions.

- `corrected_t_interval`: for the mean over repeated or k-fold cross-validation, widened for the rows that folds share
  (Nadeau, Bengio: Inference for the Generalization Error, Machine Learning 52, 2003).
- `wilson_interval`: for one test set, well behaved near 0 and 1, too (Wilson, JASA 22, 1927).
- `person_interval`: where persons have several rows, by the standard error that drawing persons anew gives (the
  bootstrap of clusters; Davison, Hinkley 1997, section 3.8). Rows of a person are right or wrong together, so an
  interval that counts rows is too narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.risk.three_risks import wilson


@dataclass(frozen=True)
class ConfidenceInterval:
    """An estimate and the interval around it, for a confidence ``level``; ``kind`` says how it was found."""

    estimate: float
    low: float
    high: float
    level: float
    kind: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"{self.estimate:.4g}, {self.level * 100:g} % interval {self.low:.4g} to {self.high:.4g} ({self.kind})"


def corrected_t_interval(values: npt.ArrayLike, test_by_train: float, level: float = 0.95) -> ConfidenceInterval:
    """The mean over folds whose training rows overlap, corrected as by Nadeau and Bengio."""
    if not test_by_train > 0 or math.isinf(test_by_train):
        raise ParameterError("test_by_train, test rows by training rows, must be a number above 0.")
    from scipy.stats import t

    _check_level(level)
    folds = np.asarray(values, np.float64).ravel()
    if len(folds) < 2 or not np.isfinite(folds).all():
        raise ParameterError("A spread over folds needs the values of two folds at least, and no missing one.")
    mean = float(folds.mean())
    variance = (1 / len(folds) + test_by_train) * float(folds.var(ddof=1))
    width = float(t.isf((1 - level) / 2, len(folds) - 1)) * math.sqrt(variance)
    kind = f"t interval over {len(folds)} folds, corrected for shared training rows"
    return ConfidenceInterval(mean, mean - width, mean + width, level, kind)


def wilson_interval(accuracy: float, rows: int, level: float = 0.95) -> ConfidenceInterval:
    """The accuracy on one test set, by Wilson's score interval; it never leaves 0 to 1."""
    _check_level(level)
    if not 0 <= accuracy <= 1:
        raise ParameterError("An accuracy must lie between 0 and 1; divide per cent by 100.")
    if rows < 1:
        raise ParameterError("There must be one test row at least.")
    ends = wilson(accuracy, rows, level)
    return ConfidenceInterval(accuracy, ends.low, ends.high, level, f"Wilson, {rows:,} test rows")


def person_interval(accuracy: float, error: float, persons: int, level: float = 0.95) -> ConfidenceInterval:
    """The accuracy with what drawing persons anew makes of it; it never leaves 0 to 1."""
    from statistics import NormalDist

    _check_level(level)
    width = NormalDist().inv_cdf(0.5 + level / 2) * error
    kind = f"persons drawn anew, {persons:,} tested"
    return ConfidenceInterval(accuracy, max(0.0, accuracy - width), min(1.0, accuracy + width), level, kind)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError("A confidence level must lie between 0 and 1.")
