"""Prediction: the resting node speaks, or its nearest ancestor with rows."""

from __future__ import annotations

import pytest

from incrowd.trees.c45 import C45
from incrowd.trees.routing import class_shares, predict
from incrowd.trees.tree import Branch, Eq, Node, Tree


def test_resting_rows_and_empty_leaves_speak_with_their_ancestors(make_table):
    inner = Node("b", (Branch(Eq("b", "x"), 2),), (0, 0))
    tree = Tree((Node("a", (Branch(Eq("a", "x"), 1),), (1, 3)), inner, Node(None, (), (0, 0))), "y", ("p", "q"))
    table = make_table(a=["x", "x", "z", None], b=["x", "w", "x", "x"])
    assert class_shares(tree, table).tolist() == [[0.25, 0.75]] * 4
    assert predict(tree, table).tolist() == [1, 1, 1, 1]


def test_ties_go_to_the_earlier_class_and_an_empty_tree_knows_nothing(make_table):
    table = make_table(a=["x"])
    assert predict(Tree((Node(None, (), (2, 2)),), "y", ("p", "q")), table).tolist() == [0]
    assert class_shares(Tree((Node(None, (), (0, 0)),), "y", ("p", "q")), table).tolist() == [[0.5, 0.5]]


def test_fractional_tree_shares_a_missing_value_out(make_table):
    train = make_table(n=[1, 1, 1, 2], ill=["no", "no", "no", "yes"])
    tree = C45(min_branch=1, mdl=False, confidence=None, missing="weight").grow(train, ["n"], "ill")
    shares = class_shares(tree, make_table(n=[1, 2, None]))
    assert shares.tolist() == [[1, 0], [0, 1], [0.75, 0.25]]


def test_a_row_in_too_many_parts_to_follow_speaks_with_its_node(make_table, monkeypatch):
    monkeypatch.setattr("incrowd.trees.levels.NOTHING", 0.6)
    root = Node("a", (Branch(Eq("a", "x"), 1), Branch(Eq("a", "z"), 2)), (3, 1))
    tree = Tree((root, Node(None, (), (2, 0)), Node(None, (), (1, 1))), "y", ("p", "q"), fractional=True)
    assert class_shares(tree, make_table(a=[None, "x"])).tolist() == [[0.75, 0.25], [1, 0]]


def test_training_rows_of_a_full_tree_are_predicted(make_table):
    columns = {"n": list(range(20)), "ill": ["no", "yes", "yes", "no"] * 5}
    table = make_table(**columns)
    tree = C45(min_branch=1, mdl=False, confidence=None).grow(table, ["n"], "ill")
    assert [tree.classes[place] for place in predict(tree, table)] == columns["ill"]
    assert class_shares(tree, table).sum(axis=1) == pytest.approx(1)
