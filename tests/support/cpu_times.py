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


def fields(pid: int | str) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu() -> float:
    total = sum(os.times()[:4])
    parents, times = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            row = fields(pid)
            parents[int(pid)], times[int(pid)] = int(row[1]), sum(map(int, row[11:15])) / TICK
    family, grown = {os.getpid()}, True
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in family} - family
        family |= grown
        total += sum(times[pid] for pid in grown)
    return total


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    before = cpu()
    yield
    if path := item.config.getoption("--cpu"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{cpu() - before:.3f}\t{item.nodeid}\n")
