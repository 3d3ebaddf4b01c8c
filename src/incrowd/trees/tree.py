"""The one shape of a decision tree: flat, frozen, univariate.

Nodes refer to each other by number; node 0 is the root and a child always has a higher number than its
parent. Nothing here recurses, so a tree may be thousands of levels deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from incrowd.vocabulary.predicate import Predicate

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

    def paths(self) -> Iterator[tuple[int, tuple[Predicate, ...]]]:
        """Every leaf with the predicates that lead to it."""
        for leaf in self.leaves:
            yield leaf, self.path_to(leaf)

    def preorder(self) -> Iterator[int]:
        """Node numbers, each parent before its children, branches in their order."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            yield number
            waiting.extend(branch.child for branch in reversed(self.nodes[number].branches))
