"""The shape of a tree, and a tree far deeper than Python's recursion."""

from __future__ import annotations

import json

import numpy as np
import pytest

from incrowd.trees.c45 import prune_and_raise, splits_to_keep
from incrowd.trees.draw import to_svg, to_text
from incrowd.trees.routing import predict, route
from incrowd.trees.sklearn_tree import recount
from incrowd.trees.tree import Branch, Gt, Le, Node, Tree, check_tree, tree_from_json, tree_to_json

DEEP = 5000


@pytest.fixture(scope="module")
def chain():
    """A test at each level whose upper side is the next test."""
    nodes = []
    for level in range(DEEP):
        at = 2 * level
        branches = (Branch(Le("n", level), at + 1), Branch(Gt("n", level), at + 2))
        nodes += [Node("n", branches, (1, DEEP - level)), Node(None, (), (level % 2, 1 - level % 2))]
    return Tree((*nodes, Node(None, (), (0, 1))), "ill", ("no", "yes"))


def test_deep_trees_do_not_recurse(chain, make_table):
    table = make_table(n=list(range(DEEP + 1)), ill=["no", "yes"] * (DEEP // 2) + ["yes"])
    assert chain.depth == DEEP
    assert route(chain, table).tolist() == [*range(1, 2 * DEEP, 2), 2 * DEEP]
    assert tree_from_json(json.loads(json.dumps(tree_to_json(chain)))) == chain
    assert len(predict(chain, table)) == DEEP + 1
    assert len(to_text(chain, max_depth=40).splitlines()) == 81
    assert to_svg(chain, max_depth=40).endswith("</svg>\n")
    check_tree(chain, ["n"])
    counted = recount(chain, table)
    assert counted.nodes[0].counts == (DEEP // 2, DEEP // 2 + 1)
    counts = np.array([node.counts for node in counted.nodes], float)
    assert len(splits_to_keep(counts, np.array(counted.parents), 0.25)) == 2 * DEEP + 1
    assert len(chain.path_to(2 * DEEP)) == DEEP


def test_raising_a_deep_tree_does_not_recurse(make_table):
    levels = 1500
    nodes = []
    for level in range(levels):
        at = 2 * level
        branches = (Branch(Le("n", level), at + 1), Branch(Gt("n", level), at + 2))
        nodes += [Node("n", branches, (0, 0)), Node(None, (), (0, 0))]
    tree = Tree((*nodes, Node(None, (), (0, 0))), "ill", ("no", "yes"))
    table = make_table(n=list(range(levels + 1)), ill=["no"] * levels + ["yes"])
    pruned = prune_and_raise(recount(tree, table), 0.25, table)
    assert recount(pruned, table) == pruned


def test_paths_parents_and_leaves(chain):
    assert chain.parents[:4] == (-1, 0, 0, 2)
    assert chain.path_to(0) == ()
    assert chain.path_to(3) == (Gt("n", 0), Le("n", 1))
    assert chain.leaves[:2] == (1, 3)
    assert chain.attributes == ("n",)
    order = list(chain.preorder())
    assert sorted(order) == list(range(len(chain.nodes)))
    assert all(order.index(parent) < order.index(child) for child, parent in enumerate(chain.parents[:50]) if child)


def test_equal_trees_are_equal(chain):
    same = Tree(tuple(chain.nodes), chain.target, chain.classes)
    assert same == chain
    assert same.depth == chain.depth
    assert same == chain
    assert Tree(chain.nodes, "other", chain.classes) != chain
    assert np.unique([hash(same), hash(chain)]).size == 1
