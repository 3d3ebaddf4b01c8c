"""Follows rows, whole or in part, through the nodes of a tree.

Where the tree is fractional, a row with a missing tested value takes all branches, its weight shared out in
proportion to the rows whose value is known. Otherwise every row stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.trees.ranges import STAY, Ranges
from incrowd.trees.weighted import NOTHING


class Part(NamedTuple):
    """Rows at a node, each with its weight there."""

    rows: npt.NDArray[np.intp]
    weights: npt.NDArray[np.float64]

    def chosen(self, mask: npt.NDArray[np.bool_]) -> Part:
        """The rows of a mask."""
        return Part(self.rows[mask], self.weights[mask])


def share_out(
    ranges: Ranges,
    node: int,
    children: Sequence[int],
    part: Part,
    fractional: bool,
    sizes: Sequence[float] | None = None,
) -> tuple[list[Part], Part]:
    """The part of each child, and the rows that stay at the node.

    ``sizes`` says in what proportion the rows with a missing value are shared out; by default as the other
    rows of the part.
    """
    taken = ranges.children(node, part.rows)
    parts = [part.chosen(taken == child) for child in children]
    stay = part.chosen(taken == STAY)
    if not fractional:
        return parts, stay
    missing = ranges.missing(node, stay.rows)
    known = np.array([each.weights.sum() for each in parts] if sizes is None else sizes, np.float64)
    if not missing.any() or known.sum() == 0:
        return parts, stay
    shared = stay.chosen(missing)
    shares = known / known.sum()
    parts = [_joined(each, shared, share) for each, share in zip(parts, shares, strict=True)]
    return parts, stay.chosen(~missing)


def _joined(part: Part, shared: Part, share: float) -> Part:
    """A part with its share of other rows; what weighs next to nothing is left out."""
    weights = shared.weights * share
    kept = weights > NOTHING
    return Part(np.concatenate([part.rows, shared.rows[kept]]), np.concatenate([part.weights, weights[kept]]))
