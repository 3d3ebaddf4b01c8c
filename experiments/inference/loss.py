"""One set of cells hidden one after the other on the same table: what that costs, by the number of cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from experiments.inference.success import OURS, SINGLE
from experiments.inference.tables import Data
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.evaluation import Costs, costs
from incrowd.hiding.methods import METHODS, Hider, HidingMethod, Options, method_named
from incrowd.hiding.planner import Cell
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import FairChance, secret_at
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.vocabulary.randomness import SeededRandomness

SEED = 77
ENHANCED = ("decp", "e-decp", "decp-g", "e-decp-g", "dropp", "e-dropp", "dropp-g", "e-dropp-g")


@dataclass(frozen=True)
class Loss:
    """What a number of hidden cells cost."""

    cells: int
    costs: Costs


def losses(data: Data, steps: Sequence[int], tell: Callable[[str], None] = print) -> dict[str, list[Loss]]:
    """The costs by method, after each number of cells; all methods hide the same cells in the same order."""
    cells = data.cells(max(steps), SEED)
    by_name = {}
    for name in (*SINGLE, *OURS, "nrd"):
        if data.generalizes or "-g" not in name:
            by_name[name] = _loss(data, name, cells, steps)
            tell(f"{data.name}, {len(cells)} cells one after the other by {name}")
    return by_name


def _loss(data: Data, name: str, cells: Sequence[Cell], steps: Sequence[int]) -> list[Loss]:
    published, chance = data.published(), FairChance(SeededRandomness(SEED))
    hider = method_named(name, METHODS["hid3+dropp"].targets).make(Options())
    assert not isinstance(hider, GroupHider)
    steps_lost = []
    for done, cell in enumerate(cells, 1):
        if published.node(cell.row, cell.attribute) != HIDDEN:
            hider.hide(secret_at(published, cell.row, cell.attribute, chance))
        if done in steps:
            steps_lost.append(Loss(done, costs(published, published.attributes, mend=True)))
    return steps_lost


def together(data: Data, rows: int, sets: int) -> dict[str, float]:
    """Cells changed for one set of cells, on average: at once by the enhanced methods, one by one by the plain ones.

    DECP and its kind hide one value of one attribute in so many rows; DROPP and its kind three cells of one row.
    """
    changed: dict[str, list[int]] = {name: [] for name in ENHANCED}
    for seed in range(sets):
        by_value, by_row = _one_value(data, rows, seed), _one_row(data, seed)
        for name in ENHANCED:
            changed[name].append(_distance(data, METHODS[name], by_value if "decp" in name else by_row, seed))
    return {name: sum(each) / len(each) for name, each in changed.items()}


def _one_value(data: Data, rows: int, seed: int) -> list[Cell]:
    """Cells of one column that share a value: that of a random cell."""
    first = data.cells(1, 100 + seed)[0]
    codes = data.table[first.attribute].codes
    same = [row for row in range(data.table.height) if codes[row] == codes[first.row]]
    return [Cell(row, first.attribute) for row in same[:rows]]


def _one_row(data: Data, seed: int) -> list[Cell]:
    row = data.cells(1, 200 + seed)[0].row
    return [Cell(row, name) for name in data.wide if data.known(row, name)][seed % 3 : seed % 3 + 3]


def _distance(data: Data, method: HidingMethod, cells: Sequence[Cell], seed: int) -> int:
    """Cells that are published differently once all are hidden."""
    published, chance = data.published(), FairChance(SeededRandomness(seed))
    hider = method.make(Options())
    if isinstance(hider, GroupHider):
        hider.hide_all([secret_at(published, cell.row, cell.attribute, chance) for cell in cells])
    else:
        _one_by_one(published, hider, cells, chance)
    return len(published.touched(0))


def _one_by_one(published: PublishedTable, hider: Hider, cells: Sequence[Cell], chance: FairChance) -> None:
    for cell in cells:
        if published.node(cell.row, cell.attribute) != HIDDEN:
            hider.hide(secret_at(published, cell.row, cell.attribute, chance))


METRICS: Mapping[str, str] = {
    "direct distance": "cells changed",
    "SKLD": "bits",
    "ACMI": "bits, mean size of the change",
    "SCE": "bits",
}


def metric(loss: Loss, name: str) -> float:
    """One of the four metrics."""
    price = loss.costs
    return {
        "direct distance": float(price.direct_distance),
        "SKLD": price.divergence.bits,
        "ACMI": price.information.difference,
        "SCE": price.uncertainty,
    }[name]
