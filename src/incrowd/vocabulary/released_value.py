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

    Numbers are counted in public bins, so their members are intervals. ``members`` is None until the rows are known.
    """

    members: tuple[tuple[Member, int], ...] | None = None


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
    name = type(form).__name__
    match form:
        case Shown(value) | Mean(value):
            return {"is": name, "value": value}
        case ValueSet(values):
            return {"is": name, "values": list(values)}
        case Interval(low, high) | Range(low, high):
            return {"is": name, "low": low, "high": high}
        case Level(low, high, value) | Midpoint(low, high, value):
            return {"is": name, "low": low, "high": high, "value": value}
        case Category(label):
            return {"is": name, "label": label}
        case Counts(members):
            listed = members and [[_member_to_json(member), rows] for member, rows in members]
            return {"is": name, "members": listed}
        case _:
            return {"is": name}


def _member_to_json(member: Member) -> Any:
    return [member.low, member.high] if isinstance(member, Interval) else member


def _member_from_json(member: Any, rows: Any) -> tuple[Member, int]:
    if not isinstance(rows, int) or rows < 1:
        raise PlanError("A count in this plan is not a whole number.")
    if isinstance(member, list):
        return Interval(*map(plain_end, member)), rows
    return None if member is None else plain_value(member), rows


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
            return Counts(members and tuple(_member_from_json(*member) for member in members))
        case {"is": "Common"}:
            return Common()
        case {"is": "ShownMissing"}:
            return ShownMissing()
        case {"is": "Suppressed"}:
            return Suppressed()
        case _:
            raise PlanError("A released form in this plan is unknown; was it written by a newer incrowd?")
