"""The papers' marks of significant differences, found for our results: the combined 5x2cv F test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from incrowd.lab.reproduce.evidence import Cell
from incrowd.lab.reproduce.experiment import Part
from incrowd.lab.statistics.five_by_two import FOLDS, REPETITIONS, five_by_two_test

DIFFERENT, HIGHER, LOWER = "*", "+", "-"


def flagged(cells: Sequence[Cell], part: Part) -> list[Cell]:
    """The cells of a part with their marks.

    ``*``: different from the control, which has one k. ``+``: the control, at the same k, is significantly higher;
    ``-``: lower. Without five repetitions of two folds there are no marks.
    """
    controls = {_key(cell, part): cell for cell in cells if cell.algorithm == part.control}
    return [
        replace(cell, flag=flag(cell, controls[_key(cell, part)], part.at_same_k))
        if part.control not in (None, cell.algorithm) and _key(cell, part) in controls
        else cell
        for cell in cells
    ]


def flag(cell: Cell, control: Cell, at_same_k: bool) -> str:
    """The mark of a cell against its control."""
    wanted = [(repetition, fold) for repetition in range(REPETITIONS) for fold in range(FOLDS)]
    ours, theirs = cell.folds, control.folds
    if any(split not in ours or split not in theirs for split in wanted):
        return ""
    gaps = [theirs[split] - ours[split] for split in wanted]
    found = five_by_two_test([gaps[place : place + FOLDS] for place in range(0, len(gaps), FOLDS)])
    if not found.is_significant:
        return ""
    return (HIGHER if found.mean_difference > 0 else LOWER) if at_same_k else DIFFERENT


def _key(cell: Cell, part: Part) -> tuple[str, str, int]:
    return cell.label, cell.inducer, cell.k if part.at_same_k else 0
