"""Where each row of a table comes to rest in a tree, and what the tree says of it.

Whatever the mix of predicates, a node sends ranges of a column's codes to its children. A table that the tree was not
grown on has other dictionaries; values the tree never saw fall into no range, or between thresholds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.trees.compiled import THREADS, compiled
from incrowd.trees.tree import Eq, Gt, In, Le, Missing, Node, Predicate, Tree, named_values
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

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
    with _TRANSLATING:
        for known, ranges in _KNOWN:
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
_TRANSLATING = Lock()  # blocks that are asked at the same time wait for one translation


@dataclass(eq=False)
class _Column:
    """A column, and the code of each of its values, made once."""

    encoded: EncodedColumn

    @cached_property
    def code_of(self) -> dict[str | int | float, int]:
        return {value: code for code, value in enumerate(self.encoded.values)}

    def spans(self, predicate: Predicate) -> list[tuple[int, int]]:
        """The codes that satisfy a predicate, as half-open ranges."""
        width = self.encoded.width
        match predicate:
            case Missing():
                return [(width - 1, width)]
            case Eq() | In():
                values = named_values(predicate)
                return [(self.code_of[v], self.code_of[v] + 1) for v in values if v in self.code_of]
            case Le():
                return [(0, self._cut(predicate))]
            case Gt():
                return [(self._cut(predicate), width - 1)]

    def _cut(self, predicate: Le | Gt) -> int:
        """Number of dictionary values up to the threshold; whole numbers are compared exactly."""
        if not self.encoded.type.is_numeric:
            raise PlanError(
                f"The tree compares column {self.encoded.name!r} with a number, but its type is"
                f" {self.encoded.type}. Give the column the type it had when the tree was grown."
            )
        return bisect_right(self.encoded.values, predicate.threshold)


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


BLOCK = 4096  # rows whose codes are put side by side: 16 KB for each attribute, so they stay in the cache


def route(tree: Tree, table: EncodedTable) -> npt.NDArray[np.int32]:
    """The node at which each row rests.

    That is a leaf, or the node whose test the row cannot take: its value is missing and there is no branch
    for missing values, or no branch covers its value. Every row rests somewhere, and always at the same node.
    The table may be another one than the tree was grown on.
    """
    return follow(code_ranges(tree, table), table.height)


def follow(ranges: Ranges, height: int) -> npt.NDArray[np.int32]:
    """The node at which each of ``height`` rows rests."""
    rest = np.zeros(height, np.int32)
    if not ranges.columns:
        return rest
    blocks = range(0, height, BLOCK)
    if len(blocks) < 2 * THREADS:
        _follow_blocks(ranges, blocks, rest)
        return rest
    with ThreadPoolExecutor(THREADS) as pool:
        shares = [blocks[len(blocks) * i // THREADS : len(blocks) * (i + 1) // THREADS] for i in range(THREADS)]
        list(pool.map(lambda share: _follow_blocks(ranges, share, rest), shares))
    return rest


def _follow_blocks(ranges: Ranges, blocks: range, rest: npt.NDArray[np.int32]) -> None:
    """Route some blocks of rows; the codes of a block are put side by side first."""

    codes = np.empty((BLOCK, len(ranges.columns)), np.int32)
    for lo in blocks:
        hi = min(lo + BLOCK, len(rest))
        for slot, column in enumerate(ranges.columns):
            codes[: hi - lo, slot] = column.codes[lo:hi]
        descend(codes[: hi - lo], ranges.column, ranges.dense, ranges.begin, ranges.start, ranges.child, rest[lo:hi])


@compiled
def descend(
    codes: Ints, column: Ints, dense: npt.NDArray[np.bool_], begin: Ints, start: Ints, child: Ints, rest: Ints
) -> None:
    """Write the node where each row rests, followed from the root; the arrays are those of :class:`Ranges`."""
    for row in range(len(rest)):
        node = 0
        while column[node] >= 0:
            code = codes[row, column[node]]
            lo, hi = begin[node], begin[node + 1]
            if dense[node]:
                lo += code
            else:
                while hi - lo > 1:
                    middle = (lo + hi) // 2
                    if start[middle] <= code:
                        lo = middle
                    else:
                        hi = middle
            if child[lo] < 0:
                break
            node = child[lo]
        rest[row] = node


# Rows in parts: where a tree is fractional, a row whose tested value is missing goes down all branches, its weight
# shared out in proportion to the rows whose value is known (Quinlan 1993, 3.2).
NOTHING = 1e-6  # rows: smaller parts of one come from rounding, or from many missing values


class RowPart(NamedTuple):
    """Rows at a node, each with its weight there."""

    rows: npt.NDArray[np.intp]
    weights: npt.NDArray[np.float64]

    def chosen(self, mask: npt.NDArray[np.bool_]) -> RowPart:
        """The rows of a mask."""
        return RowPart(self.rows[mask], self.weights[mask])


def share_out(
    ranges: Ranges,
    node: int,
    children: Sequence[int],
    part: RowPart,
    fractional: bool,
    sizes: Sequence[float] | None = None,
) -> tuple[list[RowPart], RowPart]:
    """The part of each child, and the rows that stay at the node.

    ``sizes`` says in what proportion the rows with a missing value are shared out; by default as the other
    rows of the part.
    """
    taken = ranges.children(node, part.rows)
    parts = [part.chosen(taken == child) for child in children]
    stay = part.chosen(taken == STAY)
    if not fractional:
        return parts, stay
    missing = ranges.missing(node, stay.rows)
    known = np.array([each.weights.sum() for each in parts] if sizes is None else sizes, np.float64)
    if not missing.any() or known.sum() == 0:
        return parts, stay
    shared = stay.chosen(missing)
    shares = known / known.sum()
    parts = [_joined(each, shared, share) for each, share in zip(parts, shares, strict=True)]
    return parts, stay.chosen(~missing)


def _joined(part: RowPart, shared: RowPart, share: float) -> RowPart:
    """A part with its share of other rows; what weighs next to nothing is left out."""
    weights = shared.weights * share
    kept = weights > NOTHING
    return RowPart(np.concatenate([part.rows, shared.rows[kept]]), np.concatenate([part.weights, weights[kept]]))


Shares = npt.NDArray[np.float64]


def class_shares(tree: Tree, table: EncodedTable) -> Shares:
    """The shares of the classes for each row: those of the node where it rests.

    A node without training rows speaks with its nearest ancestor that has some. In a fractional tree a row
    with missing tested values takes all branches, and their shares are added up by weight.

    Returns
    -------
    One row for each row of the table, one column for each of ``tree.classes``.
    """
    ranges = code_ranges(tree, table)
    at_node = node_shares(tree)
    shares = at_node[follow(ranges, table.height)]
    if tree.fractional:
        incomplete = _incomplete(ranges, table.height)
        sums = _shared(tree, ranges, at_node, incomplete)
        totals = sums.sum(axis=1, keepdims=True)
        np.divide(sums, totals, out=sums, where=totals > 0)
        shares[incomplete] = np.where(totals > 0, sums, shares[incomplete])
    return shares


def predict(tree: Tree, table: EncodedTable) -> npt.NDArray[np.int64]:
    """The most likely class of each row, as a place in ``tree.classes``; ties go to the earlier class."""
    return np.asarray(class_shares(tree, table).argmax(axis=1), np.int64)


def node_shares(tree: Tree) -> Shares:
    """Class shares of each node; a node without rows has those of its parent."""
    counts = np.array([node.counts for node in tree.nodes], np.float64)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0)
    for node in np.flatnonzero(totals[:, 0] <= 0).tolist():
        parent = tree.parents[node]
        shares[node] = shares[parent] if parent >= 0 else 1 / max(1, len(tree.classes))
    return np.asarray(shares)


def _incomplete(ranges: Ranges, height: int) -> npt.NDArray[np.intp]:
    """The rows with a missing value in some tested column."""
    missing = np.zeros(height, np.bool_)
    for column in ranges.columns:
        missing |= column.codes == column.missing_code
    return np.flatnonzero(missing)


def _shared(tree: Tree, ranges: Ranges, at_node: Shares, rows: npt.NDArray[np.intp]) -> Shares:
    """Class shares of rows that take several branches, times the weight that was followed to the end."""
    sums = np.zeros((len(rows), len(tree.classes)))
    place = np.zeros(int(rows.max(initial=-1)) + 1, np.intp)
    place[rows] = np.arange(len(rows))
    waiting = [(0, RowPart(rows, np.ones(len(rows))))]
    while waiting:
        number, part = waiting.pop()
        node = tree.nodes[number]
        if not node.is_leaf:
            children = [branch.child for branch in node.branches]
            sizes = [tree.nodes[child].size for child in children]
            parts, part = share_out(ranges, number, children, part, True, sizes)
            waiting.extend(pair for pair in zip(children, parts, strict=True) if len(pair[1].rows))
        np.add.at(sums, place[part.rows], part.weights[:, None] * at_node[number])
    return sums
