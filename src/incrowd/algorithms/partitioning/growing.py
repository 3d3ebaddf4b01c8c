"""Where the table is cut: in one compiled loop if sizes decide, else asking the judge about every cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.judging import Judge
from incrowd.algorithms.partitioning import shapes
from incrowd.algorithms.partitioning.dimensions import TREE, Dimension, stacked
from incrowd.algorithms.partitioning.shapes import ATTRIBUTE, BEGIN, CHILD, CUT, END, KIND, LAST, PARTS

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rule:
    """Which cut comes first: the one that tells the classes apart best, or the widest dimension at its median."""

    by_class: bool
    min_gain: float | None = None


@dataclass(frozen=True, eq=False)
class Cuts:
    """The cuts that were made, a forest of numbers.

    Parameters
    ----------
    nodes
        One row per node, as in :mod:`~incrowd.algorithms.partitioning.shapes`. Parents come before their children,
        and the children of a node are neighbours.
    marks
        (node, place or group of the hierarchy, part) where a threshold does not say it.
    """

    nodes: Ints
    marks: Ints

    @property
    def is_cut(self) -> npt.NDArray[np.bool_]:
        """Which nodes are cut."""
        return np.asarray(self.nodes[:, KIND] == CUT)

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node, also where its cut was taken back; -1 for the root."""
        parents = np.full(len(self.nodes), -1, np.int64)
        first, parts = self.nodes[:, CHILD], self.nodes[:, PARTS]
        ever = np.flatnonzero(parts)
        ever = ever[np.argsort(first[ever])]
        parents[1:] = np.repeat(ever, parts[ever])
        return parents


def grow_cuts(
    dimensions: Sequence[Dimension],
    labels: npt.NDArray[np.int32],
    classes: int,
    judge: Judge,
    marks_of_rows: Ints,
    rule: Rule,
) -> Cuts:
    """Cut all rows while a cut is left whose every part may be released."""
    from incrowd.algorithms.partitioning import kernel

    table = shapes.Rows(stacked(dimensions, len(labels)), labels, classes)
    dims, roots = _side_by_side(dimensions)
    gain = -1.0 if rule.min_gain is None else float(rule.min_gain)
    wanted = shapes.Rule(rule.by_class, max(1, judge.k), gain)
    order = np.arange(len(labels))
    if judge.by_size:
        grown = kernel.grow(table, dims, wanted, roots, order)
    else:
        grown = _grow_asking(table, dims, wanted, roots, order, judge, marks_of_rows)
    nodes, marks = grown.nodes[: grown.used[0]], grown.marks[: grown.used[1]]
    marks[:, 1] -= _bases(dimensions)[nodes[marks[:, 0], ATTRIBUTE]]
    return Cuts(nodes, marks)


def _grow_asking(table: Any, dims: Any, rule: Any, roots: Ints, order: Ints, judge: Judge, marks: Ints) -> Any:
    """The loop of the kernel, with the judge asked about the parts of each cut in order of preference."""
    from incrowd.algorithms.partitioning import kernel

    grown, room = kernel.start(table, dims, roots)
    waiting = [0]
    while waiting:
        node = waiting.pop()
        rows = order[grown.nodes[node, BEGIN] : grown.nodes[node, END]]
        at = grown.at[node]
        own = marks[rows]
        cuts = kernel.list_cuts(table, dims, rule, rows, at, room)
        for number in np.lexsort(cuts.T[LAST::-1]):
            parts, count = kernel.parts_of(table, dims, rows, at, room, cuts[number])
            if judge.holds(judge.tally(own, parts, count)).all():
                first = int(grown.used[0])
                grown = kernel.divide(table, dims, grown, order, room, node, cuts[number])
                waiting += range(first, int(grown.used[0]))
                break
    return grown


def _bases(dimensions: Sequence[Dimension]) -> Ints:
    """The number at which the groups of each dimension's hierarchy begin; 0 without one."""
    sizes = [0 if d.hierarchy is None else len(d.hierarchy) for d in dimensions]
    before = np.cumsum([0, *sizes])[:-1]
    return np.where([d.kind == TREE for d in dimensions], before, 0)


def _side_by_side(dimensions: Sequence[Dimension]) -> tuple[Any, Ints]:
    """The dimensions as the kernel takes them, and the group of each at which cutting begins."""
    positions = [np.empty(0) if d.kind == TREE else d.positions for d in dimensions]
    offsets = np.cumsum([0, *map(len, positions)])[:-1]
    first, end, begin, children, roots = list[int](), list[int](), [0], list[int](), list[int]()
    for dimension in dimensions:
        base = len(first)
        roots.append(0)
        if dimension.hierarchy is not None:
            roots[-1] = base + dimension.settled(0)
            for node in range(len(dimension.hierarchy)):
                below = dimension.hierarchy.leaves_below(node)
                first.append(below.start)
                end.append(below.stop)
                children += [base + dimension.settled(child) for child in dimension.hierarchy.children(node)]
                begin.append(len(children))
    dims = shapes.Dims(
        np.array([d.kind for d in dimensions], np.int64),
        np.array([d.width for d in dimensions], np.int64),
        np.array([d.counted for d in dimensions], np.bool_),
        offsets.astype(np.int64),
        np.concatenate(positions),
        np.array([d.width - 1 for d in dimensions], np.int64),
        *(np.array(numbers, np.int64) for numbers in (first, end, begin, children)),
    )
    return dims, np.array(roots, np.int64)
