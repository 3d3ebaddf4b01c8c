"""Reading against oracles written a second way: the csv module, regular expressions, plain Python."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import InputError
from incrowd.tables.reading.delimited import Fault, scan
from incrowd.tables.reading.encode import decode, encode
from incrowd.tables.reading.read import read
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.randomness import fresh_series
from incrowd.vocabulary.schema import Column, ColumnType, Schema
from support.kernels import compiled_kernels, plain_kernels

MISSING = {"", "?", "*"}


def read_bytes(data: bytes, **options: Any) -> Source:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        path.write_bytes(data)
        return read(path, header=True, **options)


def cell_of(text: str) -> str | None:
    bare = text[1:] if text.startswith(" ") else text
    bare = bare[:-1] if bare.endswith(" ") else bare
    return None if bare in MISSING else text


cells = st.text(st.sampled_from('ab?* ,;|\t"\n\r\u00e9\u4e2d\U0001f600'), max_size=6) | st.sampled_from(
    ["NA", "1", "?"]
)


@st.composite
def tables(draw):
    width = draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=8))
    return [f"c{i}" for i in range(width)], rows


@settings(deadline=None)
@given(
    tables(),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_what_csv_writes_is_read_back(table, delimiter, line_end, quoting, encoding):
    names, rows = table
    if any("\r" in cell for row in rows for cell in row):
        quoting = csv.QUOTE_ALL  # the writer does not quote a lone carriage return by itself
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    writer.writerows([names, *rows])
    source = read_bytes(text.getvalue().encode(encoding), delimiter=delimiter)
    assert source.frame.columns == names
    assert [list(row) for row in source.frame.rows()] == [[cell_of(cell) for cell in row] for row in rows]


FIELD = r'(?:"(?:[^"\0]|"")*"|[^,"\r\n\0]*)'
RECORD = re.compile(rf"({FIELD}(?:,{FIELD})*)(\r?\n|$)")


def oracle_records(text: str) -> list[list[str]] | None:
    """Strict records by regular expressions; None where the text is not well formed."""
    records, at, blank_end = [], 0, 0
    while at < len(text):
        match = RECORD.match(text, at)
        if match is None or (match.end() == at):
            return None
        fields = re.findall(rf"(?:^|,)({FIELD})", match[1])
        records.append([field[1:-1].replace('""', '"') if field[:1] == '"' else field for field in fields])
        blank_end = blank_end + 1 if match[1] == "" else 0
        at = match.end()
    if len(records[0]) > 1 and blank_end:
        records = records[:-blank_end]
    return records if len({len(record) for record in records}) == 1 else None


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from('x,"\n\r\0'), max_size=14), st.sampled_from(["h\n", "h,i\n"]))
def test_scanner_agrees_with_strict_records(body, header):
    text = header + body
    expected = oracle_records(text)
    data = np.frombuffer(text.encode(), np.uint8)
    with compiled_kernels():
        structure = scan(data, ",", "\n")
    with plain_kernels():
        assert scan(data, ",", "\n") == structure
    assert (structure.fault is Fault.NONE) == (expected is not None)
    if expected is not None:
        assert structure.records == len(expected) - 1


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('x,"\n\r?\u00e9'), max_size=14), st.sampled_from(["h\n", "h,i\n"]))
def test_read_is_right_or_refuses(body, header):
    text = header + body
    expected = oracle_records(text)
    if expected is None or len(expected) < 2:
        with pytest.raises(InputError):
            read_bytes(text.encode(), delimiter=",")
    else:
        rows = read_bytes(text.encode(), delimiter=",").frame.rows()
        assert [list(row) for row in rows] == [[cell_of(cell) for cell in row] for row in expected[1:]]


TYPED = {
    ColumnType.INTEGER: (st.integers(-(2**63), 2**63 - 1), str),
    ColumnType.REAL: (st.floats(allow_nan=False, allow_infinity=False), repr),
    ColumnType.DATE: (st.dates(), dt.date.isoformat),
    ColumnType.CATEGORICAL: (st.text(st.sampled_from("abcA\u00e9\u4e2d"), min_size=1, max_size=3), str),
    ColumnType.BOOLEAN: (st.sampled_from(["yes", "no"]), str),
}


@pytest.mark.parametrize("kind", TYPED)
@settings(deadline=None)
@given(data=st.data())
def test_codes_are_places_in_the_sorted_values(kind, data):
    values_of, write = TYPED[kind]
    values = data.draw(st.lists(values_of | st.none(), min_size=1, max_size=12))
    texts = [None if value is None else write(value) for value in values]
    frame = pl.DataFrame({"v": pl.Series(texts, dtype=pl.String)})
    table, _ = encode(Source(frame, Origin("csv")), Schema((Column("v", type=kind),)), ["v"])
    expected = sorted({value for value in values if value is not None})
    column = table["v"]
    assert column.dictionary.to_list() == expected
    assert column.codes.dtype == np.int32
    assert column.codes.tolist() == [len(expected) if v is None else expected.index(v) for v in values]
    assert decode(column, column.codes).to_list() == values


NATIVE = {
    pl.Int8: st.integers(-128, 127),
    pl.UInt64: st.integers(0, 2**63 - 1),
    pl.Int64: st.integers(-(2**63), 2**63 - 1),
    pl.Float32: st.floats(width=32, allow_nan=False, allow_infinity=False),
    pl.Float64: st.floats(allow_nan=False, allow_infinity=False),
    pl.Date: st.dates(),
}


@pytest.mark.parametrize("dtype", NATIVE)
@settings(deadline=None)
@given(data=st.data())
def test_typed_columns_need_no_text(dtype, data):
    values = data.draw(st.lists(NATIVE[dtype] | st.none(), min_size=1, max_size=12))
    series = pl.Series("v", values, dtype)
    kind = ColumnType.DATE if dtype == pl.Date else ColumnType.REAL if dtype.is_float() else ColumnType.INTEGER
    table, _ = encode(read(series.to_frame()), Schema((Column("v", type=kind),)), ["v"])
    assert decode(table["v"], table["v"].codes).to_list() == values
    assert table["v"].dictionary.to_list() == sorted({value for value in values if value is not None})


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.booleans()), min_size=1, max_size=20), st.integers(0, 5))
def test_fresh_columns_hold_only_what_they_show(pairs, skipped):
    texts = pl.Series([f"secret {text}" if hide else f"shown {text}" for text, hide in pairs])
    hidden = pl.Series([hide for _, hide in pairs])
    masked = pl.select(pl.when(~hidden).then(texts)).to_series()[skipped:]
    fresh = fresh_series(masked)
    assert fresh.to_list() == masked.to_list()
    buffers = fresh.to_arrow(compat_level=pl.CompatLevel.newest()).buffers()
    assert not any(b"secr" in buffer.to_pybytes() for buffer in buffers if buffer is not None)


@settings(deadline=None)
@given(st.lists(st.integers(1, 10**9) | st.none(), min_size=2, max_size=20))
def test_fresh_numbers_hold_only_what_they_show(numbers):
    secret = 0x5EC2E75EC2E7
    whole = pl.Series([secret, *(secret if number is None else number for number in numbers), secret])
    shown = pl.Series([False, *(number is not None for number in numbers), False])
    masked = pl.select(pl.when(shown).then(whole)).to_series()[1:-1]
    fresh = fresh_series(masked)
    assert fresh.to_list() == numbers
    (values,) = [np.frombuffer(buffer, np.int64) for buffer in fresh.to_arrow().buffers()[1:] if buffer]
    assert secret not in values
