"""Pessimistic pruning: a subtree becomes a leaf unless it promises fewer errors (Quinlan 1993, 4.2).

Pruning with subtree raising: a node may take the place of its parent (Quinlan 1993, 4.1). The rows of the replaced
node are distributed over the raised subtree, so this needs the training table and follows its rows. It costs much
more than plain pruning and rarely changes the accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from incrowd.trees.packing import class_places
from incrowd.trees.routing import RowPart, code_ranges, share_out
from incrowd.trees.tree import Branch, Node, Tree
from incrowd.vocabulary.encoded_table import EncodedTable

Floats = npt.NDArray[np.float64]

SLACK = 0.1  # errors: the smaller tree is taken where it promises about as few, as in C4.5 release 8


def splits_to_keep(counts: Floats, parents: npt.NDArray[np.int64], confidence: float) -> npt.NDArray[np.bool_]:
    """Which nodes stay split: those that promise fewer errors than a leaf.

    ``counts``: class histogram of each node; a parent comes before its children. ``parents``: the parent of each node;
    -1 for the root.
    """
    as_leaf = with_bound(counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1), confidence)
    below = np.zeros_like(counts)
    np.add.at(below, parents[1:], counts[1:])
    staying = np.maximum(counts - below, 0)
    right = staying[np.arange(len(counts)), counts.argmax(axis=1)]
    at_node = with_bound(staying.sum(axis=1), staying.sum(axis=1) - right, confidence).tolist()
    inner = np.bincount(parents[1:], minlength=len(counts)) > 0
    kept = inner.tolist()
    leaf_errors, parent_of, errors = as_leaf.tolist(), parents.tolist(), [0.0] * len(counts)
    for number in reversed(range(len(counts))):
        fewest = leaf_errors[number]
        if kept[number]:
            as_is = at_node[number] + errors[number]
            kept[number] = fewest > as_is + SLACK
            fewest = as_is if kept[number] else fewest
        errors[parent_of[number]] += fewest
    return np.array(kept, np.bool_)


def estimated_errors(node: Node, children: Sequence[Node], confidence: float) -> float:
    """Errors of the majority class among the rows that stay at a node, with the upper confidence bound added."""
    moved = [sum(child.counts[label] for child in children) for label in range(len(node.counts))]
    staying = [max(0.0, count - gone) for count, gone in zip(node.counts, moved, strict=True)]
    majority = max(range(len(staying)), key=node.counts.__getitem__)
    return float(with_bound(sum(staying), sum(staying) - staying[majority], confidence))


def with_bound(rows: npt.ArrayLike, errors: npt.ArrayLike, confidence: float) -> Floats:
    """Errors with the upper confidence bound added; none where there are no rows."""
    rows, errors = np.asarray(rows, np.float64), np.asarray(errors, np.float64)
    return np.where(rows > 0, errors + added_errors(np.maximum(rows, 1e-9), errors, confidence), 0.0)


def added_errors(rows: npt.ArrayLike, errors: npt.ArrayLike, confidence: float) -> Floats:
    """What the upper confidence bound of a binomial error adds to the errors seen.

    As in C4.5 and Weka: exact for no error, the normal approximation from one error on (with continuity
    correction), a line in between.
    """
    rows, errors = np.asarray(rows, np.float64), np.asarray(errors, np.float64)
    none = rows * (1 - np.exp(np.log(confidence) / rows))
    between = none + errors * (_normal_bound(rows, np.maximum(errors, 1.0), confidence) - none)
    return np.where(errors < 1, between, _normal_bound(rows, errors, confidence))


def _normal_bound(rows: Floats, errors: Floats, confidence: float) -> Floats:
    """The normal approximation, from one error on."""
    z = NormalDist().inv_cdf(1 - confidence)
    share = (errors + 0.5) / rows
    spread = np.sqrt(np.maximum(share / rows - share**2 / rows + z**2 / (4 * rows**2), 0))
    bound = (share + z**2 / (2 * rows) + z * spread) / (1 + z**2 / rows) * rows - errors
    return np.where(errors + 0.5 >= rows, np.maximum(rows - errors, 0.0), bound)


def prune_and_raise(tree: Tree, confidence: float, table: EncodedTable) -> Tree:
    """Prune a tree from the bottom; a node becomes a leaf or its largest branch if that is no worse.

    ``table`` is the one the tree was grown on; of a node that is replaced by its largest branch, all rows go there.
    """
    return _Raising(tree, confidence, table).run()


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
        everybody = RowPart(np.arange(height), np.ones(height))
        path = [(0, everybody, self._children(0, everybody))]
        while path:
            node, part, unvisited = path[-1]
            if unvisited:
                child, below = unvisited.pop()
                path.append((child, below, self._children(child, below)))
            elif self._settle(node, part):
                path.pop()
            else:
                path[-1] = (node, part, self._children(node, part))
        return self._reached()

    def _reached(self) -> Tree:
        """The nodes that can still be reached, level by level, numbered anew."""
        reached = [0]
        for number in reached:
            reached.extend(branch.child for branch in self._nodes[number].branches)
        new = {number: place for place, number in enumerate(reached)}
        kept = [
            replace(node, branches=tuple(Branch(branch.predicate, new[branch.child]) for branch in node.branches))
            for node in (self._nodes[number] for number in reached)
        ]
        return replace(self._tree, nodes=tuple(kept))

    def _children(self, node: int, part: RowPart) -> list[tuple[int, RowPart]]:
        """The children of a node with their rows."""
        children = [branch.child for branch in self._nodes[node].branches]
        if not children:
            return []
        parts, _ = share_out(self._ranges, self._test[node], children, part, self._tree.fractional)
        return list(zip(children, parts, strict=True))

    def _settle(self, node: int, part: RowPart) -> bool:
        """Decide about a node whose children are settled; False if it was replaced: visit it again."""
        here = self._nodes[node]
        if here.is_leaf:
            return True
        as_leaf = estimated_errors(here, (), self._confidence)
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
            self._nodes[number] = replace(self._nodes[number], counts=histogram)
        self._nodes[node] = self._nodes[largest]
        self._test[node] = self._test[largest]
        return False

    def _counts_below(self, top: int, part: RowPart) -> dict[int, tuple[float, ...]]:
        """Class histograms of a subtree if these rows arrived at its top."""
        counts = {}
        waiting = [(top, part)]
        while waiting:
            node, part = waiting.pop()
            counts[node] = self._histogram(part)
            waiting.extend(self._children(node, part))
        return counts

    def _histogram(self, part: RowPart) -> tuple[float, ...]:
        """The class histogram of rows; whole numbers unless rows may be in parts."""
        sums = np.bincount(self._labels[part.rows], part.weights, len(self._tree.classes)).tolist()
        return tuple(sums) if self._tree.fractional else tuple(round(total) for total in sums)

    def _errors(self, top: int, counts: dict[int, tuple[float, ...]]) -> float:
        """Estimated errors of a subtree, with its own or other class histograms."""
        total = 0.0
        waiting = [top]
        while waiting:
            node = self._counted(waiting.pop(), counts)
            below = [branch.child for branch in node.branches]
            total += estimated_errors(node, [self._counted(child, counts) for child in below], self._confidence)
            waiting.extend(below)
        return total

    def _counted(self, number: int, counts: dict[int, tuple[float, ...]]) -> Node:
        node = self._nodes[number]
        return Node(node.attribute, node.branches, counts[number]) if number in counts else node
