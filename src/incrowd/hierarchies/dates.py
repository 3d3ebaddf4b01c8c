"""Dates by the calendar: day, month, quarter, year, decade."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from incrowd.errors import ParameterError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy, Leaves
from incrowd.vocabulary.leaf_interval import STEPS, period_name
from incrowd.vocabulary.schema import ColumnType

_MOST = 20_000


def calendar(column: EncodedColumn, steps: Sequence[str] = STEPS) -> Hierarchy:
    """Periods from the first to the last date of a column, without holes.

    Parameters
    ----------
    column
        Dates. Missing values are left out; they need no leaf.
    steps
        The levels, finest first, out of day, month, quarter, year and decade.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> dates = pl.Series([datetime.date(2024, 1, 31), datetime.date(2024, 4, 1)])
    >>> born = EncodedColumn("born", ColumnType.DATE, np.array([0, 1], np.int32), dates)
    >>> calendar(born, ["month", "quarter"]).labels
    ('*', '2024-Q1', '2024-01', '2024-02', '2024-03', '2024-Q2', '2024-04')
    """
    if column.type is not ColumnType.DATE or len(column.dictionary) == 0:
        raise ParameterError(f"Column {column.name!r} has no dates ({column.type}); periods need some.")
    if not steps or list(steps) != [step for step in STEPS if step in steps]:
        raise ParameterError(f"steps are some of {', '.join(STEPS)}, in this order, none twice.")
    days = column.dictionary.to_list()
    span = (days[-1] - days[0]).days + 1
    if steps[0] == "day" and span > _MOST:
        raise ParameterError(f"Column {column.name!r} spans {span} days. Begin with months, or a coarser step.")
    starts = _days(days[0], days[-1]) if steps[0] == "day" else _months(days[0], days[-1])
    paths = {tuple(period_name(date, step) for step in steps): None for date in starts}
    return Hierarchy.from_paths(column.name, [[*path, ROOT] for path in paths], Leaves.DATES)


def _days(first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    for day in range(first.toordinal(), last.toordinal() + 1):
        yield datetime.date.fromordinal(day)


def _months(first: datetime.date, last: datetime.date) -> Iterator[datetime.date]:
    for month in range(first.year * 12 + first.month - 1, last.year * 12 + last.month):
        yield datetime.date(month // 12, month % 12 + 1, 1)
