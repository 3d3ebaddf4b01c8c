"""C4.5 on rows that count more or less than one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from incrowd.compare.examples import Numbers
from incrowd.trees.c45 import SIDE_SHARE, read_back
from incrowd.trees.levels import Limits, grow_levels, without_splits
from incrowd.trees.packing import Rules, Training
from incrowd.trees.pruning import splits_to_keep
from incrowd.trees.tree import Tree


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
        records = self.training.rows.reshape(-1, self.training.columns.stride)[rows].ravel()
        rules = Rules(float(self.min_branch), SIDE_SHARE, True, True, False)
        limits = Limits(2 * self.min_branch, weighted=True)
        grown = grow_levels(records, self.training.columns, rules, limits, 1, weights[rows])
        if self.confidence is not None:
            grown = without_splits(grown, splits_to_keep(grown.counts, grown.parents, self.confidence))
        return read_back(grown, self.training, True)
