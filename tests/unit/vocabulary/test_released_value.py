"""Texts of intervals and periods."""

import datetime

import pytest

from incrowd.vocabulary.released_value import (
    STEPS,
    Interval,
    day_number,
    interval_text,
    parse_interval,
    parse_number,
    period_name,
)


@pytest.mark.parametrize(
    "text", ["", "30-50", "[30, 50]", "(50, 30]", "(1, 1]", "(a, b]", "(nan, 1]", "(1, inf]", "(1, 2)", "(1e999, inf)"]
)
def test_what_is_no_interval(text):
    assert parse_interval(text) is None


@pytest.mark.parametrize("text", ["2024-13", "2024-02-30", "2024-Q5", "2025s", "202", "(2024-01-01, 2023-01-01]"])
def test_what_is_no_period(text):
    assert parse_interval(text, dates=True) is None


@pytest.mark.parametrize("day", [datetime.date(2024, 2, 29), datetime.date(1, 1, 1), datetime.date(1969, 12, 31)])
@pytest.mark.parametrize("step", STEPS)
def test_a_period_holds_its_days_and_no_other(day, step):
    period = parse_interval(period_name(day, step), dates=True)
    inside = [datetime.date.fromordinal(max(1, day.toordinal() + shift)) for shift in range(-4000, 4001, 7)]
    for other in [day, *inside]:
        same = period_name(other, step) == period_name(day, step)
        assert same == (period.low < day_number(other) <= period.high)
    assert interval_text(period.low, period.high, dates=True) == period_name(day, step)


def test_numbers_are_read_exactly():
    assert parse_number("9007199254740993") == 2**53 + 1
    assert parse_interval("( -1.5 ,2e3 ]") == Interval(-1.5, 2000.0)
