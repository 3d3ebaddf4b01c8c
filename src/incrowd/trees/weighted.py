"""Fractional rows: a row whose tested value is missing goes down all branches, its weight shared out.

Each branch receives the share of known rows that take it (Quinlan 1993, 3.2). Parts of a row that weigh
next to nothing are dropped.

Follows rows, whole or in part, through the nodes of a tree. Where the tree is fractional, a row with a missing tested
value takes all branches, its weight shared out in proportion to the rows whose value is known. Otherwise every row
stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.trees.packing import Columns
from incrowd.trees.ranges import STAY, Ranges

Array = npt.NDArray[Any]

NOTHING = 1e-6  # rows: smaller parts of one come from rounding, or from many missing values


def share_missing(parents: Array, splits: Array, children: Array) -> npt.NDArray[np.float64]:
    """Class histograms of all branches once the rows with a missing value are shared out."""
    parent = np.repeat(np.arange(len(splits)), splits[:, 3])
    known = np.zeros_like(parents)
    np.add.at(known, parent, children)
    missing = np.maximum(parents - known, 0.0)
    missing[missing < NOTHING] = 0.0
    share = children.sum(axis=1) / known.sum(axis=1)[parent]
    shared: npt.NDArray[np.float64] = children + share[:, None] * missing[parent]
    return shared


def move_weighted(
    rows: Array,
    weights: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    splits: Array,
    codes: Array,
    counts: Array,
    growing: npt.NDArray[np.bool_],
    columns: Columns,
) -> tuple[Array, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Rows, weights and starts of the children that are to be split.

    ``counts`` are the class histograms of all children, the shares of missing values included; they are in
    proportion to the known rows of each child.
    """
    records = rows.reshape(-1, columns.stride)
    node = np.repeat(np.arange(len(splits)), np.diff(starts))
    attribute = splits[node, 0]
    code = records[np.arange(len(records)), attribute + 1].astype(np.int64)
    missing = (code == columns.width[attribute] - 1) & (attribute >= 0)
    known = ~missing & (attribute >= 0)
    code = np.where(columns.ordered[attribute], code > splits[node, 1], code)
    widest = int(columns.width.max()) + 1
    parent = np.repeat(np.arange(len(splits)), splits[:, 3])
    child = np.searchsorted(parent * widest + codes, node[known] * widest + code[known])

    gone = np.flatnonzero(missing)
    first = np.cumsum(splits[:, 3]) - splits[:, 3]
    copies = splits[node[gone], 3]
    all_children = _ranges(first[node[gone]], copies)
    sizes = counts.sum(axis=1)
    share = (sizes / np.bincount(parent, sizes, len(splits))[parent])[all_children]
    source = np.concatenate([np.flatnonzero(known), np.repeat(gone, copies)])
    weight = np.concatenate([weights[known], np.repeat(weights[gone], copies) * share])
    child = np.concatenate([child, all_children])

    kept = growing[child] & (weight > NOTHING)
    order = np.argsort(child[kept], kind="stable")
    entries = np.bincount(child[kept], minlength=len(codes))[growing]
    starts = np.concatenate([[0], np.cumsum(entries)])
    return records[source[kept][order]].ravel(), weight[kept][order], starts


def _ranges(first: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``first[0], first[0] + 1, ...`` for each range, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - first, lengths)


class RowPart(NamedTuple):
    """Rows at a node, each with its weight there."""

    rows: npt.NDArray[np.intp]
    weights: npt.NDArray[np.float64]

    def chosen(self, mask: npt.NDArray[np.bool_]) -> RowPart:
        """The rows of a mask."""
        return RowPart(self.rows[mask], self.weights[mask])


def share_out(
    ranges: Ranges,
    node: int,
    children: Sequence[int],
    part: RowPart,
    fractional: bool,
    sizes: Sequence[float] | None = None,
) -> tuple[list[RowPart], RowPart]:
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


def _joined(part: RowPart, shared: RowPart, share: float) -> RowPart:
    """A part with its share of other rows; what weighs next to nothing is left out."""
    weights = shared.weights * share
    kept = weights > NOTHING
    return RowPart(np.concatenate([part.rows, shared.rows[kept]]), np.concatenate([part.weights, weights[kept]]))
