"""The whole command, file to file, next to a plain copy of the same file in the same run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from sysconfig import get_path
from tempfile import TemporaryDirectory

import polars as pl

from bench.people import ATTRIBUTES, COPIES, TARGET, decode, encode, expand, people
from bench.process import Costs, Workshop
from bench.setting import Setting, tell
from bench.touched import rows_touched
from experiments.charts import bar_chart, line_chart
from experiments.pages import Goal, Picture, Section, Table

K, MOST_COPIES, MOST_GIGABYTES = 150, 6, 2.0
FEW, MANY, QUICK_COPIES = 1_000, 20_000, 2  # kernels are not compiled for few rows
METHODS = ("kactus", "kactus-plus")
KINDS = {"csv": "CSV", "parquet": "Parquet"}
SHARES = (1, 5, 10)  # of the variations of each row, beside all of them
COPY = {
    "csv": "import polars as p; p.read_csv('all.csv', infer_schema=False).write_csv('copy.csv')",
    "parquet": "import polars as p; p.read_parquet('all.parquet').write_parquet('copy.parquet')",
}
INCROWD = Path(get_path("scripts")) / "incrowd"
START, COPY_START = "start-up", "start-up of the copy"


@dataclass(frozen=True)
class Measured:
    """Everything that was timed, by name; see :func:`whole`, :func:`plain` and :func:`part`."""

    source: str
    rows: int
    megabytes: Mapping[str, float]
    costs: Mapping[str, Costs]
    parts: tuple[int, ...]
    touched: Mapping[int, int]
    first_run: float | None

    def limit(self, kind: str) -> float:
        """The seconds that the goal allows."""
        return MOST_COPIES * self.costs[plain(kind)].wall + self.costs[START].wall

    def copies(self, method: str, kind: str) -> float:
        """The command without its start-up, in copies of the file."""
        return (self.costs[whole(method, kind)].wall - self.costs[START].wall) / self.costs[plain(kind)].wall


def whole(method: str, kind: str) -> str:
    """The name of the whole command on all rows."""
    return f"{method}, {KINDS[kind]}"


def plain(kind: str) -> str:
    """The name of the plain copy."""
    return f"copy, {KINDS[kind]}"


def part(method: str, rows: int) -> str:
    """The name of the whole command on some of the rows, from CSV to CSV."""
    return f"{method}, {rows:,} rows"


def measure(setting: Setting) -> Section:
    """Write the tables, run everything in turn, tell."""
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        measured = _run(Workshop(Path(folder)), setting)
    goals = [_goal(measured, method, kind) for kind in KINDS for method in METHODS]
    return Section(
        "The whole command",
        (
            f"{measured.source}, {measured.rows:,} rows, {len(ATTRIBUTES)} quasi-identifiers, k = {K}: read, decide, "
            "apply, write, recount by DuckDB, publish. Every run is a process of its own; the commands on a kind of "
            f"file take turns (rounds: {setting.repetitions}); wall and CPU are medians. The copy is Polars reading "
            f"the file as it is and writing it again. Start-up is the same command (`kactus`) on {FEW:,} rows. The CSV "
            f"file has {measured.megabytes['csv']:.0f} MB, the Parquet file {measured.megabytes['parquet']:.0f} MB.",
            _costs_table(measured),
            "In copies of the same file: median wall, wall of the best runs, and CPU. The goal is about the first "
            "column, wall; where the best runs say otherwise, somebody else was using the machine. The last column is "
            "stricter: the copy, too, without its start-up.",
            _ratio_table(measured),
            *goals,
            "Seconds by stage, as the command itself reports them with `--json` (median of the same runs):",
            _stage_table(measured),
            _stage_picture(measured),
            "More and more rows, CSV to CSV. The cost per row is CPU time without start-up:",
            _rows_table(measured),
            _rows_picture(measured),
            *_slopes(measured),
            *_first_run(measured),
        ),
    )


def _run(workshop: Workshop, setting: Setting) -> Measured:
    """Time everything."""
    frame, source = people(setting)
    columns = encode(frame.drop_nulls())
    table = decode(expand(columns, QUICK_COPIES if setting.quick else COPIES))
    parts = () if setting.quick else tuple(share * len(columns[0].codes) for share in SHARES)
    megabytes = _write_tables(table, parts, workshop.folder)
    rows = table.height
    del table
    first_run = None if setting.quick else _warm_up(workshop)
    costs: dict[str, Costs] = {}
    for kind in KINDS:
        tell(f"{KINDS[kind]}, {rows:,} rows, {setting.repetitions} rounds: copy, {', '.join(METHODS)}")
        costs |= workshop.alternate(_commands(kind), setting.repetitions)
    for size in parts:
        tell(f"CSV, {size:,} rows")
        smaller = {part(method, size): _release(method, f"{size}.csv") for method in METHODS}
        costs |= workshop.alternate(smaller, setting.repetitions)
    touched = {size: rows_touched(workshop.folder / f"{size}.csv", K) for size in parts}
    touched[rows] = rows_touched(workshop.folder / "all.csv", K)
    return Measured(source, rows, megabytes, costs, parts, touched, first_run)


def _warm_up(workshop: Workshop) -> float:
    """The seconds of a run that must compile; afterwards all kernels are compiled and libraries in the file cache."""
    tell(f"first run, compiling, {MANY:,} rows")
    fresh = workshop.run(_release("kactus", "many.csv"), {"NUMBA_CACHE_DIR": str(workshop.folder / "kernels")})
    for method in METHODS:
        workshop.run(_release(method, "many.csv"))
    return fresh.wall


def _write_tables(table: pl.DataFrame, parts: tuple[int, ...], folder: Path) -> dict[str, float]:
    """The files to release; the sizes of the large ones in megabytes."""
    table.write_csv(folder / "all.csv")
    table.write_parquet(folder / "all.parquet")
    for rows in parts:
        table.head(rows).write_csv(folder / f"{rows}.csv")
    table.head(FEW).write_csv(folder / "few.csv")
    table.head(MANY).write_csv(folder / "many.csv")
    return {kind: os.path.getsize(folder / f"all.{kind}") / 1e6 for kind in KINDS}


def _commands(kind: str) -> dict[str, list[str]]:
    """What takes turns on a kind of file."""
    commands = {plain(kind): _python(COPY[kind])}
    commands |= {whole(method, kind): _release(method, f"all.{kind}") for method in METHODS}
    if kind == "csv":
        commands |= {START: _release("kactus", "few.csv"), COPY_START: _python("import polars")}
    return commands


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def _release(method: str, file: str) -> list[str]:
    options = ["--quasi-identifiers", ",".join(ATTRIBUTES), "--target", TARGET, "-k", str(K), "--method", method]
    options += ["--class-sensitive", "no", "--despite-unchanged"]
    return [str(INCROWD), "release", file, *options, "--to", f"release{Path(file).suffix}", "--replace", "--json"]


def _costs_table(measured: Measured) -> Table:
    names = [name for kind in KINDS for name in _commands(kind)]
    rows = [
        (name, f"{cost.wall:.2f}", f"{cost.best:.2f}", f"{cost.cpu:.2f}", f"{cost.gigabytes:.2f}")
        for name, cost in ((name, measured.costs[name]) for name in names)
    ]
    return Table(("", "wall s", "best s", "CPU s", "peak GB"), rows)


def _ratio_table(measured: Measured) -> Table:
    rows = []
    for kind in KINDS:
        for method in METHODS:
            costs = [measured.costs[name] for name in (whole(method, kind), START, plain(kind), COPY_START)]
            rows.append((f"{whole(method, kind)}, wall", *_ratios(*(cost.wall for cost in costs))))
            rows.append((f"{whole(method, kind)}, best", *_ratios(*(cost.best for cost in costs))))
            rows.append((f"{whole(method, kind)}, CPU", *_ratios(*(cost.cpu for cost in costs))))
    return Table(("", "(whole − start-up) / copy", "whole / copy", "(whole − start-up) / (copy − its start-up)"), rows)


def _ratios(command: float, start: float, copy: float, copy_start: float) -> tuple[str, str, str]:
    """The ratio of the goal, the plain ratio, and the ratio of what is left without either start-up."""
    net = (command - start) / max(copy - copy_start, 1e-3)
    return f"{(command - start) / copy:.1f}", f"{command / copy:.1f}", f"{net:.1f}"


def _goal(measured: Measured, method: str, kind: str) -> Goal:
    cost = measured.costs[whole(method, kind)]
    copies = measured.copies(method, kind)
    longest = sorted(cost.stages.items(), key=lambda stage: -stage[1])[:2]
    return Goal(
        f"`{method}`, {KINDS[kind]}: at most {MOST_COPIES} copies plus start-up ({measured.limit(kind):.1f} s), "
        f"under {MOST_GIGABYTES:g} GB",
        f"{copies:.1f} copies plus start-up ({cost.wall:.1f} s), {cost.gigabytes:.2f} GB",
        copies <= MOST_COPIES and cost.gigabytes < MOST_GIGABYTES,
        f"Most of it is {' and '.join(f'{stage} ({seconds:.1f} s)' for stage, seconds in longest)}.",
    )


def _stage_table(measured: Measured) -> Table:
    names = [whole(method, kind) for kind in KINDS for method in METHODS]
    stages = list(measured.costs[names[0]].stages)
    rows = [(name, *(f"{measured.costs[name].stages[stage]:.2f}" for stage in stages)) for name in names]
    return Table(("", *stages), rows)


def _stage_picture(measured: Measured) -> Picture:
    title = f"Seconds by stage, {measured.rows:,} rows, CSV, and the limit of {MOST_COPIES} copies plus start-up"
    bars = {}
    for method in METHODS:
        cost = measured.costs[whole(method, "csv")]
        bars[method] = {**cost.stages, "the rest": max(0.0, cost.wall - sum(cost.stages.values()))}
    bars["copy"] = {"copy": measured.costs[plain("csv")].wall}
    return Picture("command_stages", title, bar_chart(title, "s", bars, limit=measured.limit("csv")))


def _per_row(measured: Measured, method: str, rows: int) -> tuple[Costs, float]:
    """The costs on that many rows, and CPU microseconds per row without start-up."""
    cost = measured.costs[whole(method, "csv") if rows == measured.rows else part(method, rows)]
    return cost, 1e6 * max(0.0, cost.cpu - measured.costs[START].cpu) / rows


def _rows_table(measured: Measured) -> Table:
    rows = []
    for size in (*measured.parts, measured.rows):
        cells = []
        for method in METHODS:
            cost, each = _per_row(measured, method, size)
            cells += [f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{cost.gigabytes:.2f}", f"{each:.1f}"]
        rows.append((f"{size:,}", *cells, f"{measured.touched[size] / size:.2f}"))
    columns = ("wall s", "CPU s", "peak GB", "µs per row")
    return Table(("rows", *(f"{method} {words}" for method in METHODS for words in columns), "touched per row"), rows)


def _slopes(measured: Measured) -> Iterator[str]:
    """The exponent of growth over the paper's sizes, next to the paper's."""
    if not measured.parts:
        return
    few, many = measured.parts[1], measured.rows  # the paper begins there; the smallest is mostly start-up
    slopes = []
    for method in METHODS:
        seconds = [_per_row(measured, method, size)[1] * size for size in (few, many)]
        slopes.append(f"{log(seconds[1] / seconds[0], many / few):.2f} for `{method}`")
    touched = log(measured.touched[many] / measured.touched[few], many / few)
    yield (
        f"From {few:,} to {many:,} rows, CPU time without start-up grows with the rows to the power of "
        f"{' and '.join(slopes)}; the rows that `kactus` touches on its way up the tree to the power of {touched:.2f}. "
        "The founding paper's times grow with a power of 1.33; its largest case, with 7 quasi-identifiers and on a "
        "machine of its day, took 552 s."
    )


def _first_run(measured: Measured) -> Iterator[str]:
    if measured.first_run is not None:
        yield (
            "The first run after installation compiles the kernels once and keeps them: "
            f"{measured.first_run:.0f} s for {MANY:,} rows. No figure above includes that. Small tables need none: "
            f"{FEW:,} rows take {measured.costs[START].wall:.1f} s."
        )


def _rows_picture(measured: Measured) -> Picture:
    title = "CPU time of the whole command per row, by rows (CSV, without start-up)"
    points = {
        method: [(float(size), _per_row(measured, method, size)[1]) for size in (*measured.parts, measured.rows)]
        for method in METHODS
    }
    return Picture("command_scaling", title, line_chart(title, "rows", "µs per row", points, "{:,.0f}".format))
