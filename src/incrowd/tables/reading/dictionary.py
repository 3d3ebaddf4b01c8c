"""A column as codes into its distinct values: all further work is done on the distinct values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import counted
from incrowd.vocabulary.encoded_table import Codes

EXACT = 2.0**53
"""Up to here every whole number has a float of its own."""
_LOOK = 1000  # first rows, which tell well enough whether values repeat
_REPEATING = 0.9  # of rows: with more different texts, coding them saves nothing
_AS_TEXT = (pl.Categorical, pl.Enum, pl.Decimal, pl.Time, pl.UInt64, pl.Int128, pl.UInt128)


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct values of a column, and how many rows have each.

    Examples
    --------
    >>> Tally(pl.Series(["f", "m"]), np.array([3, 1, 0])).described(pl.Series([True, False]))
    '1 distinct value (3 rows)'
    """

    values: pl.Series  # the distinct values, none of them null
    counts: npt.NDArray[np.int64]  # rows per distinct value; the last entry counts the nulls

    def rows(self, chosen: pl.Series) -> int:
        """Number of rows that have one of the chosen values (a mask over ``values``; null is not chosen)."""
        return int(self.counts[:-1][chosen.fill_null(False).to_numpy()].sum())

    def described(self, chosen: pl.Series) -> str:
        """How many distinct values and rows are chosen, in words."""
        return f"{counted(int(chosen.sum()), 'distinct value')} ({counted(self.rows(chosen), 'row')})"


@dataclass(frozen=True, eq=False)
class Distinct:
    """A column as codes into its distinct values, in no particular order."""

    codes: npt.NDArray[Any]  # one code per row; ``len(values)`` where the value is null
    values: pl.Series  # the distinct values, none of them null

    @cached_property
    def tally(self) -> Tally:
        """The distinct values with their rows counted."""
        return Tally(self.values, np.bincount(self.codes, minlength=len(self.values) + 1))

    def without(self, gone: pl.Series) -> Distinct:
        """The same column where the chosen values (a mask over ``values``) are null."""
        if not gone.any():
            return self
        kept = ~gone.to_numpy()
        places = np.append(np.where(kept, np.cumsum(kept) - 1, kept.sum()), kept.sum()).astype(np.uint32)
        return Distinct(np.take(places, self.codes), self.values.filter(~gone))


def distinct(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Distinct]:
    """Codes and distinct values of the named columns."""
    columns = as_coded(frame.select(list(dict.fromkeys(names))))
    strings = [name for name, dtype in columns.schema.items() if dtype == pl.String]
    coded = columns.with_columns(pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in strings)
    return {series.name: _distinct(series) for series in coded.iter_columns()}


def as_coded(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with types that are coded by their text turned to text."""
    return frame.with_columns(pl.col(_AS_TEXT).cast(pl.String))


def present(values: pl.Series) -> pl.Series:
    """The values that are there: neither null nor NaN."""
    return (values.fill_nan(None) if values.dtype.is_float() else values).drop_nulls()


def repeating(frame: pl.DataFrame) -> list[str]:
    """The text columns that repeat values among the first rows: those worth coding before they are needed."""
    head = frame.select(pl.col(pl.String)).head(_LOOK)
    fewer = head.select(pl.all().n_unique() < _REPEATING * head.height)
    return [series.name for series in fewer.iter_columns() if series.all()]


def ordered(values: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct values in ascending order, and for each given value its place; null is one past the last.

    Examples
    --------
    >>> dictionary, places = ordered(pl.Series([7, None, 3, 7]))
    >>> dictionary.to_list(), places.tolist()
    ([3, 7], [1, 2, 0, 1])
    """
    order = values.arg_sort(nulls_last=True).to_numpy()
    ascending = values.gather(order)
    starts = np.ones(len(values), np.bool_)
    starts[1:] = ascending.ne_missing(ascending.shift(1)).to_numpy()[1:]
    places = np.empty(len(values), np.int32)
    places[order] = np.cumsum(starts, dtype=np.int32) - 1
    return ascending.filter(pl.Series(starts)).drop_nulls(), places


def _distinct(series: pl.Series) -> Distinct:
    if not isinstance(series.dtype, pl.Categorical):
        return _of_values(series)
    values = categories(series)
    return Distinct(series.to_physical().fill_null(len(values)).to_numpy(), values)


def categories(series: pl.Series) -> pl.Series:
    """The texts behind the codes of a categorical, which are dense: counting up to the highest names them all."""
    highest = series.to_physical().max()
    return texts_of(0 if highest is None else int(str(highest)) + 1, series.dtype)


def texts_of(size: int, dtype: pl.DataType) -> pl.Series:
    """The texts behind the first codes of a categorical type; some column of that type must still be in use."""
    return pl.Series(np.arange(size, dtype=np.uint32)).cat.to(dtype).cast(pl.String)


def _of_values(series: pl.Series) -> Distinct:
    values = series.drop_nulls().unique().sort()
    rows = series.to_physical().fill_null(0).cast(_numpy_type(series.dtype)).to_numpy()
    known = values.to_physical().cast(_numpy_type(series.dtype)).to_numpy()
    codes = np.searchsorted(known, rows)
    codes[series.is_null().to_numpy()] = len(values)
    return Distinct(codes, values)


def _numpy_type(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.Float64 if dtype.is_float() else pl.Int64
