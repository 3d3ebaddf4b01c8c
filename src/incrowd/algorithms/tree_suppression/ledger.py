"""The books of a bottom-up release: which rows were released under which path, and what every node did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.tree_suppression.pool import Pool
from incrowd.plan.steps import DROPPED, Share
from incrowd.vocabulary.predicate import Predicate


@dataclass(frozen=True, eq=False)
class Bundle:
    """Rows released together, under the tests they have in common."""

    pool: Pool
    path: tuple[Predicate, ...]


@dataclass(frozen=True)
class NodeRecord:
    """What one inner node did: the row of the paper's trace."""

    node: int
    waiting: int
    moved: int
    released: int
    residual: int


@dataclass(eq=False)
class Ledger:
    """Everything released so far, and the trace of how."""

    bundles: list[Bundle] = field(default_factory=list)
    trace: list[NodeRecord] = field(default_factory=list)
    touched: int = 0

    def release(self, pool: Pool, path: tuple[Predicate, ...]) -> int:
        """Enter the rows as released; gives their number."""
        if pool.size:
            self.bundles.append(Bundle(pool, path))
        return pool.size


def shares_of(bundles: Sequence[Bundle], left: Pool, labels: int | None) -> tuple[Share, ...]:
    """The shares of a placing step: bundle i is group i, rows that are left are dropped.

    ``labels`` is the number of classes if the cells are node * classes + class, else None.
    """
    pools = [(group, bundle.pool) for group, bundle in enumerate(bundles)]
    pools += [(DROPPED, left)] if left.size else []
    shares = [
        Share(*_node_and_label(int(cell), labels), group, int(rows))
        for group, pool in pools
        for cell, rows in zip(pool.cells, pool.counts, strict=True)
    ]
    return tuple(sorted(shares, key=lambda share: (share.node, share.label or 0, share.group)))


def _node_and_label(cell: int, labels: int | None) -> tuple[int, int | None]:
    return (cell, None) if labels is None else (cell // labels, cell % labels)


def resting(counts: npt.NDArray[np.int64], node: int, labels: int | None) -> Pool:
    """The rows that come to rest at a node, as a pool."""
    if labels is None:
        return Pool.of([node], [int(counts[node].sum())])
    return Pool.of(range(node * labels, (node + 1) * labels), counts[node])
