"""An attribute with an order and no taxonomy: it shows ranges, and a refinement cuts one in two.

Where a range would be cut is decided once, by the information gain alone; the first of equally good places is taken.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from incrowd.algorithms.top_down_refinement.attribute import MISSING, Attribute, Look, Split
from incrowd.algorithms.top_down_refinement.gains import Counts, best_of, cut_gains, is_mixed
from incrowd.measures.cuts import roundest
from incrowd.plan.steps import Part
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Interval, Shown, ValueSet, render
from incrowd.vocabulary.schema import ColumnType


class Ranges(Attribute):
    """Ranges of numbers, dates or ordered categories; at first one, the missing included.

    Inside, a range is a pair of positions among the values that occur; the missing come after the last.

    Examples
    --------
    >>> import polars as pl
    >>> column = EncodedColumn("hours", ColumnType.INTEGER, np.empty(0, np.int32), pl.Series([30, 38, 41]))
    >>> ranges = Ranges(column, np.array([[2, 0], [2, 0], [0, 4], [0, 0]]))
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
        self._children: dict[int, tuple[int, ...]] = {}
        self._shown = {0}
        self._offer(0)

    def refines(self, candidate: int) -> int:
        """The range itself."""
        return candidate

    def place(self, candidate: int) -> int:
        """Where the range begins."""
        return self._ranges[candidate][0]

    def words(self, candidate: int) -> tuple[str, str]:
        """The range and its two halves."""
        return self._label(candidate), ", ".join(map(self._label, self._children[candidate]))

    def refine(self, candidate: int) -> Split:
        """Cut the range; the missing leave the whole range when that is cut."""
        children = self._children[candidate]
        self.open[candidate] = False
        self._shown = self._shown - {candidate} | set(children)
        for child in children:
            self._offer(child)
        return self._split({child: self._codes[slice(*self._ranges[child])] for child in children})

    def close(self, candidate: int) -> None:
        """The range is never cut."""
        self.open[candidate] = False
        self.next[self._codes[slice(*self._ranges[candidate])]] = -1

    def parts(self, look: Look) -> tuple[Part, ...]:
        """One part for each range; the whole range and the missing show nothing."""
        shown = sorted(self._ranges[number] for number in self._shown if number)
        return tuple(self._part(first, last, look) for first, last in shown if first < self._known)

    def _offer(self, number: int) -> None:
        """Find where a range would be cut, and make it a candidate if that can be of use."""
        first, last = self._ranges[number]
        end = min(last, self._known)
        if end - first < 2 or not is_mixed(self._counts[first:last].sum(axis=0)):
            self.close(number)
            return
        gains = cut_gains(self._counts[first:end], self._counts[end:last].sum(axis=0))
        best = int(np.argmax(best_of(gains)))
        middle = first + 1 + best
        halves = [(first, middle), (middle, end)] + [(end, last)] * (last > end)
        children = tuple(range(len(self._ranges), len(self._ranges) + len(halves)))
        self._ranges += halves
        self._children[number] = children
        self.open[number] = True
        self.gains[number] = gains[best]
        self.decides[list(children)] = number
        for child in children:
            self.next[self._codes[slice(*self._ranges[child])]] = child

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
