"""Risk and attacks of a release: measured where they can be, said to be not measured where they cannot."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.api import release
from incrowd.attacks.catalog import ATTACKS
from incrowd.errors import ParameterError
from incrowd.report.certificate import faults, schema
from incrowd.tables.options import Measuring

ROWS = 240


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


def people(age="age", secret="secret"):
    return pl.DataFrame(
        {
            age: [20 + (i * 7) % 41 for i in range(ROWS)],
            "job": [f"j{(i * i) % 6}" for i in range(ROWS)],
            secret: [f"s{i % 4}" for i in range(ROWS)],
            "ill": ["y" if (i * 3) % 7 < 3 else "n" for i in range(ROWS)],
        }
    )


def asked(**more):
    return {"quasi_identifiers": ["age", "job"], "target": "ill", "class_sensitive": False, "k": 5} | more


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow", "arff", None])
@pytest.mark.parametrize("name", ["age", "=age", "-age", "@age", "age (years)"])
def test_risk_finds_the_columns_however_they_are_written(tmp_path, form, name):
    source = tmp_path / "people.csv"
    people(name).write_csv(source)
    to = tmp_path / f"out.{form}" if form else None
    made = release(source, to=to, measuring=Measuring(risk=True), **asked(quasi_identifiers=[name, "job"]))
    assert [notice.code for notice in made.report.notices if "not-measured" in notice.code] == []
    assert made.report.risk.after.rows == ROWS - made.report.rows_dropped
    assert made.report.risk.after.classes[0][0] == made.verdict.sizes.smallest
    assert dict(made.report.risk.after.classes) == dict(made.verdict.sizes.histogram)
    assert made.report.risk.source == "people.csv"


def test_bounds_in_two_columns_are_measured_together():
    made = release(
        people(), measuring=Measuring(risk=True), **asked(method="mondrian", parameters={"numeric": "bounds"})
    )
    assert "age_low" in made.table.columns
    assert dict(made.report.risk.after.classes) == dict(made.verdict.sizes.histogram)


def test_what_is_sensitive_is_measured_and_the_class_only_if_it_may_be():
    def columns(**more):
        found = release(people(), measuring=Measuring(risk=True), **asked(**more)).report.risk.inference
        return [one.column for one in found] if isinstance(found, tuple) else found.reason

    assert columns(sensitive=["secret"]) == ["secret"]
    assert columns(sensitive=["secret"], class_sensitive=True, k=30) == ["secret", "ill"]
    assert columns() == "no sensitive column was named"


def test_markers_of_missing_values_mean_the_same_before_and_after(tmp_path):
    source = tmp_path / "people.csv"
    table = people().with_columns(job=pl.when(pl.col("job") == "j1").then(pl.lit("?")).otherwise("job"))
    table.write_csv(source)
    for marks in (["?"], ["NA"]):
        made = release(
            source, measuring=Measuring(risk=True), to=tmp_path / f"{marks}.csv", reading={"missing": marks}, **asked()
        )
        assert dict(made.report.risk.after.classes) == dict(made.verdict.sizes.histogram)


def test_named_attacks_run_and_the_others_are_told_as_not_run():
    made = release(people(), measuring=Measuring(attacks=["row-order", "homogeneity"]), **asked(sensitive=["secret"]))
    found = made.certificate["attacks"]
    ran = {one["attack"] for one in found["after"] if one["verdict"] != "not run"}
    assert ran == {"row order", "homogeneity"}
    assert len(found["after"]) == len(ATTACKS)
    assert [one["attack"] for one in found["before"]] == ["row order", "homogeneity"]
    assert list(faults(made.certificate, schema())) == []


def test_an_unknown_attack_is_refused_before_any_work():
    with pytest.raises(ParameterError, match="Did you mean"):
        release("no such file", measuring=Measuring(attacks=["row odrer"]), **asked())


def test_attacks_that_cannot_be_set_up_are_told_and_the_release_is_made(monkeypatch):
    from incrowd.attacks import run
    from incrowd.errors import SchemaError

    def broken(*_, **__):
        raise SchemaError("There is nothing to look for.")

    monkeypatch.setattr(run, "attack_scene", broken)
    made = release(people(), measuring=Measuring(attacks=True), **asked())
    assert made.certificate["attacks"] == "not run"
    [told] = [notice for notice in made.report.notices if notice.where == "attacks"]
    assert (told.code, told.message) == ("attacks-not-measured", "not measured: There is nothing to look for.")


def test_progress_is_told():
    stages = []
    release(people(), measuring=Measuring(risk=True, attacks=["row-order"]), progress=stages.append, **asked())
    assert "measuring risk" in stages
    assert "attacking: row order (1 of 1)" in stages
    assert "attacking: the table itself, row order (1 of 1)" in stages
