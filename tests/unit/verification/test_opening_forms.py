"""What DuckDB is told of a file, form by form: its settings, names, cells, and what it may not do."""

from __future__ import annotations

import signal

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from incrowd.errors import FileFormatError, ParameterError
from incrowd.verification.opening import (
    Opened,
    arrow_batches,
    cell_of,
    column,
    connect,
    duckdb_module,
    exactly,
    examine_arff,
    guarded,
    open_file,
    open_large,
    open_rows,
    open_table,
    parquet_files,
    register,
    text,
)
from incrowd.vocabulary.forms import FileForm


def asked(connection, query):
    return connection.execute(query).fetchall()


@pytest.fixture
def database():
    with connect(threads=1) as connection:
        yield connection


# the database


def settings(connection):
    names = ("memory_limit", "threads", "temp_directory", "preserve_insertion_order", "autoinstall_known_extensions")
    return [asked(connection, f"SELECT current_setting('{name}')")[0][0] for name in names]


def test_the_database_gets_what_it_may_use(tmp_path):
    with connect(64 << 20, 3, tmp_path) as connection:
        assert settings(connection) == ["64.0 MiB", 3, str(tmp_path), True, False]
        assert asked(connection, "SELECT current_setting('enable_progress_bar')") == [(False,)]
    with connect() as connection:
        memory, threads, folder, *_ = settings(connection)
        assert (memory == "64.0 MiB", threads > 0, folder) == (False, True, "")


def test_interrupts_wait_while_duckdb_is_imported(monkeypatch):
    import builtins

    held = []
    usual = builtins.__import__

    def noticing(name, *others):
        if name == "duckdb":
            held.append(signal.pthread_sigmask(signal.SIG_BLOCK, ()))
        return usual(name, *others)

    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})
    try:
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "__import__", noticing)
            assert duckdb_module() is duckdb
        assert {signal.SIGINT, signal.SIGTERM, signal.SIGUSR2} <= held[0]
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before | {signal.SIGUSR2}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@pytest.mark.parametrize(
    "error",
    [
        duckdb.Error("cell"),
        OSError("cell"),
        pa.ArrowInvalid("cell"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "cell"),
    ],
)
def test_errors_of_libraries_tell_no_cells(error):
    with pytest.raises(FileFormatError) as told, guarded("t.csv", "csv"):
        raise error
    assert str(told.value) == f"t.csv cannot be read as csv by the verification ({type(error).__name__})."
    assert told.value.__cause__ is None
    with pytest.raises(FileFormatError, match="cannot be read as a table"), guarded("t"):
        raise OSError


@pytest.mark.parametrize("error", [ParameterError("x"), ValueError("x"), FileFormatError("x")])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error)) as told, guarded("t.csv", "csv"):
        raise error
    assert told.value is error


# ARFF


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("@attribute a numeric\n@data\n", (["a"], 2, 0)),
        ("@attribute a numeric\n@data\n1\n2", (["a"], 2, 2)),
        ("@relation r\n\n@attribute a numeric\n@attribute b {x}\n\n@data\n1,x\n", (["a", "b"], 6, 1)),
        ("  @ATTRIBUTE\ta{x}\n @Data \n1\n", (["a"], 2, 1)),
        ("@attribute 'a b' numeric\n@data\n", (["a b"], 2, 0)),
        ('@attribute "a b" numeric\n@data\n', (["a b"], 2, 0)),
        (r"@attribute 'it\'s' numeric" + "\n@data\n", (["it's"], 2, 0)),
        (r'@attribute "a\\b" numeric' + "\n@data\n", ([r"a\b"], 2, 0)),
        (r"@attribute a\b numeric" + "\n@data\n", ([r"a\b"], 2, 0)),
        ("@attribute ' numeric\n@data\n", (["'"], 2, 0)),
        ("@attribute '' numeric\n@data\n", ([""], 2, 0)),
        ("@attribute its' numeric\n@data\n", (["its'"], 2, 0)),
        ("% @attribute b numeric\n@attribute a numeric\n@data\n", (["a"], 3, 0)),
        ("@attribute a numeric\n@data\n1\n\n  \n% 2\n  % 3\n4\n@attribute b numeric\n@data\n", (["a"], 2, 4)),
        ("\ufeff@attribute a numeric\n@data\n1\n", (["a"], 2, 1)),
        ("@attribute a numeric\r\n@data\r\n1\r\n", (["a"], 2, 1)),
        ("@attribute a numeric\r@data\r1\r2\r", (["a"], 2, 2)),
    ],
)
def test_declarations_and_rows_of_arff(tmp_path, lines, expected):
    path = tmp_path / "t.arff"
    path.write_bytes(lines.encode())
    assert examine_arff(path) == expected


@pytest.mark.parametrize("lines", ["", "@data\n1\n", "@attribute a numeric\n1\n", "@attribute a numeric\n@dat\n"])
def test_what_is_no_arff(tmp_path, lines):
    path = tmp_path / "t.arff"
    path.write_text(lines)
    with pytest.raises(FileFormatError, match="no ARFF file with attributes and data"):
        examine_arff(path)


@pytest.mark.parametrize(
    ("field", "cell"),
    [
        ("?", None),
        ("x", "x"),
        ("'?'", "?"),
        ('"?"', "?"),
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        (r"'it\'s'", "it's"),
        (r"'a\\b\\'", r"a\b" + "\\"),
        (r"a\b", r"a\b"),
        ("''", ""),
        ("?x", "?x"),
        ("x'y'", "x'y'"),
    ],
)
def test_cells_of_arff(database, field, cell):
    assert asked(database, f"SELECT {cell_of('f')} FROM (SELECT {text(field)} AS f)") == [(cell,)]


# files


def test_a_view_is_read_again_and_a_copy_is_not(tmp_path, database):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n")
    opened = open_file(database, path, FileForm(), "seen")
    assert (opened.names, opened.rows, opened.names_nan) == (["a", "b"], 1, False)
    assert open_table(database, path, FileForm(), name="viewed") == ["a", "b"]
    assert open_table(database, path, FileForm(), name="copied", copy=True) == ["a", "b"]
    path.write_text("a,b\n3,4\n5,6\n")
    assert asked(database, "FROM copied") == [("1", "2")]
    for name in ("seen", "viewed"):
        assert asked(database, f"FROM {name}") == [("3", "4"), ("5", "6")]
    assert open_table(database, path, FileForm(), name="copied", copy=True) == ["a", "b"]
    assert asked(database, "FROM copied") == [("3", "4"), ("5", "6")]
    assert open_table(database, path, FileForm()) == ["a", "b"]
    assert asked(database, "SELECT c0, c1 FROM released") == [("3", "4"), ("5", "6")]


def test_names_that_may_be_numbers_are_told(tmp_path, database):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,NaN\n")
    assert open_file(database, path, FileForm()).names_nan


def test_texts_may_be_numbers_unless_it_is_known_better():
    assert Opened([column(0)], 0, "").names_nan


def test_a_table_is_a_view_unless_a_copy_is_asked_for(tmp_path, database):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    open_table(database, path, FileForm())
    assert asked(database, "SELECT view_name FROM duckdb_views() WHERE NOT internal") == [("released",)]


DAMAGED = {
    "csv": (b"a,b\n1,2\r\n3,4\n5,6\r\n", FileForm()),
    "parquet": (b"PAR1 is not all", FileForm("parquet")),
    "arrow": (b"ARROW1 is not all", FileForm("arrow")),
}


@pytest.mark.parametrize(("data", "form"), DAMAGED.values(), ids=DAMAGED)
def test_what_cannot_be_read_is_named(tmp_path, database, data, form):
    path = tmp_path / "t"
    path.write_bytes(data)
    for opening in (
        lambda: open_table(database, path, form),
        lambda: open_table(database, path, form, copy=True),
        lambda: open_large(database, path, form, tmp_path),
    ):
        with pytest.raises(FileFormatError, match=f"^t cannot be read as {form.kind} by the verification"):
            opening()


@pytest.mark.parametrize(
    ("missing", "cells"), [("", ["?", None, "", "NA"]), ("?", [None, None, "", "NA"]), ("NA", ["?", None, "", None])]
)
def test_what_is_missing_is_what_the_form_says(tmp_path, database, missing, cells):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n?,1\n,2\n"",3\nNA,4\n')
    open_table(database, path, FileForm(missing=missing))
    read = [cell for (cell,) in asked(database, "SELECT c0 FROM released")]
    assert read[0::3] == cells[0::3]
    assert [cell or None for cell in read[1:3]] == [None, None]


@pytest.mark.parametrize(("start", "rows"), [(0, 0), (0, 1), (0, 5), (1, 3), (4, 1), (5, 2), (2, 9)])
def test_some_rows_of_a_file(tmp_path, database, start, rows):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"n": range(5), "t": list("abcde")}), path, row_group_size=2)
    open_rows(database, path, ["n", "t"], start, rows)
    expected = list(zip(range(5), "abcde", strict=True))[start : start + rows]
    assert asked(database, "FROM released") == expected


def test_a_folder_is_its_visible_files_in_order(tmp_path, database):
    for number, name in enumerate(["b.parquet", "a.parquet", ".hidden", "_SUCCESS", "c"]):
        pq.write_table(pa.table({"n": [number]}), tmp_path / name)
    assert [file.name for file in parquet_files(tmp_path)] == ["a.parquet", "b.parquet", "c"]
    assert parquet_files(tmp_path / "_SUCCESS") == [tmp_path / "_SUCCESS"]
    opened = open_file(database, tmp_path, FileForm("parquet"))
    assert (opened.names, opened.rows) == (["n"], 3)
    assert asked(database, "FROM released") == [(1,), (0,), (4,)]


def test_an_empty_folder_is_no_table(tmp_path, database):
    with pytest.raises(FileFormatError, match="same columns"):
        open_file(database, tmp_path, FileForm("parquet"))


def test_files_of_a_folder_have_the_same_columns_in_the_same_order(tmp_path, database):
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "1")
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "2")
    assert open_file(database, tmp_path, FileForm("parquet")).rows == 2
    pq.write_table(pa.table({"b": [1], "a": [2]}), tmp_path / "3")
    with pytest.raises(FileFormatError, match="same columns"):
        open_file(database, tmp_path, FileForm("parquet"))


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_batches_of_arrow(tmp_path, database, kind, batches):
    schema = pa.schema({"a": pa.int64(), "b": pa.string()})
    path = tmp_path / "t.arrow"
    with (pa.ipc.new_file if kind == "file" else pa.ipc.new_stream)(str(path), schema) as writer:
        for number in range(batches):
            writer.write_batch(pa.record_batch({"a": [number, 9], "b": ["x", None]}, schema))
    expected = [row for number in range(batches) for row in ((number, "x"), (9, None))]
    with arrow_batches(path) as (found, read):
        assert found == schema
        assert [row for batch in read for row in zip(*batch.to_pydict().values(), strict=True)] == expected
    opened = open_file(database, path, FileForm("arrow"))
    assert (opened.names, opened.rows) == (["a", "b"], 2 * batches)
    assert asked(database, "FROM released") == expected
    names, copy = open_large(database, path, FileForm("arrow"), tmp_path)
    assert (names, pq.read_schema(copy).names) == (["a", "b"], ["c0", "c1"])
    assert asked(database, "FROM released") == expected


def test_a_large_parquet_file_is_read_where_it_is(tmp_path, database):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [1, 2]}), path)
    assert open_large(database, path, FileForm("parquet"), None) == (["a"], path)
    assert asked(database, "FROM released") == [(1,), (2,)]


def test_tables_are_registered_by_position(database):
    assert register(database, pa.table({"Age": [1], "age": [2]}), "t") == ["Age", "age"]
    assert asked(database, "SELECT c0, c1 FROM t") == [(1, 2)]


def test_a_name_without_a_pattern_is_itself(tmp_path, database):
    path = tmp_path / "it's.csv"
    assert exactly(database, path) == text(str(path))
    for name in ("a*.csv", "a?.csv", "a[.csv"):
        path = tmp_path / name
        with pytest.raises(FileFormatError, match="Rename the file"):
            exactly(database, path)  # there is no such file
        path.write_text("a\n1\n")
        (tmp_path / "ab.csv").write_text("a\n1\n")
        assert asked(database, f"SELECT file FROM glob({exactly(database, path)})") == [(str(path),)]
