"""What was compared as one table, a row for each method, k and learner."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.comparisons.choices import STANDARDS
from incrowd.comparisons.recommend import Advice, Recommendation
from incrowd.comparisons.summary import Summary, SummaryCell

BEST, AS_GOOD, UNCLEAR, NOT_ABOVE = "best", "as good", "not clearly worse", "not above majority"
PERSONS, LAST = "person_accuracy", "status"
COLUMNS: dict[str, Any] = {
    "learner": pl.String,
    "method": pl.String,
    "k": pl.Int64,
    "measure": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "unprotected": pl.Float64,
    "majority": pl.Float64,
    "advice": pl.String,
    "splits": pl.Int64,
    "smallest_group": pl.Int64,
    "average_risk": pl.Float64,
    "cells_kept": pl.Float64,
    "rows_kept": pl.Float64,
    LAST: pl.String,
}


def summary_frame(summary: Summary, recommendation: Recommendation) -> pl.DataFrame:
    """The cells of a summary with what is advised; see :meth:`incrowd.comparisons.comparison.Comparison.to_frame`."""
    advised = {(one.learner, one.k): one for one in recommendation.advice}
    rows = [_row(cell, summary, advised.get((cell.learner, cell.k))) for cell in summary.cells]
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    over_persons = pl.Series(PERSONS, [cell.mean(PERSONS) for cell in summary.cells], pl.Float64)
    if over_persons.is_null().all():
        return frame
    return frame.with_columns(over_persons).select(*(name for name in COLUMNS if name != LAST), PERSONS, LAST)


def _row(cell: SummaryCell, summary: Summary, advice: Advice | None) -> tuple[Any, ...]:
    interval = cell.interval if cell.is_known else None
    own, majority = summary.unprotected(cell.learner), summary.majority
    trained, released = cell.mean("train_rows"), cell.mean("released_rows")
    sizes = [result.smallest_group for result in cell.results if result.smallest_group is not None]
    return (
        cell.learner,
        cell.method,
        None if cell.method in STANDARDS else cell.k,
        cell.measure.name,
        cell.value if cell.is_known else None,
        interval and interval.low,
        interval and interval.high,
        own.value if own else None,
        majority.value if majority else None,
        None if advice is None or cell.method in STANDARDS else _advised(cell, advice),
        len(cell.values),
        min(sizes, default=None),
        cell.mean("average_risk"),
        cell.mean("cells_kept"),
        released / trained if released is not None and trained else None,
        cell.status,
    )


def _advised(cell: SummaryCell, advice: Advice) -> str | None:
    if cell is advice.best:
        return BEST if advice.beats_majority else NOT_ABOVE
    if not advice.beats_majority:
        return None
    return AS_GOOD if cell in advice.equals else UNCLEAR if cell in advice.unclear else None
