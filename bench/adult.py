"""What a release of Adult keeps: verified, rows lost, cells shown, accuracy, for both methods and their variants."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, pstdev
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import polars as pl

from bench.held import hold
from bench.people import ATTRIBUTES, TARGET, people
from bench.setting import Setting, tell
from experiments.charts import line_chart
from experiments.pages import Goal, Picture, Section, Table
from incrowd.methods.catalog import find_method
from incrowd.releases.accuracy import measure_accuracy
from incrowd.releases.job import Job, Targets
from incrowd.releases.pipeline import run_release
from incrowd.report.facts import Facts
from incrowd.tables.recipe import Recipe, with_roles

EIGHT = ["age", "workclass", "fnlwgt", "occupation", "sex", "capital-gain", "hours-per-week", "native-country"]
SETS = {"8/14": EIGHT, "14/14": ATTRIBUTES}
KS, QUICK_KS = (5, 100, 1000), (5,)
VARIANTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("kactus", {}),
    ("kactus", {"numeric": "mean"}),
    ("kactus", {"reading": "literal"}),
    ("kactus", {"reading": "literal", "numeric": "mean"}),
    ("kactus-plus", {}),
    ("kactus-plus", {"numeric": "mean"}),
)
MEANS = (
    "With `mean`, accuracy can fall below the most frequent class. A learner cuts between the means of groups, and "
    "unseen rows hold values, not means: nine in ten people of Adult have a capital gain of 0, and the few groups "
    "whose mean is 0 are not like them. Public bins, the default, show unseen and released rows in the same words."
)
QUICK_VARIANTS = (VARIANTS[0], VARIANTS[-2])


@dataclass(frozen=True)
class Case:
    """One release."""

    attributes: str
    k: int
    method: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def variant(self) -> str:
        """Method, reading and form of numbers, as far as they are not the default."""
        return ", ".join([f"`{self.method}`", *map(str, self.parameters.values())])

    @property
    def recipe(self) -> Recipe:
        """What is asked for."""
        recipe = Recipe(self.k, self.method, self.parameters)
        return with_roles(recipe, quasi_identifiers=SETS[self.attributes], target=[TARGET])


@dataclass(frozen=True)
class Result:
    """What came out; accuracies are means over several random splits, the spread is that of ``after``."""

    case: Case
    facts: Facts
    before: float
    after: float
    majority: float
    spread: float


def measure(setting: Setting) -> Section:
    """Release the complete rows, and all rows with their missing values, in every way."""
    frame, source = people(setting)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder, patch.dict(os.environ, XDG_CONFIG_HOME=folder):
        complete = _release_all(frame.drop_nulls(), Path(folder), setting)
        everyone = _release_all(frame, Path(folder), setting)
    results = [*complete, *everyone]
    lost = max(result.facts.rows_dropped - _may_lose(result.case) for result in results)
    return Section(
        "What a release keeps",
        (
            f"{source}. 14/14: every attribute is a quasi-identifier; 8/14: {', '.join(EIGHT)}. `kactus` alone means "
            "the recommended reading and numbers in public bins. Cells are quasi-identifier cells that show "
            "something. Seconds are those of the release in a running process, CSV to verified CSV. Accuracy is that "
            "of a C4.5 tree on unseen rows, learned from the table (before) and from its release (after), in per cent: "
            f"the mean over random splits (here {setting.repetitions}); ± is the standard deviation of after.",
            _heading(f"{complete[0].facts.rows:,} complete rows", complete),
            _table(complete),
            *([MEANS] if source == "Adult" else []),
            _picture(complete, "14/14"),
            _heading(f"All {everyone[0].facts.rows:,} rows, missing values included", everyone),
            _table(everyone),
            Goal(
                "every release verifies; `kactus` loses at most k − 1 rows, `kactus-plus` none",
                f"{sum(r.facts.verdict.passed for r in results)} of {len(results)} verified; "
                + ("no loss above its bound" if lost <= 0 else f"{lost} rows more than allowed"),
                all(r.facts.verdict.passed for r in results) and lost <= 0,
            ),
        ),
    )


def _release_all(frame: pl.DataFrame, folder: Path, setting: Setting) -> list[Result]:
    """Every case on one table."""
    file = folder / "people.csv"
    frame.write_csv(file, null_value="?")
    variants = QUICK_VARIANTS if setting.quick else VARIANTS
    ks = QUICK_KS if setting.quick else KS
    cases = [Case(attributes, k, *variant) for attributes in SETS for variant in variants for k in ks]
    if not setting.quick:
        run_release(_job(cases[0], file))  # compile
    return [_release(case, file, setting) for case in cases]


def _release(case: Case, file: Path, setting: Setting) -> Result:
    job = _job(case, file)
    facts = run_release(job).report
    known = hold(file, case.recipe)
    measured = [measure_accuracy(known.source, known.schema, case.recipe) for _ in range(setting.repetitions)]
    tell(f"{facts.rows:,} rows, {case.attributes}, k = {case.k}, {case.variant}")
    return Result(
        case,
        facts,
        before=mean(accuracy.before for accuracy in measured),
        after=mean(accuracy.after for accuracy in measured),
        majority=mean(accuracy.majority for accuracy in measured),
        spread=pstdev(accuracy.after for accuracy in measured),
    )


def _job(case: Case, file: Path) -> Job:
    return Job(file, case.recipe, Targets(file.with_name("release.csv"), replace=True), despite_unchanged=True)


def _may_lose(case: Case) -> int:
    return case.k - 1 if find_method(case.method).loses_rows else 0


def _heading(words: str, results: Sequence[Result]) -> str:
    before, majority = mean(r.before for r in results), mean(r.majority for r in results)
    learned = (
        f"a tree learned from the table gets {before:.1%} right on average, the most frequent class {majority:.1%}"
    )
    return f"**{words}**; {learned}."


def _table(results: Sequence[Result]) -> Table:
    header = ("QI", "method", "verified", "k", "smallest group", "rows lost", "cells kept", "groups", "seconds")
    return Table((*header, "before", "after", "±", "loss"), [_row(result) for result in results], words=3)


def _row(result: Result) -> tuple[str, ...]:
    facts = result.facts
    loss = round(100 * (result.before - result.after), 1) + 0.0  # no minus before a zero
    return (
        result.case.attributes,
        result.case.variant,
        "yes" if facts.verdict.passed else "NO",
        f"{result.case.k:,}",
        f"{facts.smallest_group:,}",
        f"{facts.rows_dropped:,}",
        f"{facts.cells_shown:.1%}",
        f"{facts.groups:,}",
        f"{sum(facts.seconds.values()):.1f}",
        f"{100 * result.before:.1f}",
        f"{100 * result.after:.1f}",
        f"{100 * result.spread:.1f}",
        f"{loss:.1f}",
    )


def _picture(results: Sequence[Result], attributes: str) -> Picture:
    title = f"Cells kept by k, {attributes} quasi-identifiers"
    points: dict[str, list[tuple[float, float]]] = {}
    for result in results:
        if result.case.attributes == attributes and "reading" not in result.case.parameters:
            name = result.case.variant.replace("`", "")
            points.setdefault(name, []).append((float(result.case.k), 100 * result.facts.cells_shown))
    return Picture("adult_cells", title, line_chart(title, "k", "% of cells", points, "{:,.0f}".format))
