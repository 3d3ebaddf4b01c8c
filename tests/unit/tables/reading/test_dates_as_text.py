from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from incrowd.tables.reading.convert import parse_dates

DAY = dt.date(2003, 12, 31)


@pytest.mark.parametrize(
    "text",
    [
        "2003-12-31",
        "2003/12/31",
        "2003.12.31",
        "31.12.2003",
        "31/12/2003",
        "12/31/2003",
        "31-12-2003",
        "31 Dec 2003",
        "31-Dec-2003",
        "31 December 2003",
        "December 31, 2003",
        "2003-12-31T23:59:59.5+01:00",
        "2003-12-31 00:00",
    ],
)
def test_styles(text):
    dates = parse_dates(pl.Series([text, None]))
    assert dates.values.to_list() == [DAY, None]
    assert not dates.ambiguous
    assert not dates.mixed_zones


@pytest.mark.parametrize("texts", [["01/02/2003"], ["01-02-2003", "03-04-2003"], ["01/02/03"], ["31.12.99"]])
def test_ambiguous(texts):
    assert parse_dates(pl.Series(texts)).ambiguous


def test_one_reading_that_fits_all_decides():
    assert parse_dates(pl.Series(["01/02/2003", "31/01/2003"])).values.to_list() == [
        dt.date(2003, 2, 1),
        dt.date(2003, 1, 31),
    ]


def test_both_readings_may_agree():
    dates = parse_dates(pl.Series(["02/02/2003", "03/03/2003"]))
    assert not dates.ambiguous
    assert dates.values.to_list() == [dt.date(2003, 2, 2), dt.date(2003, 3, 3)]


@pytest.mark.parametrize("text", ["2021-02-29", "x", "2021-13-01", "2021-1-1T99:00", "31/31/2003"])
def test_not_dates(text):
    dates = parse_dates(pl.Series([text]))
    assert dates.values.to_list() == [None]
    assert not dates.ambiguous


@pytest.mark.parametrize(
    ("texts", "mixed"),
    [
        (["2020-01-01T10:00Z", "2020-01-02T10:00Z"], False),
        (["2020-01-01T10:00Z", "2020-01-02T10:00+01:00"], True),
        (["2020-01-01T10:00Z", "2020-01-02"], True),
        (["2020-01-01", "2020-01-02"], False),
    ],
)
def test_time_zones(texts, mixed):
    assert parse_dates(pl.Series(texts)).mixed_zones is mixed


def test_times_of_day():
    assert parse_dates(pl.Series(["2020-01-01T10:00"])).has_times
    assert not parse_dates(pl.Series(["2020-01-01T00:00:00.000Z", "2020-01-01T00:00Z"])).has_times
