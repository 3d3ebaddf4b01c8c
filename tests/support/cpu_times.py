"""Which tests cost the most CPU: ``pytest -p support.cpu_times --cpu cpu.tsv`` writes a line per test.

Counted are the worker and all that it started: what has ended, and what still runs, as servers do.
"""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

TICK = os.sysconf("SC_CLK_TCK")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu", metavar="FILE", help="write the CPU seconds of each test to this file")


def cpu() -> float:
    """The CPU seconds of this process, of its children that have ended, and of all its descendants that run."""
    parents, times = {}, {}
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        with contextlib.suppress(OSError):
            row = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            parents[pid], times[pid] = int(row[1]), sum(map(int, row[11:15])) / TICK
    family: set[int] = set()
    newest = {os.getpid()}
    while newest:
        family |= newest
        newest = {pid for pid, parent in parents.items() if parent in family} - family
    return sum(times[pid] for pid in family)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    before = cpu()
    yield
    if path := item.config.getoption("--cpu"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{cpu() - before:.3f}\t{item.nodeid}\n")
