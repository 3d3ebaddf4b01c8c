"""``python -m quality fuzz [READER …] [--cases N] [--seed N] [--write PAGE]``: damaged files for every reader.

Valid files are damaged in many ways. A reader must read the result or refuse it with an error of the program's own,
which quotes no cell, in little time and memory. Exit status 1 if one did not. ``--case N`` does one case again, in
this process, and keeps its file.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from quality.page import table, write_section
from quality.readers import READERS, Reader
from quality.trial import MOST_BYTES, MOST_SECONDS, Violation, damaged
from quality.worker import valid_files

Row = tuple[str, int, int, float]
"""A reader with its cases, violations and minutes."""
BATCH = 2_000
CASES = 20_000
_QUIET = {"POLARS_MAX_THREADS": "1", "RUST_BACKTRACE": "0"}


@dataclass(frozen=True)
class Outcome:
    """The cases of a reader, and what was wrong."""

    reader: str
    cases: int
    violations: tuple[Violation, ...]
    seconds: float

    @property
    def row(self) -> Row:
        """As it stands on the page."""
        return self.reader, self.cases, len(self.violations), self.seconds / 60


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz the readers that are named, or all; print, and write the section of the page if asked for."""
    arguments = _arguments(argv)
    readers = [READERS[name] for name in arguments.readers or READERS]
    if arguments.case is not None:
        _again(readers[0], arguments.seed, arguments.case)
        return 0
    violations = 0
    for reader in readers:
        outcome = fuzz(reader, arguments.cases, arguments.seed)
        violations += len(outcome.violations)
        print(_line(outcome), flush=True)
        for trouble, cases in _kinds(outcome).items():
            print(f"    {trouble}: {len(cases)}, such as case {cases[0]}", flush=True)
        if arguments.write:
            write_section(arguments.write, "fuzz", section([*_written(arguments.write, reader.name), outcome.row]))
    return 1 if violations else 0


def fuzz(reader: Reader, cases: int, seed: int = 1) -> Outcome:
    """Give a reader damaged files, in processes that may die: each death is a violation, and the rest goes on."""
    begun = time.perf_counter()
    violations: list[Violation] = []
    with TemporaryDirectory(prefix="incrowd-fuzz-") as folder:
        _worker(reader.name, folder).check_returncode()
        first = 0
        while first < cases:
            done = _worker(reader.name, folder, seed, first, min(first + BATCH, cases))
            lines = [line.split(" ", 1) for line in done.stdout.splitlines()]
            last = max((int(line[0]) for line in lines), default=first)
            violations += [Violation(reader.name, int(line[0]), line[1]) for line in lines if len(line) == 2]
            if done.returncode:
                violations.append(Violation(reader.name, last, _death(done.returncode)))
            first = last + 1
    return Outcome(reader.name, cases, tuple(violations), time.perf_counter() - begun)


def _worker(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "quality.worker", *map(str, words)]
    return subprocess.run(command, env={**os.environ, **_QUIET}, stdout=subprocess.PIPE, text=True, check=False)


def _death(status: int) -> str:
    if status in (-signal.SIGALRM, -signal.SIGPROF):
        return f"more than {MOST_SECONDS:.0f} seconds"
    return f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def section(rows: Sequence[Row]) -> str:
    """The outcomes as Markdown, in the order of the readers."""
    ordered = sorted(rows, key=lambda row: list(READERS).index(row[0]))
    words = (
        f"Valid files were damaged {sum(row[1] for row in rows):,} times: bits, bytes, lengths, lines, words, values "
        "of JSON, members of archives. A violation is anything but a file that is read or an error of incrowd's own; a "
        f"cell in a message; a process that dies; more than {MOST_SECONDS:.0f} seconds of work or "
        f"{MOST_BYTES >> 20} MB. Violations: {sum(row[2] for row in rows):,}."
    )
    header = ("reader", "cases", "violations", "minutes")
    return f"{words}\n\n{table(header, [(n, f'{c:,}', f'{v:,}', f'{m:.1f}') for n, c, v, m in ordered])}"


def _written(page: Path, name: str) -> list[Row]:
    """The rows of other readers that are on the page already."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    text = text.partition("<!-- fuzz -->")[2].partition("<!-- /fuzz -->")[0]
    cells = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    rows = [(reader, int(c.replace(",", "")), int(v.replace(",", "")), float(m)) for reader, c, v, m in cells]
    return [row for row in rows if row[0] in READERS and row[0] != name]


def _again(reader: Reader, seed: int, case: int) -> None:
    """One case in this process, with its trace."""
    with TemporaryDirectory(prefix="incrowd-fuzz-") as folder:
        _worker(reader.name, folder).check_returncode()
        ending, data = damaged(reader, valid_files(Path(folder)), seed, case)
    path = Path(f"{reader.name}-{seed}-{case}{ending}")
    path.write_bytes(data)
    print(f"{path}, {len(data):,} bytes", flush=True)
    os.environ["INCROWD_DEBUG"] = "1"
    reader.read(path)


def _kinds(outcome: Outcome) -> dict[str, list[int]]:
    """The violations by what was wrong, the most frequent first."""
    counts = Counter(violation.trouble for violation in outcome.violations)
    return {
        trouble: [one.case for one in outcome.violations if one.trouble == trouble]
        for trouble, _ in counts.most_common()
    }


def _line(outcome: Outcome) -> str:
    rate = outcome.cases / outcome.seconds
    return f"{outcome.reader}: {outcome.cases:,} cases, {len(outcome.violations):,} violations, {rate:.0f} a second"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m quality fuzz", description="Damaged files for every reader.")
    parser.add_argument("readers", nargs="*", metavar="READER", choices=[*READERS, []], help=", ".join(READERS))
    parser.add_argument("--cases", type=int, default=CASES, help="for each reader")
    parser.add_argument("--seed", type=int, default=1, help="another one, other cases")
    parser.add_argument("--case", type=int, help="this one again, in this process; its file is kept")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the section of this page")
    return parser.parse_args(argv)
