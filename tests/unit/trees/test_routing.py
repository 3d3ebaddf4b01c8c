"""Routing: any mix of branches, other people's tables, large tables."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from incrowd.errors import HeaderError, PlanError
from incrowd.trees.routing import BLOCK, route
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree


def stump(attribute, *predicates):
    root = Node(attribute, tuple(Branch(p, i) for i, p in enumerate(predicates, 1)), (1,))
    return Tree((root, *(Node(None, (), (1,)) for _ in predicates)), "y", ("c",))


def test_numbers_by_a_mix_of_branches(make_table):
    table = make_table(n=[-5, 0, 1, 2, 3, 9, None])
    tree = stump("n", Le("n", 0), Eq("n", 2), In("n", frozenset({1.0, 3})), Gt("n", 8.5), Missing("n"))
    assert route(tree, table).tolist() == [1, 1, 3, 2, 3, 4, 5]


def test_values_no_branch_covers_stay(make_table):
    table = make_table(n=[0, 4, 9, None], city=["A", "Z", None, "B"])
    assert route(stump("n", Le("n", 3), Gt("n", 5)), table).tolist() == [1, 0, 2, 0]
    assert route(stump("city", Eq("city", "A"), Eq("city", "B")), table).tolist() == [1, 0, 0, 2]
    assert route(stump("city", In("city", frozenset({1, 2}))), table).tolist() == [0, 0, 0, 0]


def test_thresholds_between_around_and_beyond_the_values(make_table):
    table = make_table(n=[1, 2, 3], x=[0.1, 0.2, 0.3])
    for threshold, expected in [(-1e300, [2, 2, 2]), (1.5, [1, 2, 2]), (2, [1, 1, 2]), (1e300, [1, 1, 1])]:
        assert route(stump("n", Le("n", threshold), Gt("n", threshold)), table).tolist() == expected
    assert route(stump("x", Le("x", 0.2), Gt("x", 0.2)), table).tolist() == [1, 1, 2]
    assert route(stump("n", Le("n", 10**30), Gt("n", 10**30)), table).tolist() == [1, 1, 1]


def test_dates_are_compared_by_their_days(make_table):
    table = make_table(day=[date(1969, 12, 31), date(1970, 1, 3)])
    assert route(stump("day", Le("day", 0), Gt("day", 0)), table).tolist() == [1, 2]


def test_many_values_and_wide_columns(make_table):
    words = [f"w{i:04d}" for i in range(1000)]
    table = make_table(word=words, few=[str(i % 9) for i in range(1000)])
    wide = stump("word", *(Eq("word", word) for word in words[::3]))
    expected = [i // 3 + 1 if i % 3 == 0 else 0 for i in range(1000)]
    assert route(wide, table).tolist() == expected
    dense = stump("few", *(Eq("few", str(i)) for i in (8, 1, 5)))
    assert route(dense, table).tolist() == [{8: 1, 1: 2, 5: 3}.get(i % 9, 0) for i in range(1000)]


def test_large_tables_are_routed_in_blocks(make_table):
    rows = 5 * BLOCK + 17
    numbers = np.random.default_rng(1).integers(0, 100, rows)
    table = make_table(n=numbers.tolist())
    tree = stump("n", Le("n", 30), Gt("n", 30))
    assert np.array_equal(route(tree, table), np.where(numbers <= 30, 1, 2))


def test_a_leaf_and_an_empty_table(make_table):
    table = make_table(n=[1, 2])
    leaf = Tree((Node(None, (), (2,)),), "y", ("c",))
    assert route(leaf, table).tolist() == [0, 0]
    assert route(stump("n", Le("n", 1), Gt("n", 1)), table.take(np.arange(0))).tolist() == []


def test_trees_that_do_not_fit_the_table_are_refused(make_table):
    table = make_table(city=["A", "B"])
    with pytest.raises(HeaderError, match="no column 'age'"):
        route(stump("age", Le("age", 1), Gt("age", 1)), table)
    with pytest.raises(PlanError, match="compares column 'city' with a number"):
        route(stump("city", Le("city", 1), Gt("city", 1)), table)
    with pytest.raises(PlanError, match="overlap"):
        route(stump("city", Eq("city", "A"), In("city", frozenset({"A", "B"}))), table)
