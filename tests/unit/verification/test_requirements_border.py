"""Logarithms at the border: equal to the last digit, or a hair to either side."""

from __future__ import annotations

from fractions import Fraction
from math import prod

import pytest

from incrowd.verification.requirements_border import diverse, growth_below_log, ratio_below

HAIR = Fraction(1, 10**18)


@pytest.mark.parametrize(
    ("counts", "limit"),
    [
        ([1], 1),
        ([7], 1),
        ([5, 5], 2),
        ([3, 3, 3], 3),
        ([1] * 3001, 3001),
        ([4000, 4000], 2),
        ([16, 4, 4, 4, 4], 4),  # 32 log 32 - 16 log 16 - 4 * 4 log 4 = 64 log 2 = 32 log 4
        ([10**12] * 7, 7),
    ],
)
def test_entropy_on_the_border_is_enough_and_a_hair_more_is_too_much_to_ask(counts, limit):
    assert diverse(counts, Fraction(limit))
    assert diverse(counts, limit - HAIR)
    assert not diverse(counts, limit + HAIR)


@pytest.mark.parametrize("counts", [[2, 1], [5, 4, 1], [9, 1, 1, 1], [6, 4]])
@pytest.mark.parametrize("limit", ["1", "3/2", "7/4", "9/5", "19/10", "2", "21/10", "5/2", "3"])
def test_entropy_agrees_with_whole_numbers(counts, limit):
    l, rows = Fraction(limit), sum(counts)  # noqa: E741
    assert diverse(counts, l) == (Fraction(rows) ** rows >= l**rows * prod(count**count for count in counts))


@pytest.mark.parametrize(
    ("counts", "below"),
    [
        ([3, 4, 1, 2], True),  # 0.5 against log 2 = 0.693147
        ([4, 4, 1, 2], False),  # 1
        ([11, 13, 5, 10], True),  # 0.692308
        ([22, 26, 50, 100], True),
        ([17, 20, 1, 2], False),  # 0.7
        ([5, 5, 9, 9], True),  # all rows have it, in the table too: 0 against log 1
        ([1, 4, 1, 2], True),  # rarer than in the table
        ([7, 9, 2, 6], False),  # 1.3333 against log 3 = 1.0986
        ([2, 3, 2, 6], True),  # 1
        ([7, 10, 2, 6], False),  # 1.1
    ],
)
def test_growth_is_held_against_the_logarithm(counts, below):
    assert growth_below_log(counts) == below


def test_growth_a_hair_from_the_logarithm():
    # (1 + log 2) / 2 = 0.84657359027997265470861606072908828...
    near = 84657359027997265470861606072
    assert growth_below_log([near, 10**29, 1, 2])
    assert not growth_below_log([near + 1, 10**29, 1, 2])


@pytest.mark.parametrize(
    ("counts", "delta", "below"),
    [
        ([2, 4, 1, 4], 1, False),  # twice as much is not less than 2^1
        ([2, 4, 1, 4], 1 + HAIR, True),
        ([2, 4, 1, 4], 1 - HAIR, False),
        ([1, 8, 1, 4], 1, False),  # half as much neither
        ([1, 8, 1, 4], 1 + HAIR, True),
        ([3, 8, 1, 4], "0.585", True),  # log2 1.5 = 0.58496
        ([3, 8, 1, 4], "0.584", False),
        ([1, 6, 1, 4], "0.585", True),
        ([1, 6, 1, 4], "0.584", False),
        ([5, 5, 9, 9], HAIR, True),
        ([1, 1, 1, 2**40], 40, False),
        ([1, 1, 1, 2**40], 41, True),
        ([1, 1, 1, 2**40], 4000, True),
        ([8, 8, 1, 8], 3, False),
        ([8, 8, 1, 8], 3 + HAIR, True),
        ([4, 4, 1, 4], "2.0001", True),
        ([4, 4, 1, 4], "1.9999", False),
    ],
)
def test_ratios_are_held_against_powers_of_two(counts, delta, below):
    assert ratio_below(counts, Fraction(delta)) == below
