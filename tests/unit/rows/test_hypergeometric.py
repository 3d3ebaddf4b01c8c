"""The hypergeometric law, outcome by outcome, against exact fractions; and draws from piles."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from incrowd.plan.steps import Place, Share
from incrowd.rows.blocks.population import allot, allotted, good_ones
from incrowd.rows.memory.population import Shares
from incrowd.trees.tree import Branch, Eq, Missing, Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness

SMALL = [(g, b, d) for g in range(1, 6) for b in range(1, 6) for d in range(1, g + b)]


def law(good, bad, drawn):
    """The share of each outcome, as fractions."""
    ways = math.comb(good + bad, drawn)
    outcomes = range(max(0, drawn - bad), min(good, drawn) + 1)
    return {each: Fraction(math.comb(good, each) * math.comb(bad, drawn - each), ways) for each in outcomes}


def measured(good, bad, drawn, steps=2048):
    """How much of [0, 1) leads to each outcome: the places where the outcome changes are found by halving."""
    total = dict.fromkeys(law(good, bad, drawn), 0.0)
    ends = [step / steps for step in range(steps)] + [math.nextafter(1.0, 0.0)]
    for low, high in pairwise(ends):
        first, last = good_ones(good, bad, drawn, low), good_ones(good, bad, drawn, high)
        below, above = low, high
        while first != last and above - below > 1e-15:
            middle = (below + above) / 2
            if good_ones(good, bad, drawn, middle) == first:
                below = middle
            else:
                above = middle
        total[first] += (above if first != last else high) - low
        total[last] += high - above if first != last else 0.0
    return total


@pytest.mark.parametrize(("good", "bad", "drawn"), SMALL[::4])
def test_every_outcome_has_its_exact_share(good, bad, drawn):
    exact, found = law(good, bad, drawn), measured(good, bad, drawn)
    assert found.keys() == exact.keys()
    for outcome, share in exact.items():
        assert found[outcome] == pytest.approx(float(share), abs=1e-12)


@pytest.mark.parametrize(("good", "bad", "drawn"), [(4, 5, 0), (4, 5, 9), (0, 5, 3), (4, 0, 3), (1, 1, 1)])
@pytest.mark.parametrize("chance", [0.0, 0.25, 0.5, math.nextafter(1.0, 0.0)])
def test_the_edges(good, bad, drawn, chance):
    assert good_ones(good, bad, drawn, chance) in law(good, bad, drawn)


@pytest.mark.parametrize(
    ("good", "bad", "drawn"),
    [(10**6, 10**6, 10**5), (10**8, 9 * 10**8, 10**6), (3, 10**9, 10**8), (10**9, 7, 10**9), (10**5, 10**5, 199_999)],
)
def test_large_numbers_have_the_mean_and_the_spread_of_the_law(good, bad, drawn):
    """Chances that are evenly spread over [0, 1) stand for the whole law."""
    chances = (np.arange(20_000) + 0.5) / 20_000
    found = np.array([good_ones(good, bad, drawn, float(chance)) for chance in chances], np.float64)
    total, share = good + bad, good / (good + bad)
    spread = drawn * share * (1 - share) * (total - drawn) / (total - 1)
    assert found.min() >= max(0, drawn - bad)
    assert found.max() <= min(good, drawn)
    assert abs(found.mean() - drawn * share) <= 0.02 * math.sqrt(spread) + 1e-3
    assert found.var() == pytest.approx(spread, rel=0.03, abs=1e-6)


def test_a_large_law_at_its_middle_is_the_exact_one():
    good, bad, drawn = 60_000, 40_000, 5_000
    likeliest = good_ones(good, bad, drawn, 0.0)
    exact = Fraction(math.comb(good, likeliest) * math.comb(bad, drawn - likeliest), math.comb(good + bad, drawn))
    assert good_ones(good, bad, drawn, float(exact) * (1 - 1e-9)) == likeliest
    assert good_ones(good, bad, drawn, float(exact) * (1 + 1e-9)) != likeliest


def test_every_set_of_things_is_equally_likely():
    """Six things in piles of 1, 3 and 2: three of them are drawn as often as sets of three allow."""
    sizes, draws = [1, 3, 2], 20_000
    pile = np.repeat([0, 1, 2], sizes)
    sets = list(combinations(range(6), 3))
    exact = Counter(tuple(np.bincount(pile[list(chosen)], minlength=3)) for chosen in sets)
    chance = SeededRandomness(4)
    found = Counter(tuple(allot(sizes, 3, chance).tolist()) for _ in range(draws))
    assert found.keys() == exact.keys()
    for outcome, ways in exact.items():
        expected = draws * ways / len(sets)
        assert abs(found[outcome] - expected) < 4.5 * math.sqrt(expected)


@pytest.mark.parametrize(("sizes", "count"), [([], 0), ([0, 0], 0), ([0, 4, 0], 4), ([5], 2), ([2, 0, 3], 0)])
def test_piles_that_leave_no_choice(sizes, count):
    taken = allot(sizes, count, SeededRandomness(1))
    assert taken.sum() == count
    assert (taken <= np.array(sizes, np.int64)).all()


def test_no_more_than_there_is_can_be_drawn():
    with pytest.raises(ValueError, match="more things"):
        allot([1, 2], 4, SeededRandomness(1))


def test_shares_of_blocks_add_up_to_those_of_the_step():
    tree = Tree(
        (
            Node("a", (Branch(Eq("a", "v"), 1), Branch(Missing("a"), 2)), (0, 0)),
            Node(None, (), (0, 0)),
            Node(None, (), (0, 0)),
        ),
        "class",
        ("x",),
    )
    step = Place(tree, (Share(1, 0, 0, 5), Share(1, 0, 1, 4), Share(2, 0, 2, 3)))
    first, last = step.cell(step.shares[0]), step.cell(step.shares[2])
    counts = np.zeros((3, step.cells), np.int64)
    counts[:, first] = [2, 3, 4]
    counts[:, last] = [0, 3, 0]
    dealt = Counter()
    for block, mine in enumerate(allotted(Shares.of(step), counts, SeededRandomness(2))):
        for group, rows in zip(mine.group.tolist(), mine.rows.tolist(), strict=True):
            dealt[group] += rows
        for cell in (first, last):
            assert mine.rows[mine.cell == cell].sum() == counts[block, cell]
    assert dealt == {0: 5, 1: 4, 2: 3}
