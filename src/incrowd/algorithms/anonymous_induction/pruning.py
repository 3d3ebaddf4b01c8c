"""Pruning that keeps the guarantee: subtrees become leaves, and nothing else.

Replacing a subtree by a leaf merges bins and can only make spans larger. Raising a branch in place of its parent could
put a public test on the path of other rows and make spans smaller: it is not done.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.anonymous_induction.growing import Growing, Growth
from incrowd.algorithms.anonymous_induction.spans import Spans, Territory
from incrowd.trees.pruning import splits_to_keep

CONFIDENCE = 0.25


def kept_splits(nodes: Sequence[Growing]) -> npt.NDArray[np.bool_]:
    """Which nodes stay split: those that promise fewer errors than a leaf would (Quinlan 1993, 4.2)."""
    counts = np.array([node.counts for node in nodes], np.float64)
    return splits_to_keep(counts, np.array([node.parent for node in nodes]), CONFIDENCE)


def reached_nodes(nodes: Sequence[Growing], split: npt.NDArray[np.bool_]) -> list[int]:
    """The nodes that are left, level by level."""
    reached = [0]
    for number in reached:
        if split[number]:
            reached.extend(nodes[number].children)
    return reached


def spans_again(growth: Growth, split: npt.NDArray[np.bool_]) -> tuple[Spans, dict[int, Territory]]:
    """The spans of the tree that has only these splits, and the territory of each node that is left."""
    spans = Spans(growth.training, growth.spans.requirement)
    territories = {0: spans.root()}
    for number in reached_nodes(growth.nodes, split):
        node = growth.nodes[number]
        if split[number] and node.division is not None:
            found = spans.split(territories[number], node.division)
            for child in node.children:
                territory = found[growth.nodes[child].place]
                assert territory is not None
                territories[child] = territory
    return spans, territories
