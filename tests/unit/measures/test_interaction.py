"""What attributes tell of each other within cells, against shuffling and by brute force."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from incrowd.measures.information import expected_xlogx, interaction


def xlogx(number):
    return number * math.log2(number) if number else 0.0


def information(cells, a, b):
    """Rows times the information of two attributes within cells, in plain Python."""
    rows = list(zip(cells, a, b, strict=True))
    sums = [{}, {}, {}, {}]
    for cell, one, other in rows:
        for total, key in zip(sums, ((cell, one, other), (cell, one), (cell, other), cell), strict=True):
            total[key] = total.get(key, 0) + 1
    both, first, second, whole = (sum(map(xlogx, total.values())) for total in sums)
    return both - first - second + whole


def test_it_is_the_information_less_its_mean_over_all_ways_to_deal_one_of_them():
    cells, a, b = [0] * 5 + [1] * 3, [0, 0, 1, 1, 2, 0, 0, 1], [0, 0, 1, 1, 1, 2, 2, 0]
    dealt = [information(cells, a, [*one, *other]) for one in permutations(b[:5]) for other in permutations(b[5:])]
    told = interaction(*map(np.array, (cells, a, b)))
    assert told.bits == pytest.approx(information(cells, a, b) - np.mean(dealt))
    assert told.noise == pytest.approx(math.sqrt((2 * 1 + 1 * 1) / 2) / math.log(2))


@pytest.mark.parametrize("size", [4, 9, 60])
def test_independent_attributes_tell_nothing_however_small_the_cells_are(size):
    rng = np.random.default_rng(size)
    told = [
        interaction(np.arange(900) // size, rng.integers(0, 4, 900), rng.integers(0, 5, 900)).bits for _ in range(30)
    ]
    assert abs(np.mean(told)) < 4 * np.std(told) / math.sqrt(30)


def test_expected_logarithms_are_those_of_the_hypergeometric_law():
    rows, x, y = 9, 4, 6
    choose = math.comb
    by_law = sum(xlogx(n) * choose(x, n) * choose(rows - x, y - n) / choose(rows, y) for n in range(1, 5))
    assert expected_xlogx(*(np.array([one]) for one in (rows, x, y)))[0] == pytest.approx(by_law)


def test_no_rows_tell_nothing():
    none = np.array([], np.int64)
    assert interaction(none, none, none).bits == 0.0
