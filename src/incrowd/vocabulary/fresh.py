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
    """Text is packed anew on its way through an Arrow string array; everything else by taking every row."""
    if series.dtype != pl.String:
        return series.gather(np.arange(len(series)))
    return pl.Series(series.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest()))


def fresh_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same table in fresh buffers."""
    return pl.DataFrame([fresh_series(series) for series in frame.iter_columns()])
