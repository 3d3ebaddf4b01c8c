"""The narrow door for any tree inducer, and the check of what comes through it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf, isfinite
from typing import Any, Protocol, runtime_checkable

from incrowd.errors import PlanError, SchemaError
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.predicate import Eq, Gt, In, Le, Missing, Predicate, predicate_from_json, predicate_to_json


@runtime_checkable
class Inducer(Protocol):
    """Anything that grows a univariate classification tree from a table.

    A tree of another library is brought into shape by building :class:`incrowd.trees.tree.Node` objects.
    """

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """A tree that tests only the given attributes."""
        ...


def check_tree(tree: Tree, attributes: Collection[str]) -> None:
    """Refuse a tree that could send a row nowhere, or to two places, or tests what it may not see.

    Raises
    ------
    SchemaError
        If a test reads an attribute that is not among those given.
    PlanError
        If the nodes do not form a tree, a test reads several attributes, or its branches overlap.
    """
    if not tree.nodes:
        raise PlanError("The tree has no nodes.")
    for number, node in enumerate(tree.nodes):
        _check_counts(node, number, len(tree.classes))
        _check_test(node, number)
        if node.attribute is not None and node.attribute not in attributes:
            raise SchemaError(
                f"Node {number} of the tree tests {node.attribute!r}, which it may not use."
                f" It may use: {', '.join(attributes)}."
            )
    _check_parents(tree)


def _check_counts(node: Node, number: int, classes: int) -> None:
    if len(node.counts) != classes or not all(_is_number(count) and count >= 0 for count in node.counts):
        raise PlanError(f"Node {number} of the tree needs one count of at least 0 for each of {classes} classes.")


def _check_test(node: Node, number: int) -> None:
    """A leaf tests nothing; a test reads one attribute, by sound predicates that exclude each other."""
    if (node.attribute is None) != node.is_leaf:
        raise PlanError(f"Node {number} of the tree is neither a leaf nor a test: it has only one of both.")
    predicates = [branch.predicate for branch in node.branches]
    if any(predicate.attribute != node.attribute for predicate in predicates):
        raise PlanError(f"Node {number} of the tree tests more than one attribute; only univariate trees fit.")
    if not all(_is_sound(predicate) for predicate in predicates):
        raise PlanError(f"Node {number} of the tree has a condition with a value of the wrong kind.")
    if _overlap(predicates):
        raise PlanError(f"Node {number} of the tree has branches that overlap; a row must fit one branch only.")


def _check_parents(tree: Tree) -> None:
    """Every node but the root has one parent, which comes before it."""
    parents = [0] * len(tree.nodes)
    for number, node in enumerate(tree.nodes):
        for branch in node.branches:
            if not number < branch.child < len(tree.nodes):
                raise PlanError(f"A branch of node {number} must lead to a later node of the tree.")
            parents[branch.child] += 1
    if any(count != 1 for count in parents[1:]):
        raise PlanError("Every node of the tree but the first must be the child of exactly one node.")


def _is_sound(predicate: Predicate) -> bool:
    match predicate:
        case Eq():
            return _is_value(predicate.value)
        case In():
            return all(map(_is_value, predicate.values))
        case Le() | Gt():
            return _is_number(predicate.threshold)
        case Missing():
            return True


def _is_value(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _overlap(predicates: Sequence[Predicate]) -> bool:
    """Whether some value could satisfy two of the predicates."""
    values = [value for predicate in predicates for value in _values(predicate)]
    upper = [predicate.threshold for predicate in predicates if isinstance(predicate, Le)]
    lower = [predicate.threshold for predicate in predicates if isinstance(predicate, Gt)]
    gone = sum(isinstance(predicate, Missing) for predicate in predicates)
    if len(set(values)) < len(values) or max(len(upper), len(lower), gone) > 1:
        return True
    below, above = max(upper, default=-inf), min(lower, default=inf)
    return below > above or any(not isinstance(value, str) and (value <= below or value > above) for value in values)


def _values(predicate: Predicate) -> frozenset[str | int | float]:
    """The single values a predicate names."""
    match predicate:
        case Eq():
            return frozenset({predicate.value})
        case In():
            return predicate.values
        case _:
            return frozenset()


# A tree as plain data, to be kept in a JSON file.
FORMAT = "incrowd-tree"
VERSION = 1


def tree_to_json(tree: Tree) -> dict[str, Any]:
    """A tree as plain data; :func:`tree_from_json` gives an equal tree back."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "target": tree.target,
        "classes": list(tree.classes),
        "fractional": tree.fractional,
        "nodes": [_node_to_json(node) for node in tree.nodes],
    }


def tree_from_json(data: Any) -> Tree:
    """The tree that :func:`tree_to_json` wrote; anything else is refused with a PlanError."""
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
