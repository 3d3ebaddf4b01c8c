"""What a recipient sees in a quasi-identifier cell: one form for all rows of a group.

::

    Shown(value)        the value itself, the same in every row of the group
    ShownMissing()      the value is missing in every row of the group, and that is said
    ValueSet(values)    one of these values
    Mean(value)         the arithmetic mean over the rows of the group
    Interval(low, high) a number above low and at most high
    Level(low, high, value)  the same, written as one number for all rows that show this interval: their mean
    Midpoint(low, high, value)  the same, written as its middle
    Range(low, high)    from the smallest to the largest number of the group, both included
    Category(label)     a group of values, by its name in the attribute's hierarchy
    Counts(members)     all values of the group's rows, each with how many rows have it; numbers as public bins
    Common()            not known yet: becomes the value, the set or the interval that the rows of the group have
    Suppressed()        nothing
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from typing import Any

from incrowd.errors import PlanError
from incrowd.vocabulary.counts_text import write_counts
from incrowd.vocabulary.schema import ColumnType

Value = str | int | float


@dataclass(frozen=True)
class Shown:
    """The value itself."""

    value: Value


@dataclass(frozen=True)
class ShownMissing:
    """The value is missing in every row of the group."""


@dataclass(frozen=True)
class ValueSet:
    """One of several values, in the order of the attribute."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Mean:
    """The mean over the group; ``None`` until the rows of the group are known."""

    value: float | None = None


@dataclass(frozen=True)
class Interval:
    """Above ``low`` and at most ``high``; ``None`` is an open end."""

    low: float | None = None
    high: float | None = None


Member = Value | Interval | None


@dataclass(frozen=True)
class Level:
    """An interval, written as the mean of all rows that show it; ``None`` until those rows are known."""

    low: float | None = None
    high: float | None = None
    value: float | None = None


@dataclass(frozen=True)
class Midpoint:
    """An interval, written as its middle."""

    low: float | None
    high: float | None
    value: float


@dataclass(frozen=True)
class Range:
    """The numbers of the group lie in it, and its ends are among them; ``None`` until the rows are known."""

    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Category:
    """A group of values, by its name in the hierarchy."""

    label: str


@dataclass(frozen=True)
class Counts:
    """The values of the group's rows, each with its rows, in the order of the attribute; missing is None and the last.

    Numbers are counted in public bins, so their members are intervals. Of attributes that are counted together the
    i-th members belong together, and their order is that of the combinations. ``members`` is None until the rows are
    known.
    """

    members: tuple[tuple[Member, int], ...] | None = None

    @property
    def rows(self) -> dict[Member, int]:
        """How many rows have each value: one that stands there several times has all of these rows."""
        rows: dict[Member, int] = {}
        for member, many in self.members or ():
            rows[member] = rows.get(member, 0) + many
        return rows


@dataclass(frozen=True)
class Common:
    """What the rows of the group have in common, which only they tell: a value, a set, an interval, or nothing."""


@dataclass(frozen=True)
class Suppressed:
    """Nothing is shown."""


Form = (
    Shown
    | ShownMissing
    | ValueSet
    | Mean
    | Interval
    | Level
    | Midpoint
    | Range
    | Category
    | Counts
    | Common
    | Suppressed
)


def is_shown(form: Form) -> bool:
    """Whether the recipient learns anything from the cell."""
    return not isinstance(form, Suppressed)


def render(form: Form, column_type: ColumnType) -> str | float | int | None:
    """The cell as it is written: ``None`` for suppressed and missing.

    Sets are joined by ``|``; a ``|`` or ``%`` inside a value is percent-encoded, so the text splits exactly.
    """
    match form:
        case Shown(value) | Mean(value) | Level(value=value) | Midpoint(value=value):
            if column_type is ColumnType.DATE and isinstance(value, int | float):
                return date_text(value)
            return value
        case ValueSet(values):
            return "|".join(escape_member(str(value)) for value in values)
        case Interval(low, high):
            ends = [_end(low, "-inf", column_type), _end(high, "inf", column_type)]
            return f"({ends[0]}, {ends[1]}" + (")" if high is None else "]")
        case Range(low, high):
            return f"[{_end(low, '', column_type)}, {_end(high, '', column_type)}]"
        case Category(label):
            return label
        case Counts(members):
            return write_counts((member_text(member, column_type), rows) for member, rows in members or ())
        case _:
            return None


def member_text(member: Member, column_type: ColumnType) -> str | None:
    """A member of counts as text; None is the missing one.

    Examples
    --------
    >>> member_text(Interval(30, 50), ColumnType.INTEGER), member_text("nurse", ColumnType.TEXT)
    ('(30, 50]', 'nurse')
    """
    if member is None:
        return None
    return str(render(member, column_type)) if isinstance(member, Interval) else str(member)


def escape_member(value: str) -> str:
    """A member of a value set, with the separator made safe."""
    return value.replace("%", "%25").replace("|", "%7C")


def date_text(days: float) -> str:
    """The date of a day number; a mean between two days is the earlier one, which stays inside its interval."""
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days))).isoformat()


def _end(number: float | None, infinite: str, column_type: ColumnType) -> str:
    if number is None:
        return infinite
    if column_type is ColumnType.DATE:
        return date_text(number)
    if isinstance(number, int):
        return str(number)
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def form_to_json(form: Form) -> dict[str, Any]:
    """A form as plain data."""
    data = {"is": type(form).__name__, **vars(form)}
    if isinstance(form, ValueSet):
        data["values"] = list(form.values)
    if isinstance(form, Counts):
        data["members"] = form.members and [[member_to_json(member), rows] for member, rows in form.members]
    return data


def member_to_json(member: Member) -> Any:
    """A member of counts as plain data."""
    return [member.low, member.high] if isinstance(member, Interval) else member


def member_from_json(member: Any) -> Member:
    """The member that :func:`member_to_json` wrote."""
    if isinstance(member, list):
        return Interval(*map(plain_end, member))
    return None if member is None else plain_value(member)


def _counted_from_json(member: Any, rows: Any) -> tuple[Member, int]:
    if not isinstance(rows, int) or rows < 1:
        raise PlanError("A count in this plan is not a whole number.")
    return member_from_json(member), rows


def plain_value(value: Any) -> Value:
    """A value that was read from a file, if it is text or a number."""
    if not isinstance(value, str | int | float):
        raise PlanError("A value in this plan is neither text nor a number.")
    return value


def plain_end(value: Any) -> float | None:
    """An end of an interval that was read from a file, if it is a number or open."""
    if value is not None and not isinstance(value, int | float):
        raise PlanError("An end of an interval in this plan is not a number.")
    return value


def form_from_json(data: dict[str, Any]) -> Form:
    """The form that :func:`form_to_json` wrote."""
    match data:
        case {"is": "Shown", "value": value}:
            return Shown(plain_value(value))
        case {"is": "Mean", "value": value}:
            return Mean(plain_end(value))
        case {"is": "ValueSet", "values": values}:
            return ValueSet(tuple(map(plain_value, values)))
        case {"is": "Interval", "low": low, "high": high}:
            return Interval(plain_end(low), plain_end(high))
        case {"is": "Level", "low": low, "high": high, "value": value}:
            return Level(plain_end(low), plain_end(high), plain_end(value))
        case {"is": "Midpoint", "low": low, "high": high, "value": int() | float() as value}:
            return Midpoint(plain_end(low), plain_end(high), value)
        case {"is": "Range", "low": low, "high": high}:
            return Range(plain_end(low), plain_end(high))
        case {"is": "Category", "label": str(label)}:
            return Category(label)
        case {"is": "Counts", "members": members}:
            return Counts(members and tuple(_counted_from_json(*member) for member in members))
        case {"is": "Common"}:
            return Common()
        case {"is": "ShownMissing"}:
            return ShownMissing()
        case {"is": "Suppressed"}:
            return Suppressed()
        case _:
            raise PlanError("A released form in this plan is unknown; was it written by a newer incrowd?")


# The text of an interval, and the interval of a text: ``(30, 50]``, ``(50, inf)``, ``2024-01``, ``2020s``. Dates are
# days since 1970-01-01; a day, month, quarter, year or decade is written by its usual name.
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
