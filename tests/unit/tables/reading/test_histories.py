"""The rows of a person in order: days since the first row, what may order rows, and columns that hardly change."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.errors import HeaderError, SchemaError
from incrowd.tables.reading.persons import in_order
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_schema
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import ColumnType


def ordered(frame, **roles):
    columns = {"who": {"role": "person"}, "q": {"role": "quasi-identifier"}} | {
        name: {"role": role} for name, role in roles.items()
    }
    recipe = Recipe(k=2, columns=columns, keep_link=True, order="day")
    source = read(frame)
    schema, _ = settle_schema(source, recipe)
    return in_order(source, schema, recipe.persons)


def test_dates_are_days_since_the_first_row_of_the_person():
    """The worked example: 30, 30 and 32 days."""
    frame = pl.DataFrame(
        {
            "who": ["p", "p", "q", "q", "r", "r"],
            "day": ["2024-01-05", "2024-02-04", "2023-12-01", "2023-11-01", "2024-01-05", "2024-02-06"],
            "q": list("xyxyxy"),
        }
    )
    source, schema = ordered(frame, day="quasi-identifier")
    assert source.frame["day"].to_list() == [0, 30, 30, 0, 0, 32]
    assert schema["day"].type is ColumnType.INTEGER
    assert [str(notice) for notice in source.notices] == [
        "day: released as days since the person's first row, not as dates."
    ]


def test_a_missing_date_stays_missing_and_is_nobodys_first():
    frame = pl.DataFrame({"who": ["p", "p", "p"], "day": [None, "2024-01-08", "2024-01-01"], "q": list("xyx")})
    source, _ = ordered(frame, day="quasi-identifier")
    assert source.frame["day"].to_list() == [None, 7, 0]


def test_dates_of_frames_are_dates_too():
    frame = pl.DataFrame({"who": ["p", "p"], "day": ["2024-03-01", "2024-02-28"], "q": ["x", "y"]})
    source, _ = ordered(frame.with_columns(pl.col("day").str.to_date()), day="quasi-identifier")
    assert source.frame["day"].to_list() == [2, 0]


@pytest.mark.parametrize("role", ["identifier", "drop"])
def test_an_order_that_is_not_released_stays_as_it_is(role):
    frame = pl.DataFrame({"who": ["p", "p"], "day": ["2024-03-01", "2024-02-28"], "q": ["x", "y"]})
    source, schema = ordered(frame, day=role)
    assert not source.notices
    assert source.frame["day"].to_list() == frame["day"].to_list()
    assert schema["day"].type is ColumnType.DATE


def test_numbers_order_rows_as_they_are():
    frame = pl.DataFrame({"who": ["p", "p"], "day": [4, 2], "q": ["x", "y"]})
    source, _ = ordered(frame, day="quasi-identifier")
    assert (source.frame["day"].to_list(), source.notices) == ([4, 2], ())


@pytest.mark.parametrize("role", ["other", "sensitive", "target", "private"])
def test_an_order_that_is_released_unchanged_is_refused(role):
    frame = pl.DataFrame({"who": ["p", "p"], "day": ["2024-03-01", "2024-02-28"], "q": ["x", "y"]})
    with pytest.raises(SchemaError, match="tells persons apart"):
        ordered(frame, day=role)


def test_an_order_that_is_not_there_is_told():
    frame = pl.DataFrame({"who": ["p", "p"], "days": [1, 2], "q": ["x", "y"]})
    with pytest.raises(HeaderError, match="Did you mean 'days'"):
        ordered(frame, days="quasi-identifier")


def test_persons_say_how_they_are_followed():
    assert Persons("who").method is None
    assert Persons("who", linked=True).method == ("whole-histories", {})
    assert Persons("who", linked=True, known_rows=3, count_known=True).method == (
        "known-rows",
        {"rows": 3, "count": True},
    )
