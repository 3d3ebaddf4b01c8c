"""Trees as JSON: what is written comes back, anything else is refused."""

from __future__ import annotations

import copy
import json

import pytest

from incrowd.errors import PlanError
from incrowd.trees.tree import Branch, Eq, Gt, In, Le, Missing, Node, Tree, tree_from_json, tree_to_json


@pytest.fixture
def tree():
    return Tree(
        (
            Node("n", (Branch(Le("n", 2**62), 1), Branch(Gt("n", 2**62), 2), Branch(Missing("n"), 3)), (2, 2.5)),
            Node(None, (), (1, 0)),
            Node("city", (Branch(Eq("city", "A"), 4), Branch(In("city", frozenset({"B", "Ü"})), 5)), (1, 1)),
            Node(None, (), (0, 0.5)),
            Node(None, (), (1, 0)),
            Node(None, (), (0, 1)),
        ),
        "ill",
        (True, None),
        fractional=True,
    )


def test_round_trip(tree):
    back = tree_from_json(json.loads(json.dumps(tree_to_json(tree))))
    assert back == tree
    assert isinstance(back.nodes[0].branches[0].predicate.threshold, int)


def change(path, value):
    def apply(data):
        *way, last = path
        for step in way:
            data = data[step]
        if value is KeyError:
            del data[last]
        else:
            data[last] = value

    return apply


BROKEN = {
    "other format": change(["format"], "oak"),
    "newer version": change(["version"], 2),
    "no version": change(["version"], None),
    "no target": change(["target"], KeyError),
    "odd classes": change(["classes"], [[], {}]),
    "class lost": change(["classes"], ["no"]),
    "no nodes": change(["nodes"], []),
    "nodes of another kind": change(["nodes", 1], 7),
    "negative count": change(["nodes", 1, "counts"], [-1, 0]),
    "text count": change(["nodes", 1, "counts"], ["1", 0]),
    "not a number": change(["nodes", 1, "counts"], [float("nan"), 0]),
    "unknown key": change(["nodes", 1, "colour"], "red"),
    "test without branches": change(["nodes", 0, "branches"], []),
    "branch to itself": change(["nodes", 0, "branches", 0, "go"], 0),
    "branch beyond the end": change(["nodes", 0, "branches", 0, "go"], 99),
    "two parents": change(["nodes", 0, "branches", 0, "go"], 2),
    "text child": change(["nodes", 0, "branches", 0, "go"], "1"),
    "unknown condition": change(["nodes", 0, "branches", 0, "if", "is"], "like"),
    "two attributes": change(["nodes", 0, "branches", 0, "if", "attribute"], "m"),
    "endless threshold": change(["nodes", 0, "branches", 0, "if", "threshold"], float("inf")),
    "text threshold": change(["nodes", 0, "branches", 0, "if", "threshold"], "3"),
    "overlap": change(["nodes", 0, "branches", 1, "if", "threshold"], 5),
    "list as value": change(["nodes", 2, "branches", 0, "if", "value"], ["A"]),
    "text as values": change(["nodes", 2, "branches", 1, "if", "values"], "B"),
    "nested values": change(["nodes", 2, "branches", 1, "if", "values"], [["B"]]),
    "same value twice": change(["nodes", 2, "branches", 1, "if", "values"], ["A"]),
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN.keys())
def test_malformed_trees_are_refused(tree, broken):
    data = copy.deepcopy(json.loads(json.dumps(tree_to_json(tree))))
    broken(data)
    with pytest.raises(PlanError):
        tree_from_json(data)


@pytest.mark.parametrize("data", [None, [], "tree", {}, 3])
def test_other_data_is_refused(data):
    with pytest.raises(PlanError, match="not a tree"):
        tree_from_json(data)
