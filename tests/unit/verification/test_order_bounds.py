"""Where an order begins to be told: just below a bound nothing is said, just above it is, by sums in plain Python."""

from __future__ import annotations

import itertools
import math
import random
import statistics
import warnings

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

NO_ORDER = "as chance would have it"


def shuffled(rows, seed=86420):
    """An order that none of the usual seeds gives."""
    places = list(range(rows))
    random.Random(seed).shuffle(places)
    return np.array(places)


def correlation(left, right):
    return statistics.correlation(left, right) if len(set(left)) > 1 and len(set(right)) > 1 else 0.0


def sigmas(numbers):
    """How many deviations the numbers are away from those of a fair shuffle."""
    follows = correlation(range(len(numbers)), numbers)
    beside = correlation(numbers[1:], numbers[:-1])
    return max(abs(follows), abs(beside)) * math.sqrt(len(numbers) - 2)


def near_six(mixed, measure):
    """What is mixed so that the measure is a little less, and a little more than six."""
    low, high = 0.0, 1.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if measure(mixed(middle)) < 6 else (low, middle)
    return mixed(low), mixed(high)


SHAPES = {
    "rising": lambda rows: np.arange(rows) / rows,
    "falling": lambda rows: -np.arange(rows) / rows,
    "waving": lambda rows: np.sin(np.arange(rows) / rows * 4 * math.pi),
    "to and fro": lambda rows: (-1.0) ** np.arange(rows),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rows", [45, 60, 200])
def test_six_deviations_are_the_bound(shape, rows):
    noise, pure = shuffled(rows) / rows, SHAPES[shape](rows)
    below, above = near_six(
        lambda share: (share * pure + (1 - share) * noise).tolist(), lambda numbers: sigmas(numbers)
    )
    assert 5.999 < sigmas(below) < 6 <= sigmas(above) < 6.001
    assert not is_ordered(np.array(below))
    assert is_ordered(np.array(above))


@pytest.mark.parametrize("rows", [2, 11, 12, 13, 20, 37])
def test_of_few_rows_only_a_perfect_order_is_told(rows):
    rising = np.arange(rows, dtype=float)
    for numbers in (rising, rising[::-1], 3 * rising - 7):
        assert is_ordered(numbers) == (rows >= 12)
    rising[[0, 1]] = rising[[1, 0]]
    assert not is_ordered(rising)


@pytest.mark.parametrize("rows", [12, 13, 400])
def test_equal_numbers_have_no_order(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not is_ordered(np.full(rows, 3.0))
        assert not is_ordered(np.array([1.0] + [3.0] * (rows - 1)))
        assert not is_ordered(np.array([3.0] * (rows - 1) + [1.0]))


# rows


def with_neighbours(rows, pairs, step):
    """Rows in an order of chance, of which so many stand beside a neighbour of the input."""
    chance = random.Random(f"{rows} {pairs} {step}")
    while True:
        firsts = chance.sample(range(0, rows - 1, 2), pairs)
        units = [[first, first + 1][::step] for first in firsts]
        units += [[row] for row in range(rows) if row not in firsts and row - 1 not in firsts]
        chance.shuffle(units)
        order = [row for unit in units for row in unit]
        beside = sum(abs(one - other) == 1 for one, other in itertools.pairwise(order))
        if beside == pairs and sigmas(order) < 5.5:
            return np.array(order)


@pytest.mark.parametrize(
    ("rows", "pairs", "told"),
    [
        (72, 30, False),
        (73, 30, True),
        (73, 25, True),
        (73, 24, False),
        (90, 25, True),
        (200, 24, False),
        (200, 25, True),
        (200, 26, True),
    ],
)
@pytest.mark.parametrize("step", [1, -1])
def test_more_than_two_dozen_neighbours_are_told(rows, pairs, told, step):
    check = row_order_check(with_neighbours(rows, pairs, step))
    expected = f"{pairs} rows stand beside a neighbour of the input" if told else NO_ORDER
    assert (check.name, check.passed, check.finding) == ("order", not told, expected)


def test_thousands_of_neighbours_are_told_as_such():
    pairs = np.arange(4000).reshape(-1, 2)[shuffled(2000)].reshape(-1)
    blocks = row_order_check(pairs)
    assert blocks.finding in ("2,000 rows stand beside a neighbour of the input", "rows follow the order of the input")
    assert row_order_check(np.arange(100)).finding == "rows follow the order of the input"


SEEDS = [0, 1, 2, 3, 7, 42, 123, 1234, 12345]


def orders(seed, rows):
    words = np.random.Generator(np.random.Philox(seed)).integers(0, 2**64, size=rows, dtype=np.uint64)
    places = list(range(rows))
    random.Random(seed).shuffle(places)
    return [
        np.random.default_rng(seed).permutation(rows),
        np.random.RandomState(seed).permutation(rows),
        np.argsort(words),
        np.array(places),
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rows", [12, 50])
def test_orders_of_the_usual_seeds_are_told(seed, rows):
    kept = np.array(sorted(random.Random(5).sample(range(1000), rows)))
    for order in orders(seed, rows):
        for origin in (order, kept[order]):
            check = row_order_check(origin)
            assert (check.passed, check.finding) == (False, "rows are in an order that a usual seed gives")
            assert row_order_check(origin, seeded=True).finding == NO_ORDER


@pytest.mark.parametrize("seed", [*SEEDS, 4, 6, 8, 41, 43])
def test_of_few_rows_and_of_other_seeds_nothing_is_told(seed):
    for order in orders(seed, 11):
        assert row_order_check(order).finding == "too few rows to tell"
    for order in orders(seed, 50) if seed not in SEEDS else ():
        assert row_order_check(order).finding == NO_ORDER


def test_every_generator_is_tried_however_many_rows_there_are():
    for order in orders(0, 5000):
        assert not row_order_check(order).passed
        swapped = order.copy()
        swapped[:2] = order[1::-1]
        assert row_order_check(swapped).passed


# what is hidden


def test_every_column_that_sorts_the_rows_is_named():
    rows = 100
    mixed = shuffled(rows)
    columns = [("a", pa.array(range(rows))), ("b", pa.array(mixed)), ("c", pa.array([f"{n:03}" for n in range(rows)]))]
    check = hidden_order_check(columns)
    assert (check.name, check.passed, check.finding) == ("hidden order", False, "rows are sorted by a, c")
    check = hidden_order_check(columns[1:2])
    assert (check.passed, check.finding) == (True, "hidden columns do not order the rows")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pa.array([5, None, 1, 5]), [2, 3, 1, 2]),
        (pa.array(["b", "a", None, "b"]), [2, 1, 3, 2]),
        (pa.array(["b", "a", None, "b"]).dictionary_encode(), [2, 1, 3, 2]),
        (pa.chunked_array([["b"], ["a", "b"]]), [2, 1, 2]),
        (pa.nulls(3), [0, 0, 0]),
        (pa.array([True, False]), [2, 1]),
    ],
)
def test_ranks(values, expected):
    found = ranks(values)
    assert (found.tolist(), found.dtype) == (expected, np.float64)


@pytest.mark.parametrize(
    ("rows", "start"), [(0, 0), (4095, 0), (4096, 0), (4097, 0), (4098, 1), (4100, 2), (10_000, 2952)]
)
def test_the_window_has_as_many_rows_on_either_side(rows, start):
    assert window(rows) == slice(start, start + 4096)


# classes


def sigmas_in_classes(numbers, classes):
    """The covariance of numbers and places within classes, in deviations of fair shuffles."""
    together, chance = 0.0, 0.0
    for one in set(classes):
        mine = [place for place, known in enumerate(classes) if known == one]
        values = [numbers[place] for place in mine]
        places_apart = [place - sum(mine) / len(mine) for place in mine]
        values_apart = [value - sum(values) / len(mine) for value in values]
        together += sum(one * other for one, other in zip(places_apart, values_apart, strict=True))
        if len(mine) > 1:
            chance += sum(p * p for p in places_apart) * sum(v * v for v in values_apart) / (len(mine) - 1)
    return abs(together) / math.sqrt(chance) if chance else 0.0


def partly_sorted(size, count, shares):
    """Numbers in classes of some size, of which a share is sorted; classes lie scattered."""
    rows = size * count
    classes = (shuffled(rows) % count + 1).tolist()
    numbers = shuffled(rows, 13579).tolist()
    found = []
    for share in shares:
        some = list(numbers)
        for one in range(1, round(share * count) + 1):
            mine = [place for place, known in enumerate(classes) if known == one]
            for place, value in zip(mine, sorted(some[place] for place in mine), strict=True):
                some[place] = value
        found.append((some, classes))
    return found


@pytest.mark.parametrize(("size", "count"), [(2, 80), (3, 30), (5, 20), (20, 8)])
@pytest.mark.parametrize("alone", [0, 20])
def test_six_deviations_within_classes_are_the_bound(size, count, alone):
    """Rows that are alone in their class tell nothing, and change nothing."""
    told = set()
    for numbers, classes in partly_sorted(size, count, [part / count for part in range(count + 1)]):
        numbers, classes = numbers + list(range(alone)), classes + list(range(count + 3, count + 3 + alone))
        ranked = {value: rank for rank, value in enumerate(sorted(set(numbers)))}
        far = sigmas_in_classes([ranked[value] for value in numbers], classes)
        check = class_order_check([("age", pa.array(numbers))], np.array(classes))
        assert check.passed == (far <= 6), far
        told.add(check.finding)
    assert told == {"rows of a class are sorted by age", "rows of a class are in no order"}


def test_all_columns_that_sort_classes_are_named():
    classes = np.repeat(np.arange(100), 2)
    rising, mixed = pa.array(list(range(200))), pa.array([0, 1, 1, 0] * 50)
    check = class_order_check([("a", rising), ("b", mixed), ("c", rising)], classes)
    assert (check.name, check.passed) == ("order in classes", False)
    assert check.finding == "rows of a class are sorted by a, c"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert class_order_check([("d", pa.array([7] * 200))], classes).passed
        assert class_order_check([("a", rising)], np.arange(200) + 3).passed
        assert not class_order_check([("a", rising)], classes * 2 + 1).passed


# numbers of groups


def firsts_in_order(groups):
    """Rows of groups that begin one after the other, and go on as chance has it."""
    rest = [group for group in range(groups) for _ in range(4)]
    random.Random(3).shuffle(rest)
    return [*range(groups), *rest]


def middles_in_order(groups):
    """Rows of groups of other sizes that lie around middles that rise, some near to them and some far."""
    chance = random.Random(4)
    placed = []
    for group in range(groups):
        for _ in range(chance.choice([1, 3])):
            far = chance.uniform(0, 3 * groups)
            placed += [(group - far, group), (group + far, group)]
    return [group for _, group in sorted(placed)]


@pytest.mark.parametrize("groups", [100, 120])
@pytest.mark.parametrize("make", [firsts_in_order, middles_in_order])
def test_groups_that_are_numbered_by_rows_are_told(make, groups):
    numbers = np.array(make(groups))
    elsewhere = shuffled(len(numbers), 97531)
    for given, origin in ((numbers, elsewhere), (numbers[elsewhere], elsewhere)):
        for renumbered in (given, 5 * given + 3, -given):
            check = group_numbers_check(renumbered, origin)
            assert (check.name, check.passed) == ("group numbers", False)
            assert check.finding == "groups are numbered as their rows come"
    fair = shuffled(groups, 24680)[numbers]
    for given, origin in ((fair, elsewhere), (fair[elsewhere], elsewhere)):
        check = group_numbers_check(given, origin)
        assert (check.passed, check.finding) == (True, "in no order of rows")
