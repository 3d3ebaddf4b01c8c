"""Released cells that leave values open: sets of values, blocks of values, and numbers that are counted."""

from collections import Counter

import numpy as np
import pytest

import support.oracle_unchanged as oracle
from incrowd.verification.open_cells import (
    LONGEST_LIST,
    QuasiIdentifier,
    Sets,
    combinations,
    compact,
    distinct,
    in_blocks,
    own_cells,
    tally,
)

FAR = 2**46  # a list with a place for every number up to it would not fit anywhere
KEYS = [
    [],
    [0],
    [FAR],
    [5, 5, 5],
    [7, 3, 7, 0, 3, 3],
    [LONGEST_LIST - 1, 2, LONGEST_LIST, 2, LONGEST_LIST + 1],
    [FAR, 4, FAR, FAR + 1, 4, 9],
]


@pytest.mark.parametrize("keys", KEYS)
def test_different_keys_are_found_in_their_order(keys):
    different, place = compact(np.array(keys, np.int64))
    assert different.tolist() == sorted(set(keys))
    assert [different[at] for at in place.tolist()] == keys
    found, counts = tally(np.array(keys, np.int64))
    assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == Counter(keys)
    assert found.tolist() == different.tolist()


@pytest.mark.parametrize(
    ("ones", "others", "width"),
    [([], [], 3), ([7, 3, 7, 7], [0, 5, 0, 1], 6), ([0, 0, 0], [0, 1, 0], 2), ([2**40, 1, 2**40], [8, 8, 8], 9)],
)
def test_different_pairs_are_found(ones, others, width):
    first, second, place = combinations(np.array(ones, np.int64), np.array(others, np.int64), width)
    pairs = list(zip(ones, others, strict=True))
    found = list(zip(first.tolist(), second.tolist(), strict=True))
    assert found == sorted(set(pairs))
    assert [found[at] for at in place.tolist()] == pairs


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
@pytest.mark.parametrize(
    "values", [[0, 1, 1, 2, None], [4, 4, 4], [3, None, None, 0, 0, 0, 2, 1], [None, 0, 9, 9, 8, 1, 1, 2]]
)
def test_blocks_hold_neighbours_and_missing_is_behind_all(values, size):
    known = sorted({value for value in values if value is not None})
    codes = np.array([len(known) if value is None else known.index(value) for value in values])
    wanted = oracle.blocks(values, size)
    found = in_blocks(codes, len(known), size).tolist()
    assert [one for one, value in zip(found, wanted, strict=True) if value != "missing"] == [
        value for value in wanted if value != "missing"
    ]
    behind = {one for one, value in zip(found, wanted, strict=True) if value == "missing"}
    assert all(one > other for one in behind for other in set(found) - behind)
    assert len(behind) <= 1


def test_without_a_missing_value_all_are_neighbours():
    assert in_blocks(np.array([0, 2, 1, 2]), None, 2).tolist() == [0, 1, 0, 1]
    assert in_blocks(np.array([0, 2, 1, 2]), 7, 2).tolist() == [0, 1, 0, 1]


def test_missing_is_one_more_than_the_largest_block():
    assert in_blocks(np.array([0, 1, 1, 2, 3]), 3, 2).tolist() == [0, 0, 0, 1, 3]
    assert in_blocks(np.array([0, 0]), 0, 2).tolist() == [1, 1]


def test_different_codes_are_counted():
    assert [distinct(np.array(codes)) for codes in ([3], [3, 3], [0, 5, 5, 1])] == [1, 1, 3]


PEOPLE = np.array([10, 20, 30, 40, 0])


def sets_of(*members):
    sets = Sets(PEOPLE)
    return sets, sets.add_all([np.isin(np.arange(5), one) for one in members])


def members_of(sets, number):
    return set(np.flatnonzero(sets.members()[number]).tolist())


def test_a_set_is_kept_once_and_that_of_one_value_is_the_value():
    sets, numbers = sets_of([3], [0, 1], [0], [0, 1], [], [1, 0, 2])
    assert numbers[:5].tolist() == [3, 5, 0, 5, 6]
    assert len(sets) == 8
    assert [members_of(sets, number) for number in numbers] == [{3}, {0, 1}, {0}, {0, 1}, set(), {0, 1, 2}]


def test_what_two_sets_have_in_common():
    sets, (one, two, three) = sets_of([0, 1, 2], [1, 2, 3], [3, 4])
    found = sets.both(np.array([one, one, two, one, one]), np.array([two, three, three, two, one]))
    assert [members_of(sets, number) for number in found] == [{1, 2}, set(), {3}, {1, 2}, {0, 1, 2}]
    assert sets.both(np.array([], np.int64), np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize(
    ("narrow", "wide", "back"),
    [
        ([0, 3], [0, 1, 2, 3], True),  # 50 of 100 people
        ([1, 2], [0, 1, 2, 3], True),
        ([0, 3, 4], [0, 1, 2, 3, 4], True),
        ([1, 3], [0, 1, 2, 3], False),  # 60 of 100
        ([3], [0, 3], True),  # one value, of 40 of 50
        ([0, 1, 2, 3], [0, 1, 2, 3], False),
        ([3], [3], False),
    ],
)
def test_a_cell_is_given_back_by_one_value_or_half_of_the_people(narrow, wide, back):
    sets, numbers = sets_of(narrow, wide)
    assert sets.given_back(numbers[:1], numbers[1:]).tolist() == [back]


def cells_of(values, labels, allows, missing=None):
    return own_cells(QuasiIdentifier("q", np.array(values), np.array(labels), allows, missing))


def test_cells_allow_those_of_their_values_that_people_have():
    """The codes 1 and 5 are nobody's, and 6 is beyond all."""
    cells = cells_of([0, 2, 3, 3, 4], [0, 1, 2, 2, 3], [range(2), np.array([1, 2, 5, 6]), None, range(3, 7)])
    assert cells.values.tolist() == [0, 1, 2, 2, 3]
    assert (cells.people.tolist(), cells.width, cells.rows, cells.errors) == ([1, 1, 2, 1], 4, 5, 3)
    allowed = [set(np.flatnonzero(cells.allows[number]).tolist()) for number in cells.allowed]
    assert allowed == [{0}, {1}, {0, 1, 2, 3}, {0, 1, 2, 3}, {2, 3}]
    assert cells.open.tolist() == [False, False, True, True, True]


def test_a_cell_that_denies_a_value_of_its_rows_allows_all():
    cells = cells_of([0, 1, 2, 0], [0, 0, 1, 2], [np.array([0]), np.array([2]), np.array([], np.int64)])
    assert cells.open.tolist() == [True, True, False, True]
    assert cells.allows[cells.allowed].tolist() == [[True] * 3, [True] * 3, [False, False, True], [True] * 3]


@pytest.mark.parametrize(("values", "width"), [(256, 256), (257, 86), (384, 128), (385, 97), (512, 128)])
def test_a_quasi_identifier_of_many_values_is_counted_in_128_blocks(values, width):
    cells = cells_of(np.arange(values), np.zeros(values, np.int64), [None])
    assert cells.width == width
    assert (np.diff(cells.values) >= 0).all()


def test_a_cell_allows_every_block_that_it_touches():
    """Blocks of three: the values 2 to 6 are in the first, the second and the third; missing is the last."""
    values = np.arange(300)
    cells = cells_of(values, np.where(values < 299, (values >= 2) & (values < 7), 2), [None, range(2, 7), [299]], 299)
    assert cells.width == 101
    assert np.flatnonzero(cells.allows[cells.allowed[2]]).tolist() == [0, 1, 2]
    assert np.flatnonzero(cells.allows[cells.allowed[299]]).tolist() == [100]
    assert cells.open.tolist() == [True] * 299 + [False]
