"""Columns that are released unchanged, as attacks read them beside the quasi-identifiers.

Linkage by unchanged columns: who is alone with them is found, whatever the quasi-identifiers hide. What: the attacker
knows a person's values in columns that nobody called quasi-identifiers, and looks for the one released row that has
them. Paper: Sweeney: k-Anonymity, 2002, of columns that were not named; Narayanan, Shmatikov: Robust De-anonymization
of Large Sparse Datasets, 2008. Measured: the share of people whose combination of unchanged columns, without the
class, nobody else has. Control: the unchanged columns dealt anew among the rows; a row is then found as often, and is
the person's own by chance, once in as many times as there are rows. Leak: anybody is found.

Give-back: columns that are released unchanged restore what the release hides. What: the attacker knows how columns
depend on each other (a codebook, a similar table, rows that show the value) and fills in hidden cells from unchanged
columns. Paper: Bohannon, Fan, Geerts, Jia, Kementsietsidis: Conditional functional dependencies for data cleaning,
ICDE 2007; H. Wang, R. Liu: Privacy-preserving publishing microdata with full functional dependencies, Data &
Knowledge Engineering, 2011. Measured: the share of hidden cells that an unchanged column, or two columns, give back
(:mod:`incrowd.verification.give_back`). Control: the unchanged columns dealt anew among the rows. Leak: fewer than
the promised k look alike once they are given back; where no k was promised, more is given back than with the columns
dealt anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from incrowd.attacks.attack import LEAK, NO_LEAK, Finding, share_interval
from incrowd.attacks.scene import Scene, Traced
from incrowd.drawing.wording import listed
from incrowd.errors import CannotRunError
from incrowd.risk.boxes import Released
from incrowd.verification.alone import count_alone
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.vocabulary.released_cell import Ints
from incrowd.vocabulary.requirement import KnownSet
from incrowd.vocabulary.schema import Role, Schema


def unchanged_columns(released: Released, scene: Scene, dealt: Ints | None = None) -> list[UnchangedColumn]:
    """The columns that left as they came; ``dealt`` gives every row the unchanged cells of another one."""
    names = [name for name in scene.schema.untouched if name in released.values]
    if not names:
        raise CannotRunError("No column is released unchanged.")
    order = np.arange(len(released.classes)) if dealt is None else dealt
    return [
        UnchangedColumn(
            name, released.values[name][order], released.widths[name] - 1, _role(scene.schema, name, scene.sensitive)
        )
        for name in names
    ]


def _role(schema: Schema, name: str, sensitive: tuple[str, ...]) -> str:
    if schema[name].role is Role.TARGET:
        return "target"
    if name in sensitive:
        return "sensitive"
    return "private" if schema[name].role is Role.PRIVATE else "other"


def hidden_columns(traced: Traced, scene: Scene) -> list[QuasiIdentifier]:
    """The quasi-identifiers: what people have, what their cells show, and what that allows."""
    boxes, rows = traced.released.boxes, traced.released.classes
    return [
        QuasiIdentifier(
            name,
            scene.table[name].codes[traced.origin].astype(np.int64),
            boxes.shown[rows, place],
            [np.flatnonzero(cell.covers) for cell in boxes.cells[name]],
            scene.table[name].missing_code,
        )
        for place, name in enumerate(boxes.names)
    ]


def unchanged_linkage(scene: Scene) -> Finding:
    """Looks for the one row that has a person's unchanged values."""
    released, owners = scene.owned
    columns = [one for one in unchanged_columns(released, scene) if one.role not in ("target", "private")]
    if not columns:
        raise CannotRunError("No column is released unchanged but the class, or those that nobody outside knows.")
    rows = len(released.classes)
    people = rows if owners is None else len(np.unique(owners))
    alone = count_alone(columns, rows, owners=owners)
    share = alone.without_class / people
    telling = "" if alone.telling is None else f", {alone.telling.people:,} of them by {listed(alone.telling.columns)}"
    return Finding(
        LEAK if alone.without_class else NO_LEAK,
        f"{alone.without_class:,} of {people:,} people are alone with their unchanged columns{telling}."
        f"{_aside(scene.schema)}",
        measured=share,
        control=share / people,
        interval=share_interval(alone.without_class, people),
        goal=0.0,
        unit="share of people",
        details={"alone by columns not called sensitive": float(alone.not_called_private)},
    )


def _aside(schema: Schema) -> str:
    private = [column.name for column in schema.columns if column.role is Role.PRIVATE]
    return f" By your statement nobody outside knows {listed(private)}." if private else ""


def give_back(scene: Scene) -> Finding:
    """Fills in hidden cells from unchanged columns."""
    traced = scene.traced
    hidden, k = hidden_columns(traced, scene), scene.promised.k or 1
    dealt = scene.generator("dealt anew").permutation(len(traced.released.classes))
    counts = _counts(scene, hidden, unchanged_columns(traced.released, scene), k)
    control = _counts(scene, hidden, unchanged_columns(traced.released, scene, dealt), k)
    cells = counts.hidden_cells
    if not cells:
        raise CannotRunError("No released cell hides anything.")
    leak = not counts.sound if scene.promised.k else counts.given_back > control.given_back
    return Finding(
        LEAK if leak else NO_LEAK,
        f"{counts.given_back:,} of {cells:,} hidden cells are given back; the smallest group that is left has "
        f"{counts.effective_k:,} people.",
        measured=counts.given_back / cells,
        control=control.given_back / cells,
        interval=share_interval(counts.given_back, cells),
        unit="share of hidden cells",
        details={"effective k": float(counts.effective_k), "people below k": float(counts.people_below_k)},
    )


def _counts(
    scene: Scene, hidden: Sequence[QuasiIdentifier], unchanged: Sequence[UnchangedColumn], k: int
) -> UnchangedCounts:
    known = [KnownSet(tuple(one.name for one in hidden), k)]
    owners = None if scene.owners is None else scene.owners[scene.traced.origin]
    linked = scene.persons is not None and scene.persons.linked and scene.persons.known_rows is None
    return count_unchanged(hidden, unchanged, known, owners=owners, linked=linked)
