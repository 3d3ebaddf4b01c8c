"""The page of the attacks on Adult says what was found, met or missed, and what was not run."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from experiments.__main__ import app
from experiments.attacks import adult
from experiments.attacks import page as adult_page
from experiments.attacks.adult import (
    BY_COLUMN,
    HIDERS,
    KS,
    METHODS,
    OCCUPATION,
    QUASI_IDENTIFIERS,
    SALARY,
    Results,
    Row,
)
from experiments.attacks.page import GOALS, write_adult
from incrowd.attacks.attack import LEAK, NO_LEAK, NOT_RUN, Finding
from incrowd.tables.hierarchies.read import adult_hierarchies


def finding(attack: str, measured: float, goal: float | None, verdict: str = NO_LEAK) -> Finding:
    details = {f"with {decimals} decimals": 0.1 for decimals in (2, 1, 0)}
    ends = measured - 0.1, measured + 0.1
    return Finding(verdict, "Words.", measured, 0.0, ends, goal, "unit", details, attack)


def results(found: Finding, *, seconds: float = 60.0) -> Results:
    """The same for every attack, column, method and k."""
    rows = [
        Row(attack, column, method, k, found)
        for attack in GOALS
        for column in ((SALARY, OCCUPATION) if attack in BY_COLUMN else ("",))
        for method in METHODS
        for k in KS
    ]
    return Results(rows, 1000, seconds, seconds / 2)


def page(tmp_path: Path, found: Results) -> str:
    means = Results([Row("mean of a group", "", "kactus", 5, finding("mean of a group", 1.0, None, LEAK))], 9, 1.0, 1.0)
    trees = Results(
        [Row("tree reconstruction", "", "kadet", 5, Finding(NOT_RUN, "No tree.", attack="tree reconstruction"))],
        9,
        1.0,
        1.0,
    )
    hidden = [Row("suppression pattern", "", HIDERS[0], 0, finding("suppression pattern", 2.0, 1.2, LEAK))]
    path = tmp_path / "docs" / "adult.md"
    path.parent.mkdir()
    write_adult(path, found, found, found, means, trees, Results(hidden, 9, 1.0, 1.0), quick=False)
    return path.read_text(encoding="utf-8")


def test_goals_are_met_and_missed_by_what_was_measured(tmp_path: Path) -> None:
    told = page(tmp_path, results(finding("membership by box", 0.2, 0.1)))
    assert "**Missed**: membership by box: <= 0.5 points" in told
    assert "Missed by kactus, tdr, iack, mondrian, infogain-mondrian. Why: a cut along a hierarchy" in told
    assert (tmp_path / "docs" / "plots" / "attacks_membership.svg").read_text(encoding="utf-8").startswith("<svg")


def test_below_the_goal_is_met_and_minus_is_below(tmp_path: Path) -> None:
    told = page(tmp_path, results(finding("model membership", -0.5, 0.1)))
    assert "**Missed**" not in told


def test_row_order_counts_in_both_directions(tmp_path: Path) -> None:
    assert "**Missed**: row order" in page(tmp_path, results(finding("row order", -0.5, 0.1)))


def test_what_did_not_run_is_never_met(tmp_path: Path) -> None:
    told = page(tmp_path, results(Finding(NOT_RUN, "No edge.", attack="singling out")))
    assert "**Missed**: singling out: <= chance. Measured: kactus not run" in told
    assert "what was not run says nothing" in told
    assert "**Met**: singling out" not in told


@pytest.mark.parametrize(("seconds", "met"), [(100.0, "Met"), (400.0, "Missed")])
def test_the_time_is_judged_by_the_clock_and_cpu_is_told(tmp_path: Path, seconds: float, met: str) -> None:
    told = page(tmp_path, results(finding("skewness", 0.0, 0.1), seconds=seconds))
    assert f"**{met}**: all attacks within 10 minutes. Measured: {3 * seconds + 3:.0f} s" in told


def adult_like(rows: int) -> pl.DataFrame:
    """Rows with the columns of Adult, at random."""
    generator = np.random.default_rng(4)
    trees = adult_hierarchies()
    columns: dict[str, Any] = {
        name: generator.choice([trees[name].labels[leaf] for leaf in trees[name].leaves], rows)
        for name in QUASI_IDENTIFIERS
        if name != "age"
    }
    columns |= {"age": generator.integers(17, 90, rows), "fnlwgt": generator.integers(1, 10**6, rows)}
    columns[OCCUPATION] = generator.choice(["Sales", "Tech-support", "Craft-repair", "Other-service"], rows)
    columns[SALARY] = generator.choice(["<=50K", ">50K"], rows)
    return pl.DataFrame(columns)


@pytest.mark.slow
def test_the_command_writes_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adult, "load", lambda *_: adult_like(300))
    monkeypatch.setattr("incrowd.attacks.minimality.ROWS", 3)
    monkeypatch.setattr(adult_page, "attack_adult", partial(adult.attack_adult, methods=("tdr", "mondrian"), ks=(10,)))
    monkeypatch.setattr(adult_page, "attack_promised", partial(adult.attack_promised, methods=("tdr",)))
    done = CliRunner().invoke(app, ["attacks", "--page", str(tmp_path / "page.md"), "--rows", "240"])
    assert done.exit_code == 0, done.output
    told = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert told.startswith("# Attacks on releases of Adult")
    assert "its figures and goals say nothing" in told
    assert "240 rows without missing values" in told
    assert all(f"| {name}" in told for name in GOALS)
    assert (tmp_path / "plots" / "attacks_inference.svg").is_file()
