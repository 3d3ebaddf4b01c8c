"""Grows a tree level by level: scores the nodes of a level, then sorts their rows by child."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import THREADS, compiled
from incrowd.trees.kernel import score_nodes, xlogx_table
from incrowd.trees.packing import Columns, Rules
from incrowd.trees.routing import NOTHING

# Sorts the rows of a level by child, so that the rows of a node lie side by side again.
Array = npt.NDArray[Any]


@compiled
def move_rows(
    rows: Array,
    words: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
    splits: Array,
    first: npt.NDArray[np.int64],
    codes: Array,
    place: npt.NDArray[np.int64],
    columns: Columns,
    target: npt.NDArray[np.uint64],
) -> None:
    """Copy the rows of each node to the places of its children, in their order.

    ``first`` is the first child of each node and ``place`` the row where a child begins in the target, or
    -1 if it will not be split. ``words`` and ``target`` are rows seen as 64-bit words.
    """
    child_of = np.empty(columns.width.max(), np.int64)
    length = len(words) // (len(rows) // columns.stride)
    for node in range(len(splits)):
        a = splits[node, 0]
        if a < 0:
            continue
        point_codes(child_of, splits[node], first[node], codes, columns)
        for row in range(starts[node], starts[node + 1]):
            child = child_of[np.uint64(rows[np.uint64(row * columns.stride + a + 1)])]
            if child < 0 or place[child] < 0:
                continue
            to = place[child] * length
            place[child] += 1
            for word in range(length):
                target[np.uint64(to + word)] = words[np.uint64(row * length + word)]


@compiled
def point_codes(child_of: Array, split: Array, first: int, codes: Array, columns: Columns) -> None:
    """Write for every code of the split attribute the child its rows go to, or -1."""
    width = columns.width[split[0]]
    child_of[:width] = -1
    for child in range(first, first + split[3]):
        if not columns.ordered[split[0]]:
            child_of[codes[child]] = child
        elif codes[child] == 0:
            child_of[: split[1] + 1] = child
        elif codes[child] == 1:
            child_of[split[1] + 1 : width - 1] = child
        else:
            child_of[width - 1] = child


Ints = npt.NDArray[np.int64]

SMALL = 1 << 15  # rows below which threads cost more than they give


@dataclass(frozen=True)
class Limits:
    """When a node is left alone, whatever its rows."""

    min_rows: float
    max_depth: int | None = None
    weighted: bool = False


@dataclass(frozen=True, eq=False)
class Grown:
    """A grown tree as arrays; nodes level by level, the children of a node side by side.

    ``splits`` holds for each node its attribute (-1: a leaf), the codes around its threshold and its number
    of branches; ``code`` the code of the branch that leads to it; ``counts`` its class histogram.
    """

    splits: npt.NDArray[np.int32]
    code: npt.NDArray[np.int32]
    counts: Array

    @property
    def parents(self) -> Ints:
        """The parent of each node; -1 for the root."""
        return np.concatenate([[-1], np.repeat(np.arange(len(self.splits)), self.splits[:, 3])])


def without_splits(grown: Grown, keep: npt.NDArray[np.bool_]) -> Grown:
    """The tree cut off below every node that does not keep its split."""
    parents = grown.parents.tolist()
    reached = keep.tolist()
    there = [True] * len(parents)
    for number in range(1, len(parents)):
        there[number] = there[parents[number]] and reached[parents[number]]
    splits = np.where(keep[:, None], grown.splits, _leaves(len(keep)))
    return Grown(splits[there], grown.code[there], grown.counts[there])


@dataclass(frozen=True, eq=False)
class TreeLevel:
    """The nodes of one level that are to be split, with their rows side by side."""

    rows: Array
    weights: npt.NDArray[np.float64] | None
    starts: Ints
    counts: Array
    active: npt.NDArray[np.bool_]

    def shares(self, threads: int) -> list[tuple[int, int]]:
        """Ranges of nodes with about equally many rows, one for each thread."""
        if self.starts[-1] < SMALL:
            return [(0, len(self.counts))]
        cuts = np.searchsorted(self.starts, np.arange(1, threads) * (self.starts[-1] / threads))
        bounds = np.unique(np.concatenate([[0], cuts, [len(self.counts)]])).tolist()
        return list(pairwise(bounds))


def grow_levels(
    rows: Array,
    columns: Columns,
    rules: Rules,
    limits: Limits,
    threads: int = THREADS,
    weights: npt.NDArray[np.float64] | None = None,
) -> Grown:
    """Grow a tree on packed rows (see :mod:`incrowd.trees.kernel`), which are used as working space.

    The tree does not depend on the number of threads. Where the limits say that rows are weighted, ``weights`` are how
    much each row counts; one each, if not given.
    """
    with ThreadPoolExecutor(threads) as pool:
        return _Growth(columns, rules, limits, threads, pool).run(rows, weights)


class _Growth:
    """What stays the same from level to level."""

    def __init__(self, columns: Columns, rules: Rules, limits: Limits, threads: int, pool: ThreadPoolExecutor) -> None:
        self._columns, self._rules, self._limits = columns, rules, limits
        self._threads, self._pool = threads, pool
        self._spare: Array | None = None

    def run(self, rows: Array, weights: npt.NDArray[np.float64] | None) -> Grown:
        """All levels, from the root down."""
        self._table = xlogx_table(len(rows) // self._columns.stride)
        level = self._root(rows, weights)
        codes, counts = [np.zeros(1, np.int32)], [level.counts]
        splits: list[Array] = []
        growing = self._worth_splitting(level.counts, 0)
        while True:
            splits.append(_leaves(len(codes[-1])))
            if not growing.any():
                return Grown(np.concatenate(splits), np.concatenate(codes), np.concatenate(counts))
            best, branch_codes, branch_counts = self._score(level)
            splits[-1][growing] = best
            codes.append(branch_codes)
            counts.append(branch_counts)
            growing = self._worth_splitting(branch_counts, len(splits))
            if growing.any():
                level = self._next(level, best, branch_codes, branch_counts, growing)

    def _root(self, rows: Array, weights: npt.NDArray[np.float64] | None) -> TreeLevel:
        columns = self._columns
        counts = np.bincount(rows[:: columns.stride], weights, columns.classes)[None, :]
        starts = np.array([0, len(rows) // columns.stride], np.int64)
        active = np.ones((1, len(columns.width)), np.bool_)
        if self._limits.weighted:
            weights = np.ones(starts[1]) if weights is None else weights
            return TreeLevel(rows, weights, starts, counts.astype(np.float64), active)
        return TreeLevel(rows, None, starts, counts.astype(np.int32), active)

    def _worth_splitting(self, counts: Array, depth: int) -> npt.NDArray[np.bool_]:
        """Which nodes have enough rows of more than one class, and room below."""
        deep = self._limits.max_depth is not None and depth >= self._limits.max_depth
        if deep or len(self._columns.width) == 0:
            return np.zeros(len(counts), np.bool_)
        sizes = counts.sum(axis=1)
        mixed: npt.NDArray[np.bool_] = (sizes >= self._limits.min_rows) & (counts.max(axis=1) < sizes)
        return mixed

    def _score(self, level: TreeLevel) -> tuple[Array, Array, Array]:
        """The splits of all nodes of a level, and the codes and class histograms of their branches."""

        def score(lo: int, hi: int) -> tuple[Array, Array, Array]:
            starts, counts, active = level.starts[lo : hi + 1], level.counts[lo:hi], level.active[lo:hi]
            return score_nodes(
                level.rows, level.weights, starts, counts, active, self._columns, self._rules, self._table
            )

        parts = list(self._share_out(score, level))
        splits, codes, counts = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if level.weights is not None:
            counts = share_missing(level.counts, splits, counts)
        return splits, codes, counts

    def _next(
        self, level: TreeLevel, splits: Array, codes: Array, counts: Array, growing: npt.NDArray[np.bool_]
    ) -> TreeLevel:
        """The children that are to be split, with their rows."""
        parent = np.repeat(np.arange(len(splits)), splits[:, 3])
        active = level.active[parent[growing]]
        if level.weights is not None:
            rows, weights, starts = move_weighted(
                level.rows, level.weights, level.starts, splits, codes, counts, growing, self._columns
            )
            return TreeLevel(rows, weights, starts, counts[growing], active)
        sizes = np.where(growing, counts.sum(axis=1, dtype=np.int64), 0)
        place = np.where(growing, np.cumsum(sizes) - sizes, -1)
        starts = np.append(place[growing], sizes.sum())
        rows = self._move(level, splits, codes, place)
        return TreeLevel(rows, None, starts, counts[growing], active)

    def _move(self, level: TreeLevel, splits: Array, codes: Array, place: Ints) -> Array:
        """Copy the rows to their children's places in the spare buffer; the old rows become the spare."""
        target = np.empty_like(level.rows) if self._spare is None else self._spare
        first = (np.cumsum(splits[:, 3]) - splits[:, 3]).astype(np.int64)
        words, target_words = level.rows.view(np.uint64), target.view(np.uint64)

        def move(lo: int, hi: int) -> None:
            move_rows(
                level.rows,
                words,
                level.starts[lo : hi + 1],
                splits[lo:hi],
                first[lo:hi],
                codes,
                place,
                self._columns,
                target_words,
            )

        list(self._share_out(move, level))
        self._spare = level.rows
        return target

    def _share_out(self, work: Callable[[int, int], Any], level: TreeLevel) -> Iterable[Any]:
        """Do the work on ranges of nodes, in several threads if there is enough of it."""
        shares = level.shares(self._threads)
        if len(shares) == 1:
            return [work(*shares[0])]
        return self._pool.map(lambda share: work(*share), shares)


def _leaves(count: int) -> npt.NDArray[np.int32]:
    """Splits of nodes that are not split."""
    splits = np.zeros((count, 4), np.int32)
    splits[:, 0] = -1
    return splits


# Fractional rows: a row whose tested value is missing goes down all branches, in part (Quinlan 1993, 3.2).
def share_missing(parents: Array, splits: Array, children: Array) -> npt.NDArray[np.float64]:
    """Class histograms of all branches once the rows with a missing value are shared out."""
    parent = np.repeat(np.arange(len(splits)), splits[:, 3])
    known = np.zeros_like(parents)
    np.add.at(known, parent, children)
    missing = np.maximum(parents - known, 0.0)
    missing[missing < NOTHING] = 0.0
    share = children.sum(axis=1) / known.sum(axis=1)[parent]
    shared: npt.NDArray[np.float64] = children + share[:, None] * missing[parent]
    return shared


def move_weighted(
    rows: Array,
    weights: npt.NDArray[np.float64],
    starts: npt.NDArray[np.int64],
    splits: Array,
    codes: Array,
    counts: Array,
    growing: npt.NDArray[np.bool_],
    columns: Columns,
) -> tuple[Array, npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Rows, weights and starts of the children that are to be split.

    ``counts`` are the class histograms of all children, the shares of missing values included; they are in
    proportion to the known rows of each child.
    """
    records = rows.reshape(-1, columns.stride)
    node = np.repeat(np.arange(len(splits)), np.diff(starts))
    attribute = splits[node, 0]
    code = records[np.arange(len(records)), attribute + 1].astype(np.int64)
    missing = (code == columns.width[attribute] - 1) & (attribute >= 0)
    known = ~missing & (attribute >= 0)
    code = np.where(columns.ordered[attribute], code > splits[node, 1], code)
    widest = int(columns.width.max()) + 1
    parent = np.repeat(np.arange(len(splits)), splits[:, 3])
    child = np.searchsorted(parent * widest + codes, node[known] * widest + code[known])

    gone = np.flatnonzero(missing)
    first = np.cumsum(splits[:, 3]) - splits[:, 3]
    copies = splits[node[gone], 3]
    all_children = _ranges(first[node[gone]], copies)
    sizes = counts.sum(axis=1)
    share = (sizes / np.bincount(parent, sizes, len(splits))[parent])[all_children]
    source = np.concatenate([np.flatnonzero(known), np.repeat(gone, copies)])
    weight = np.concatenate([weights[known], np.repeat(weights[gone], copies) * share])
    child = np.concatenate([child, all_children])

    kept = growing[child] & (weight > NOTHING)
    order = np.argsort(child[kept], kind="stable")
    entries = np.bincount(child[kept], minlength=len(codes))[growing]
    starts = np.concatenate([[0], np.cumsum(entries)])
    return records[source[kept][order]].ravel(), weight[kept][order], starts


def _ranges(first: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """``first[0], first[0] + 1, ...`` for each range, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths - first, lengths)
