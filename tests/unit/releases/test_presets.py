"""Presets: recipe fragments that one's own options overrule, and what is told of their rules."""

from __future__ import annotations

import datetime as dt
import json

import polars as pl
import pytest

import incrowd
from incrowd.cli.release import class_sensitive
from incrowd.errors import ParameterError, ValuesError, VerificationError
from incrowd.releases.kinds import with_kinds
from incrowd.releases.ledger.marks import Marker
from incrowd.releases.ledger.overlap import MarkedTable
from incrowd.report.certificate import faults, schema
from incrowd.report.html import report_html
from incrowd.risk.safe_harbor import ItemStanding, safe_harbor, this_year
from incrowd.tables.options import Run
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe, read_recipe, recipe_of
from incrowd.tables.recipe_checks import PRESETS, read_preset
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Schema

ROWS = 60
ASKED = {"quasi_identifiers": ["age", "zip", "seen"], "target": "ill", "class_sensitive": False, "k": 3}


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))


@pytest.fixture
def patients():
    """A table with every kind that is coarsened, some that are dropped, and one that is neither."""
    each = range(ROWS)
    return pl.DataFrame(
        {
            "record": [f"r{i:03d}" for i in each],
            "surname": [("Lee", "Roy", "May")[i % 3] for i in each],
            "age": [36 + i for i in each],
            "zip": [("02139", "03601", "90210-1234", "1234")[i % 4] for i in each],
            "born": [dt.date(this_year() - 100 + i, 1 + i % 12, 3) for i in each],
            "seen": [f"{1 + i % 28}.{1 + i % 12}.{2019 + i % 3}" for i in each],
            "remark": ["well" if i % 2 else "call 212-555-0187" for i in each],
            "when": ["in spring" if i % 2 else "on 2020-03-04" for i in each],
            "ward": [("A", "B")[i % 2] for i in each],
            "ill": [("yes", "no")[i % 2] for i in each],
        }
    )


@pytest.fixture
def safe(patients):
    return incrowd.release(patients, preset="safe-harbor", despite_unchanged=True, **ASKED)


def test_every_preset_is_a_recipe_and_says_what_it_is_for():
    for name in PRESETS:
        assert recipe_of({"preset": name}).preset == read_preset(name)
    assert recipe_of({"preset": "public"}).k == 20
    with pytest.raises(ParameterError, match=r"no preset 'publik'\. Did you mean public"):
        recipe_of({"preset": "publik"})


def test_options_and_recipes_overrule_a_preset(tmp_path):
    (tmp_path / "r.yaml").write_text("preset: public\nk: 30\n")
    recipe = read_recipe(tmp_path / "r.yaml")
    assert (recipe.k, recipe.rarest, recipe.class_sensitive, recipe.alone_at_most) == (30, 5, True, 0)
    (tmp_path / "r.yaml").write_text("k: 10\n")
    recipe = recipe_of({"recipe": tmp_path / "r.yaml", "preset": "public", "rarest": 2, "class_sensitive": False})
    assert (recipe.k, recipe.rarest, recipe.class_sensitive) == (10, 2, False)


def test_a_preset_requires_something_of_every_sensitive_column():
    recipe = recipe_of({"preset": "research", "sensitive": ['a "b", c', "d"], "require": "t=0.2 on d"})
    assert str(recipe.requirement) == '5-anonymity; 0.2-closeness of d; distinct 2-diversity of a "b", c'
    assert recipe_of({"preset": "research"}).requirement == KAnonymity(5)


def test_a_recipe_object_takes_no_preset():
    with pytest.raises(ParameterError, match="says everything by itself"):
        recipe_of({"recipe": Recipe(), "preset": "public"})
    with pytest.raises(ParameterError, match="named in a recipe's file"):
        Recipe(preset="public")  # type: ignore[arg-type]


def test_the_command_line_asks_only_what_the_preset_does_not_say():
    options = {"class_sensitive": None, "recipe": None, "target": "ill"}
    assert class_sensitive({**options, "preset": "public"}) is True
    with pytest.raises(ParameterError, match="Is the class 'ill' itself sensitive"):
        class_sensitive({**options, "preset": "research"})


def test_safe_harbor_leaves_none_of_the_eighteen(safe):
    released = safe.table
    assert released.columns == ["age", "zip", "born", "seen", "ward", "ill"]
    assert released["born"].min() == this_year() - 90
    assert [one.letter for one in safe_harbor(released) if one.standing is ItemStanding.PRESENT] == []


def test_report_and_certificate_say_which_rule_did_what(safe):
    year = this_year() - 90
    stated = {"age": "top-90", "zip": "zip3", "born": f"year-from-{year}", "seen": "year"}
    assert (safe.certificate["preset"], safe.certificate["coarsened"]) == ("safe-harbor", stated)
    assert list(faults(json.loads(json.dumps(safe.certificate)), schema())) == []
    told = [str(notice) for notice in safe.report.notices if notice.code in ("preset", "coarsened")]
    assert told == [
        "record: dropped (safe-harbor: any other unique number, characteristic or code; every row has a value of its "
        "own).",
        "surname: dropped (safe-harbor: names; the name suggests it).",
        "remark: dropped (safe-harbor: telephone numbers; 30 cells that look like it).",
        "when: dropped (safe-harbor: dates finer than a year; 30 cells have a date finer than a year).",
        "age: coarsened by the rule top-90 (safe-harbor: ages over 89; 6 rows are above 89): 5 cells changed.",
        "zip: coarsened by the rule zip3 (safe-harbor: ZIP codes; 60 cells are finer than three digits of a ZIP "
        "code): 60 cells changed, 15 of them to 000.",
        f"born: coarsened by the rule year-from-{year} (safe-harbor: dates of birth; 60 cells have a date finer than a "
        "year): 60 cells changed.",
        "seen: coarsened by the rule year (safe-harbor: dates finer than a year; 60 cells have a date finer than a "
        "year): 60 cells changed.",
    ]
    assert ("safe-harbor", True) in [(one.name, one.passed) for one in safe.verdict.checks]
    page = report_html(safe.report)
    assert "Rules of the preset safe-harbor" in page
    assert "Dropped (safe-harbor: names; the name suggests it)." in page


def test_what_the_user_says_of_a_column_wins(patients):
    recipe = recipe_of(
        {"preset": "safe-harbor", "sensitive": ["surname"], "reading": {"coarsen": {"seen": "none", "age": "top-80"}}}
    )
    settled, source = with_kinds(recipe, read_preset("safe-harbor"), read(patients, **recipe.reading))
    assert settled.columns["surname"]["role"] == "sensitive"
    assert source.frame["seen"].equals(patients["seen"])
    assert source.frame["age"].max() == 80
    told = {notice.where: notice.message for notice in source.notices if notice.code == "preset-overruled"}
    assert told["surname"] == "not dropped, as you name it sensitive (safe-harbor: names; the name suggests it)."
    assert told["seen"].startswith("left to your rule none (safe-harbor: dates finer than a year")
    with pytest.raises(ValuesError, match="'when': 60 cells cannot be read as dates or years"):
        with_kinds(recipe_of({"sensitive": ["when"]}), read_preset("safe-harbor"), read(patients))
    both = pl.DataFrame({"account_date": ["2020-01-01", "2021-01-01"]})
    _, source_of_both = with_kinds(recipe_of({"sensitive": ["account_date"]}), read_preset("safe-harbor"), read(both))
    assert source_of_both.frame["account_date"].to_list() == [2020, 2021]
    assert source.finer is not None
    assert set(source.finer.columns) == {"age", "zip", "born"}


def test_public_refuses_people_who_are_alone(patients):
    with pytest.raises(VerificationError, match="more than the 0 you allow"):
        incrowd.release(
            patients.select("age", "born", "ill"),
            quasi_identifiers=["age"],
            target="ill",
            preset="public",
            rarest=1,
            reading={"coarsen": {"born": "none"}},
        )


def test_a_folder_is_read_whole_for_it_and_what_does_not_fit_is_refused(patients, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    patients.write_parquet(tmp_path / "in" / "a.parquet")
    coarsened = {"reading": {"coarsen": {"born": "year"}}}
    tables = (patients, tmp_path / "in")
    whole, read = (incrowd.release(one, **coarsened, **ASKED, repeats=["surname"]).table["born"] for one in tables)
    assert sorted(read.to_list()) == sorted(whole.to_list())
    monkeypatch.setattr("incrowd.rows.one_machine._OF_A_CELL", 10**9)
    for asked, said in (({"preset": "safe-harbor"}, "under a preset"), (coarsened, "with columns to coarsen")):
        with pytest.raises(ParameterError, match=f"A table {said} is worked on as a whole, which needs"):
            incrowd.release(tmp_path / "in", to=tmp_path / "out.parquet", run=Run(memory="4GB"), **asked, **ASKED)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("out")] == []


def test_people_are_compared_with_a_population_that_is_read_by_the_same_rules(patients):
    table = patients.select("age", "born", "ill")
    made = incrowd.release(
        table.head(30),
        quasi_identifiers=["age", "born"],
        target="ill",
        class_sensitive=False,
        require="k=2, k-map=4",
        population=table.drop("ill"),
        reading={"coarsen": {"born": "year-from-1970", "age": "top-40"}},
        method="mondrian",
    )
    assert made.certificate["coarsened"] == {"born": "year-from-1970", "age": "top-40"}


def test_a_ledger_knows_people_by_what_was_read(patients):
    marked = [
        MarkedTable(read(patients, coarsen=rules), Schema(()), Marker(bytes(32)))
        for rules in (None, {"born": "year", "age": "top-40"})
    ]
    fine, coarse = (one.rows(["age", "born"]).tolist() for one in marked)
    assert fine == coarse


def test_models_and_hidden_cells_are_made_and_verified_of_coarse_columns(patients, tmp_path):
    patients.select("age", "zip", "ill").write_csv(tmp_path / "in.csv")
    reading = {"coarsen": {"age": "top-60", "zip": "zip3"}}
    model = incrowd.publish_model(tmp_path / "in.csv", target="ill", public=["age", "zip"], k=3, reading=reading)
    assert model.verdict.passed
    hidden = incrowd.hide_cells(tmp_path / "in.csv", [(1, "ill")], to=tmp_path / "out.csv", reading=reading)
    assert hidden.verdict.passed
    assert "02139" not in (tmp_path / "out.csv").read_text()
