"""Pools: rows that wait together on their way up the tree, and the books of what was released under which path.

A cell is a resting node of the tree (or a node and a class). Which rows of a cell are meant is never decided
here; only how many. That is all the release needs, and it is what engines can count.

Where more than sizes is required, it must be counted, not drawn: rows of a node stay together, and nothing is left out.
A pool that may be released is; others wait at their parent, where the tested attribute is suppressed, or are joined to
sets of values. What is left at the root takes in whole groups until it may be released. All rows together may be: so it
ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Evidence, Judge
from incrowd.plan.steps import DROPPED, Share
from incrowd.trees.tree import Eq, In, Predicate, Tree, named_values
from incrowd.vocabulary.randomness import Randomness, distinct
from incrowd.vocabulary.released_value import Value

Counts = npt.NDArray[np.int64]
Path = tuple[Predicate, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """``counts[i]`` rows of ``cells[i]``; cells ascending, no count zero."""

    cells: Counts
    counts: Counts

    @classmethod
    def of(cls, cells: Iterable[int], counts: Iterable[int]) -> Pool:
        """A pool with so many rows of each cell; empty cells are left out."""
        cell_array = np.asarray(list(cells), np.int64)
        count_array = np.asarray(list(counts), np.int64)
        kept = count_array > 0
        return cls(cell_array[kept], count_array[kept])

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.counts.sum())


EMPTY = Pool(np.empty(0, np.int64), np.empty(0, np.int64))


def union(pools: Sequence[Pool]) -> Pool:
    """All rows of the pools together."""
    if len(pools) == 1:
        return pools[0]
    if not pools:
        return EMPTY
    cells, where = np.unique(np.concatenate([pool.cells for pool in pools]), return_inverse=True)
    counts = np.bincount(where, weights=np.concatenate([pool.counts for pool in pools])).astype(np.int64)
    return Pool(cells, counts)


def minus(pool: Pool, part: Pool) -> Pool:
    """The rows of the pool that are not in the part."""
    counts = pool.counts.copy()
    counts[np.searchsorted(pool.cells, part.cells)] -= part.counts
    kept = counts > 0
    return Pool(pool.cells[kept], counts[kept])


def draw(pool: Pool, size: int, randomness: Randomness) -> Pool:
    """``size`` rows of the pool, every set of rows equally likely."""
    chosen = distinct(pool.size, size, randomness)
    cell_of = np.searchsorted(np.cumsum(pool.counts), chosen, side="right")
    counts = np.bincount(cell_of, minlength=len(pool.cells))
    return Pool(pool.cells[counts > 0], counts[counts > 0])


def draw_stratified(pool: Pool, size: int, randomness: Randomness, classes: int) -> Pool:
    """``size`` rows with the class mix of the pool (largest remainder), drawn at random within a class.

    The cells must be numbered node * classes + class.
    """
    label = pool.cells % classes
    totals = np.bincount(label, weights=pool.counts, minlength=classes).astype(np.int64)
    quota = largest_remainder(totals, size)
    parts = [
        draw(Pool(pool.cells[label == c], pool.counts[label == c]), int(quota[c]), randomness)
        for c in np.flatnonzero(quota)
    ]
    return union(parts)


def largest_remainder(totals: Counts, size: int) -> Counts:
    """``size`` seats in proportion to the totals, none above its total."""
    whole, rest = np.divmod(totals * size, totals.sum())
    order = np.argsort(-rest, kind="stable")
    whole[order[: size - int(whole.sum())]] += 1
    return whole


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
class BundleLedger:
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
        Share(int(cell) // (labels or 1), None if labels is None else int(cell) % labels, group, int(rows))
        for group, pool in pools
        for cell, rows in zip(pool.cells, pool.counts, strict=True)
    ]
    return tuple(sorted(shares, key=lambda share: (share.node, share.label or 0, share.group)))


def resting(counts: npt.NDArray[np.int64], node: int, labels: int | None) -> Pool:
    """The rows that come to rest at a node, as a pool."""
    if labels is None:
        return Pool.of([node], [int(counts[node].sum())])
    return Pool.of(range(node * labels, (node + 1) * labels), counts[node])


@dataclass(frozen=True, eq=False)
class Waiting:
    """Rows of whole nodes: which nodes, and how many rows."""

    nodes: tuple[int, ...]
    size: int


@dataclass(frozen=True, eq=False)
class WholePools:
    """The walk up the tree."""

    # tree, evidence, judge: The tree, the evidence of the rows that rest at each of its nodes, and who says what may
    # be released
    tree: Tree
    evidence: Evidence
    judge: Judge
    # The largest set of values each attribute may show; None if small siblings are not joined
    largest: dict[str, int] | None = None
    # For each node the mean place of the class of its rows times their number: siblings with like classes are joined
    mixes: Counts | None = None

    def release(self, shown: Callable[[Path], int]) -> list[Bundle]:
        """The groups; ``shown`` says how many attributes a group with a path shows."""
        released: list[tuple[Waiting, Path]] = []
        residual: dict[int, Waiting] = {}
        for number in reversed(range(len(self.tree.nodes))):  # a child has a higher number than its parent
            rest = Waiting((number,), int(self.evidence.rows[number]))
            branches = self.tree.nodes[number].branches
            if branches:
                pools = [(branch.predicate, residual.pop(branch.child)) for branch in branches]
                rest = self._node(number, [pool for pool in pools if pool[1].size], rest, released)
            residual[number] = rest
        return [_bundle(*each, self.evidence.rows) for each in self._with_rest(released, residual[0], shown)]

    def _may(self, pool: Waiting) -> bool:
        return bool(self.judge.holds(self.evidence.of(pool.nodes)[None, :])[0])

    def _node(
        self,
        number: int,
        pools: Sequence[tuple[Predicate, Waiting]],
        stuck: Waiting,
        released: list[tuple[Waiting, Path]],
    ) -> Waiting:
        """Release what may be, join what may not, give back what has to climb."""
        path = self.tree.path_to(number)
        small = []
        for test, pool in pools:
            if self._may(pool):
                released.append((pool, (*path, test)))
            else:
                small.append((test, pool))
        sets = self._sets(small) if self.largest is not None else []
        released += [(pool, (*path, test)) for test, pool in sets]
        return stuck if sets else _union([stuck, *(pool for _, pool in small)])

    def _sets(self, small: Sequence[tuple[Predicate, Waiting]]) -> list[tuple[Predicate, Waiting]]:
        """Siblings with like classes joined until each set may be released; none if that is impossible or too large."""
        if not small or not all(isinstance(test, Eq | In) for test, _ in small):
            return []
        parts: list[list[tuple[Predicate, Waiting]]] = [[]]
        for item in sorted(small, key=lambda item: self._mix(item[1])):
            parts[-1].append(item)
            if self._may(_union([pool for _, pool in parts[-1]])):
                parts.append([])
        tail = parts.pop()
        if not parts:
            return []
        parts[-1] += tail
        attribute = small[0][0].attribute
        sets = [
            (
                In(attribute, frozenset[Value]().union(*(named_values(test) for test, _ in part))),
                _union([pool for _, pool in part]),
            )
            for part in parts
        ]
        assert self.largest is not None
        if all(len(test.values) > self.largest[attribute] for test, _ in sets):
            return []
        return [*sets] if all(self._may(pool) for _, pool in sets) else []

    def _mix(self, pool: Waiting) -> float:
        assert self.mixes is not None
        return float(self.mixes[list(pool.nodes)].sum() / pool.size)

    def _with_rest(
        self, released: list[tuple[Waiting, Path]], rest: Waiting, shown: Callable[[Path], int]
    ) -> list[tuple[Waiting, Path]]:
        """The groups after the rows left at the root took in the cheapest ones they need."""
        if not rest.size:
            return released
        costs = [pool.size * shown(path) for pool, path in released]
        order = sorted(range(len(released)), key=lambda i: (costs[i], released[i][0].size))
        taken = 0
        while not self._may(rest) and taken < len(order):
            rest = _union([rest, released[order[taken]][0]])
            taken += 1
        return [*(released[i] for i in sorted(order[taken:])), (rest, ())]


def _union(pools: Sequence[Waiting]) -> Waiting:
    return Waiting(tuple(node for pool in pools for node in pool.nodes), sum(pool.size for pool in pools))


def _bundle(pool: Waiting, path: Path, rows: Counts) -> Bundle:
    nodes = sorted(pool.nodes)
    return Bundle(Pool.of(nodes, rows[nodes].tolist()), path)
