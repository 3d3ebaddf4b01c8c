"""How one attribute of a release is seen: in the plain vocabulary in which new rows can be seen as well.

::

    CategoryView    words: values, members of sets, known values of a group; public bins, which are in order
    LevelView       numbers that look alike within public cuts: every cell and new number has that of its bin
    NumberView      numbers: as they are, or drawn inside the interval that the release shows, by the shape it shows

A view knows what each released cell may stand for. Dealing picks one of it, by a chance from 0 to 1 for each row.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from incrowd.errors import InputError
from incrowd.recipients.cells import (
    NOTHING,
    Cells,
    Codes,
    Counted,
    Numbers,
    Piece,
    Shape,
    bin_names,
    column_of,
    ends_of,
    members_of,
    middle,
    number_of,
    pieces_of,
    without_redrawn,
    word_of,
)
from incrowd.recipients.matrix import Attribute
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import Interval, render
from incrowd.vocabulary.schema import ColumnType

LOW, HIGH = "_low", "_high"
NOWHERE: Piece = (math.nan, math.nan)  # a missing value among counts
_POINTS = 16  # of a drawn number's distribution, from which its mean is taken
Shares = Mapping[int, float]
"""Categories, by their place, that a cell may stand for, with their shares."""
Pieces = Mapping[Piece, float]
"""Where the number of a cell may lie, with the rows that are told of each piece, NaN if none are."""


@dataclass(frozen=True, eq=False)
class CategoryView:
    """An attribute of words."""

    name: str
    categories: tuple[str, ...]
    shares: Mapping[Any, Shares]  # what each released cell stands for
    place: Callable[[Any], int]  # the category of a plain value, -1 for an unknown one
    ordered: bool = False

    @property
    def chancy(self) -> bool:
        """Whether some cell stands for several values."""
        return any(len(shares) > 1 for shares in self.shares.values())

    def dealt(self, cells: Cells, chance: Numbers) -> Attribute:
        """One of the values that each cell stands for; a cell the release does not have is a plain value."""
        picked = np.full(len(cells.codes), NOTHING, np.int64)
        for rows, shares in _by_value(cells, self._shares):
            places, sums = np.array([*shares], np.int64), np.cumsum([*shares.values()])
            at = np.searchsorted(sums, chance[rows] * sums[-1], side="right") if len(places) > 1 else 0
            picked[rows] = places[np.minimum(at, len(places) - 1)] if len(places) else NOTHING
        return Attribute(self.name, picked, self.categories, self.ordered)

    def seen(self, cells: Cells) -> Attribute:
        """Rows each once: a cell that stands for several values is missing, and has the share of each beside it."""
        read = [self._shares(value) for value in cells.values]
        places = np.array([next(iter(each)) if len(each) == 1 else NOTHING for each in read] + [NOTHING], np.int64)
        shares = None
        if any(len(each) > 1 for each in read):
            known = np.zeros((len(read) + 1, len(self.categories)))
            for at, each in enumerate(read):
                for place, share in each.items():
                    known[at, place] += share if place >= 0 else 0.0
            shares = known[cells.codes]
        return Attribute(self.name, places[cells.codes], self.categories, self.ordered, shares)

    def _shares(self, value: Any) -> Shares:
        shares = self.shares.get(value)
        if shares is None:
            place = self.place(value)
            return {} if place < 0 else {place: 1.0}
        return shares


@dataclass(frozen=True, eq=False)
class LevelView:
    """Numbers that look alike within public cuts: the same number stands for all of them, released or new.

    Without cuts the middle of an interval stands for it.
    """

    name: str
    kind: ColumnType
    cuts: Numbers | None = None
    levels: Numbers = field(default_factory=lambda: np.empty(0))  # the number of each bin, NaN where none is shown
    chancy: bool = False

    def dealt(self, cells: Cells, chance: Numbers) -> Attribute:  # noqa: ARG002
        """The number of the bin that each cell lies in."""
        numbers = np.array([*map(self._level, cells.values), math.nan])
        return Attribute(self.name, numbers[cells.codes])

    def seen(self, cells: Cells) -> Attribute:
        """The same."""
        return self.dealt(cells, np.empty(0))

    def _level(self, value: Any) -> float:
        pieces = pieces_of(value, self.kind)
        if len(pieces) != 1:
            return math.nan
        if self.cuts is None:
            return middle(*pieces[0])
        return float(self.levels[np.searchsorted(self.cuts, pieces[0][1], side="left")])


@dataclass(frozen=True, eq=False)
class NumberView:
    """Numbers as they are, or drawn inside their interval."""

    name: str
    kind: ColumnType
    shape: Shape
    chancy: bool  # whether some cell is an interval
    pieces: Mapping[Any, Pieces] = field(default_factory=dict)  # of the released cells
    reach: Piece = (-math.inf, math.inf)  # numbers beyond are seen at its ends

    def dealt(self, cells: Cells, chance: Numbers) -> Attribute:
        """A number of each cell's interval."""
        drawn = np.full(len(cells.codes), np.nan)
        for rows, pieces in _by_value(cells, self._pieces):
            drawn[rows] = self._drawn(pieces, chance[rows]) if pieces else np.nan
        return Attribute(self.name, drawn)

    def seen(self, cells: Cells) -> Attribute:
        """The mean of the numbers that each cell may have; a number itself."""
        points = (np.arange(_POINTS) + 0.5) / _POINTS
        means = [self._mean(self._pieces(value), points) for value in cells.values]
        return Attribute(self.name, np.clip([*means, math.nan], *self.reach)[cells.codes])

    def _mean(self, pieces: Pieces, points: Numbers) -> float:
        known = [number for number in self._drawn(pieces, points).tolist() if number == number] if pieces else []
        return math.fsum(known) / len(known) if known else math.nan

    def _pieces(self, value: Any) -> Pieces:
        return self.pieces[value] if value in self.pieces else dict.fromkeys(pieces_of(value, self.kind), math.nan)

    def _drawn(self, pieces: Pieces, chance: Numbers) -> Numbers:
        """A number for each chance; the pieces in the shares that are told of them, or else as the shape has them."""
        if len(pieces) == 1:
            return self.shape.drawn(next(iter(pieces)), chance)
        masses = [self.shape.mass(piece) if math.isnan(rows) else rows for piece, rows in pieces.items()]
        sums = np.cumsum(np.maximum(masses, 1e-12))
        sums = np.concatenate([[0.0], sums / sums[-1]])
        at = np.clip(np.searchsorted(sums, chance, side="right") - 1, 0, len(pieces) - 1)
        within = (chance - sums[at]) / (sums[at + 1] - sums[at])
        drawn = np.empty(len(chance))
        for place, piece in enumerate(pieces):
            drawn[at == place] = self.shape.drawn(piece, within[at == place])
        return drawn


View = CategoryView | LevelView | NumberView


def _by_value(cells: Cells, reading: Callable[[Any], Any]) -> Iterable[tuple[Codes, Any]]:
    """The rows of each value, with what the value says."""
    order = np.argsort(cells.codes, kind="stable")
    starts = np.searchsorted(cells.codes[order], np.arange(len(cells.values) + 1))
    for place, value in enumerate(cells.values):
        yield order[starts[place] : starts[place + 1]], reading(value)


# The view of a released column.
BY_VALUE, BY_BOX, AS_THEY_ARE = "by value", "by box", "as they are"


@dataclass(frozen=True, eq=False)
class ReleasedColumn:
    """What is publicly known of an attribute, beside its cells."""

    name: str
    kind: ColumnType
    form: str = "values"
    cuts: tuple[float, ...] | None = None  # the public cuts of numbers, dates as days
    seen: str = AS_THEY_ARE  # how new values are seen: by value, by box, or as they are
    hierarchy: Hierarchy | None = None
    since_first: bool = False  # dates that became days since the person's first row
    redraw: int = 0  # the rows of the whole release that counts were drawn from beside those of their group
    together: tuple[str, ...] = ()  # the attributes it is counted together with, itself among them


def view_of(column: ReleasedColumn, cells: Cells) -> View:
    """How the attribute is seen by learners."""
    if column.seen == BY_BOX:
        numbers = column.kind.is_numeric and column.form != "groups"
        return LevelView(column.name, column.kind) if numbers else _by_words(column, cells)
    if not column.kind.is_numeric:
        return _by_words(column, cells) if column.seen == BY_VALUE else _of_members(column, cells, None)
    if column.form in ("bins", "counts"):
        return _of_members(column, cells, np.array(column.cuts or (), np.float64))
    if column.cuts is not None:
        return _of_levels(column, cells)
    if column.form == "groups" and not all(group_pieces(column, value) for value in cells.values):
        return _by_words(column, cells) if column.seen == BY_VALUE else _of_members(column, cells, None)
    return _of_numbers(column, cells, {value: _number_pieces(column, value) for value in cells.values})


def plain_view(column: ReleasedColumn, cells: Cells) -> View:
    """How the attribute is seen by people: every cell as one of the values it stands for, numbers as numbers."""
    if column.kind.is_numeric:
        read = {value: _number_pieces(column, value) for value in cells.values}
        if all(read.values()) or column.form != "groups":
            return _of_numbers(column, cells, read)
    return _of_members(replace(column, redraw=0), cells, None)


def _number_pieces(column: ReleasedColumn, value: Any) -> Pieces:
    if column.form != "counts":
        return dict.fromkeys(group_pieces(column, value), math.nan)
    pieces: dict[Piece, float] = {}
    for member, rows in read_counts(word_of(value)) or ():
        for piece in (NOWHERE,) if member is None else pieces_of(member, column.kind):
            pieces[piece] = float(rows)
    return pieces


def _of_numbers(column: ReleasedColumn, cells: Cells, read: Mapping[Any, Pieces]) -> NumberView:
    pieces: list[Piece] = []
    rows: list[float] = []
    for value, many in zip(cells.values, cells.rows, strict=True):
        total = sum(read[value].values())
        for piece, share in read[value].items():
            if piece is not NOWHERE:
                pieces.append(piece)
                rows.append(many / len(read[value]) if math.isnan(total) else many * share / total)
    shape = Shape.of(pieces, np.array(rows), whole=column.kind is not ColumnType.REAL)
    chancy = any(low < high for low, high in pieces) or any(len(each) > 1 for each in read.values())
    view = NumberView(column.name, column.kind, shape, chancy, read)
    if column.form != "mean" or not pieces:
        return view
    # means of groups lie closer together than numbers of people, and what learners saw of them ends with the outmost
    return replace(view, reach=(min(low for low, _ in pieces), max(high for _, high in pieces)))


def _of_levels(column: ReleasedColumn, cells: Cells) -> LevelView:
    """The numbers of the bins: those that are shown, or the middles of the intervals that are."""
    cuts = np.array(column.cuts, np.float64)
    levels = np.full(len(cuts) + 1, np.nan)
    for value in cells.values:
        for low, high in pieces_of(value, column.kind)[:1]:
            levels[np.searchsorted(cuts, high, side="left")] = middle(low, high)
    return LevelView(column.name, column.kind, cuts, levels)


def group_pieces(column: ReleasedColumn, value: Any) -> tuple[Piece, ...]:
    """Where the number of a cell lies, which may be a group of the hierarchy; nowhere if nobody can tell."""
    hierarchy = column.hierarchy
    if hierarchy is not None and value in hierarchy.labels:
        interval = hierarchy.interval(hierarchy.labels.index(value))
        return () if interval is None else (ends_of(interval),)
    return pieces_of(value, column.kind)


def group_words(column: ReleasedColumn, value: Any) -> tuple[str, ...]:
    """The words that a cell may stand for: those below a group, the members of a set, or itself."""
    word = word_of(value)
    if column.form == "groups" and column.hierarchy is None:
        return ()
    return _below(column.hierarchy, word) or members_of(word)


def _below(hierarchy: Hierarchy | None, label: Any) -> tuple[str, ...]:
    """The values below a group of a hierarchy; none for what is no group of it."""
    if hierarchy is None or label not in hierarchy.labels:
        return ()
    below = hierarchy.leaves_below(hierarchy.labels.index(label))
    return tuple(hierarchy.labels[hierarchy.leaves[place]] for place in below)


# Where a plain value belongs: functions of the module, so that what has learned from a release can be pickled.
def _shown_place(known: Mapping[str, int], hierarchy: Hierarchy | None, value: Any) -> int:
    """The place of a value, or of the leaf of the hierarchy that it is."""
    word = word_of(value)
    leaf = None if hierarchy is None or word in known else hierarchy.leaf_of(value)
    if hierarchy is not None and leaf is not None:
        word = hierarchy.labels[hierarchy.leaves[leaf]]
    return known.get(word, NOTHING)


def _bin_place(cuts: Numbers, kind: ColumnType, value: Any) -> int:
    """The place of the public bin that a number, or a bin, lies in."""
    pieces = pieces_of(value, kind)
    return int(np.searchsorted(cuts, pieces[0][1], side="left")) if len(pieces) == 1 else NOTHING


def _by_words(column: ReleasedColumn, cells: Cells) -> CategoryView:
    """Words of a method that recodes values: a plain value is seen as the cell that stands for it."""
    words = sorted(map(word_of, cells.values))
    known: dict[str, int] = {}
    for at, word in enumerate(words):
        for member in (*_below(column.hierarchy, word), *members_of(word)):
            known.setdefault(member, at)
    known |= {word: at for at, word in enumerate(words)}

    return CategoryView(column.name, tuple(words), {}, partial(_shown_place, known, column.hierarchy))


def _of_members(column: ReleasedColumn, cells: Cells, cuts: Numbers | None) -> CategoryView:
    """Values, sets of values or counts of them; of numbers, those of their public bins."""
    members: Mapping[Any, Counted] = {value: _members(column, value) for value in cells.values}
    if column.form == "counts" and column.redraw and not column.together:  # joint entries are dealt whole, as they are
        members = without_redrawn(members, cells, column.redraw)
    if cuts is None:
        words = tuple(sorted({word for each in members.values() for word in each if word is not None}))
        place = partial(_shown_place, {word: at for at, word in enumerate(words)}, None)
    else:
        words = bin_names(cuts, column.kind)
        place = partial(_bin_place, cuts, column.kind)
    shares = {
        value: _weighed({NOTHING if word is None else place(word): many for word, many in each.items()})
        for value, each in members.items()
    }
    return CategoryView(column.name, words, shares, place, ordered=cuts is not None)


def _members(column: ReleasedColumn, value: Any) -> Counted:
    """The words that a cell may stand for, None for missing, with their rows; NaN where those are not told."""
    word = word_of(value)
    if column.form == "counts":
        return {member: float(rows) for member, rows in read_counts(word) or ()}
    return dict.fromkeys(_below(column.hierarchy, word) or members_of(word), math.nan)


def _weighed(shares: Mapping[int, float]) -> Shares:
    """Counts as shares; the members of a set share it evenly."""
    counts = {place: 1.0 if math.isnan(rows) else rows for place, rows in shares.items()}
    total = sum(counts.values())
    return {place: rows / total for place, rows in counts.items()}


def cells_to_see(table: pa.Table, column: ReleasedColumn, shown: Cells) -> Cells:
    """The cells of an attribute of rows that are to be seen as released ones, whose cells are shown.

    Raises if there are values where numbers or dates should be, and none can be read as one.
    """
    cells = cells_of(table, column)
    if not column.kind.is_numeric or not cells.values or any(_is_read(column, value) for value in cells.values):
        return cells
    if not set(shown.values).isdisjoint(cells.values):
        return cells  # released rows, which may show groups that nobody explained
    what = "date, written YYYY-MM-DD" if column.kind is ColumnType.DATE else "number"
    cure = ""
    if column.since_first:
        cure = " The release has days since the person's first row there: subtract the first date of the same person."
    raise InputError(f"Column {column.name!r} of these rows: no value can be read as a {what}.{cure}")


def _is_read(column: ReleasedColumn, value: Any) -> bool:
    """Whether a value tells a number, or a date where dates are released."""
    if isinstance(value, datetime.date):
        return column.kind is ColumnType.DATE
    return bool(group_pieces(column, value))


def cells_of(table: pa.Table, column: ReleasedColumn) -> Cells:
    """The cells of an attribute; the two columns of an interval are written as one."""
    low, high = column.name + LOW, column.name + HIGH
    if column.name in table.column_names or low not in table.column_names:
        return column_of(table, column.name)
    ends = [column_of(table, name) for name in (low, high)]
    width = len(ends[1].values) + 1
    joint, codes = np.unique((ends[0].codes + 1) * width + ends[1].codes + 1, return_inverse=True)
    texts: list[str] = []
    places = np.full(len(joint), -1)
    for at, pair in enumerate(joint.tolist()):
        first, last = divmod(pair, width)
        if first or last:
            low_end = number_of(ends[0].values[first - 1], column.kind) if first else None
            high_end = number_of(ends[1].values[last - 1], column.kind) if last else None
            places[at] = len(texts)
            texts.append(str(render(Interval(low_end, high_end), column.kind)))
    return Cells(tuple(texts), places[codes].astype(np.int64))
