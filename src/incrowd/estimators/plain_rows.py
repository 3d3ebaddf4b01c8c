"""A release as rows that any learner takes: in the columns and the types of X."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl

from incrowd.estimators.arrays import free_name
from incrowd.recipients.cells import word_of
from incrowd.recipients.received import ReceivedRelease
from incrowd.vocabulary.counts_text import HIDDEN


def plain_rows(received: ReceivedRelease, like: pl.DataFrame, *, deals: int, seed: int | None) -> pl.DataFrame:
    """The released rows, decoded, in the columns and the types of a table, with the class; numbers as floats.

    A cell of which the release shows nothing gets a value that the column shows elsewhere, drawn at random, unless the
    table has missing cells in this column itself. A column of which the release shows nothing at all is constant, and
    a warning names it.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of columns that are left out; they come back below
        decoded: pl.DataFrame = received.frame(
            "decoded", deals=deals, seed=seed, weight=free_name("weight", like.columns)
        )
    empty = [name for name in like.columns if name not in decoded.columns or decoded[name].is_null().all()]
    if empty:
        names = ", ".join(map(repr, empty))
        warnings.warn(f"The release shows nothing of {names}: constant in the decoded rows.", UserWarning, stacklevel=3)
    generator = np.random.default_rng(seed)
    shown = decoded.with_columns(pl.lit(None).alias(name) for name in empty)
    columns = [_typed(shown[column.name], column.dtype) for column in like]
    gaps = {column.name for column in like if column.null_count()}.difference(empty)
    return decoded.with_columns(column if column.name in gaps else _filled(column, generator) for column in columns)


def _typed(column: pl.Series, kind: pl.DataType) -> pl.Series:
    """The column in the type that X has it in; numbers as Float64, whatever the method makes of them."""
    if kind.is_numeric():
        return column.cast(pl.Float64).fill_nan(None)
    if kind == pl.Boolean and column.dtype not in (pl.Boolean, pl.Null):
        return column == word_of(True)
    return column.cast(kind if kind.is_temporal() or kind == pl.Boolean else pl.String)


def _filled(column: pl.Series, generator: np.random.Generator) -> pl.Series:
    """The column with a value for each cell: one of those it has; 0, or a sign for nothing, if it has none."""
    shown = column.drop_nulls()
    if shown.is_empty():  # 0 leaves a linear learner no weight to give to the column
        nothing = pl.Series([HIDDEN if column.dtype == pl.String else 0]).cast(column.dtype)
        return nothing.gather(np.zeros(len(column), np.int64)).rename(column.name)
    drawn = shown.gather(generator.integers(0, len(shown), len(column)))
    return column.zip_with(column.is_not_null(), drawn)
