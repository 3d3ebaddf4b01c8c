"""Kills, interrupts, full disks, small memories at every moment: the target is the old file or the complete new one."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from incrowd.releases.recount import verify
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow  # every case is a process of its own, or many

ROWS = 400
COMMAND = [sys.executable, "-c", "from incrowd.cli.main import main; main()"]
RELEASE = ["release", "people.csv", "-q", "age,job", "--target", "ill", "-k", "5", "--to", "out.csv", "--replace"]
RELEASE += ["--class-sensitive", "no"]
FILES = ("out.csv", "out.csv.certificate.json", "plan.json")


@pytest.fixture
def folder(tmp_path):
    pl.DataFrame(
        {
            "age": [7_110_000 + (i * i) % 50 for i in range(ROWS)],
            "job": [f"KANARIE-{i % 6}" for i in range(ROWS)],
            "ill": ["y" if (i * 7) % 11 < 5 else "n" for i in range(ROWS)],
        }
    ).write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.fixture
def environment(tmp_path_factory):
    return {**os.environ, "XDG_CONFIG_HOME": str(tmp_path_factory.mktemp("config")), "POLARS_MAX_THREADS": "1"}


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def without_time(data):
    """A certificate differs from run to run in the second it was made."""
    return re.sub(rb'"made": "[^"]*"', b"", data)


def dying_runs(folder, environment, mode):
    program = Path(__file__).parents[1] / "support" / "dying_runs.py"
    done = subprocess.run(
        [sys.executable, program, folder, mode],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    for told in runs:
        told["files"] = {name: bytes.fromhex(data) for name, data in told["files"].items()}
    return runs[0], runs[1:-1], runs[-1]


def check_files(told, clean):
    """Each file is the old one or exactly what a run without a mishap writes; only the certificate may be gone.

    An old certificate never stands beside a new release, nor a new one beside an old release.
    """
    certificate = "out.csv.certificate.json"
    files = {name: without_time(data) for name, data in told["files"].items()}
    for name in files.keys() - {"people.csv"}:
        assert files[name] in (b"old", without_time(clean["files"][name])), (name, told["chosen"])
    assert sorted({*files, certificate}) == sorted([*FILES, "people.csv"])
    if certificate in files:
        assert (files[certificate] == b"old") == (files["out.csv"] == b"old"), told["chosen"]


@pytest.mark.parametrize("mode", ["killed", "dies"])
def test_death_at_every_moment(folder, environment, mode):
    """Really killed at some moments, and at every one as if."""
    clean, runs, last = dying_runs(folder, environment, mode)
    assert clean["status"] == last["status"] == 0
    assert len(runs) >= 4 if mode == "killed" else clean["moments"] > 20
    for told in runs:
        only_sweeping_left = told["chosen"] >= clean["moments"] - len(FILES)
        assert told["status"] == 99 or (told["status"] == 0 and only_sweeping_left)
        check_files(told, clean)
    news = [told["files"]["out.csv"] != b"old" for told in runs]
    assert not news[0]
    assert any(news)
    assert news == sorted(news)
    assert last["folders"] == clean["folders"] == []
    check_files(last, clean)
    assert b"old" not in last["files"].values()


@pytest.mark.parametrize("mode", ["disk full", "memory"])
def test_a_refusal_at_every_moment(folder, environment, mode):
    """The command ends by itself: status 2, one line, and nothing half-written, not even hidden."""
    clean, runs, last = dying_runs(folder, environment, mode)
    assert clean["status"] == last["status"] == 0
    refused = 0
    for told in runs:
        assert told["status"] in (0, 2), told["said"]
        refused += told["status"] == 2
        check_files(told, clean)
        assert "KANARIE" not in told["said"]
        assert "Traceback" not in told["said"]
        if told["status"] == 2:
            assert told["said"].startswith("incrowd: ")
            assert told["said"].count("\n") == 1
        else:
            assert b"old" not in told["files"].values()
    assert refused >= len(runs) // 3
    assert last["folders"] == []


def test_a_disk_that_is_really_full(folder, environment):
    """The system itself refuses to let files grow."""
    clean, runs, last = dying_runs(folder, environment, "file size")
    for told in runs:
        assert told["status"] == 2, told["said"]
        assert "cannot be written" in told["said"] or "the system refused" in told["said"]
        assert told["files"]["out.csv"] in (b"old", clean["files"]["out.csv"])
        assert told["folders"] == []
        assert "KANARIE" not in told["said"]
    assert last["status"] == 0


def start(folder, environment, *more):
    return subprocess.Popen(
        [*COMMAND, *RELEASE, *more],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def complete(folder):
    """Whether the release is there, whole: it has all rows and keeps its promise."""
    assert verify(folder / "out.csv", k=5, quasi_identifiers=["age", "job"]).passed
    rows = pl.read_csv(folder / "out.csv", infer_schema=False).height
    assert ROWS - 4 <= rows <= ROWS


DELAYS = {  # what a kill leaves behind is swept by the next run that gets so far, here by the last one
    signal.SIGINT: (0.65, 0.9),
    signal.SIGTERM: (0.75, 0.9),
    signal.SIGKILL: (0.5, 0.8, 0.95),
}


HANGING = """
import signal, time
import incrowd.cli.main as cli

def hang(standalone_mode):
    while True:
        try:
            print("ready", flush=True)
            time.sleep(3600)
        except BaseException:
            pass

cli.main(hang)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_program_that_does_not_unwind_ends_all_the_same(number):
    run = subprocess.Popen([sys.executable, "-c", HANGING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout.readline() == "ready\n"
    run.send_signal(number)
    _, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 128 + number
    assert err == "incrowd: interrupted; no half-written file is left\n"


def test_signals_after_any_delay(folder, environment):
    begun = time.monotonic()
    first = start(folder, environment)
    assert first.wait() == 0, first.stderr.read()
    whole = time.monotonic() - begun
    complete(folder)
    (folder / "out.csv.certificate.json").unlink()
    for number, share in [(number, share) for number, shares in DELAYS.items() for share in shares]:
        (folder / "out.csv").write_text("old")
        run = start(folder, environment)
        time.sleep(whole * share)
        run.send_signal(number)
        out, err = run.communicate(timeout=PATIENCE)
        assert run.returncode in (0, -number, 128 + number), err
        assert "KANARIE" not in out + err
        if (folder / "out.csv").read_text() != "old":
            complete(folder)
        if run.returncode == 128 + number:
            assert err == "incrowd: interrupted; no half-written file is left\n"
            assert not [name for name in names(folder) if name.endswith(".incrowd")]
    last = start(folder, environment)
    assert last.wait() == 0, last.stderr.read()
    complete(folder)
    assert names(folder) == ["out.csv", "out.csv.certificate.json", "people.csv"]


def test_two_runs_at_once(folder, environment):
    runs = [start(folder, environment) for _ in range(2)]
    said = [run.communicate(timeout=PATIENCE) for run in runs]
    codes = [run.returncode for run in runs]
    assert 0 in codes
    for code, (_, err) in zip(codes, said, strict=True):
        assert code == 0 or (code == 2 and "Another run is writing" in err), err
    complete(folder)
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert certificate["verification"]["passed"] is True
    assert names(folder) == ["out.csv", "out.csv.certificate.json", "people.csv"]


@pytest.mark.parametrize("megabytes", [300, 1000, 1600, 3000])
def test_too_little_memory_is_told_at_once(folder, environment, megabytes):
    limit = megabytes << 20

    def less():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [*COMMAND, *RELEASE],
        cwd=folder,
        env=environment,
        preexec_fn=less,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert "not enough memory" in done.stderr
    assert "KANARIE" not in done.stderr
    assert names(folder) == ["people.csv"]


def test_the_command_beside_the_interpreter_is_the_same(folder, environment):
    """What these tests run is what users run."""
    script = Path(sys.executable).with_name("incrowd")
    done = subprocess.run([script, "--version"], env=environment, capture_output=True, text=True, check=True)
    again = subprocess.run([*COMMAND, "--version"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == again.stdout
