"""Where each row of a table comes to rest in a tree."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import THREADS, compiled
from incrowd.trees.ranges import Ranges, code_ranges
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import EncodedTable

BLOCK = 4096  # rows whose codes are put side by side: 16 KB for each attribute, so they stay in the cache


def route(tree: Tree, table: EncodedTable) -> npt.NDArray[np.int32]:
    """The node at which each row rests.

    That is a leaf, or the node whose test the row cannot take: its value is missing and there is no branch
    for missing values, or no branch covers its value. Every row rests somewhere, and always at the same node.
    The table may be another one than the tree was grown on.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.trees.tree import Branch, Node
    >>> from incrowd.vocabulary.encoded_table import EncodedColumn
    >>> from incrowd.vocabulary.predicate import Eq
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = np.array([0, 1, 2], np.int32)
    >>> sex = EncodedColumn("sex", ColumnType.CATEGORICAL, codes, pl.Series(["f", "m"]))
    >>> tree = Tree((Node("sex", (Branch(Eq("sex", "m"), 1),), (3,)), Node(None, (), (1,))), "ill", ("no",))
    >>> route(tree, EncodedTable.of([sex])).tolist()
    [0, 1, 0]
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
