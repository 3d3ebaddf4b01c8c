"""A tree as plain data, to be kept in a JSON file."""

from __future__ import annotations

from typing import Any

from incrowd.errors import PlanError
from incrowd.trees.inducer import check_tree
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.predicate import predicate_from_json, predicate_to_json

FORMAT = "incrowd-tree"
VERSION = 1


def tree_to_json(tree: Tree) -> dict[str, Any]:
    """A tree as plain data; :func:`tree_from_json` gives an equal tree back.

    Examples
    --------
    >>> tree_to_json(Tree((Node(None, (), (2, 3)),), "ill", ("no", "yes")))["nodes"]
    [{'counts': [2, 3]}]
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": tree.target,
        "classes": list(tree.classes),
        "fractional": tree.fractional,
        "nodes": [_node_to_json(node) for node in tree.nodes],
    }


def tree_from_json(data: Any) -> Tree:
    """The tree that :func:`tree_to_json` wrote; anything else is refused with a PlanError.

    Examples
    --------
    >>> tree = Tree((Node(None, (), (2, 3)),), "ill", ("no", "yes"))
    >>> tree_from_json(tree_to_json(tree)) == tree
    True
    """
    match data:
        case {"format": form, "version": version} if form == FORMAT and version != VERSION:
            raise PlanError(f"This incrowd reads trees of format version {VERSION}; this one has another.")
        case {
            "format": form,
            "target": str(target),
            "classes": list(classes),
            "fractional": bool(fractional),
            "nodes": list(nodes),
        } if form == FORMAT and all(map(_is_class, classes)):
            read = tuple(_node_from_json(node, number) for number, node in enumerate(nodes))
        case _:
            raise PlanError("This is not a tree written by incrowd, or parts of it are gone.")
    tree = Tree(read, target, tuple(classes), fractional)
    check_tree(tree, tree.attributes)
    return tree


def _is_class(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _node_to_json(node: Node) -> dict[str, Any]:
    if node.is_leaf:
        return {"counts": list(node.counts)}
    branches = [{"if": predicate_to_json(branch.predicate), "go": branch.child} for branch in node.branches]
    return {"attribute": node.attribute, "branches": branches, "counts": list(node.counts)}


def _node_from_json(data: Any, number: int) -> Node:
    match data:
        case {"attribute": str(attribute), "branches": list(branches), "counts": list(counts)}:
            return Node(attribute, tuple(_branch_from_json(branch, number) for branch in branches), tuple(counts))
        case {"counts": list(counts), **rest} if not rest:
            return Node(None, (), tuple(counts))
        case _:
            raise PlanError(f"Node {number} of this tree is neither a leaf nor a test.")


def _branch_from_json(data: Any, number: int) -> Branch:
    match data:
        case {"if": {"values": values}, "go": _} if not _is_list_of_values(values):
            pass
        case {"if": {"value": value}, "go": _} if not isinstance(value, str | int | float):
            pass
        case {"if": dict(condition), "go": int(child)}:
            return Branch(predicate_from_json(condition), child)
    raise PlanError(f"A branch of node {number} of this tree is malformed.")


def _is_list_of_values(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str | int | float) for value in values)
