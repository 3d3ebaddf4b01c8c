"""The one shape of a decision tree: flat, frozen, univariate; its check, and its JSON.

Nodes refer to each other by number; node 0 is the root and a child always has a higher number than its
parent. Nothing here recurses, so a tree may be thousands of levels deep.

A predicate is a condition on one attribute: a value, never a string to evaluate. Numbers are compared with numbers (a
date by its days since 1970-01-01), all else as text. A missing value satisfies :class:`Missing` and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from typing import Any, Protocol, runtime_checkable

from incrowd.errors import PlanError, SchemaError
from incrowd.vocabulary.encoded_table import EncodedTable


@dataclass(frozen=True)
class Eq:
    """The attribute has exactly this value."""

    attribute: str
    value: str | int | float


@dataclass(frozen=True)
class In:
    """The attribute has one of these values."""

    attribute: str
    values: frozenset[str | int | float]


@dataclass(frozen=True)
class Le:
    """The attribute is at most the threshold."""

    attribute: str
    threshold: float


@dataclass(frozen=True)
class Gt:
    """The attribute is above the threshold."""

    attribute: str
    threshold: float


@dataclass(frozen=True)
class Missing:
    """The attribute is missing."""

    attribute: str


Predicate = Eq | In | Le | Gt | Missing


def one_of(attribute: str, values: Collection[str | int | float]) -> Predicate:
    """The test for some values."""
    return Eq(attribute, next(iter(values))) if len(values) == 1 else In(attribute, frozenset(values))


def named_values(predicate: Predicate) -> frozenset[str | int | float]:
    """The single values that a predicate names."""
    if isinstance(predicate, Eq):
        return frozenset({predicate.value})
    return predicate.values if isinstance(predicate, In) else frozenset()


def predicate_to_json(predicate: Predicate) -> dict[str, Any]:
    """A predicate as plain data, such as ``{'is': 'le', 'attribute': 'age', 'threshold': 30.5}``."""
    data = {"is": type(predicate).__name__.lower(), **vars(predicate)}
    if isinstance(predicate, In):
        data["values"] = sorted(predicate.values, key=lambda value: (isinstance(value, str), value))
    return data


def predicate_from_json(data: dict[str, Any]) -> Predicate:
    """The predicate that :func:`predicate_to_json` wrote."""
    match data:
        case {"is": "eq", "attribute": attribute, "value": value}:
            return Eq(attribute, value)
        case {"is": "in", "attribute": attribute, "values": values}:
            return In(attribute, frozenset(values))
        case {"is": "le", "attribute": attribute, "threshold": threshold}:
            return Le(attribute, threshold)
        case {"is": "gt", "attribute": attribute, "threshold": threshold}:
            return Gt(attribute, threshold)
        case {"is": "missing", "attribute": attribute}:
            return Missing(attribute)
        case _:
            raise PlanError("A condition in this file has an unknown form; was it written by a newer incrowd?")


ClassValue = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Branch:
    """One way out of a node: rows that satisfy the predicate go to the child."""

    predicate: Predicate
    child: int


@dataclass(frozen=True, slots=True)
class Node:
    """A leaf (no attribute, no branches), or a test of one attribute.

    ``counts`` is the class histogram of the training rows that arrive here, those that stay included.
    The counts are floats only where rows carry fractional weights.
    """

    attribute: str | None
    branches: tuple[Branch, ...]
    counts: tuple[float, ...]

    @property
    def is_leaf(self) -> bool:
        """True for a node without branches."""
        return not self.branches

    @property
    def size(self) -> float:
        """Number of training rows that arrive here."""
        return sum(self.counts)


@dataclass(frozen=True)
class Tree:
    """A decision tree."""

    nodes: tuple[Node, ...]  # node 0 is the root; children come after their parents
    target: str  # name of the class column
    # The class values, in the order of the counts. ``None`` is the class of rows whose class is missing.
    classes: tuple[ClassValue, ...]
    # True if a row with a missing tested value belongs to all branches in part (C4.5). Otherwise such a row takes the
    # branch of missing values, or rests at the node.
    fractional: bool = False

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The parent of each node; -1 for the root."""
        parents = [-1] * len(self.nodes)
        for number, node in enumerate(self.nodes):
            for branch in node.branches:
                parents[branch.child] = number
        return tuple(parents)

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """Number of tests on the way to each node."""
        depths = [0] * len(self.nodes)
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                depths[number] = depths[parent] + 1
        return tuple(depths)

    @property
    def depth(self) -> int:
        """Number of tests on the longest path."""
        return max(self.depths)

    @cached_property
    def leaves(self) -> tuple[int, ...]:
        """The nodes without branches, ascending."""
        return tuple(number for number, node in enumerate(self.nodes) if node.is_leaf)

    @cached_property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are tested somewhere, by first appearance."""
        return tuple(dict.fromkeys(node.attribute for node in self.nodes if node.attribute is not None))

    def path_to(self, node: int) -> tuple[Predicate, ...]:
        """The predicates from the root to a node."""
        path: list[Predicate] = []
        while (parent := self.parents[node]) >= 0:
            path.append(next(branch.predicate for branch in self.nodes[parent].branches if branch.child == node))
            node = parent
        return tuple(reversed(path))

    def preorder(self) -> Iterator[int]:
        """Node numbers, each parent before its children, branches in their order."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            yield number
            waiting.extend(branch.child for branch in reversed(self.nodes[number].branches))


# The narrow door for any tree inducer, and the check of what comes through it.
@runtime_checkable
class Inducer(Protocol):
    """Anything that grows a univariate classification tree from a table.

    A tree of another library is brought into shape by building :class:`incrowd.trees.tree.Node` objects.
    """

    def grow(self, table: EncodedTable, attributes: Sequence[str], target: str) -> Tree:
        """A tree that tests only the given attributes."""


def check_tree(tree: Tree, attributes: Collection[str]) -> None:
    """Refuse a tree that could send a row nowhere, or to two places, or tests what it may not see."""
    if not tree.nodes:
        raise PlanError("The tree has no nodes.")
    classes = len(tree.classes)
    for number, node in enumerate(tree.nodes):
        if len(node.counts) != classes or not all(_is_number(count) and count >= 0 for count in node.counts):
            raise PlanError(f"Node {number} of the tree needs one count of at least 0 for each of {classes} classes.")
        _check_test(node, number)
        if node.attribute is not None and node.attribute not in attributes:
            raise SchemaError(
                f"Node {number} of the tree tests {node.attribute!r}, which it may not use."
                f" It may use: {', '.join(attributes)}."
            )
    _check_parents(tree)


def _check_test(node: Node, number: int) -> None:
    """A leaf tests nothing; a test reads one attribute, by sound predicates that exclude each other."""
    if (node.attribute is None) != node.is_leaf:
        raise PlanError(f"Node {number} of the tree is neither a leaf nor a test: it has one without the other.")
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
    values = [value for predicate in predicates for value in named_values(predicate)]
    upper = [predicate.threshold for predicate in predicates if isinstance(predicate, Le)]
    lower = [predicate.threshold for predicate in predicates if isinstance(predicate, Gt)]
    gone = sum(isinstance(predicate, Missing) for predicate in predicates)
    if len(set(values)) < len(values) or max(len(upper), len(lower), gone) > 1:
        return True
    below, above = max(upper, default=-inf), min(lower, default=inf)
    return below > above or any(not isinstance(value, str) and (value <= below or value > above) for value in values)


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
        case {"if": dict(condition), "go": int(child)} if _has_plain_values(condition):
            return Branch(predicate_from_json(condition), child)
    raise PlanError(f"A branch of node {number} of this tree is malformed.")


def _has_plain_values(condition: dict[str, Any]) -> bool:
    values = condition.get("values", [condition.get("value", "")])
    return isinstance(values, list) and all(isinstance(value, str | int | float) for value in values)
