"""The tests of a tree as ranges of codes of one table.

Whatever the mix of predicates, a node sends ranges of a column's codes to its children. A table that the tree
was not grown on has other dictionaries; values the tree never saw fall into no range, or between thresholds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.predicate import Eq, Gt, In, Le, Missing, Predicate

STAY = -1
DENSE = 256  # codes of a column for which each code is looked up, not searched for

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of codes, node after node, and the columns of a table they are about.

    The ranges of node ``i`` are ``begin[i]`` to ``begin[i + 1]``; each starts at the code ``start`` and sends
    its rows to ``child``, or leaves them at the node. Where ``dense``, there is a range for every code.
    """

    columns: tuple[EncodedColumn, ...]
    column: Ints  # of each node; -1 for a leaf
    dense: npt.NDArray[np.bool_]
    begin: Ints
    start: Ints
    child: Ints

    def children(self, node: int, rows: npt.NDArray[np.intp]) -> Ints:
        """The child each row goes to from a node, or ``STAY``."""
        lo, hi = self.begin[node], self.begin[node + 1]
        codes = self.columns[self.column[node]].codes[rows]
        children: Ints = self.child[lo:hi][np.searchsorted(self.start[lo:hi], codes, side="right") - 1]
        return children

    def missing(self, node: int, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Which rows have no value for the test of a node."""
        column = self.columns[self.column[node]]
        return np.asarray(column.codes[rows] == column.missing_code)


def code_ranges(tree: Tree, table: EncodedTable) -> Ranges:
    """Translate the tests of a tree to the codes of a table.

    The blocks of a table have the same dictionaries, so the last translations are kept.
    """
    columns = tuple(table[name] for name in tree.attributes)
    for known, ranges in tuple(_KNOWN):
        if known is tree and all(map(_same_codes, ranges.columns, columns)):
            return replace(ranges, columns=columns)
    ranges = _translated(tree, table)
    empty = tuple(EncodedColumn(c.name, c.type, c.codes[:0].copy(), c.dictionary) for c in columns)
    _KNOWN.append((tree, replace(ranges, columns=empty)))
    return ranges


def _same_codes(one: EncodedColumn, other: EncodedColumn) -> bool:
    """Whether two columns give the same codes to the same values."""
    same = one.dictionary is other.dictionary or one.dictionary.equals(other.dictionary)
    return one.type is other.type and same


def _translated(tree: Tree, table: EncodedTable) -> Ranges:
    columns = {name: _Column(table[name]) for name in tree.attributes}
    slots = {name: slot for slot, name in enumerate(columns)}
    begin, starts, children = [0], list[int](), list[int]()
    dense, slot_of = [], []
    for node in tree.nodes:
        is_dense = False
        if node.attribute is not None:
            column = columns[node.attribute]
            ranges = _node_ranges(node, column)
            is_dense = len(ranges) > 3 and column.encoded.width <= DENSE
            if is_dense:
                ranges = list(_every_code(ranges, column.encoded.width))
            starts.extend(start for start, _ in ranges)
            children.extend(child for _, child in ranges)
        slot_of.append(-1 if node.attribute is None else slots[node.attribute])
        dense.append(is_dense)
        begin.append(len(starts))
    arrays = (np.array(values, np.int32) for values in (begin, starts, children))
    encoded = tuple(column.encoded for column in columns.values())
    return Ranges(encoded, np.array(slot_of, np.int32), np.array(dense, np.bool_), *arrays)


_KNOWN: deque[tuple[Tree, Ranges]] = deque(maxlen=4)


@dataclass(eq=False)
class _Column:
    """A column with its dictionary as Python values, made once."""

    encoded: EncodedColumn

    @cached_property
    def values(self) -> list[str | int | float]:
        column = self.encoded
        return column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()

    @cached_property
    def code_of(self) -> dict[str | int | float, int]:
        return {value: code for code, value in enumerate(self.values)}

    def spans(self, predicate: Predicate) -> list[tuple[int, int]]:
        """The codes that satisfy a predicate, as half-open ranges."""
        width = self.encoded.width
        match predicate:
            case Missing():
                return [(width - 1, width)]
            case Eq():
                return [(code, code + 1) for code in self._codes(frozenset({predicate.value}))]
            case In():
                return [(code, code + 1) for code in self._codes(predicate.values)]
            case Le():
                return [(0, self._cut(predicate))]
            case Gt():
                return [(self._cut(predicate), width - 1)]

    def _codes(self, values: frozenset[str | int | float]) -> list[int]:
        return [self.code_of[value] for value in values if value in self.code_of]

    def _cut(self, predicate: Le | Gt) -> int:
        """Number of dictionary values up to the threshold; whole numbers are compared exactly."""
        if not self.encoded.type.is_numeric:
            raise PlanError(
                f"The tree compares column {self.encoded.name!r} with a number, but its type is"
                f" {self.encoded.type}. Give the column the type it had when the tree was grown."
            )
        return bisect_right(self.values, predicate.threshold)


def _node_ranges(node: Node, column: _Column) -> list[tuple[int, int]]:
    """Where the ranges of a node start, and the child of each."""
    spans = sorted(
        (lo, hi, branch.child) for branch in node.branches for lo, hi in column.spans(branch.predicate) if lo < hi
    )
    ranges: list[tuple[int, int]] = []
    covered = 0
    for lo, hi, child in spans:
        if lo < covered:
            raise PlanError(f"A test of column {node.attribute!r} has branches that overlap.")
        if lo > covered:
            _extend(ranges, covered, STAY)
        _extend(ranges, lo, child)
        covered = hi
    if covered < column.encoded.width:
        _extend(ranges, covered, STAY)
    return ranges


def _extend(ranges: list[tuple[int, int]], start: int, child: int) -> None:
    """Add a range, unless it only continues the last one."""
    if not ranges or ranges[-1][1] != child:
        ranges.append((start, child))


def _every_code(ranges: list[tuple[int, int]], width: int) -> Iterator[tuple[int, int]]:
    """One range for every code."""
    ends = [start for start, _ in ranges[1:]] + [width]
    for (start, child), end in zip(ranges, ends, strict=True):
        for code in range(start, end):
            yield code, child
