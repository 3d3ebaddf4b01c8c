"""Runs in blocks keep rows in a private folder: it goes with the run, however the run ends; memory stays bounded."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap

import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import OutputError, ParameterError, UnexpectedError, VerificationError
from incrowd.rows import one_machine
from incrowd.rows.blocks import held as holding_blocks
from incrowd.rows.blocks.drafting import Buckets
from incrowd.tables.options import Run
from support.waiting import PATIENCE

ROWS = 300
CANARY = "KANARIE"
ASKED = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 5}
IN_BLOCKS = """
import sys, time
from incrowd.rows import one_machine
from incrowd.rows.blocks import held
one_machine._TEXT = one_machine._CELLS = 0
held.block_rows = lambda *_: 40
"""


def people(rows=ROWS):
    return pl.DataFrame(
        {
            "age": [7_110_000 + (i * i) % 50 for i in range(rows)],
            "job": [f"{CANARY}-{i % 6}" for i in range(rows)],
            "note": [f"{CANARY}-note-{i % 9}" for i in range(rows)],
            "ill": ["y" if (i * 7) % 11 < 5 else "n" for i in range(rows)],
        }
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the table; temporary files and the key have folders of their own."""
    for name in ("work", "temporary", "config"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    people().write_csv(tmp_path / "work" / "people.csv")
    return tmp_path / "work"


@pytest.fixture
def in_blocks(monkeypatch):
    monkeypatch.setattr(one_machine, "_TEXT", 0)
    monkeypatch.setattr(one_machine, "_CELLS", 0)
    monkeypatch.setattr(holding_blocks, "block_rows", lambda *_: 40)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def nothing_temporary(folder):
    return not list((folder.parent / "temporary").iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csv", "csv.gz", "parquet", "arrow"])
@pytest.mark.usefixtures("in_blocks")
def test_nothing_is_left_after_success(folder, form):
    release(folder / "people.csv", **ASKED, to=folder / f"out.{form}")
    assert names(folder) == sorted([f"out.{form}", f"out.{form}.certificate.json", "people.csv"])
    assert nothing_temporary(folder)


@pytest.mark.usefixtures("in_blocks")
def test_nothing_is_left_of_a_release_for_this_process(folder):
    assert release(folder / "people.csv", **ASKED).table.height == ROWS
    assert names(folder) == ["people.csv"]
    assert nothing_temporary(folder)


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, OSError(28, "No space left on device")])
@pytest.mark.parametrize("to", ["out.csv", None])
@pytest.mark.parametrize(
    "moment",
    [
        "incrowd.tables.streams.encode.BlockFile.write",
        "incrowd.rows.blocks.drafting.Buckets.shuffled",
        "incrowd.rows.one_machine.Hints._put",
        "incrowd.rows.one_machine.verdict_on",
    ],
)
def test_nothing_is_left_after_an_error_anywhere(folder, monkeypatch, error, to, moment):
    """The first or third time the moment comes, the run breaks."""
    calls = []
    owner, _, name = moment.rpartition(".")
    target = sys.modules.get(owner)
    if target is None:
        module, _, kind = owner.rpartition(".")
        target = getattr(sys.modules[module], kind)
    real = getattr(target, name)

    def breaking(*args, **kwargs):
        calls.append(name)
        if len(calls) == (3 if name == "write" else 1):
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(target, name, breaking)
    (folder / "out.csv").write_text("old")
    with pytest.raises((KeyboardInterrupt, MemoryError, OSError, OutputError, UnexpectedError)):
        release(folder / "people.csv", **ASKED, to=to and folder / to)
    assert names(folder) == ["out.csv", "people.csv"]
    assert (folder / "out.csv").read_text() == "old"
    assert nothing_temporary(folder)


@pytest.mark.usefixtures("in_blocks")
def test_what_the_verification_refuses_is_not_there(folder, monkeypatch):
    """A row is lost between the buckets and the file."""
    real = Buckets.shuffled
    monkeypatch.setattr(Buckets, "shuffled", lambda self: (frame.head(frame.height - 1) for frame in real(self)))
    with pytest.raises(VerificationError, match="rows: "):
        release(folder / "people.csv", **ASKED, to=folder / "out.csv")
    assert names(folder) == ["people.csv"]
    assert nothing_temporary(folder)


WAITING = IN_BLOCKS + textwrap.dedent(
    """
    from incrowd.rows.one_machine import Hints
    from incrowd.cli import main as cli
    real = Hints._put

    def slowly(self, *arguments):
        print("ready", flush=True)
        time.sleep(3600)
        return real(self, *arguments)

    Hints._put = slowly
    sys.argv = ["incrowd", "release", "people.csv", "-q", "age,job", "--target", "ill", "-k", "5", "--to", "out.csv"]
    sys.argv += ["--class-sensitive", "no"]
    cli.main()
    """
)


def canaries(folder):
    """The files below a folder with a canary in them."""
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and CANARY.encode() in path.read_bytes()
    }


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_in_the_middle(folder, number):
    run = subprocess.Popen(
        [sys.executable, "-c", WAITING], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == "ready\n"
    private = folder / ".out.csv.incrowd"
    assert stat.S_IMODE(private.stat().st_mode) == stat.S_IMODE((private / "scratch").stat().st_mode) == 0o700
    assert canaries(folder) > {"people.csv"}
    run.send_signal(number)
    out, err = run.communicate(timeout=PATIENCE)
    assert CANARY not in out + err
    assert nothing_temporary(folder)
    if number == signal.SIGKILL:
        assert run.returncode == -number
        assert private.is_dir()  # swept by the next run for the same target
        assert names(folder) == [".out.csv.certificate.json.incrowd", ".out.csv.incrowd", "people.csv"]
        release(folder / "people.csv", **ASKED, to=folder / "out.csv")
        assert names(folder) == ["out.csv", "out.csv.certificate.json", "people.csv"]
    else:
        assert run.returncode == 128 + number
        assert names(folder) == ["people.csv"]


@pytest.mark.parametrize("memory", ["much", "", "-1GB", "100MB", 0, True])
def test_an_amount_of_memory_that_is_none_is_refused(folder, memory):
    with pytest.raises(ParameterError, match="memory"):
        release(folder / "people.csv", **ASKED, to=folder / "out.csv", run=Run(memory=memory))
    assert names(folder) == ["people.csv"]


LARGE = """
import sys
from pathlib import Path
import numpy as np, polars as pl
folder, form, rows = Path(sys.argv[1]), sys.argv[2], 2_000_000
path = folder / "in.parquet"
if not path.exists():
    rng = np.random.default_rng(1)
    import pyarrow as pa, pyarrow.parquet as pq
    writer = None
    for _ in range(10):
        n = rows // 10
        frame = pl.DataFrame({f"q{i}": rng.integers(0, 30 + 40 * i, n) for i in range(8)}).with_columns(
            pl.Series("job", rng.choice(["cook", "nurse", "smith", "clerk"], n)),
            pl.Series("pay", rng.normal(0, 1, n).round(2)),
            pl.Series("note", rng.integers(0, 10**6, n)).cast(pl.String),
            pl.Series("ill", rng.choice(["y", "n"], n)),
        ).to_arrow()
        writer = writer or pq.ParquetWriter(path, frame.schema)
        writer.write_table(frame)
    writer.close()
    sys.exit()
from incrowd.api import release
from incrowd.tables.options import Run
names = [f"q{i}" for i in range(8)] + ["job", "pay"]
how = {"method": "kactus", "to": folder / f"out.{form}", "run": Run(memory="700MB")}
made = release(path, quasi_identifiers=names, target="ill", k=50, **how)
assert made.verdict.passed
# getrusage would count the memory of the process that started this one
print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) // 1000)
"""


@pytest.mark.slow
def test_the_memory_that_was_granted_is_kept_to(folder):
    """Libraries and compiled kernels take a share that no table changes. To Parquet: ``contract/test_memory.py``."""
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    command = [sys.executable, "-c", LARGE, str(folder), "csv"]
    subprocess.run(command, env=environment, check=True, timeout=PATIENCE)
    done = subprocess.run(command, env=environment, check=True, timeout=PATIENCE, capture_output=True, text=True)
    assert int(done.stdout) < 1000, done.stdout
