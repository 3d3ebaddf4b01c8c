"""More and more rows, Parquet to Parquet: every method, next to a plain copy of the file and scikit-learn's tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.commands import CAP, METHODS, copy, fit, release, takes_memory
from bench.matrix import Matrix, by_size, drawn_by_size, left_out
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Goal, Picture, Section, Table

K, LIMIT, MOST_COPIES, MOST_GIGABYTES = 150, 600.0, 5.0, 4.0
SIZES, CAPPED_FROM = (45_222, 452_220, 1_356_660, 10_000_000), 5_000_000
QUICK_SIZES, QUICK_METHODS, FEW = (1_500, 3_000), ("kactus", "tdr"), 1_000
FIRST = "kactus"


@dataclass(frozen=True)
class Measured:
    """What was timed, by rows."""

    source: str
    start: Costs
    megabytes: dict[int, float] = field(default_factory=dict)
    copies: dict[int, Costs] = field(default_factory=dict)
    first: dict[int, Costs] = field(default_factory=dict)
    fits: dict[int, Cost | LeftOut] = field(default_factory=dict)
    methods: dict[str, dict[int, Cost | LeftOut]] = field(default_factory=dict)

    def ratio(self, rows: int) -> float:
        """CPU seconds in copies of the same file."""
        return self.first[rows].cpu / self.copies[rows].cpu

    def net(self, rows: int) -> float:
        """CPU microseconds per row without start-up."""
        return 1e6 * max(0.0, self.first[rows].cpu - self.start.cpu) / rows


def measure(setting: Setting) -> Section:
    """Make the files, run everything on each, tell."""
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        measured = _run(Workshop(Path(folder)), setting)
    rows = max(measured.first)
    everything: Matrix = {**_by_name(measured), "copy": _one_each(measured.copies)}
    ratio, gigabytes = measured.ratio(rows), measured.first[rows].gigabytes
    cap = f"`--memory {CAP}`" if takes_memory() else "no limit of memory (this version takes none)"
    return Section(
        "More and more rows",
        (
            f"{measured.source}, expanded as in the founding paper; {len(ATTRIBUTES)} quasi-identifiers, k = {K}, from "
            "Parquet to verified Parquet. Every figure is a whole process, start-up included. The copy is Polars "
            "reading the file and writing it again, a part at a time. scikit-learn is the fitting of its tree alone "
            f"(entropy, smallest leaf {K}) on ordinal codes of the same rows, without reading. From {CAPPED_FROM:,} "
            f"rows on, releases run with {cap}, and scikit-learn is left out.",
            f"**`{FIRST}`** and the copy take turns (rounds: {setting.repetitions}); medians. Net is without start-up, "
            f"which is the same command on {FEW:,} rows: {measured.start.wall:.2f} s, {measured.start.cpu:.2f} s CPU.",
            first_table(measured),
            _first_picture(measured),
            Goal(
                f"`{FIRST}`, {rows:,} rows x {len(ATTRIBUTES)} quasi-identifiers, Parquet to Parquet, k = {K}: at most "
                f"{MOST_COPIES:g} copies in CPU, under {MOST_GIGABYTES:g} GB",
                f"{ratio:.1f} copies, {gigabytes:.2f} GB",
                ratio <= MOST_COPIES and gigabytes < MOST_GIGABYTES,
                _longest(measured.first[rows]),
            ),
            f"**Every method**, one run each (`{FIRST}` and the copy: medians as above); a process was given "
            f"{LIMIT:.0f} s.",
            by_size("CPU s by rows", everything, lambda cost: cost.cpu),
            by_size("wall s by rows", everything, lambda cost: cost.wall),
            by_size("peak GB by rows", everything, lambda cost: cost.memory / 1e9, "{:.2f}"),
            *left_out(everything, "rows"),
            *_pictures(everything),
        ),
    )


def _run(workshop: Workshop, setting: Setting) -> Measured:
    """Every method on every size."""
    sizes, methods = (QUICK_SIZES, QUICK_METHODS) if setting.quick else (SIZES, METHODS)
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    write_people(workshop.folder / "few.parquet", columns, min(FEW, min(sizes)))
    for method in () if setting.quick else methods:  # compile
        workshop.run(release("few.parquet", method, K, ATTRIBUTES))
    start = workshop.alternate({"": release("few.parquet", FIRST, K, ATTRIBUTES)}, setting.repetitions)[""]
    measured = Measured(source, start, methods={method: {} for method in methods if method != FIRST})
    for rows in sizes:
        path = workshop.folder / "all.parquet"
        write_people(path, columns, rows)
        measured.megabytes[rows] = path.stat().st_size / 1e6
        run_first(workshop, measured, rows, setting.repetitions)
        if rows < CAPPED_FROM:
            measured.fits[rows] = workshop.attempt(fit(path.name, K), LIMIT)
        for method, known in measured.methods.items():
            command = release(path.name, method, K, ATTRIBUTES, capped=rows >= CAPPED_FROM)
            known[rows] = workshop.attempt(command, LIMIT)
            tell(f"{rows:,} rows, {method}: {_told(known[rows])}")
    return measured


def run_first(workshop: Workshop, measured: Measured, rows: int, repetitions: int) -> None:
    """The copy and the first method in turns."""
    file = "all.parquet"
    ours = release(file, FIRST, K, ATTRIBUTES, capped=rows >= CAPPED_FROM)
    costs = workshop.alternate({"copy": copy(file), FIRST: ours}, repetitions)
    measured.copies[rows], measured.first[rows] = costs["copy"], costs[FIRST]
    tell(f"{rows:,} rows, {FIRST}: {costs[FIRST].cpu:.1f} s CPU, {measured.ratio(rows):.1f} copies")


def _told(cost: Cost | LeftOut) -> str:
    return f"{cost.cpu:.1f} s CPU" if isinstance(cost, Cost) else str(cost)


def first_table(measured: Measured) -> Table:
    """The first method next to the yardsticks."""
    header = (
        "rows",
        "MB",
        "copy, CPU s",
        "wall s",
        "CPU s",
        "peak GB",
        "in copies, CPU",
        "µs per row",
        "net µs per row",
    )
    rows = []
    for size, cost in measured.first.items():
        rows.append(
            (
                f"{size:,}",
                f"{measured.megabytes[size]:,.1f}",
                f"{measured.copies[size].cpu:.2f}",
                f"{cost.wall:.2f}",
                f"{cost.cpu:.2f}",
                f"{cost.gigabytes:.2f}",
                f"{measured.ratio(size):.1f}",
                f"{1e6 * cost.cpu / size:.2f}",
                f"{measured.net(size):.2f}",
                *([_fitted(measured.fits.get(size))] if measured.fits else []),
            )
        )
    return Table((*header, *(["scikit-learn, CPU s"] if measured.fits else [])), rows)


def _fitted(cost: Cost | LeftOut | None) -> str:
    return "" if cost is None else f"{cost.stages['CPU']:.2f}" if isinstance(cost, Cost) else "–"


def _first_picture(measured: Measured) -> Picture:
    fits = {rows: cost for rows, cost in measured.fits.items() if isinstance(cost, Cost)}
    lines: Matrix = {
        FIRST: _one_each(measured.first),
        "copy": _one_each(measured.copies),
        "scikit-learn's fit": {rows: Cost(0, cost.stages["CPU"], 0, {}) for rows, cost in fits.items()},
    }
    title = f"CPU seconds of {FIRST}, a copy and scikit-learn's fit by rows, both axes logarithmic"
    return drawn_by_size("sizes_kactus", title, ("rows", "CPU s"), lines, lambda cost: cost.cpu)


def _pictures(everything: Matrix) -> list[Picture]:
    axes = "both axes logarithmic"
    return [
        drawn_by_size(
            "sizes_cpu", f"CPU seconds by rows, {axes}", ("rows", "CPU s"), everything, lambda cost: cost.cpu
        ),
        drawn_by_size(
            "sizes_memory",
            "Peak memory by rows",
            ("rows", "GB"),
            everything,
            lambda cost: cost.memory / 1e9,
            "from zero",
        ),
    ]


def _by_name(measured: Measured) -> dict[str, dict[int, Cost | LeftOut]]:
    first = {f"`{FIRST}`": _one_each(measured.first)}
    return {**first, **{f"`{method}`": known for method, known in measured.methods.items()}}


def _one_each(costs: dict[int, Costs]) -> dict[int, Cost | LeftOut]:
    """Several runs as one: medians, and the largest memory."""
    return {rows: Cost(each.wall, each.cpu, int(1e9 * each.gigabytes), {}) for rows, each in costs.items()}


def _longest(cost: Costs) -> str:
    longest: Sequence[tuple[str, float]] = sorted(cost.stages.items(), key=lambda stage: -stage[1])[:3]
    return f"Most of it is {', '.join(f'{stage} ({seconds:.1f} s)' for stage, seconds in longest)}."
