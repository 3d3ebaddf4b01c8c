"""The door for other people's trees."""

from __future__ import annotations

import pytest

from incrowd.errors import PlanError, SchemaError
from incrowd.trees.c45 import C45, ID3
from incrowd.trees.sklearn_tree import SklearnInducer
from incrowd.trees.tree import Branch, Eq, Gt, In, Inducer, Le, Missing, Node, Tree, check_tree


def stump(*predicates, attribute="n", counts=(1,), leaf=None):
    root = Node(attribute, tuple(Branch(p, i) for i, p in enumerate(predicates, 1)), counts)
    return Tree((root, *(leaf or Node(None, (), (1,)) for _ in predicates)), "y", ("c",))


def test_growers_are_inducers():
    assert all(isinstance(grower, Inducer) for grower in (C45(), ID3(), SklearnInducer(None)))
    assert not isinstance(object(), Inducer)


@pytest.mark.parametrize(
    "predicates",
    [
        [Le("n", 1), Gt("n", 1), Missing("n")],
        [Le("n", 1), Gt("n", 5), Eq("n", 3)],
        [Eq("n", "1"), Eq("n", 1), Le("n", 0)],
        [In("n", frozenset({"a", "b"})), Eq("n", "c"), In("n", frozenset())],
    ],
)
def test_branches_that_exclude_each_other_are_accepted(predicates):
    check_tree(stump(*predicates), ["n", "m"])


@pytest.mark.parametrize(
    "predicates",
    [
        [Le("n", 2), Gt("n", 1)],
        [Le("n", 1), Le("n", 2)],
        [Gt("n", 1), Gt("n", 2)],
        [Le("n", 1), Eq("n", 1)],
        [Gt("n", 1), In("n", frozenset({0, 2}))],
        [Eq("n", "a"), In("n", frozenset({"a", "b"}))],
        [Eq("n", 1), Eq("n", 1.0)],
        [Missing("n"), Missing("n")],
        [Le("n", 1), Gt("m", 1)],
        [Le("n", float("nan"))],
        [Gt("n", float("inf"))],
        [Le("n", "1")],
        [Eq("n", None)],
    ],
)
def test_branches_that_do_not_are_refused(predicates):
    with pytest.raises(PlanError):
        check_tree(stump(*predicates), ["n", "m"])


def test_forbidden_attributes_are_refused():
    with pytest.raises(SchemaError, match="tests 'n', which it may not use"):
        check_tree(stump(Le("n", 1)), ["age", "sex"])


LEAF = Node(None, (), (1,))
ROOT = Node("n", (Branch(Le("n", 1), 1),), (1,))


@pytest.mark.parametrize(
    "nodes",
    [
        (),
        (Node("n", (), (1,)),),
        (Node(None, (Branch(Le("n", 1), 1),), (1,)), LEAF),
        (Node(None, (), (1, 2)),),
        (Node(None, (), (-1,)),),
        (ROOT,),
        (ROOT, LEAF, LEAF),
        (ROOT, Node("n", (Branch(Le("n", 1), 1),), (1,))),
        (Node("n", (Branch(Le("n", 1), 1), Branch(Gt("n", 1), 1)), (1,)), LEAF),
    ],
)
def test_nodes_that_form_no_tree_are_refused(nodes):
    with pytest.raises(PlanError):
        check_tree(Tree(nodes, "y", ("c",)), ["n"])
