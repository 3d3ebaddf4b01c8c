"""Pessimistic pruning: Quinlan's figures, replacement and raising."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.trees.c45 import C45
from incrowd.trees.pruning import added_errors, estimated_errors, splits_to_keep
from incrowd.trees.sklearn_tree import recount
from incrowd.trees.tree import Branch, Gt, Le, Node


@pytest.mark.parametrize(("rows", "bound"), [(6, 0.206), (9, 0.143), (1, 0.750)])
def test_bound_without_errors_as_printed_by_quinlan(rows, bound):
    assert added_errors(rows, 0, 0.25) / rows == pytest.approx(bound, abs=5e-4)


def test_bound_between_and_beyond():
    none, one = added_errors(10, 0, 0.25), added_errors(10, 1, 0.25)
    assert added_errors(10, 0.5, 0.25) == pytest.approx((none + one) / 2)
    assert added_errors(10, 9.8, 0.25) == pytest.approx(0.2)
    assert added_errors(1, 1, 0.25) == 0
    assert estimated_errors(Node(None, (), (0, 0)), (), 0.25) == 0
    assert added_errors(100, 10, 0.1) > added_errors(100, 10, 0.25) > added_errors(100, 10, 0.5)


def test_quinlans_vote_is_replaced_by_a_leaf():
    """Quinlan 1993, figure 4.2: three leaves of 6, 9 and 1 rows promise 3.273 errors, one leaf 2.512."""
    leaves = [Node(None, (), counts) for counts in ((6, 0), (9, 0), (0, 1))]
    assert sum(estimated_errors(leaf, (), 0.25) for leaf in leaves) == pytest.approx(3.273, abs=2e-3)
    counts = np.array([(15, 1), *(leaf.counts for leaf in leaves)], float)
    assert not splits_to_keep(counts, np.array([-1, 0, 0, 0]), 0.25).any()


def test_a_useful_split_stays_and_rows_that_rest_are_counted():
    branches = (Branch(Le("n", 0), 1), Branch(Gt("n", 0), 2))
    good = (Node("n", branches, (50, 50)), Node(None, (), (50, 0)), Node(None, (), (0, 50)))
    counts = np.array([node.counts for node in good], float)
    assert splits_to_keep(counts, np.array([-1, 0, 0]), 0.25).tolist() == [True, False, False]
    resting = Node("n", branches, (100, 52))
    children = (Node(None, (), (1, 0)), Node(None, (), (0, 2)))
    assert estimated_errors(resting, children, 0.25) == pytest.approx(50 + added_errors(149, 50, 0.25))
    assert estimated_errors(good[0], good[1:], 0.25) == 0


def noisy(make_table, seed, rows=60):
    rng = np.random.default_rng(seed)
    a, b, c = (rng.integers(0, 3, rows) for _ in range(3))
    ill = ((a > 0) & (b > 0)) ^ (rng.random(rows) < 0.15)
    gone = rng.random(rows) < 0.1
    return make_table(
        a=[None if skip else str(x) for x, skip in zip(a, gone, strict=True)],
        b=b.tolist(),
        c=[str(x) for x in c],
        ill=["yes" if x else "no" for x in ill],
    )


@pytest.mark.parametrize("policy", ["stop", "branch", "weight"])
def test_raising_replaces_a_node_by_its_largest_branch(make_table, policy):
    raised = 0
    for seed in range(60):
        table = noisy(make_table, seed)
        plain = C45(missing=policy).grow(table, ["a", "b", "c"], "ill")
        tree = C45(missing=policy, raising=True).grow(table, ["a", "b", "c"], "ill")
        raised += tree != plain
        if policy != "weight":
            assert recount(tree, table) == tree
        else:
            assert tree.nodes[0].size == pytest.approx(60)
    assert raised > 0
