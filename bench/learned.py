"""What the releases of the methods keep, by k: cells, groups, and what a decision tree learns for unseen rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, pstdev

from bench.held import hold
from bench.releasing import recipe_for, release_timed
from bench.setting import Setting, tell
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Table
from incrowd.releases.accuracy import measure_accuracy
from incrowd.report.facts import Accuracy, Facts

KS, QUICK_KS = (5, 10, 50, 100), (5, 10)


@dataclass(frozen=True)
class Kept:
    """One release, and what was learned from it on several random splits."""

    method: str
    k: int
    facts: Facts
    learned: Sequence[Accuracy]

    @property
    def before(self) -> float:
        """Mean accuracy of a tree learned from the table, in per cent."""
        return 100 * mean(each.before for each in self.learned)

    @property
    def after(self) -> float:
        """Mean accuracy of a tree learned from the release, in per cent."""
        return 100 * mean(each.after for each in self.learned)

    @property
    def spread(self) -> float:
        """Standard deviation of the latter."""
        return 100 * pstdev(each.after for each in self.learned)


def what_is_kept(file: Path, methods: Sequence[str], setting: Setting) -> list[str | Table | Picture | Goal]:
    """A table, a picture, and whether all releases verified."""
    ks = QUICK_KS if setting.quick else KS
    releases = [_keep(file, method, k, setting) for method in methods for k in ks]
    before, majority = (
        mean(each.before for each in releases),
        100 * mean(one.majority for each in releases for one in each.learned),
    )
    verified = sum(each.facts.verdict.passed and each.facts.smallest_group >= each.k for each in releases)
    return [
        "What these releases keep. Cells are quasi-identifier cells that show something, be it a group of values. "
        "Accuracy is that of a C4.5 tree on unseen rows, learned from the quasi-identifiers of the table (before) and "
        "of its release (after), in per cent: the mean over random splits of the rows, two thirds to learn from (here "
        f"{setting.repetitions} splits); ± is the standard deviation of after. Where a method generalizes, unseen "
        f"rows are shown through its plan. The table gives {before:.1f} on average, the most frequent class "
        f"{majority:.1f}.",
        _table(releases),
        _picture(releases, before),
        Goal(
            "every release verifies, and no group is smaller than k",
            f"{verified} of {len(releases)}",
            verified == len(releases),
        ),
    ]


def _keep(file: Path, method: str, k: int, setting: Setting) -> Kept:
    facts = release_timed(file, method, k).facts
    recipe = recipe_for(file, method, k)
    known = hold(file, recipe)
    learned = [measure_accuracy(known.source, known.schema, recipe) for _ in range(setting.repetitions)]
    tell(f"k = {k}, {method}")
    return Kept(method, k, facts, learned)


def _table(releases: Sequence[Kept]) -> Table:
    rows = [
        (
            f"`{each.method}`",
            f"{each.k}",
            f"{each.facts.smallest_group:,}",
            f"{each.facts.groups:,}",
            f"{each.facts.cells_shown:.1%}",
            f"{each.facts.rows_dropped:,}",
            f"{each.before:.1f}",
            f"{each.after:.1f}",
            f"{each.spread:.1f}",
            f"{round(each.before - each.after, 1) + 0.0:.1f}",  # no minus before a zero
        )
        for each in releases
    ]
    header = ("", "k", "smallest group", "groups", "cells shown", "rows lost", "before", "after", "±", "loss")
    return Table(header, rows)


def _picture(releases: Sequence[Kept], before: float) -> Picture:
    title = "Accuracy on unseen rows by k, learned from each method's release"
    points: dict[str, list[tuple[float, float]]] = {}
    for each in releases:
        points.setdefault(each.method, []).append((float(each.k), each.after))
    points["the table"] = [(float(k), before) for k in sorted({each.k for each in releases})]
    drawn = line_chart(title, "k", "% right", points, "{:,.0f}".format, scale="close")
    return Picture("methods_accuracy", title, drawn)
