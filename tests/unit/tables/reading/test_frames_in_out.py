from __future__ import annotations

import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import FileFormatError, ParameterError, ValuesError
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Origin
from incrowd.vocabulary.schema import ColumnType

CANARY = "Zx9Canary-long-enough-to-be-stored-apart"
COLUMNS = {"age": [39, 50], "job": ["nurse", "cook"], "ill": [True, False]}
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.mark.parametrize("form", MAKERS)
def test_what_comes_in_goes_out(form):
    frame = MAKERS[form](COLUMNS)
    source = read(frame)
    assert source.origin.form == form
    assert source.frame.to_dict(as_series=False) == COLUMNS
    back = to_frame_like(source.frame, source.origin)
    assert type(back) is type(frame)
    assert pl.DataFrame(back).to_dict(as_series=False) == COLUMNS


@pytest.mark.parametrize("form", MAKERS)
def test_input_is_left_alone(form):
    frame = MAKERS[form]({"job": ["nurse", "?", None]})
    before = pickle.dumps(frame)
    read(frame)
    assert pickle.dumps(frame) == before


def test_files_come_out_as_polars():
    assert isinstance(to_frame_like(pl.DataFrame(COLUMNS), Origin("csv")), pl.DataFrame)


@pytest.mark.parametrize("form", MAKERS)
def test_nothing_hidden_goes_out(form):
    texts = pl.Series("job", [CANARY, "a text that is shown and long enough", "b"])
    masked = pl.select(pl.when(pl.Series([False, True, True])).then(texts)).to_series()
    sliced = pl.Series("pay", [0x5EC2E7, 1, 2, 3, 0x5EC2E7])[1:4]
    back = to_frame_like(pl.DataFrame([masked, sliced]), Origin(form))
    stored = pickle.dumps(back)
    assert CANARY.encode() not in stored
    assert b"Zx9C" not in stored
    assert (0x5EC2E7).to_bytes(8, "little") not in stored


def test_pandas_comes_out_without_index_and_attributes():
    frame = pd.DataFrame(COLUMNS, index=[7, 3])
    frame.attrs["who"] = CANARY
    source = read(frame)
    back = to_frame_like(source.frame, source.origin)
    assert isinstance(back.index, pd.RangeIndex)
    assert back.attrs == {}


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (pd.array([1, None], "Int64"), pl.Int64),
        (pd.array(["a", None], "string"), pl.String),
        (pd.array([True, None], "boolean"), pl.Boolean),
        (pd.Series(["a", None], dtype=object), pl.String),
        (pd.Series([True, None], dtype=object), pl.Boolean),
        (np.array([1.5, np.nan]), pl.Float64),
        (pd.Categorical(["a", None], categories=["b", "a"]), pl.String),
    ],
)
def test_missing_values_of_pandas(values, dtype):
    source = read(pd.DataFrame({"v": values}))
    assert source.frame["v"].dtype == dtype
    assert source.frame["v"].is_null().to_list() == [False, True]


def test_whole_and_real_objects_are_numbers():
    assert read(pd.DataFrame({"v": pd.Series([1, 2.5], dtype=object)})).frame["v"].to_list() == [1.0, 2.5]
    frame = read(pd.DataFrame({"v": [Decimal("1.50"), Decimal("2.25")]})).frame
    assert frame["v"].dtype.is_numeric()


def test_enums_declare_their_order():
    kind = pl.Enum(["low", "high"])
    source = read(pl.DataFrame({"v": pl.Series(["high", "low"], dtype=kind)}))
    assert (source.declared[0].type, source.declared[0].order) == (ColumnType.ORDERED, ("low", "high"))


@pytest.mark.parametrize(
    "thing", [pl.LazyFrame(COLUMNS), pl.Series([1]), [1, 2], {"a": [1]}, np.zeros((2, 2)), None, 7]
)
def test_other_things_are_refused(thing):
    with pytest.raises(ParameterError):
        read(thing)


@pytest.mark.parametrize(
    "frame", [pl.DataFrame(), pl.DataFrame({"a": []}), pd.DataFrame({"a": []}), pa.table({"a": []})]
)
def test_empty_frames_are_refused(frame):
    with pytest.raises(FileFormatError, match="no rows"):
        read(frame)


ODD = {
    "polars-list": lambda: pl.DataFrame({"v": [[1]]}),
    "polars-struct": lambda: pl.DataFrame({"v": [{"a": 1}]}),
    "polars-binary": lambda: pl.DataFrame({"v": [b"x"]}),
    "polars-object": lambda: pl.DataFrame({"v": pl.Series([object()], dtype=pl.Object)}),
    "pyarrow-list": lambda: pa.table({"v": [[1]]}),
    "pandas-interval": lambda: pd.DataFrame({"v": pd.arrays.IntervalArray.from_breaks([0, 1])}),
    "pandas-period": lambda: pd.DataFrame({"v": pd.PeriodIndex(["2020-01"], freq="M")}),
    "pandas-complex": lambda: pd.DataFrame({"v": [1 + 2j]}),
}


@pytest.mark.parametrize("make", ODD.values(), ids=ODD)
def test_columns_without_plain_values_are_refused(make):
    with pytest.raises(ValuesError):
        read(make())
