"""Dealing rows to groups: the shares are met exactly, and every way to meet them is equally likely."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.errors import PlanError
from incrowd.plan.steps import DROPPED, Place, Share
from incrowd.rows.memory.population import Shares, deal, main_groups
from incrowd.trees.tree import Branch, Eq, Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness, permutation

# critical values of chi-square at one in 100,000: the tests with a seed never change, those without rarely fail
CHI_SQUARE = {9: 39.3, 23: 65.0}


def star(leaves, classes=("no", "yes")):
    """A root with that many leaves."""
    root = Node("a", tuple(Branch(Eq("a", f"v{i}"), i + 1) for i in range(leaves)), (0,) * len(classes))
    return Tree((root, *[Node(None, (), (0,) * len(classes))] * leaves), "ill", tuple(classes))


@st.composite
def deals(draw):
    """Cells of rows and shares that account for them, group by group."""
    leaves = draw(st.integers(1, 4))
    stratified = draw(st.booleans())
    tree = star(leaves)
    cells, shares = [], []
    for node in range(leaves + 1):
        for label in range(2) if stratified else [None]:
            cell = node if label is None else 2 * node + label
            for group in draw(st.permutations([DROPPED, 0, 1, 2]))[: draw(st.integers(0, 4))]:
                rows = draw(st.integers(0, 5))
                shares.append(Share(node, label, group, rows))
                cells += [cell] * rows
    order = draw(st.permutations(range(len(cells))))
    return Place(tree, tuple(draw(st.permutations(shares)))), np.array(cells, np.int64)[list(order)]


@settings(max_examples=300, deadline=None)
@given(deals(), st.integers(0, 2**32))
def test_shares_are_met_exactly(dealt, seed):
    step, cells = dealt
    groups = deal(cells, Shares.of(step), SeededRandomness(seed))
    found = Counter(zip(cells.tolist(), groups.tolist(), strict=True))
    promised = Counter()
    for share in step.shares:
        promised[step.cell(share), share.group] += share.rows
    assert found == +promised


@settings(max_examples=100, deadline=None)
@given(deals(), st.data())
def test_other_rows_are_refused(dealt, data):
    step, cells = dealt
    extra = data.draw(st.integers(0, step.cells - 1))
    with pytest.raises(PlanError, match="other rows"):
        deal(np.append(cells, extra), Shares.of(step), SeededRandomness(1))
    if len(cells):
        with pytest.raises(PlanError, match="other rows"):
            deal(cells[1:], Shares.of(step), SeededRandomness(1))


def chi_square(counts, outcomes, draws):
    expected = draws / outcomes
    return sum((counts[o] - expected) ** 2 for o in counts) / expected + expected * (outcomes - len(counts))


@pytest.mark.parametrize("chance", [SeededRandomness(7), SystemRandomness()], ids=["seeded", "system"])
def test_every_way_to_deal_is_equally_likely(chance):
    step = Place(star(1), (Share(0, None, 0, 0), Share(1, None, 0, 2), Share(1, None, 1, 3)))
    cells = np.ones(5, np.int64)
    draws = 4000
    counts = Counter(tuple(np.flatnonzero(deal(cells, Shares.of(step), chance) == 0)) for _ in range(draws))
    assert set(counts) == set(combinations(range(5), 2))
    assert chi_square(counts, comb(5, 2), draws) < CHI_SQUARE[9]


@pytest.mark.parametrize("chance", [SeededRandomness(8), SystemRandomness()], ids=["seeded", "system"])
def test_every_order_is_equally_likely(chance):
    draws = 6000
    counts = Counter(tuple(permutation(4, chance).tolist()) for _ in range(draws))
    assert chi_square(counts, 24, draws) < CHI_SQUARE[23]


def test_chi_square_can_fail():
    counts = Counter(dict.fromkeys(combinations(range(5), 2), 400))
    assert chi_square(counts, 10, 4000) == 0
    counts[0, 1] += 150
    counts[3, 4] -= 150
    assert chi_square(counts, 10, 4000) > CHI_SQUARE[9]


def test_cells_are_dealt_independently_of_each_other():
    """Which rows of one cell go away says nothing about another cell's rows."""
    step = Place(star(2), tuple(Share(node, None, group, 1) for node in (1, 2) for group in (0, 1)))
    cells = np.array([1, 2, 1, 2])
    draws = 4000
    counts = Counter(tuple(deal(cells, Shares.of(step), SeededRandomness(seed))) for seed in range(draws))
    assert len(counts) == 4
    assert chi_square(counts, 4, draws) < CHI_SQUARE[9]


def test_main_groups_follow_the_most_rows_and_climb():
    step = Place(
        star(3),
        (
            Share(0, None, 2, 1),
            Share(1, None, 0, 5),
            Share(1, None, 1, 7),
            Share(2, None, DROPPED, 9),
            Share(2, None, 1, 1),
        ),
    )
    assert main_groups(step).tolist() == [2, 1, 1, 2]
    assert main_groups(Place(star(1), (Share(1, None, DROPPED, 3),))).tolist() == [DROPPED, DROPPED]


def test_main_groups_add_up_the_classes():
    step = Place(star(1), (Share(1, 0, 0, 4), Share(1, 0, 1, 3), Share(1, 1, 1, 3)))
    assert main_groups(step).tolist() == [DROPPED, 1]
