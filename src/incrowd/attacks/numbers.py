"""What the numbers of a class tell: the ends of its intervals, and its means.

Singling out: a description that one person alone fits, written from nothing but the release.

What: the attacker says "in the box of this class, and at the edge of its interval". Where intervals end at numbers that
somebody has, exactly one row often fits. Paper: Cohen, Nissim: Towards Formalizing the GDPR's Notion of Singling Out,
PNAS 2020, section on k-anonymity. Measured: the share of classes of which some edge isolates one original row.
Control: chance, the same number of tries at a random place of the same interval, reckoned exactly (the numbers a
column could have are those between the ends, as finely as the column is written). Leak: the lower end of the interval
is above chance.

Mean of a group: who knows all but one of the group solves for the last one.

What: the attacker knows the numbers of all other members of a class whose mean is released, multiplies and subtracts.
Paper: the difference attack on sums and means, Denning, Denning, Schwartz: The Tracker, TODS 1979; Adam, Wortmann,
Computing Surveys 1989. Measured: the share of numbers recovered exactly (the nearest number the column could have),
with the decimals the release has. Control: the share recovered by the most frequent number. Leak: the lower end of the
interval is above the control; it counts groups, for all of a group are recovered or none. The details tell what fewer
decimals would leave.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, Floats, share_interval
from incrowd.attacks.scene import Scene, Traced
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released, written_cells
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.released_cell import CellReader, Ints, ReleasedCell
from incrowd.vocabulary.released_value import parse_day, parse_number
from incrowd.vocabulary.schema import ColumnType


def singling_out(scene: Scene) -> Finding:
    """Describes people by the edge of their box."""
    released = scene.released
    if not any(cell.edges for name in released.boxes.names for cell in released.boxes.cells[name]):
        raise CannotRunError("No released cell is an interval with an end: there is no edge to name.")
    people, times = _distinct(scene.table, released.boxes.names)
    numeric = [name for name in released.boxes.names if scene.table[name].type.is_numeric]
    steps = {name: CellReader(scene.schema[name], scene.table[name]).step for name in numeric}
    isolated, chances, tries = 0, 0.0, 0
    for number in range(len(released.boxes)):
        edged = [place for place in range(len(released.boxes.names)) if _cell(number, place, released).edges]
        edges = [_try(number, place, released, scene, (people, times), steps) for place in edged]
        hits = [hit for one in edges for hit in one[0]]
        tries += len(hits)
        isolated += any(hits)
        chances += 1 - float(np.prod([(1 - chance) ** len(caught) for caught, chance in edges]))
    rows = len(released.boxes)
    interval = share_interval(isolated, rows)
    return Finding(
        LEAK if interval[0] > chances / rows else NO_LEAK,
        f"An edge isolates one person in {isolated:,} of {rows:,} classes.",
        measured=isolated / rows,
        control=chances / rows,
        interval=interval,
        goal=chances / rows,
        unit="share of classes",
        details={"edges tried": float(tries)},
    )


def _distinct(table: EncodedTable, names: tuple[str, ...]) -> tuple[Ints, Ints]:
    """The different people, as far as the quasi-identifiers tell, and how many there are of each."""
    keys = np.stack([table[name].codes.astype(np.int64) for name in names], axis=1)
    people, times = np.unique(keys, axis=0, return_counts=True)
    return people, times.astype(np.int64)


def _cell(number: int, place: int, released: Released) -> ReleasedCell:
    return released.boxes.cells[released.boxes.names[place]][int(released.boxes.shown[number, place])]


def _try(
    number: int, place: int, released: Released, scene: Scene, crowd: tuple[Ints, Ints], steps: dict[str, float]
) -> tuple[list[bool], float]:
    """Whether each edge of one quasi-identifier isolates a row of the box, and the chance that a random place does."""
    people, times = crowd
    name, cell = released.boxes.names[place], _cell(number, place, released)
    own = scene.table[name]
    box = np.ones(len(people), np.bool_)
    for other in range(people.shape[1]):
        box &= _cell(number, other, released).covers[people[:, other]]
    counts = np.bincount(people[box, place], times[box], own.width)[: len(own.dictionary)].astype(np.float64)
    hits = [_count_at(counts, own, edge) == 1 for edge in cell.edges]
    return hits, _chance(counts, cell, own, steps[name])


def _count_at(counts: npt.NDArray[np.float64], own: EncodedColumn, number: float) -> int:
    places = np.flatnonzero(np.isclose(own.numbers.astype(np.float64), number, rtol=1e-12, atol=0))
    return int(counts[places[0]]) if len(places) else 0


def _chance(counts: npt.NDArray[np.float64], cell: ReleasedCell, own: EncodedColumn, step: float) -> float:
    """Numbers that isolate a row, over all the numbers the interval could hold; an open end ends at the data's."""
    numbers = own.numbers.astype(np.float64)
    low, high = cell.ends or (float(numbers[0]) - step, float(numbers[-1]))
    if cell.ends is None:
        low, high = (max(low, cell.edges[0] - step), high) if cell.covers[len(numbers) - 1] else (low, cell.edges[0])
    return float(min(1.0, (counts == 1).sum() / max(1.0, round((high - low) / step))))


DECIMALS = (2, 1, 0)


def mean_of_a_group(scene: Scene) -> Finding:
    """Solves a mean for the only number that is not known."""
    if not any(scene.released.averaged(name) for name in scene.schema.quasi_identifiers):
        raise CannotRunError("The release shows no means.")
    traced = scene.traced
    names = [name for name in scene.schema.quasi_identifiers if traced.released.averaged(name)]
    if not names:
        raise CannotRunError("A release made again shows no means.")
    shares = {name: _shares(scene, traced, name) for name in names}
    worst = max(names, key=lambda name: shares[name]["as released"])
    largest = shares[worst]
    groups = round(largest["groups"])
    interval = share_interval(largest["as released"] * groups, groups)
    return Finding(
        LEAK if interval[0] > largest["control"] else NO_LEAK,
        f"{100 * largest['as released']:.1f} % of the numbers of {worst!r} follow exactly from their group's mean.",
        measured=largest["as released"],
        control=largest["control"],
        interval=interval,
        goal=None,
        unit="share recovered",
        details={f"with {d} decimals": largest[f"with {d} decimals"] for d in DECIMALS},
    )


def _shares(scene: Scene, traced: Traced, name: str) -> dict[str, float]:
    """What is recovered with the decimals of the release, and with fewer."""
    own = scene.table[name]
    shown = _numbers(traced, name, own)
    truth = np.append(own.numbers.astype(np.float64), np.nan)[own.codes[traced.origin]]
    keys = np.unique(shown, return_inverse=True)[1] if name in traced.levelled else traced.released.classes
    usable = ~np.isnan(shown) & ~np.isnan(truth) & (traced.released.sizes[traced.released.classes] > 1)
    step = CellReader(scene.schema[name], own).step
    shares = {"as released": _recovered(shown[usable], truth[usable], keys[usable], step)}
    for decimals in DECIMALS:
        rounded = np.round(shown[usable], decimals)
        shares[f"with {decimals} decimals"] = _recovered(rounded, truth[usable], keys[usable], step)
    counts = np.unique(truth[usable], return_counts=True)[1]
    return {**shares, "control": float(counts.max() / usable.sum()), "groups": float(len(np.unique(keys[usable])))}


def _numbers(traced: Traced, name: str, own: EncodedColumn) -> Floats:
    """The released numbers of a column; NaN for what is none."""
    cells = written_cells(traced.frame, name)
    assert cells is not None
    parse = parse_day if own.type is ColumnType.DATE else parse_number
    known = {text: parse(text) for text in cells.drop_nulls().unique().to_list()}
    return np.array([np.nan if text is None or known[text] is None else known[text] for text in cells], np.float64)


def _recovered(shown: Floats, truth: Floats, groups: Ints, step: float) -> float:
    """Share of the numbers that are the nearest possible ones to size times mean less the others."""
    _, places = np.unique(groups, return_inverse=True)
    sizes, sums = np.bincount(places), np.bincount(places, truth)
    solved = sizes[places] * shown - (sums[places] - truth)
    return float(np.mean(np.abs(solved - truth) < step / 2))
