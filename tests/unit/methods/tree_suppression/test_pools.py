"""Pools of rows known by number: drawing is exact and fair, books balance."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.methods.tree_suppression.pools import (
    EMPTY,
    Bundle,
    BundleLedger,
    Pool,
    draw,
    draw_stratified,
    largest_remainder,
    minus,
    resting,
    shares_of,
    union,
)
from incrowd.plan.steps import DROPPED, Share
from incrowd.vocabulary.randomness import SeededRandomness


def as_counter(pool):
    return Counter(dict(zip(pool.cells.tolist(), pool.counts.tolist(), strict=True)))


counters = st.dictionaries(st.integers(0, 20), st.integers(0, 9), max_size=8)


def pool_of(counts):
    cells = sorted(counts)
    return Pool.of(cells, [counts[cell] for cell in cells])


@settings(max_examples=200, deadline=None)
@given(st.lists(counters, max_size=4))
def test_union_adds(parts):
    total = Counter()
    for part in parts:
        total.update(part)
    together = union([pool_of(part) for part in parts])
    assert as_counter(together) == +total
    assert together.size == sum(total.values())
    assert together.cells.tolist() == sorted(together.cells.tolist())


@settings(max_examples=200, deadline=None)
@given(counters, st.integers(0, 2**32), st.data())
def test_a_draw_and_the_rest_make_the_whole(counts, seed, data):
    pool = pool_of(counts)
    size = data.draw(st.integers(0, pool.size))
    for part in (
        draw(pool, size, SeededRandomness(seed)),
        draw_stratified(pool, size, SeededRandomness(seed), 3) if pool.size else EMPTY,
    ):
        assert part.size == (size if pool.size else 0)
        assert as_counter(part) <= as_counter(pool)
        assert as_counter(minus(pool, part)) + as_counter(part) == as_counter(pool)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=6).filter(any), st.data())
def test_seats_are_in_proportion(totals, data):
    size = data.draw(st.integers(0, sum(totals)))
    seats = largest_remainder(np.array(totals), size)
    assert int(seats.sum()) == size
    for seat, total in zip(seats.tolist(), totals, strict=True):
        assert abs(seat - size * total / sum(totals)) < 1
        assert 0 <= seat <= total


def test_every_set_of_rows_is_equally_likely():
    """Two rows of cells with 1, 2 and 1 rows: six pairs of rows, seen as pairs of cells."""
    pool, draws, chance = Pool.of([4, 7, 9], [1, 2, 1]), 6000, SeededRandomness(3)
    seen = Counter(tuple(sorted(as_counter(draw(pool, 2, chance)).elements())) for _ in range(draws))
    rows = [4, 7, 7, 9]
    expected = Counter(pair for pair in combinations(rows, 2))
    assert set(seen) == set(expected)
    chi_square = sum((seen[p] - draws * n / 6) ** 2 / (draws * n / 6) for p, n in expected.items())
    assert chi_square < 28.5  # four degrees of freedom, one in 100,000


def test_the_ledger_skips_nothing_and_numbers_groups_by_bundle():
    ledger = BundleLedger()
    assert ledger.release(Pool.of([2], [5]), ()) == 5
    assert ledger.release(EMPTY, ()) == 0
    assert len(ledger.bundles) == 1
    bundles = [Bundle(Pool.of([2, 5], [3, 1]), ()), Bundle(Pool.of([2], [4]), ())]
    assert shares_of(bundles, Pool.of([0], [2]), None) == (
        Share(0, None, DROPPED, 2),
        Share(2, None, 0, 3),
        Share(2, None, 1, 4),
        Share(5, None, 0, 1),
    )
    assert shares_of(bundles, EMPTY, 2) == (Share(1, 0, 0, 3), Share(1, 0, 1, 4), Share(2, 1, 0, 1))
    counts = np.array([[1, 2], [0, 3]])
    assert as_counter(resting(counts, 1, None)) == {1: 3}
    assert as_counter(resting(counts, 0, 2)) == {0: 1, 1: 2}
