"""What a comparison gives back: results, a summary, a recommendation, and pages that show them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from incrowd.comparisons.recommend import Recommendation, recommend
from incrowd.comparisons.results import as_frame
from incrowd.comparisons.scores import ACCURACY, Measure
from incrowd.comparisons.summary import Summary
from incrowd.comparisons.trial import Laboratory, Result, Setup
from incrowd.errors import Notice
from incrowd.tables.publishing.staging import staged
from incrowd.vocabulary.versions import version, versions

_PACKAGES = ("incrowd", "numpy", "polars", "numba", "scikit-learn")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods, compared on a table."""

    name: str
    rows: int
    target: str
    quasi_identifiers: tuple[str, ...]
    free: tuple[str, ...]
    setup: Setup
    runs: tuple[Result, ...]
    notices: tuple[Notice, ...]
    seconds: float
    measure: Measure = ACCURACY

    @classmethod
    def of(
        cls, laboratory: Laboratory, runs: Sequence[Result], seconds: float, measure: Measure = ACCURACY
    ) -> Comparison:
        """The comparison that a laboratory made."""
        subject = laboratory.subject
        known = (*subject.schema.quasi_identifiers, subject.target)
        return cls(
            subject.name,
            subject.table.height,
            subject.target,
            subject.schema.quasi_identifiers,
            tuple(name for name in subject.schema.names if name not in known),
            laboratory.setup,
            tuple(runs),
            subject.notices,
            seconds,
            measure,
        )

    @cached_property
    def results(self) -> pl.DataFrame:
        """All results, with what was the same for all of them."""
        conditions = {
            "table": self.name,
            "protocol": str(self.setup.protocol),
            "feeding": str(self.setup.feeding),
            "discretize": self.setup.discretize or "no",
            "limits": json.dumps(stated) if (stated := self.setup.preferences.stated()) else "no",
            "seed": self.setup.seed,
            "version": version("incrowd"),
        }
        return as_frame(self.runs).with_columns(pl.lit(value).alias(name) for name, value in conditions.items())

    @cached_property
    def summary(self) -> Summary:
        """Means and intervals."""
        return Summary.of(self.runs, self.measure)

    @cached_property
    def recommendation(self) -> Recommendation:
        """What to use, in words."""
        return recommend(self.summary)

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
