"""Dealing rows to groups: the shares say how many, chance says which."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.errors import PlanError
from incrowd.plan.steps import DROPPED, Place, Seat
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.randomness import Randomness, permutation


@dataclass(frozen=True, eq=False)
class Shares:
    """The shares of a placing step as arrays, cell by cell: so many rows of a cell go to a group."""

    cells: int
    cell: npt.NDArray[np.int64]
    group: Codes
    rows: npt.NDArray[np.int64]

    @classmethod
    def of(cls, step: Place) -> Shares:
        """Those of a step, in the order of their cells."""
        cell = np.array([step.cell(share) for share in step.shares], np.int64)
        group = np.array([share.group for share in step.shares], np.int32)
        rows = np.array([share.rows for share in step.shares], np.int64)
        order = np.argsort(cell, kind="stable")
        return cls(step.cells, cell[order], group[order], rows[order])

    def of_block(self, rows: npt.NDArray[np.int64]) -> Shares:
        """The same shares for some of the rows: so many of each."""
        some = np.flatnonzero(rows)
        return Shares(self.cells, self.cell[some], self.group[some], rows[some])

    @property
    def divided(self) -> npt.NDArray[np.bool_]:
        """Whether the rows of each cell go to several groups."""
        return np.bincount(self.cell, minlength=self.cells) > 1

    def check(self, counts: npt.NDArray[np.int64]) -> None:
        """Refuse other rows than those the step was made for: the shares account for all that rest in each cell."""
        promised = np.zeros(self.cells, np.int64)
        np.add.at(promised, self.cell, self.rows)
        if not np.array_equal(promised, counts):
            raise PlanError(
                "The plan was made for other rows: its counts differ from the table's. "
                "Use transform to see new rows through it."
            )


def deal(cells: npt.NDArray[np.integer], shares: Shares, randomness: Randomness) -> Codes:
    """The group of every row, given the cell it rests in.

    Rows of a cell that goes to several groups are shuffled first; every way to deal them is equally likely.
    """
    shares.check(np.bincount(cells, minlength=shares.cells))
    whole = np.full(shares.cells, DROPPED, np.int32)
    whole[shares.cell] = shares.group
    groups: Codes = whole[cells]
    divided = shares.divided
    rows = np.flatnonzero(divided[cells])
    rows = rows[permutation(len(rows), randomness)]
    rows = rows[np.argsort(cells[rows], kind="stable")]
    several = divided[shares.cell]
    groups[rows] = np.repeat(shares.group[several], shares.rows[several])
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
