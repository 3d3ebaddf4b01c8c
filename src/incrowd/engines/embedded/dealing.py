"""Dealing rows to groups: the shares say how many, chance says which."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.plan.steps import DROPPED, Place, Seat
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.randomness import Randomness, permutation


def deal(cells: npt.NDArray[np.integer], step: Place, randomness: Randomness) -> Codes:
    """The group of every row, given the cell it rests in.

    Rows of a cell that goes to several groups are shuffled first; every way to deal them is equally likely.
    """
    shares = sorted(step.shares, key=step.cell)
    check_counts(np.bincount(cells, minlength=step.cells), step)
    whole = np.full(step.cells, DROPPED, np.int32)
    divided = np.zeros(step.cells, bool)
    dealt: list[tuple[int, int]] = []
    for cell, of_cell in groupby(shares, key=step.cell):
        parts = [(share.group, share.rows) for share in of_cell]
        whole[cell] = parts[0][0]
        if len(parts) > 1:
            divided[cell] = True
            dealt.extend(parts)
    groups: Codes = whole[cells]
    rows = np.flatnonzero(divided[cells])
    rows = rows[permutation(len(rows), randomness)]
    rows = rows[np.argsort(cells[rows], kind="stable")]
    groups[rows] = np.repeat([group for group, _ in dealt], [count for _, count in dealt])
    return groups


def seated(step: Seat, rows: int) -> Codes:
    """The group of every row; raises if the step was made for other rows."""
    seats = step.known
    if len(seats) != rows or np.bincount(seats, minlength=len(step.sizes)).tolist() != list(step.sizes):
        raise PlanError("The plan was made for other rows: its groups do not fit the table's rows.")
    return seats


def main_groups(step: Place) -> Codes:
    """For each node of the step's tree the group most of its rows went to; climbs where no row came to rest.

    ``DROPPED`` where neither the node nor any node above it sent rows to a group.
    """
    nodes = len(step.tree.nodes)
    best = np.zeros(nodes, np.int64)
    group = np.full(nodes, DROPPED, np.int32)
    totals: dict[tuple[int, int], int] = {}
    for share in step.shares:
        totals[share.node, share.group] = totals.get((share.node, share.group), 0) + share.rows
    for (node, number), rows in totals.items():
        if number != DROPPED and rows > best[node]:
            best[node], group[node] = rows, number
    for node, parent in enumerate(step.tree.parents):
        if group[node] == DROPPED and parent >= 0:
            group[node] = group[parent]
    return group


def check_counts(found: npt.NDArray[np.int64], step: Place) -> None:
    """The shares must account for exactly the rows that rest in each cell."""
    promised = np.zeros(step.cells, np.int64)
    for share in step.shares:
        promised[step.cell(share)] += share.rows
    if not np.array_equal(promised, found):
        raise PlanError(
            "The plan was made for other rows: its counts differ from the table's. "
            "Use transform to see new rows through it."
        )
