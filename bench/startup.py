"""What starting costs: a small release, the help and the import, next to importing the libraries themselves."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.commands import INCROWD, release
from bench.history import spread
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Costs, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting
from experiments.pages import Goal, Section, Table

ROWS, K, ROUNDS = 1_000, 10, 5
LIBRARIES = "import numpy, polars, duckdb, pyarrow, typer"
IMPORTS, HELP, IMPORT = "the libraries", "incrowd --help", "import incrowd"
RELEASES = {f"a release of {ROWS:,} rows, {method}": method for method in ("kactus", "kactus-plus")}
MOST = {**dict.fromkeys(RELEASES, 2.0), HELP: 0.3, IMPORT: 0.1}


def measure(setting: Setting) -> Section:
    """All in turns, after a round that does not count."""
    frame, source = people_with_hierarchies(setting)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        write_people(workshop.folder / "few.parquet", encode(frame.drop_nulls()), ROWS)
        commands = {
            IMPORTS: [sys.executable, "-c", LIBRARIES],
            **{name: release("few.parquet", method, K, ATTRIBUTES) for name, method in RELEASES.items()},
            HELP: [str(INCROWD), "--help"],
            IMPORT: [sys.executable, "-c", "import incrowd"],
        }
        if not setting.quick:
            workshop.alternate(commands, 1)
        costs = workshop.alternate(commands, 1 if setting.quick else ROUNDS)
    ratios = {name: costs[name].ratios(costs[IMPORTS]) for name in MOST}
    return Section(
        "Start-up",
        (
            f"{source}, {ROWS:,} rows, {len(ATTRIBUTES)} quasi-identifiers, k = {K}, Parquet to verified Parquet. The "
            f'yardstick is `python -c "{LIBRARIES}"`. All are processes of their own, and take turns (rounds: '
            f"{1 if setting.quick else ROUNDS}). A release is two processes, and the second imports its libraries "
            "anew: what verifies shares nothing with what it verifies.",
            Table(
                ("", "wall s", "CPU s", "in imports, CPU"),
                [_row(name, cost, costs[IMPORTS]) for name, cost in costs.items()],
            ),
            *(
                Goal(
                    f"{name}: at most {most:g} times the import of the libraries, in CPU",
                    f"{spread_of(ratios[name])} times",
                    median(ratios[name]) <= most,
                    "Importing what the two processes need takes most of it." if name in RELEASES else "",
                )
                for name, most in MOST.items()
            ),
        ),
        ratios,
    )


def spread_of(ratios: list[float]) -> str:
    """Small ratios with two places."""
    return spread(ratios) if median(ratios) >= 1 else f"{median(ratios):.2f}"


def _row(name: str, cost: Costs, yardstick: Costs) -> tuple[str, ...]:
    return name, f"{cost.wall:.2f}", f"{cost.cpu:.3f}", spread_of(cost.ratios(yardstick))
