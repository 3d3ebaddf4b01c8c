"""What cells show as numbers a learner can read.

A value of a category is a one in a column of its own; a group is spread evenly over its values; a hidden cell is all
zeros. A number is itself, centred and scaled; a group of numbers is their mean; a hidden cell is the mean of all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.row_index import Rows
from incrowd.adversaries.taxonomy import Taxonomy


class Features:
    """Turns rows into the features of some columns, as they are shown at the moment."""

    def __init__(self, published: PublishedTable, names: tuple[str, ...]) -> None:
        self._published = published
        self._tables = {name: _table(published, name) for name in names}

    def of(self, rows: Rows) -> Any:
        """Features of the rows, as a sparse matrix."""
        from scipy import sparse

        parts = [table[self._published.nodes(name)[rows]] for name, table in self._tables.items()]
        if not parts:
            return sparse.csr_matrix((len(rows), 1))
        return sparse.hstack(parts, format="csr")


def _table(published: PublishedTable, name: str) -> Any:
    """The features of each node of a column's taxonomy."""
    from scipy import sparse

    taxonomy = published.taxonomy(name)
    column = published.table[name]
    spread = _spread(taxonomy)
    if not column.type.is_numeric or not len(column.dictionary):
        return spread
    numbers = np.zeros(len(taxonomy))
    numbers[taxonomy.of_code[:-1]] = column.numbers
    weights = column.counts[:-1]
    mean = float(np.average(column.numbers, weights=weights)) if weights.any() else 0.0
    scale = float(np.sqrt(np.average((column.numbers - mean) ** 2, weights=weights))) if weights.any() else 1.0
    leaves = (numbers[list(taxonomy.leaves)] - mean) / (scale or 1.0)
    return sparse.csr_matrix((spread @ leaves).reshape(-1, 1))


def _spread(taxonomy: Taxonomy) -> Any:
    """Nodes x leaves: each node spread evenly over the leaves below it; nothing for the root."""
    from scipy import sparse

    rows: list[int] = []
    columns: list[int] = []
    weights: list[float] = []
    starts: npt.NDArray[np.int64] = np.searchsorted(np.array(taxonomy.leaves, np.int64), np.arange(len(taxonomy) + 1))
    for node in range(1, len(taxonomy)):
        first, last = int(starts[node]), int(starts[taxonomy.ends[node]])
        rows += [node] * (last - first)
        columns += range(first, last)
        weights += [1 / (last - first)] * (last - first)
    shape = (len(taxonomy), max(1, len(taxonomy.leaves)))
    return sparse.csr_matrix((weights, (rows, columns)), shape=shape)
