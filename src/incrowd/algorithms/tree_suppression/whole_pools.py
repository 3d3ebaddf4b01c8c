"""The bottom-up release where more than sizes is required: rows of a node stay together, and nothing is left out.

A requirement on values must be counted, not drawn: so no row moves from one group to another by chance. A pool that may
be released is; others wait at their parent, where the tested attribute is suppressed, or are joined to sets of values.
What is left at the root takes in whole groups until it may be released. All rows together may be: so it ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.judging import Judge
from incrowd.algorithms.tree_suppression.ledger import Bundle
from incrowd.algorithms.tree_suppression.pool import Pool
from incrowd.trees.tree import Tree
from incrowd.vocabulary.predicate import Eq, In, Predicate
from incrowd.vocabulary.released_value import Value

Counts = npt.NDArray[np.int64]
Path = tuple[Predicate, ...]


@dataclass(frozen=True, eq=False)
class Waiting:
    """Rows of whole nodes: which nodes, and their evidence."""

    nodes: tuple[int, ...]
    evidence: Counts

    @property
    def size(self) -> int:
        """Number of rows."""
        return int(self.evidence[0])


@dataclass(frozen=True, eq=False)
class WholePools:
    """The walk up the tree.

    Parameters
    ----------
    tree, evidence, judge
        The tree, the evidence of the rows that rest at each of its nodes, and who says what may be released.
    largest
        The largest set of values each attribute may show; None if small siblings are not joined.
    mixes
        For each node the mean place of the class of its rows times their number: siblings with like classes are joined.
    """

    tree: Tree
    evidence: Counts
    judge: Judge
    largest: dict[str, int] | None = None
    mixes: Counts | None = None

    def release(self, shown: Callable[[Path], int]) -> list[Bundle]:
        """The groups; ``shown`` says how many attributes a group with a path shows."""
        released: list[tuple[Waiting, Path]] = []
        residual: dict[int, Waiting] = {}
        for number in reversed(range(len(self.tree.nodes))):  # a child has a higher number than its parent
            rest = Waiting((number,), self.evidence[number])
            branches = self.tree.nodes[number].branches
            if branches:
                pools = [(branch.predicate, residual.pop(branch.child)) for branch in branches]
                rest = self._node(number, [pool for pool in pools if pool[1].size], rest, released)
            residual[number] = rest
        return [_bundle(*each, self.evidence) for each in self._with_rest(released, residual[0], shown)]

    def _may(self, pool: Waiting) -> bool:
        return bool(self.judge.holds(pool.evidence[None, :])[0])

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
        sets = [(In(attribute, _members(part)), _union([pool for _, pool in part])) for part in parts]
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
    return Waiting(
        tuple(node for pool in pools for node in pool.nodes),
        np.asarray(np.sum([pool.evidence for pool in pools], axis=0), np.int64),
    )


def _members(parts: Sequence[tuple[Predicate, Waiting]]) -> frozenset[Value]:
    values: set[Value] = set()
    for test, _ in parts:
        values |= {test.value} if isinstance(test, Eq) else test.values if isinstance(test, In) else set()
    return frozenset(values)


def _bundle(pool: Waiting, path: Path, evidence: Counts) -> Bundle:
    nodes = sorted(pool.nodes)
    return Bundle(Pool.of(nodes, evidence[nodes, 0].tolist()), path)
