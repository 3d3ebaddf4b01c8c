"""More and more rows: the recommended method and the one of the paper, in turns with a plain copy of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import polars as pl

from bench.commands import CAP, copy, release, takes_memory
from bench.history import spread
from bench.matrix import drawn_by_size
from bench.people import ATTRIBUTES, encode, write_people
from bench.process import Cost, Costs, LeftOut, Workshop
from bench.renamed import people_with_hierarchies
from bench.setting import Setting, tell
from experiments.pages import Goal, Picture, Section, Table

K, MOST_GIGABYTES = 150, 4.0
FIRST, BEST, COPY = "kactus", "kactus-plus", "copy"
METHODS = (FIRST, BEST)
MOST_COPIES, MOST_OF_TEXT = {FIRST: 3.0, BEST: 5.0}, 4.0
SIZES, TEXT_ROWS, CAPPED_FROM = (45_222, 1_356_660, 3_000_000, 10_000_000), 1_356_660, 5_000_000
QUICK_SIZES, FEW = (1_500, 3_000), 1_000
FEWER_FROM = 1_000_000
"""A round of so many rows takes minutes: one less; and one alone where memory is capped."""


@dataclass(frozen=True)
class Measured:
    """What was timed, by rows; the costs of methods by name."""

    source: str
    start: Costs
    megabytes: dict[int, float] = field(default_factory=dict)
    copies: dict[int, Costs] = field(default_factory=dict)
    methods: dict[str, dict[int, Costs]] = field(default_factory=dict)

    @property
    def first(self) -> dict[int, Costs]:
        """The first method."""
        return self.methods[FIRST]

    def ratios(self, rows: int, method: str = FIRST) -> list[float]:
        """CPU seconds in copies of the same file, round by round."""
        return self.methods[method][rows].ratios(self.copies[rows])

    def net(self, rows: int, method: str = FIRST) -> float:
        """CPU microseconds per row without start-up."""
        return 1e6 * max(0.0, self.methods[method][rows].cpu - self.start.cpu) / rows


@dataclass(frozen=True)
class Text:
    """The first method from CSV to CSV: the release, the copy, and the release of a few rows."""

    rows: int
    costs: Mapping[str, Costs]

    @property
    def ratios(self) -> list[float]:
        """CPU seconds without start-up in copies of the same file, round by round."""
        rounds = zip(*(self.costs[name].runs for name in (FIRST, "few", COPY)), strict=True)
        return [(whole.cpu - few.cpu) / copied.cpu for whole, few, copied in rounds]


def measure(setting: Setting) -> Section:
    """Make the files, run everything on each, tell."""
    with TemporaryDirectory(prefix="incrowd-bench-") as folder:
        measured, text = _run(Workshop(Path(folder)), setting)
    cap = f"`--memory {CAP}`" if takes_memory() else "no limit of memory (this version takes none)"
    ratios = {
        f"{method}, {rows:,} rows, Parquet": measured.ratios(rows, method)
        for method in METHODS
        for rows in measured.copies
    }
    ratios[f"{FIRST}, {text.rows:,} rows, CSV, without start-up"] = text.ratios
    return Section(
        "More and more rows",
        (
            f"{measured.source}, expanded as in the founding paper; {len(ATTRIBUTES)} quasi-identifiers, k = {K}, from "
            "Parquet to verified Parquet. Every figure is a whole process, start-up included. The copy is Polars "
            "reading the file and writing it again, a part at a time. Releases and the copy take turns (rounds: "
            f"{setting.repetitions}, one less from {FEWER_FROM:,} rows on, one from {CAPPED_FROM:,}); medians. From "
            f"{CAPPED_FROM:,} rows on, releases run with {cap}. Net is without start-up, which is `{FIRST}` on "
            f"{FEW:,} rows: {measured.start.wall:.2f} s, {measured.start.cpu:.2f} s CPU.",
            *(part for method in METHODS for part in (f"**`{method}`**", first_table(measured, method))),
            _picture(measured),
            *(_goal(measured, method, rows) for method in METHODS for rows in measured.copies if rows >= FEWER_FROM),
            Goal(
                f"`{FIRST}`, {text.rows:,} rows from CSV to CSV: at most {MOST_OF_TEXT:g} copies and start-up",
                f"{spread(text.ratios)} copies",
                median(text.ratios) <= MOST_OF_TEXT,
                f"The copy takes {text.costs[COPY].cpu:.2f} s of CPU. By stage (wall): {_stages(text.costs[FIRST])}.",
            ),
        ),
        ratios,
    )


def _goal(measured: Measured, method: str, rows: int) -> Goal:
    ratios, cost = measured.ratios(rows, method), measured.methods[method][rows]
    most, capped = MOST_COPIES[method], rows >= CAPPED_FROM
    return Goal(
        f"`{method}`, {rows:,} rows, Parquet: at most {most:g} copies in CPU"
        + (f", under {MOST_GIGABYTES:g} GB" if capped else ""),
        f"{spread(ratios)} copies, {cost.gigabytes:.2f} GB",
        median(ratios) <= most and (not capped or cost.gigabytes < MOST_GIGABYTES),
        f"By stage (wall): {_stages(cost)}.",
    )


def _run(workshop: Workshop, setting: Setting) -> tuple[Measured, Text]:
    """Both methods on every size, then text."""
    frame, source = people_with_hierarchies(setting)
    columns = encode(frame.drop_nulls())
    sizes = QUICK_SIZES if setting.quick else setting.affordable(SIZES, int)
    write_people(workshop.folder / "few.parquet", columns, min(FEW, min(sizes)))
    for method in () if setting.quick else METHODS:  # compile
        workshop.run(release("few.parquet", method, K, ATTRIBUTES))
    start = workshop.alternate({"": release("few.parquet", FIRST, K, ATTRIBUTES)}, setting.repetitions)[""]
    measured, text = Measured(source, start), None
    for rows in sizes:
        path = workshop.folder / "all.parquet"
        write_people(path, columns, rows)
        measured.megabytes[rows] = path.stat().st_size / 1e6
        run_in_turns(workshop, measured, rows, _rounds(rows, setting), METHODS)
        if text is None and (rows >= TEXT_ROWS or rows == sizes[-1] or setting.quick):
            text = _text(workshop, rows, _rounds(rows, setting))
    assert text is not None
    return measured, text


def _rounds(rows: int, setting: Setting) -> int:
    return max(1, setting.repetitions - (rows >= FEWER_FROM)) if rows < CAPPED_FROM else 1


def _text(workshop: Workshop, rows: int, rounds: int) -> Text:
    """The same rows as text."""
    for name in ("few", "all"):
        pl.read_parquet(workshop.folder / f"{name}.parquet").write_csv(workshop.folder / f"{name}.csv")
    commands = {
        COPY: copy("all.csv"),
        "few": release("few.csv", FIRST, K, ATTRIBUTES),
        FIRST: release("all.csv", FIRST, K, ATTRIBUTES),
    }
    measured = Text(rows, workshop.alternate(commands, rounds))
    tell(f"{rows:,} rows of text, {FIRST}: {spread(measured.ratios)} copies")
    return measured


def run_in_turns(
    workshop: Workshop, measured: Measured, rows: int, repetitions: int, methods: Sequence[str] = (FIRST,)
) -> None:
    """The copy and the methods in turns."""
    file, capped = "all.parquet", rows >= CAPPED_FROM
    ours = {method: release(file, method, K, ATTRIBUTES, capped=capped) for method in methods}
    if rows >= FEWER_FROM and not measured.copies.keys() & set(range(FEWER_FROM, rows)):
        workshop.run(ours[methods[-1]])  # compile what only large tables need
    costs = workshop.alternate({COPY: copy(file), **ours}, repetitions)
    measured.copies[rows] = costs[COPY]
    for method in methods:
        measured.methods.setdefault(method, {})[rows] = costs[method]
        tell(f"{rows:,} rows, {method}: {costs[method].cpu:.1f} s CPU, {spread(measured.ratios(rows, method))} copies")


def first_table(measured: Measured, method: str = FIRST) -> Table:
    """A method next to the copy."""
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
    for size, cost in measured.methods[method].items():
        rows.append(
            (
                f"{size:,}",
                f"{measured.megabytes[size]:,.1f}",
                f"{measured.copies[size].cpu:.2f}",
                f"{cost.wall:.2f}",
                f"{cost.cpu:.2f}",
                f"{cost.gigabytes:.2f}",
                spread(measured.ratios(size, method)),
                f"{1e6 * cost.cpu / size:.2f}",
                f"{measured.net(size, method):.2f}",
            )
        )
    return Table(header, rows)


def _picture(measured: Measured) -> Picture:
    lines = {**measured.methods, COPY: measured.copies}
    matrix: dict[str, dict[int, Cost | LeftOut]] = {name: _one_each(costs) for name, costs in lines.items()}
    title = f"CPU seconds of {FIRST}, {BEST} and a copy by rows, both axes logarithmic"
    return drawn_by_size("sizes_kactus", title, ("rows", "CPU s"), matrix, lambda cost: cost.cpu)


def _one_each(costs: Mapping[int, Costs]) -> dict[int, Cost | LeftOut]:
    """Several runs as one: medians, and the largest memory."""
    return {rows: Cost(each.wall, each.cpu, int(1e9 * each.gigabytes), {}) for rows, each in costs.items()}


def _stages(cost: Costs) -> str:
    return ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in cost.stages.items())
