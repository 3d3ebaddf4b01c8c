"""How many rows persons keep, which, and where numbers may be cut."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.methods.histories.rows_of_persons import Histories, even_places, levels
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.schema import ColumnType

CHANCE = SeededRandomness(3)


def column(name, codes, values):
    kind = ColumnType.INTEGER if isinstance(values[0], int) else ColumnType.CATEGORICAL
    return EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(values))


def fewest_lost(lengths, k):
    """Over all ways to cut sorted persons into stretches of at least k."""
    ordered = sorted(lengths)
    best = None
    for cuts in range(len(ordered) // k):
        for places in combinations(range(1, len(ordered)), cuts):
            parts = [ordered[a:b] for a, b in zip((0, *places), (*places, len(ordered)), strict=True)]
            if all(len(part) >= k for part in parts):
                lost = sum(sum(part) - len(part) * part[0] for part in parts)
                best = lost if best is None else min(best, lost)
    return best


def test_the_worked_example_of_numbers_of_rows():
    lengths = np.array([9, 4, 4, 3, 1, 1, 1])
    kept = levels(lengths, 2, CHANCE)
    assert sorted(kept.tolist(), reverse=True) == [4, 4, 3, 3, 1, 1, 1]
    assert (lengths - kept).sum() == 6


@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.integers(1, 4))
def test_each_number_of_rows_is_kept_by_k_persons_and_fewest_are_lost(lengths, k):
    if len(lengths) < k:
        return
    kept = levels(np.array(lengths), k, CHANCE)
    assert (kept <= lengths).all()
    assert np.unique(kept, return_counts=True)[1].min() >= k
    assert sum(lengths) - kept.sum() == fewest_lost(lengths, k)


def test_the_earliest_rows_are_kept_where_there_is_an_order():
    histories = Histories.of(
        np.array([0, 0, 0, 1]),
        2,
        [column("q", [0, 1, 0, 0], ["x", "y"])],
        column("day", [2, 0, 1, 0], [1, 2, 3]),
        CHANCE,
    )
    kept = histories.kept(np.array([2, 2]))
    assert kept.tolist() == [False, True, True, True]
    assert histories.places(kept).tolist() == [-1, 0, 1, 0]


def test_without_an_order_rows_like_another_go_first_and_values_align():
    histories = Histories.of(np.array([0] * 4), 1, [column("q", [1, 0, 1, 1], ["x", "y"])], None, CHANCE)
    kept = histories.kept(np.array([2]))
    assert kept[1]
    assert histories.places(kept)[1] == 0
    assert sorted(histories.places(kept).tolist()) == [-1, -1, 0, 1]


def test_which_rows_stay_is_chance_without_an_order():
    def kept(seed):
        codes = column("q", list(range(8)), list("abcdefgh"))
        histories = Histories.of(np.zeros(8, np.int64), 1, [codes], None, SeededRandomness(seed))
        return tuple(histories.kept(np.array([3])).tolist())

    assert len({kept(seed) for seed in range(20)}) > 5


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=30),
    st.integers(1, 4),
)
def test_every_piece_between_cuts_has_rows_of_enough_persons(rows, smallest):
    owners = np.array([person for person, _ in rows])
    numbers = column("n", [code for _, code in rows], list(range(0, 70, 10)))
    places = even_places(numbers, owners, smallest)
    assert places == sorted(set(places))
    for first, last in zip((0, *places), (*places, 7), strict=True):
        persons = {person for person, code in rows if first <= code < last}
        assert len(persons) >= smallest or not places


def test_missing_numbers_are_no_places():
    numbers = column("n", [0, 2, 1, 2], [5, 7])  # 2 is missing
    assert even_places(numbers, np.array([0, 1, 1, 0]), 1) == [1]


@pytest.mark.parametrize("k", [1, 5])
def test_nobody_has_no_levels(k):
    assert levels(np.array([], np.int64), k, CHANCE).tolist() == []
