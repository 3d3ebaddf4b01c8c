"""``incrowd risk``: the terminal, JSON, the page."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest
import typer
from typer.testing import CliRunner

from incrowd.cli.trust import print_risk, risk
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import IncrowdError
from incrowd.risk.assessment import measure_risk as measure
from incrowd.risk.charts import risk_html

COLUMNS = "age,sex,marital_status"


@pytest.fixture
def incrowd_risk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients = make_patients(400)
    patients.write_csv("patients.csv")
    patients.with_columns(age=patients["age"] // 30).write_csv("release.csv")
    app = typer.Typer()
    app.command()(risk)

    def run(*words):
        return CliRunner(env={"COLUMNS": "160"}).invoke(app, ["patients.csv", "--qi", COLUMNS, *words])

    return run


def test_the_terminal_tells_every_part(incrowd_risk):
    done = incrowd_risk("--sensitive", "diagnosis_group")
    assert done.exit_code == 0, done.output
    for title in ("re-identified", "Rows at risk", "Who is unique", "Special uniques", "WP216", "Safe Harbor"):
        assert title in done.output
    assert "not estimated" in done.output
    assert "\x1b" not in done.output


def test_json_is_what_python_gives(incrowd_risk):
    done = incrowd_risk("--json", "--population", "4000", "--after", "release.csv", "--thresholds", "0.1,0.3")
    told = json.loads(done.output)
    found = measure(
        "patients.csv",
        quasi_identifiers=COLUMNS.split(","),
        population=4000,
        after="release.csv",
        thresholds=[0.1, 0.3],
    )
    assert told == json.loads(json.dumps(found.to_json()))
    assert told["after"]["table"] == "release.csv"


def test_the_population_as_a_table(incrowd_risk):
    done = incrowd_risk("--population-table", "patients.csv", "--json")
    told = json.loads(done.output)
    assert told["journalist"]["maximum"] == told["prosecutor"]["maximum"]


def test_the_page_is_whole_and_loads_nothing(incrowd_risk, tmp_path):
    done = incrowd_risk("--after", "release.csv", "--report", "risk.html", "--population", "4000")
    assert done.exit_code == 0, done.output
    page = (tmp_path / "risk.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Content-Security-Policy" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert page.count("<svg") == 2
    for part in page.split("<svg")[1:]:
        ElementTree.fromstring("<svg" + part.split("</svg>")[0] + "</svg>")


def test_the_chart_tells_all_rows(incrowd_risk):
    found = measure("patients.csv", quasi_identifiers=COLUMNS.split(","), after="release.csv")
    page = risk_html(found, whole_page=False)
    assert not page.startswith("<!DOCTYPE")
    shown = page.split('aria-label="Rows by the size of their class. ')[1].split('"')[0]
    for when in ("before", "after"):
        numbers = [one.split(": ")[1].split(" row")[0] for one in shown.split("; ") if f" {when}," in one]
        assert sum(int(number.replace(",", "")) for number in numbers) == 400


def test_names_are_escaped(tmp_path):
    import polars as pl
    from rich.console import Console

    frame = pl.DataFrame({"<script>": [1, 2, 3], "[bold]x": [1, 1, 2]})
    found = measure(frame, quasi_identifiers=frame.columns)
    assert "<script" not in risk_html(found)
    console = Console(record=True, width=160, file=(tmp_path / "out").open("w"))
    print_risk(found, console)
    assert "[bold]x" in console.export_text()


@pytest.mark.parametrize(
    "words",
    [
        ("--thresholds", "a"),
        ("--thresholds", "3"),
        ("--population", "3"),
        ("--after", "patients.csv", "--report", "patients.csv"),
        ("--sensitive", "age"),
        ("--zip3", "patients.csv"),
    ],
)
def test_refusals(incrowd_risk, words):
    done = incrowd_risk(*words)
    assert done.exit_code != 0
    assert isinstance(done.exception, IncrowdError)


def test_a_list_of_areas(incrowd_risk, tmp_path):
    (tmp_path / "zip3.csv").write_text("zip3,population\n010,30000\n")
    assert incrowd_risk("--zip3", "zip3.csv").exit_code == 0
