"""Persons counted in one pass are those that sets count; machine code and plain Python agree."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.methods import counting
from support.kernels import compiled_kernels, plain_kernels

EACH = pytest.mark.parametrize("kernels", [compiled_kernels, plain_kernels])
SEEDS = range(30)


def rows(seed):
    """Persons and ranks of some rows, those of a person together; rank -1 is none."""
    rng = np.random.default_rng(seed)
    owners = np.sort(rng.integers(0, 6, rng.integers(1, 20)))
    return owners, rng.integers(-1, 4, len(owners))


def persons(owners, chosen):
    return len(set(owners[chosen].tolist()))


@EACH
def test_rows_of_a_person_are_put_together_in_their_order(kernels):
    owners = np.array([2, 0, 2, 1, 0], np.int32)
    with kernels():
        assert counting.sorted_by_person(owners, 3).tolist() == [1, 4, 3, 0, 2]


@EACH
@pytest.mark.parametrize("seed", SEEDS)
def test_both_sides_of_every_threshold(kernels, seed):
    owners, ranks = rows(seed)
    first, last = np.zeros(4, np.int64), np.zeros(4, np.int64)
    with kernels():
        beside = counting.count_spans(owners, ranks, first, last)
    assert beside == persons(owners, ranks < 0)
    everybody = persons(owners, ranks >= 0)
    for rank in range(4):
        assert first[: rank + 1].sum() == persons(owners, (ranks >= 0) & (ranks <= rank))
        assert everybody - last[: rank + 1].sum() == persons(owners, ranks > rank)


@EACH
@pytest.mark.parametrize("seed", SEEDS)
def test_every_part_and_who_is_nowhere_else(kernels, seed):
    owners, parts = rows(seed)
    counts, met, alone = np.zeros(4, np.int64), np.zeros(4, np.int64), np.zeros(4, np.int64)
    with kernels():
        assert counting.count_parts(owners, parts, counts, met) == persons(owners, parts < 0)
        counting.count_alone(owners, np.abs(parts), alone)
    assert counts.tolist() == [persons(owners, parts == part) for part in range(4)]
    own = [{int(rank) for rank in np.abs(parts)[owners == owner]} for owner in np.unique(owners)]
    assert alone.tolist() == [sum(ranks == {rank} for ranks in own) for rank in range(4)]


@EACH
@pytest.mark.parametrize("seed", SEEDS)
def test_persons_below_a_node_and_in_cells_together(kernels, seed):
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(rng.integers(0, node) for node in range(1, 8))])
    cells, owners = rng.integers(0, 8, 25), rng.integers(0, 6, 25)
    with kernels():
        below = counting.count_below(cells, owners, counting.sorted_by_person(owners, 6), parents)
    for node in range(8):
        under = {node} | {each for each in range(8) if node in ancestors(parents, each)}
        assert below[node] == persons(owners, np.isin(cells, list(under)))
    order, met = np.argsort(cells, kind="stable"), np.zeros(6, np.int64)
    begin = np.searchsorted(cells[order], np.arange(9))
    for mark in range(1, 6):
        some = rng.choice(8, 3, replace=False)
        with kernels():
            together = counting.count_together(owners[order], begin, some, met, mark)
        assert together == persons(owners, np.isin(cells, some))


def ancestors(parents, node):
    listed = set()
    while parents[node] >= 0:
        node = int(parents[node])
        listed.add(node)
    return listed
