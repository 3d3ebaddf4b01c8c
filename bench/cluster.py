"""Ten million rows on Spark, on one machine, or fewer if asked: a release next to a plain read and write of them."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import release
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Costs, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from bench.sizes import FIRST, K
from experiments.pages import Goal, Section, Table

MASTER, ROWS, QUICK_ROWS, ROUNDS, MOST = "local[2]", 10_000_000, 3_000, 2, 2.5
PLAIN = (
    "from incrowd.rows.spark.session import spark_session; s = spark_session({master!r}); "
    "s.read.parquet('all.parquet').write.mode('overwrite').parquet('plain'); s.stop()"
)


def measure(setting: Setting) -> Section:
    """Both take turns."""
    rows, rounds = (QUICK_ROWS, 1) if setting.quick else (min(ROWS, setting.up_to or ROWS), ROUNDS)
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        workshop = Workshop(Path(folder))
        frame, source = people_with_hierarchies(setting)
        write_people(workshop.folder / "all.parquet", encode(frame.drop_nulls()), rows)
        tell(f"{rows:,} rows on Spark")
        costs = workshop.alternate({"plain": _plain(), "release": _release(), "local": _embedded()}, rounds)
    plain, released = costs["plain"], costs["release"]
    ratio = released.cpu / plain.cpu
    return Section(
        "On Spark",
        (
            f"{source}, expanded to {rows:,} rows; {len(ATTRIBUTES)} quasi-identifiers, k = {K}, `{FIRST}`, "
            f"`--engine spark --master {MASTER}`, next to Spark reading the same file and writing it again, and to the "
            f"release without Spark. Each is a process of its own, start of Java included; they take turns (rounds: "
            f"{rounds}), medians. CPU and memory are those of all processes together, Python and Java.",
            _table(costs),
            Goal(
                f"at most {MOST:g} times the plain read and write (CPU seconds)",
                f"{ratio:.1f} times; wall {released.wall / plain.wall:.1f} times",
                ratio <= MOST,
            ),
        ),
    )


def _table(costs: dict[str, Costs]) -> Table:
    names = {"plain": "Spark, read and write", "release": "release on Spark", "local": "release without Spark"}
    rows = [
        (names[name], f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.gigabytes:.2f}") for name, cost in costs.items()
    ]
    return Table(("", "wall s", "CPU s", "GB"), rows)


def _plain() -> list[str]:
    return [sys.executable, "-c", PLAIN.format(master=MASTER)]


def _embedded() -> list[str]:
    return release("all.parquet", FIRST, K, ATTRIBUTES, capped=True)


def _release() -> list[str]:
    """To a new folder; that of the round before goes first."""
    command = release("all.parquet", FIRST, K, ATTRIBUTES)
    command[command.index("--to") + 1] = "spark"
    return ["/bin/sh", "-c", 'rm -rf spark && exec "$@"', "sh", *command, "--engine", "spark", "--master", MASTER]
