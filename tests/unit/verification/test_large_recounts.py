"""Any table recounted, also folders and tables larger than memory; nothing of it is left behind."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections import Counter

import polars as pl
import pytest
from typer.testing import CliRunner

from incrowd.errors import FileFormatError, HeaderError, ParameterError
from incrowd.releases.recount import verify
from incrowd.rows import one_machine
from incrowd.verification.opening import connect
from support.waiting import PATIENCE

TABLE = pl.DataFrame({"Age": [30, 30, 41, 41, None, None, 30] * 30, "job": ["nurse", "?", "cook"] * 70})


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for tables; temporary files have one of their own, where they are counted."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "tables").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.chdir(tmp_path / "tables")
    yield tmp_path / "tables"
    assert not list((tmp_path / "temporary").iterdir())
    assert not (tmp_path / "tables" / ".tmp").exists()


def put(folder, form, frame=TABLE):
    path = folder / f"t.{form}"
    match form:
        case "csv":
            frame.write_csv(path)
        case "csv.gz":
            path.write_bytes(gzip.compress(frame.write_csv().encode()))
        case "utf-16.csv":
            path.write_bytes(frame.write_csv().encode("utf-16"))
        case "parquet":
            frame.write_parquet(path)
        case "arrow":
            frame.write_ipc(path, compression="zstd", record_batch_size=50)
        case "folder":
            path.mkdir()
            for number, part in enumerate(frame.iter_slices(40)):
                part.write_parquet(path / f"part-{number}.parquet")
            (path / "_SUCCESS").touch()
    return path


FORMS = ["csv", "csv.gz", "utf-16.csv", "parquet", "arrow", "folder"]


@pytest.mark.each(5)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("memory", [None, "1GB"])
@pytest.mark.parametrize("large", [False, True])
def test_classes_are_counted_whatever_the_form_and_the_memory(place, monkeypatch, form, memory, large):
    if large:
        monkeypatch.setattr(one_machine, "_TEXT", 0)
        monkeypatch.setattr(one_machine, "_CELLS", 0)
    smallest = min(Counter(TABLE.rows()).values())
    path = put(place, form)
    verdict = verify(path, k=smallest, quasi_identifiers=["Age", "job"], memory=memory)
    assert verdict.passed
    assert (verdict.sizes.smallest, verdict.sizes.rows) == (smallest, TABLE.height)
    assert not verify(path, k=smallest + 1, quasi_identifiers=["Age", "job"], memory=memory).passed
    assert [entry.name for entry in place.iterdir()] == [path.name]


@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "folder"])
def test_a_marker_of_a_missing_value_is_counted_as_missing_in_pieces_too(place, monkeypatch, form):
    path = put(place, form)
    found = []
    for large in (False, True):
        if large:
            monkeypatch.setattr(one_machine, "_TEXT", 0)
            monkeypatch.setattr(one_machine, "_CELLS", 0)
        found.append(verify(path, k=1, quasi_identifiers=["job"], missing=["cook", "?"]).sizes)
    assert found[0] == found[1]
    assert found[0].histogram == ((70, 1), (140, 1))


def test_a_folder_of_unlike_files_is_refused(place):
    path = put(place, "folder")
    TABLE.rename({"Age": "age"}).write_parquet(path / "part-9.parquet")
    with pytest.raises(FileFormatError, match="does not have the columns"):
        verify(path, k=2, quasi_identifiers=["job"])
    (path / "part-9.parquet").unlink()
    (path / "notes.txt").write_text("KANARIE")
    with pytest.raises(FileFormatError, match="no Parquet file"):
        verify(path, k=2, quasi_identifiers=["job"])


def test_unknown_columns_and_bad_amounts_are_refused(place):
    path = put(place, "folder")
    with pytest.raises(HeaderError, match="'age'"):
        verify(path, k=2, quasi_identifiers=["age"])
    for memory in ("much", "1MB", True):
        with pytest.raises(ParameterError, match="memory"):
            verify(path, k=2, quasi_identifiers=["job"], memory=memory)


def test_the_command(place):
    from incrowd.cli.main import app

    words = ["verify", str(put(place, "folder")), "-q", "job", "--memory", "1GB"]
    assert CliRunner().invoke(app, [*words, "-k", "70"]).exit_code == 0
    assert CliRunner().invoke(app, [*words, "-k", "71"]).exit_code == 1
    refused = CliRunner().invoke(app, [*words[:-1], "no amount", "-k", "70"])
    assert isinstance(refused.exception, ParameterError)


def test_a_database_never_spills_into_the_current_folder(tmp_path):
    """Whoever opens one without a folder has nothing to spill to."""
    with connect() as connection:
        assert connection.execute("SELECT current_setting('temp_directory')").fetchone()[0] == ""
    with connect(scratch=tmp_path) as connection:
        assert connection.execute("SELECT current_setting('temp_directory')").fetchone()[0] == str(tmp_path)


MANY = """
import sys
from incrowd.releases.recount import verify
found = verify(sys.argv[1], k=2, quasi_identifiers=["a", "b"], memory="500MB")
# getrusage would count the memory of the process that started this one
print(found.sizes.classes, int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) // 1000)
"""


@pytest.mark.slow
def test_more_classes_than_fit_into_the_memory(place):
    """Six million classes, counted in half a gigabyte."""
    rows = 6_000_000
    frame = pl.select(pl.int_range(rows).alias("a"), (pl.int_range(rows).cast(pl.String) + "-abcdefgh").alias("b"))
    frame.write_parquet(place / "t.parquet", row_group_size=1 << 19)
    del frame
    environment = {**os.environ, "TMPDIR": str(place.parent / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(place / "t.parquet")],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    classes, megabytes = map(int, done.stdout.split())
    assert classes == rows
    assert megabytes < 900
