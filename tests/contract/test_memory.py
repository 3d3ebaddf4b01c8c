"""Commands keep to ``--memory``, measured from outside, or refuse with what would do."""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from support.covering import in_turn

pytestmark = pytest.mark.slow

TOLERANCE = 1.05
UNITS = {"MB": 10**6, "GB": 10**9}
COMMAND = "from incrowd.cli.main import main; main()"
LIBRARIES = 190 * 10**6
"""Pages of library files that a run touches. How many the system maps beside them differs by kernel and file system, so
this is counted for what is measured there; they are shared with other programs and taken back when memory is short."""
# a process counts what its parent held when it was forked: the parent has to be a small one
MEASURED = """
import os, subprocess, sys, time

def own_memory(process):  # what is not a page of a file, the largest of the process and its children
    try:
        status = dict(line.split(":", 1) for line in open(f"/proc/{process}/status"))
        children = open(f"/proc/{process}/task/{process}/children").read().split()
    except (OSError, ValueError):
        return 0
    mine = sum(int(status.get(part, "0").split()[0]) for part in ("RssAnon", "RssShmem"))
    return max([mine * 1024, *map(own_memory, children)])

with open(sys.argv[1], "wb") as printed:
    child = subprocess.Popen(sys.argv[3:], stdout=printed, stderr=subprocess.STDOUT)
    largest = 0
    while (ended := os.wait4(child.pid, os.WNOHANG))[0] == 0:
        largest = max(largest, own_memory(child.pid))
        time.sleep(0.005)
resident = ended[2].ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(os.waitstatus_to_exitcode(ended[1]), min(resident, largest + int(sys.argv[2])) if largest else resident)
"""


def run(folder, *arguments):
    """Exit status, largest memory in bytes, and what was printed."""
    command = [sys.executable, "-c", COMMAND, *map(str, arguments)]
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder / "config")}
    measured = [sys.executable, "-I", "-c", MEASURED, str(folder / "printed"), str(LIBRARIES), *command]
    status, largest = subprocess.check_output(measured, text=True, env=environment).split()
    return int(status), int(largest), " ".join((folder / "printed").read_text().split())


def release(folder, name, columns, memory):
    beside = ["-q", columns, "--target", "ill", "-k", 5, "--class-sensitive", "no", "--memory", memory]
    return run(folder, "release", folder / name, "--to", folder / "out.parquet", *beside)


def size(text):
    return int(float(text[:-2]) * UNITS[text[-2:]])


def constant(folder):
    rows = 1_600_000  # held whole they would take 650 MB
    same = {name: pl.repeat("x", rows, eager=True) for name in ("a", "b", "c")}
    pl.DataFrame({**same, "ill": pl.Series(np.arange(rows) % 2)}).write_parquet(folder / "t.parquet")
    assert (folder / "t.parquet").stat().st_size < 10**6
    return "t.parquet", "a,b,c"


def distinct_texts(folder):
    rows = 300_000
    texts = [f"person-{i:07d}-{'x' * 30}" for i in range(rows)]
    pl.DataFrame({"a": texts, "b": ["f", "m"] * (rows // 2), "ill": ["n", "n", "y"] * (rows // 3)}).write_parquet(
        folder / "t.parquet"
    )
    return "t.parquet", "a,b"


def long_texts(folder):
    rows = 6_000
    frame = pl.DataFrame(
        {"a": np.arange(rows) % 7, "note": ["lorem ipsum " * 400] * rows, "ill": ["n", "y"] * (rows // 2)}
    )
    frame.write_csv(folder / "t.csv")
    return "t.csv", "a"


def ordinary(folder):
    rows, draw = 400_000, np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": draw.integers(17, 90, rows),
            "b": draw.choice([f"job {i}" for i in range(15)], rows),
            "c": draw.integers(0, 99_999, rows),
            "d": draw.random(rows),
            "ill": draw.choice(["n", "y"], rows),
        }
    )
    frame.write_csv(folder / "t.csv")
    return "t.csv", "a,b,c"


@pytest.mark.parametrize("made", [constant, distinct_texts, long_texts, ordinary])
def test_a_release_keeps_to_its_memory_or_says_what_would_do(tmp_path, made):
    name, columns = made(tmp_path)
    memory = "500MB"
    status, largest, printed = release(tmp_path, name, columns, memory)
    assert largest <= TOLERANCE * size(memory)
    if status == 2:
        memory = re.search(r"Use --memory ([0-9.]+[MG]B)", printed)[1]
        assert not (tmp_path / "out.parquet").exists()
        status, largest, printed = release(tmp_path, name, columns, memory)
        assert largest <= TOLERANCE * size(memory)
    assert status == 0, printed


def test_persons_with_several_rows_keep_to_the_memory(tmp_path):
    rows, draw = 600_000, np.random.default_rng(0)
    persons = pl.Series("patient", draw.integers(0, 150_000, rows)).cast(pl.String).str.zfill(20)
    frame = pl.DataFrame(
        {"a": draw.integers(17, 90, rows), "b": draw.integers(0, 15, rows), "ill": draw.choice(["n", "y"], rows)}
    )
    frame.with_columns(persons).write_csv(tmp_path / "t.csv")
    asked = ["-q", "a,b", "--target", "ill", "-k", 50, "--class-sensitive", "no", "--person", "patient"]
    command = ["release", tmp_path / "t.csv", "--to", tmp_path / "out.parquet", *asked, "--memory", "700MB"]
    status, largest, printed = run(tmp_path, *command)
    assert status == 0, printed
    assert largest <= TOLERANCE * size("700MB")
    assert pl.read_parquet(tmp_path / "out.parquet").height == rows


def test_a_recount_keeps_to_its_memory(tmp_path):
    name, columns = constant(tmp_path)
    status, largest, printed = run(tmp_path, "verify", tmp_path / name, "-q", columns, "-k", 5, "--memory", "500MB")
    assert status == 0, printed
    assert largest <= TOLERANCE * size("500MB")


@pytest.mark.parametrize("command", ["release", "verify"])
def test_a_flood_in_a_small_file_is_refused(tmp_path, command):
    with gzip.open(tmp_path / "t.csv.gz", "wb") as file:
        file.write(b"a,ill\n")
        for _ in range(500):
            file.write(b"0" * 10**6)
    asked = ["--to", tmp_path / "out.csv", "--target", "ill", "--class-sensitive", "no"] if command == "release" else []
    status, largest, printed = run(
        tmp_path, command, tmp_path / "t.csv.gz", "-q", "a", "-k", 5, "--memory", "500MB", *asked
    )
    assert status == 2
    assert "200 times its size" in printed or "a line is longer than" in printed
    assert largest <= size("500MB")


KNOWN = tuple("abcdefghijk")


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A folder with a table that takes nearly all that 1 GB leaves to rows if it is held whole, and more as text."""
    rows, draw, folder = 380_000, np.random.default_rng(0), tmp_path_factory.mktemp("people")
    sizes = [70, 8, 16, 7, 14, 6, 5, 2, 90, 40, 2_000]
    columns = {name: draw.integers(0, size, rows) for name, size in zip(KNOWN, sizes, strict=True)}
    words = {name: pl.Series(columns[name]).cast(pl.String).str.zfill(9) for name in KNOWN[1:8]}
    frame = pl.DataFrame({**columns, **words, "ill": draw.choice(["n", "y"], rows)})
    frame.write_parquet(folder / "t.parquet")
    frame.write_csv(folder / "t.csv")
    return folder


@pytest.mark.parametrize(
    ("method", "form"),
    in_turn(("kactus-plus", "kactus", "mondrian", "tdr", "iack", "blend"), ("parquet", "csv")),
)
def test_every_method_keeps_to_a_gigabyte_whole_or_in_blocks(people, tmp_path, method, form):
    asked = ["-q", ",".join(KNOWN), "--target", "ill", "-k", 50, "--class-sensitive", "no", "--method", method]
    to = ["--to", tmp_path / f"out.{form}", "--memory", "1GB"]
    status, largest, printed = run(tmp_path, "release", people / f"t.{form}", *asked, *to)
    assert status == 0, printed
    assert largest <= TOLERANCE * size("1GB")


HOLDING = {
    "risk": ("-q", ",".join(KNOWN), "--sensitive", "ill"),
    "model": ("--public", ",".join(KNOWN), "--target", "ill", "-k", "50", "--to", "out.json"),
    "compare": (
        *("-q", ",".join(KNOWN), "--target", "ill", "-k", "50"),
        *("--methods", "kactus", "--learners", "nb", "--protocol", "holdout"),
    ),
    "inspect": (),
    "hide": ("--cell", "17:b", "--to", "out.parquet"),
    "verify": ("-q", ",".join(KNOWN), "-k", "2"),
}


@pytest.mark.parametrize("command", HOLDING)
def test_commands_keep_to_a_gigabyte(people, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    status, largest, printed = run(tmp_path, command, people / "t.parquet", *HOLDING[command], "--memory", "1GB")
    assert status == (command == "verify"), printed  # nearly every row is alone
    assert largest <= TOLERANCE * size("1GB")


@pytest.mark.parametrize("command", ["risk", "model", "compare", "inspect"])
def test_what_a_command_cannot_hold_is_refused_before_it_is_read(people, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    status, largest, printed = run(tmp_path, command, people / "t.csv", *HOLDING[command], "--memory", "1GB")
    assert status == 2
    assert size(re.search(r"Use --memory ([0-9.]+[MG]B)", printed)[1]) > size("1GB")
    assert largest < size("500MB")
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("printed", "config")] == []


def test_a_release_is_attacked_opened_and_its_plan_applied_within_the_memory(people, tmp_path):
    some = tmp_path / "t.parquet"
    pl.read_parquet(people / "t.parquet").head(20_000).write_parquet(some)
    asked = ["-q", ",".join(KNOWN), "--target", "ill", "-k", 50, "--class-sensitive", "no", "--plan", tmp_path / "plan"]
    status, _, printed = run(tmp_path, "release", some, *asked, "--to", tmp_path / "out.parquet", "--memory", "1GB")
    assert status == 0, printed
    commands = {
        "attack": (tmp_path / "out.parquet", "--original", some),
        "decode": (tmp_path / "out.parquet", "--deals", 1, "--to", tmp_path / "plain.parquet"),
        "transform": (tmp_path / "plan", some, "--to", tmp_path / "shown.parquet"),
    }
    for command, arguments in commands.items():
        status, largest, printed = run(tmp_path, command, *arguments, "--memory", "1GB")
        assert status in (0, 1), printed
        assert largest <= TOLERANCE * size("1GB"), command
