"""Frames of a stream, its draft and its blocks, on tables small enough to look at."""

from __future__ import annotations

import datetime as dt
import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import HeaderError, ParameterError
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.streams import text
from incrowd.tables.streams.encode import draft_stream, encode_stream
from incrowd.tables.streams.stream import open_stream
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

TABLE = pl.DataFrame(
    {
        "age": [39, 50, None, 7, 39, 28, 28],
        "job": ["nurse", "?", "clerk", None, "nurse", " * ", "clerk"],
        "class": ["a", "b", "a", "b", "a", "b", "a"],
    }
)


def put(folder: Path, form: str) -> Path:
    """The table in one of the forms that are streamed."""
    path = folder / f"t.{form}"
    comma = TABLE.write_csv().encode()
    match form:
        case "csv":
            path.write_bytes(comma)
        case "csv.gz":
            path.write_bytes(gzip.compress(comma))
        case "csv.zst":
            path.write_bytes(pa.compress(comma, "zstd", asbytes=True))
        case "tsv":
            path.write_bytes(TABLE.write_csv(separator="\t").encode("utf-16"))
        case "parquet":
            TABLE.write_parquet(path, row_group_size=2)
        case "arrow":
            TABLE.write_ipc(path, record_batch_size=3)
        case "arrows":
            TABLE.write_ipc_stream(path)
        case "folder":
            path.mkdir()
            for name, part in (("b", TABLE[3:]), ("a", TABLE[:3]), ("a0", TABLE[:0])):
                part.write_parquet(path / f"{name}.parquet")
            (path / "_SUCCESS").touch()
            (path / ".b.parquet.crc").write_text("x")
    return path


FORMS = ["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "arrows", "folder"]


def expected(path: Path) -> pl.DataFrame:
    return read(TABLE).frame if path.is_dir() else read(path).frame


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8])
def test_frames_have_the_rows_asked_for_and_the_same_each_time(tmp_path, form, rows):
    path = put(tmp_path, form)
    stream = open_stream(path)
    for _ in range(2):
        frames = list(stream.frames(rows))
        assert [frame.height for frame in frames] == [min(rows, 7 - at) for at in range(0, 7, rows)]
        assert pl.concat(frames).equals(expected(path))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_known_of_a_stream(tmp_path, form):
    path = put(tmp_path, form)
    stream, table = open_stream(path), expected(path)
    assert stream.columns == ("age", "job", "class")
    assert stream.schema == dict(table.schema)
    assert stream.rows == 7
    assert stream.origin == (stream.origin if path.is_dir() else read(path).origin)
    files = list(path.glob("*.parquet")) if path.is_dir() else [path]
    packed_or_recoded = form in ("csv.gz", "csv.zst", "tsv")
    assert packed_or_recoded or stream.bytes == sum(file.stat().st_size for file in files)
    assert not packed_or_recoded or stream.bytes == 77
    assert stream.bytes_of_a_row == stream.bytes // 7
    assert stream.notices == ()


@pytest.mark.parametrize("form", FORMS)
def test_columns_in_the_order_asked_for(tmp_path, form):
    path = put(tmp_path, form)
    (frame,) = open_stream(path).frames(columns=["class", "age"])
    assert frame.equals(expected(path).select("class", "age"))
    with pytest.raises(HeaderError, match="'zip'"):
        open_stream(path).frames(columns=["zip"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("start", "rows"), [(0, 7), (0, 1), (2, 4), (6, 1), (3, 3)])
def test_parts_from_the_middle(tmp_path, monkeypatch, form, start, rows):
    monkeypatch.setattr(text, "SCANNED_BYTES", 20)
    path = put(tmp_path, form)
    assert open_stream(path).part(start, rows).equals(expected(path).slice(start, rows))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [1, 3, 100])
def test_blocks_are_the_encoded_table(tmp_path, form, rows):
    path = put(tmp_path, form)
    source = read(TABLE) if path.is_dir() else read(path)
    schema = draft_schema(source)
    table, notices = encode(source, schema, schema.names)
    blocks = encode_stream(open_stream(path), schema, schema.names, tmp_path, threads=2, rows=rows)
    assert blocks.notices == notices
    assert blocks.markers == source.notices
    assert blocks.height == 7
    assert blocks.rows == tuple(min(rows, 7 - at) for at in range(0, 7, rows))
    assert len(blocks) == len(blocks.rows)
    for name, column in table.columns.items():
        assert np.concatenate([block[name].codes for block in blocks]).tolist() == column.codes.tolist()
        assert blocks.columns[name].dictionary.equals(column.dictionary, check_dtypes=True, check_names=True)
        assert blocks.columns[name].counts.tolist() == column.counts.tolist()
    assert list(blocks.block(0, ["job"]).columns) == ["job"]


def test_a_name_is_no_pattern(tmp_path):
    table = pl.DataFrame({"^a.*$": [1, 2], "a": [3, 4], "*": [5, 6]})
    table.write_parquet(tmp_path / "t.parquet")
    table.write_csv(tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        stream = open_stream(tmp_path / name)
        assert [next(stream.frames(columns=[column])).columns for column in table.columns] == [["^a.*$"], ["a"], ["*"]]


def test_codes_take_the_room_they_need(tmp_path):
    pl.DataFrame({"a": range(70_000)}).write_parquet(tmp_path / "t.parquet")
    folder = tmp_path / "codes"
    folder.mkdir()
    schema = Schema((Column("a", type=ColumnType.INTEGER),))
    blocks = encode_stream(open_stream(tmp_path / "t.parquet"), schema, ["a"], folder, threads=1, rows=200)
    sizes = [file.stat().st_size // 200 for file in sorted(folder.iterdir())]
    assert sorted(set(sizes)) == [1, 2, 4]
    assert sizes == sorted(sizes)
    assert np.concatenate([block["a"].codes for block in blocks]).tolist() == list(range(70_000))


def test_all_ways_to_write_not_a_number_are_one(tmp_path):
    odd = np.array([0x7FF8000000000000, 0x7FF8000000000001, 0xFFF8000000000000, 0x3FF0000000000000], np.uint64)
    pl.DataFrame({"a": odd.view(np.float64)}).write_parquet(tmp_path / "t.parquet")
    schema = Schema((Column("a", type=ColumnType.REAL),))
    blocks = encode_stream(open_stream(tmp_path / "t.parquet"), schema, ["a"], tmp_path, threads=1, limit=2)
    assert blocks.block(0)["a"].codes.tolist() == [1, 1, 1, 0]
    assert blocks.notices == encode(read(tmp_path / "t.parquet"), schema, ["a"])[1]


def test_progress_ends_at_all_rows(tmp_path):
    told: list[tuple[int, int]] = []
    path = put(tmp_path, "csv")
    schema = draft_schema(read(path))
    encode_stream(
        open_stream(path), schema, ["age"], tmp_path, threads=1, rows=3, progress=lambda *rows: told.append(rows)
    )
    assert told == [(3, 7), (6, 7), (7, 7)]


def test_text_is_parsed_in_bounded_pieces(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": range(20_000), "b": "some text"}).write_csv(path)
    asked: list[int] = []
    plain = text.PlainFile.read
    monkeypatch.setattr(text, "SCANNED_BYTES", 1000)
    monkeypatch.setattr(text, "PARSED_BYTES", 5000)
    monkeypatch.setattr(text.PlainFile, "read", lambda file, at, size: asked.append(size) or plain(file, at, size))
    stream = open_stream(path)
    asked.clear()
    assert sum(frame.height for frame in stream.frames(700)) == 20_000
    assert max(asked) < 6000


def test_unpacked_text_has_no_name(tmp_path):
    path, scratch = put(tmp_path, "csv.gz"), tmp_path / "scratch"
    scratch.mkdir()
    stream = open_stream(path, scratch=scratch)
    assert next(stream.frames()).height == 7
    assert list(scratch.iterdir()) == []


def test_a_sample_is_told(tmp_path):
    path = tmp_path / "t.parquet"
    rows = 5000
    pl.DataFrame({"age": [str(i % 80) for i in range(rows)], "class": ["a", "b"] * (rows // 2)}).write_parquet(path)
    stream = open_stream(path)
    schema, notices = draft_stream(stream, rows=500)
    assert [(c.type, c.role) for c in schema.columns] == [
        (ColumnType.INTEGER, Role.QUASI_IDENTIFIER),
        (ColumnType.CATEGORICAL, Role.TARGET),
    ]
    assert [notice.message for notice in notices] == ["Types and roles were drafted from 500 of 5,000 rows."]
    assert draft_stream(stream, rows=500)[0] == schema
    assert draft_stream(stream, target="age", rows=500)[0]["age"].role is Role.TARGET
    with pytest.raises(HeaderError):
        draft_stream(stream, target="zip")


@pytest.mark.parametrize(
    ("rare", "kind"), [("forty", ColumnType.CATEGORICAL), ("40.5", ColumnType.REAL), ("007", ColumnType.CATEGORICAL)]
)
def test_a_rare_value_settles_the_type(tmp_path, rare, kind):
    """A sample does not see the one value; the encoding sees all."""
    path = tmp_path / "t.csv"
    values = [str(i % 80) for i in range(3000)]
    values[1700] = rare
    pl.DataFrame({"age": values, "class": ["a", "b"] * 1500}).write_csv(path)
    stream = open_stream(path)
    schema, _ = draft_stream(stream, rows=100)
    assert schema["age"].type is ColumnType.INTEGER
    blocks = encode_stream(stream, schema, schema.names, tmp_path, threads=1, rows=512, drafted=schema.names)
    source = read(path)
    whole = draft_schema(source)
    assert blocks.schema == whole
    assert blocks.columns["age"].type is kind
    table, notices = encode(source, whole, whole.names)
    assert np.concatenate([block["age"].codes for block in blocks]).tolist() == table["age"].codes.tolist()
    assert blocks.notices == notices


def test_a_declared_order_stays(tmp_path):
    path = tmp_path / "t.parquet"
    order = ("low", "mid", "high")
    pl.DataFrame({"a": pl.Series(["high", "low", None], dtype=pl.Enum(order))}).write_parquet(path)
    stream = open_stream(path)
    schema, _ = draft_stream(stream)
    assert schema["a"].order == order
    blocks = encode_stream(stream, schema, ["a"], tmp_path, threads=1, drafted=["a"])
    assert blocks.columns["a"].dictionary.to_list() == ["low", "high"]
    assert blocks.schema == schema


@pytest.mark.parametrize("wrong", [0, -1])
def test_numbers_out_of_range(tmp_path, wrong):
    stream = open_stream(put(tmp_path, "csv"))
    with pytest.raises(ParameterError):
        next(stream.frames(rows=wrong))
    with pytest.raises(ParameterError):
        draft_stream(stream, rows=wrong)
    with pytest.raises(ParameterError):
        encode_stream(stream, Schema((Column("age"),)), ["age"], tmp_path, threads=wrong)


def test_pages_are_read_alike_whatever_they_hold(tmp_path):
    moment = dt.datetime(2020, 5, 17, 3, 4, 5, 678_901)
    table = pl.DataFrame(
        {
            "text": ["b", None, "a", "b", ""] * 4,
            "category": pl.Series(["x", "y", None, "y", "z"] * 4, dtype=pl.Categorical),
            "ordered": pl.Series(["low", "high", None, "low", "high"] * 4, dtype=pl.Enum(["low", "high"])),
            "whole": [3, None, -(2**62), 2**62, 0] * 4,
            "small": pl.Series([-3, None, 7, 7, 0] * 4, dtype=pl.Int8),
            "large": pl.Series([2**64 - 1, None, 1, 2, 3] * 4, dtype=pl.UInt64),
            "real": [0.5, None, -0.0, float("nan"), 1e300] * 4,
            "truth": [True, None, False, True, True] * 4,
            "day": [moment.date(), None] * 10,
            "moment": [moment, None] * 10,
            "hour": [moment.time(), None] * 10,
            "price": pl.Series(["1.50", None] * 10).str.to_decimal(scale=2),
            "nothing": pl.Series([None] * 20, dtype=pl.String),
        }
    )
    table.write_parquet(tmp_path / "polars.parquet", row_group_size=7)
    pq.write_table(table.to_arrow(), tmp_path / "arrow.parquet", row_group_size=6, use_dictionary=False)
    for name in ("polars.parquet", "arrow.parquet"):
        stream, source = open_stream(tmp_path / name), read(tmp_path / name)
        assert pl.concat(stream.frames(3)).equals(source.frame)
        assert pl.concat(stream.frames(3)).schema == source.frame.schema
        schema = Schema(tuple(Column(each, type=ColumnType.CATEGORICAL) for each in ("text", "category", "ordered")))
        (tmp_path / name.partition(".")[0]).mkdir()
        folder = tmp_path / name.partition(".")[0]
        blocks = encode_stream(stream, schema, schema.names, folder, threads=1, rows=8)
        encoded, _ = encode(source, schema, schema.names)
        for each in schema.names:
            assert np.concatenate([block[each].codes for block in blocks]).tolist() == encoded[each].codes.tolist()


def test_what_only_the_dictionary_of_a_file_holds_is_no_value(tmp_path):
    codes = pa.array([0, 2, None, 0], pa.int32())
    table = pa.table({"job": pa.DictionaryArray.from_arrays(codes, pa.array(["nurse", "secret", "clerk"]))})
    pq.write_table(table, tmp_path / "t.parquet", store_schema=False)
    schema = Schema((Column("job", type=ColumnType.CATEGORICAL),))
    blocks = encode_stream(open_stream(tmp_path / "t.parquet"), schema, ["job"], tmp_path, threads=1)
    assert blocks.columns["job"].dictionary.to_list() == ["clerk", "nurse"]
    assert blocks.columns["job"].counts.tolist() == [1, 2, 1]
