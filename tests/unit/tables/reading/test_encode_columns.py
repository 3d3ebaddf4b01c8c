from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ValuesError
from incrowd.tables.reading.encode import decode, encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.schema import Column, ColumnType, Schema


def encoded(values, kind, dtype=None, order=()):
    source = Source(pl.DataFrame({"v": pl.Series(values, dtype=dtype)}), Origin("polars"))
    return encode(source, Schema((Column("v", type=ColumnType(kind), order=order),)), ["v"])[0]["v"]


@pytest.mark.parametrize(
    ("values", "dtype", "kind", "dictionary"),
    [
        ([True, False, None], None, "boolean", ["false", "true"]),
        ([True, False, None], None, "categorical", ["false", "true"]),
        ([True, False, None], None, "integer", [0, 1]),
        ([3, 1, None], pl.Int8, "integer", [1, 3]),
        ([3, 1, None], pl.UInt64, "integer", [1, 3]),
        ([3, 1, None], pl.Int64, "real", [1.0, 3.0]),
        ([3, 10, None], pl.Int64, "categorical", ["10", "3"]),
        ([3.0, 1.0, float("nan")], None, "integer", [1, 3]),
        ([3.0, 1.0, float("nan")], None, "categorical", ["1", "3"]),
        ([3.5, 1.0, None], None, "categorical", ["1", "3.5"]),
        ([Decimal("1.50"), Decimal("0.25"), None], None, "real", [0.25, 1.5]),
        (
            [dt.date(2020, 1, 2), dt.date(2019, 1, 2), None],
            None,
            "date",
            [dt.date(2019, 1, 2), dt.date(2020, 1, 2)],
        ),
        ([dt.datetime(2020, 1, 2, 5), dt.datetime(2020, 1, 2, 6), None], None, "date", [dt.date(2020, 1, 2)]),
        ([dt.time(11), dt.time(10), None], None, "text", ["10:00:00", "11:00:00"]),
        (["b", "a", None], pl.Categorical, "categorical", ["a", "b"]),
        (["b", "a", None], pl.Enum(["c", "b", "a"]), "categorical", ["a", "b"]),
        ([None, None], pl.Null, "categorical", []),
        ([2, 1, None], None, "ordered", ["2", "1"]),
    ],
)
def test_dictionaries_of_typed_columns(values, dtype, kind, dictionary):
    column = encoded(values, kind, dtype, ("2", "1") if kind == "ordered" else ())
    assert column.dictionary.to_list() == dictionary
    assert column.codes[-1] == column.missing_code == len(dictionary)
    wanted = {"integer": pl.Int64, "real": pl.Float64, "date": pl.Date}.get(kind, pl.String)
    assert column.dictionary.dtype == wanted


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.5], "integer"),
        ([2.0**60], "integer"),
        ([dt.date(2020, 1, 1)], "integer"),
        ([dt.date(2020, 1, 1)], "real"),
        ([20200101], "date"),
        ([True], "date"),
        ([2], "boolean"),
    ],
)
def test_types_that_do_not_fit(values, kind):
    with pytest.raises(ValuesError, match="'v'"):
        encoded(values, kind)


def test_text_is_ordered_by_code_point():
    texts = ["b", "a", "B", "é", "中", "z", "\U0001f600", "\uffff"]
    assert encoded(texts, "categorical").dictionary.to_list() == sorted(texts)


def test_values_are_found_once_and_only_for_their_frame():
    source = Source(pl.DataFrame({"v": ["b", "a"]}), Origin("polars"))
    assert source.distinct(["v"])["v"] is source.distinct(["v"])["v"]
    turned = replace(source, frame=source.frame.reverse())
    schema = Schema((Column("v"),))
    assert encode(source, schema, ["v"])[0]["v"].codes.tolist() == [1, 0]
    assert encode(turned, schema, ["v"])[0]["v"].codes.tolist() == [0, 1]


def test_notices_come_in_the_order_of_the_names():
    frame = pl.DataFrame({name: ["same", "same"] for name in "abcdef"})
    schema = Schema(tuple(Column(name) for name in "abcdef"))
    _, notices = encode(Source(frame, Origin("polars")), schema, list("fbdace"))
    assert [notice.where for notice in notices] == list("fbdace")


def test_decoded_values_hide_nothing():
    dictionary = pl.Series(["a secret that is long enough to be stored apart", "shown", "x"])
    column = EncodedColumn("v", ColumnType.CATEGORICAL, np.array([0], np.int32), dictionary)
    decoded = decode(column, np.array([1, 3, 2], np.int32))
    assert decoded.to_list() == ["shown", None, "x"]
    buffers = decoded.to_arrow(compat_level=pl.CompatLevel.newest()).buffers()
    assert not any(b"secret" in buffer.to_pybytes() for buffer in buffers if buffer is not None)
