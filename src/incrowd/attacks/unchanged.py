"""Columns that are released unchanged, as attacks read them beside the quasi-identifiers."""

from __future__ import annotations

import numpy as np

from incrowd.attacks.attack import CannotRunError
from incrowd.attacks.boxes import Released
from incrowd.attacks.scene import Scene, Traced
from incrowd.verification.open_cells import QuasiIdentifier
from incrowd.verification.unchanged import UnchangedColumn
from incrowd.vocabulary.released_cell import Ints
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
    return "sensitive" if name in sensitive else "other"


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
