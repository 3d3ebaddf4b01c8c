"""A stream must give what the reader and encoder of small tables give, in pieces of any size."""

from __future__ import annotations

import csv
import datetime as dt
import io
import tempfile
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import IncrowdError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.streams import text
from incrowd.tables.streams.encode import draft_stream, encode_stream
from incrowd.tables.streams.gathering import NumberCodes
from incrowd.tables.streams.stream import open_stream
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.kernels import compiled_kernels, plain_kernels

SPELLINGS = [
    "a",
    "A",
    " a",
    "?",
    "* ",
    "",
    " ",
    "yes",
    "No",
    "caf\u00e9",
    "cafe\u0301",
    "a\u200b",
    "x" * 40,
    '"',
    ",",
    "\n",
]
NUMBERS = ["1", "1.0", "01", "-7", "2,5", "9" * 25, "NaN", "inf", "1e400"]
DATES = ["2020-02-29", "31/12/2003", "01/02/2003"]
WORDS = st.sampled_from(SPELLINGS + NUMBERS + DATES)
NATIVE = {
    pl.String: WORDS,
    pl.Int8: st.integers(-128, 127),
    pl.Int64: st.integers(-(2**63), 2**63 - 1),
    pl.UInt64: st.integers(0, 2**64 - 1),
    pl.Float32: st.floats(width=32),
    pl.Float64: st.sampled_from([0.0, -0.0, 1.0, 1.5, float("nan"), 1e300]),
    pl.Boolean: st.booleans(),
    pl.Date: st.dates(),
    pl.Datetime("us"): st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)),
    pl.Datetime("ms", "UTC"): st.integers(0, 10**12),
    pl.Time: st.times(),
    pl.Decimal(10, 2): st.integers(-999, 999).map(lambda n: None if n == 13 else n),
    pl.Categorical: WORDS,
    pl.Enum(["low", "mid", "high"]): st.sampled_from(["low", "mid", "high"]),
    pl.Null: st.none(),
}
KINDS = st.sampled_from(
    [*(kind for kind in ColumnType if kind is not ColumnType.ORDERED), *[ColumnType.CATEGORICAL] * 8]
)
ROLES = st.sampled_from([Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE])
SIZES = st.integers(1, 7)


def column(draw, dtype, height):
    few = draw(st.lists(NATIVE[dtype] | st.none(), min_size=1, max_size=4))
    values = draw(st.lists(st.sampled_from(few) | NATIVE[dtype], min_size=height, max_size=height))
    if isinstance(dtype, pl.Datetime) and dtype.time_zone:
        return pl.Series(values, dtype=pl.Int64).cast(dtype)
    return pl.Series(values, dtype=dtype)


@st.composite
def typed_tables(draw):
    height = draw(st.integers(1, 20))
    dtypes = draw(st.lists(st.sampled_from(list(NATIVE)), min_size=1, max_size=4))
    return pl.DataFrame([column(draw, dtype, height).alias(f"c{i}") for i, dtype in enumerate(dtypes)])


@st.composite
def text_tables(draw):
    height, width = draw(st.integers(1, 20)), draw(st.integers(1, 3))
    columns = [column(draw, pl.String, height).fill_null("").to_list() for _ in range(width)]
    return [f"c{i}" for i in range(width)], list(zip(*columns, strict=True))


def as_csv(table) -> bytes:
    names, rows = table
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([names, *rows])
    return file.getvalue().encode()


def outcome(call):
    """What a call gives, or the error it raises, as something to compare."""
    try:
        return call()
    except IncrowdError as refused:
        return type(refused), str(refused)


def small_pieces(scanned: int, parsed: int):
    return patch.multiple(text, SCANNED_BYTES=scanned, PARSED_BYTES=parsed)


def whole(path, schema, names):
    source = read(path, header=True)
    table, notices = encode(source, schema, names)
    marked = [n for n in source.notices if n.code in ("missing-marker", "already-suppressed")]
    shown = {n: (c.type, c.dictionary, c.codes.tolist(), c.counts.tolist()) for n, c in table.columns.items()}
    return shown, notices, marked


def in_blocks(path, schema, names, rows, threads, drafted=()):
    with tempfile.TemporaryDirectory() as folder:
        blocks = encode_stream(
            open_stream(path, header=True), schema, names, Path(folder), threads=threads, rows=rows, drafted=drafted
        )
        assert all(height == rows for height in blocks.rows[:-1])
        parts = list(blocks)
        shown = {
            n: (c.type, c.dictionary, np.concatenate([part[n].codes for part in parts]).tolist(), c.counts.tolist())
            for n, c in blocks.columns.items()
        }
    assert all(part[n].codes.dtype == np.int32 for part in parts for n in names)
    return shown, blocks.notices, list(blocks.markers)


def same(left, right):
    """Equal types, dictionaries, codes, counts and notices; or the same error."""
    if isinstance(left[0], type) or isinstance(right[0], type):
        assert left == right
        return
    assert left[1:] == right[1:]
    assert list(left[0]) == list(right[0])
    for name, (kind, dictionary, codes, counts) in left[0].items():
        assert (kind, codes, counts) == (right[0][name][0], *right[0][name][2:])
        assert dictionary.dtype == right[0][name][1].dtype
        assert dictionary.to_list() == right[0][name][1].to_list()
        assert dictionary.name == right[0][name][1].name


def written(folder: str, table) -> Path:
    if isinstance(table, pl.DataFrame):
        path = Path(folder, "t.parquet")
        table.write_parquet(path, row_group_size=3)
    else:
        path = Path(folder, "t.csv")
        path.write_bytes(as_csv(table))
    return path


@settings(max_examples=200, deadline=None)
@given(typed_tables() | text_tables(), st.data(), SIZES, st.sampled_from([1, 2]), st.integers(1, 30))
def test_blocks_are_the_encoded_table(table, data, rows, threads, scanned):
    names = table.columns if isinstance(table, pl.DataFrame) else table[0]
    schema = Schema(tuple(Column(name, data.draw(ROLES), data.draw(KINDS)) for name in names))
    with tempfile.TemporaryDirectory() as folder, small_pieces(scanned, 2 * scanned):
        path = written(folder, table)
        expected = outcome(lambda: whole(path, schema, names))
        same(outcome(lambda: in_blocks(path, schema, names, rows, threads)), expected)


@settings(max_examples=120, deadline=None)
@given(typed_tables() | text_tables(), SIZES, st.integers(1, 30))
def test_a_draft_of_all_rows_is_the_draft(table, rows, scanned):
    with tempfile.TemporaryDirectory() as folder, small_pieces(scanned, 2 * scanned):
        path = written(folder, table)
        schema, notices = draft_stream(open_stream(path, header=True))
        assert schema == draft_schema(read(path, header=True))
        assert notices == ()


@settings(max_examples=120, deadline=None)
@given(typed_tables() | text_tables(), SIZES)
def test_types_are_settled_on_all_values(table, rows):
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, table)
        right = draft_schema(read(path, header=True))
        wrong = [Column(c.name, c.role, c.type if c.order else ColumnType.TEXT, c.order) for c in right.columns]
        expected = outcome(lambda: whole(path, right, right.names))
        got = outcome(lambda: in_blocks(path, Schema(tuple(wrong)), right.names, rows, 1, drafted=right.names))
        same(got, expected)


cells = st.text(st.sampled_from('ab?* ,;"\n\r\u00e9\u4e2d\U0001f600'), max_size=6)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]),
    SIZES,
    st.integers(1, 30),
)
def test_frames_are_the_table(rows, line_end, encoding, size, scanned):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    with tempfile.TemporaryDirectory() as folder, small_pieces(scanned, 3 * scanned):
        path = Path(folder, "t.csv")
        path.write_bytes(file.getvalue().encode(encoding))
        expected = read(path, delimiter=",", header=True).frame
        stream = open_stream(path, delimiter=",", header=True)
        for _ in range(2):
            frames = list(stream.frames(size))
            assert [frame.height for frame in frames[:-1]] == [size] * (len(frames) - 1)
            assert pl.concat(frames).equals(expected)
        assert stream.rows == expected.height
        start = len(rows) // 2
        assert stream.part(start, size).equals(expected.slice(start, size))


@settings(max_examples=400, deadline=None)
@given(
    st.binary(max_size=8).map(lambda junk: junk.replace(b"\0", b"x"))
    | st.text(st.sampled_from('x,"\n\r?\u00e9\0'), max_size=20).map(str.encode),
    st.sampled_from([b"h\n", b"h,i\n", b"\xef\xbb\xbfh,i\n"]),
    st.integers(1, 9),
)
def test_any_text_is_read_or_refused_alike(body, header, scanned):
    with tempfile.TemporaryDirectory() as folder, small_pieces(scanned, 2 * scanned):
        path = Path(folder, "t.csv")
        path.write_bytes(header + body)
        expected = outcome(lambda: read(path, delimiter=",").frame.rows())
        assert outcome(lambda: [r for f in open_stream(path, delimiter=",").frames(2) for r in f.rows()]) == expected


@pytest.mark.parametrize("kernels", [compiled_kernels, plain_kernels])
@pytest.mark.parametrize("spread", [3, 2000, 2**63])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_number_codes_count_new_words(spread, kernels, data):
    known, first = NumberCodes(), {}
    generator = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    for _ in range(data.draw(st.integers(1, 4))):
        words = generator.integers(0, spread, 1500, dtype=np.uint64)
        present = generator.random(1500) < 0.9
        expected = [
            first.setdefault(w, len(first) + 1) if p else 0 for w, p in zip(words.tolist(), present, strict=True)
        ]
        with kernels():
            assert known.codes(words, present).tolist() == expected
    assert known.words.tolist() == list(first)
