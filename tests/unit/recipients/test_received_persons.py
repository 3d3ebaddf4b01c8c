"""What recipients of a linked release are told: pseudonyms, days since the first row, dates that do not fit."""

from __future__ import annotations

import datetime
import random

import polars as pl
import pytest
from sklearn.tree import DecisionTreeClassifier

import incrowd
from incrowd.errors import InputError
from incrowd.tables.options import Run

ASKED = {
    "quasi_identifiers": ["sex", "day"],
    "target": "ill",
    "person": "pid",
    "keep_link": True,
    "k": 3,
    "class_sensitive": False,
    "run": Run(seed=3),
}


def visits() -> pl.DataFrame:
    chance, rows = random.Random(2), []
    for person in range(60):
        day, sex = chance.randrange(300), chance.choice("fm")
        for number in range(chance.choice([1, 2, 4])):
            date = datetime.date(2020, 1, 1) + datetime.timedelta(days=day)
            rows.append((f"id{person}", sex, date, number, "y" if number else "n"))
            day += chance.randrange(1, 90)
    return pl.DataFrame(rows, schema=["pid", "sex", "day", "number", "ill"], orient="row")


VISITS = visits()
SINCE = "days since the person's first row"


@pytest.fixture(scope="module", params=[{}, {"known_rows": 1}], ids=["whole", "known"])
def received(request):
    made = incrowd.release(VISITS, **ASKED, **request.param, order="day")
    return incrowd.open_release(made.table, certificate=made.certificate)


def line(received, name):
    return next(line for line in received.describe().lines if line[0] == name)


def test_pseudonyms_and_days_are_described_as_what_they_are(received):
    assert line(received, "pid")[:3] == ("pid", "person", "pseudonym")
    assert line(received, "day")[2].endswith(SINCE)
    assert SINCE not in line(received, "sex")[2]
    assert line(received, "ill")[2] == "as it was"


def test_an_order_of_numbers_is_no_days():
    asked = ASKED | {"quasi_identifiers": ["sex", "number"], "drop": ["day"]}
    made = incrowd.release(VISITS, **asked, order="number")
    assert SINCE not in str(incrowd.open_release(made.table, certificate=made.certificate).describe())


@pytest.mark.parametrize("dates", [VISITS["day"], VISITS["day"].dt.strftime("%d.%m.%Y"), VISITS["day"].cast(str)])
def test_dates_where_days_were_released_are_refused(received, dates):
    tree, rows = received.classifier(DecisionTreeClassifier()), VISITS.with_columns(dates.alias("day"))
    for see in (tree.predict, received.encoder("linear").transform):
        with pytest.raises(
            InputError, match=f"'day' of these rows: no value can be read as a number.* {SINCE}"
        ) as told:
            see(rows)
        assert "2020" not in str(told.value)


def test_days_are_seen_and_so_are_missing_ones_and_released_rows(received):
    tree = received.classifier(DecisionTreeClassifier())
    days = (pl.col("day") - pl.col("day").min().over("pid")).dt.total_days()
    for rows in (VISITS.with_columns(days), VISITS.with_columns(day=None), received.X):
        assert len(tree.predict(rows)) == len(rows)


def test_words_in_a_column_of_numbers_are_refused_only_if_there_is_no_number():
    people = pl.DataFrame({"age": [30, 41, 56, 63] * 25, "ill": ["no", "no", "yes", "yes"] * 25})
    made = incrowd.release(people, quasi_identifiers=["age"], target="ill", class_sensitive=False, k=10)
    tree = incrowd.open_release(made.table, certificate=made.certificate).classifier(DecisionTreeClassifier())
    with pytest.raises(InputError, match=r"^Column 'age' of these rows: no value can be read as a number\.$"):
        tree.predict(pl.DataFrame({"age": ["old", "young", None]}))
    assert len(tree.predict(pl.DataFrame({"age": ["old", "30", None]}))) == 3


def test_dates_in_another_form_are_refused():
    people = pl.DataFrame({"born": [f"19{i % 60 + 20}-05-07" for i in range(100)], "ill": ["no", "yes"] * 50})
    made = incrowd.release(people, quasi_identifiers=["born"], target="ill", class_sensitive=False, k=10)
    tree = incrowd.open_release(made.table, certificate=made.certificate).classifier(DecisionTreeClassifier())
    assert len(tree.predict(people)) == 100
    with pytest.raises(InputError, match="no value can be read as a date, written YYYY-MM-DD"):
        tree.predict(pl.DataFrame({"born": ["07.05.1950"]}))
