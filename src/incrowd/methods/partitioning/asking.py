"""The loop of cuts that asks a judge about the parts of each cut, in order of preference.

All cuts of a dimension put its places in one order, and differ in where the first part ends. So the evidence of each
place is counted once for a node, and that of the parts of all these cuts are sums along the order, judged together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import LARGEST, Judge
from incrowd.methods.partitioning.dimensions import BEGIN, DIMENSION, END, LAST, SET, TREE
from incrowd.methods.partitioning.kernel import divide, list_cuts, mark, parts_of, start

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


def grow_asking(table: Any, dims: Any, rule: Any, roots: Ints, order: Ints, judge: Judge, marks: Ints) -> Any:
    """The loop of the kernel, with the judge asked."""
    grown, room = start(table, dims, roots)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        rows = order[grown.nodes[node, BEGIN] : grown.nodes[node, END]]
        at = grown.at[node]
        cuts = list_cuts(table, dims, rule, rows, at, room)
        choice = _Node(table, dims, rows, at, room, judge, marks[rows], cuts)
        for number in np.lexsort(cuts.T[LAST::-1]):
            if choice.may_cut(number):
                first = int(grown.used[0])
                grown = divide(table, dims, grown, order, room, node, cuts[number])
                waiting += range(first, int(grown.used[0]))
                break
    return grown


@dataclass(frozen=True, eq=False)
class _Node:
    """The rows of a node, what the judge must know of each, and the cuts that are possible."""

    table: Any
    dims: Any
    rows: Ints
    at: Ints
    room: Any
    judge: Judge
    marks: Ints
    cuts: Ints
    _answers: dict[int, Flags | None] = field(default_factory=dict)

    def may_cut(self, number: int) -> bool:
        """Whether all parts of a cut may be released."""
        dimension = int(self.cuts[number, DIMENSION])
        if dimension not in self._answers:
            self._answers[dimension] = self._along(dimension)
        answers = self._answers[dimension]
        return self._alone(number) if answers is None else bool(answers[number])

    def _alone(self, number: int) -> bool:
        parts, count = parts_of(self.table, self.dims, self.rows, self.at, self.room, self.cuts[number])
        return bool(self.judge.holds(self.judge.tally(self.marks, parts, count)).all())

    def _along(self, dimension: int) -> Flags | None:
        """The answers to all cuts of a dimension; None where evidence does not add up, or is too much at once."""
        kind, judge = self.dims.kind[dimension], self.judge
        if kind == TREE or judge.persons or judge.own:
            return None
        present, places = np.unique(self.table.places[self.rows, dimension], return_inverse=True)
        if len(present) * judge.width > LARGEST:
            return None
        each = judge.tally(self.marks, places, len(present))
        missing = present[-1] == self.dims.width[dimension] - 1
        gone, each, present = each[len(each) - missing :], each[: len(each) - missing], present[: len(each) - missing]
        mine = np.flatnonzero(self.cuts[:, DIMENSION] == dimension)
        last = self.cuts[mine, LAST]
        if kind == SET:
            _, _, ordered = mark(self.table, self.dims, self.rows, self.at[dimension], self.room, self.cuts[mine[0]])
            each, ends = each[np.searchsorted(present, ordered[:, 0])], last
        else:
            ends = np.searchsorted(present, last)
        sums = np.cumsum(each, axis=0)
        answers = np.zeros(len(self.cuts), np.bool_)
        answers[mine] = judge.holds(sums[ends]) & judge.holds(sums[-1] - sums[ends]) & judge.holds(gone).all()
        return answers
