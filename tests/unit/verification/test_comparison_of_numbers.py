"""What a cell may show instead of a number: a label, a mean, a middle, two ends; and columns that stay as they are."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from support.comparing import compared, expected, wrong, wrong_of_all

TOP = "(90, inf)"  # who is 99 shows it: no interval ends at the greatest number then
LABELS = {
    "an interval": (["(10, 20]", "(10, 20]"], [11, 20], 0),
    "nothing": ([None, None], [11, None], 0),
    "an interval that begins at the number": (["(20, 30]"], [20], 1),
    "an interval that ends before the number": (["(10, 20]"], [21], 1),
    "an interval that is open at the number": (["(10, 20)"], [20], 1),
    "an interval that is open after the number": (["(10, 20)"], [19], 0),
    "an interval without a low end": (["(-inf, 20]"], [-7], 0),
    "a label that is wrong of two rows": (["(0, 5]"] * 2, [7, 8], 1),
    "two labels that are wrong": (["(0, 5]", "(0, 6]"], [7, 8], 2),
    "a label that is wrong of the least of its rows": (["(5, 9]"] * 2, [5, 7], 1),
    "a label that is wrong of the greatest of its rows": (["(5, 9]"] * 2, [7, 10], 1),
    "an interval around a missing number": (["(0, 9]", "(0, 9]"], [1, None], 1),
    "a range": (["[10, 20]"], [15], 1),
    "a word": (["about 15"], [15], 1),
    "brackets": (["()"], [15], 1),
    "the number": (["15"], [15], 0),
    "a mean": (["15"] * 2, [14, 16], 0),
    "a number that is no mean": (["15", "15", "(0, 20]"], [14, 17, 15], 1),
    "a set": (["(-inf, 10]|(20, 30]"] * 2, [10, 21], 0),
    "a set that ends below the number": (["(-inf, 10]|(20, 30]"] * 4, [10, 11, 11, 31], 3),
    "a set around a missing number": (["(-inf, 10]|(20, 30]"] * 2, [10, None], 1),
    "a set that descends": (["(20, 30]|(-inf, 10]"] * 2, [10, 21], 2),
    "a set with an interval twice": (["(0, 10]|(0, 10]"], [5], 1),
    "a set with a number in it": (["(0, 10]|15"], [5], 1),
    "a set with an interval that holds nothing": (["(0, 10]|(15, 15]"], [5], 1),
    "a label and a set that are wrong": (["(0, 5]", "(0, 5]|(7, 8]", "(0, 5]|(7, 8]"], [6, 6, 9], 3),
}


def test_a_label_lies_around_the_number():
    cases = {name: ([TOP, *shown], [99, *own]) for name, (shown, own, _) in LABELS.items()}
    assert wrong_of_all(cases, shared_means=cases) == expected(LABELS)


RANGES = {
    "both ends are own": (["[20, 30]"] * 2, [20, 30], 0),
    "a number below": (["[20, 30]"] * 2, [19, 30], 1),
    "a number above": (["[20, 30]"] * 2, [20, 31], 1),
    "the high end is excluded": (["[20, 30)"] * 2, [20, 30], 1),
    "the low end is excluded": (["(20, 30]"] * 2, [20, 30], 1),
    "both ends are excluded": (["(20, 30)"] * 2, [21, 29], 0),
    "one number": (["[20, 20]"] * 2, [20, 20], 0),
}


def test_ranges_may_be_asked_for_and_include_their_ends():
    assert wrong_of_all(RANGES, extremes=True) == expected(RANGES)


def test_labels_of_dates():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 31), dt.date(2021, 1, 1)]
    assert wrong(["(2019-12-31, 2020-01-31]"] * 2 + ["(2020-01-31, inf)"], days) == 0
    assert wrong(["(2020-01-01, 2020-01-31]"] * 2 + ["(2020-01-31, inf)"], days) == 1


ENDS = {
    "somebody is beyond all ends": (["(0, 5]", "(5, inf)"], [5, 9], 0),
    "an interval ends at the greatest number": (["(0, 5]", "(5, 9]"], [5, 9], 1),
    "two intervals end there": (["(0, 5]", "(5, 9]", "(7, 9]"], [5, 9, 8], 1),
    "an interval ends beyond it": (["(0, 5]", "(5, 10]"], [5, 9], 0),
    "an interval of a set ends there": (["(0, 5]|(7, 9]"] * 2, [5, 9], 1),
    "an interval of a set has no end": (["(5, 9]|(20, inf)", "(0, 5]"], [9, 5], 1),
    "all is hidden": ([None, None], [5, 9], 0),
    "all is missing": ([None, None], pa.array([None, None], pa.int64()), 0),
    "who has the greatest number hides": (["(0, 5]", "(5, 9]", None], [5, 9, 10], 0),
    "everybody has the greatest number": (["(0, 9]", "(0, 9]"], [9, 9], 1),
}


@pytest.mark.parametrize("cuts", [(), (0,), (1,), (2,)])
def test_no_interval_ends_at_the_greatest_number(cuts):
    assert wrong_of_all(ENDS, cuts) == expected(ENDS)


def test_an_interval_may_end_there_where_its_end_is_not_of_the_rows():
    """The user asked for such ends or wrote them, or rows beyond may have been left out."""
    shown, own = ["(0, 5]", "(5, 9]"], [5, 9]
    ages = Hierarchy("x", ("*", *shown), (-1, 0, 0), Leaves.NUMBERS)
    assert wrong(shown, own, may_lose=1) == wrong(shown, own, extremes=True) == 0
    assert wrong(shown, own, hierarchies={"x": ages}) == 0
    assert wrong(["(0, 5]", "(5, 8]"], own, hierarchies={"x": ages}) == 1
    both = {"x": shown, "y": shown}
    assert compared(both, {"x": own, "y": own}, hierarchies={"x": ages})[0] == {"x": 0, "y": 1}


MEANS = {
    "the mean": ([1.5, 1.5], [1, 2], 0),
    "the mean of one": ([7.0], [7], 0),
    "nothing": ([None, 2.0], [1, 2], 0),
    "the least": ([1.0, 1.0], [1, 2], 1),
    "two numbers that are no means": ([1.0, 1.0, 3.0], [1, 2, 4], 2),
    "the mean of nothing but zeros": ([0.0, 0.0], [0, 0], 0),
    "the mean of those that are known": ([1.0, 1.0], [1, None], 1),
    "a mean that is rounded": ([1000.5 + 5e-7] * 2, [1000.0, 1001.0], 0),
    "a mean that is rounded too much": ([1000.5 + 2e-6] * 2, [1000.0, 1001.0], 1),
    "a rounded mean of zero and more": ([500 + 5e-7] * 2, [0.0, 1000.0], 0),
    "a rounded mean of zero and less": ([-500 + 5e-7] * 2, [0.0, -1000.0], 0),
    "a rounded mean of small numbers": ([1.5e-12 + 5e-20] * 2, [1e-12, 2e-12], 1),
    "the mean with its sign turned": ([-1.5] * 2, [1, 2], 1),
    "a day": ([dt.date(2020, 1, 2)] * 2, [dt.date(2020, 1, 1), dt.date(2020, 1, 4)], 0),
    "the day after": ([dt.date(2020, 1, 3)] * 2, [dt.date(2020, 1, 1), dt.date(2020, 1, 4)], 1),
    "a whole number": ([2, 2], [1, 3], 0),
}


@pytest.mark.parametrize(("shown", "own", "cells"), MEANS.values(), ids=MEANS)
def test_a_number_is_the_mean_of_the_rows_that_show_it(shown, own, cells):
    shown, own = pa.array(shown), pa.array(own)
    assert wrong(shown, own) == cells
    assert wrong(shown, own, (1,), shared_means=["x"]) == cells


def test_means_are_those_of_a_class_or_of_all_rows_that_show_the_number():
    own = {"x": [1, 3, 2, 2, 5], "y": ["a", "a", "b", "b", "b"]}
    shown = {"x": [2.0, 2.0, 2.0, 2.0, 5.0], "y": own["y"]}
    skewed = own | {"x": [1, 2, 3, 2, 5]}
    assert compared(shown, own)[0] == compared(shown, own, shared_means=["x"])[0] == {"x": 0, "y": 0}
    assert compared(shown, skewed)[0] == {"x": 2, "y": 0}
    assert compared(shown, skewed, shared_means=["x"])[0] == {"x": 0, "y": 0}


@pytest.mark.parametrize(
    ("groups", "cells"),
    [
        ([[1, 2], [3, 4], [5, 6]], 0),
        ([[1, 2], [2, 5], [6, 7]], 1),
        ([[1, 10], [5, 20], [21, 22]], 1),
        ([[1, 10], [5, 12], [11, 30]], 2),
        ([[5, 6], [-3, 4]], 0),
    ],
)
def test_means_of_all_rows_that_show_them_are_of_numbers_that_lie_apart(groups, cells):
    """Also where the rows of a number are in several classes, and those in several pieces."""
    own = {"x": [number for group in groups for number in group], "y": ["a", "b"] * len(groups)}
    shown = own | {"x": [sum(group) / 2 for group in groups for _ in group]}
    for cuts in ((), (1,), (1, 3)):
        assert compared(shown, own, cuts, shared_means=["x"])[0] == {"x": cells, "y": 0}


def test_what_no_number_is_shown_by_is_no_mean():
    shown = {"a": pa.array([None] * 3, pa.string()), "x": [True, None, True]}
    assert compared(shown, {"a": shown["a"], "x": [1, 2, 3]})[0] == {"a": 0, "x": 2}
    labels = {"x": ["(0, 5]", "(0, 5]", "(5, inf)"], "y": ["(0, 5]", "2", "(2, inf)"]}
    _, [piece] = compared(labels, {"x": [1, 2, 6], "y": [1, 2, 6]})
    assert [name for name in piece.means.column_names if name.endswith("shown")] == ["c1_shown"]


inf, nan = np.inf, np.nan
DAY = dt.date(1970, 1, 1)
MIDDLES = [  # low (excluded), high (included), own, shown, wrong
    *[(10, 30, 25, 20, 0), (10, 30, 30, 20, 0), (10, 30, 25, 21, 1), (10, 30, 10, 20, 1), (10, 30, 31, 20, 1)],
    *[
        (10, 30, 25, None, 0),
        (10, 30, None, 20, 1),
        (10, 30, None, None, 0),
        (nan, nan, 25, 25, 0),
        (10, 30, 10, 10, 0),
    ],
    *[(nan, nan, 25, 25, 0), (nan, nan, 25, 20, 1), (1e3, 3e3, 1.5e3, 2e3 + 1e-6, 0), (1e3, 3e3, 1.5e3, 2e3 + 1e-5, 1)],
    *[(-inf, 30, 7, 25, 0), (-inf, 30, 7, 30, 0), (-inf, 30, 7, 30.5, 1), (-inf, 30, 31, 25, 1)],
    *[(30, inf, 31, 60, 0), (30, inf, 31, 30, 0), (30, inf, 31, 29.5, 1), (30, inf, 30, 60, 1), (-inf, inf, 3, 9, 0)],
]


MIDDLES_OF_DAYS = [
    *[(0, 3, 3, 1, 0), (0, 3, 3, 2, 1), (0, 3, 0, 1, 1), (0, 4, 3, 2, 0)],
    *[(10.5, inf, 20, 10, 0), (10.5, inf, 20, 9, 1), (-inf, 10, 5, 10, 0), (-inf, 10, 5, 11, 1)],
]


@pytest.mark.parametrize("cuts", [(), (1,)])
@pytest.mark.parametrize(("table", "kind"), [(MIDDLES, pa.float64()), (MIDDLES_OF_DAYS, pa.date32())])
def test_a_middle_is_that_of_an_interval_around_the_number(table, kind, cuts):
    """That of days is a whole day. Beside each stands a row whose middle is right."""
    cases, claims = {}, {}
    for low, high, own, shown, rows in table:
        name = f"{shown} for {own} between {low} and {high}"
        numbers = (pa.array(pair, pa.float64()) for pair in ([shown, 2], [own, 1]))
        cases[name] = *(each.cast(pa.int32()).cast(kind) if kind == pa.date32() else each for each in numbers), rows
        claims[name] = np.array([low, 0.0]), np.array([high, 4.0])
    assert wrong_of_all(cases, cuts, claims=claims) == expected(cases)


BOUNDS = [  # low (excluded), high (included), own, wrong
    *[(10, 30, 11, 0), (10, 30, 30, 0), (10, 30, 10, 1), (10, 30, 31, 1), (None, 30, -5, 0), (None, 30, 31, 1)],
    *[(10, None, 99, 0), (10, None, 10, 1), (20, 20, 20, 0), (20, 30, 20, 1), (20, 20, 21, 1), (30, 20, 20, 1)],
    *[(None, None, 5, 0), (None, None, None, 0), (10, 30, None, 1), (None, 30, None, 1), (10, None, None, 1)],
]


@pytest.mark.parametrize("kind", [pa.int64(), pa.string()])
def test_two_ends_lie_around_the_number(kind):
    shown, given, bounds, wanted = {}, {}, [], {}
    for place, (low, high, own, rows) in enumerate(BOUNDS):
        pair = f"{place} from {low} for {own}", f"{place} to {high} for {own}"
        shown |= {pair[0]: pa.array([low, 1]).cast(kind), pair[1]: pa.array([high, 9]).cast(kind)}
        given |= dict.fromkeys(pair, pa.array([own, 5]))
        wanted |= dict.fromkeys(pair, rows)
        bounds.append(pair)
    found, [piece] = compared(shown, given, bounds=bounds)
    assert found == wanted
    assert (piece.means, piece.sets, piece.ends) == (None, None, {})


MOMENT = dt.datetime(2020, 2, 29, 23, 59)
UNTOUCHED = {
    "texts": (["a", "", None], ["a", "", None], 0),
    "other texts": (["b", None, "", "x"], ["a", "", None, "x"], 3),
    "numbers": ([1, 2, None], [1, 2, None], 0),
    "other numbers": ([2, None, 3], [1, 2, None], 3),
    "no number stays": ([nan, 1.5], [nan, 1.5], 0),
    "no number becomes a missing one": ([None, 1.5], [nan, 1.5], 0),
    "no number appears": ([nan, 1.5], [None, 1.5], 1),
    "a number vanishes": ([None, 1.5], [2.5, 1.5], 1),
    "whole numbers as text": (["7", None, "-3"], [7, None, -3], 0),
    "other whole numbers as text": (["8", None, "x", "3"], [7, 5, None, 3], 3),
    "whole numbers in another spelling": (["07", "+7", "7.0", "7"], [7, 7, 7, 7], 3),
    "real numbers as text": (["7.0", "0.5", None], [7.0, 0.5, nan], 0),
    "a moment as text": (["2020-02-29 23:59:00", None], [MOMENT, None], 0),
    "a word instead of no moment": (["x", "2020-02-29 23:59:00"], [None, MOMENT], 1),
    "numbers that were text": ([7, None, -3], ["7", None, "-3"], 0),
    "other numbers that were text": ([7, None, 1000, 3], ["07", "x", "1e3", "3"], 3),
    "numbers of another width": (pa.array([7, None], pa.int32()), [7, None], 0),
    "real numbers that were whole": ([7.0, None], [7, None], 0),
    "real numbers that were larger whole ones": ([float(2**53), 7.0], [2**53 + 1, 7], 1),
    "whole numbers that were real": ([7, None, 7], [7.0, None, 7.5], 1),
}


@pytest.mark.parametrize("escapes", [False, True])
def test_other_columns_are_what_they_were(escapes):
    assert wrong_of_all(UNTOUCHED, (1,), keys=[], escapes=escapes) == expected(UNTOUCHED)


def test_other_columns_have_an_apostrophe_before_what_looks_like_a_formula():
    shown, own = ["'=1", "'=1", "-5", "=", "=1", "'-5"], ["=1", "'=1", "-5", "=", "=1", "-5"]
    assert wrong(shown, own, keys=[], escapes=True) == 2
    assert wrong(shown, own, keys=[]) == 2
