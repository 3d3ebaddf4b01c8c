"""The values a cell may show: a tree from "anything" down to the values of the column.

Node 0 is the root: a hidden or missing cell, written ``?``. Nodes are numbered depth first; leaves are the domain, in
its declared order. A column without a hierarchy has the root and its values. Where the leaves of a hierarchy are
intervals, the values of the column lie below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.errors import ValuesError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

HIDDEN = 0


@dataclass(frozen=True, eq=False)
class CellTaxonomy:
    """What the cells of one column may show."""

    name: str  # the column
    labels: tuple[str, ...]
    parents: tuple[int, ...]
    of_code: npt.NDArray[np.int32]  # the node of each code of the column; a missing value is hidden

    @classmethod
    def of(cls, column: EncodedColumn, hierarchy: Hierarchy | None) -> CellTaxonomy:
        """The taxonomy of a column: its hierarchy, or the flat one."""
        if hierarchy is None:
            return cls._flat(column)
        return cls._named(column, hierarchy) if hierarchy.kind is Leaves.VALUES else cls._cut(column, hierarchy)

    @classmethod
    def _flat(cls, column: EncodedColumn) -> CellTaxonomy:
        labels = tuple(map(str, column.dictionary.to_list()))
        return cls(column.name, ("?", *labels), (-1, *[0] * len(labels)), _codes([*range(1, len(labels) + 1)]))

    @classmethod
    def _named(cls, column: EncodedColumn, hierarchy: Hierarchy) -> CellTaxonomy:
        """Values are leaves of the hierarchy, or, where a table comes with groups in it, any of its nodes."""
        known = {label: node for node, label in enumerate(hierarchy.labels)}
        nodes = []
        for value in column.dictionary.to_list():
            place = hierarchy.leaf_of(value)
            nodes.append(known.get(str(value), -1) if place is None else int(hierarchy.leaves[place]))
        _check_gap(column, hierarchy, nodes)
        return cls(column.name, ("?", *hierarchy.labels[1:]), hierarchy.parents, _codes(nodes))

    @classmethod
    def _cut(cls, column: EncodedColumn, hierarchy: Hierarchy) -> CellTaxonomy:
        """Values lie below the intervals, in their order."""
        places = hierarchy.find(column)[:-1]
        _check_gap(column, hierarchy, places.tolist())
        texts = [str(value) for value in column.dictionary.to_list()]
        leaves = {int(node): place for place, node in enumerate(hierarchy.leaves)}
        labels, parents, nodes, moved = ["?"], [-1], [0] * len(texts), {0: 0}
        for node in range(1, len(hierarchy)):
            moved[node] = len(labels)
            labels.append(hierarchy.labels[node])
            parents.append(moved[hierarchy.parents[node]])
            for code in np.flatnonzero(places == leaves[node]) if node in leaves else ():
                nodes[code] = len(labels)
                labels.append(texts[code])
                parents.append(moved[node])
        return cls(column.name, tuple(labels), tuple(parents), _codes(nodes))

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """For each node the first node that is not below it."""
        ends = list(range(1, len(self) + 1))
        for node in range(len(self) - 1, 0, -1):
            ends[self.parents[node]] = max(ends[self.parents[node]], ends[node])
        return tuple(ends)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The domain: nodes without children, in order; empty for a column without values."""
        return tuple(node for node in range(1, len(self)) if self.ends[node] == node + 1)

    def leaves_below(self, node: int) -> tuple[int, ...]:
        """The values a cell may have that shows this node; a leaf may only be itself."""
        return tuple(leaf for leaf in self.leaves if node <= leaf < self.ends[node])

    def is_leaf(self, node: int) -> bool:
        """Whether the node is a value."""
        return node > 0 and self.ends[node] == node + 1

    def depth(self, node: int) -> int:
        """Steps from the node up to the root."""
        steps = 0
        while node > 0:
            node, steps = self.parents[node], steps + 1
        return steps

    def up(self, node: int, levels: int) -> int:
        """The ancestor so many levels up; the root has none but itself."""
        for _ in range(levels):
            node = max(self.parents[node], HIDDEN)
        return node

    def below(self, node: int, other: int) -> bool:
        """Whether a node lies strictly below another one."""
        return other < node < self.ends[other]

    def estimate(self, own: npt.NDArray[np.int64], node: int, top: int = HIDDEN) -> Fraction:
        """Cells of a node, with its share of those that show a node above it, up to ``top``.

        On the way down from ``top`` a node receives what its parent holds in proportion to the aggregated counts of the
        children; children without any cell share equally (Zhang and Honavar 2003). ``own`` are the cells that show
        exactly each node.
        """
        way = [node]
        while way[-1] != top:
            way.append(self.parents[way[-1]])
        cells = own.tolist()
        held, of = sum(cells[top : self.ends[top]]), 1
        for child in reversed(way[:-1]):
            parent = self.parents[child]
            below = sum(cells[parent + 1 : self.ends[parent]])
            held *= sum(cells[child : self.ends[child]]) if below else 1
            of *= below or self.parents.count(parent)
        return Fraction(held, of)

    def leaf_weights(self, own: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Nodes x leaves: how a cell that shows a node is shared out among the values below it; the root has none."""
        weights = np.zeros((len(self), len(self.leaves)))
        for place, leaf in enumerate(self.leaves):
            node = leaf
            while node > 0:
                if whole := self.estimate(own, node, node):
                    weights[node, place] = float(self.estimate(own, leaf, node) / whole)
                node = self.parents[node]
        return weights


def _codes(nodes: Sequence[int]) -> npt.NDArray[np.int32]:
    return np.array([*nodes, HIDDEN], np.int32)


def _check_gap(column: EncodedColumn, hierarchy: Hierarchy, nodes: Sequence[int]) -> None:
    gap = np.array([node < 0 for node in nodes], bool)
    if gap.any():
        rows = int(column.counts[:-1][gap].sum())
        raise ValuesError(
            f"Hierarchy {hierarchy.name!r} has a gap: {int(gap.sum())} of {len(nodes)} distinct values of column "
            f"{column.name!r} ({rows} rows) have no leaf. Add them to the hierarchy."
        )
