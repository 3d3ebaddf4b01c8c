"""Tables of a page: ours beside what was printed."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.lab.reproduce.differences import is_large, shade, signed
from incrowd.lab.reproduce.document import Grid, Shown, shown
from incrowd.lab.reproduce.evidence import Cell
from incrowd.lab.reproduce.experiment import Experiment, Part
from incrowd.lab.reproduce.flags import DIFFERENT, HIGHER, LOWER

Row = tuple[str, str, str]


def beside_grid(cells: Sequence[Cell], experiment: Experiment) -> Grid:
    """A row for each label, learner and algorithm, a column for each k.

    The unprotected table, which has only k = 1, shares the row of the algorithm where there is only one.
    """
    alone = len({cell.algorithm for cell in cells if cell.algorithm != "none"}) == 1
    rows: dict[Row, dict[int, Cell]] = {}
    for cell in cells:
        algorithm = "" if alone else "unprotected" if cell.algorithm == "none" else cell.algorithm
        rows.setdefault((cell.label, cell.inducer, algorithm), {})[cell.k] = cell
    ks = sorted({cell.k for cell in cells})
    header = ("", "learner", *(() if alone else ("algorithm",)), *(f"k={k:,}" for k in ks))
    body = tuple(
        (*shown(*(key[:2] if alone else key)), *(_cell(found.get(k)) for k in ks)) for key, found in rows.items()
    )
    return Grid(f"{experiment.measure.capitalize()}, in per cent", header, body, words=2 if alone else 3)


def _cell(cell: Cell | None) -> Shown:
    if cell is None or (cell.mean is None and cell.printed is None):
        return Shown("")
    ours = "–" if cell.mean is None else f"{cell.mean:.2f}{cell.flag}"
    if cell.printed is None:
        return Shown(ours if cell.sd is None else f"{ours} ± {cell.sd:.2f}")
    theirs = f"{cell.printed.mean:.2f}{cell.printed.flag}"
    if cell.doubt:
        return Shown(f"{ours} / ({theirs})", "doubt")
    if cell.difference is None:
        return Shown(f"{ours} / {theirs}")
    said = f"{ours} / {theirs} / {signed(cell.difference)}"
    return Shown(said, shade(cell.difference), is_large(cell.difference))


def marks_grid(part: Part, cells: Sequence[Cell]) -> Grid | None:
    """How often each algorithm is marked, in ours and in the paper; None where ours has no marks."""
    if part.control is None or not any(len(cell.folds) == 10 for cell in cells):
        return None
    marks = {HIGHER: f"{part.control} higher", LOWER: f"{part.control} lower"} if part.at_same_k else {}
    marks = marks or {DIFFERENT: "different from k = 1"}
    names = dict.fromkeys(cell.algorithm for cell in cells if cell.algorithm != part.control)
    header = ("algorithm", "cells", *(f"{said}, {whose}" for said in marks.values() for whose in ("ours", "paper")))
    rows = []
    for name in names:
        own = [cell for cell in cells if cell.algorithm == name]
        counts = [
            str(sum(found == mark for found in flags))
            for mark in marks
            for flags in ([cell.flag for cell in own], [cell.printed.flag for cell in own if cell.printed])
        ]
        rows.append(shown(name, str(len(own)), *counts))
    return Grid("Significant differences (combined 5x2cv F test, 0.05)", header, tuple(rows))
