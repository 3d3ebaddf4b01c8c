"""One declared feeding: a release as plain rows in a vocabulary in which new rows can be seen too.

The comparison, the encoder, the classifier and the decoded table all take rows from here. What a cell may stand for is
dealt over the rows of its group, so that a group has every value as often as the release says, several times, with
weights. So is a cell that shows nothing, which may be any value. Where no cell stands for several values there is one
deal, and nothing is drawn.

Methods that cut the rows into boxes show values as their box has them, so what a new row shows depends on all of its
values. The boxes came from cuts, one after the other, so cuts part them again: boxes that share no value of an
attribute lie on different sides of it. Where cells say all that they stand for, any such cut is right, in any order. A
mean or a middle does not say how far it reaches: such cuts come last, where the numbers fall into two heaps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import ParameterError
from incrowd.recipients.cells import NOTHING, Cells, Codes, Numbers, number_of, word_of
from incrowd.recipients.matrix import Attribute
from incrowd.recipients.views import (
    AS_THEY_ARE,
    BY_BOX,
    ReleasedColumn,
    View,
    cells_of,
    cells_to_see,
    group_pieces,
    group_words,
    plain_view,
    view_of,
)
from incrowd.vocabulary.counts_text import HIDDEN, read_members

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


DEALS, MOST_DEALS, ENOUGH = 5, 20, 5000
"""How often cells are dealt, and how often at most where that gives fewer rows to learn from than are enough.

The noise of dealing is larger in small tables: at 107 rows and k = 30, twenty deals instead of five gave a forest nine
points.
"""


@dataclass(frozen=True, eq=False)
class Rows:
    """Plain rows, with weights unless each counts one."""

    attributes: tuple[Attribute, ...]
    height: int
    weights: Numbers | None = None


@dataclass(frozen=True, eq=False)
class Dealing:
    """The attributes of a release, and how each is seen."""

    columns: tuple[ReleasedColumn, ...]
    table: pa.Table  # the released rows
    plain: bool = False  # for people: numbers as numbers, values as values, whatever new rows look like

    @cached_property
    def cells(self) -> tuple[Cells, ...]:
        """The released cells of each attribute."""
        return tuple(cells_of(self.table, column) for column in self.columns)

    @cached_property
    def views(self) -> tuple[View, ...]:
        """How each attribute is seen."""
        view = plain_view if self.plain else view_of
        return tuple(view(column, cells) for column, cells in zip(self.columns, self.cells, strict=True))

    @cached_property
    def boxes(self) -> Boxes | None:
        """The boxes of the release, if new rows are seen by them."""
        mine = [pair for pair in zip(self.columns, self.cells, strict=True) if pair[0].seen == BY_BOX]
        return Boxes.of(*zip(*mine, strict=True)) if mine else None

    @cached_property
    def groups(self) -> Codes:
        """The group of each released row: rows whose cells are all alike."""
        groups = np.zeros(self.table.num_rows, np.int64)
        for column, cells in zip(self.columns, self.cells, strict=True):
            if column.form != "plain":
                joint = groups * (len(cells.values) + 1) + cells.codes
                groups = np.unique(joint, return_inverse=True)[1].astype(np.int64)
        return groups

    @property
    def chancy(self) -> bool:
        """Whether anything is drawn."""
        return any(view.chancy for view in self.views) or any(self._hidden(at).any() for at in range(len(self.columns)))

    def _hidden(self, at: int) -> npt.NDArray[np.bool_]:
        """The rows whose cell is hidden and may be anything: where new rows show values as they are, and no other.

        Left missing, that a cell is hidden would tell of the class, and no new row is hidden. Dealt in the shares of
        the values that are shown, small tables gain up to 18 points and no learner is misled.
        """
        column, cells = self.columns[at], self.cells[at]
        if self.plain or column.form == "plain" or column.seen != AS_THEY_ARE:
            return np.zeros(len(cells.codes), np.bool_)
        return np.append([value == HIDDEN for value in cells.values], True)[cells.codes]

    def dealt(self, generator: np.random.Generator, deals: int | None = None) -> Rows:
        """The released rows, dealt several times one after the other; of small tables more often, if nobody says."""
        rows = self.table.num_rows
        if deals is None:
            deals = min(max(DEALS, -(-ENOUGH // max(1, rows))), MOST_DEALS)
        if not isinstance(deals, int) or isinstance(deals, bool) or deals < 1:
            raise ParameterError("deals must be a whole number of at least 1.")
        deals = deals if self.chancy else 1
        parts = [self._deal(generator) for _ in range(deals)]
        stacked = [_stacked([part[at] for part in parts]) for at in range(len(self.columns))]
        return Rows(tuple(stacked), deals * rows, np.full(deals * rows, 1 / deals) if deals > 1 else None)

    def _deal(self, generator: np.random.Generator) -> list[Attribute]:
        dealt, together = [], dict[tuple[str, ...], Numbers]()
        for at, (view, cells) in enumerate(zip(self.views, self.cells, strict=True)):
            names = self.columns[at].together
            if names not in together:
                chances = even_chances(self.groups, generator) if view.chancy or names else np.zeros(len(cells.codes))
            if names:
                chances = value_chances(cells, together.setdefault(names, chances))
            attribute, hidden = view.dealt(cells, chances), self._hidden(at)
            known = attribute.values[~attribute.is_missing]
            if hidden.any() and len(known):
                values = attribute.values.copy()
                values[hidden] = generator.choice(known, int(hidden.sum()))
                attribute = replace(attribute, values=values)
            dealt.append(attribute)
        return dealt

    def seen(self, table: pa.Table) -> Rows:
        """Plain rows, or released ones, each once."""
        boxed = iter(() if self.boxes is None else self.boxes.seen(table))
        cells = [
            next(boxed) if column.seen == BY_BOX else cells_to_see(table, column, shown)
            for column, shown in zip(self.columns, self.cells, strict=True)
        ]
        seen = tuple(view.seen(each) for view, each in zip(self.views, cells, strict=True))
        return Rows(seen, table.num_rows)


def even_chances(groups: Codes, generator: np.random.Generator) -> Numbers:
    """A number from 0 to 1 for each row, so that those of a group lie evenly; which row has which is chance."""
    rows = len(groups)
    order = np.lexsort((generator.random(rows), groups))
    sizes = np.bincount(groups)
    rank = np.arange(rows) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chances = np.empty(rows)
    chances[order] = (rank + generator.uniform(0.001, 0.999, rows)) / np.repeat(sizes, sizes)
    return chances


def _stacked(parts: Sequence[Attribute]) -> Attribute:
    first = parts[0]
    return Attribute(first.name, np.concatenate([part.values for part in parts]), first.categories, first.ordered)


def together_with(name: str, reading: Mapping[str, Any]) -> tuple[str, ...]:
    """The attributes that one is counted together with, itself among them, by what a certificate says of reading.

    Examples
    --------
    >>> together_with("age", {"joint": [["age", "job"]]}), together_with("sex", {})
    (('age', 'job'), ())
    """
    return next((tuple(names) for names in reading.get("joint", []) if name in names), ())


def value_chances(cells: Cells, chances: Numbers) -> Numbers:
    """Chances that pick members of cells one by one, as those that pick the same values where each is listed once.

    Members of attributes that are counted together stand side by side, so that the same chances pick what belongs
    together; and a value that is listed several times is dealt as one that has all of these rows.
    """
    moved = chances.copy()
    for place, text in enumerate(cells.values):
        members = read_members(word_of(text)) or ()
        values = [value for value, _ in members]
        if len(set(values)) == len(values):
            continue
        first = {value: at for at, value in reversed([*enumerate(values)])}
        order = sorted(range(len(values)), key=lambda at: first[values[at]])
        rows = np.array([many for _, many in members], np.float64)
        listed = np.cumsum(rows) - rows
        merged = np.empty(len(rows))
        merged[order] = np.cumsum(rows[order]) - rows[order]
        here = np.flatnonzero(cells.codes == place)
        at = np.searchsorted(listed, chances[here] * rows.sum(), side="right") - 1
        moved[here] = chances[here] + (merged - listed)[at] / rows.sum()
    return moved
