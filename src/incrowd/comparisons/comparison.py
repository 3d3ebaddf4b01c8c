"""What a comparison gives back: results, a summary, a recommendation, and pages that show them.

What was compared as one table, a row for each method, k and learner.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.comparisons.choices import STANDARDS
from incrowd.comparisons.recommend import Advice, Recommendation, RowSplitError, recommend, row_split_errors
from incrowd.comparisons.results import as_frame
from incrowd.comparisons.scores import ACCURACY, PERSON_ACCURACY, Measure
from incrowd.comparisons.summary import Summary, SummaryCell
from incrowd.comparisons.trial import Laboratory, Result, Setup
from incrowd.errors import Notice
from incrowd.tables.publishing.staging import staged
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.source import Origin
from incrowd.vocabulary.certificates import version, versions

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


_PACKAGES = ("incrowd", "numpy", "polars", "numba", "scikit-learn")
_FRAME = Origin("polars")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods, compared on a table."""

    name: str
    rows: int
    target: str
    quasi_identifiers: tuple[str, ...]
    free: tuple[str, ...]
    setup: Setup
    splitting: str
    runs: tuple[Result, ...]
    notices: tuple[Notice, ...]
    seconds: float
    measure: Measure = ACCURACY
    origin: Origin = _FRAME
    persons: int | None = None  # how many, if rows are not persons
    row_runs: tuple[Result, ...] = ()  # what a split by rows would have said

    @classmethod
    def of(
        cls, laboratory: Laboratory, runs: Sequence[Result], seconds: float, measure: Measure = ACCURACY
    ) -> Comparison:
        """The comparison that a laboratory made."""
        subject = laboratory.subject
        known = (*subject.schema.quasi_identifiers, subject.target)
        return cls(
            name=subject.name,
            rows=subject.table.height,
            target=subject.target,
            quasi_identifiers=subject.schema.quasi_identifiers,
            free=tuple(name for name in subject.schema.names if name not in known),
            setup=laboratory.setup,
            splitting=laboratory.splitting,
            runs=tuple(runs),
            notices=subject.notices,
            seconds=seconds,
            measure=measure,
            origin=subject.origin,
            persons=None if subject.persons is None else subject.persons.count,
        )

    @cached_property
    def results(self) -> pl.DataFrame:
        """All results, with what was the same for all of them."""
        conditions = {
            "table": self.name,
            "protocol": self.splitting,
            "feeding": str(self.setup.feeding),
            "discretize": self.setup.discretize or "no",
            "limits": json.dumps(stated) if (stated := self.setup.stated()) else "no",
            "seed": self.setup.seed,
            "version": version("incrowd"),
        }
        return as_frame(self.runs).with_columns(pl.lit(value).alias(name) for name, value in conditions.items())

    def to_frame(self) -> Any:
        """What was compared as a table: a row for each method, k and learner, in the kind of frame that came in.

        The table itself is the method ``unprotected``, the baseline ``majority``; both have no k. Files give a polars
        frame, as does :attr:`results`, which has every single split.

        ================== ==============================================================================
        column             what it is
        ================== ==============================================================================
        learner            what was trained; ``majority`` and ``kadet`` are their own learners
        method             what released the rows, with its unusual parameters
        k                  its k; null for ``unprotected`` and ``majority``
        measure            what methods are compared by
        value              the mean over the splits; null if there is none
        low, high          the ends of its 95 % interval; null if there is none
        unprotected        what the learner reaches with the table itself
        majority           what the baseline reaches
        advice             ``best``, ``as good``, ``not clearly worse``, ``not above majority`` (the best, but not
                           shown to be better than the baseline) or null
        splits             on how many splits there is a value
        smallest_group     rows, or persons, of the smallest group of all releases
        average_risk       mean over the released rows of one over the size of their group, in rows or persons
        cells_kept         share of the quasi-identifiers' cells that show something
        rows_kept          share of the rows that are released
        person_accuracy    the mean accuracy over persons; only where a person may have several rows
        status             ``done``, or why there is no value, or not on every split
        ================== ==============================================================================
        """
        return to_frame_like(summary_frame(self.summary, self.recommendation), self.origin)

    @cached_property
    def summary(self) -> Summary:
        """Means and intervals."""
        return Summary.of(self.runs, self.measure)

    @cached_property
    def over_persons(self) -> Summary | None:
        """The mean accuracy over persons in place of that over rows, where rows are not persons."""
        is_accuracy = self.persons is not None and self.measure is ACCURACY
        return Summary.of(self.runs, PERSON_ACCURACY) if is_accuracy else None

    @cached_property
    def row_split_errors(self) -> tuple[RowSplitError, ...]:
        """How wrong a split by rows would be; nothing where rows are persons."""
        return row_split_errors(self.summary, self.row_runs)

    @cached_property
    def recommendation(self) -> Recommendation:
        """What to use, in words."""
        return recommend(self.summary)

    def plot(self, learner: Any = None, *, against: str = "k", ax: Any = None) -> Any:
        """What a learner (the first, if none is named) reaches with each method, against ``"k"`` or what releases tell.

        Parameters
        ----------
        learner
            One of those that were compared, as it was named or passed there.
        against
            ``"k"``, with intervals; ``"risk"``, the average risk of the releases; ``"purity"``, the share of rows with
            the most frequent class of their group; ``"inference"``, the class advantage that an attack measured.
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("chart.svg")`` writes it.
        """
        from incrowd.comparisons.charts import comparison_drawing

        drawing = comparison_drawing(self.summary, learner, against)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        from incrowd.comparisons.page import comparison_html

        return comparison_html(self, whole=False)

    @property
    def versions(self) -> dict[str, str]:
        """What it was measured with."""
        return versions(_PACKAGES)

    def page(self) -> str:
        """One HTML page: no network, no script, charts as inline SVG."""
        from incrowd.comparisons.page import comparison_html

        return comparison_html(self)

    def markdown(self) -> str:
        """The same in Markdown, without the charts."""
        from incrowd.comparisons.page import comparison_markdown

        return comparison_markdown(self)

    def save(self, folder: Path) -> None:
        """Write results.parquet, results.csv, README.md and index.html, each complete or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        with staged(folder / "results.parquet") as hidden:
            self.results.write_parquet(hidden)
        with staged(folder / "results.csv") as hidden:
            self.results.write_csv(hidden)
        for name, text in (("README.md", self.markdown()), ("index.html", self.page())):
            with staged(folder / name) as hidden:
                hidden.write_text(text, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Comparison of {len(self.summary.methods)} methods on {self.name}\n{self.recommendation}"
