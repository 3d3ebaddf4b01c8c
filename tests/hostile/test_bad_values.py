"""Values and tables that are not what they seem: trust list 35 to 49, 51 to 61 and 63 to 67."""

from __future__ import annotations

import datetime as dt
import traceback

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import HeaderError, IncrowdError, SchemaError, ValuesError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import decode, encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

CANARY = "Zx9Canary"
MARKED = "a\u200bb"


def from_csv(folder, *cells, name="v"):
    path = folder / "t.csv"
    quoted = ['"' + cell.replace('"', '""') + '"' if cell else "" for cell in cells]
    path.write_text(f"{name},other\n" + "".join(f"{cell},x\n" for cell in quoted), "utf-8")
    return read(path)


def encoded(source, kind, role=Role.QUASI_IDENTIFIER, order=()):
    table, notices = encode(source, Schema((Column("v", role, kind, order),)), ["v"])
    assert all(CANARY not in str(notice) for notice in (*source.notices, *notices))
    return table["v"], {notice.code for notice in (*source.notices, *notices)}


def refusal(source, kind, role=Role.QUASI_IDENTIFIER, order=()):
    with pytest.raises(IncrowdError) as caught:
        encoded(source, kind, role, order)
    assert caught.value.exit_status == 2
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    return caught.value


# Cells, type, dictionary, codes of notices.
HANDLED = {
    "35-leading-zeros": (["01234", "1234"], "categorical", ["01234", "1234"], {"number-spellings"}),
    "36-literal-na": (["NA", "None", "null", "nan"], "categorical", ["NA", "None", "nan", "null"], set()),
    "37-beyond-2-53": (["9007199254740993", "9007199254740992"], "integer", [2**53, 2**53 + 1], set()),
    "37-largest": (["9223372036854775807", "-9223372036854775808"], "integer", [-(2**63), 2**63 - 1], set()),
    "38-beyond-2-64": (
        ["18446744073709551617", "1"],
        "integer",
        ["1", "18446744073709551617"],
        {"large-integers"},
    ),
    "39-nan-text": (["1.5", "NaN", "", "2.5"], "real", [1.5, 2.5], {"nan-is-missing"}),
    "41-negative-zero": (["-0.0", "0.0", "0", "5"], "real", [0.0, 5.0], {"number-spellings"}),
    "41-negative-zero-integer": (["-0", "0", "5"], "integer", [0, 5], {"number-spellings"}),
    "42-underflow": (["1e-400", "1"], "real", [0.0, 1.0], set()),
    "43-1-and-1.0-integer": (["1", "1.0", "2"], "integer", [1, 2], {"number-spellings"}),
    "43-1-and-1.0-real": (["1", "1.0", "2.5"], "real", [1.0, 2.5], {"number-spellings"}),
    "43-1-and-1.0-text": (["1", "1.0", "x"], "categorical", ["1", "1.0", "x"], {"number-spellings"}),
    "45-edge-spaces": (
        ["nurse", " nurse", "nurse\t", "cook"],
        "categorical",
        ["cook", "nurse"],
        {"edge-spaces"},
    ),
    "45-edge-spaces-number": ([" 7", "7", "8"], "integer", [7, 8], {"edge-spaces"}),
    "45-no-break-space": (["nurse\u00a0", "nurse", "x"], "categorical", ["nurse", "x"], {"edge-spaces"}),
    "45-only-spaces": (["    ", "x", "y"], "categorical", ["x", "y"], set()),
    "46-zero-width": ([MARKED, "ab", "c"], "categorical", ["ab", "c"], {"invisible-characters"}),
    "46-right-to-left": (["\u202eab", "ab", "c"], "categorical", ["ab", "c"], {"invisible-characters"}),
    "46-byte-order-mark": (["\ufeffab", "ab", "c"], "categorical", ["ab", "c"], {"invisible-characters"}),
    "47-nfc-nfd": (["caf\u00e9", "cafe\u0301", "x"], "categorical", ["caf\u00e9", "x"], {"composed"}),
    "48-case": (
        ["Nurse", "nurse", "NURSE", "x"],
        "categorical",
        ["NURSE", "Nurse", "nurse", "x"],
        {"case-variants"},
    ),
    "49-megabyte": (["x" * 1_000_000, "y"], "categorical", ["x" * 1_000_000, "y"], set()),
    "51-yes-true-1": (["Yes", "True", "1", "no"], "boolean", ["false", "true"], {"truth-spellings"}),
    "51-yes-true-text": (["Yes", "True", "0"], "categorical", ["0", "True", "Yes"], {"truth-spellings"}),
    "51-one-way": (["yes", "no", "yes"], "boolean", ["no", "yes"], set()),
    "54-29-february": (
        ["2020-02-29", "2000-02-29"],
        "date",
        [dt.date(2000, 2, 29), dt.date(2020, 2, 29)],
        set(),
    ),
    "54-year-1": (["0001-01-01", "9999-12-31"], "date", [dt.date(1, 1, 1), dt.date(9999, 12, 31)], set()),
    "54-day-first": (
        ["31/12/2003", "01/02/2003"],
        "date",
        [dt.date(2003, 2, 1), dt.date(2003, 12, 31)],
        set(),
    ),
    "54-time-of-day": (
        ["2020-01-01T10:00:00Z", "2020-01-02T00:00:00Z"],
        "date",
        [dt.date(2020, 1, 1), dt.date(2020, 1, 2)],
        {"time-of-day"},
    ),
    "56-suppressed": (["*", "nurse", "*", "cook"], "categorical", ["cook", "nurse"], {"already-suppressed"}),
    "56-question-mark": (["?", " ? ", "nurse", "cook"], "categorical", ["cook", "nurse"], {"missing-marker"}),
}


@pytest.mark.parametrize(("cells", "kind", "dictionary", "codes"), HANDLED.values(), ids=HANDLED)
def test_handled(tmp_path, cells, kind, dictionary, codes):
    column, told = encoded(from_csv(tmp_path, *cells, ""), ColumnType(kind))
    assert column.dictionary.to_list() == dictionary
    assert told == codes
    assert column.codes[-1] == column.missing_code
    assert (column.counts[:-1] > 0).all()


# Cells, type, what the message says.
REFUSED = {
    "40-infinite": (["1.5", "inf"], "real", "infinite"),
    "40-negative-infinity": (["1.5", "-Infinity"], "real", "infinite"),
    "42-overflow": (["1.5", "1e400"], "real", "beyond the range"),
    "44-words-among-numbers": (["1", CANARY], "integer", "1 distinct value (1 row) cannot"),
    "44-words-among-reals": (["1.5", CANARY, CANARY], "real", "1 distinct value (2 rows) cannot"),
    "44-decimals-among-integers": (["1", "1.5"], "integer", "1 distinct value"),
    "44-point-and-comma": (["1.5", "1,5"], "real", "1 distinct value"),
    "51-not-a-truth": (["yes", "no", CANARY], "boolean", "1 distinct value"),
    "52-two-digit-year": (["01/02/03"], "date", "could not be determined"),
    "52-day-or-month": (["01/02/2003", "03/04/2005"], "date", "could not be determined"),
    "52-two-styles": (["2003-02-01", "01.02.2003"], "date", "1 distinct value"),
    "53-mixed-time-zones": (["2020-01-01T10:00+01:00", "2020-01-02T10:00+02:00"], "date", "time zones"),
    "53-with-and-without-zone": (["2020-01-01T10:00Z", "2020-01-02T10:00"], "date", "time zones"),
    "54-no-such-day": (["2021-02-29", "2021-02-28"], "date", "1 distinct value"),
    "54-no-such-hour": (["2021-02-28T25:00", "2021-02-28"], "date", "1 distinct value"),
}


@pytest.mark.parametrize(("cells", "kind", "told"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, cells, kind, told):
    refused = refusal(from_csv(tmp_path, *cells), ColumnType(kind))
    assert isinstance(refused, ValuesError)
    assert "'v'" in str(refused)
    assert told in str(refused)


def test_35_and_37_survive_the_draft(tmp_path):
    zip_codes = from_csv(tmp_path, "01234", "10115")
    assert draft_schema(zip_codes)["v"].type is ColumnType.CATEGORICAL
    assert from_csv(tmp_path, "01234").frame["v"].to_list() == ["01234"]
    assert draft_schema(from_csv(tmp_path, "9007199254740992", "5"))["v"].type is ColumnType.INTEGER
    assert draft_schema(from_csv(tmp_path, "9007199254740993", "5"))["v"].type is ColumnType.TEXT
    assert draft_schema(from_csv(tmp_path, "18446744073709551617", "5"))["v"].type is ColumnType.TEXT


def test_36_missing_words_can_be_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("v,w\nNA,1\n5,2\n-9,?\n")
    source = read(path, missing=["NA", "-9"])
    assert source.frame.rows() == [(None, "1"), ("5", "2"), (None, "?")]
    assert [notice.code for notice in source.notices] == ["missing-marker", "missing-marker"]


@pytest.mark.parametrize("form", ["polars", "pandas", "pyarrow"])
def test_39_nan_and_null_are_one(form):
    values = [1.5, float("nan"), None, 2.5]
    frame = {
        "polars": lambda: pl.DataFrame({"v": values}),
        "pandas": lambda: pd.DataFrame({"v": pd.arrays.ArrowExtensionArray(pa.array(values))}),
        "pyarrow": lambda: pa.table({"v": values}),
    }[form]()
    column, told = encoded(read(frame), ColumnType.REAL)
    assert column.dictionary.to_list() == [1.5, 2.5]
    assert column.codes.tolist() == [0, 2, 2, 1]
    assert told == {"nan-is-missing"}


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf")])
def test_40_infinite_in_a_frame(infinite):
    assert "infinite" in str(refusal(read(pl.DataFrame({"v": [1.0, infinite]})), ColumnType.REAL))


def test_41_negative_zero_in_a_frame():
    column, _ = encoded(read(pl.DataFrame({"v": [-0.0, 0.0, 1.5]})), ColumnType.REAL)
    assert column.codes.tolist() == [0, 0, 1]
    assert str(column.dictionary[0]) == "0.0"


MIXED = {
    "int-and-text": [1, CANARY],
    "bool-and-int": [True, 2],
    "text-and-date": [CANARY, dt.date(2020, 1, 1)],
    "lists": [[CANARY], [1]],
    "objects": [object(), object()],
}


@pytest.mark.parametrize("values", MIXED.values(), ids=MIXED)
def test_44_mixed_types_in_a_frame(values):
    with pytest.raises(ValuesError) as caught:
        read(pd.DataFrame({"v": pd.Series(values, dtype=object)}))
    assert "'v'" in str(caught.value)
    assert CANARY not in "".join(traceback.format_exception(caught.value))


def test_55_unused_levels_are_dropped():
    frame = pd.DataFrame({"v": pd.Categorical(["b", "a", "b"], categories=[CANARY, "b", "a"])})
    source = read(frame)
    column, _ = encoded(source, ColumnType.CATEGORICAL)
    assert column.dictionary.to_list() == ["a", "b"]
    assert source.frame.schema == {"v": pl.String}


def test_55_unused_levels_of_an_order_are_dropped():
    kind = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    source = read(pd.DataFrame({"v": pd.Series(["high", "low"], dtype=kind)}))
    drafted = draft_schema(source)["v"]
    assert (drafted.type, drafted.order) == (ColumnType.ORDERED, ("low", "mid", "high"))
    column, _ = encoded(source, ColumnType.ORDERED, order=drafted.order)
    assert column.dictionary.to_list() == ["low", "high"]
    assert column.codes.tolist() == [1, 0]


def test_ordered_values_outside_the_order(tmp_path):
    refused = refusal(from_csv(tmp_path, "low", CANARY), ColumnType.ORDERED, order=("low", "high"))
    assert "missing from the declared order" in str(refused)
    assert isinstance(refusal(from_csv(tmp_path, "low"), ColumnType.ORDERED), SchemaError)


def test_57_all_missing_column(tmp_path):
    column, told = encoded(from_csv(tmp_path, "", "", ""), ColumnType.CATEGORICAL)
    assert told == {"all-missing"}
    assert column.codes.tolist() == [0, 0, 0]
    assert len(column.dictionary) == 0


@pytest.mark.parametrize("kind", ["integer", "real", "date", "boolean", "text"])
def test_57_all_missing_column_of_any_type(tmp_path, kind):
    column, told = encoded(from_csv(tmp_path, "", ""), ColumnType(kind))
    assert (len(column.dictionary), told) == (0, {"all-missing"})


def test_58_all_missing_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n,\n")
    source = read(path)
    assert source.frame.rows() == [("1", "2"), (None, None)]
    assert source.notices == ()


def test_58_blank_lines_of_a_single_column_are_missing(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n\n2\n")
    assert read(path).frame["a"].to_list() == ["1", None, "2"]


def test_59_constant_column(tmp_path):
    assert encoded(from_csv(tmp_path, "a", "a"), ColumnType.CATEGORICAL)[1] == {"constant"}


def test_60_unique_quasi_identifier(tmp_path):
    source = from_csv(tmp_path, "a", "b", "c")
    assert encoded(source, ColumnType.CATEGORICAL)[1] == {"unique-per-row"}
    assert encoded(source, ColumnType.CATEGORICAL, Role.TARGET)[1] == set()


def test_61_duplicate_rows_are_kept(tmp_path):
    column, told = encoded(from_csv(tmp_path, "a", "b", "a", "b"), ColumnType.CATEGORICAL)
    assert (column.counts.tolist(), told) == ([2, 2, 0], set())


def test_63_one_class(tmp_path):
    refused = refusal(from_csv(tmp_path, CANARY, CANARY), ColumnType.CATEGORICAL, Role.TARGET)
    assert isinstance(refused, SchemaError)
    assert "only one class" in str(refused)


def test_64_missing_class(tmp_path):
    column, told = encoded(from_csv(tmp_path, "a", "", "b"), ColumnType.CATEGORICAL, Role.TARGET)
    assert told == {"missing-class"}
    assert column.codes.tolist() == [0, 2, 1]


def test_65_no_quasi_identifier_can_be_seen(tmp_path):
    source = from_csv(tmp_path, "a", "b", name="patient_id")
    assert draft_schema(source, target="other").quasi_identifiers == ()


def test_66_quasi_identifier_that_is_sensitive(tmp_path):
    schema = draft_schema(from_csv(tmp_path, "a", "b"))
    with pytest.raises(SchemaError, match="cannot be both"):
        schema.with_roles(quasi_identifiers=["v"], sensitive=["v"])


def test_67_unknown_column(tmp_path):
    source = from_csv(tmp_path, CANARY, "b")
    for attempt in (
        lambda: encode(source, draft_schema(source), ["nowhere"]),
        lambda: encode(source, Schema((Column("nowhere"),)), ["nowhere"]),
        lambda: draft_schema(source, target="nowhere"),
    ):
        with pytest.raises(HeaderError, match="no column 'nowhere'") as caught:
            attempt()
        assert CANARY not in str(caught.value)


@pytest.mark.parametrize("kind", ["categorical", "text"])
def test_no_notice_tells_a_value(tmp_path, kind):
    spellings = (f" {CANARY}", CANARY.upper(), CANARY.lower(), "Zx9\u200bCanary\u00e9", f"{CANARY}e\u0301")
    source = from_csv(tmp_path, *spellings, "*", "?", "1", "1.0", "")
    _, notices = encode(source, Schema((Column("v", type=ColumnType(kind)),)), ["v"])
    told = [*source.notices, *notices]
    assert len({notice.code for notice in told}) >= 6
    assert not any("canary" in str(notice).lower() for notice in told)


def test_no_reason_of_a_draft_tells_a_value(tmp_path):
    cells = [[CANARY, "1"], [CANARY, f"{CANARY}2"], ["1", "2", "3", CANARY], ["01/02/03", "01/02/04"]]
    for values in cells:
        for column in draft_schema(from_csv(tmp_path, *values)).columns:
            assert CANARY not in column.reason


def test_values_come_back_as_they_were(tmp_path):
    source = from_csv(tmp_path, "01234", "", "NA", "1e5")
    column, _ = encoded(source, ColumnType.CATEGORICAL)
    assert decode(column, column.codes).to_list() == source.frame["v"].to_list()
