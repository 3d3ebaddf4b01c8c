"""Exact counts for cuts that were found on a sample: what fails is taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.partitioning.growing import Cuts, sizes_decide
from incrowd.algorithms.partitioning.shapes import KIND, LEAF
from incrowd.vocabulary.requirement import Requirement

Counts = npt.NDArray[np.int64]


def resting_at(cuts: Cuts, owners: Sequence[int], resting: Counts) -> Counts:
    """The classes of the rows that rest at each node of the cuts, given those that rest at the nodes of the tree."""
    own = np.zeros((len(cuts.nodes), resting.shape[1]), np.int64)
    np.add.at(own, np.asarray(owners), resting)
    return own


def coming_to(cuts: Cuts, own: Counts) -> Counts:
    """The classes of all rows that come to each node of the cuts, given those that rest there."""
    totals = own.copy()
    parents, depths = cuts.parents, np.zeros(len(own), np.int64)
    for node, parent in enumerate(parents.tolist()[1:], start=1):
        depths[node] = depths[parent] + 1
    for depth in range(int(depths.max()), 0, -1):
        there = np.flatnonzero(depths == depth)
        np.add.at(totals, parents[there], totals[there])
    return totals


def take_back(cuts: Cuts, own: Counts, totals: Counts, requirement: Requirement) -> Cuts:
    """Undo every cut with a part that fails the requirement, and every cut with rows that fit none of its parts.

    With all rows in the sample nothing is undone.
    """
    if sizes_decide(requirement):
        fails = totals.sum(axis=1) < requirement.smallest_group
    else:
        fails = np.array([not requirement.holds(histogram) for histogram in totals])
    undone = cuts.is_cut & (own.sum(axis=1) > 0)
    undone[cuts.parents[1:][fails[1:]]] = True
    if not undone.any():
        return cuts
    nodes = cuts.nodes.copy()
    nodes[undone, KIND] = LEAF
    return replace(cuts, nodes=nodes)
