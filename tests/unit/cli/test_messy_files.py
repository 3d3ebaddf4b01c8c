"""The whole way of a careful person with a messy file, from the command line: inspect, release, verify."""

from __future__ import annotations

import random

import polars as pl
import pytest
import yaml

from incrowd.tables.reading.draft import missing_words
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Origin, Source

HEADER = "Patientennr;Alter;Geschlecht;Gr\u00f6\u00dfe;Kosten;Aufnahme;leer;Diagnose"
ROLES = {"Patientennr": "identifier", "leer": "identifier", "Diagnose": "target"}


def patients(rows=600):
    draw = random.Random(5)
    for number in range(rows):
        age = draw.choice(["k.A.", *[str(draw.randint(18, 90))] * 20])
        cost = f"{draw.randint(1, 9)}.{draw.randint(100, 999)},{draw.randint(10, 99)}"
        day = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2021"
        size = f"{draw.randint(150, 199)},{draw.randint(0, 9)}"
        ill = draw.choice(["Grippe", "Asthma", "-", "\u00dcbelkeit"])
        yield ";".join([f"P{number:05d}", age, draw.choice("wm"), size, cost, day, "", ill])


@pytest.fixture
def incrowd(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    return command


def put(path, lines):
    path.write_bytes(("\n".join(lines) + "\n").encode("latin-1"))


def test_a_german_file_is_inspected_released_and_verified(incrowd, tmp_path):
    put(tmp_path / "patienten.csv", [HEADER, *patients()])
    status, out, _ = incrowd("inspect", "patienten.csv", "--recipe", "recipe.yaml")
    told = " ".join(out.split())
    assert status == 0
    assert "read with encoding 'cp1252', decimal 'comma': guesses" in told
    assert "That '-', 'k.A.' mean missing is a guess. A release needs the recipe, or --missing - --missing k.A." in told
    recipe = yaml.safe_load((tmp_path / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["reading"] == {
        "delimiter": ";",
        "encoding": "cp1252",
        "header": True,
        "decimal": "comma",
        "missing": ["?", "*", "-", "k.A."],
    }
    assert {name: recipe["columns"][name]["type"] for name in ("Alter", "Kosten", "Aufnahme")} == {
        "Alter": "integer",
        "Kosten": "real",
        "Aufnahme": "date",
    }
    for name, role in ROLES.items():
        recipe["columns"][name]["role"] = role
    recipe |= {"class_sensitive": False, "k": 5}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe, allow_unicode=True), encoding="utf-8")
    status, out, err = incrowd(
        "release", "patienten.csv", "--recipe", "recipe.yaml", "--repeats", "leer", "--to", "out.csv"
    )
    assert status == 0, err
    assert "satisfies 5-anonymity" in out
    assert "guess" not in out
    released = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert released.height == 600
    assert released.columns == ["Alter", "Geschlecht", "Gr\u00f6\u00dfe", "Kosten", "Aufnahme", "Diagnose"]
    assert incrowd("verify", "out.csv")[0] == 0


def test_a_file_without_a_header_is_refused_with_both_ways_out(incrowd, tmp_path):
    put(tmp_path / "ohne.csv", patients())
    status, _, err = incrowd("inspect", "ohne.csv")
    assert status == 2
    assert "say --no-header, or give names: --names a,b,c. If it has one, say --header." in " ".join(err.split())
    assert "P00000" not in err
    status, out, _ = incrowd("inspect", "ohne.csv", "--no-header")
    assert status == 0
    assert "600 rows, 8 columns" in out
    names = HEADER.replace(";", ",")
    asked = ("-q", "Alter,Kosten", "--target", "Diagnose", "--identifiers", "Patientennr,leer", "--repeats", "leer")
    status, out, err = incrowd(
        *("release", "ohne.csv", "--names", names, "--missing", "k.A.", *asked, "--class-sensitive", "no", "-k", "5"),
        *("--to", "out.csv"),
    )
    assert status == 0, err
    assert "600 of 600 rows released" in out
    assert "The file was read with encoding 'cp1252', decimal 'comma': guesses." in " ".join(out.split())


@pytest.mark.slow
def test_a_cell_and_a_model_of_a_file_without_a_header(incrowd, tmp_path):
    rows = [f"{20 + at % 40},{'wm'[at % 2]},{'jn'[at % 40 > 20]}" for at in range(300)]
    put(tmp_path / "ohne.csv", rows)
    status, out, err = incrowd("hide", "ohne.csv", "--no-header", "--cell", "1:c3", "--to", "hidden.csv")
    assert status == 0, err
    hidden = (tmp_path / "hidden.csv").read_text().splitlines()
    assert (hidden[0], hidden[1][-1]) == ("c1,c2,c3", ",")
    assert hidden[2:] == rows[1:]
    asked = ("--target", "c3", "--public", "c1,c2", "-k", "20", "--no-header", "--to", "tree.json")
    status, out, err = incrowd("model", "ohne.csv", *asked)
    assert status == 0, err
    assert "satisfies 20-anonymity of spans" in out


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["39", "k.A.", "50"], ("k.A.",)),
        (["39", "999", "50"], ("999",)),
        (["390", "999", "500"], ()),
        (["3", "-9", "5"], ("-9",)),
        (["-3", "-9", "5"], ()),
        (["-", "-"], ()),
        (["cook", "n/a", "unknown", "nurse"], ("n/a", "unknown")),
        (["99", "999"], ()),
    ],
)
def test_words_that_may_mean_missing(cells, words):
    assert missing_words(Source(pl.DataFrame({"c": cells}), Origin("csv"))) == words


def test_only_texts_have_words_for_missing(tmp_path):
    pl.DataFrame({"a": [1, 999], "b": ["x", "n/a"]}).write_parquet(tmp_path / "t.parquet")
    assert missing_words(read(tmp_path / "t.parquet")) == ("n/a",)
