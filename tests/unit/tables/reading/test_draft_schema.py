from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from incrowd.api import release
from incrowd.tables.reading.draft import draft_schema, role_by_name
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.schema import ColumnType, Role


def drafted(values, name="v", dtype=None):
    frame = pl.DataFrame({name: pl.Series(values, dtype=dtype), "w": ["x"] * len(values)})
    return draft_schema(Source(frame, Origin("csv")))[name]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2", None], "integer"),
        (["+1", "-2"], "integer"),
        ([" 1", "2"], "integer"),
        (["0", "10", "5"], "integer"),
        (["01234", "10115"], "categorical"),
        (["1.5", "2"], "real"),
        (["1e3", "2"], "real"),
        (["1,5", "2"], "real"),
        (["1,500", "2,250"], "categorical"),
        (["99999999999999999999", "1"], "text"),
        (["9007199254740993", "1"], "text"),
        (["9007199254740992", "-9007199254740992"], "integer"),
        (["yes", "no", "yes"], "boolean"),
        (["1", "0"], "boolean"),
        (["T", "f", "T"], "boolean"),
        (["2020-01-01", "2021-12-31"], "date"),
        (["31.12.2020", "01.01.2021"], "date"),
        (["01/02/03", "02/03/04"], "categorical"),
        (["a", "b", "a"], "categorical"),
        (["1", "2", "NA"], "categorical"),
        ([None, None], "categorical"),
        ([f"text {i}" for i in range(60)], "text"),
    ],
)
def test_types_of_text(values, kind):
    assert drafted(values, dtype=pl.String).type is ColumnType(kind)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2], "integer"),
        ([1, 2**53], "integer"),
        ([None, -(2**53) - 1], "text"),
        ([1.0, None, float("nan")], "integer"),
        ([1.5, None], "real"),
        ([True, None], "boolean"),
        ([dt.date(2020, 1, 1)], "date"),
        ([dt.datetime(2020, 1, 1, 10)], "date"),
        ([dt.time(10)], "categorical"),
    ],
)
def test_types_of_values(values, kind):
    assert drafted(values).type is ColumnType(kind)


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("ssn", Role.IDENTIFIER),
        ("patient_id", Role.IDENTIFIER),
        ("PatientID", Role.IDENTIFIER),
        ("E-mail address", Role.IDENTIFIER),
        ("Phone", Role.IDENTIFIER),
        ("lastName", Role.IDENTIFIER),
        ("Patientennr", Role.IDENTIFIER),
        ("Nachname", Role.IDENTIFIER),
        ("Stra\u00dfe", Role.IDENTIFIER),
        ("pr\u00e9nom", Role.IDENTIFIER),
        ("Tel\u00e9fono m\u00f3vil", Role.IDENTIFIER),
        ("age", Role.QUASI_IDENTIFIER),
        ("Geburtsdatum", Role.QUASI_IDENTIFIER),
        ("Gr\u00f6\u00dfe (cm)", Role.QUASI_IDENTIFIER),
        ("code_postal", Role.QUASI_IDENTIFIER),
        ("Einkommen", Role.SENSITIVE),
        ("diagn\u00f3stico", Role.SENSITIVE),
        ("date_of_birth", Role.QUASI_IDENTIFIER),
        ("Sex", Role.QUASI_IDENTIFIER),
        ("ZIP", Role.QUASI_IDENTIFIER),
        ("post code", Role.QUASI_IDENTIFIER),
        ("ethnicity", Role.QUASI_IDENTIFIER),
        ("native-country", Role.QUASI_IDENTIFIER),
        ("diagnosis", Role.SENSITIVE),
        ("annual_salary", Role.SENSITIVE),
        ("paid", None),
        ("wagon", None),
        ("x7", None),
    ],
)
def test_roles_by_name(name, role):
    assert role_by_name(name) is role


def roles(frame, **options):
    return {column.name: column.role for column in draft_schema(Source(frame, Origin("csv")), **options).columns}


def test_unique_columns_are_identifiers():
    frame = pl.DataFrame({"v": [f"n{i}" for i in range(9)], "w": [i / 7 for i in range(9)], "x": ["a"] * 9})
    assert roles(frame) == {"v": Role.IDENTIFIER, "w": Role.QUASI_IDENTIFIER, "x": Role.QUASI_IDENTIFIER}


def test_target_by_name_place_or_word():
    frame = pl.DataFrame({"class": ["a", "b"] * 3, "age": range(6), "last": ["x", "y"] * 3})
    assert roles(frame)["class"] is Role.TARGET
    assert roles(frame)["last"] is Role.QUASI_IDENTIFIER
    assert roles(frame.drop("class"))["last"] is Role.TARGET
    assert roles(frame, target="age")["age"] is Role.TARGET
    assert roles(frame, target="age")["class"] is Role.QUASI_IDENTIFIER


def test_the_last_column_is_no_target_if_it_is_something_else():
    frame = pl.DataFrame({"v": ["a", "b"] * 3, "sex": ["f", "m"] * 3})
    assert Role.TARGET not in roles(frame).values()


def test_reasons_ask():
    frame = pl.DataFrame({"v": [f"n{i}" for i in range(9)], "zip": ["01234"] * 9, "class": ["a", "b", "c"] * 3})
    reasons = [column.reason for column in draft_schema(Source(frame, Origin("csv"))).columns]
    assert reasons == [
        "9 distinct values; unique per row: identifier?",
        "digits with leading zeros: a code, not a number; the name suggests quasi-identifier?",
        "3 distinct values; the name suggests target?",
    ]


def test_drafts_are_repeatable():
    values = [str(i % 1500) if i % 3 else f"w{i % 700}" for i in range(9000)]
    frame = pl.DataFrame({"v": values, "w": list(reversed(values))})
    first = draft_schema(Source(frame, Origin("csv")))
    assert all(draft_schema(Source(frame, Origin("csv"))) == first for _ in range(5))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1.50", "2.00", None], "real"),
        (["1.00", "2.00", None], "integer"),
        (["12345678901234567890.00", "12345678901234567890.01"], "real"),
    ],
)
def test_exact_numbers_with_fractions_are_real(values, kind):
    exact = pl.Series(values).str.to_decimal(scale=2)
    assert drafted(exact, dtype=exact.dtype).type == kind
    repeated = pl.concat([exact] * 50)
    assert drafted(repeated, dtype=exact.dtype).type == kind


@pytest.mark.parametrize("large", [0, 10**9])
def test_exact_numbers_are_released_as_numbers(large, tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.rows.one_machine._CELLS", large)
    exact = pl.Series("cost", [f"{i}.{i % 4 * 25:02d}" for i in range(40)] * 5).str.to_decimal(scale=2)
    pl.DataFrame([exact, pl.Series("ill", ["y", "n"] * 100)]).write_parquet(tmp_path / "costs.parquet")
    made = release(tmp_path / "costs.parquet", quasi_identifiers=["cost"], target="ill", k=5)
    assert made.plan.schema["cost"].type is ColumnType.REAL
    assert made.verdict.passed
