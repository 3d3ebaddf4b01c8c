"""Boxes: rows of a release that look alike, and in which of them a new row lies.

Methods that cut the rows into boxes show values as their box has them, so what a new row shows depends on all of its
values. The boxes came from cuts, one after the other, so cuts part them again: boxes that share no value of an
attribute lie on different sides of it. Where cells say all that they stand for, any such cut is right, in any order. A
mean or a middle does not say how far it reaches: such cuts come last, where the numbers fall into two heaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.recipients.cells import NOTHING, Cells, Codes, Numbers, number_of, word_of
from incrowd.recipients.views import ReleasedColumn, cells_to_see, group_pieces, group_words

HEAPS = 8  # how much two heaps count beside two equal sides; from 3 to 10 it hardly matters


@dataclass(frozen=True, eq=False)
class Cut:
    """A cut of an attribute: the side of each cell, -1 where it may be on any; and where new values go."""

    sides: Codes
    score: tuple[bool, bool, float]  # cells say all, and none is on several sides; how well it parts them
    threshold: float = math.nan  # numbers up to it are on side 0, others on side 1
    words: Codes | None = None  # the side of each word

    def side_of(self, values: npt.NDArray[Any]) -> Codes:
        """The side of new values, -1 where they do not tell."""
        if self.words is not None:
            return np.asarray(np.append(self.words, NOTHING)[values], np.int64)
        return np.where(np.isnan(values), NOTHING, values > self.threshold)


@dataclass(frozen=True, eq=False)
class CellRanges:
    """The numbers that each cell stands for: above the first and at most the second. The last cell is an empty one."""

    lows: Numbers
    highs: Numbers
    vague: bool

    @classmethod
    def of(cls, column: ReleasedColumn, cells: Cells) -> CellRanges:
        """Of the shown cells; a cell that nobody can read is anywhere."""
        read = [*(group_pieces(column, value) for value in cells.values), ()]
        lows = np.array([min((low for low, _ in each), default=-math.inf) for each in read])
        highs = np.array([max((high for _, high in each), default=math.inf) for each in read])
        lows = np.where(lows == highs, np.nextafter(lows, -math.inf), lows)
        return cls(lows, highs, column.form in ("midpoint", "mean"))

    def values(self, cells: Cells, column: ReleasedColumn) -> Numbers:
        """The number of each row."""
        return np.array([*(number_of(value, column.kind) for value in cells.values), math.nan])[cells.codes]

    def cut(self, cells: Codes, rows: Numbers) -> Cut | None:
        """The best cut between cells that so many rows show."""
        lows, highs, total = self.lows[cells], self.highs[cells], rows.sum()
        ends = np.unique(highs[np.isfinite(highs)])
        below = _up_to(highs, rows, ends, "right")
        above = total - _up_to(lows, rows, ends, "left")
        parted = (below > 0) & (above > 0)
        if not parted.any():
            return None
        scores = below * above / total**2 * (_heaps(highs, rows, ends) ** HEAPS if self.vague else 1.0)
        clean = below + above == total
        at = int(np.lexsort((scores, clean, parted))[-1])
        sides = np.where(highs <= ends[at], 0, np.where(lows >= ends[at], 1, NOTHING))
        threshold = ends[at] / 2 + lows[sides == 1].min() / 2
        return Cut(sides, (bool(clean[at]) and not self.vague, bool(clean[at]), float(scores[at])), float(threshold))


def _up_to(places: Numbers, rows: Numbers, ends: Numbers, side: Any) -> Numbers:
    """The rows of cells whose place is at most (``right``), or below (``left``), each end."""
    order = np.argsort(places)
    return np.append(0.0, np.cumsum(rows[order]))[np.searchsorted(places[order], ends, side=side)]


def _heaps(numbers: Numbers, rows: Numbers, ends: Numbers) -> Numbers:
    """The share of the numbers' variance that is between the two sides of each end."""
    known = np.isfinite(numbers)
    scaled, weights = numbers[known] / (np.abs(ends).max() or 1.0), rows[known] / rows[known].sum()
    moved = scaled - weights @ scaled
    places = np.searchsorted(ends, numbers[known])
    share = np.cumsum(np.bincount(places, weights, len(ends)))
    sums = np.cumsum(np.bincount(places, weights * moved, len(ends)))
    return np.asarray(sums**2 / np.maximum(share * (1 - share), 1e-12) / max(weights @ moved**2, 1e-300))


@dataclass(frozen=True, eq=False)
class Words:
    """The words that each cell stands for; all of them if nobody knows. The last cell is an empty one."""

    place: Mapping[str, int]
    known: npt.NDArray[np.bool_]  # cells x words
    vague: bool

    @classmethod
    def of(cls, column: ReleasedColumn, cells: Cells) -> Words:
        """Of the shown cells; a group that nobody explained has its own name as its word."""
        vague = column.form == "groups" and column.hierarchy is None
        read = [*((word_of(each),) if vague else group_words(column, each) for each in cells.values), ()]
        place = {word: at for at, word in enumerate(sorted({word for each in read for word in each}))}
        known = np.array([[not each or word in each for word in place] for each in map(frozenset, read)], np.bool_)
        return cls(place, known.reshape(len(read), len(place)), vague)

    def values(self, cells: Cells, column: ReleasedColumn) -> Codes:  # noqa: ARG002
        """The place of each row's word."""
        return np.array([*(self.place.get(word_of(value), NOTHING) for value in cells.values), NOTHING])[cells.codes]

    def cut(self, cells: Codes, rows: Numbers) -> Cut | None:
        """Cells that share no word, nor with others between them, are on different sides: two or more."""
        anywhere = self.known[cells].all(axis=1)
        known, words = self.known[cells[~anywhere]], np.full(len(self.place), NOTHING)
        many = 0
        for cell in known:
            if words[cell.argmax()] == NOTHING:
                side = cell
                while (more := known[(known & side).any(axis=1)].any(axis=0)).sum() > side.sum():
                    side = more
                words[side] = many
                many += 1
        if many < 2:
            return None
        sides = np.where(anywhere, NOTHING, words[self.known[cells].argmax(axis=1)])
        shares = np.bincount(sides[~anywhere], rows[~anywhere], many) / rows.sum()
        clean = not anywhere.any()
        return Cut(
            sides, (clean and not self.vague, clean, float(shares.sum() ** 2 - shares @ shares) / 2), words=words
        )


@dataclass(frozen=True, eq=False)
class Boxes:
    """The distinct combinations of cells of some attributes."""

    columns: tuple[ReleasedColumn, ...]
    cells: tuple[Cells, ...]
    codes: Codes  # boxes x columns: the place of each box's cell, -1 for an empty one
    rows: Numbers  # of each box

    @classmethod
    def of(cls, columns: Sequence[ReleasedColumn], cells: Sequence[Cells]) -> Boxes:
        """The boxes of released rows."""
        codes, rows = np.unique(np.stack([each.codes for each in cells], axis=1), axis=0, return_counts=True)
        return cls(tuple(columns), tuple(cells), codes, rows.astype(np.float64))

    @cached_property
    def attributes(self) -> tuple[CellRanges | Words, ...]:
        """What the cells of each attribute stand for: numbers, if any of them tells one."""
        return tuple(
            CellRanges.of(column, cells)
            if column.kind.is_numeric and any(group_pieces(column, value) for value in cells.values)
            else Words.of(column, cells)
            for column, cells in zip(self.columns, self.cells, strict=True)
        )

    def seen(self, table: pa.Table) -> tuple[Cells, ...]:
        """The cells of rows as the boxes show them in which they lie."""
        mine = [cells_to_see(table, *each) for each in zip(self.columns, self.cells, strict=True)]
        each = zip(self.attributes, mine, self.columns, strict=True)
        values: list[npt.NDArray[Any]] = [attribute.values(cells, column) for attribute, cells, column in each]
        boxes = self._alike(mine)
        waiting = [(np.arange(len(self.codes)), np.flatnonzero(boxes == NOTHING))]
        while waiting:
            here, rows = waiting.pop()
            best = self._best_cut(here)
            if best is None:
                boxes[rows] = here[self.rows[here].argmax()]
                continue
            at, cut, sides = best
            most = np.bincount(sides[sides >= 0], self.rows[here][sides >= 0]).argmax()
            mine_side = cut.side_of(values[at][rows])
            mine_side[mine_side == NOTHING] = most  # a value that nobody has, or none
            for side in np.unique(mine_side):
                waiting.append((here[(sides == side) | (sides == NOTHING)], rows[mine_side == side]))
        return tuple(Cells(each.values, self.codes[boxes, at]) for at, each in enumerate(self.cells))

    def _best_cut(self, here: Codes) -> tuple[int, Cut, Codes] | None:
        """The cut to part some boxes by: its attribute, and the side of each box."""
        best = None
        for at, attribute in enumerate(self.attributes):
            cells, places = np.unique(self.codes[here, at], return_inverse=True)
            rows = np.bincount(places, self.rows[here]).astype(np.float64)
            cut = attribute.cut(cells, rows) if len(cells) > 1 else None
            if cut is not None and (best is None or cut.score > best[1].score):
                best = at, cut, cut.sides[places]
        return best

    def _alike(self, mine: Sequence[Cells]) -> Codes:
        """The box of each row that shows the very cells of one, as released rows do; -1 for others."""
        shown = []
        for cells, each in zip(mine, self.cells, strict=True):
            place = {value: at for at, value in enumerate(each.values)}
            shown.append(np.array([*(place.get(value, len(place)) for value in cells.values), NOTHING])[cells.codes])
        boxes = {tuple(codes): at for at, codes in enumerate(self.codes.tolist())}
        return np.array([boxes.get(row, NOTHING) for row in zip(*(each.tolist() for each in shown), strict=True)])
