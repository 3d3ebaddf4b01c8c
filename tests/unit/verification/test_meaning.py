"""What cells mean to the verification, written down a second time: it must agree with the reader of releases."""

import datetime as dt
from dataclasses import replace
from unicodedata import normalize

import pyarrow as pa
import pytest

from incrowd.verification import meaning as module
from incrowd.verification.meaning import CellMeaning, decide, decided, spellings
from incrowd.verification.opening import connect
from incrowd.vocabulary.schema import ColumnType


def read(kind, cells, missing=("?", "*"), stored="VARCHAR"):
    """The cells of a column as the verification reads them."""
    connection = connect()
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
    connection = connect()
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


def asked(expression, cells, kind=None):
    """What an expression over ``t`` makes of each cell."""
    with connect(threads=1) as connection:
        connection.register("cells", pa.table({"t": pa.array(cells, kind), "place": range(len(cells))}))
        return [row[0] for row in connection.execute(f"SELECT {expression} FROM cells ORDER BY place").fetchall()]


SPACES = [*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
INVISIBLE = [0xAD, 0x61C, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), 0x2060, *range(0x2066, 0x206A), 0xFEFF]
SEEN = [0x8, 0xE, 0x1F, 0x21, 0x84, 0x86, 0x9F, 0xA1, 0x167F, 0x1681, 0x1FFF, 0x200C, 0x2027, 0x2030, 0x205E, 0x3001]


def test_every_space_is_trimmed_and_nothing_else():
    value = CellMeaning(ColumnType.CATEGORICAL).value("t")
    assert asked(value, [f"{chr(space)}a b{chr(space)}" for space in SPACES]) == ["a b"] * len(SPACES)
    within = [f"a{chr(space)}b" for space in SPACES]
    assert asked(value, within) == [normalize("NFC", text) for text in within]
    assert asked(value, [f"a{chr(letter)}b" for letter in INVISIBLE]) == ["ab"] * len(INVISIBLE)
    seen = [f"{chr(letter)}a" for letter in SEEN]
    assert asked(value, seen) == seen


def test_a_word_for_missing_may_have_spaces_of_its_own():
    cells = ["- -", " - ", "-", "  -  ", "x", "", "\u200b"]
    meaning = CellMeaning(ColumnType.CATEGORICAL, missing=(" - ", "x"))
    assert asked(meaning.value("t"), cells) == ["- -", None, "-", None, None, None, None]
    assert asked(meaning.raw("t"), cells) == ["- -", None, "-", None, None, None, "\u200b"]
    assert asked(CellMeaning(ColumnType.REAL, "DOUBLE", ("1.0",)).raw("t"), [1.0, None]) == [1.0, None]


STRANGE = {
    "whole numbers": (CellMeaning(ColumnType.INTEGER), ["7", "007", "7.0", "7.5", "x", "", "?", None], "00011000"),
    "drafted whole numbers": (
        CellMeaning(ColumnType.INTEGER, drafted=True),
        ["7", "007", "0", "00", "x", "", "7.0", "10", None],
        "010110000",
    ),
    "real numbers": (CellMeaning(ColumnType.REAL), ["1.5", "nan", "NaN", "x", "1,5", "007", "", None], "00011000"),
    "drafted real numbers": (CellMeaning(ColumnType.REAL, drafted=True), ["007.5", "007", "nan", "x"], "0001"),
    "real numbers with commas": (CellMeaning(ColumnType.REAL, comma=True), ["1,5", "1,5,5", "nan", "7"], "0100"),
    "dates": (CellMeaning(ColumnType.DATE), ["2020-02-29", "2020-02-30", "29.2.2020", "", None], "01100"),
    "truth": (CellMeaning(ColumnType.BOOLEAN, words=True), ["yes", "OFF", "maybe", None], "0010"),
    "texts": (CellMeaning(ColumnType.CATEGORICAL, drafted=True), ["007", "x", "", None], "0000"),
}


@pytest.mark.parametrize(("meaning", "cells", "strange"), STRANGE.values(), ids=STRANGE)
def test_a_cell_is_strange_if_it_is_nothing_of_the_type(meaning, cells, strange):
    meaning = replace(meaning, missing=("?",))
    assert asked(meaning.is_strange("t"), cells, pa.string()) == [flag == "1" for flag in strange]


def test_without_a_look_at_the_column_nothing_is_taken_for_granted():
    assert asked(CellMeaning(ColumnType.REAL).value("t"), ["1,5", "1.5"]) == [None, 1.5]
    assert asked(CellMeaning(ColumnType.INTEGER).is_strange("t"), ["007", "x"]) == [False, True]
    assert asked(CellMeaning(ColumnType.REAL).value("t") + "::VARCHAR", ["-0.0", "-1"]) == ["0.0", "-1.0"]
    assert asked(CellMeaning(ColumnType.BOOLEAN).value("t"), ["Yes", "T", "on"]) == ["yes", "t", "on"]
    assert asked(CellMeaning(ColumnType.CATEGORICAL, "DOUBLE").value("t"), [1.0, 2.5]) == ["1.0", "2.5"]
    assert asked(CellMeaning(ColumnType.DATE).value("t"), ["2020-02-29", "29.2.2020"]) == [dt.date(2020, 2, 29), None]


@pytest.mark.parametrize(
    ("cells", "whole"),
    [
        ([1.0, 2.0], True),
        ([1.0, None, float("nan")], True),
        ([1.0, 2.5], False),
        ([float(2**53)], True),
        ([-float(2**53)], True),
        ([float(2**53) * 2], False),
        ([float("inf"), 1.0], False),
        ([float("nan"), 0.5], False),
    ],
)
@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_real_numbers_are_whole_throughout_or_not(cells, whole, kind):
    typed = pa.array(cells, pa.float64() if kind == "DOUBLE" else pa.float32())
    assert decided(typed, CellMeaning(ColumnType.CATEGORICAL, kind)).whole is whole


@pytest.mark.parametrize(
    ("cells", "comma"),
    [
        (["1,5"], True),
        (["1,5", "2"], True),
        (["1,5", None, "?"], True),
        (["1,5", "2.5"], False),
        (["1,5", "a.b"], False),
        (["1", "2"], False),
        (["1,5,5"], False),
        ([None], False),
        ([], False),
    ],
)
def test_a_comma_is_one_of_decimals_where_no_point_is(cells, comma):
    assert decided(pa.array(cells, pa.string()), CellMeaning(ColumnType.REAL, missing=("?",))).comma is comma


STYLES = {
    "%Y/%m/%d": ["2020/2/29", "2020/12/01"],
    "%Y.%m.%d": ["2020.2.29", "2020.12.01"],
    "%d.%m.%Y": ["29.2.2020", "01.12.2020"],
    "%d/%m/%Y": ["29/2/2020", "01/12/2020"],
    "%m/%d/%Y": ["2/29/2020", "12/01/2020"],
    "%d-%m-%Y": ["29-2-2020", "01-12-2020"],
    "%m-%d-%Y": ["2-29-2020", "12-01-2020"],
    "%d %b %Y": ["29 Feb 2020", "1 Dec 2020"],
    "%d-%b-%Y": ["29-Feb-2020", "1-Dec-2020"],
    "%d %B %Y": ["29 February 2020", "1 December 2020"],
    "%B %d, %Y": ["February 29, 2020", "December 1, 2020"],
}


@pytest.mark.parametrize("style", STYLES)
def test_dates_have_the_style_that_fits_them_all(style):
    days = [dt.date(2020, 2, 29), None, dt.date(2020, 12, 1)]
    cells = [STYLES[style][0], None, STYLES[style][1]]
    meaning = decided(pa.array(cells), CellMeaning(ColumnType.DATE))
    assert meaning.date == style
    assert asked(meaning.value("t"), cells) == days


@pytest.mark.parametrize(
    "cells",
    [[], [None], ["2020-02-29"], ["29.2.2020", "2020-02-29"], ["29.2.2020", "2/29/2020"], ["30/30/2020"], ["x"]],
)
def test_other_dates_are_iso_or_none(cells):
    assert decided(pa.array(cells, pa.string()), CellMeaning(ColumnType.DATE)).date == ""


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (["yes", "NO"], False),
        (["yes"], False),
        (["1", "0", None, "?"], False),
        ([None], False),
        (["yes", "n"], True),
        (["yes", "no", "maybe"], True),
        (["true", "0"], True),
    ],
)
def test_words_of_one_kind_stay_and_those_of_several_are_one(cells, words):
    assert decided(pa.array(cells, pa.string()), CellMeaning(ColumnType.BOOLEAN, missing=("?",))).words is words


def test_every_word_for_yes_and_no():
    value = CellMeaning(ColumnType.BOOLEAN, words=True).value("t")
    assert asked(value, ["yes", "Y", "true", "t", "1", "on"]) == ["true"] * 6
    assert asked(value, ["no", "N", "false", "f", "0", "OFF"]) == ["false"] * 6
    assert asked(value, ["maybe"]) == [None]


KINDS = {
    "VARCHAR": True,
    "ENUM('a')": True,
    "DECIMAL(9,2)": True,
    "TIME": True,
    "UBIGINT": True,
    "HUGEINT": True,
    "UHUGEINT": True,
    "TIMESTAMP": False,
    "TIMESTAMP WITH TIME ZONE": False,
    "BIGINT": False,
    "DOUBLE": False,
    "DATE": False,
    "BOOLEAN": False,
}


def test_some_types_are_read_by_their_text():
    assert {kind: CellMeaning(ColumnType.CATEGORICAL, kind).by_text for kind in KINDS} == KINDS


@pytest.mark.parametrize(
    ("kind", "stored", "cells", "meant"),
    [
        (ColumnType.INTEGER, "BIGINT", [7, None], [7, None]),
        (ColumnType.REAL, "BIGINT", [7, None], [7.0, None]),
        (ColumnType.CATEGORICAL, "BIGINT", [7, None], ["7", None]),
        (ColumnType.INTEGER, "DOUBLE", [7.0, 7.5, float("nan")], [7, None, None]),
        (ColumnType.REAL, "FLOAT", pa.array([0.5, None, -0.0], pa.float32()), [0.5, None, 0.0]),
        (ColumnType.CATEGORICAL, "DOUBLE", [7.0, float("nan"), None], ["7", None, None]),
        (ColumnType.CATEGORICAL, "DOUBLE", [-0.0, 0.5], ["0.0", "0.5"]),
        (ColumnType.DATE, "DATE", [dt.date(2020, 2, 29), None], [dt.date(2020, 2, 29), None]),
        (ColumnType.BOOLEAN, "BOOLEAN", [True, None], ["true", None]),
        (ColumnType.CATEGORICAL, "TIME", [dt.time(1, 2, 3)], ["01:02:03"]),
    ],
)
def test_columns_of_other_types(kind, stored, cells, meant):
    found = read(kind, cells, stored=stored)
    assert found == meant
    assert [str(each) for each in found] == [str(each) for each in meant]


def test_one_thread_looks_at_an_array(monkeypatch):
    told = []
    monkeypatch.setattr(module, "connect", lambda **given: told.append(given) or connect(**given))
    assert decided(pa.array(["x"]), CellMeaning(ColumnType.CATEGORICAL)) == CellMeaning(ColumnType.CATEGORICAL)
    assert told == [{"threads": 1}]


def test_nothing_else_is_decided():
    for kind in (ColumnType.CATEGORICAL, ColumnType.INTEGER):
        assert decided(pa.array(["1,5", "2.0"]), CellMeaning(kind)) == CellMeaning(kind)
    for stored, cells in (("BIGINT", [1]), ("BOOLEAN", [True])):
        meaning = CellMeaning(ColumnType.CATEGORICAL, stored)
        assert decided(pa.array(cells), meaning) == meaning
