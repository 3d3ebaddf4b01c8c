"""One declared feeding: a release as plain rows in a vocabulary in which new rows can be seen too.

The comparison, the encoder, the classifier and the decoded table all take rows from here. What a cell may stand for is
dealt over the rows of its group, so that a group has every value as often as the release says, several times, with
weights. So is a cell that shows nothing, which may be any value. Where no cell stands for several values there is one
deal, and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import ParameterError
from incrowd.recipients.boxes import Boxes
from incrowd.recipients.cells import Cells, Codes, Numbers, word_of
from incrowd.recipients.matrix import Attribute
from incrowd.recipients.views import (
    AS_THEY_ARE,
    BY_BOX,
    ReleasedColumn,
    View,
    cells_of,
    cells_to_see,
    plain_view,
    view_of,
)
from incrowd.vocabulary.counts_text import HIDDEN, read_members

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
