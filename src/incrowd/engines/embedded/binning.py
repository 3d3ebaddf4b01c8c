"""Numbers seen as the public bins they lie in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from incrowd.plan.steps import Bin
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, LazyColumns
from incrowd.vocabulary.released_value import render
from incrowd.vocabulary.schema import ColumnType


def bin_table(table: EncodedTable, step: Bin) -> EncodedTable:
    """The table with the step's attributes as categories, one for each bin that occurs, named by its interval."""
    cuts = dict(step.cuts)

    def seen(name: str) -> EncodedColumn:
        return bin_column(table[name], cuts[name]) if name in cuts else table[name]

    return EncodedTable(LazyColumns({name: partial(seen, name) for name in table.columns}), table.height)


def bin_column(column: EncodedColumn, cuts: Sequence[float]) -> EncodedColumn:
    """A numeric column as a category of its bins; a missing value stays missing.

    Without cuts there is only one bin, which tells nothing: all values are missing.

    Examples
    --------
    >>> ages = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 2, 1], np.int32), pl.Series([20, 40]))
    >>> binned = bin_column(ages, [30])
    >>> binned.dictionary.to_list(), binned.codes.tolist()
    (['(-inf, 30]', '(30, inf)'], [0, 2, 1])
    """
    if not cuts:
        empty = pl.Series(column.name, [], pl.String)
        return EncodedColumn(column.name, ColumnType.CATEGORICAL, np.zeros_like(column.codes), empty)
    bins = np.searchsorted(np.asarray(cuts, np.float64), column.numbers, side="left")
    present = np.unique(bins)
    intervals = Bin.intervals(cuts)
    labels = pl.Series(column.name, [render(intervals[b], column.type) for b in present], pl.String)
    places = np.append(np.searchsorted(present, bins), len(present)).astype(np.int32)
    return EncodedColumn(column.name, ColumnType.CATEGORICAL, places[column.codes], labels)
