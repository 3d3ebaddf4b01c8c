"""Mean of a group: who knows all but one of the group solves for the last one.

What: the attacker knows the numbers of all other members of a class whose mean is released, multiplies and subtracts.
Paper: the difference attack on sums and means, Denning, Denning, Schwartz: The Tracker, TODS 1979; Adam, Wortmann,
Computing Surveys 1989. Measured: the share of numbers recovered exactly (the nearest number the column could have),
with the decimals the release has. Control: the share recovered by the most frequent number. Leak: the lower end of the
interval is above the control; it counts groups, for all of a group are recovered or none. The details tell what fewer
decimals would leave.
"""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, Floats, share_interval
from incrowd.attacks.scene import Scene, Traced
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import written_cells
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_cell import CellReader, Ints
from incrowd.vocabulary.released_value import parse_day, parse_number
from incrowd.vocabulary.schema import ColumnType

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
