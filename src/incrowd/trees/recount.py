"""Class counts of a tree whose nodes have none, or those of other rows."""

from __future__ import annotations

import numpy as np

from incrowd.trees.classes import class_places
from incrowd.trees.routing import route
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.encoded_table import EncodedTable


def recount(tree: Tree, table: EncodedTable) -> Tree:
    """The same tree with the class histograms of the rows of a table, each row whole.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.encoded_table import EncodedColumn
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = np.array([0, 1, 1], np.int32)
    >>> ill = EncodedColumn("ill", ColumnType.CATEGORICAL, codes, pl.Series(["no", "yes"]))
    >>> recount(Tree((Node(None, (), (0, 0)),), "ill", ("no", "yes")), EncodedTable.of([ill])).nodes[0].counts
    (1, 2)
    """
    counts = np.zeros((len(tree.nodes), len(tree.classes)), np.int64)
    np.add.at(counts, (route(tree, table), class_places(tree, table)), 1)
    for number in range(len(tree.nodes) - 1, 0, -1):
        counts[tree.parents[number]] += counts[number]
    nodes = (
        Node(node.attribute, node.branches, tuple(histogram))
        for node, histogram in zip(tree.nodes, counts.tolist(), strict=True)
    )
    return Tree(tuple(nodes), tree.target, tree.classes)
