"""What a tree says about rows: class shares and the most likely class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.trees.ranges import Ranges, code_ranges
from incrowd.trees.routing import follow
from incrowd.trees.tree import Tree
from incrowd.trees.weighted import RowPart, share_out
from incrowd.vocabulary.encoded_table import EncodedTable

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
    """The most likely class of each row, as a place in ``tree.classes``; ties go to the earlier class.

    Examples
    --------
    >>> from incrowd.trees.tree import Node
    >>> predict(Tree((Node(None, (), (2, 3)),), "ill", ("no", "yes")), EncodedTable({}, 2)).tolist()
    [1, 1]
    """
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
