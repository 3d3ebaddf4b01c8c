"""Intervals and small formulas, against a second way to get them."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from incrowd.attacks.attack import (
    area,
    area_interval,
    correlation_interval,
    difference_interval,
    mean_interval,
    rank_correlation,
    share_interval,
)
from incrowd.attacks.class_values import chance_alone, ordered_distance, share_alone, variation
from incrowd.attacks.membership import advantage
from incrowd.attacks.minimality import ShownTree, solve


def test_chance_of_a_class_of_one_value_by_all_deals() -> None:
    values, classes = [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]
    shares = []
    for deal in permutations(values):
        counts = np.zeros((2, 2), np.int64)
        np.add.at(counts, (classes, list(deal)), 1)
        shares.append(share_alone(counts))
    counts = np.zeros((2, 2), np.int64)
    np.add.at(counts, (classes, values), 1)
    assert chance_alone(counts) == pytest.approx(np.mean(shares))


def test_area_by_all_pairs() -> None:
    generator = np.random.default_rng(1)
    members, others = generator.integers(0, 6, 30).astype(float), generator.integers(0, 5, 20).astype(float)
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a in members for b in others]
    assert area(members, others) == pytest.approx(np.mean(pairs))


def test_distances_in_fractions() -> None:
    counts = np.array([[3, 1, 0], [1, 2, 5], [0, 4, 4]])
    whole = [Fraction(int(one), 20) for one in counts.sum(axis=0)]
    for row, equal, order in zip(counts, variation(counts), ordered_distance(counts), strict=True):
        share = [Fraction(int(one), int(row.sum())) for one in row]
        apart = [a - b for a, b in zip(share, whole, strict=True)]
        assert equal == pytest.approx(float(sum(map(abs, apart)) / 2))
        assert order == pytest.approx(float(sum(abs(sum(apart[:place], Fraction())) for place in (1, 2, 3)) / 2))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_intervals_cover_the_truth(share: float) -> None:
    generator = np.random.default_rng(2)
    hits = 0
    for _ in range(400):
        low, high = share_interval(int(generator.binomial(200, share)), 200)
        hits += low <= share <= high
    assert hits >= 0.97 * 400


def test_the_interval_of_an_area_covers_a_half_where_there_is_nothing() -> None:
    generator = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        found = area(generator.normal(size=80), generator.normal(size=60))
        low, high = area_interval(found, 80, 60)
        hits += low <= 0.5 <= high
    assert hits >= 0.97 * 300


def test_the_ends_of_the_scale() -> None:
    assert difference_interval((50, 50), (50, 50))[0] < 0 < difference_interval((50, 50), (50, 50))[1]
    assert rank_correlation([1, 1, 1], [1, 2, 3]) == 0
    assert correlation_interval(1.0, 4)[1] <= 1
    assert mean_interval([2.0, 2.0], np.random.default_rng(0)) == (2.0, 2.0)
    assert advantage((10, 10), (10, 10))[0] == 0


def test_counts_follow_up_and_down_a_tree() -> None:
    tree = ShownTree([[1, 2], [3, 4], [], [], []], [[100], [None], [40], [25], [None]], 10, True)
    assert solve(tree) == [[100], [60], [40], [25], [35]]
