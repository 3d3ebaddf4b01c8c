"""A hierarchy: which values of one attribute may be shown as which group, from the raw value up to ``*``.

Nodes are numbered from the root (0) depth first, so that the leaves below a node are neighbours. Level 1 is the root
alone, level ``height`` the leaves; a branch that ends early is padded: below its leaf, the leaf stays itself.
Leaves are values, or intervals of numbers or dates that exclude their low and include their high end.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import InputError, Notice, ValuesError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import (
    Interval,
    day_number,
    interval_text,
    parse_day,
    parse_interval,
    parse_number,
)
from incrowd.vocabulary.schema import ColumnType

Places = npt.NDArray[np.int64]
ROOT = "*"
_MOST_SHOWN = 50  # leaves in a notebook


class Leaves(StrEnum):
    """What the leaves of a hierarchy are."""

    VALUES = "values"
    NUMBERS = "numbers"
    DATES = "dates"


@dataclass(frozen=True)
class Hierarchy:
    """The groups of one attribute, checked at birth."""

    name: str  # the attribute
    labels: tuple[str, ...]  # the text of each node, no two alike; the root is ``*``
    # The parent of each node, -1 for the root. Nodes are renumbered depth first, intervals ascending.
    parents: tuple[int, ...]
    kind: Leaves = Leaves.VALUES  # whether leaves are values, intervals of numbers, or periods of dates

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("A hierarchy needs the name of its attribute.")
        keys = None if self.kind is Leaves.VALUES else self._low_ends()
        order, parents = depth_first(self.name, self.labels, self.parents, keys)
        object.__setattr__(self, "labels", tuple(self.labels[node] for node in order))
        object.__setattr__(self, "parents", parents)
        object.__setattr__(self, "kind", Leaves(self.kind))
        if self.labels[0] != ROOT:
            raise InputError(f"Hierarchy {self.name!r}: the root must be named {ROOT!r}.")
        if self.kind is not Leaves.VALUES:
            self._check_overlap()

    @classmethod
    def from_paths(cls, name: str, paths: Iterable[Sequence[str]], kind: Leaves = Leaves.VALUES) -> Hierarchy:
        """Join the ways of all leaves to the root, leaf first; equal neighbours on a way are one node."""
        labels, parents = joined(name, paths)
        return cls(name, (ROOT, *labels[1:]), tuple(parents), kind)

    @classmethod
    def from_json(cls, data: Any) -> Hierarchy:
        """The hierarchy that :meth:`to_json` wrote."""
        match data:
            case {"name": str(name), "leaves": str(kind), "labels": [*labels], "parents": [*parents]}:
                texts = all(isinstance(label, str) for label in labels)
                numbers = all(isinstance(parent, int) and not isinstance(parent, bool) for parent in parents)
                if texts and numbers and kind in list(Leaves):
                    return cls(name, tuple(labels), tuple(parents), Leaves(kind))
        raise InputError("This is not a hierarchy that incrowd wrote: name, leaves, labels or parents are not sound.")

    def to_json(self) -> dict[str, Any]:
        """The hierarchy as plain data."""
        return {"name": self.name, "leaves": str(self.kind), "labels": [*self.labels], "parents": [*self.parents]}

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def depths(self) -> Places:
        """The level of each node; 1 is the root."""
        depths = np.ones(len(self), np.int64)
        for node, parent in enumerate(self.parents[1:], start=1):
            depths[node] = depths[parent] + 1
        return depths

    @property
    def height(self) -> int:
        """Number of levels: 1 for the root, plus one for each generation below it."""
        return int(self.depths.max())

    @cached_property
    def leaves(self) -> Places:
        """The nodes without children, in order; a leaf is known by its place in this array."""
        return np.setdiff1d(np.arange(len(self)), np.array(self.parents), assume_unique=False)

    @cached_property
    def _children(self) -> tuple[tuple[int, ...], ...]:
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents[1:], start=1):
            below[parent].append(node)
        return tuple(map(tuple, below))

    @cached_property
    def _ends(self) -> Places:
        """For each node the first node that is not below it."""
        ends = np.arange(1, len(self) + 1)
        for node in range(len(self) - 1, 0, -1):
            ends[self.parents[node]] = max(ends[self.parents[node]], ends[node])
        return ends

    def plot(self, *, ax: Any = None) -> Any:
        """The tree as a drawing: the whole at the left, and each group beside what it holds.

        Parameters
        ----------
        ax
            Axes of Matplotlib to draw on, which are given back.

        Returns
        -------
        Drawing
            Notebooks show it; ``.save("hierarchy.svg")`` writes it.
        """
        from incrowd.vocabulary.views import hierarchy_drawing

        drawing = hierarchy_drawing(self)
        return drawing if ax is None else drawing.on(ax)

    def _repr_html_(self) -> str:
        from incrowd.vocabulary.views import table_view

        levels = [self.at_level(level) for level in range(self.height, 0, -1)]
        rows = [[self.labels[nodes[leaf]] for nodes in levels] for leaf in range(min(len(self.leaves), _MOST_SHOWN))]
        more = f", the first {_MOST_SHOWN}" if len(self.leaves) > _MOST_SHOWN else ""
        title = f"Hierarchy of {self.name}: {len(self.leaves):,} leaves{more}"
        return table_view(title, [f"level {level}" for level in range(self.height)], rows)

    def children(self, node: int) -> tuple[int, ...]:
        """The nodes right below a node, in order."""
        return self._children[node]

    def leaves_below(self, node: int) -> range:
        """The places of the leaves below a node; a leaf is below itself."""
        first, last = np.searchsorted(self.leaves, [node, self._ends[node]])
        return range(int(first), int(last))

    def at_level(self, level: int) -> Places:
        """For each leaf, the node for it at a level: its ancestor, or itself where its branch ends early."""
        if not 1 <= level <= self.height:
            raise InputError(f"Hierarchy {self.name!r} has the levels 1 to {self.height}; there is no level {level}.")
        nodes, parents = self.leaves.copy(), np.array(self.parents)
        while (deep := self.depths[nodes] > level).any():
            nodes[deep] = parents[nodes[deep]]
        return nodes

    def interval(self, node: int) -> Interval | None:
        """From the low end of the first to the high end of the last leaf below a node; None for values."""
        if self.kind is Leaves.VALUES:
            return None
        below = self.leaves_below(node)
        return Interval(self._intervals[below[0]].low, self._intervals[below[-1]].high)

    @cached_property
    def _intervals(self) -> tuple[Interval, ...]:
        return tuple(self._parsed(self.labels[leaf]) for leaf in self.leaves)

    def _parsed(self, label: str) -> Interval:
        interval = parse_interval(label, dates=self.kind is Leaves.DATES)
        if interval is None:
            wanted = interval_text(0, 59, dates=self.kind is Leaves.DATES)
            raise InputError(
                f"Hierarchy {self.name!r}: a leaf is not an interval of {self.kind}. Write leaves like {wanted}."
            )
        return interval

    def _low_ends(self) -> list[float]:
        """The low end of each node in the order given; that of a group is the lowest below it."""
        inner = set(self.parents)
        lows = [float("inf")] * len(self.labels)
        for node, label in enumerate(self.labels):
            if node not in inner:
                low = self._parsed(label).low
                above, steps = node, 0
                while 0 <= above < min(len(lows), len(self.parents)) and steps <= len(lows):
                    lows[above] = min(lows[above], float("-inf") if low is None else low)
                    above, steps = self.parents[above], steps + 1
        return lows

    def _check_overlap(self) -> None:
        """In depth-first order, each interval must begin where the one before has ended, or later."""
        pairs = zip(self._intervals, self._intervals[1:], strict=False)
        wrong = sum(after.low is None or before.high is None or after.low < before.high for before, after in pairs)
        if wrong:
            raise InputError(
                f"Hierarchy {self.name!r}: {wrong} of {len(self._intervals)} intervals overlap or lie inside another "
                "branch. Every number may have one leaf only, and a branch holds neighbours."
            )

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was handled: branches of unequal depth, and holes between intervals."""
        notices = []
        early = int((self.depths[self.leaves] < self.height).sum())
        if early:
            message = f"{early} of {len(self.leaves)} branches end before level {self.height}; their leaf is repeated."
            notices.append(Notice("padded", self.name, message))
        if self.kind is not Leaves.VALUES:
            holes = sum(a.high != b.low for a, b in zip(self._intervals, self._intervals[1:], strict=False))
            if holes:
                notices.append(
                    Notice("holes", self.name, f"{holes} holes between intervals; values there have no leaf.")
                )
        return tuple(notices)

    @cached_property
    def _by_label(self) -> dict[str, int]:
        return {self.labels[leaf]: place for place, leaf in enumerate(self.leaves)}

    @cached_property
    def _by_number(self) -> dict[int | float, int]:
        """Leaves that write a number, by that number; of two that write the same, the first."""
        places: dict[int | float, int] = {}
        for label, place in self._by_label.items():
            number = parse_number(label)
            if number is not None:
                places.setdefault(number, place)
        return places

    def leaf_of(self, value: str | float | datetime.date) -> int | None:
        """The place of the leaf that covers a value; None if there is none.

        A number belongs to the interval that it closes: 50 is in ``(30, 50]``. A number meets a leaf that is a value
        if that writes the same number; a date, if that writes it as ``YYYY-MM-DD``.
        """
        if isinstance(value, datetime.date):
            value = day_number(value) if self.kind is Leaves.DATES else value.isoformat()
        if self.kind is Leaves.VALUES:
            return self._by_label.get(value) if isinstance(value, str) else self._by_number.get(value)
        number = value if not isinstance(value, str) else self._read(value)
        if number is None or number != number:
            return None
        place = int(self._places(np.array([number]))[0])
        return None if place < 0 else place

    def _read(self, text: str) -> int | float | None:
        return parse_day(text) if self.kind is Leaves.DATES else parse_number(text)

    def covers(self, value: str | float | datetime.date) -> bool:
        """Whether a value has a leaf."""
        return self.leaf_of(value) is not None

    def _places(self, numbers: npt.NDArray[Any]) -> Places:
        """The place of the interval of each number; -1 where there is none."""
        highs = np.array([float("inf") if i.high is None else i.high for i in self._intervals[:-1]])
        lows = np.array([float("-inf") if i.low is None else i.low for i in self._intervals])
        places = np.searchsorted(highs, numbers, side="left")
        last = self._intervals[-1].high
        inside = (numbers > lows[places]) & ((places < len(lows) - 1) | (last is None or numbers <= last))
        return np.where(inside, places, -1)

    def find(self, column: EncodedColumn) -> Places:
        """The place of the leaf of each dictionary code; -1 where there is none; missing is one past the last leaf."""
        if self.kind is Leaves.VALUES:
            values = column.dictionary.to_list()
            known = [self.leaf_of(value) for value in values]
            places = np.array([-1 if place is None else place for place in known], np.int64)
        elif column.type.is_numeric and (column.type is ColumnType.DATE) == (self.kind is Leaves.DATES):
            places = self._places(column.numbers) if len(column.dictionary) else np.empty(0, np.int64)
        else:
            raise InputError(
                f"Hierarchy {self.name!r} has intervals of {self.kind}, but column {column.name!r} is {column.type}. "
                "Give the column the fitting type, or list its values."
            )
        return np.append(places, len(self.leaves))

    def encode(self, column: EncodedColumn) -> Places:
        """The place of the leaf of each dictionary code; a missing value has its own: one past the last leaf."""
        places = self.find(column)
        gone = places < 0
        if gone.any():
            cure = "Add them to the hierarchy."
            if self.kind is Leaves.VALUES and column.type.is_numeric and self._leaves_are_intervals:
                cure = f"Its leaves look like intervals: say so in the file, as in '{self.name} [numbers]'."
            raise ValuesError(
                f"Hierarchy {self.name!r} has a gap: {int(gone.sum())} of {len(gone) - 1} distinct values of column "
                f"{column.name!r} ({int(column.counts[gone].sum())} rows) have no leaf. {cure}"
            )
        return places

    @property
    def _leaves_are_intervals(self) -> bool:
        labels = [self.labels[leaf] for leaf in self.leaves]
        return all(parse_interval(label, dates=False) is not None for label in labels)

    def unused(self, column: EncodedColumn) -> tuple[Notice, ...]:
        """A notice if some leaves have no value in the column."""
        used = np.unique(self.find(column))
        idle = len(self.leaves) - int(((used >= 0) & (used < len(self.leaves))).sum())
        if not idle:
            return ()
        return (Notice("unused-leaves", self.name, f"{idle} of {len(self.leaves)} leaves have no value in the table."),)


# Is it a tree? The checks of the shape, and the depth-first order.
def depth_first(
    name: str, labels: Sequence[str], parents: Sequence[int], keys: Sequence[float] | None
) -> tuple[list[int], tuple[int, ...]]:
    """The nodes in depth-first order, and their parents in the new numbers; an error if they are no tree.

    Children follow in the order of their keys, or as given.

    Examples
    --------
    >>> depth_first("job", ["cook", "*", "service"], [2, -1, 1], None)
    ([1, 2, 0], (-1, 0, 1))
    """
    _check_nodes(name, labels, parents)
    below: list[list[int]] = [[] for _ in labels]
    for node, parent in enumerate(parents):
        if parent >= 0:
            below[parent].append(node)
    if keys is not None:
        for nodes in below:
            nodes.sort(key=keys.__getitem__)
    order: list[int] = []
    waiting = [parents.index(-1)] if -1 in parents else []
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting += reversed(below[node])
    if len(order) < len(labels):
        lost = len(labels) - len(order)
        raise InputError(f"Hierarchy {name!r} has a cycle: {lost} nodes lead back to themselves, not to the root.")
    place = {node: number for number, node in enumerate(order)}
    return order, tuple(place.get(parents[node], -1) for node in order)


def _check_nodes(name: str, labels: Sequence[str], parents: Sequence[int]) -> None:
    """Lengths, labels, roots."""
    if len(labels) != len(parents) or any(not -1 <= parent < len(labels) for parent in parents):
        raise InputError(f"Hierarchy {name!r}: every node needs a parent that is a node, or -1 for the root.")
    empty = sum(not label.strip() for label in labels)
    if empty:
        raise InputError(f"Hierarchy {name!r}: {empty} nodes have an empty label. Name them; missing needs no leaf.")
    twice = sum(count > 1 for count in Counter(labels).values())
    if twice:
        raise InputError(f"Hierarchy {name!r}: {twice} labels have two parents or occur twice. Use each label once.")
    roots = sum(parent == -1 for parent in parents)
    if roots > 1:
        raise InputError(f"Hierarchy {name!r} has no single root: {roots} nodes have no parent. Put them below '*'.")
    if len(labels) < 2:
        raise InputError(f"Hierarchy {name!r} has no leaves: list at least one value below the root.")


def joined(name: str, paths: Iterable[Sequence[str]]) -> tuple[list[str], list[int]]:
    """Labels and parents of the tree that joins ways from leaf to root; the root comes first.

    A way that is nothing but the root is passed over. A label on a way twice, with others between, is a cycle; a
    label with two different next labels has two parents; a leaf that is also a group is refused.
    """
    ways = [_collapsed(path) for path in paths]
    roots = list(dict.fromkeys(way[-1] for way in ways if way))
    if len(roots) != 1:
        raise InputError(
            f"Hierarchy {name!r} has no single root: its paths end in {len(roots)} different labels. "
            "End each of them in '*'."
        )
    cycles = sum(len(set(way)) < len(way) for way in ways)
    if cycles:
        raise InputError(f"Hierarchy {name!r} has a cycle: on {cycles} paths a label leads back to itself.")
    above = _parents(name, [way for way in ways if len(way) > 1])
    labels = [roots[0], *above]
    place = {label: node for node, label in enumerate(labels)}
    return labels, [-1, *(place[parent] for parent in above.values())]


def _collapsed(path: Sequence[str]) -> list[str]:
    return [label for place, label in enumerate(path) if place == 0 or label != path[place - 1]]


def _parents(name: str, ways: list[list[str]]) -> dict[str, str]:
    """The next label of each label, top labels first."""
    above: dict[str, str] = {}
    torn: set[str] = set()
    for way in ways:
        for label, parent in reversed(list(pairwise(way))):
            if above.setdefault(label, parent) != parent:
                torn.add(label)
    if torn:
        raise InputError(f"Hierarchy {name!r}: {len(torn)} labels have two parents. Give each value and group one.")
    both = {way[0] for way in ways} & set(above.values())
    if both:
        raise InputError(f"Hierarchy {name!r}: {len(both)} labels are both a value and a group. Rename the groups.")
    return above
