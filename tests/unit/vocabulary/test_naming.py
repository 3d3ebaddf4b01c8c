"""What cells name, and how many people that is true of."""

import datetime

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.naming import Naming, check_rarest
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
)
from incrowd.vocabulary.schema import ColumnType


def column(kind, dictionary, codes):
    return EncodedColumn("x", kind, np.array(codes, np.int32), pl.Series(dictionary))


JOBS = column(ColumnType.CATEGORICAL, ["cook", "nurse", "pope"], [0, 0, 0, 1, 1, 2, 3])
AGES = column(ColumnType.INTEGER, [20, 30, 40], [0, 0, 0, 1, 2, 2, 3])
DAYS = column(ColumnType.DATE, [datetime.date(1970, 1, 2), datetime.date(1970, 1, 5)], [0, 1, 1])


@pytest.mark.parametrize(
    ("form", "fewest"),
    [
        (Shown("cook"), 3),
        (ValueSet(("cook", "nurse")), 2),
        (ValueSet(("cook", "pope")), 1),
        (Counts((("cook", 3), (None, 1))), 1),
        (Shown("nobody"), 0),
        (ShownMissing(), None),
        (Suppressed(), None),
    ],
)
def test_texts(form, fewest):
    assert Naming(JOBS).fewest(form) == fewest


@pytest.mark.parametrize(
    ("form", "fewest"),
    [
        (Interval(None, 30), 4),
        (Interval(20, 30), 1),
        (Interval(30, None), 2),
        (ValueSet(("(-inf, 20]", "(30, inf)")), 2),
        (Counts(((Interval(None, 25), 3), (None, 1))), 1),
        (Shown(30), 1),
        (Shown("30"), 1),
        (Mean(30.0), 1),
        (Mean(31.5), None),
        (Level(None, 40, 26.5), 6),
        (Level(None, 40, 30.0), 1),
        (Midpoint(10, 30, 20.0), 3),
        (Range(20, 40), 2),
        (Range(20, 30), 1),
    ],
)
def test_numbers(form, fewest):
    assert Naming(AGES).fewest(form) == fewest


def test_a_mean_of_dates_is_named_by_the_day_it_is_written_as():
    assert Naming(DAYS).fewest(Mean(1.5)) == 1
    assert Naming(DAYS).fewest(Mean(2.5)) is None
    assert Naming(DAYS).fewest(ValueSet(("1970-01-02", "1970-01-05"))) == 1
    assert Naming(DAYS).fewest(Interval(0, 4)) == 3


def test_a_group_is_true_of_all_people_below_it():
    hierarchy = Hierarchy("x", ("*", "care", "nurse", "cook", "church", "pope"), (-1, 0, 1, 1, 0, 4))
    naming = Naming(JOBS, hierarchy)
    assert [naming.fewest(Category(label)) for label in ("*", "care", "church", "nurse")] == [6, 5, 1, 2]


@pytest.mark.parametrize("people", [0, -1, 2.5, True, "3", None])
def test_what_is_no_number_of_people_is_refused(people):
    with pytest.raises(ParameterError, match="whole number of people"):
        check_rarest(people)
