"""Runs of the command line that die or fail at a chosen moment. A program for test_crash_safety.

    python dying_runs.py FOLDER MODE

Every call by which files come to be is wrapped and counted; at the chosen one the run is killed (a fork of this
process that really ends), dies (in this process: from then on no call has any effect), or is refused. Prints one
JSON line for each run.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import os
import pathlib
import resource
import shutil
import sys

import duckdb
import numba
import polars as pl
import pyarrow.parquet

from incrowd.cli import main as cli
from incrowd.methods.tree_suppression import kactus
from incrowd.releases.pipeline import run_release

LOADED = (duckdb, numba, pyarrow.parquet, kactus, run_release)
CALLS = (
    (os, "mkdir"),
    (os, "replace"),
    (os, "link"),
    (os, "fsync"),
    (shutil, "rmtree"),
    (pl.DataFrame, "write_csv"),
    (pathlib.Path, "write_text"),
    (pathlib.Path, "touch"),
    (pathlib.Path, "chmod"),
)
FILES = ("out.csv", "out.csv.certificate.json", "plan.json")
WORDS = [
    "release",
    "people.csv",
    "-q",
    "age,job",
    "--target",
    "ill",
    "-k",
    "5",
    "--seed",
    "987654321",
    "--to",
    "out.csv",
]
WORDS += ["--class-sensitive", "no", "--replace"]
WORDS += ["--plan", "plan.json"]


class Died(BaseException):
    """The process is no more."""


class Moments:
    """Counts the wrapped calls and acts at one of them."""

    def __init__(self, mode: str, chosen: int) -> None:
        self.mode, self.chosen, self.seen, self.dead = mode, chosen, 0, False

    @contextlib.contextmanager
    def watched(self):
        originals = [(owner, name, getattr(owner, name)) for owner, name in CALLS]
        for owner, name, call in originals:
            setattr(owner, name, self.wrap(call))
        try:
            yield
        finally:
            for owner, name, call in originals:
                setattr(owner, name, call)

    def wrap(self, call):
        @functools.wraps(call)
        def wrapped(*args, **kwargs):
            at, self.seen = self.seen, self.seen + 1
            if at == self.chosen:
                self.act()
            if not self.dead:
                return call(*args, **kwargs)
            if call.__name__ == "rmtree":
                return None
            raise Died

        return wrapped

    def act(self) -> None:
        match self.mode:
            case "killed":
                os._exit(99)
            case "dies":
                self.dead = True
            case "disk full":
                raise OSError(errno.ENOSPC, "No space left on device")
            case "memory":
                raise MemoryError


def run(mode: str, chosen: int) -> dict[str, object]:
    """One run in this process: its status, what it said, how many moments it had."""
    said, moments, status = io.StringIO(), Moments(mode, chosen), 0
    sys.argv = ["incrowd", *WORDS]
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said), moments.watched():
        try:
            cli.main()
        except SystemExit as ended:
            status = ended.code or 0
        except Died:
            status = 99
    return {"status": status, "said": said.getvalue(), "moments": moments.seen}


def forked(mode: str, chosen: int) -> dict[str, object]:
    """One run in a fork."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        told = json.dumps(run(mode, chosen)).encode()
        os.write(write, told)
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    _, ended = os.waitpid(child, 0)
    return json.loads(told) if told else {"status": os.waitstatus_to_exitcode(ended), "said": "", "moments": None}


def limited(_mode: str, size: int) -> dict[str, object]:
    """One run that may write only small files."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        return run("count", -1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def show(chosen: object, told: dict[str, object]) -> None:
    """The run, and what it left behind."""
    here = sorted(pathlib.Path().iterdir())
    files = {path.name: path.read_bytes().hex() for path in here if path.is_file()}
    folders = [path.name for path in here if path.is_dir()]
    print(json.dumps({**told, "chosen": chosen, "files": files, "folders": folders}), file=sys.__stdout__)


def main(folder: str, mode: str) -> None:
    """A clean run, one for each moment, a clean run."""
    os.chdir(folder)
    one = {"killed": forked, "file size": limited}.get(mode, run)
    for _ in range(2):  # the second has old files in its way, as those that die
        clean = (forked if mode == "killed" else run)("count", -1)
    show("clean", clean)
    moments = range(clean["moments"])
    some = (*moments[:-8:10], *moments[-8:])  # files appear at the end
    for chosen in {"killed": some, "memory": moments[::3], "file size": (0, 50, 700, 1500)}.get(mode, moments):
        for name in FILES:
            pathlib.Path(name).write_text("old")
        show(chosen, one(mode, chosen))
    show("last", forked("count", -1) if mode == "killed" else run("count", -1))


if __name__ == "__main__":
    main(*sys.argv[1:])
