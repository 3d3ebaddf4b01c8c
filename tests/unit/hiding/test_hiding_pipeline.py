"""The whole way of hiding cells: frames in and out, files, facts, refusals."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import HeaderError, OutputError, ParameterError, RequirementError, VerificationError
from incrowd.hiding.pipeline import hide_cells
from incrowd.report.hiding_report import Guess
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SeededRandomness


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(4)
    pain = rng.choice(["no", "some", "much"], 120)
    fever = np.where(rng.random(120) < 0.8, pain, rng.choice(["no", "some", "much"], 120))
    ill = np.where(rng.random(120) < 0.9, pain, rng.choice(["no", "some", "much"], 120))
    names = dict(zip(["no", "some", "much"], ["healthy", "cold", "flu"], strict=True))
    return pl.DataFrame(
        {"age": rng.integers(20, 30, 120), "pain": pain, "fever": fever, "ill": [names[x] for x in ill]}
    )


def differing(before, after):
    """The cells that differ, found cell by cell."""
    return {
        (row, name)
        for name in before.columns
        for row, (old, new) in enumerate(zip(before[name].to_list(), after[name].to_list(), strict=True))
        if old != new
    }


def test_rows_stay_where_they_are_and_only_told_cells_differ(people):
    hidden = hide_cells(people, [(17, "ill"), (3, "pain")])
    assert hidden.verdict.passed
    assert hidden.table.columns == people.columns
    found = differing(people, hidden.table)
    assert found == {(change.row, change.attribute) for change in hidden.changes}
    assert {(17, "ill"), (3, "pain")} <= found
    assert hidden.table["ill"][17] is None
    assert {row for row, _ in found} == {3, 17}


def test_nobody_guesses_what_the_generic_hider_hid(people):
    hidden = hide_cells(people, [(row, "ill") for row in range(6)])
    facts = hidden.report
    assert facts.adversaries == ("nb", "id3")
    assert sum(facts.right("nb")) > 0
    assert all(cell.status == "deleted" for cell in facts.exposed)
    assert facts.bound is None


@pytest.mark.parametrize("make", [pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_the_kind_of_frame_that_came_in_goes_out(people, make):
    given = make(people)
    table = hide_cells(given, [(0, "ill")]).table
    assert type(table) is type(given)
    kept = pl.from_pandas(table) if isinstance(table, pd.DataFrame) else pl.DataFrame(table)
    assert kept["ill"][0] is None
    assert kept["ill"][1:].to_list() == people["ill"][1:].to_list()


@pytest.mark.parametrize("name", ["out.csv", "out.tsv.gz", "out.parquet", "out.arrow", "out.arff"])
def test_every_form_of_file_is_written_and_verified(people, tmp_path, name):
    hidden = hide_cells(people, [(5, "ill")], to=tmp_path / name)
    assert hidden.path == tmp_path / name
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert hidden.table["ill"].to_list()[5] is None
    assert hidden.table.height == people.height


def test_text_is_kept_character_for_character(tmp_path):
    lines = ["zip,note,ill", *(f"0{i % 3}, =x{i % 2},{'yes' if i % 3 else 'no'}" for i in range(12)), "00,-1+2,?"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    hide_cells(tmp_path / "in.csv", [(1, "ill")], to=tmp_path / "out.csv")
    written = (tmp_path / "out.csv").read_text().splitlines()
    assert written[0] == lines[0]
    assert [line for i, line in enumerate(written) if i not in (0, 2, 13)] == [
        line for i, line in enumerate(lines) if i not in (0, 2, 13)
    ]
    assert written[2].endswith(",")
    assert written[13] == "00,'-1+2,"


def test_generalizing_methods_show_groups(people):
    hierarchy = Hierarchy("ill", ("*", "ill", "cold", "flu", "healthy"), (-1, 0, 1, 1, 0))
    pain = Hierarchy("pain", ("*", "hurts", "some", "much", "no"), (-1, 0, 1, 1, 0))
    rows = [row for row in range(40) if people["ill"][row] != "healthy"]
    hidden = hide_cells(
        people,
        [(row, "ill") for row in rows],
        method="hid3-g+dropp-g",
        adversaries=("nb-shared", "id3"),
        hierarchies={"ill": hierarchy, "pain": pain},
        randomness=SeededRandomness(1),
    )
    assert hidden.verdict.passed
    shown = {hidden.table["ill"][row] for row in rows}
    assert shown <= {None, "ill"}
    assert {change.shows for change in hidden.report.side_effects} <= {None, "hurts"}
    assert hidden.report.bound is not None


def test_a_hierarchy_that_is_not_used_is_told(people):
    hierarchy = Hierarchy("ill", ("*", "ill", "cold", "flu", "healthy"), (-1, 0, 1, 1, 0))
    notices = hide_cells(people, [(0, "ill")], method="dropp", hierarchies={"ill": hierarchy}).report.notices
    assert "hierarchy-not-used" in {notice.code for notice in notices}


def test_identifiers_are_kept_and_not_reckoned_with(people):
    numbered = people.with_columns(pl.int_range(pl.len()).cast(pl.String).alias("patient_id"))
    facts = hide_cells(numbered, [(0, "ill")]).report
    assert "patient_id" not in facts.predictors
    assert "patient_id" in facts.columns
    assert "identifier" in {notice.code for notice in facts.notices}


def test_predictors_can_be_chosen(people):
    facts = hide_cells(people, [(0, "ill")], predictors=["age"]).report
    assert facts.predictors == ("age",)
    with pytest.raises(HeaderError):
        hide_cells(people, [(0, "ill")], predictors=["agee"])


def test_rows_may_be_counted_from_one(people):
    hidden = hide_cells(people, [(1, "ill")], first_row=1)
    assert hidden.table["ill"][0] is None
    assert hidden.report.cells[0].row == 1
    with pytest.raises(ParameterError, match="from 1 to 120"):
        hide_cells(people, [(0, "ill")], first_row=1)


def test_the_final_check_by_other_learners():
    certain = pl.DataFrame({"pain": ["no", "some", "much"] * 20, "ill": ["healthy", "cold", "flu"] * 20})
    facts = hide_cells(certain, [(1, "ill")], method="auto", adversaries=("svm", "logistic", "knn")).report
    assert facts.adversaries == ("svm", "logistic", "knn")
    assert [each.before for each in facts.cells[0].judged] == [Guess.RIGHT] * 3
    assert {(change.row, change.column) for change in facts.side_effects} == {(1, "pain")}


def test_strict_publishes_nothing_that_is_still_guessed(tmp_path):
    copied = pl.DataFrame({"pain": ["no", "some", "much"] * 20, "fever": ["no", "some", "much"] * 20})
    given = copied.with_columns(pl.Series("ill", ["healthy", "cold", "flu"] * 20))
    asked = {"cells": [(1, "ill")], "method": "hid3", "adversaries": ("nb",)}
    facts = hide_cells(given, **asked).report
    assert facts.cells[0].judged[0].after is Guess.RIGHT
    assert "still-guessed" in {notice.code for notice in facts.notices}
    with pytest.raises(RequirementError, match="1 of 1 cells"):
        hide_cells(given, **asked, strict=True, to=tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_nothing_appears_that_failed_the_comparison(people, tmp_path, monkeypatch):
    failed = Verdict(ClassSizes(0, 0, 0, ()), (Check("other cells", False, "3 show what is not true"),))
    monkeypatch.setattr("incrowd.hiding.pipeline.verify_hidden_cells", lambda *_: failed)
    with pytest.raises(VerificationError, match="other cells"):
        hide_cells(people, [(0, "ill")], to=tmp_path / "out.csv", report=tmp_path / "out.html")
    assert not list(tmp_path.iterdir())


def test_a_hider_that_leaves_the_value_is_caught(people, monkeypatch):
    monkeypatch.setattr("incrowd.hiding.pipeline.withheld", lambda frame, _changes: frame)
    with pytest.raises(VerificationError, match="confidential cells: 1 show their value"):
        hide_cells(people, [(0, "ill")])


def test_the_pattern_attack_is_run_only_if_asked_for(people):
    quiet = hide_cells(people, [(0, "ill")], method="dropp").report
    assert quiet.cells[0].pattern is None
    assert quiet.pattern_not_run == "not requested"
    loud = hide_cells(people, [(0, "ill")], method="dropp", attack=True).report
    assert loud.cells[0].pattern.worst_lift >= loud.cells[0].pattern.expected_lift >= 0
    together = hide_cells(people, [(0, "ill")], method="e-dropp", attack=True).report
    assert "together" in together.pattern_not_run


def test_facts_are_plain_data_without_values(people):
    hidden = hide_cells(people, [(0, "ill"), (1, "ill")], method="incp")
    data = json.loads(json.dumps(hidden.report.to_json()))
    assert data["verification"]["passed"] is True
    assert len(data["cells"]) == 2
    assert data["costs"]["direct_distance"] == len(hidden.changes)
    for value in ("healthy", "cold", "flu"):
        assert value not in json.dumps(data)
        assert value not in str(hidden)
        assert value not in hidden._repr_html_()


def test_the_report_says_what_an_attacker_gains(people, tmp_path):
    hide_cells(people, [(0, "ill")], method="dropp", report=tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    for words in ("What was withheld, and why", "Side effects", "What it cost", "success rate over degree", "not run"):
        assert words in page
    assert "<script" not in page


def test_requests_that_cannot_be_met(people, tmp_path):
    with pytest.raises(ParameterError, match="No cell"):
        hide_cells(people, [])
    with pytest.raises(ParameterError, match="more than once"):
        hide_cells(people, [(0, "ill"), (0, "ill")])
    with pytest.raises(ParameterError, match="at least one adversary"):
        hide_cells(people, [(0, "ill")], adversaries=())
    with pytest.raises(ParameterError, match="named more than once"):
        hide_cells(people, [(0, "ill")], adversaries=("nb", "nb"))
    with pytest.raises(OutputError, match="different"):
        hide_cells(people, [(0, "ill")], to=tmp_path / "a.csv", report=tmp_path / "a.csv")
    with pytest.raises(ParameterError, match="whole number"):
        hide_cells(people, [("0", "ill")])


def test_buffers_hold_no_hidden_value():
    given = pl.DataFrame({"job": ["nurse", "smith"] * 6, "pet": ["canary-xyzzy", *["cat", "dog"] * 5, "dog"]})
    table = hide_cells(given.to_arrow(), [(0, "pet")]).table
    assert isinstance(table, pa.Table)
    buffers = [b.to_pybytes() for c in table.columns for chunk in c.chunks for b in chunk.buffers() if b is not None]
    assert not any(b"xyzzy" in each for each in buffers)
