"""Results, taken together: for each method, k and learner its mean over the splits, with an interval.

How sure an accuracy is. Each interval says what it is, for they answer different questions.

- `corrected_t_interval`: for the mean over repeated or k-fold cross-validation, widened for the rows that folds share
  (Nadeau, Bengio: Inference for the Generalization Error, Machine Learning 52, 2003).
- `wilson_interval`: for one test set, well behaved near 0 and 1, too (Wilson, JASA 22, 1927).
- `person_interval`: where persons have several rows, by the standard error that drawing persons anew gives (the
  bootstrap of clusters; Davison, Hinkley 1997, section 3.8). Rows of a person are right or wrong together, so an
  interval that counts rows is too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import numpy.typing as npt

from incrowd.comparisons.choices import KADET, MAJORITY, UNPROTECTED
from incrowd.comparisons.persons import pooled_error
from incrowd.comparisons.scores import ACCURACY, Measure
from incrowd.comparisons.trial import DONE, Result
from incrowd.errors import ParameterError
from incrowd.risk.attackers import wilson


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
    width = float(t.isf((1 - level) / 2, len(folds) - 1)) * corrected_error(folds, test_by_train)
    kind = f"t interval over {len(folds)} folds, corrected for shared training rows"
    return ConfidenceInterval(mean, mean - width, mean + width, level, kind)


def corrected_error(values: npt.ArrayLike, test_by_train: float) -> float:
    """The standard error of the mean over folds whose training rows overlap, by Nadeau and Bengio."""
    folds = np.asarray(values, np.float64).ravel()
    return math.sqrt((1 / len(folds) + test_by_train) * float(folds.var(ddof=1)))


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


ENOUGH_FOLDS = 6
_Z = 1.959964  # the normal quantile of 95 %, two-sided


@dataclass(frozen=True)
class SummaryCell:
    """One method at one k with one learner: its results over all splits.

    ``results`` are those that are done; ``status`` says why some, or all, are not.
    """

    method: str
    k: int
    learner: str
    results: tuple[Result, ...]
    status: str = DONE
    measure: Measure = ACCURACY

    @property
    def values(self) -> list[float]:
        """The measure on the splits where it is known."""
        return [value for result in self.results if (value := getattr(result, self.measure.column)) is not None]

    @property
    def is_known(self) -> bool:
        """Whether there is a value on any split."""
        return bool(self.values)

    @property
    def value(self) -> float:
        """The mean of the measure over the splits."""
        return fmean(self.values)

    def better_than(self, other: SummaryCell) -> float:
        """By how much it is better; below 0 if it is worse."""
        return self.measure.sign * (self.value - other.value)

    @property
    def interval(self) -> ConfidenceInterval | None:
        """Over the splits where they are enough; an accuracy else as if each row were tested once, others have none.

        Where persons have several rows, that of an accuracy comes from drawing persons anew.
        """
        values = self.values
        if (error := self.person_error) is not None:
            return person_interval(self.value, error, _in_one_repetition(self.results, "test_persons"))
        if len(values) >= ENOUGH_FOLDS or (self.measure is not ACCURACY and len(values) > 1):
            return corrected_t_interval(values, _test_by_train(self.results))
        return wilson_interval(self.value, rows_tested(self.results)) if self.measure is ACCURACY else None

    @property
    def person_error(self) -> float | None:
        """The standard error of an accuracy if persons are drawn anew; None where rows are persons, or for others."""
        column = f"{self.measure.column}_error"
        errors = [(result.repetition, getattr(result, column, None)) for result in self.results]
        known = [(repetition, error) for repetition, error in errors if error is not None]
        return pooled_error(known) if known else None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval."""
        return None if (interval := self.interval) is None else (interval.high - interval.low) / 2

    def mean(self, name: str) -> float | None:
        """Mean of another figure over the splits; None where there is none."""
        values = [getattr(result, name) for result in self.results]
        known = [float(value) for value in values if value is not None]
        return fmean(known) if known else None


@dataclass(frozen=True)
class Summary:
    """All cells, in the order of the methods asked for, and of k."""

    cells: tuple[SummaryCell, ...]
    measure: Measure = ACCURACY

    @classmethod
    def of(cls, results: Iterable[Result], measure: Measure = ACCURACY) -> Summary:
        """The cells of the results, by a measure."""
        groups: dict[tuple[str, int, str], list[Result]] = {}
        for result in results:
            groups.setdefault((result.method, result.k, result.learner), []).append(result)
        return cls(tuple(_cell(*key, group, measure) for key, group in groups.items()), measure)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, but for the standards."""
        names = dict.fromkeys(cell.method for cell in self.cells)
        return tuple(name for name in names if name not in (UNPROTECTED, MAJORITY))

    @property
    def ks(self) -> tuple[int, ...]:
        """Every k, ascending."""
        return tuple(sorted({cell.k for cell in self.cells if cell.method in self.methods}))

    @property
    def learners(self) -> tuple[str, ...]:
        """The learners that are fed with tables, in their order."""
        return tuple(dict.fromkeys(cell.learner for cell in self.cells if cell.method == UNPROTECTED))

    @property
    def majority(self) -> SummaryCell | None:
        """What predicting without looking at a row is worth."""
        return next((cell for cell in self.cells if cell.method == MAJORITY and cell.is_known), None)

    def unprotected(self, learner: str) -> SummaryCell | None:
        """What a learner makes of the table itself."""
        return next((c for c in self.cells if c.method == UNPROTECTED and c.learner == learner and c.is_known), None)

    def find(self, method: str, k: int, learner: str) -> SummaryCell | None:
        """The cell of a method; a method that is its own learner has one for every learner."""
        wanted = (learner, method.partition("(")[0])
        return next((c for c in self.cells if c.method == method and c.k == k and c.learner in wanted), None)

    def rivals(self, learner: str, k: int) -> tuple[SummaryCell, ...]:
        """The methods whose releases a learner can learn from, at one k, the best first."""
        cells = [cell for cell in self.cells if (cell.learner, cell.k) == (learner, k) and cell.method in self.methods]
        return tuple(
            sorted((cell for cell in cells if cell.is_known), key=lambda cell: -self.measure.sign * cell.value)
        )

    def tree(self, k: int) -> SummaryCell | None:
        """kADET's published tree at one k; the best, if there are several."""
        trees = [cell for cell in self.cells if cell.learner == KADET and cell.k == k and cell.is_known]
        return max(trees, key=lambda cell: self.measure.sign * cell.value, default=None)


def accuracies(results: Iterable[Result]) -> list[float]:
    """The accuracies that are known."""
    return [result.accuracy for result in results if result.accuracy is not None]


def noise(one: SummaryCell, other: SummaryCell) -> float:
    """The difference that chance may well make, on the same splits (95 %).

    Over enough folds: half the width of the corrected interval of the paired differences. Else, for accuracies, as if
    the two were tested on different rows, or persons, which is too careful; one split says nothing of other measures.
    """
    pairs = _paired(one, other)
    few_say_something = one.measure is not ACCURACY and one.person_error is None and len(pairs) > 1
    if len(pairs) >= ENOUGH_FOLDS or few_say_something:
        spread = corrected_t_interval([a - b for a, b in pairs], _test_by_train(one.results))
        return (spread.high - spread.low) / 2
    errors = one.person_error, other.person_error
    if errors[0] is not None and errors[1] is not None:
        return _Z * math.hypot(errors[0], errors[1])
    if one.measure is not ACCURACY:
        return math.inf
    share = (one.value + other.value) / 2
    return _Z * math.sqrt(2 * share * (1 - share) / rows_tested(one.results))


def rows_tested(results: Sequence[Result]) -> int:
    """How many different rows are tested: those of one repetition, the fullest."""
    return _in_one_repetition(results, "test_rows")


def _in_one_repetition(results: Sequence[Result], column: str) -> int:
    counts: dict[int, int] = {}
    for result in results:
        counts[result.repetition] = counts.get(result.repetition, 0) + (getattr(result, column) or 0)
    return max(counts.values())


def _paired(one: SummaryCell, other: SummaryCell) -> list[tuple[float, float]]:
    """Values on the same splits."""
    column = one.measure.column
    beside = {(r.repetition, r.fold): getattr(r, column) for r in other.results}
    pairs = [(getattr(r, column), beside.get((r.repetition, r.fold))) for r in one.results]
    return [(mine, theirs) for mine, theirs in pairs if mine is not None and theirs is not None]


def _test_by_train(results: Sequence[Result]) -> float:
    return fmean(result.test_rows / result.train_rows for result in results)


def _cell(method: str, k: int, learner: str, results: Sequence[Result], measure: Measure) -> SummaryCell:
    done = tuple(sorted((r for r in results if r.status == DONE), key=lambda r: (r.repetition, r.fold)))
    others = [r.status for r in results if r.status != DONE]
    return SummaryCell(method, k, learner, done, others[0] if others else DONE, measure)
