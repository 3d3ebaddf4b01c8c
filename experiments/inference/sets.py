"""Figure 5.7 as curves, and the degree of suppression varied: a page of its own, which takes a minute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from experiments.charts import line_chart
from experiments.inference.loss import ENHANCED
from experiments.inference.tables import Data, tables
from experiments.pages import Goal, Picture, Section, Table
from incrowd.hiding.methods import Options
from incrowd.hiding.planner import Cell, plan_hiding
from incrowd.hiding.secret import Status
from incrowd.vocabulary.randomness import SeededRandomness

Parts = list[str | Table | Picture | Goal]
Tell = Callable[[str], None]
HALF = (0.4, 0.6)  # "nearly 50 %" fewer changes
DEGREES, BY_DEGREE = (2, 3, 5, 7), ("decp", "incp", "dropp")


@dataclass(frozen=True)
class Sizes:
    """How many cells are hidden, in how many sets of them, and how many for each degree."""

    steps: tuple[int, ...]
    sets: int
    cells: int


FULL, QUICK = Sizes((6, 12, 24, 48), 3, 40), Sizes((3, 6), 1, 3)


def run_sets(quick: bool, folder: Path | None = None, tell: Tell = print) -> Section:
    """Both experiments on breast cancer, the degree on Car as well."""
    sizes, both = QUICK if quick else FULL, tables(folder, tell)
    cancer = next(data for data in both if data.generalizes)
    lines = curves(cancer, sizes, tell)
    degrees = {data.name: {degree: by_degree(data, degree, sizes.cells, tell) for degree in DEGREES} for data in both}
    return Section(
        "Figure 5.7, and the degree", [*curves_told(cancer.name, lines, sizes), *degrees_told(degrees, sizes)]
    )


def random_cells(data: Data, count: int, seed: int) -> list[Cell]:
    """Cells drawn at random, as the set that compares DECP's kind."""
    return data.cells(count, 400 + seed)


def cells_of_rows(data: Data, count: int, seed: int) -> list[Cell]:
    """Three cells of each of some rows drawn at random, as the set that compares DROPP's kind."""
    rows = [cell.row for cell in data.cells(count, 500 + seed)]
    known = ([Cell(row, name) for name in data.wide if data.known(row, name)] for row in rows)
    return [cell for cells in known for cell in cells[seed % 3 : seed % 3 + 3]][:count]


def curves(data: Data, sizes: Sizes, tell: Tell) -> dict[str, dict[int, float]]:
    """Cells changed in all, by method and by the number of cells that are hidden; averages over the sets."""
    lines = {}
    for method in ENHANCED:
        drawn = random_cells if "decp" in method else cells_of_rows
        whole = [drawn(data, max(sizes.steps), seed) for seed in range(sizes.sets)]
        lines[method] = {
            step: mean(_changed(data, cells[:step], method, seed) for seed, cells in enumerate(whole))
            for step in sizes.steps
        }
        tell(f"{data.name}: sets of cells by {method}")
    return lines


def _changed(data: Data, cells: Sequence[Cell], method: str, seed: int) -> int:
    return len(plan_hiding(data.table, data.schema, cells, method, randomness=SeededRandomness(seed)).changes)


def curves_told(
    name: str, lines: Mapping[str, Mapping[int, float]], sizes: Sizes
) -> list[str | Table | Picture | Goal]:
    """The table, a drawing for each kind, and whether the enhanced forms change about half."""
    steps = list(sizes.steps)
    rows = [(method, *(f"{line[step]:.1f}" for step in steps)) for method, line in lines.items()]
    ratios = {
        plain: [lines[better][step] / (lines[plain][step] or 1.0) for step in steps]
        for plain, better in zip(ENHANCED[::2], ENHANCED[1::2], strict=True)
    }
    rows += [(f"e-{plain} / {plain}", *(f"{ratio:.2f}" for ratio in line)) for plain, line in ratios.items()]
    halved = {plain: mean(line) for plain, line in ratios.items()}
    drawn = {method: [(float(n), value) for n, value in line.items()] for method, line in lines.items()}
    pictures = [
        Picture(
            f"hiding_breast_enhanced_{kind}",
            f"Figure 5.7, {kind.upper()} and its kind: cells changed by cells hidden",
            line_chart(
                f"Figure 5.7: cells changed by cells hidden, {kind.upper()} and its kind",
                "cells hidden",
                "cells changed",
                {method: line for method, line in drawn.items() if kind in method},
                "{:,.0f}".format,
            ),
        )
        for kind in ("decp", "dropp")
    ]
    return [
        f"**Figure 5.7, {name}**: cells changed in all, averages over {sizes.sets} sets of cells. For DECP and its "
        "kind cells are drawn at random; for DROPP and its kind three cells of each of some rows. The plain methods "
        "hide one after the other, the enhanced ones (e-) all cells of a column with the same value, or of a row, at "
        "once. In either case all cells are blanked first, and what an adversary still guesses is worked on again. "
        "Last: the enhanced form in the plain one's.",
        Table(("cells hidden", *map(str, steps)), rows),
        *pictures,
        Goal(
            "as in the thesis, the enhanced forms change nearly half as many cells (0.4 to 0.6 of them, our reading)",
            ", ".join(f"e-{plain} {ratio:.2f}" for plain, ratio in halved.items()),
            all(HALF[0] <= ratio <= HALF[1] for ratio in halved.values()),
        ),
    ]


@dataclass(frozen=True)
class Degree:
    """What a method does at a degree: per cent hidden and deleted, and other cells changed for one cell."""

    method: str
    hidden: float
    deleted: float
    changed: float


def by_degree(data: Data, degree: int, count: int, tell: Tell) -> list[Degree]:
    """Every cell hidden by itself, on the table as it was; judged by naive Bayes, which these methods work against."""
    degrees = []
    for method in BY_DEGREE:
        ends = []
        for place, cell in enumerate(data.cells(count, 600)):
            chance = SeededRandomness(place)
            ends.append(plan_hiding(data.table, data.schema, [cell], method, None, chance, options=Options(degree)))
        outcomes = [end.outcomes[0] for end in ends]
        degrees.append(
            Degree(
                method,
                100 * mean(one.status.success for one in outcomes),
                100 * mean(one.status is Status.DELETED for one in outcomes),
                mean(one.changed for one in outcomes),
            )
        )
    tell(f"{data.name}: {count} cells with degree {degree}")
    return degrees


def degrees_told(
    degrees: Mapping[str, Mapping[int, Sequence[Degree]]], sizes: Sizes
) -> list[str | Table | Picture | Goal]:
    """A row for each table and method, a column for each degree."""
    rows = []
    for name, by in degrees.items():
        for place, method in enumerate(BY_DEGREE):
            own = [by[degree][place] for degree in DEGREES]
            for what, of in (("hidden, %", "hidden"), ("deleted, %", "deleted"), ("other cells changed", "changed")):
                digits = 1 if of == "changed" else 0
                rows.append((name, method, what, *(f"{getattr(one, of):.{digits}f}" for one in own)))
    return [
        f"**The degree of suppression, varied**: {sizes.cells} cells, each hidden by itself. With degree d the value "
        "that the cell is made to look like is drawn from the d most likely ones, the true one among them. The thesis "
        "varies it in no figure. Hidden: the row was kept, and naive Bayes does not guess the cell.",
        Table(("", "method", "", *(f"degree {degree}" for degree in DEGREES)), rows, words=3),
    ]
