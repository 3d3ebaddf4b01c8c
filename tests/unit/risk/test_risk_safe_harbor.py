"""The eighteen identifiers: each is found by name or content, and what was not looked at is said."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from incrowd.errors import HeaderError, ValuesError
from incrowd.risk.safe_harbor import (
    AGES,
    BIRTHS,
    DATES,
    IDENTIFIERS,
    PLACES,
    ZIP_CODES,
    ItemStanding,
    people_by_zip3,
    safe_harbor,
    this_year,
)
from incrowd.tables.recipe_checks import read_preset

PARTED = (ZIP_CODES, PLACES, DATES, BIRTHS, AGES)
PLAIN = pl.DataFrame({"sex": ["f", "m", "f"], "state": ["NY", "TX", "NY"], "score": [1.5, 2.25, 3.125]})


def item(frame, letter, people=None):
    return next(one for one in safe_harbor(frame, people) if one.letter == letter)


def with_column(name, values):
    return PLAIN.with_columns(pl.Series(name, values))


def test_there_are_eighteen_and_a_plain_table_has_none():
    items = safe_harbor(PLAIN)
    assert "".join(one.letter for one in items) == "ABCDEFGHIJKLMNOPQR"
    assert {one.standing for one in items} == {ItemStanding.NOT_FOUND, ItemStanding.NOT_NAMED}
    assert all("content not checked because" in one.note for one in items if one.standing is ItemStanding.NOT_NAMED)


@pytest.mark.parametrize(
    ("letter", "name"),
    [
        ("A", "Surname"),
        ("A", "patient_name"),
        ("B", "city"),
        ("B", "homeAddress"),
        ("D", "phone"),
        ("E", "fax_no"),
        ("F", "Email"),
        ("G", "SSN"),
        ("H", "MRN"),
        ("H", "medical_record_number"),
        ("H", "patient_id"),
        ("I", "insurance_number"),
        ("J", "IBAN"),
        ("K", "driver_license"),
        ("L", "license_plate"),
        ("M", "device_id"),
        ("N", "url"),
        ("O", "ip_address"),
        ("P", "fingerprint"),
        ("Q", "photo"),
        ("R", "uuid"),
    ],
)
def test_found_by_name(letter, name):
    found = item(with_column(name, ["x", "x", "y"]), letter)
    assert found.standing is ItemStanding.PRESENT
    assert [(one.column, one.why) for one in found.findings] == [(name, "the name suggests it")]


@pytest.mark.parametrize(
    ("letter", "value"),
    [
        ("D", "(212) 555-0187"),
        ("D", "call 212-555-0187 today"),
        ("D", "+49 30 1234567"),
        ("F", "see ann.lee@mail.example.org."),
        ("G", "078-05-1120"),
        ("N", "https://example.org/x"),
        ("N", "www.example.org"),
        ("O", "192.168.10.254"),
        ("O", "2001:db8::ff00:42:8329"),
        ("C", "2021-03-04"),
        ("C", "04.03.2021"),
        ("C", "3/4/21"),
        ("C", "2021-03"),
        ("C", "12 Mar 2020"),
        ("C", "(2019-03-01, 2019-06-01]"),
    ],
)
def test_found_by_content(letter, value):
    found = item(with_column("note", [value, "x", "x"]), letter)
    assert found.standing is ItemStanding.PRESENT
    assert [one.column for one in found.findings] == ["note"]
    assert value not in str(found)


@pytest.mark.parametrize(
    "value", ["(44, 64]", "2.5", "1999", "12-34", "1.2.3", "a@b", "2020.05", "care|teaching", "12345678901", "10:30"]
)
def test_ordinary_cells_are_not_taken_for_identifiers(value):
    frame = with_column("note", [value, value, "x"])
    assert [one.letter for one in safe_harbor(frame) if one.standing is ItemStanding.PRESENT] == []


def test_dates_years_and_names_that_say_date():
    assert item(with_column("seen", [dt.date(2020, 1, 1)] * 3), "C").findings[0].why.startswith("3 cells have a date")
    assert item(with_column("birth_date", [1950, 1951, None]), "C").standing is ItemStanding.NOT_FOUND
    odd = item(with_column("birth_date", ["spring", "1950", None]), "C")
    assert odd.findings[0].why == "the name suggests date, and 1 cell cannot be read as a year"


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([89, 90, 95], "2 rows are above 89"),
        (["30", "91", None], "1 row is above 89"),
        (["(84, inf)", "[20, 30)", "90+"], None),
        (["(90, 95]", "[20, 30)", None], "1 row with a bound above 90"),
        ([40, 50, 60], None),
        ([40, 90, 90], None),
    ],
)
def test_ages(values, why):
    found = item(with_column("age_at_visit", values), "C")
    assert [one.why for one in found.findings] == ([why] if why else [])


def test_years_of_birth_that_tell_a_great_age():
    oldest = this_year() - 90
    found = item(with_column("born", [oldest, oldest - 1, None]), "C")
    assert [one.why for one in found.findings] == ["1 row has a year of birth that tells an age above 89"]
    assert item(with_column("born", [oldest, oldest + 1, oldest]), "C").standing is ItemStanding.NOT_FOUND


@pytest.mark.parametrize("cell", ["(-inf, 2020]", "2019|2020", "2019:3|2020:1", "[2018, 2020)"])
def test_released_years_are_years(cell):
    assert item(with_column("visit_date", [cell, "2020", None]), "C").standing is ItemStanding.NOT_FOUND


def test_the_kinds_that_a_preset_may_name():
    known = set(read_preset("safe-harbor").kinds)
    assert known == {*(IDENTIFIERS[letter].title for letter in IDENTIFIERS if letter not in "BC"), *PARTED}


def test_zip_codes():
    assert item(with_column("zip", [10115, 12345, 12345]), "B").standing is ItemStanding.PRESENT
    assert item(with_column("where", ["01234", "12345", "12345-6789"]), "B").findings[0].column == "where"
    assert item(with_column("weight", ["12345", "54321", "11111"]), "B").standing is ItemStanding.NOT_FOUND
    full = item(with_column("zip", ["10100", "10115", "10117"]), "B")
    assert full.findings[0].why.startswith("3 cells are finer")


@pytest.mark.parametrize("values", [["101", "036", "101"], ["101**", "036XX", None], ["10100", "03600", "10100"]])
def test_three_digits_are_looked_up(values):
    frame = with_column("zip", values)
    assert item(frame, "B").findings[0].why.startswith("1 cell shows three digits of a ZIP code that 20,000 people")
    assert item(frame.with_columns(zip=pl.lit("101")), "B").standing is ItemStanding.NOT_FOUND
    assert item(frame, "B", {"101": 90_000, "036": 20_001}).standing is ItemStanding.NOT_FOUND
    assert item(frame, "B", {"101": 90_000, "036": 20_000}).standing is ItemStanding.PRESENT
    lacking = item(frame, "B", {"101": 90_000})
    assert lacking.standing is ItemStanding.NOT_CHECKED
    assert "1 cell with three digits that the list lacks" in lacking.note


def test_zeros_stand_for_small_areas():
    assert item(with_column("zip", ["000", "000", "101"]), "B", {"101": 50_000}).standing is ItemStanding.NOT_FOUND


def test_the_list_of_areas():
    assert people_by_zip3(pl.DataFrame({"zip3": [36, 101], "population": [5, 6]})) == {"036": 5, "101": 6}
    with pytest.raises(HeaderError, match="population"):
        people_by_zip3(pl.DataFrame({"zip3": ["036"]}))
    with pytest.raises(ValuesError, match="three digits"):
        people_by_zip3(pl.DataFrame({"zip3": ["secret"], "population": [1]}))
    with pytest.raises(ValuesError, match="whole number"):
        people_by_zip3(pl.DataFrame({"zip3": ["036"], "population": ["many"]}))


def test_a_value_of_its_own_for_every_row_is_a_code():
    found = item(with_column("key", ["a7", "b9", "c1"]), "R")
    assert found.findings[0].why == "every row has a value of its own"
    assert item(with_column("key", ["a7", "b9", None]), "R").standing is ItemStanding.NOT_FOUND
    assert item(PLAIN, "R").standing is ItemStanding.NOT_FOUND


def test_empty_columns_hold_nothing():
    empty = PLAIN.with_columns(pl.lit(None, pl.String).alias("email"), pl.lit(None, pl.String).alias("city"))
    assert [one.letter for one in safe_harbor(empty) if one.standing is ItemStanding.PRESENT] == []
