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
    sides = {name: _Side(published, name) for name in names}
    return Costs(
        sum(direct_distance(side.transition) for side in sides.values()),
        summed(kullback_leibler(side.before, side.after, None, mend) for side in sides.values()),
        summed(kullback_leibler(side.before, side.after, published.height, mend) for side in sides.values()),
        information_change(_contingencies(sides[one], sides[two]) for one, two in combinations(names, 2)),
        math.fsum(uncertainty(side.transition) for side in sides.values()),
    )


class _Side:
    """One column in both states: nodes of all rows, and cells of each value with groups shared out."""

    def __init__(self, published: PublishedTable, name: str) -> None:
        self.taxonomy = published.taxonomy(name)
        self.old = self.taxonomy.of_code[published.table[name].codes]
        self.new = published.nodes(name)
        self.old_weights, self.new_weights = self._weights(self.old), self._weights(self.new)
        self.before = np.bincount(self.old, minlength=len(self.taxonomy)) @ self.old_weights
        self.after = np.bincount(self.new, minlength=len(self.taxonomy)) @ self.new_weights

    def _weights(self, nodes: npt.NDArray[np.int32]) -> Matrix:
        own = np.bincount(nodes, minlength=len(self.taxonomy))
        return leaf_weights(own, self.taxonomy.parents, self.taxonomy.ends, self.taxonomy.leaves)

    @property
    def transition(self) -> npt.NDArray[np.int64]:
        """Rows by what they showed and show."""
        return _counted(self.old, self.new, len(self.taxonomy), len(self.taxonomy))


def _counted(
    rows: npt.NDArray[np.int32], columns: npt.NDArray[np.int32], height: int, width: int
) -> npt.NDArray[np.int64]:
    keys = rows.astype(np.int64) * width + columns
    return np.bincount(keys, minlength=height * width).reshape(height, width)


def _contingencies(one: _Side, two: _Side) -> tuple[Matrix, Matrix]:
    """Values of two columns together, before and after; a hidden cell has no weight."""
    sizes = len(one.taxonomy), len(two.taxonomy)
    old = _counted(one.old, two.old, *sizes)
    new = _counted(one.new, two.new, *sizes)
    old[HIDDEN], old[:, HIDDEN], new[HIDDEN], new[:, HIDDEN] = 0, 0, 0, 0
    return one.old_weights.T @ old @ two.old_weights, one.new_weights.T @ new @ two.new_weights
