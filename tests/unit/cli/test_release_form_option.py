"""``incrowd release --form``: the option, the recipe, and what is told."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

from incrowd.cli.main import app
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import ParameterError
from incrowd.plan.plan_file import read_plan
from incrowd.tables.recipe import read_recipe

ASKED = ["-q", "age,sex,smoker", "--target", "readmitted", "--class-sensitive", "no", "-k", "20"]


@pytest.fixture
def patients(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make_patients(400).write_csv(tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


def test_a_pair_is_told_with_both_files_and_report_and_plan(patients):
    folder = patients.parent
    beside = ["--report", str(folder / "r.html"), "--plan", str(folder / "p.json"), "--json"]
    done = CliRunner().invoke(
        app, ["release", str(patients), "--to", str(folder / "out.csv"), *ASKED, "--form", "pair", *beside]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["files"]["groups"] == str(folder / "out.groups.csv")
    assert told["certificate"]["output"]["groups"]["file"] == "out.groups.csv"
    assert told["certificate"]["attributes"]["sex"] == {"counts": 400}
    assert "counts" in (folder / "r.html").read_text()
    assert read_plan(folder / "p.json").counted == ("age", "sex", "smoker")


def test_the_summary_of_counts_is_printed_and_rows_are_transformed(patients):
    folder = patients.parent
    call = ["release", str(patients), "--to", str(folder / "out.parquet"), *ASKED, "--form", "counts"]
    done = CliRunner().invoke(app, [*call, "--plan", str(folder / "p.parquet")])
    assert done.exit_code == 0, done.output
    assert "counts" in done.output
    done = CliRunner().invoke(
        app, ["transform", str(folder / "p.parquet"), str(patients), "--to", str(folder / "new.csv")]
    )
    assert done.exit_code == 0, done.output
    assert set(pl.read_csv(folder / "new.csv")["sex"].drop_nulls()) == {"female", "male"}


def test_a_recipe_names_the_form(tmp_path):
    (tmp_path / "r.yaml").write_text("form: counts\n")
    assert read_recipe(tmp_path / "r.yaml").form == "counts"
    (tmp_path / "r.yaml").write_text("form: sets\n")
    with pytest.raises(ParameterError, match="strict, counts, pair"):
        read_recipe(tmp_path / "r.yaml")


@pytest.mark.slow
def test_requirements_hold_in_every_form(patients):
    folder = patients.parent
    for form in ("strict", "counts", "pair"):
        out = ["--to", str(folder / f"{form}.csv"), "--form", form, "--method", "infogain-mondrian"]
        done = CliRunner().invoke(
            app, ["release", str(patients), *ASKED, *out, "--require", "distinct-l=2 on diagnosis_group", "--json"]
        )
        assert done.exit_code == 0, done.output
        checks = json.loads(done.stdout)["certificate"]["verification"]["checks"]
        assert any("diagnosis_group" in check["name"] and "untouched" not in check["name"] for check in checks)


def test_population_requirements_need_plain_values(patients):
    call = ["release", str(patients), *ASKED, "--to", str(patients.parent / "o.csv"), "--form", "counts"]
    people = ["--require", "k-map=20", "--population", str(patients), "--method", "mondrian"]
    done = CliRunner().invoke(app, [*call, *people])
    assert "plain values only" in str(done.exception)
