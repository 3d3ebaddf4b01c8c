"""Pruning with subtree raising: a node may take the place of its parent (Quinlan 1993, 4.1).

The rows of the replaced node are distributed over the raised subtree, so this needs the training table and
follows its rows. It costs much more than plain pruning and rarely changes the accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.trees.classes import class_places
from incrowd.trees.pruning import SLACK, errors_below, estimated_errors, renumbered
from incrowd.trees.ranges import code_ranges
from incrowd.trees.sharing import Part, share_out
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.encoded_table import EncodedTable


def prune_and_raise(tree: Tree, confidence: float, table: EncodedTable) -> Tree:
    """Prune a tree from the bottom; a node becomes a leaf or its largest branch if that is no worse."""
    return _Raising(tree, confidence, table).run()


@dataclass
class _Visit:
    """A node on the way down, with its rows; its children are visited one after the other."""

    node: int
    part: Part
    children: list[tuple[int, Part]]


class _Raising:
    def __init__(self, tree: Tree, confidence: float, table: EncodedTable) -> None:
        self._tree, self._confidence = tree, confidence
        self._nodes = list(tree.nodes)
        self._test = list(range(len(self._nodes)))  # whose test a node has now
        self._ranges = code_ranges(tree, table)
        self._labels = class_places(tree, table)

    def run(self) -> Tree:
        """Visit the nodes bottom-up, those of a raised subtree again."""
        height = len(self._labels)
        path = [self._visit(0, Part(np.arange(height), np.ones(height)))]
        while path:
            visit = path[-1]
            if visit.children:
                path.append(self._visit(*visit.children.pop()))
            elif self._settle(visit.node, visit.part):
                path.pop()
            else:
                path[-1] = self._visit(visit.node, visit.part)
        return renumbered(self._nodes, self._tree)

    def _visit(self, node: int, part: Part) -> _Visit:
        return _Visit(node, part, self._children(node, part))

    def _children(self, node: int, part: Part) -> list[tuple[int, Part]]:
        """The children of a node with their rows."""
        children = [branch.child for branch in self._nodes[node].branches]
        if not children:
            return []
        parts, _ = share_out(self._ranges, self._test[node], children, part, self._tree.fractional)
        return list(zip(children, parts, strict=True))

    def _settle(self, node: int, part: Part) -> bool:
        """Decide about a node whose children are settled; False if it was replaced: visit it again."""
        here = self._nodes[node]
        if here.is_leaf:
            return True
        as_leaf = estimated_errors(here.counts, self._confidence)
        as_is = self._errors(node, {})
        largest = max((branch.child for branch in here.branches), key=lambda child: self._nodes[child].size)
        counts = self._counts_below(largest, part)
        raised = self._errors(largest, counts)
        if as_leaf <= min(as_is, raised) + SLACK:
            self._nodes[node] = Node(None, (), here.counts)
            return True
        if raised > as_is + SLACK:
            return True
        for number, histogram in counts.items():
            old = self._nodes[number]
            self._nodes[number] = Node(old.attribute, old.branches, histogram)
        self._nodes[node] = self._nodes[largest]
        self._test[node] = self._test[largest]
        return False

    def _counts_below(self, top: int, part: Part) -> dict[int, tuple[float, ...]]:
        """Class histograms of a subtree if these rows arrived at its top."""
        counts = {}
        waiting = [(top, part)]
        while waiting:
            node, part = waiting.pop()
            counts[node] = self._histogram(part)
            waiting.extend(self._children(node, part))
        return counts

    def _histogram(self, part: Part) -> tuple[float, ...]:
        """The class histogram of rows; whole numbers unless rows may be in parts."""
        sums = np.bincount(self._labels[part.rows], part.weights, len(self._tree.classes)).tolist()
        return tuple(sums) if self._tree.fractional else tuple(round(total) for total in sums)

    def _errors(self, top: int, counts: dict[int, tuple[float, ...]]) -> float:
        """Estimated errors of a subtree, with its own or other class histograms."""
        total = 0.0
        waiting = [top]
        while waiting:
            number = waiting.pop()
            node = self._counted(number, counts)
            if node.is_leaf:
                total += estimated_errors(node.counts, self._confidence)
                continue
            below = [branch.child for branch in node.branches]
            children = [self._counted(child, counts) for child in below]
            total += errors_below(node, children, self._confidence)
            waiting.extend(below)
        return total

    def _counted(self, number: int, counts: dict[int, tuple[float, ...]]) -> Node:
        node = self._nodes[number]
        return Node(node.attribute, node.branches, counts[number]) if number in counts else node
