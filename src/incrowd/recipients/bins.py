"""The public bins of numbers: found in a release, and used for new rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import HeaderError, ValuesError
from incrowd.recipients.counted_table import CountedColumn, CountedTable, interval_of
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read, read_release
from incrowd.vocabulary.released_value import Interval, parse_day, render
from incrowd.vocabulary.schema import ColumnType, unknown_column

Bins = Mapping[str, Sequence[float | str]]
"""For each number its cuts, ascending; those of dates as texts YYYY-MM-DD."""


def public_bins(release: Any, columns: Iterable[str] | None = None) -> dict[str, tuple[float | str, ...]]:
    """The cuts between which the numbers of a release were counted, by column; those of dates as YYYY-MM-DD.

    Examples
    --------
    >>> public_bins(pl.DataFrame({"age": ["(-inf, 30]:1|(30, inf):2"] * 3}))
    {'age': (30,)}
    """
    table = CountedTable.of(read_release(release, missing=[]).frame, columns)
    by_column = {name: cuts_of(column) for name, column in table.columns.items()}
    return {name: cuts for name, cuts in by_column.items() if cuts is not None}


def cuts_of(column: CountedColumn) -> tuple[float | str, ...] | None:
    """The ends of the bins of an attribute, ascending; None if its values are no bins.

    Of dates, which are written year first, the order of letters is that of days.
    """
    values = [value for value in column.values if value is not None]
    if not values or any(interval_of(value) is None for value in values):
        return None
    ends = {end for value in values for end in value[1:-1].split(", ")} - {"-inf", "inf"}
    if any(parse_day(end) is not None for end in ends):
        return tuple(sorted(ends))
    numbers = {float(end) for end in ends}
    return tuple(int(end) if end.is_integer() else end for end in sorted(numbers))


def binned(rows: Any, bins: Bins) -> Any:
    """New rows with their numbers written as the bin they lie in, as a decoded release has them.

    Parameters
    ----------
    rows
        A path or a pandas, polars or PyArrow table; columns that are not in the bins stay as they are.
    bins
        The cuts of each number, see :func:`public_bins`.

    Examples
    --------
    >>> binned(pl.DataFrame({"age": [25, 31, None]}), {"age": (30,)})["age"].to_list()
    ['(-inf, 30]', '(30, inf)', None]
    """
    source = read(rows)
    for name in bins:
        if name not in source.frame.columns:
            raise HeaderError(unknown_column(name, source.frame.columns))
    made = [bin_texts(source.frame[name], cuts) for name, cuts in bins.items()]
    return to_frame_like(source.frame.with_columns(made), source.origin)


def bin_texts(column: pl.Series, cuts: Sequence[float | str]) -> pl.Series:
    """A column of numbers, or of dates, as the texts of its bins."""
    days = [parse_day(cut) for cut in cuts if isinstance(cut, str)]
    dates = bool(days)
    places: list[float] = [day for day in days if day is not None] if dates else [float(cut) for cut in cuts]
    numbers = _numbers(column, dates)
    ends: list[float | None] = [None, *places, None]
    kind = ColumnType.DATE if dates else ColumnType.REAL
    texts = [str(render(Interval(ends[i], ends[i + 1]), kind)) for i in range(len(places) + 1)]
    numbered = np.searchsorted(np.asarray(places), numbers, side="left")
    return pl.Series(
        column.name,
        [None if np.isnan(number) else texts[i] for number, i in zip(numbers, numbered, strict=True)],
        pl.String,
    )


def _numbers(column: pl.Series, dates: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The numbers of a column, or its days since 1970; NaN for missing."""
    wanted = pl.Date() if dates else pl.Float64()
    made = column.str.to_date("%Y-%m-%d", strict=False) if dates and column.dtype == pl.String else column
    made = made.cast(wanted, strict=False)
    if made.null_count() > column.null_count():
        kind = "dates" if dates else "numbers"
        raise ValuesError(f"{column.name}: {made.null_count() - column.null_count():,} cells are no {kind}.")
    return np.asarray(made.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy())
