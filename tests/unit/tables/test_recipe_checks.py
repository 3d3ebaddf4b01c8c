"""The JSON Schema of recipes has every option, fits every recipe of ours and refuses what a recipe cannot say."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from quality.readers import RECIPE, SETS
from typer.testing import CliRunner

from incrowd.cli.main import app
from incrowd.report.certificate import faults
from incrowd.tables.options import Reading, recipe_keys
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import read_recipe
from incrowd.tables.recipe_checks import FILE_NAME, recipe_schema
from incrowd.tables.roles import draft_recipe
from incrowd.vocabulary.option import options_of
from incrowd.vocabulary.plain_data import read_plain_yaml

SCHEMA = recipe_schema()
EXAMPLE = Path(__file__).parents[3] / "examples" / "recipe.yaml"


def broken(text):
    return list(faults(read_plain_yaml(text, "recipe"), SCHEMA))


def test_every_option_is_in_it():
    assert set(SCHEMA["properties"]) == {"incrowd_recipe", *recipe_keys()}
    assert set(SCHEMA["properties"]["reading"]["properties"]) == {one.name for one in options_of(Reading)}
    assert all(one["description"] for one in SCHEMA["properties"].values())


@pytest.mark.parametrize("text", [EXAMPLE.read_text(encoding="utf-8"), RECIPE, SETS], ids=["example", "full", "sets"])
def test_our_recipes_fit(text):
    assert broken(text) == []


def test_a_drafted_recipe_fits():
    people = read(pl.DataFrame({"age": [39, 50], "ill": ["y", "n"]}))
    assert broken(draft_recipe(draft_schema(people, target="ill"), reading={"delimiter": ";", "header": True})) == []


WRONG = {
    "another version": "incrowd_recipe: 2",
    "an unknown setting": "kk: 5",
    "an unknown role": "columns: {age: {role: quasi}}",
    "an unknown type": "columns: {age: {type: number}}",
    "an unknown word for reading": "reading: {delimeter: ';'}",
    "an unknown order": "reading: {dates: ymdd}",
    "an unknown form": "form: pairs",
    "k of nothing": "k: 0",
    "k as text": "k: ten",
    "a set without columns": "known_together: [{k: 5}]",
    "a hierarchy that is no file": "columns: {age: {hierarchy: 5}}",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_a_recipe_cannot_say_does_not_fit(text):
    assert broken(text)


def test_the_command_prints_it_and_a_draft_beside_it_names_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text("age,ill\n39,y\n50,n\n", encoding="utf-8")
    run = CliRunner().invoke
    assert run(app, ["inspect", "people.csv", "--recipe", "recipe.yaml"]).exit_code == 0
    assert "$schema" not in Path("recipe.yaml").read_text(encoding="utf-8")
    printed = run(app, ["recipe-schema"]).stdout
    assert json.loads(printed) == SCHEMA
    Path(FILE_NAME).write_text(printed, encoding="utf-8")
    assert run(app, ["inspect", "people.csv", "--recipe", "recipe.yaml", "--replace"]).exit_code == 0
    assert Path("recipe.yaml").read_text(encoding="utf-8").startswith(f"# yaml-language-server: $schema={FILE_NAME}\n")
    assert read_recipe("recipe.yaml").k == 10
