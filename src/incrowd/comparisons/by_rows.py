"""How wrong a split by rows is where persons have several rows.

Who is in both parts of a split is known again by what does not change, and what a learner remembers of persons looks
like what it has learned. So a comparison by persons also runs once by rows, for the table itself and for one method,
and says by how much that is too good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from incrowd.comparisons.choices import MAJORITY, UNPROTECTED
from incrowd.comparisons.persons import row_protocol
from incrowd.comparisons.recommend import Recommendation
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.comparisons.trial import Laboratory, Result, Trial


@dataclass(frozen=True)
class RowSplitError:
    """What a learner seems to reach if rows are split, beside what it reaches if persons are."""

    by_persons: SummaryCell
    by_rows: SummaryCell

    @property
    def too_good(self) -> float:
        """By how much the split by rows looks better than the learner is."""
        return self.by_rows.better_than(self.by_persons)


def laboratory_by_rows(laboratory: Laboratory) -> Laboratory:
    """The same table, split by rows: wrong, to see how wrong."""
    setup = replace(laboratory.setup, protocol=row_protocol(laboratory.setup.protocol), by_rows=True)
    return Laboratory(replace(laboratory.subject, split_by=None), setup)


def trials_by_rows(
    laboratory: Laboratory, trials: Iterable[Trial], recommendation: Recommendation
) -> tuple[Trial, ...]:
    """The table itself, and the recommended method at its smallest k; where none is, the best of the first advice."""
    method = recommendation.method or next((one.best.method for one in recommendation.advice), None)
    chosen: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.k):
        if str(trial.choice) in (UNPROTECTED, method):
            chosen.setdefault(str(trial.choice), trial)
    return tuple(
        replace(trial, repetition=repetition, fold=fold)
        for repetition, fold in laboratory.splits
        for trial in chosen.values()
    )


def row_split_errors(summary: Summary, runs: Sequence[Result]) -> tuple[RowSplitError, ...]:
    """Both figures, learner by learner, the table itself first; only where both are known."""
    by_rows = Summary.of(runs, summary.measure)
    cells = [cell for cell in by_rows.cells if cell.is_known and cell.method != MAJORITY]
    pairs = [(_same(summary, cell), cell) for cell in cells]
    return tuple(RowSplitError(own, wrong) for own, wrong in pairs if own is not None and own.is_known)


def _same(summary: Summary, cell: SummaryCell) -> SummaryCell | None:
    key = (cell.method, cell.k, cell.learner)
    return next((one for one in summary.cells if (one.method, one.k, one.learner) == key), None)
