"""How an interval of numbers is written: one choice, ``numeric=``, for all methods that generalize.

``interval``: the label ``(30, 40]``. ``bounds``: two columns, its two ends. ``midpoint``: its middle. ``mean``: the
mean of the rows it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.measures.mdl import outer_ends
from incrowd.plan.steps import Spread
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Form, Interval, Level, Midpoint, Suppressed
from incrowd.vocabulary.schema import ColumnType


def interval_form(interval: Interval, numeric: str, ends: tuple[float, float]) -> Form:
    """What rows of an interval show; an interval without ends tells nothing.

    Parameters
    ----------
    interval
        Where the numbers lie.
    numeric
        One of ``INTERVALS``; the mean is that of all rows that show the interval.
    ends
        For the middle of an interval without an end: the number that stands for it, see :func:`ends_of`.

    Examples
    --------
    >>> interval_form(Interval(None, 30), "midpoint", (20, 90))
    Midpoint(low=None, high=30, value=25.0)
    """
    if interval == Interval():
        return Suppressed()
    if numeric == "mean":
        return Level(interval.low, interval.high)
    if numeric == "midpoint":
        return Midpoint(interval.low, interval.high, middle(interval, ends))
    return interval


def middle(interval: Interval, ends: tuple[float, float]) -> float:
    """The middle of an interval; an open end is where the column's own end lies, or the interval's other end."""
    low, high = interval.low, interval.high
    if low is None:
        low = ends[0] if high is None else min(ends[0], high)
    if high is None:
        high = max(ends[1], low)
    return low / 2 + high / 2


def ends_of(column: EncodedColumn, k: int) -> tuple[float, float]:
    """Numbers that stand for the open ends of a numeric column: round, with at least k rows beyond each."""
    return outer_ends(column.numbers, column.counts[:-1], k, column.type is not ColumnType.REAL)


def spread_steps(numeric: str, columns: Sequence[EncodedColumn]) -> tuple[Spread, ...]:
    """The step that writes intervals as two columns, if that is how numbers are to be released."""
    names = tuple(column.name for column in columns if column.type.is_numeric)
    return (Spread(names),) if numeric == "bounds" and names else ()
