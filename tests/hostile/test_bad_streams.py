"""Streams refuse what the reader of small files refuses, in the same words; and files that change under them."""

from __future__ import annotations

import gzip
import os
import traceback
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import test_bad_files
import test_bad_headers

from incrowd.errors import FileFormatError, HeaderError, IncrowdError, OutputError, SchemaError, ValuesError
from incrowd.tables.reading import source
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.tables.streams import text
from incrowd.tables.streams.encode import encode_stream
from incrowd.tables.streams.stream import open_stream
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

CANARY = test_bad_files.CANARY


def refusal(call) -> IncrowdError:
    """The error of a call, checked for what every error must be."""
    with pytest.raises(IncrowdError) as caught:
        call()
    assert caught.value.exit_status == 2
    assert CANARY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    return caught.value


def drain(path: Path, **options) -> list[pl.DataFrame]:
    return list(open_stream(path, **options).frames(2))


def refused_alike(path: Path, **options) -> IncrowdError:
    """The error of streaming a file, which is that of reading it."""
    streamed, whole = refusal(lambda: drain(path, **options)), refusal(lambda: read(path, **options))
    assert (type(streamed), str(streamed)) == (type(whole), str(whole))
    return streamed


@pytest.mark.parametrize(
    ("name", "data"),
    [(name, data) for name, data, *_ in test_bad_files.REFUSED.values()],
    ids=test_bad_files.REFUSED,
)
@pytest.mark.parametrize("scanned", [3, 1 << 20])
def test_files_refused(tmp_path, monkeypatch, name, data, scanned):
    monkeypatch.setattr(text, "SCANNED_BYTES", scanned)
    refused_alike(test_bad_files.put(tmp_path, name, data))


@pytest.mark.parametrize(("data", "options"), test_bad_files.HANDLED.values(), ids=test_bad_files.HANDLED)
@pytest.mark.parametrize("scanned", [3, 1 << 20])
def test_files_handled(tmp_path, monkeypatch, data, options, scanned):
    monkeypatch.setattr(text, "SCANNED_BYTES", scanned)
    path = test_bad_files.put(tmp_path, "t.csv", data)
    stream = open_stream(path, **options)
    assert [frame.rows() for frame in stream.frames()] == [[("1", "2")]]
    assert stream.origin == read(path, **options).origin
    assert stream.notices == ()


@pytest.mark.parametrize(
    "names", [names for names, _ in test_bad_headers.REFUSED.values()], ids=test_bad_headers.REFUSED
)
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_headers_refused(tmp_path, names, form):
    path = tmp_path / f"t.{form}"
    if form == "csv":
        test_bad_headers.write_csv(tmp_path, names)
    else:
        test_bad_files._write_arrow(pa.Table.from_arrays([pa.array([1])] * len(names), names=names), path)
    assert isinstance(refused_alike(path), HeaderError)


@pytest.mark.parametrize("names", test_bad_headers.CONFUSABLE.values(), ids=test_bad_headers.CONFUSABLE)
def test_headers_told(tmp_path, names):
    path = test_bad_headers.write_csv(tmp_path, names)
    assert open_stream(path).notices == read(path).notices != ()


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_pandas_index_is_dropped(tmp_path, form):
    path = tmp_path / f"t.{form}"
    table = pl.DataFrame({"age": [39, 50], "__index_level_0__": [7, 3]})
    table.write_csv(path) if form == "csv" else table.write_parquet(path)
    stream = open_stream(path)
    assert stream.columns == ("age",)
    assert stream.notices == read(path).notices != ()
    assert next(stream.frames()).columns == ["age"]


def test_ten_thousand_columns(tmp_path):
    names = [f"c{i}" for i in range(10_000)]
    (frame,) = open_stream(test_bad_headers.write_csv(tmp_path, names)).frames()
    assert frame.columns == names


@pytest.mark.parametrize(("encoding", "line"), [("ascii", 3), ("utf-16", 1)])
def test_declared_wrongly(tmp_path, encoding, line):
    path = test_bad_files.put(tmp_path, "t.csv", "name,b\nAda,1\nJosé!,2\n".encode())
    assert f"Line {line} " in str(refused_alike(path, encoding=encoding))


@pytest.mark.parametrize("options", [{"delimiter": "ab"}, {"encoding": "klingon"}, {"missing": "NA"}])
def test_options_out_of_range(tmp_path, options):
    refused_alike(test_bad_files.put(tmp_path, "t.csv", b"a,b\n1,2\n"), **options)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.95, 0.999])
def test_truncated_parquet(tmp_path, share):
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"a": [CANARY] * 500, "b": range(500)}).write_parquet(whole, compression="uncompressed")
    data = whole.read_bytes()
    refused_alike(test_bad_files.put(tmp_path, "t.parquet", data[: int(len(data) * share)]))


def test_damaged_parquet_page(tmp_path):
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"a": [f"{CANARY}{i}" for i in range(5000)]}).write_parquet(whole, compression="zstd")
    data = bytearray(whole.read_bytes())
    data[40:400] = bytes(360)
    path = test_bad_files.put(tmp_path, "t.parquet", bytes(data))
    refused_alike(path)
    schema = Schema((Column("a"),))
    refusal(lambda: encode_stream(open_stream(path), schema, ["a"], tmp_path, threads=1))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.99])
@pytest.mark.parametrize("kind", ["file", "stream"])
def test_truncated_arrow(tmp_path, share, kind):
    whole = tmp_path / "whole.arrow"
    table = pl.DataFrame({"a": [CANARY] * 500, "b": range(500)})
    table.write_ipc(whole) if kind == "file" else table.write_ipc_stream(whole)
    data = whole.read_bytes()
    refusal(lambda: drain(test_bad_files.put(tmp_path, "t.arrow", data[: int(len(data) * share)])))


@pytest.mark.parametrize("values", test_bad_files.NESTED.values(), ids=test_bad_files.NESTED)
@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_nested_column(tmp_path, values, name):
    test_bad_files._write_arrow(pa.table({"deep": values}), tmp_path / name)
    assert isinstance(refused_alike(tmp_path / name), ValuesError)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_extension_type(tmp_path, name):
    values = pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef"], pa.binary(16)))
    test_bad_files._write_arrow(pa.table({"odd": values}), tmp_path / name)
    assert isinstance(refused_alike(tmp_path / name), ValuesError)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow"])
def test_no_rows(tmp_path, name):
    test_bad_files._write_arrow(pa.table({"a": pa.array([], pa.int64())}), tmp_path / name)
    assert "no rows" in str(refused_alike(tmp_path / name))


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_decompression_bomb(tmp_path, monkeypatch, ending):
    monkeypatch.setattr(source, "FREE_BYTES", 1 << 20)
    flood = b"a,b\n" + b"1,2\n" * 2_000_000
    packed = gzip.compress(flood) if ending == "gz" else pa.compress(flood, "zstd", asbytes=True)
    assert "bomb" in str(refused_alike(test_bad_files.put(tmp_path, f"t.csv.{ending}", packed)))


@pytest.mark.parametrize("name", ["t.arff", "t.xlsx"])
def test_formats_that_are_read_whole(tmp_path, name):
    data = b"@relation r\n" if name == "t.arff" else b"PK\x03\x04" + bytes(20)
    assert "Parquet or CSV" in str(refusal(lambda: drain(test_bad_files.put(tmp_path, name, data))))


def test_a_record_beyond_all_bounds(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "SCANNED_BYTES", 1 << 10)
    monkeypatch.setattr(text, "MOST_RECORD_BYTES", 1 << 12)
    path = test_bad_files.put(tmp_path, "t.csv", b'a,b\n1,2\n3,"' + CANARY.encode() * 1000 + b'"\n')
    assert "Line 3 " in str(refusal(lambda: drain(path)))


# --- files that change ------------------------------------------------------------------------------------------------


def _table(path: Path, rows: int) -> None:
    table = pl.DataFrame({"a": [str(i % 9) for i in range(rows)], "b": [CANARY] * rows})
    match path.suffix:
        case ".csv":
            table.write_csv(path)
        case ".gz":
            path.write_bytes(gzip.compress(table.write_csv().encode()))
        case ".parquet":
            table.write_parquet(path, row_group_size=10)
        case ".arrow":
            table.write_ipc(path, record_batch_size=10)


CHANGES = {
    "grown": lambda path: _table(path, 200),
    "shrunk": lambda path: _table(path, 50),
    "emptied": lambda path: path.write_bytes(b""),
    "touched": lambda path: os.utime(path, ns=(1, 1)),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_a_file_that_changes_between_passes(tmp_path, name, change):
    path = tmp_path / name
    _table(path, 100)
    stream = open_stream(path)
    assert sum(frame.height for frame in stream.frames(30)) == 100
    change(path)
    refused = refusal(lambda: list(stream.frames(30)))
    assert isinstance(refused, FileFormatError)
    assert "changed while it was read" in str(refused)


@pytest.mark.parametrize("change", ["grown", "touched", "gone"])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet"])
def test_a_file_that_changes_during_a_pass(tmp_path, monkeypatch, name, change):
    monkeypatch.setattr(text, "SCANNED_BYTES", 200)
    monkeypatch.setattr(text, "PARSED_BYTES", 400)
    path = tmp_path / name
    _table(path, 100)
    stream = open_stream(path)
    frames = stream.frames(10)
    assert next(frames).height == 10
    CHANGES[change](path)
    assert "changed while it was read" in str(refusal(lambda: list(frames)))


def test_another_number_of_rows_is_noticed_whatever_the_file_says(tmp_path):
    from dataclasses import replace

    path = tmp_path / "t.parquet"
    _table(path, 100)
    stream = replace(open_stream(path), rows=101)
    assert "101 rows" in str(refusal(lambda: list(stream.frames(30))))


# --- folders ----------------------------------------------------------------------------------------------------------

GOOD = pl.DataFrame({"a": [1, 2], "b": ["x", "y"]})
ODD_PARTS = {
    "column-missing": (GOOD.select("a"), "'b.parquet' .* no column 'b'"),
    "column-more": (GOOD.with_columns(c=1), "'b.parquet' .* column 'c' more"),
    "other-type": (GOOD.cast({"a": pl.Int32}), "'b.parquet' .* 'a' has the type Int32, not Int64"),
    "other-order": (GOOD.select("b", "a"), "'b.parquet' .* another order"),
    "nested": (GOOD.with_columns(b=pl.concat_list("b")), "'b' is nested"),
}


@pytest.mark.parametrize(("part", "told"), ODD_PARTS.values(), ids=ODD_PARTS)
def test_a_folder_of_files_that_differ(tmp_path, part, told):
    GOOD.write_parquet(tmp_path / "a.parquet")
    part.write_parquet(tmp_path / "b.parquet")
    with pytest.raises((FileFormatError, ValuesError), match=told):
        open_stream(tmp_path)


def test_a_folder_with_a_broken_file(tmp_path):
    GOOD.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-9])
    assert "'b.parquet'" in str(refusal(lambda: open_stream(tmp_path)))


def test_a_folder_with_a_damaged_page(tmp_path):
    table = pl.DataFrame({"a": [f"{CANARY}{i}" for i in range(5000)]})
    table.write_parquet(tmp_path / "a.parquet")
    table.write_parquet(tmp_path / "b.parquet")
    data = bytearray((tmp_path / "b.parquet").read_bytes())
    data[40:400] = bytes(360)
    (tmp_path / "b.parquet").write_bytes(data)
    assert "'b.parquet'" in str(refusal(lambda: drain(tmp_path)))


@pytest.mark.parametrize("name", ["more.csv", "year=2020/a.parquet"])
def test_a_folder_with_something_else(tmp_path, name):
    GOOD.write_parquet(tmp_path / "a.parquet")
    other = tmp_path / name
    other.parent.mkdir(exist_ok=True)
    other.write_text("a,b\n")
    assert repr(name.split("/")[0]) in str(refusal(lambda: open_stream(tmp_path)))


def test_a_folder_without_a_table(tmp_path):
    assert "no Parquet file" in str(refusal(lambda: open_stream(tmp_path)))
    GOOD.clear().write_parquet(tmp_path / "a.parquet")
    assert "no rows" in str(refusal(lambda: open_stream(tmp_path)))
    assert "not a file" in str(refusal(lambda: open_stream(tmp_path / "nowhere.csv")))


def test_a_file_added_to_the_folder_is_not_read(tmp_path):
    """The files are those that were there when it was opened; none of them may change."""
    GOOD.write_parquet(tmp_path / "a.parquet")
    stream = open_stream(tmp_path)
    GOOD.write_parquet(tmp_path / "b.parquet")
    assert sum(frame.height for frame in stream.frames()) == 2
    GOOD.head(1).write_parquet(tmp_path / "a.parquet")
    assert "'a.parquet' changed" in str(refusal(lambda: list(stream.frames())))


def test_an_encrypted_footer(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [CANARY]}), path)
    data = path.read_bytes()
    path.write_bytes(b"PARE" + data[4:-4] + b"PARE")
    assert "encrypted" in str(refused_alike(path))


# --- encoding ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        (ColumnType.INTEGER, "Round it"),
        (ColumnType.REAL, "bins"),
        (ColumnType.DATE, "months"),
        (ColumnType.TEXT, "Shorten"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("name", ["a", "b"])
def test_too_many_distinct_values(tmp_path, kind, advice, form, name):
    path = tmp_path / f"t.{form}"
    table = pl.DataFrame({"a": range(1000), "b": [f"{CANARY}{i}" for i in range(1000)]})
    table.write_csv(path) if form == "csv" else table.write_parquet(path)
    schema = Schema((Column("a", type=kind), Column("b", type=kind)))
    told = str(refusal(lambda: encode_stream(open_stream(path), schema, [name], tmp_path, threads=1, limit=999)))
    assert f"Column {name!r} has more than 999 distinct values" in told
    assert advice in told


@pytest.mark.parametrize("kind", [ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE, ColumnType.BOOLEAN])
def test_values_that_do_not_have_their_type(tmp_path, kind):
    path = test_bad_files.put(tmp_path, "t.csv", f"a,b\n{CANARY},2\n1,{CANARY}\n".encode())
    schema = Schema((Column("a", type=kind),))
    streamed = refusal(lambda: encode_stream(open_stream(path), schema, ["a"], tmp_path, threads=1, rows=1))
    whole = refusal(lambda: encode(read(path), schema, ["a"]))
    assert (type(streamed), str(streamed)) == (type(whole), str(whole))


def test_one_class(tmp_path):
    path = test_bad_files.put(tmp_path, "t.csv", b"a,b\n1,2\n3,2\n")
    schema = Schema((Column("a"), Column("b", Role.TARGET)))
    assert isinstance(
        refusal(lambda: encode_stream(open_stream(path), schema, ["a", "b"], tmp_path, threads=1)), SchemaError
    )


@pytest.mark.parametrize("name", ["zip", "c"])
def test_unknown_column(tmp_path, name):
    path = test_bad_files.put(tmp_path, "t.csv", b"a,b\n1,2\n3,2\n")
    schema = Schema((Column("a"), Column("c")))
    assert isinstance(
        refusal(lambda: encode_stream(open_stream(path), schema, [name], tmp_path, threads=1)), HeaderError
    )


def test_a_scratch_folder_that_cannot_be_written(tmp_path):
    path = test_bad_files.put(tmp_path, "t.csv", f"a,b\n{CANARY},2\n".encode())
    schema = Schema((Column("a"),))
    refused = refusal(lambda: encode_stream(open_stream(path), schema, ["a"], tmp_path / "nowhere", threads=1))
    assert isinstance(refused, OutputError)
    packed = test_bad_files.put(tmp_path, "t.csv.gz", gzip.compress(path.read_bytes()))
    assert isinstance(refusal(lambda: open_stream(packed, scratch=tmp_path / "nowhere")), OutputError)


def test_codes_that_someone_cut_off(tmp_path):
    path = test_bad_files.put(tmp_path, "t.csv", b"a,b\n1,2\n3,2\n")
    folder = tmp_path / "codes"
    folder.mkdir()
    blocks = encode_stream(open_stream(path), Schema((Column("a"),)), ["a"], folder, threads=1)
    (file,) = folder.iterdir()
    file.write_bytes(b"")
    assert "scratch folder" in str(refusal(lambda: blocks.block(0)["a"]))
    file.unlink()
    assert "scratch folder" in str(refusal(lambda: blocks.block(0)["a"]))
