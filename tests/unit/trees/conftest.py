"""Tables from plain lists."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest

from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

TYPES = {int: ColumnType.INTEGER, float: ColumnType.REAL, date: ColumnType.DATE, str: ColumnType.CATEGORICAL}
DTYPES = {ColumnType.INTEGER: pl.Int64, ColumnType.REAL: pl.Float64, ColumnType.DATE: pl.Date}


def encode(name, values, order=None):
    known = [value for value in values if value is not None]
    kind = ColumnType.ORDERED if order else TYPES[type(known[0]) if known else str]
    dictionary = list(order) if order else sorted(set(known))
    place = {value: code for code, value in enumerate(dictionary)} | {None: len(dictionary)}
    codes = np.array([place[value] for value in values], np.int32)
    return EncodedColumn(name, kind, codes, pl.Series(name, dictionary, DTYPES.get(kind, pl.String)))


@pytest.fixture
def make_table():
    """Encode keyword arguments as columns; a pair (values, order) is an ordered category."""

    def make(**columns):
        encoded = []
        for name, values in columns.items():
            values, order = values if isinstance(values, tuple) else (values, None)
            encoded.append(encode(name, values, order))
        return EncodedTable.of(encoded)

    return make
