"""Entropy and gain against figures worked out by hand or printed in the papers."""

from __future__ import annotations

import pytest

from incrowd.measures.information import entropy
from support.oracle_gain import branch_entropy, gain_ratio, information_gain, split_information

OUTLOOK = [[2, 3], [4, 0], [3, 2]]  # Quinlan 1986: sunny, overcast, rain; play yes, no


def test_entropy_of_quinlans_days():
    assert entropy([9, 5]) == pytest.approx(0.940, abs=5e-4)
    assert branch_entropy(OUTLOOK) == pytest.approx(0.694, abs=5e-4)


@pytest.mark.parametrize(
    ("branches", "gain"),
    [
        (OUTLOOK, 0.246),
        ([[2, 2], [4, 2], [3, 1]], 0.029),  # temperature
        ([[3, 4], [6, 1]], 0.151),  # humidity
        ([[6, 2], [3, 3]], 0.048),  # windy
    ],
)
def test_gain_as_printed_by_quinlan(branches, gain):
    assert information_gain(branches) == pytest.approx(gain, abs=1e-3)


def test_gain_of_the_mortgage_table():
    assert information_gain([[0, 3], [2, 1]]) == pytest.approx(0.4591, abs=5e-5)
    assert information_gain([[1, 0], [1, 1]]) == pytest.approx(0.2516, abs=5e-5)


def test_gain_ratio_as_printed_by_quinlan():
    assert split_information([5, 4, 5]) == pytest.approx(1.577, abs=5e-4)
    assert gain_ratio(OUTLOOK) == pytest.approx(0.156, abs=5e-4)


def test_missing_values_as_printed_in_c45():
    known = [[2, 3], [3, 0], [3, 2]]  # one overcast day has no outlook (Quinlan 1993, 3.2)
    assert information_gain(known, missing=1) == pytest.approx(0.199, abs=1e-3)
    assert split_information([5, 3, 5], missing=1) == pytest.approx(1.809, abs=1e-3)


def test_nothing_has_no_entropy():
    assert entropy([]) == entropy([0, 0]) == entropy([7]) == 0.0
    assert branch_entropy([]) == branch_entropy([[0, 0]]) == 0.0
    assert information_gain([], missing=3) == 0.0
    assert gain_ratio([[3, 2]]) == 0.0
