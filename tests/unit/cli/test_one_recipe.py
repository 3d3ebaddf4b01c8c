"""One recipe for every command: a German file, read by its recipe; the release of it, read as it was written."""

from __future__ import annotations

import json
import random

import pytest

RECIPE = """columns:
  nr: {role: identifier}
  alter: {role: quasi-identifier, type: integer}
  plz: {role: quasi-identifier, type: categorical}
  krank: {role: target}
drop: [bemerkung]
private: [gewicht]
k: 5
class_sensitive: no
reading: {delimiter: ";", encoding: latin-1, decimal: comma, header: yes}
"""


@pytest.fixture
def place(tmp_path):
    drawn = random.Random(1)
    lines = ["nr;alter;plz;gewicht;bemerkung;krank"]
    for number in range(120):
        age, weight = drawn.randint(20, 80), f"{drawn.uniform(50, 99):.1f}".replace(".", ",")
        ill = "ja" if age > 50 else "nein"
        lines.append(f"P{number};{age};{drawn.choice(['68161', '69115'])};{weight};für {number % 9};{ill}")
    (tmp_path / "leute.csv").write_text("\n".join(lines), encoding="latin-1")
    (tmp_path / "recipe.yaml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


def test_a_release_by_a_recipe_is_verified_and_attacked_with_nothing_typed_again(command, place):
    status, out, _ = command("release", "leute.csv", "--recipe", "recipe.yaml", "--to", "out.csv", "--json")
    certificate = json.loads(out)["certificate"]
    assert (status, certificate["method"]["name"]) == (0, "kactus-plus")
    roles = {column["name"]: column["role"] for column in certificate["columns"]}
    assert (roles["bemerkung"], roles["gewicht"]) == ("drop", "private")
    assert [column["name"] for column in certificate["released_columns"]] == ["alter", "plz", "gewicht", "krank"]
    alone = certificate["unchanged_columns"]["alone"]
    assert (alone["roles"]["gewicht"], alone["not_private"]) == ("private", 0)
    assert alone["without_class"] > 0
    assert not any(notice["where"] in ("gewicht", "bemerkung") for notice in certificate["notices"])

    assert command("verify", "out.csv")[0] == 0
    status, out, _ = command("verify", "out.csv", "--recipe", "recipe.yaml")
    assert (status, "2 left out, as the recipe says" in out) == (0, True)
    status, out, _ = command("verify", "out.csv", "--recipe", "recipe.yaml", "-k", "100")
    assert (status, "FAILED  100-anonymity" in out) == (1, True)

    attack = ("attack", "out.csv", "--original", "leute.csv", "--only", "linkage by unchanged columns,homogeneity")
    for words in ((), ("--recipe", "recipe.yaml")):
        _, out, _ = command(*attack, *words, "--json")
        linkage, homogeneity = json.loads(out)["findings"]
        assert linkage["verdict"] == "not run"  # the only column that left unchanged is private
        assert "nobody outside knows" in linkage["words"]
        assert homogeneity["verdict"] in ("leak", "no leak found")
    (place / "out.csv.certificate.json").unlink()
    assert command(*attack, "--recipe", "recipe.yaml")[0] in (0, 1)
    status, _, err = command(*attack)
    assert (status, "Name the quasi-identifiers or a recipe" in err) == (2, True)


def test_a_table_that_has_what_the_recipe_leaves_out_is_not_verified(command, place):
    reading = ("--delimiter", ";", "--encoding", "latin-1")
    status, out, _ = command("verify", "leute.csv", "--recipe", "recipe.yaml", *reading)
    assert (status, "FAILED  columns: nr, bemerkung should have been left out" in out) == (1, True)


def test_risk_model_hide_and_compare_take_the_recipe(command, place):
    recipe = ("--recipe", "recipe.yaml")
    status, out, _ = command("risk", "leute.csv", *recipe, "--json")
    assert (status, json.loads(out)["quasi_identifiers"]) == (0, ["alter", "plz"])
    status, out, _ = command("risk", "leute.csv", *recipe, "-q", "plz", "--json")
    assert (status, json.loads(out)["quasi_identifiers"]) == (0, ["plz"])
    status, out, _ = command("model", "leute.csv", *recipe, "--to", "tree.json", "--json")
    issued = json.loads(out)["certificate"]
    assert (status, issued["public"], issued["target"]["name"]) == (0, ["alter", "plz"], "krank")
    assert issued["requirement_asked"]["k"] == 5
    assert command("verify", "tree.json", "--against", "leute.csv", *recipe)[0] == 0
    status, out, _ = command("hide", "leute.csv", *recipe, "--cell", "3:plz", "--dry-run")
    assert (status, "published as they are, although your recipe leaves" in out) == (0, True)
    how = ("--methods", "kactus-plus", "--learners", "nb", "--protocol", "holdout", "--jobs", "1")
    status, out, _ = command("compare", "leute.csv", *recipe, *how, "--json")
    compared = json.loads(out)
    assert {(one["method"], one["k"]) for one in compared["results"]} >= {("kactus-plus", 5)}
    assert compared["notices"] == []


def test_without_a_recipe_the_class_and_the_quasi_identifiers_must_be_named(command, place):
    reading = ("--delimiter", ";", "--encoding", "latin-1", "--header")
    status, _, err = command("model", "leute.csv", "--to", "tree.json", *reading)
    assert (status, "--target COLUMN" in err) == (2, True)
    status, _, err = command("risk", "leute.csv", *reading)
    assert (status, "or a recipe that does" in err) == (2, True)
