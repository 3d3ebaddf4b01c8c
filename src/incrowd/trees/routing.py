"""Where each row of a table comes to rest in a tree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import THREADS, compiled
from incrowd.trees.ranges import Ranges, code_ranges
from incrowd.trees.tree import Tree
from incrowd.trees.weighted import RowPart, share_out
from incrowd.vocabulary.encoded_table import EncodedTable

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
        descend(
            codes[: hi - lo],
            ranges.column,
            ranges.dense,
            ranges.begin,
            ranges.start,
            ranges.child,
            rest[lo:hi],
        )


# The routing kernel: follows each row from the root to the node where it rests.
Ints = npt.NDArray[np.int32]


@compiled
def descend(
    codes: Ints, column: Ints, dense: npt.NDArray[np.bool_], begin: Ints, start: Ints, child: Ints, rest: Ints
) -> None:
    """Write the resting node of each row; the arrays are those of :class:`incrowd.trees.ranges.Ranges`."""
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
