"""Pieces of a table come to one file, in every form, with nothing beside their cells."""

from __future__ import annotations

import gzip

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import OutputError
from incrowd.tables.publishing import serialise
from incrowd.tables.publishing.serialise import parquet_options, write_pieces
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm

SCHEMA = pa.schema({"t": pa.string(), "n": pa.int64()})
PIECES = [[("a", 1), (None, 2)], [], [("=b", None)]]


def table(rows, schema=SCHEMA):
    return pa.table([[row[place] for row in rows] for place in range(2)], schema=schema)


def unpacked(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data).decode()
    if path.suffix == ".zst":
        return pa.input_stream(str(path), compression="zstd").read().decode()
    return data.decode()


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
@pytest.mark.parametrize("missing", ["", "?"])
def test_text_has_one_header(tmp_path, ending, missing):
    path = tmp_path / f"t.{ending}"
    form = FileForm.of(path, delimiter=";", missing=missing)
    write_pieces(map(table, PIECES), path, form)
    assert unpacked(path) == f"t;n\na;1\n{missing};2\n'=b;{missing}\n"
    write_pieces([table([])], path, form)
    assert unpacked(path) == "t;n\n"


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_typed_files_are_all_pieces(tmp_path, ending):
    path = tmp_path / f"t.{ending}"
    form = FileForm.of(path)
    write_pieces(map(table, PIECES), path, form)
    read = pq.read_table(path) if ending == "parquet" else pa.ipc.open_file(str(path)).read_all()
    assert read.to_pydict() == {"t": ["a", None, "=b"], "n": [1, 2, None]}
    assert bytes_check(path, form).passed
    write_pieces([table([])], path, form)
    write_pieces([], path, form)


def test_dictionaries_become_text_where_a_file_holds_but_one(tmp_path):
    path = tmp_path / "t.arrow"
    coded = pa.table({"t": pa.array(["a", "b"]).dictionary_encode(), "n": [1, 2]})
    other = pa.table({"t": pa.array(["c", "a"]).dictionary_encode(), "n": [3, 4]})
    write_pieces([coded, other], path, FileForm.of(path))
    read = pa.ipc.open_file(str(path)).read_all()
    assert read.schema == pa.schema({"t": pa.large_string(), "n": pa.int64()})
    assert read["t"].to_pylist() == ["a", "b", "c", "a"]
    path = tmp_path / "t.csv"
    write_pieces([coded, other], path, FileForm.of(path))
    assert path.read_text() == "t,n\na,1\nb,2\nc,3\na,4\n"


def test_parquet_tells_nothing_beside_its_cells():
    schema = pa.schema(
        {
            "a": pa.string(),
            "b": pa.large_string(),
            "c": pa.dictionary(pa.int32(), pa.string()),
            "d": pa.int64(),
            "e": pa.dictionary(pa.int32(), pa.int64()),
            "f": pa.date32(),
        }
    )
    assert parquet_options(schema) == {
        "compression": "zstd",
        "store_schema": False,
        "write_statistics": False,
        "use_dictionary": ["a", "b", "c"],
    }
    assert parquet_options(schema, "none")["compression"] == "none"


def test_what_cannot_be_written_piece_by_piece_is_refused(tmp_path):
    for kind in ("arff", "excel"):
        with pytest.raises(OutputError, match=f"^{kind} cannot be written piece by piece"):
            write_pieces([table([])], tmp_path / "t", FileForm(kind))


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("of which nothing is known"), "OSError"),
        (pl.exceptions.ComputeError("a cell"), "ComputeError"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_why_it_cannot_be_written_is_told(tmp_path, error, reason, ending):
    def pieces():
        yield table([("a", 1)])
        raise error

    path = tmp_path / f"t.{ending}"
    with pytest.raises(OutputError) as told:
        write_pieces(pieces(), path, FileForm.of(path))
    assert str(told.value) == f"t.{ending} cannot be written ({reason}). Is the disk full?"


def test_a_writer_is_closed_whatever_happens(tmp_path, monkeypatch):
    closed = []

    class Writer:
        def write_table(self, piece):
            raise KeyError

        def close(self):
            closed.append(True)

    monkeypatch.setattr("pyarrow.parquet.ParquetWriter", lambda *_, **__: Writer())
    with pytest.raises(KeyError):
        write_pieces([table([])], tmp_path / "t.parquet", FileForm("parquet"))
    assert closed == [True]
    assert set(serialise.STREAMED) == {"csv", "parquet", "arrow", "jsonl"}
