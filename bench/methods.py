"""The methods side by side on Adult: CPU seconds next to a plain copy of the same file, and what each release keeps."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

from bench.census import ATTRIBUTES, METHODS, K, census, hierarchy_files
from bench.command import INCROWD
from bench.learned import what_is_kept
from bench.people import TARGET
from bench.process import Costs, Workshop
from bench.releasing import Spent, copy_timed, release_timed
from bench.setting import Setting, tell
from experiments.pages import Goal, Section, Table
from incrowd.methods.catalog import find_method

COPY, FILE = "copy", "people.csv"
LESS_THAN = {"tdr": 3.0, "iack": 1.0, "mondrian": 2.0, "infogain-mondrian": 2.0}  # CPU seconds
PLAIN = f"import polars as p; p.read_csv('{FILE}', infer_schema=False).write_csv('copy.csv')"
ELSEWHERE = (
    "Other Python packages on the same rows are in the section on other tools. ARX, a Java program, took 5 to 17 CPU "
    "seconds for the same task when it was measured elsewhere: an order of magnitude, no ratio."
)


@dataclass(frozen=True)
class Warm:
    """What was measured in this running process."""

    releases: Mapping[str, list[Spent]]
    copies: list[float]

    @property
    def copy(self) -> float:
        """Median CPU seconds of the copy."""
        return median(self.copies)

    def whole(self, method: str) -> float:
        """Median CPU seconds of the release."""
        return median(spent.whole for spent in self.releases[method])

    def deciding(self, method: str) -> float:
        """Median CPU seconds of its deciding."""
        return median(spent.deciding for spent in self.releases[method])


def measure(setting: Setting) -> Section:
    """Release with every method in this process and in fresh ones; then what the releases keep."""
    frame, source = census(setting)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder, patch.dict(os.environ, XDG_CONFIG_HOME=folder):
        file = Path(folder) / FILE
        frame.write_csv(file)
        methods = tuple(LESS_THAN) if setting.quick else METHODS
        warm = _warm(file, methods, setting)
        fresh = _fresh(Workshop(Path(folder)), methods, setting)
        kept = what_is_kept(file, methods, setting)
    return Section(
        "The methods side by side",
        (
            f"{source}, {frame.height:,} complete rows, {len(ATTRIBUTES)} quasi-identifiers ({', '.join(ATTRIBUTES)}) "
            f"and the class, the hierarchies that come with incrowd, k = {K}; from a CSV file to a verified CSV file. "
            "The copy is Polars reading the same file as it is and writing it again. All seconds are CPU seconds of "
            f"all threads, medians of runs that take turns (rounds: {setting.repetitions}). Running: in a process that "
            "has released before; deciding is a part of it. Fresh: the whole process `incrowd release …`, interpreter, "
            "imports and loading of compiled kernels included, mostly the difference to running; the "
            "fresh copy is a process of its own, too.",
            _costs_table(warm, fresh),
            *(_goal(method, seconds, warm, fresh) for method, seconds in LESS_THAN.items()),
            ELSEWHERE,
            *kept,
        ),
    )


def _warm(file: Path, methods: Sequence[str], setting: Setting) -> Warm:
    """Everything in turns, after one round that does not count."""
    warm = Warm({method: [] for method in methods}, [])
    if not setting.quick:
        for method in methods:
            release_timed(file, method, K)
        copy_timed(file)
    for _ in range(setting.repetitions):
        warm.copies.append(copy_timed(file))
        for method, runs in warm.releases.items():
            runs.append(release_timed(file, method, K))
            tell(f"{method}: {runs[-1].whole:.2f} s CPU, deciding {runs[-1].deciding:.2f}")
    return warm


def _fresh(workshop: Workshop, methods: Sequence[str], setting: Setting) -> dict[str, Costs]:
    """The same as processes of their own."""
    tell(f"fresh processes, {setting.repetitions} rounds")
    commands = {COPY: [sys.executable, "-c", PLAIN], **{method: _command(method) for method in methods}}
    return workshop.alternate(commands, setting.repetitions)


def _command(method: str) -> list[str]:
    roles = ["--quasi-identifiers", ",".join(ATTRIBUTES), "--target", TARGET, "-k", str(K), "--method", method]
    roles += ["--class-sensitive", "no", "--despite-unchanged"]
    used = hierarchy_files() if find_method(method).generalizes else {}
    trees = [word for name, path in used.items() for word in ("--hierarchy", f"{name}={path}")]
    return [str(INCROWD), "release", FILE, *roles, *trees, "--to", "release.csv", "--replace", "--json"]


def _costs_table(warm: Warm, fresh: Mapping[str, Costs]) -> Table:
    rows = [(COPY, f"{warm.copy:.2f}", "", "1", f"{fresh[COPY].cpu:.2f}", "1", "", "")]
    for method in warm.releases:
        limit = LESS_THAN.get(method)
        rows.append(
            (
                f"`{method}`",
                f"{warm.whole(method):.2f}",
                f"{warm.deciding(method):.2f}",
                f"{warm.whole(method) / max(warm.copy, 1e-3):.1f}",
                f"{fresh[method].cpu:.2f}",
                f"{fresh[method].cpu / fresh[COPY].cpu:.1f}",
                "" if limit is None else f"< {limit:g}",
                "" if limit is None else "yes" if warm.whole(method) < limit else "NO",
            )
        )
    running = ("running, CPU s", "of it deciding", "in copies")
    return Table(("", *running, "fresh, CPU s", "in fresh copies", "goal, CPU s", "met"), rows)


def _goal(method: str, limit: float, warm: Warm, fresh: Mapping[str, Costs]) -> Goal:
    whole, process = warm.whole(method), fresh[method].cpu
    return Goal(
        f"`{method}`: the whole release in a running process in less than {limit:g} CPU seconds",
        f"{whole:.2f} s, {whole / max(warm.copy, 1e-3):.1f} copies; a fresh process with its start-up takes "
        f"{process:.2f} s, which is {'under' if process < limit else 'not under'} the same limit",
        whole < limit,
        f"Deciding takes {warm.deciding(method):.2f} s of it.",
    )
