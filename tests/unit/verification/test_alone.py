"""People whose combination of unchanged columns nobody else has."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from incrowd.verification.alone import count_alone
from incrowd.verification.unchanged import UnchangedColumn


def columns(*codes, roles=()):
    given = [*roles, *["other"] * len(codes)]
    return [UnchangedColumn(f"c{at}", np.array(one), role=given[at]) for at, one in enumerate(codes)]


def alone_by(chosen):
    return sum(n == 1 for n in Counter(zip(*(one.codes.tolist() for one in chosen), strict=True)).values())


def first_best(sets):
    """The first of the sets by which most people are alone."""
    return max(sets, key=lambda chosen: (alone_by(chosen), -sets.index(chosen)))


def table(seed):
    """Seven columns: some tell much, some nothing."""
    generator = np.random.Generator(np.random.Philox(seed))
    rows = int(generator.integers(3, 60))
    return columns(*(generator.integers(0, int(generator.integers(1, 9)), rows) for _ in range(7))), rows


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("sizes", [0, 1, 2, 3])
def test_sets_are_compared_up_to_a_bound_and_grow_beyond(seed, sizes):
    """7, 21 and 35 sets: the bound is met exactly, so that so many sizes are compared one by one."""
    all_columns, rows = table(seed)
    alone = count_alone(all_columns, rows, rows * (0, 7, 21, 35)[sizes])
    before = []
    for size, found in enumerate(alone.best, 1):
        if size <= sizes:
            before = first_best(list(combinations(all_columns, size)))
        else:
            grown = [[one for one in all_columns if one in before or one is new] for new in all_columns]
            before = first_best([one for one in grown if len(one) == size])
        assert (found.columns, found.people) == (tuple(one.name for one in before), alone_by(before))
        assert found.exact is (size <= sizes)
    assert len(alone.best) == 3


def test_one_person_fewer_than_the_bound_asks_for_is_too_few():
    all_columns, rows = table(1)
    assert [one.exact for one in count_alone(all_columns, rows, rows * 21 - 1).best] == [True, False, False]


@pytest.mark.parametrize(("rows", "exact"), [(400_000_000, True), (400_000_001, False)])
def test_up_to_400_million_people_times_sets_are_compared(rows, exact, monkeypatch):
    """Nobody is counted here: that many people would take a while."""
    monkeypatch.setattr("incrowd.verification.alone._alone", lambda columns, rows: 0)
    assert [one.exact for one in count_alone(columns([0]), rows).best] == [exact]


@pytest.mark.parametrize(("most", "exact"), [(34, [True, True, False]), (35, [True, True, True]), (6, [False] * 3)])
def test_more_sets_than_the_bound_are_not_compared_however_few_people_there_are(most, exact, monkeypatch):
    monkeypatch.setattr("incrowd.verification.alone.MOST_SETS", most)
    assert [one.exact for one in count_alone(*table(1)).best] == exact


def test_the_class_counts_apart_and_so_do_private_columns():
    roles = ("private", "other", "target", "sensitive")
    alone = count_alone(columns([0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0], roles=roles), 4)
    assert (alone.without_class, alone.with_class, alone.not_private, alone.not_called_private) == (2, 4, 1, 1)
    assert alone.roles == {"c0": "private", "c1": "other", "c2": "target", "c3": "sensitive"}
    assert [one.columns for one in alone.best] == [("c0",), ("c0", "c1"), ("c0", "c1", "c3")]


def telling_set(all_columns):
    """The first of the best sets that reaches half; beyond three columns the one that adds most joins, in turn."""
    everybody = alone_by(all_columns)
    best = [first_best(list(combinations(all_columns, size))) for size in (1, 2, 3)]
    chosen = next((one for one in best if 2 * alone_by(one) >= everybody), best[-1])
    while 2 * alone_by(chosen) < everybody:
        grown = [[one for one in all_columns if one in chosen or one is new] for new in all_columns]
        chosen = first_best([one for one in grown if len(one) > len(chosen)])
    return tuple(one.name for one in chosen), alone_by(chosen), len(chosen) < 4


@pytest.mark.parametrize("values", [2, 3, 5, 9, 20])
def test_half_of_those_who_are_alone_makes_a_set_telling(values):
    """Of columns with few values many are needed."""
    sizes = set()
    for seed in range(20):
        generator = np.random.Generator(np.random.Philox(seed))
        all_columns = columns(*(generator.integers(0, values, 24) for _ in range(7)))
        alone = count_alone(all_columns, 24)
        assert alone.without_class == alone_by(all_columns)
        assert alone.telling is not None
        found = alone.telling.columns, alone.telling.people, alone.telling.exact
        assert found == telling_set(all_columns)
        sizes.add(len(alone.telling.columns))
    assert len(sizes) > 1 or values > 2


@pytest.mark.parametrize(
    ("codes", "telling"),
    [
        ([[0, 1, 2, 2], [0, 0, 0, 1]], ("c0",)),  # two of four
        ([[0, 2, 2, 2], [0, 0, 1, 2]], ("c1",)),
        ([[0, 1, 1, 1, 1], [0, 0, 1, 1, 2], [0, 0, 0, 1, 1]], ("c0", "c1")),  # one of five, then three
        ([[0, 1, 2, 2, 2], [0, 0, 0, 0, 1], [0, 0, 0, 1, 1]], ("c0", "c1")),  # two of five are not half
        ([[0, 0, 0]], None),
    ],
)
def test_the_smallest_set_that_reaches_half_is_told(codes, telling):
    found = count_alone(columns(*codes), len(codes[0])).telling
    assert (None if found is None else found.columns) == telling


def test_a_telling_set_may_need_more_than_three_columns():
    cube = np.arange(256)
    alone = count_alone(columns(cube // 64, cube // 16 % 4, cube // 4 % 4, cube % 4), 256)
    assert [one.people for one in alone.best] == [0, 0, 0]
    assert alone.telling is not None
    assert (alone.telling.columns, alone.telling.people) == (("c0", "c1", "c2", "c3"), 256)
    assert not alone.telling.exact


def test_combinations_too_many_for_one_number_are_counted():
    """The first two columns tell everybody apart, and 2 ** 60 combinations of the others come after them."""
    cells = np.arange(1024)
    wide = [np.where(cells == 0, 2**20 - 1, 0) for _ in range(4)]
    assert count_alone(columns(cells // 32, cells % 32, *wide), 1024).without_class == 1024
    assert count_alone(columns(cells // 32, cells // 64, *wide), 1024).without_class == 1


def test_nobody_is_alone_by_nothing_but_the_only_one():
    assert [(one.without_class, one.telling) for one in (count_alone([], 1), count_alone([], 2))] == [
        (1, None),
        (0, None),
    ]
    empty = count_alone(columns(np.empty(0, np.int64)), 0)
    assert (empty.without_class, empty.telling) == (0, None)
