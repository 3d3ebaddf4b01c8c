"""The text of an interval, and the interval of a text: ``(30, 50]``, ``(50, inf)``, ``2024-01``, ``2020s``.

An interval excludes its low end and includes its high end. Dates are days since 1970-01-01; a day, month, quarter,
year or decade is written by its usual name.
"""

from __future__ import annotations

import datetime
import math
import re

from incrowd.vocabulary.released_value import Interval, render
from incrowd.vocabulary.schema import ColumnType

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_INTERVAL = re.compile(r"^\(\s*([^,()\[\]\s]+)\s*,\s*([^,()\[\]\s]+)\s*([\])])$")
_NUMBER = re.compile(r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$")
_DAY = re.compile(r"^\d{4}-\d{2}-\d{2}$")
_PERIOD = re.compile(r"^(\d{4})(?:-(\d{2})|-Q([1-4])|(s))?$")
STEPS = ("day", "month", "quarter", "year", "decade")


def day_number(date: datetime.date) -> int:
    """Days since 1970-01-01."""
    return date.toordinal() - _EPOCH


def parse_number(text: str) -> int | float | None:
    """The number a text writes, whole ones exactly; None if it is none, or not finite."""
    if not _NUMBER.match(text):
        return None
    if re.fullmatch(r"[+-]?\d{1,18}", text):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


def parse_day(text: str) -> int | None:
    """The day number of ``YYYY-MM-DD``; None for anything else.

    Examples
    --------
    >>> parse_day("1970-01-31"), parse_day("31.1.1970")
    (30, None)
    """
    try:
        return day_number(datetime.date.fromisoformat(text)) if _DAY.match(text) else None
    except ValueError:
        return None


def parse_interval(text: str, *, dates: bool = False) -> Interval | None:
    """The interval that a text writes; None if it writes none, or an empty one."""
    if dates and (period := _parse_period(text)):
        return period
    match = _INTERVAL.match(text)
    if not match:
        return None
    low_text, high_text, bracket = match.groups()
    parse = parse_day if dates else parse_number
    low = None if low_text == "-inf" else parse(low_text)
    high = None if high_text == "inf" else parse(high_text)
    sound = (low is not None or low_text == "-inf") and (high is not None or high_text == "inf")
    if not sound or (high_text == "inf") != (bracket == ")"):
        return None
    return Interval(low, high) if low is None or high is None or low < high else None


def interval_text(low: float | None, high: float | None, *, dates: bool = False) -> str:
    """The text of an interval, by the name of its period if it is one."""
    if dates and low is not None and high is not None:
        first = datetime.date.fromordinal(int(low) + 1 + _EPOCH)
        for step in STEPS:
            name = period_name(first, step)
            if _parse_period(name) == Interval(low, high):
                return name
    return str(render(Interval(low, high), ColumnType.DATE if dates else ColumnType.REAL))


def period_name(date: datetime.date, step: str) -> str:
    """The period of a date."""
    return {
        "day": date.isoformat(),
        "month": f"{date.year:04}-{date.month:02}",
        "quarter": f"{date.year:04}-Q{(date.month + 2) // 3}",
        "year": f"{date.year:04}",
        "decade": f"{date.year // 10 * 10:04}s",
    }[step]


def _parse_period(text: str) -> Interval | None:
    day = parse_day(text)
    if day is not None:
        return Interval(day - 1, day)
    match = _PERIOD.match(text)
    if not match:
        return None
    year, month, quarter, decade = match.groups()
    if month and not 1 <= int(month) <= 12:
        return None
    first_month = int(month) if month else 3 * int(quarter) - 2 if quarter else 1
    months = 1 if month else 3 if quarter else 120 if decade else 12
    if int(year) + (months - 1) // 12 > 9998 or (decade and int(year) % 10):
        return None
    first = max(1, int(year)) * 12 + first_month - 1
    last = int(year) * 12 + first_month - 1 + months
    return Interval(_first_day(first) - 1, _first_day(last) - 1) if last > first else None


def _first_day(month: int) -> int:
    """The day number of the first of a month, months counted from year 0."""
    return day_number(datetime.date(month // 12, month % 12 + 1, 1))
