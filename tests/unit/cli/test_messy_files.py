"""The whole way of a careful person with a messy file, from the command line: inspect, release, verify."""

from __future__ import annotations

import datetime as dt
import random

import openpyxl
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


def put_workbook(path, rows=300):
    """A cover, a sheet with a title above its table, empty rows and columns, ages and days with words among them."""
    draw, book = random.Random(7), openpyxl.Workbook()
    book.active.title = "Deckblatt"
    sheet = book.create_sheet("Patienten")
    sheet["B2"] = "Aufnahmen 2021"
    sheet.merge_cells("B2:H2")
    names = ["Patientennr", "Alter", "Geschlecht", "Aufnahme", None, "Kosten", "Raucher", "Diagnose"]
    cells = [names] + [[]] * (rows // 100)
    for number in range(rows):
        age = draw.randint(18, 90)
        day = dt.datetime(2021, draw.randint(1, 12), draw.randint(1, 28))
        cost = draw.choice([round(draw.uniform(10, 900), 2)] * 9 + ["#N/A"])
        known = [f"P{number:05d}", draw.choice([age] * 9 + [str(age)] * 5 + ["k.A."]), draw.choice("wm")]
        known += [draw.choice([day] * 15 + ["unbekannt"]), None, cost, draw.random() < 0.3]
        cells.insert(draw.randint(1, len(cells)), [*known, draw.choice(["Grippe", "Asthma", "Fraktur"])])
    for number, row in enumerate(cells, 4):
        for place, value in enumerate(row, 2):
            sheet.cell(number, place, value)
    sheet["Z900"].number_format = "0.00"
    for row in (["Code", "Bedeutung"], ["w", "weiblich"]):
        (book["Codes"] if "Codes" in book.sheetnames else book.create_sheet("Codes")).append(row)
    book.save(path)


def test_a_workbook_of_several_sheets_is_inspected_released_and_verified(incrowd, tmp_path):
    put_workbook(tmp_path / "klinik.xlsx")
    status, _, err = incrowd("inspect", "klinik.xlsx")
    assert status == 2
    told = " ".join(err.split())
    assert "'Deckblatt', was read. The sheet is empty." in told
    assert told.endswith("For another: --sheet Patienten, --sheet Codes")
    status, _, err = incrowd("inspect", "klinik.xlsx", "--sheet", "Patienten")
    assert status == 2
    assert "Row 2 of the sheet does not name all columns. If the names are in row 4, say --header-row 4." in err
    where = ("--sheet", "Patienten", "--header-row", "4")
    status, out, err = incrowd("inspect", "klinik.xlsx", *where, "--recipe", "recipe.yaml")
    assert (status, err) == (0, "")
    told = " ".join(out.split())
    assert "300 rows, 7 columns" in told
    assert "1 column without a name and without a cell is left out." in told
    assert "3 rows without a cell are left out." in told
    assert "Alter, Aufnahme: cells of several types, such as text and numbers, are read as text." in told
    assert "That 'k.A.', 'unbekannt' mean missing is a guess." in told
    recipe = yaml.safe_load((tmp_path / "recipe.yaml").read_text(encoding="utf-8"))
    assert recipe["reading"] == {
        "sheet": "Patienten",
        "header_row": 4,
        "missing": ["?", "*", "k.A.", "unbekannt"],
    }
    assert {name: settings["type"] for name, settings in recipe["columns"].items()} == {
        "Patientennr": "text",
        "Alter": "integer",
        "Geschlecht": "categorical",
        "Aufnahme": "date",
        "Kosten": "real",
        "Raucher": "boolean",
        "Diagnose": "categorical",
    }
    for name, role in (("Patientennr", "identifier"), ("Diagnose", "target")):
        recipe["columns"][name]["role"] = role
    recipe |= {"class_sensitive": False, "k": 5}
    (tmp_path / "recipe.yaml").write_text(yaml.safe_dump(recipe, allow_unicode=True), encoding="utf-8")
    status, out, err = incrowd("release", "klinik.xlsx", "--recipe", "recipe.yaml", "--to", "out.xlsx")
    assert (status, err) == (0, "")
    assert "satisfies 5-anonymity" in out
    assert "300 of 300 rows released" in out
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").worksheets
    assert [cell.value for cell in sheet[0][1]] == [
        *("Alter", "Geschlecht", "Aufnahme", "Kosten", "Raucher", "Diagnose"),
    ]
    assert (len(sheet), sheet[0].max_row) == (1, 301)
    assert incrowd("verify", "out.xlsx")[0] == 0


def test_a_sheet_without_names_is_refused_with_both_ways_out(incrowd, tmp_path):
    book = openpyxl.Workbook()
    for number in range(40):
        book.active.append([number % 4 + 30, "wm"[number % 2], "jn"[number % 3 == 0]])
    book.save(tmp_path / "ohne.xlsx")
    status, _, err = incrowd("inspect", "ohne.xlsx")
    assert status == 2
    assert "The first row of the sheet looks like a row" in " ".join(err.split())
    asked = ("-q", "a,s", "--target", "c", "--class-sensitive", "no", "-k", "5", "--names", "a,s,c", "--method", "tdr")
    status, out, err = incrowd("release", "ohne.xlsx", *asked, "--to", "out.xlsx")
    assert (status, err) == (0, "")
    assert "40 of 40 rows released" in out


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
