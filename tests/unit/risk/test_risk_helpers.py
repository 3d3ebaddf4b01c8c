"""Small functions of the risk room, each on values that can be reckoned by hand."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.risk.assessment import measure_risk, released_as
from incrowd.risk.attackers import ShareInterval, _halvings
from incrowd.risk.safe_harbor import IDENTIFIERS, fine_dates, great_ages, place_in, words_of
from incrowd.risk.telling import headline


def test_a_column_may_be_released_as_two():
    assert released_as("age", ["age_low", "age_high"]) == ("age_low", "age_high")
    assert released_as("age", ["age"]) == ("age",)


def test_an_identifier_is_known_by_its_words():
    assert [IDENTIFIERS["H"].is_named_by(name) for name in ("Medical_Record_No", "medicine")] == [True, False]
    assert (words_of("dateOfBirth_2"), words_of("ZIP5")) == (["date", "of", "birth"], ["zip5"])


@pytest.mark.parametrize(
    ("judge", "column", "findings"),
    [
        (fine_dates, pl.Series("seen", ["2020-03", "2021"]), ["1 cell has a date finer than a year"]),
        (fine_dates, pl.Series("born", ["1950"]), []),
        (great_ages, pl.Series("age", [89, 90, 91]), ["2 rows are above 89"]),
        (great_ages, pl.Series("age", ["(84, inf)"]), []),
    ],
)
def test_dates_and_ages_that_are_too_fine(judge, column, findings):
    assert list(judge(column)) == findings


def test_places_that_are_too_small():
    assert place_in(pl.Series("zip", ["01234"]), None).finding == "1 cell is finer than three digits of a ZIP code"
    small = "1 cell shows three digits of a ZIP code that 20,000 people or fewer share"
    assert place_in(pl.Series("zip", ["012", "036"]), {"012": 50_000, "036": 9_000}).finding == small


def test_the_headline_counts_unique_rows():
    risk = measure_risk(pl.DataFrame({"age": [30, 30, 41]}), quasi_identifiers=["age"])
    assert headline(risk) == "a polars table: 1 of 3 rows is unique in its quasi-identifiers (33.3 %)"


def test_a_share_has_its_interval():
    assert str(ShareInterval(0.5, 0.4, 0.6)) == "50.0 % (40.0 to 60.0)"


def test_columns_are_halved_in_every_way_where_there_are_few():
    assert _halvings(3) == [(0,), (1,), (2,)]
    assert _halvings(4) == [(0, 1), (0, 2), (0, 3)]
    assert (len(_halvings(8)), len(_halvings(9))) == (35, 1)
