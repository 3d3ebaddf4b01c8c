"""Build columns from fresh memory.

A value replaced by null often stays in the buffer behind the null, and a column of strings keeps the buffer
of the column it was taken from. Both end up in Arrow, Feather and pickle files. What is released is rebuilt.
"""

from __future__ import annotations

import numpy as np
import polars as pl


def fresh_series(series: pl.Series) -> pl.Series:
    """The same values in buffers that hold nothing else; categories become plain text."""
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.Null:
        return pl.Series(series.name, [None] * len(series), pl.Null)
    present = series.is_not_null()
    blank = pl.lit("" if series.dtype == pl.String else 0).cast(series.dtype)
    filled = pl.select(pl.lit(series).fill_null(blank)).to_series()
    copied = _copied(filled)
    if not present.all():
        copied = pl.select(pl.when(present).then(copied)).to_series()
    return copied.alias(series.name)


def _copied(series: pl.Series) -> pl.Series:
    """Text is written anew where nothing is appended to it; everything else is, by taking every row."""
    if series.dtype != pl.String:
        return series.gather(np.arange(len(series)))
    return pl.select(pl.concat_str(pl.lit(series), pl.lit(""))).to_series()


def fresh_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same table in fresh buffers."""
    return pl.DataFrame([fresh_series(series) for series in frame.iter_columns()])
