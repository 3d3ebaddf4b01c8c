"""Numbers seen as the public bins they lie in."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.plan.steps import Bin
from incrowd.rows.memory.population import bin_column, bin_table
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import render
from incrowd.vocabulary.schema import ColumnType


def column(values, kind=ColumnType.INTEGER):
    dictionary = sorted({value for value in values if value is not None})
    place = {value: i for i, value in enumerate(dictionary)} | {None: len(dictionary)}
    dtype = pl.Int64 if kind is ColumnType.INTEGER else pl.Float64
    return EncodedColumn("x", kind, np.array([place[v] for v in values], np.int32), pl.Series(dictionary, dtype=dtype))


def labels(binned):
    names = [*binned.dictionary.to_list(), None]
    return [names[code] for code in binned.codes]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.none() | st.integers(-50, 50), min_size=1, max_size=30),
    st.sets(st.integers(-60, 60) | st.floats(-60, 60), min_size=1, max_size=5),
)
def test_every_number_lies_in_its_bin(values, places):
    cuts = sorted(places)
    binned = bin_column(column(values), cuts)
    assert binned.type is ColumnType.CATEGORICAL
    expected = []
    for value in values:
        at = sum(cut < value for cut in cuts) if value is not None else None
        expected.append(None if at is None else render(Bin.intervals(cuts)[at], ColumnType.INTEGER))
    assert labels(binned) == expected
    assert len(set(binned.dictionary.to_list())) == len(binned.dictionary)
    assert binned.counts[:-1].all()


def test_a_boundary_belongs_to_the_lower_bin():
    assert labels(bin_column(column([29, 30, 31]), [30])) == ["(-inf, 30]", "(-inf, 30]", "(30, inf)"]


def test_without_cuts_nothing_is_told():
    binned = bin_column(column([1, 2, None]), [])
    assert labels(binned) == [None, None, None]
    assert binned.missing_code == 0


def test_dates_are_named_as_dates():
    days = EncodedColumn("x", ColumnType.DATE, np.array([0, 1], np.int32), pl.Series([-719162, 18321]).cast(pl.Date))
    assert labels(bin_column(days, [0])) == ["(-inf, 1970-01-01]", "(1970-01-01, inf)"]


def test_other_columns_stay_themselves():
    sex = EncodedColumn("sex", ColumnType.CATEGORICAL, np.array([0, 1, 0], np.int32), pl.Series(["f", "m"]))
    table = EncodedTable.of([column([1, 2, 3]), sex])
    binned = bin_table(table, Bin((("x", (1.5,)),)))
    assert binned["sex"] is sex
    assert binned["x"].codes.tolist() == [0, 1, 1]
    assert table["x"].type is ColumnType.INTEGER
