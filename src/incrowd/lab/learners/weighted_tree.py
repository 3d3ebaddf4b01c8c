"""C4.5 on rows that count more or less than one.

The kernel scores and moves weighted rows; only its own start gives every row the weight one. Here the start is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.lab.examples import Numbers
from incrowd.trees.c45 import SIDE_SHARE
from incrowd.trees.kernel import score_nodes, xlogx_table
from incrowd.trees.levels import Grown, without_splits
from incrowd.trees.packing import Training
from incrowd.trees.pruning import splits_to_keep
from incrowd.trees.reading_back import read_back
from incrowd.trees.records import Rules
from incrowd.trees.tree import Tree
from incrowd.trees.weighted import move_weighted, share_missing

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class WeightedC45:
    """Grows pruned trees on the same packed rows again and again, each time with other weights.

    Rows with a missing tested value are shared out over all branches (``missing="weight"`` of
    :class:`incrowd.trees.c45.C45`, which grows the same tree where all weights are one).
    """

    training: Training
    min_branch: int
    confidence: float | None

    def grow(self, weights: Numbers) -> Tree:
        """The tree of the rows whose weight is above 0."""
        rows = np.flatnonzero(weights > 0)
        grown = self._levels(self._records[rows], weights[rows])
        if self.confidence is not None:
            grown = without_splits(grown, splits_to_keep(grown.counts, grown.parents, self.confidence))
        return read_back(grown, self.training, True)

    @property
    def _records(self) -> Array:
        return self.training.rows.reshape(-1, self.training.columns.stride)

    def _levels(self, records: Array, weights: Numbers) -> Grown:
        """All levels from the root down, as :mod:`incrowd.trees.levels` does for rows of weight one."""
        columns, table = self.training.columns, xlogx_table()
        rules = Rules(float(self.min_branch), SIDE_SHARE, True, True, False)
        rows, starts = records.ravel(), np.array([0, len(records)], np.int64)
        codes: list[Array] = [np.zeros(1, np.int32)]
        counts: list[Array] = [np.bincount(records[:, 0], weights, columns.classes)[None, :]]
        active = np.ones((1, len(columns.width)), np.bool_)
        splits = [_leaves(1)]
        growing = self._worth_splitting(counts[0])
        while growing.any():
            level = counts[-1][growing]
            found, branch_codes, branch_counts = score_nodes(
                rows, weights, starts, level, active, columns, rules, table
            )
            branch_counts = share_missing(level, found, branch_counts)
            splits[-1][growing] = found
            splits.append(_leaves(len(branch_codes)))
            codes.append(branch_codes)
            counts.append(branch_counts)
            growing = self._worth_splitting(branch_counts)
            if growing.any():
                active = active[np.repeat(np.arange(len(found)), found[:, 3])[growing]]
                rows, weights, starts = move_weighted(
                    rows, weights, starts, found, branch_codes, branch_counts, growing, columns
                )
        return Grown(np.concatenate(splits), np.concatenate(codes), np.concatenate(counts))

    def _worth_splitting(self, counts: Array) -> npt.NDArray[np.bool_]:
        if len(self.training.columns.width) == 0:
            return np.zeros(len(counts), np.bool_)
        sizes = counts.sum(axis=1)
        enough: npt.NDArray[np.bool_] = (sizes >= 2 * self.min_branch) & (counts.max(axis=1) < sizes)
        return enough


def _leaves(count: int) -> npt.NDArray[np.int32]:
    splits = np.zeros((count, 4), np.int32)
    splits[:, 0] = -1
    return splits
