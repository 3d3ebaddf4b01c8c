"""The three kinds of attributes: a cut through a taxonomy, ranges, hidden values; and which of them a column is.

Where a range would be cut is decided once, by the information gain alone; the first of equally good places is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import roundest
from incrowd.methods.limits import Limit
from incrowd.methods.top_down_refinement.attribute import (
    MISSING,
    AttributeState,
    Counts,
    Look,
    PartedValues,
    RefinedCodes,
    best_of,
    cut_gains,
    disclosure_gains,
    is_mixed,
    split_gain,
)
from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Shown,
    Suppressed,
    Value,
    ValueSet,
    parse_day,
    parse_number,
    render,
)
from incrowd.vocabulary.schema import ColumnType

Dress = Callable[[int, int, Look], Part | None]


class TaxonomyCut(PartedValues):
    """A cut, at first the root alone; a refinement replaces a node by its children.

    ``name``: the attribute. ``labels``, ``parents``: the nodes, numbered from the root (0) depth first. ``nodes``: for
    each code the leaf it belongs to; the missing one stands for itself, one past the last node. ``counts``: rows per
    code and class. ``dress``: the part of a node, its rows given; None if it shows nothing.

    Examples
    --------
    >>> counts = np.array([[5, 11], [16, 2], [0, 0]])
    >>> taxonomy = TaxonomyCut("sex", ["*", "f", "m"], [-1, 0, 0], np.array([1, 2, 3]), counts, lambda *_: None)
    >>> taxonomy.words(0), round(float(taxonomy.gains[0]), 4)
    (('*', 'f, m'), 0.2716)
    """

    def __init__(
        self,
        name: str,
        labels: Sequence[str],
        parents: Sequence[int],
        nodes: npt.NDArray[np.int64],
        counts: Counts,
        dress: Dress,
    ) -> None:
        super().__init__(name, len(nodes), len(parents) + 1)
        self._labels = [*labels, MISSING]
        self._dress = dress
        above = [*parents, 0]
        self._children: dict[int, list[int]] = {node: [] for node in range(len(above))}
        self._ends = np.arange(1, len(above) + 1)
        self._counts = np.zeros((len(above), counts.shape[1]), np.int64)
        np.add.at(self._counts, nodes, counts)
        for node in range(len(above) - 1, 0, -1):
            self._counts[above[node]] += self._counts[node]
            self._ends[above[node]] = max(self._ends[above[node]], self._ends[node])
        for used in (np.flatnonzero(self._counts[1:].any(axis=1)) + 1).tolist():
            self._children[above[used]].append(used)
        self._codes = np.argsort(nodes, kind="stable").astype(np.int32)
        self._sorted = nodes[self._codes]
        self._shown = {0}
        self._offer(0)

    def place(self, candidate: int) -> int:
        """The number of the node."""
        return candidate

    def words(self, candidate: int) -> tuple[str, str]:
        """The node's label, and those of its children that have rows."""
        return self._labels[candidate], ", ".join(self._labels[child] for child in self._children[candidate])

    def parts(self, look: Look) -> tuple[Part, ...]:
        """One part for each node of the cut that has rows; the root and the missing show nothing."""
        shown = sorted(self._shown - {0, len(self._labels) - 1})
        dressed = (self._dress(node, int(self._counts[node].sum()), look) for node in shown)
        return tuple(part for part in dressed if part is not None)

    def _offer(self, number: int) -> None:
        children = self._children[number]
        missing = len(self._labels) - 1
        if children in ([], [missing]) or not is_mixed(self._counts[number]):
            self.close(number)
        else:
            self._open(number, split_gain(self._counts[children]))

    def _below(self, number: int) -> Codes:
        first, last = np.searchsorted(self._sorted, [number, self._ends[number]])
        return self._codes[first:last]


class RangeCuts(PartedValues):
    """Ranges of numbers, dates or ordered categories; at first one, the missing included.

    Inside, a range is a pair of positions among the values that occur; the missing come after the last.

    Examples
    --------
    >>> import polars as pl
    >>> column = EncodedColumn("hours", ColumnType.INTEGER, np.empty(0, np.int32), pl.Series([30, 38, 41]))
    >>> ranges = RangeCuts(column, np.array([[2, 0], [2, 0], [0, 4], [0, 0]]))
    >>> ranges.words(0), float(ranges.gains[0])
    (('(-inf, inf)', '(-inf, 40], (40, inf)'), 1.0)
    """

    def __init__(self, column: EncodedColumn, counts: Counts) -> None:
        rows = counts.sum(axis=1)
        self._column = column
        self._codes = np.append(np.flatnonzero(rows[:-1]), len(rows) - 1).astype(np.int32)
        self._counts = counts[self._codes]
        self._known = len(self._codes) - 1
        super().__init__(column.name, len(rows), 2 * self._known + 2)
        self._ranges = [(0, self._known + bool(rows[-1]))]
        self._children: dict[int, range] = {}
        self._shown = {0}
        self._offer(0)

    def place(self, candidate: int) -> int:
        """Where the range begins."""
        return self._ranges[candidate][0]

    def words(self, candidate: int) -> tuple[str, str]:
        """The range and its two halves."""
        return self._label(candidate), ", ".join(map(self._label, self._children[candidate]))

    def parts(self, look: Look) -> tuple[Part, ...]:
        """One part for each range; the whole range and the missing show nothing."""
        shown = sorted(self._ranges[number] for number in self._shown if number)
        return tuple(self._part(first, last, look) for first, last in shown if first < self._known)

    def _offer(self, number: int) -> None:
        """Find where a range would be cut, if that can be of use; the missing leave the whole range then."""
        first, last = self._ranges[number]
        end = min(last, self._known)
        if end - first < 2 or not is_mixed(self._counts[first:last].sum(axis=0)):
            self.close(number)
            return
        gains = cut_gains(self._counts[first:end], self._counts[end:last].sum(axis=0))
        best = int(np.argmax(best_of(gains)))
        middle = first + 1 + best
        halves = [(first, middle), (middle, end)] + [(end, last)] * (last > end)
        self._children[number] = range(len(self._ranges), len(self._ranges) + len(halves))
        self._ranges += halves
        self._open(number, gains[best])

    def _below(self, number: int) -> Codes:
        return self._codes[slice(*self._ranges[number])]

    def _part(self, first: int, last: int, look: Look) -> Part:
        rows = int(self._counts[first:last].sum())
        if self._column.type.is_numeric:
            interval = self._interval(first, last)
            return Part(interval, look(interval), rows)
        values = self._values(first, last)
        return Part(values, Shown(values[0]) if len(values) == 1 else ValueSet(values), rows)

    def _interval(self, first: int, last: int) -> Interval:
        return Interval(self._cut(first), self._cut(last))

    def _cut(self, position: int) -> float | None:
        """The number between the values before and at a position."""
        if position in (0, self._known):
            return None
        before, after = self._column.numbers[self._codes[position - 1 : position + 1]].tolist()
        return roundest(before, after, self._column.type is not ColumnType.REAL)

    def _values(self, first: int, last: int) -> tuple[str, ...]:
        """The categories of a range, those that do not occur included."""
        begin = 0 if first == 0 else int(self._codes[first])
        return self._categories[begin : int(self._codes[last])]

    @cached_property
    def _categories(self) -> tuple[str, ...]:
        return tuple(self._column.dictionary.to_list())

    def _label(self, number: int) -> str:
        first, last = self._ranges[number]
        if first >= self._known:
            return MISSING
        last = min(last, self._known)
        if self._column.type.is_numeric:
            return str(render(self._interval(first, last), self._column.type))
        values = self._values(first, last)
        return values[0] if len(values) == 1 else f"{values[0]} to {values[-1]}"


class HiddenValues(AttributeState):
    """Values that are not shown; a refinement discloses one of them in all rows that hold it.

    A candidate is the code of a value; the id of all that is hidden is one past the last code of a value. The missing
    stay hidden.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> column = EncodedColumn("school", ColumnType.TEXT, np.empty(0, np.int32), pl.Series(["10th", "8th", "9th"]))
    >>> hidden = HiddenValues(column, np.array([[20, 4], [0, 4], [0, 12], [0, 0]]))
    >>> hidden.words(0), hidden.gains[:3].round(4).tolist()
    (('hidden values', '10th, hidden values'), [0.61, 0.108, 0.3958])
    """

    one_by_one = True

    def __init__(self, column: EncodedColumn, counts: Counts) -> None:
        super().__init__(column.name, len(counts), len(counts))
        self._values = column.dictionary.to_list()
        self._counts = counts
        self._hidden: npt.NDArray[np.bool_] = counts.sum(axis=1) > 0
        self.open[:-1] = self._hidden[:-1]
        self.next[self.open] = np.flatnonzero(self.open)
        self._weigh()

    def refines(self, candidate: int) -> int:  # noqa: ARG002, the same for all
        """All that is hidden."""
        return len(self._counts) - 1

    def place(self, candidate: int) -> int:
        """The code of the value."""
        return candidate

    def words(self, candidate: int) -> tuple[str, str]:
        """The value that is disclosed, and what stays hidden."""
        left = ", hidden values" if self._hidden.sum() > 1 else ""
        return "hidden values", self._values[candidate] + left

    def refine(self, candidate: int) -> RefinedCodes:
        """Disclose the value; the gains of all others change."""
        self._hidden[candidate] = False
        self.close(candidate)
        self._weigh()
        value, rest = np.array([candidate], np.int32), np.flatnonzero(self._hidden).astype(np.int32)
        return self._split({candidate: value, self.refines(candidate): rest})

    def close(self, candidate: int) -> None:
        """The value is disclosed, or hidden for good."""
        self.open[candidate] = False
        self.next[candidate] = -1

    def parts(self, look: Look) -> tuple[Part, ...]:  # noqa: ARG002, there are no intervals
        """One part for each value that is disclosed."""
        rows = self._counts.sum(axis=1)
        shown = np.flatnonzero(~self._hidden[:-1] & (rows[:-1] > 0)).tolist()
        return tuple(Part((self._values[v],), Shown(self._values[v]), int(rows[v])) for v in shown)

    def _weigh(self) -> None:
        """The gains of the candidates; without several classes among the hidden rows there are none."""
        hidden = self._counts[self._hidden].sum(axis=0)
        if not is_mixed(hidden):
            self.open[:] = False
            self.next[:] = -1
        self.gains[self.open] = disclosure_gains(self._counts[self.open], hidden) if self.open.any() else 0.0


def attribute_of(
    column: EncodedColumn, counts: Counts, hierarchy: Hierarchy | None, one_by_one: bool, limit: Limit | None = None
) -> AttributeState:
    """The initial state of an attribute.

    ``column``, ``counts``: its values, and its rows per code and class. ``hierarchy``: its hierarchy, if it has one.
    ``one_by_one``: whether categories without hierarchy and order are disclosed one by one, or all at once.
    ``limit``: what may be shown at most; None if that is everything together.
    """
    if hierarchy is not None or limit is not None:
        return _with_hierarchy(column, counts, hierarchy, limit)
    if column.type.has_order:
        return RangeCuts(column, counts)
    return HiddenValues(column, counts) if one_by_one else _all_at_once(column, counts)


def _with_hierarchy(column: EncodedColumn, counts: Counts, own: Hierarchy | None, limit: Limit | None) -> TaxonomyCut:
    hierarchy = limit.hierarchy if limit is not None else own
    assert hierarchy is not None
    leaves = np.append(hierarchy.leaves, len(hierarchy))
    places = hierarchy.encode(column)
    values = [_value_of(hierarchy.labels[leaf], column.type) for leaf in hierarchy.leaves.tolist()]
    for code, place in enumerate(places[:-1].tolist()):
        values[place] = _value_at(column, code)

    def dress(node: int, rows: int, look: Look) -> Part | None:
        interval = hierarchy.interval(node)
        if interval is not None:
            form = look(interval)
            return None if form == Suppressed() else Part(interval, form, rows)
        members = tuple(v for v in (values[place] for place in hierarchy.leaves_below(node)) if v is not None)
        is_leaf = not hierarchy.children(node)
        if limit is not None and limit.made and not is_leaf:
            return Part(members, ValueSet(tuple(value for value in column.values if value in members)), rows)
        return Part(members, Shown(members[0]) if is_leaf else Category(hierarchy.labels[node]), rows)

    coarsest = () if limit is None else limit.coarsest
    cut = TaxonomyCut(
        name=column.name,
        labels=hierarchy.labels,
        parents=[0 if node in coarsest else parent for node, parent in enumerate(hierarchy.parents)],
        nodes=leaves[places],
        counts=counts,
        dress=dress,
    )
    cut.must_refine = limit is not None and bool(counts[:-1].any())
    return cut


def _all_at_once(column: EncodedColumn, counts: Counts) -> TaxonomyCut:
    """A root right above all values."""
    values = column.dictionary.to_list()

    def dress(node: int, rows: int, look: Look) -> Part | None:  # noqa: ARG001, there are no intervals
        return Part((values[node - 1],), Shown(values[node - 1]), rows)

    parents = [-1] + [0] * len(values)
    return TaxonomyCut(
        name=column.name,
        labels=[ROOT, *values],
        parents=parents,
        nodes=np.arange(1, len(values) + 2),
        counts=counts,
        dress=dress,
    )


def _value_at(column: EncodedColumn, code: int) -> Value:
    """The value of a code; a date as its day number."""
    value: Value = column.numbers[code].item() if column.type is ColumnType.DATE else column.dictionary[code]
    return value


def _value_of(label: str, column_type: ColumnType) -> Value | None:
    """The value a leaf stands for, in a column of that type; None if no such value can occur."""
    if not column_type.is_numeric:
        return label
    if column_type is ColumnType.DATE:
        return parse_day(label)
    number = parse_number(label)
    if column_type is ColumnType.REAL or number is None:
        return None if number is None else float(number)
    return int(number) if number == int(number) else None
