"""A file is opened as it is: no line passed over, no name taken for a pattern, no damage that ends the process."""

from __future__ import annotations

import codecs
import gzip
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError
from incrowd.verification.class_sizes import verify_table
from incrowd.verification.delimited import examine
from incrowd.verification.opening import connect, exactly, open_large, open_table
from incrowd.vocabulary.forms import FileForm


def opened(path: Path, form: FileForm | None = None) -> tuple[list[str], list[tuple[object, ...]]]:
    """The names and the rows of a file."""
    with connect() as connection:
        names = open_table(connection, path, form or FileForm.of(path), copy=True)
        return names, connection.execute("FROM released").fetchall()


def file(folder: Path, data: bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


SOUND = {
    "line feeds": (b"a,b\n1,2\n3,4\n", [("1", "2"), ("3", "4")]),
    "both": (b"a,b\r\n1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
    "carriage returns": (b"a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
    "no end of the last line": (b"a,b\n1,2\n3,4", [("1", "2"), ("3", "4")]),
    "blank lines at the end": (b"a,b\n1,2\n\n\n", [("1", "2")]),
    "blank lines at the end, both": (b"a,b\r\n1,2\r\n\r\n", [("1", "2")]),
    "byte order mark": (codecs.BOM_UTF8 + b'"a",b\n1,2\n', [("1", "2")]),
    "header over two lines": (b'a,"b\nc"\n1,2\n', [("1", "2")]),
    "line break in a cell": (b'a,b\n1,"x\n#y"\n3,4\n', [("1", "x\n#y"), ("3", "4")]),
    "quotes in a cell": (b'a,b\n"1""","x, ""y"""\n', [('1"', 'x, "y"')]),
    "empty cells": (b'a,b\n,\n"",x\n', [(None, None), ("", "x")]),
    "letters beyond ascii": ("a,b\nä,€\n".encode(), [("ä", "€")]),
    "one column with empty lines": (b"a\n1\n\n3\n\n", [("1",), (None,), ("3",), (None,)]),
    "one column, quoted": (b'a\n"1"\n\n""\n', [("1",), (None,), ("",)]),
    "spaces": (b"a,b\n 1 , \n", [(" 1 ", " ")]),
}


@pytest.mark.parametrize(("data", "rows"), SOUND.values(), ids=SOUND)
def test_rows_are_read_as_they_are(tmp_path, data, rows):
    _, read = opened(file(tmp_path, data))
    assert read == rows


@pytest.mark.parametrize("mark", ["#", "# ", "%", "//", ";", "--", "!", "'", "\\", "REM", "~", "@", "*", "\t#"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "csv.zst"])
def test_no_line_is_a_comment(tmp_path, mark, ending):
    path = tmp_path / f"t.{ending}"
    text = "age,sex\n" + "30,f\n" * 50 + "41,m\n" * 50 + f"{mark}N/A,x\n"
    path.write_text(text)
    if ending == "csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    if ending == "csv.zst":
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(text.encode())
    verdict = verify_table(path, FileForm.of(path), [("k", ["age", "sex"], 5)])
    assert not verdict.passed
    assert (verdict.sizes.rows, verdict.sizes.smallest) == (101, 1)


UNSOUND = {
    "a blank line between rows": b"a,b\n1,2\n\n3,4\n",
    "a blank line between rows, quoted": b'a,b\n1,2\n\n"3",4\n',
    "a blank line first": b"\na,b\n1,2\n",
    "a short row": b"a,b\n1,2\n3\n",
    "a long row": b"a,b\n1,2\n3,4,5\n",
    "a delimiter too many": b"a,b\n1,2\n3,4,\n",
    "a quote that is not closed": b'a,b\n1,"2\n3,4\n',
    "a quote inside a field": b'a,b\n1,x"y\n3,4\n',
    "two quotes inside a field": b'a,b\n1,x"y"z\n3,4\n',
    "a quote after a space": b'a,b\n1, "y"\n3,4\n',
    "letters after a quote": b'a,b\n1,"x"y\n3,4\n',
    "a carriage return inside a line": b"a,b\n1,2\r3,4\n",
    "two kinds of line ends": b"a,b\n1,2\r\n3,4\n5,6\r\n",
    "a NUL byte": b"a,b\n1,2\x00\n",
    "another encoding": "a,b\n1,ä\n".encode("latin-1"),
    "another encoding in a name": "ä,b\n1,2\n".encode("latin-1"),
    "nothing": b"",
}


@pytest.mark.parametrize("data", UNSOUND.values(), ids=UNSOUND)
def test_what_is_no_plain_table_is_not_judged(tmp_path, data):
    path = file(tmp_path, data)
    with pytest.raises(FileFormatError):
        opened(path)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11, 64])
def test_pieces_of_any_size_are_counted_alike(tmp_path, monkeypatch, size):
    data = b'a,"b\n1"\r\n1,"x\r\n""y"\r\n"2\n\n",\r\n3,"z,"\r\n,4\r\n\r\n'
    monkeypatch.setattr("incrowd.verification.delimited.STEP", size)
    structure = examine(file(tmp_path, data), FileForm())
    assert (structure.names, structure.rows) == (["a", "b\n1"], 4)


@pytest.mark.parametrize(
    "act",
    [
        lambda connection, path: open_table(connection, path, FileForm(), copy=True),
        lambda connection, path: open_table(connection, path, FileForm()),
        lambda connection, path: open_large(connection, path, FileForm(), path.parent),
        lambda _, path: verify_table(path, FileForm(), [("k", ["a"], 1)]),
    ],
)
def test_a_row_that_duckdb_loses_is_noticed(tmp_path, monkeypatch, act):
    """Whatever DuckDB passes over: its rows are counted another way."""
    path = file(tmp_path, b"a,b\n1,2\n#3,4\n")
    true = examine(path, FileForm())
    monkeypatch.setattr("incrowd.verification.opening.examine", lambda *_: replace(true, rows=true.rows + 1))
    with connect(scratch=tmp_path) as connection, pytest.raises(FileFormatError, match="reads 2 rows, the file has 3"):
        act(connection, path)


def test_a_long_line_and_many_rows(tmp_path):
    text = "a,b\n" + f'{"x" * 1_000_000},"{"y" * 1_000_000}"\n' * 3 + '1,"2\n3"\n' * 300_000
    path = file(tmp_path, text.encode())
    verdict = verify_table(path, FileForm(), [("k", ["a", "b"], 3)])
    assert verdict.passed
    assert verdict.sizes.histogram == ((3, 1), (300_000, 1))


def test_a_line_beyond_all_bounds(tmp_path):
    path = file(tmp_path, b"a,b\n1," + b"x" * 17_000_000 + b"\n")
    with pytest.raises(FileFormatError):
        opened(path)


@pytest.mark.parametrize(
    "packed", [b"\x1f\x8b\x08\x00broken", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9]], ids=["broken", "cut"]
)
def test_damaged_gzip(tmp_path, packed):
    with pytest.raises(FileFormatError):
        opened(file(tmp_path, packed, "t.csv.gz"))


# names that are no patterns

PATTERNS = ["a[1]", "a*", "a?", "[ab]", "**", "a[!b]", "a{1,2}", "a'b", "~", "a b", "a\\b", "a]", "[", "k=1"]
DECOYS = ["a1", "ab", "a", "b", "axb", "a2"]


def write(frame: pl.DataFrame, path: Path) -> None:
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".arrow":
        frame.write_ipc(path, compat_level=pl.CompatLevel.oldest())
    else:
        rows = "\n".join(map(str, frame["age"].to_list()))
        path.write_text(f"@relation r\n@attribute age numeric\n@data\n{rows}\n")


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "arff"])
@pytest.mark.parametrize("name", PATTERNS)
def test_a_name_is_no_pattern(tmp_path, name, ending):
    for decoy in DECOYS:
        write(pl.DataFrame({"age": [30] * 50}), tmp_path / f"{decoy}.{ending}")
    path = tmp_path / f"{name}.{ending}"
    write(pl.DataFrame({"age": [41]}), path)
    assert verify_table(path, FileForm.of(path), [("k", ["age"], 5)]).sizes.histogram == ((1, 1),)


def test_a_folder_with_a_pattern_in_its_name(tmp_path):
    for folder, rows in (("s[1]", 1), ("s1", 50)):
        (tmp_path / folder).mkdir()
        for part in ("p[0].parquet", "p0.parquet"):
            write(pl.DataFrame({"age": [30] * rows}), tmp_path / folder / part)
    sizes = verify_table(tmp_path / "s[1]", FileForm("parquet"), [("k", ["age"], 5)]).sizes
    assert sizes.histogram == ((2, 1),)


def test_a_name_that_duckdb_cannot_be_told_is_refused(tmp_path):
    """To DuckDB a backslash parts folders, wherever there is a pattern."""
    path = file(tmp_path, b"a\n1\n", "a\\[1].csv")
    with connect() as connection, pytest.raises(FileFormatError, match="Rename"):
        exactly(connection, path)


# Parquet


def test_no_column_comes_from_the_name_of_a_folder(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    write(pl.DataFrame({"age": [30, 30]}), folder / "t.parquet")
    names, rows = opened(folder / "t.parquet")
    assert (names, rows) == (["age"], [(30,), (30,)])


def test_files_of_other_columns_are_not_one_table(tmp_path):
    write(pl.DataFrame({"age": [30]}), tmp_path / "1.parquet")
    write(pl.DataFrame({"sex": [30]}), tmp_path / "2.parquet")
    with pytest.raises(FileFormatError, match="same columns"):
        opened(tmp_path, FileForm("parquet"))


def test_names_that_differ_in_case_are_two_columns(tmp_path):
    pq.write_table(pa.table({"Age": ["x"], "age": ["y"]}), tmp_path / "t.parquet")
    assert opened(tmp_path / "t.parquet") == (["Age", "age"], [("x", "y")])


# Arrow


def damaged_arrow(path: Path) -> Path:
    """An Arrow file whose texts begin far beyond its buffer."""
    table = pa.table({"a": pa.array(["xx", "yyy", "z"] * 10)})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(path.read_bytes())
    at = data.index(struct.pack("<4i", 0, 2, 5, 6))
    data[at + 8 : at + 12] = struct.pack("<i", 1 << 30)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("memory", [None, 500_000_000])
def test_a_damaged_arrow_file_is_an_error_and_no_crash(tmp_path, memory):
    path = damaged_arrow(tmp_path / "t.arrow")
    code = (
        "from incrowd.verification.class_sizes import verify_table\n"
        "from incrowd.vocabulary.forms import FileForm\n"
        "from incrowd.vocabulary.resources import Resources\n"
        "from incrowd.errors import FileFormatError\n"
        "from pathlib import Path\n"
        "import sys\n"
        "try:\n"
        f"    verify_table({str(path)!r}, FileForm('arrow'), [('k', ['a'], 1)], "
        f"resources=Resources({memory}, scratch=Path({str(tmp_path)!r})))\n"
        "except FileFormatError:\n"
        "    sys.exit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 7


def test_arrow_streams_are_read_like_files(tmp_path):
    table = pa.table({"a": ["x", "x", None], "b": pa.array(["p", "q", "p"]).dictionary_encode()})
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    verdict = verify_table(tmp_path / "t.arrow", FileForm("arrow"), [("k", ["a", "b"], 1)])
    assert verdict.sizes.histogram == ((1, 3),)


# ARFF

ARFF = "@relation r\n% a comment\n@attribute 'a b' {x,'%y'}\n@ATTRIBUTE c string\n\n@data\n"


def test_arff_lines(tmp_path):
    data = ARFF + "x,'%p'\n% x,q\n  % x,q\n\n'%y',\"it's, \\\"q\\\"\"\n?,'?'\n#x,r\n"
    names, rows = opened(file(tmp_path, data.encode(), "t.arff"))
    assert names == ["a b", "c"]
    assert rows == [("x", "%p"), ("%y", 'it\'s, "q"'), (None, "?"), ("#x", "r")]


@pytest.mark.parametrize("line", ["x", "x,p,q", "x,'p\nq'", "x,,p", "x,'p"])
def test_arff_rows_of_another_length(tmp_path, line):
    with pytest.raises(FileFormatError):
        opened(file(tmp_path, f"{ARFF}x,p\n{line}\n".encode(), "t.arff"))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_arff_with_other_line_ends(tmp_path, end):
    data = (ARFF + "x,p\nx,q\n").replace("\n", end).encode()
    assert opened(file(tmp_path, data, "t.arff"))[1] == [("x", "p"), ("x", "q")]


def test_the_writer_of_arff_never_begins_a_row_with_a_comment(tmp_path):
    from incrowd.tables.publishing.serialise import write_table

    frame = pl.DataFrame({"a": ["%x", "% y", "%"], "b": ["p", "%q", "r"]})
    write_table(frame, tmp_path / "t.arff", FileForm("arff"))
    assert opened(tmp_path / "t.arff")[1] == frame.rows()


# large files


@pytest.mark.parametrize("name", ["a[1].csv", "a[1].csv.gz", "a[1].arrow", "a[1].parquet"])
def test_large_files_are_copied_whole(tmp_path, name):
    table = pl.DataFrame({"a": ["#1", "x", "x"], "b": ["p", None, "q"]})
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(table.write_csv().encode()))
    else:
        write(table, path)
    shutil.copy(path, tmp_path / name.replace("[1]", "1"))
    with connect(scratch=tmp_path) as connection:
        names, place = open_large(connection, path, FileForm.of(path), tmp_path)
        rows = connection.execute("FROM released").fetchall()
    assert (names, rows) == (["a", "b"], table.rows())
    assert pq.read_metadata(place).num_rows == 3
