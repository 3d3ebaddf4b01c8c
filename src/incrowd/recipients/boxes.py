"""Boxes: rows of a release that look alike, and in which of them a new row lies.

Methods that cut the rows into boxes show values as their box has them, so what a new row shows depends on all of its
values. Boxes do not overlap, but a cell may show less than its box (a set names the values that occur), so the box that
fits best is taken: each attribute that fits counts one, numbers outside count less the farther they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.recipients.cells import Cells, Codes, Numbers, Piece, number_of, word_of
from incrowd.recipients.views import ReleasedColumn, cells_to_see, group_pieces, group_words

# How well cells fit that are empty, have the same text, are a group nobody explained, or do not cover the number.
EMPTY, SAME, UNKNOWN, OUTSIDE = 0.999, 2.0, 0.99, 0.95
_CELLS = 20_000_000  # rows times boxes that are compared at once


@dataclass(frozen=True, eq=False)
class Boxes:
    """The distinct combinations of cells of some attributes."""

    columns: tuple[ReleasedColumn, ...]
    cells: tuple[Cells, ...]
    codes: Codes  # boxes x columns: the place of each box's cell, -1 for an empty one

    @classmethod
    def of(cls, columns: Sequence[ReleasedColumn], cells: Sequence[Cells]) -> Boxes:
        """The boxes of released rows."""
        codes = np.stack([each.codes for each in cells], axis=1)
        return cls(tuple(columns), tuple(cells), np.unique(codes, axis=0))

    def seen(self, table: pa.Table) -> tuple[Cells, ...]:
        """The cells of rows as the boxes show them in which they lie."""
        mine = [cells_to_see(table, *each) for each in zip(self.columns, self.cells, strict=True)]
        fits = [_fits(*each) for each in zip(self.columns, mine, self.cells, strict=True)]
        boxes = np.empty(table.num_rows, np.int64)
        step = max(1, _CELLS // len(self.codes))
        for start in range(0, table.num_rows, step):
            part = slice(start, start + step)
            total = np.zeros((len(boxes[part]), len(self.codes)), np.float32)
            for at, (each, fit) in enumerate(zip(mine, fits, strict=True)):
                total += fit[:, self.codes[:, at]][each.codes[part]]
            boxes[part] = total.argmax(axis=1)
        return tuple(Cells(each.values, self.codes[boxes, at]) for at, each in enumerate(self.cells))


def _fits(column: ReleasedColumn, mine: Cells, shown: Cells) -> Any:
    """How well each value fits each shown cell; missing values and empty cells are the last of theirs."""
    fits = np.zeros((len(mine.values) + 1, len(shown.values) + 1), np.float32)
    fits[:, -1] = EMPTY
    if column.kind.is_numeric:
        numbers = np.array([number_of(value, column.kind) for value in mine.values])
        fits[:-1, :-1] = _near(numbers, [group_pieces(column, value) for value in shown.values], shown.rows)
    else:
        words = [word_of(value) for value in mine.values]
        for at, value in enumerate(shown.values):
            known = group_words(column, value)
            fits[:-1, at] = [word in known for word in words] if known else UNKNOWN
            if not known and value in words:
                fits[words.index(value), at] = 1.0
    place = {value: at for at, value in enumerate(mine.values)}
    for at, value in enumerate(shown.values):
        if value in place and isinstance(value, str) and (column.kind.is_numeric or "|" in value):
            fits[place[value], at] = SAME
    return fits


def _near(numbers: Numbers, pieces: Sequence[tuple[Piece, ...]], rows: Numbers) -> Numbers:
    """1 for a number inside a cell, less the more rows lie between them, by what the cells show.

    A mean or a middle stands for numbers around it: as many to both sides as rows show it.
    """
    near = np.zeros((len(numbers), len(pieces)))
    ends = [(end, many) for each, many in zip(pieces, rows, strict=True) for piece in each for end in piece]
    finite = sorted(pair for pair in ends if math.isfinite(pair[0]))
    if not finite:
        return near + UNKNOWN
    places, weights = (np.array(each, np.float64) for each in zip(*finite, strict=True))
    ranks = (np.cumsum(weights) - weights / 2) / weights.sum()

    def rank(at: Numbers) -> Numbers:
        return np.asarray(np.interp(at, places, ranks), np.float64)

    own = rank(numbers)
    for at, each in enumerate(pieces):
        near[:, at] = 0.0 if each else UNKNOWN
        for low, high in each:
            if low == high:
                away = np.abs(own - rank(np.array([low]))) - rows[at] / rows.sum() / 2
                fit = 1.0 - np.maximum(away, 0.0)
            else:
                first, last = rank(np.array([low, high]))
                away = np.maximum(np.maximum(first - own, own - last), 0.0)
                fit = np.where((numbers > low) & (numbers <= high), 1.0, OUTSIDE - away)
            near[:, at] = np.maximum(near[:, at], fit)
    return np.nan_to_num(near)
