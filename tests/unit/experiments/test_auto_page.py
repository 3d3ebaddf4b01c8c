"""The page about what auto chooses: from outcomes as they are kept, beside what the former rule did."""

from __future__ import annotations

from pathlib import Path

import pytest

from experiments import automatic
from experiments.automatic import EARLIER, _write
from incrowd.comparisons.automatic import PREFERRED

FORMER = f"""{EARLIER}
As it was measured then.

| table | for | best in hindsight | auto took | gap | gap of blend | gap of kactus-plus | chance |
|-------|-----|-------------------|-----------|----:|-------------:|-------------------:|-------:|
| glass | mix | kactus            | blend     | 3.0 |          5.0 |                0.0 |    4.6 |
| glass | nb  | kactus            | kactus    | 1.0 |          5.0 |                0.0 |    4.6 |
| pima  | mix | kactus            | kactus    | 9.0 |          5.0 |                0.0 |    4.6 |
"""


def cell(whom, gap, **fixed):
    gaps = {"blend": 0.03, "kactus-plus": 0.01, "kactus": 0.0} | fixed
    found = {"table": "glass", "for": whom, "best": "kactus", "picks": ["blend", "blend"], "error": 0.02}
    return found | {"gap": gap, "average": 0.05, "fixed": gaps}


def ranked(table, **reached):
    return {
        "table": table,
        "reached": {method: dict.fromkeys(automatic.MIX, value) for method, value in reached.items()},
    }


@pytest.fixture
def page(tmp_path):
    path = tmp_path / "auto.md"
    path.write_text(f"# What auto chooses\n\nwritten long ago\n\n{FORMER}")
    order = [ranked("a", kactus=0.8, blend=0.9), ranked("b", kactus=0.9, blend=0.1), ranked("c", kactus=0.7, blend=0.8)]
    _write(path, [*order, cell("mix", 0.004), cell("nb", 0.02)])
    return path.read_text()


def test_the_goal_and_the_fairer_yardsticks_are_told(page):
    assert "**Missed**" in page
    assert "Measured: 50% of 2; within one standard error in 100%" in page
    assert "best *fixed* choice, `kactus` for every table" in page
    assert "`auto` is -1.2 points better on average, above it in 0 cells, equal in 0, below it in 2" in page
    assert "at most half a point below in 50%" in page


def test_what_the_former_rule_did_is_told_of_the_same_tables_and_its_section_stays(page):
    (line,) = [line for line in page.splitlines() if "by the former rule" in line]
    assert [cell.strip() for cell in line.split("|")][2:6] == ["2", "0%", "2.0", "3.0"]
    assert page.endswith(FORMER)
    assert "written long ago" not in page


def test_the_order_is_that_of_ranks_and_the_program_keeps_it(page):
    lines = page[page.index("## The order") : page.index("## Cells")].splitlines()
    rows = [[cell.strip() for cell in line.split("|")][1:-1] for line in lines if line.startswith("| `")]
    assert [(row[0], row[-2], row[-1]) for row in rows] == [("`blend`", "60.0", "1.33"), ("`kactus`", "80.0", "1.67")]


def test_the_order_of_the_program_is_that_of_the_page():
    written = (Path(__file__).parents[3] / "docs" / "results" / "auto.md").read_text()
    order = written[written.index("## The order") : written.index("## Cells")]
    assert [line.split("`")[1] for line in order.splitlines() if line.startswith("| `")] == list(PREFERRED)
