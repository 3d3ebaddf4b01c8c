"""How soon the command line answers: by CPU time, which other programs on the machine disturb least."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = "import sys; from incrowd.cli.main import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
NEVER = {"numba", "pandas", "polars", "pyarrow", "scipy", "sklearn", "adbc_driver_postgresql", "pyspark"}
HELP = ["--help"]
VERIFY = ["verify", "people.csv", "-q", "age,sex", "-k", "2"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text("age,sex\n" + "30,f\n41,m\n" * 50, encoding="utf-8")
    return tmp_path


def cpu_seconds(words: list[str], folder: Path) -> tuple[float, set[str]]:
    """What a run takes of the processor, and the packages it loads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", COMMAND, *words], cwd=folder, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, loaded


@pytest.mark.parametrize(("words", "limit"), [(HELP, 0.4), (VERIFY, 1.5)], ids=["help", "verify"])
def test_the_command_answers_soon(words: list[str], limit: float, folder: Path) -> None:
    """The best of several runs counts; measured when this was written: 0.24 s and 0.52 s."""
    taken: list[float] = []
    while not taken or (min(taken) > limit and len(taken) < 10):
        taken.append(cpu_seconds(words, folder)[0])
    assert min(taken) <= limit, [round(seconds, 2) for seconds in taken]


@pytest.mark.parametrize("words", [HELP, VERIFY], ids=["help", "verify"])
def test_what_is_not_needed_is_not_loaded(words: list[str], folder: Path) -> None:
    loaded = cpu_seconds(words, folder)[1]
    assert "typer" in loaded
    assert loaded & NEVER == set()
    assert ("duckdb" in loaded) is (words == VERIFY)
