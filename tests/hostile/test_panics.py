"""Whatever a library does to an odd file: one line, status 2, nothing left behind; in Python an IncrowdError."""

from __future__ import annotations

import decimal
import io
import os
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import incrowd
from incrowd.errors import (
    FileFormatError,
    HeaderError,
    IncrowdError,
    ParameterError,
    UnexpectedError,
    ValuesError,
    guarded,
)
from incrowd.tables.reading.read import read
from incrowd.tables.streams.stream import open_stream
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow  # every case is a process of its own

COMMAND = [sys.executable, "-c", "from incrowd.cli.main import main; main()"]
CANARY = "KANARIE"


def run(folder, *words, program=None, **environment):
    command = COMMAND if program is None else [sys.executable, "-c", program]
    return subprocess.run(
        [*command, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def refused(done, folder, names):
    """Status 2 and one line, and no file but those that were there."""
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("incrowd: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    return done.stderr


def write(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


ODD = {
    "a NUL in a name": (pa.table({"a\0b": ["x", "y"] * 20, "sex": ["f", "m"] * 20}), HeaderError, "NUL"),
    "decimal256": (
        pa.table({"sum": pa.array([decimal.Decimal(i) for i in range(40)], pa.decimal256(50, 2))}).append_column(
            "sex", [["f", "m"] * 20]
        ),
        ValuesError,
        "256-bit",
    ),
}


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("odd", ODD)
def test_odd_tables_are_refused(tmp_path, odd, ending):
    table, kind, told = ODD[odd]
    path = tmp_path / f"odd.{ending}"
    write(table, path)
    for door in (read, open_stream):
        with pytest.raises(kind, match=told):
            door(path)
    with pytest.raises(kind, match=told):
        incrowd.release(path, quasi_identifiers=["sex"], k=5, method="mondrian", to=tmp_path / "out.csv")
    words = ["release", path.name, "-q", "sex", "-k", "5", "--method", "mondrian", "--to", "out.csv"]
    assert told in refused(run(tmp_path, *words), tmp_path, [path.name])


@pytest.mark.parametrize("odd", ODD)
def test_odd_frames_are_refused(odd):
    table, kind, told = ODD[odd]
    with pytest.raises(kind, match=told):
        incrowd.inspect(table)


def damaged_arrow(path, how):
    """An Arrow file with a text column one of whose offsets leads beyond its buffer."""
    table = pa.table({"job": [f"{CANARY}-{i % 7}" for i in range(400)], "sex": ["f", "m"] * 200})
    sink = io.BytesIO()
    with (pa.ipc.new_file if how == "file" else pa.ipc.new_stream)(sink, table.schema) as writer:
        writer.write_table(table)
    data = bytearray(sink.getvalue())
    offsets = bytes(table["job"].chunk(0).buffers()[1])[: 4 * 401]
    place = data.find(offsets)
    assert place > 0
    data[place + 4 * 200 : place + 4 * 201] = (0x7FFFFFF0).to_bytes(4, "little")
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["file", "stream"])
def test_an_offset_beyond_its_buffer(tmp_path, how):
    path = tmp_path / "people.arrow"
    damaged_arrow(path, how)
    with pytest.raises(FileFormatError, match="damaged"):
        read(path)
    with pytest.raises(FileFormatError, match="damaged"):
        list(open_stream(path).frames())
    words = ["people.arrow", "-q", "job", "-k", "5"]
    refused(run(tmp_path, "release", *words, "--method", "mondrian", "--to", "out.csv"), tmp_path, [path.name])
    refused(
        run(tmp_path, "release", *words, "--method", "mondrian", "--to", "out.csv", "--memory", "3GB"),
        tmp_path,
        [path.name],
    )
    refused(run(tmp_path, "inspect", path.name), tmp_path, [path.name])


def test_a_view_that_leads_nowhere_where_a_value_is_missing(tmp_path):
    """A null's view is checked by nobody, and polars follows it."""
    path = tmp_path / "people.arrow"
    texts = [None if i == 5 else f"{CANARY}-{i % 7}-{'x' * 20}" for i in range(40)]
    pl.DataFrame({"job": texts, "sex": ["f", "m"] * 20}).write_ipc(path)
    whole = path.read_bytes()
    views = pa.ipc.open_file(path).get_batch(0).column(0).buffers()[1]
    place = whole.find(bytes(views)[: 16 * 40])
    assert place > 0
    view = (2**31 - 9).to_bytes(4, "little") + b"abcd" + (2**20).to_bytes(4, "little") + (2**30).to_bytes(4, "little")
    path.write_bytes(whole[: place + 16 * 5] + view + whole[place + 16 * 6 :])
    program = (
        "import sys\n"
        "from incrowd.tables.reading.read import read\n"
        "from incrowd.tables.streams.stream import open_stream\n"
        "print(read(sys.argv[1]).frame['job'].to_list() == eval(sys.argv[2]))\n"
        "print([v for f in open_stream(sys.argv[1]).frames() for v in f['job']] == eval(sys.argv[2]))"
    )
    done = run(tmp_path, str(path), repr(texts), program=program)
    assert done.stdout == "True\nTrue\n", done.stderr


PANICKING = """
import polars as pl, pyarrow as pa, decimal
import incrowd.api

def explode(*_, **__):
    pl.DataFrame(pa.table({"a": pa.array([decimal.Decimal(1)], pa.decimal256(50, 2))}))

incrowd.api.release = explode
from incrowd.cli.main import main
main()
"""
WORDS = ["release", "people.csv", "-q", "age", "-k", "5", "--method", "mondrian", "--to", "out.csv"]


def test_a_panic_is_one_line_and_no_verdict(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,f\n" * 20)
    told = refused(run(tmp_path, *WORDS, program=PANICKING), tmp_path, ["people.csv"])
    assert "unexpected PanicException" in told


def test_the_whole_story_is_there_for_who_asks(tmp_path):
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,f\n" * 20)
    done = run(tmp_path, *WORDS, program=PANICKING, INCROWD_DEBUG="1")
    assert done.returncode != 0
    assert "panicked at" in done.stderr
    assert "Traceback" in done.stderr


@pytest.mark.parametrize(
    "trouble",
    [
        "os.write(2, b'KANARIE in the words of a library')",
        "raise RuntimeError('KANARIE')",
        "raise MemoryError('KANARIE')",
        "raise OSError('KANARIE')",
        "raise type('PanicException', (BaseException,), {})('KANARIE')",
    ],
)
def test_no_word_of_a_library_gets_out(tmp_path, trouble):
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,f\n" * 20)
    program = (
        "import os, incrowd.api\n"
        f"def explode(*_, **__):\n    {trouble}\n    raise RuntimeError\n"
        "incrowd.api.release = explode\nfrom incrowd.cli.main import main\nmain()"
    )
    refused(run(tmp_path, *WORDS, program=program), tmp_path, ["people.csv"])


def test_standard_error_is_given_back():
    program = (
        "import os, sys\nsys.argv = ['incrowd', 'methods']\nfrom incrowd.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\nprint('mine', file=sys.stderr)\nos.write(2, b'mine too')"
    )
    assert run(".", program=program).stderr == "mine\nmine too"


def test_who_catches_incrowd_error_catches_all():
    class PanicException(BaseException):
        pass

    def fail(error):
        raise error

    for error in (PanicException(CANARY), RuntimeError(CANARY), MemoryError(CANARY), OSError(CANARY), KeyError(CANARY)):
        with pytest.raises(UnexpectedError) as caught:
            guarded(fail)(error)
        assert isinstance(caught.value, IncrowdError)
        assert CANARY not in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("error", [ParameterError("k"), KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_what_was_meant_passes(error):
    def fail():
        raise error

    with pytest.raises(type(error)) as caught:
        guarded(fail)()
    assert caught.value is error


def test_a_call_with_wrong_arguments_is_a_type_error():
    with pytest.raises(TypeError, match="unexpected keyword"):
        incrowd.release(pl.DataFrame({"a": [1]}), quasi="a")  # type: ignore[call-arg]


def test_debugging_sees_the_error_itself(monkeypatch):
    monkeypatch.setenv("INCROWD_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        guarded(lambda: 1 / 0)()
