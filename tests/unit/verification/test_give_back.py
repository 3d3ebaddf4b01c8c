"""Rules by value and by function, at their bounds."""

from collections import Counter

import numpy as np
import pytest

import support.oracle_unchanged as oracle
from incrowd.verification import give_back
from incrowd.verification.give_back import Crowd, ManyColumns, joined, may_exclude, prefixes_that_hold, rules_of
from incrowd.verification.open_cells import QuasiIdentifier, own_cells


@pytest.mark.parametrize(
    ("counts", "crowd", "holds"),
    [
        ([397, 3], [1000, 1000], [True, False]),  # u(3) = 10, and 20 * 10 * 2000 <= 400 * 1000
        ([396, 4], [1000, 1000], [False, False]),  # u(4) = 11
        ([399, 1, 0], [1000, 0, 1000], [True, True, False]),  # u(1) = 6: one outside, or one who is alone inside
        ([239, 1, 0], [1000, 0, 1000], [True, True, False]),  # 20 * 6 * 2000 <= 240 * 1000
        ([238, 1, 0], [1000, 0, 1000], [False, False, False]),
        ([390] + [1] * 10 + [0], [500] + [50] * 10 + [1000], [False] * 12),  # ten values that one person has alone
        ([60, 0], [60, 1_000_000], [False, False]),  # 20 * 3 * 1,000,060 > 60 * 1,000,000
        ([61, 0], [61, 3660], [True, False]),  # 20 * 3 * 3721 <= 61 * 3660
        ([61, 0], [61, 3659], [False, False]),
        ([0, 0], [10, 10], [False, False]),
    ],
)
def test_what_is_left_out_is_twenty_times_rarer(counts, crowd, holds):
    assert prefixes_that_hold(np.array([counts]), np.array([crowd])).tolist() == [holds]


def test_what_is_left_out_is_rarer_than_in_every_crowd():
    counts, wide, narrow = np.array([[61, 0]] * 2), np.array([[61, 3660]] * 2), np.array([[61, 3659], [61, 3660]])
    assert prefixes_that_hold(counts, wide, narrow).tolist() == [[False, False], [True, False]]
    assert prefixes_that_hold(counts, narrow, wide).tolist() == [[False, False], [True, False]]


ONES = [1] * 60


@pytest.mark.parametrize(
    ("counts", "crowd", "fewest"),
    [
        ([60, 0], [60, None], 60),
        ([100, 0], [1000, None], 600),  # 60 of the hundred are among 600 of the thousand
        ([100, 60, 0], [1000, 60, None], 60),  # the value with the larger share comes first
        ([30, 30, 0], [90, 30, None], 120),
        ([30, 40, 0], [90, 40, None], 100),  # all 40, and 20 of 30 among 60 of 90
        ([60, *ONES, 0], [100, *ONES, None], 60),  # sixty values of one person each
        ([60, 0, 0], [60, 0, None], 60),  # a value that nobody of the crowd has
        ([70, 70, 70, 70, 0], [70, 70, 70, 70, None], 60),
        ([65, 0], [100, None], 92),  # 60 of 65 are among 92.3 of 100, rounded down
    ],
)
def test_values_that_may_be_excluded_have_as_many_people_as_60_at_x_are_among(counts, crowd, fewest):
    """With nobody at x, values of N people can be excluded if 20 * 3 <= r * N, and r is at most 60 / fewest."""
    crowds = np.array([[more if one is None else one for one in crowd] for more in (fewest, fewest - 1, fewest + 1)])
    with np.errstate(all="raise"):
        assert may_exclude(np.array([counts] * 3), crowds).tolist() == [0, 2]


def test_people_at_x_count_against_an_exclusion():
    """r is 1: 20 * (2 + 3) of 100 people may be excluded, with 3 people at x or of 99 it may not."""
    assert may_exclude(np.array([[60, 2], [60, 3], [60, 2]]), np.array([[60, 100], [60, 100], [60, 99]])).tolist() == [
        0
    ]


def test_the_crowd_of_a_pair_is_that_of_its_member():
    counts = np.array([[5, 1], [2, 2], [0, 7]])
    assert Crowd(counts, 4).at(np.arange(12)).tolist() == [[5, 1]] * 4 + [[2, 2]] * 4 + [[0, 7]] * 4
    assert Crowd(counts).at(np.arange(7)).tolist() == [*counts.tolist(), *counts.tolist(), [5, 1]]
    assert (Crowd(counts).errors, Crowd(np.array([[7, 10]])).errors) == (3, 7)


def people(groups):
    """Codes of X and values, from the people with each value at each x."""
    pairs = [(x, value) for x, counts in enumerate(groups) for value, n in enumerate(counts) for _ in range(n)]
    return np.array([x for x, _ in pairs]), np.array([value for _, value in pairs])


def hidden(values):
    return own_cells(QuasiIdentifier("q", values, np.zeros(len(values), np.int64), [None]))


def narrowed(xs, values):
    """For each x and value, the values that are left."""
    cells, rows = hidden(values), np.arange(len(values))
    rules = rules_of(xs * cells.width + cells.values, int(xs.max()) + 1, cells)
    found = cells.allowed
    if rules is not None:
        found = joined(rules.narrowed(xs, cells, rows), found, cells.sets)
    members = cells.sets.members()[found]
    told = zip(xs.tolist(), values.tolist(), members, strict=True)
    return {(x, value): frozenset(np.flatnonzero(some).tolist()) for x, value, some in told}


def expected(xs, values):
    """The same by the definition."""
    x_of = xs.tolist()
    quasi = oracle.Quasi(values.tolist(), [None] * len(x_of), {None: None})
    usable = [True] * len(x_of)
    tests = [(x_of, oracle.by_value(x_of, quasi, [[0] * len(x_of)], usable), oracle.by_function(x_of, quasi), usable)]
    return dict(zip(zip(x_of, values.tolist(), strict=True), oracle.narrowed(quasi, tests), strict=True))


SMALL = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (1, 1), (4, 2), (0, 2), (0, 1), (1, 2)]


@pytest.mark.parametrize("small", SMALL)
def test_small_groups_count_for_a_function_by_what_others_predict(small):
    """One small group beside two of one value each, from too few people for a function to enough."""
    outcomes = Counter()
    for large in range(10, 140, 2):
        xs, values = people([(large, 0), (0, large), small])
        found = narrowed(xs, values)
        assert found == expected(xs, values)
        outcomes[any(len(one) == 1 for one in found.values())] += 1
    assert outcomes[False]
    assert outcomes[True]


@pytest.mark.parametrize(
    ("groups", "decided"),
    [
        ([(39, 1), (1, 39), (200, 0), (0, 200)], [0, 1, 0, 1]),  # 20 * 1 * 480 <= 40 * 240
        ([(38, 1), (1, 38), (200, 0), (0, 200)], [None, None, 0, 1]),  # 20 * 1 * 478 > 39 * 239
        ([(78, 2), (2, 78), (400, 0), (0, 400)], [0, 1, 0, 1]),  # 20 * 2 * 960 <= 80 * 480
        ([(76, 2), (2, 76), (400, 0), (0, 400)], [None, None, 0, 1]),  # 20 * 2 * 956 > 78 * 478
        ([(19, 0), (0, 19)], [0, 1]),  # 20 * 1 * 38 <= 40 * 19
        ([(20, 0), (0, 19)], [None, None]),  # 20 * 1 * 39 > 41 * 19
        ([(24, 0), *[(0, 1)] * 24], [None] * 25),  # 20 * 1 * 48 > 26 * 24
        ([(60, 0), *[(0, 1)] * 60], [0, *[None] * 60]),  # 20 * 1 * 120 <= 62 * 60
        ([(60, 0), *[(0, 2)] * 30], [0, *[1] * 30]),
        ([(0, 60), *[(1, 0)] * 60], [1, *[None] * 60]),
    ],
)
def test_a_function_decides_where_it_is_nearly_exact(groups, decided):
    xs, values = people(groups)
    found = narrowed(xs, values)
    for x, (counts, value) in enumerate(zip(groups, decided, strict=True)):
        for own in np.flatnonzero(counts).tolist():
            assert found[x, own] == ({value} if value == own else {0, 1})


@pytest.mark.parametrize("chunk", [1, 5, 8, 1000])
def test_a_rule_for_one_value_leaves_the_shortest_list_of_the_most_frequent(chunk, monkeypatch):
    """At the first x nobody of 400 has the values 2 and 3, half of the others do; 0 and 1 are as frequent there."""
    monkeypatch.setattr(give_back, "CHUNK", chunk)
    xs, values = people([(200, 200, 0, 0), (100, 100, 300, 300), (0, 300, 300, 300)])
    found = narrowed(xs, values)
    assert found == expected(xs, values)
    assert found[0, 0] == {0, 1}
    assert found[1, 0] == {0, 1, 2, 3}
    assert found[2, 1] == {1, 2, 3}


@pytest.mark.parametrize(("others", "told"), [(3660, {0}), (3659, {0, 1})])
def test_only_the_values_that_a_cell_allows_are_looked_at(others, told):
    """Of the cell's two values, 61 people at x have the first, and others the second: 20 * 3 * 3721 <= 61 * 3660."""
    xs, values = people([(61, 0, 5, 1, 300), (0, others, 5, 1, 300)])
    labels = np.where(values < 2, 0, 1)
    cells = own_cells(QuasiIdentifier("q", values, labels, [range(2), None]))
    rules = rules_of(xs * cells.width + cells.values, 2, cells)
    assert rules is not None
    found = joined(rules.narrowed(xs, cells, np.arange(len(xs))), cells.allowed, cells.sets)
    assert set(np.flatnonzero(cells.sets.members()[found[0]]).tolist()) == told


@pytest.mark.parametrize("seed", range(5))
def test_columns_that_are_asked_together_are_those_that_may_tell_by_themselves(seed):
    """Copies of the quasi-identifier with more and more chance in them: the first have rules, the last have none."""
    generator = np.random.default_rng(seed)
    rows = int(generator.integers(30, 2_000))
    values = generator.integers(0, 4, rows) ** 2 // 2
    cells = own_cells(QuasiIdentifier("q", values, np.zeros(rows, np.int64), [None]))
    columns = [
        np.where(generator.random(rows) < chance, generator.integers(0, 7, rows), values)
        for chance in (0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1)
    ]
    columns += [np.arange(rows) // 2 % 60, np.zeros(rows, np.int64)]
    widths = [int(one.max()) + 1 for one in columns]
    together = ManyColumns.of(columns, widths).may_tell(cells)
    rules = [
        rules_of(one * cells.width + cells.values, width, cells) for one, width in zip(columns, widths, strict=True)
    ]
    assert all(may for may, one in zip(together, rules, strict=True) if one is not None)
    assert together[0]
    assert not together[-1]
