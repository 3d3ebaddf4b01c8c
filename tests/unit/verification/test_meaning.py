"""What cells mean to the verification, written down a second time: it must agree with the reader of releases."""

import datetime as dt

import duckdb
import pyarrow as pa
import pytest

from incrowd.verification.meaning import CellMeaning, decide, decided, spellings
from incrowd.vocabulary.schema import ColumnType


def read(kind, cells, missing=("?", "*"), stored="VARCHAR"):
    """The cells of a column as the verification reads them."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register("cells", pa.table({"t": pa.array(cells)}))
    meaning = decide(connection, "cells", "t", CellMeaning(kind, stored, missing))
    return [row[0] for row in connection.execute(f"SELECT {meaning.value('t')} FROM cells").fetchall()]


def test_texts_lose_what_the_eye_does_not_see():
    cells = ["nurse", " nurse", "nurse\u200b", "\u00a0nurse\u3000", "re\u0301sume\u0301", "Nurse"]
    assert read(ColumnType.CATEGORICAL, cells) == ["nurse"] * 4 + ["r\u00e9sum\u00e9", "Nurse"]


def test_missing_is_one_value():
    cells = ["", " ", "?", " ?", "? ", " * ", "\u200b?", None, "NA"]
    assert read(ColumnType.CATEGORICAL, cells) == [None] * 8 + ["NA"]
    assert read(ColumnType.CATEGORICAL, cells, missing=("NA",))[2:] == ["?", "?", "?", "*", "?", None, None]


@pytest.mark.parametrize(
    ("cell", "number"),
    [("7", 7), ("007", 7), ("+7", 7), ("7.", 7), ("7.000", 7), (" 7 ", 7), ("-0", 0), ("7.5", None), ("1e3", None)],
)
def test_whole_numbers(cell, number):
    assert read(ColumnType.INTEGER, [cell]) == [number]


def test_numbers_with_points_or_commas():
    assert read(ColumnType.REAL, ["1.50", "2", "-0.0", "1e3", "nan", "x"]) == [1.5, 2.0, 0.0, 1000.0, None, None]
    assert read(ColumnType.REAL, ["1,50", "2"]) == [1.5, 2.0]
    assert read(ColumnType.REAL, ["1,50", "2.5"]) == [None, 2.5]  # both marks: the comma is none of a decimal


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-02-29", "2020-03-01"],
        ["2020-02-29T10:15:00Z", "2020-03-01"],
        ["29.2.2020", "01.03.2020"],
        ["29/02/2020", "1/3/2020"],
        ["02/29/2020", "3/1/2020"],
        ["29 Feb 2020", "1 Mar 2020"],
        ["February 29, 2020", "March 1, 2020"],
        ["2020/2/29", "2020/3/1"],
    ],
)
def test_dates_of_one_style(cells):
    assert read(ColumnType.DATE, [*cells, None]) == [dt.date(2020, 2, 29), dt.date(2020, 3, 1), None]


def test_words_for_yes_and_no():
    assert read(ColumnType.BOOLEAN, ["Yes", "no"]) == ["yes", "no"]
    assert read(ColumnType.BOOLEAN, ["Yes", "false", "0"]) == ["true", "false", "false"]


def test_columns_that_have_types():
    assert read(ColumnType.REAL, [1.5, float("nan"), -0.0], stored="DOUBLE") == [1.5, None, 0.0]
    assert read(ColumnType.CATEGORICAL, [1.0, 2.0, None], stored="DOUBLE") == ["1", "2", None]
    assert read(ColumnType.CATEGORICAL, [1.5, 2.0], stored="DOUBLE") == ["1.5", "2.0"]
    assert read(ColumnType.INTEGER, [1.0, 2.5], stored="DOUBLE") == [1, None]
    assert read(ColumnType.CATEGORICAL, [True, False], stored="BOOLEAN") == ["true", "false"]
    assert read(ColumnType.DATE, [dt.datetime(2020, 2, 29, 13)], stored="TIMESTAMP") == [dt.date(2020, 2, 29)]


def test_a_column_that_is_released_unchanged_stays_as_it_is():
    connection = duckdb.connect()
    meaning = CellMeaning(ColumnType.CATEGORICAL, missing=("?",))
    cells = [" a ", "?", " ?", "", "*", None]
    connection.register("cells", pa.table({"t": cells}))
    raw = [row[0] for row in connection.execute(f"SELECT {meaning.raw('t')} FROM cells").fetchall()]
    assert raw == [" a ", None, None, None, "*", None]


def test_spellings_have_one_space_at_most():
    assert set(spellings(["?"])) == {"", " ", "  ", "?", " ?", "? ", " ? "}


def test_decided_on_an_array_as_on_a_table():
    assert decided(pa.array(["31/12/2020", "01/01/2020"]), CellMeaning(ColumnType.DATE)).date == "%d/%m/%Y"
    assert decided(pa.array(["1,5"]), CellMeaning(ColumnType.REAL)).comma
