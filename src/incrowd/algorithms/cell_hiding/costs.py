"""What hiding cost the table: the metrics of the thesis, from the counts of the source and of what is published."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.errors import ParameterError
from incrowd.measures.hiding_metrics import (
    Divergence,
    InformationChange,
    direct_distance,
    information_change,
    kullback_leibler,
    leaf_weights,
    summed,
    uncertainty,
)

_WIDEST = 5000
Matrix = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Costs:
    """The price of a hiding over some columns; see :mod:`incrowd.measures.hiding_metrics`."""

    direct_distance: int
    divergence: Divergence
    divergence_of_rows: Divergence
    information: InformationChange
    uncertainty: float


def costs(published: PublishedTable, names: Sequence[str], mend: bool = False) -> Costs:
    """Compare what the named columns show with their source."""
    for name in names:
        if len(published.taxonomy(name)) > _WIDEST:
            raise ParameterError(
                f"Column {name!r} has more than {_WIDEST} distinct values: too many to weigh against other columns. "
                "Leave it out of the comparison."
            )
    source = PublishedTable(published.table, published.schema, published.predictors)
    moves = _moves(published)
    sides = {name: _Side(source, published, name, moves.get(name, ())) for name in names}
    return Costs(
        sum(direct_distance(side.transition) for side in sides.values()),
        summed(kullback_leibler(side.before, side.after, None, mend) for side in sides.values()),
        summed(kullback_leibler(side.before, side.after, published.height, mend) for side in sides.values()),
        information_change(_contingencies(sides[one], sides[two]) for one, two in combinations(names, 2)),
        math.fsum(uncertainty(side.transition) for side in sides.values()),
    )


class _Side:
    """One column in both states: cells of each value, with groups shared out, and what became of what."""

    def __init__(
        self, source: PublishedTable, published: PublishedTable, name: str, moves: Sequence[tuple[int, int]]
    ) -> None:
        self.source, self.published, self.name, self.moves = source, published, name, moves
        self.old, self.new = source.counts(name), published.counts(name)
        self.old_weights, self.new_weights = self._weights(self.old), self._weights(self.new)
        self.before, self.after = self.old @ self.old_weights, self.new @ self.new_weights

    def _weights(self, own: Counts) -> Matrix:
        taxonomy = self.published.taxonomy(self.name)
        return leaf_weights(own, taxonomy.parents, taxonomy.ends, taxonomy.leaves)

    @property
    def transition(self) -> Counts:
        """Rows by what they showed and show."""
        counts = np.diag(self.old)
        for before, after in self.moves:
            counts[before, before] -= 1
            counts[before, after] += 1
        return counts


def _moves(published: PublishedTable) -> dict[str, list[tuple[int, int]]]:
    """By column, what the cells that were changed showed and show."""
    found: dict[str, list[tuple[int, int]]] = {}
    for row, name in published.touched():
        found.setdefault(name, []).append((published.original(row, name), published.node(row, name)))
    return found


def _contingencies(one: _Side, two: _Side) -> tuple[Matrix, Matrix]:
    """Values of two columns together, before and after; a hidden cell has no weight."""
    old, new = one.source.pairs(one.name, two.name), one.published.pairs(one.name, two.name)
    old[HIDDEN], old[:, HIDDEN], new[HIDDEN], new[:, HIDDEN] = 0, 0, 0, 0
    return one.old_weights.T @ old @ two.old_weights, one.new_weights.T @ new @ two.new_weights
