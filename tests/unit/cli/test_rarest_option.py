"""``incrowd release --rarest``: the option, the recipe, what is refused, and requirements beside it."""

from __future__ import annotations

import json

import polars as pl
import pytest
from typer.testing import CliRunner

import incrowd
from incrowd.cli.main import app
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import ParameterError
from incrowd.plan.plan_file import read_plan
from incrowd.tables.recipe import read_recipe

ASKED = ["-q", "age,sex,country_of_birth", "--target", "readmitted", "--class-sensitive", "no", "-k", "5"]


@pytest.fixture
def patients(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make_patients(400).write_csv(tmp_path / "patients.csv")
    return tmp_path / "patients.csv"


def rare_countries(path):
    counts = pl.read_csv(path)["country_of_birth"].drop_nulls().value_counts()
    return counts.filter(pl.col("count") < 12)["country_of_birth"].to_list()


@pytest.mark.each(2)
@pytest.mark.parametrize("form", ["strict", "counts"])
def test_no_rare_value_is_published(patients, form):
    out, plan = patients.parent / "out.csv", patients.parent / "plan.json"
    asked = ["--method", "infogain-mondrian", "--form", form, "--plan", str(plan), "--json"]
    call = ["release", str(patients), "--to", str(out), *ASKED, *asked]
    rare = rare_countries(patients)
    assert rare
    done = CliRunner().invoke(app, call)
    assert any(notice["code"] == "rare-values" for notice in json.loads(done.stdout)["certificate"]["notices"])
    assert any(country in out.read_text() for country in rare)
    done = CliRunner().invoke(app, [*call, "--rarest", "12", "--replace"])
    assert done.exit_code == 0, done.output
    assert not any(country in out.read_text() for country in rare)
    assert read_plan(plan).rarest == 12


def test_a_recipe_names_it(tmp_path):
    (tmp_path / "r.yaml").write_text("rarest: 3\n")
    assert read_recipe(tmp_path / "r.yaml").rarest == 3
    for wrong in ("0", "2.5", "yes", "[3]"):
        (tmp_path / "r.yaml").write_text(f"rarest: {wrong}\n")
        with pytest.raises(ParameterError, match="whole number of people"):
            read_recipe(tmp_path / "r.yaml")


@pytest.mark.slow
def test_requirements_are_kept_beside_it(patients):
    asked = {"quasi_identifiers": ["age", "sex", "country_of_birth"], "target": "readmitted", "k": 5, "rarest": 12}
    for require in ("entropy-l=1.2 on diagnosis_group", "t=0.5 on diagnosis_group", "beta=4 on diagnosis_group"):
        made = incrowd.release(patients, **asked, method="mondrian", form="counts", require=require)
        assert made.verdict.passed
    made = incrowd.release(patients, **asked, method="mondrian", require="k-map=20", population=patients)
    assert made.verdict.passed
    with pytest.raises(ParameterError, match="delta-presence and rarest"):
        incrowd.release(patients, **asked, method="mondrian", require="delta-presence=0..1", population=patients)
