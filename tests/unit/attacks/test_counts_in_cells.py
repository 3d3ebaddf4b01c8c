"""Attackers read counts: every value that is named may stand behind the cell, a hidden cell hides all."""

import numpy as np
import polars as pl

from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_cell import CellReader
from incrowd.vocabulary.schema import Column, ColumnType


def test_counts_are_read():
    codes = np.array([0, 1, 2, 3], np.int32)
    ages = CellReader(
        Column("age", type=ColumnType.INTEGER), EncodedColumn("age", ColumnType.INTEGER, codes, pl.Series([20, 30, 40]))
    )
    jobs = CellReader(Column("job"), EncodedColumn("job", ColumnType.CATEGORICAL, codes, pl.Series(["a", "b|c", "d"])))
    read = [ages.read("(-inf, 25]:3|(25, 35]:1|?:2"), jobs.read("a:1|b%7Cc:2"), jobs.read("*"), jobs.read("e:1")]
    assert [one.covers.tolist() for one in read[:3]] == [
        [True, True, False, True],
        [True, True, False, False],
        [True, True, True, True],
    ]
    assert [one.understood for one in read] == [True, True, True, False]
    assert [None if one.shares is None else one.shares.round(3).tolist() for one in read[:3]] == [
        [0.5, 0.167, 0.0, 0.333],
        [0.333, 0.667, 0.0, 0.0],
        None,
    ]
