"""Orders that tell something are found; those of a fair shuffle are not."""

import numpy as np
import pyarrow as pa
import pytest

from incrowd.verification.order import (
    class_order_check,
    group_numbers_check,
    hidden_order_check,
    is_ordered,
    ranks,
    row_order_check,
    window,
)
from incrowd.vocabulary.randomness import SystemRandomness, permutation

ROWS = 500
SORTED = np.arange(ROWS)


def halves_swapped():
    return np.concatenate([SORTED[ROWS // 2 :], SORTED[: ROWS // 2]])


def shuffled_in_blocks():
    rng = np.random.default_rng(99)
    return np.concatenate([rng.permutation(part) for part in np.split(SORTED, 10)])


def dealt_in_turn():
    return np.concatenate([SORTED[start::7] for start in range(7)])


ORDERS = {
    "kept": SORTED,
    "reversed": SORTED[::-1],
    "halves swapped": halves_swapped(),
    "shuffled within blocks": shuffled_in_blocks(),
    "every seventh": dealt_in_turn(),
    "one half kept": np.concatenate([SORTED[:250], np.random.default_rng(77).permutation(SORTED[250:])]),
}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_of_the_input_is_found(name):
    check = row_order_check(ORDERS[name])
    assert not check.passed
    assert "input" in check.finding or "neighbour" in check.finding


@pytest.mark.parametrize("seed", [0, 7, 42])
def test_an_order_that_a_usual_seed_gives_is_found(seed):
    assert not row_order_check(np.random.default_rng(seed).permutation(ROWS)).passed
    assert not row_order_check(np.random.RandomState(seed).permutation(ROWS)).passed
    kept = np.sort(np.random.default_rng(5).choice(1000, ROWS, replace=False))
    assert not row_order_check(kept[np.random.default_rng(seed).permutation(ROWS)]).passed


def test_a_fair_shuffle_passes():
    for rows in (1, 2, 5, 11, 12, 13, 40, ROWS):
        for _ in range(30):
            check = row_order_check(permutation(rows, SystemRandomness()))
            assert check.passed, check


def test_of_few_rows_nothing_can_be_told():
    assert row_order_check(np.arange(11)).finding == "too few rows to tell"
    assert row_order_check(np.arange(11)).passed
    assert not row_order_check(np.arange(12)).passed


def test_rows_sorted_by_what_is_hidden_are_found():
    rng = np.random.default_rng(3)
    age = np.sort(rng.integers(18, 90, ROWS))
    columns = {"id": pa.array([f"p{n:04d}" for n in range(ROWS)]), "age": pa.array(age), "job": pa.array(["x"] * ROWS)}
    check = hidden_order_check(iter(columns.items()))
    assert not check.passed
    assert check.finding == "rows are sorted by id, age"
    mixed = {name: values.take(pa.array(permutation(ROWS, SystemRandomness()))) for name, values in columns.items()}
    assert hidden_order_check(iter(mixed.items())).passed


def test_grouped_rows_are_ordered_too():
    assert is_ordered(np.repeat(np.random.default_rng(1).permutation(50), 10).astype(float))
    assert not is_ordered(np.full(ROWS, 3.0))


def test_ranks_of_dictionaries_and_missing_values():
    assert ranks(pa.array(["b", "a", "b"]).dictionary_encode()).tolist() == [2, 1, 2]
    assert ranks(pa.array([5, None, 1])).tolist() == [2, 3, 1]


def test_the_window_is_in_the_middle():
    assert np.arange(10)[window(10)].tolist() == list(range(10))
    some = np.arange(10_000)[window(10_000)]
    assert len(some) == 4096
    assert some[0] == (10_000 - 4096) // 2


def test_rows_of_a_class_that_are_sorted_by_a_hidden_value_are_found():
    rng = np.random.default_rng(5)
    classes, ages = rng.integers(0, 60, ROWS), rng.integers(18, 90, ROWS)
    assert class_order_check([("age", pa.array(ages))], classes).passed
    for one in range(60):
        mine = np.flatnonzero(classes == one)
        ages[mine] = np.sort(ages[mine])
    assert "age" in class_order_check([("age", pa.array(ages))], classes).finding
    assert class_order_check([("sex", pa.array(["f"] * ROWS))], classes).passed
    assert class_order_check([("age", pa.array(ages))], np.arange(ROWS)).passed


def test_groups_numbered_as_rows_come_are_found():
    rng = np.random.default_rng(4)
    groups = rng.integers(0, 40, ROWS)
    first = {group: number for number, group in enumerate(dict.fromkeys(groups.tolist()))}
    numbered = np.array([first[group] for group in groups.tolist()])
    order = rng.permutation(ROWS)
    assert not group_numbers_check(numbered[order], order).passed
    fair = permutation(40, SystemRandomness())
    assert group_numbers_check(fair[numbered][order], order).passed
