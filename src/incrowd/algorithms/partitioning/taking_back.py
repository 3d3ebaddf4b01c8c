"""Exact counts for cuts that were found on a sample: what fails is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.judging import Judge
from incrowd.algorithms.partitioning.growing import Cuts
from incrowd.algorithms.partitioning.shapes import KIND, LEAF

Counts = npt.NDArray[np.int64]


def resting_at(cuts: Cuts, owners: Sequence[int], resting: Counts) -> Counts:
    """The evidence of the rows that rest at each node of the cuts, given that of the nodes of the tree."""
    own = np.zeros((len(cuts.nodes), resting.shape[1]), np.int64)
    np.add.at(own, np.asarray(owners), resting)
    return own


def coming_to(cuts: Cuts, own: Counts) -> Counts:
    """The evidence of all rows that come to each node of the cuts, given that of those that rest there."""
    totals = own.copy()
    parents, depths = cuts.parents, np.zeros(len(own), np.int64)
    for node, parent in enumerate(parents.tolist()[1:], start=1):
        depths[node] = depths[parent] + 1
    for depth in range(int(depths.max()), 0, -1):
        there = np.flatnonzero(depths == depth)
        np.add.at(totals, parents[there], totals[there])
    return totals


def take_back(cuts: Cuts, own: Counts, totals: Counts, judge: Judge) -> Cuts:
    """Undo every cut with a part that fails the requirement, and every cut with rows that fit none of its parts.

    With all rows in the sample nothing is undone.
    """
    fails = ~judge.holds(totals) | (totals[:, 0] == 0)
    undone = cuts.is_cut & (own[:, 0] > 0)
    undone[cuts.parents[1:][fails[1:]]] = True
    if not undone.any():
        return cuts
    nodes = cuts.nodes.copy()
    nodes[undone, KIND] = LEAF
    return replace(cuts, nodes=nodes)
