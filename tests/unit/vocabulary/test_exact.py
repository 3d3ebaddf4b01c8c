"""Numbers as they were written, and decisions without rounding."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirements.columns import (
    at_most,
    is_positive,
    rounded,
    shares,
    text,
    times,
    whole_numbers,
    written,
)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, "3"),
        (np.int64(3), "3"),
        (0.1, "1/10"),
        (np.float32(0.5), "1/2"),
        (Fraction(2, 7), "2/7"),
        ("2/7", "2/7"),
        (" 1.5 ", "3/2"),
        (".25", "1/4"),
        ("5.", "5"),
        ("1e-3", "1/1000"),
        ("2E2", "200"),
        ("-0.5", "-1/2"),
        ("0" * 39 + "1", "1"),
        (10**18, str(10**18)),
        (-(10**18), str(-(10**18))),
        (Fraction(1, 10**18), f"1/{10**18}"),
        (0, "0"),
    ],
)
def test_a_number_is_what_was_written(value, number):
    assert written(value, "t", "t=0.2") == Fraction(number)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("much", "t must be a number. Give for instance t=0.2."),
        ("", "must be a number"),
        ("1/0", "must be a number"),
        ("1.5/2", "must be a number"),
        ("1e100", "must be a number"),
        ("1 2", "must be a number"),
        ("0" * 40 + "1", "must be a number"),
        (True, "must be a number"),
        (np.bool_(True), "must be a number"),
        (None, "must be a number"),
        (float("nan"), "must be a number"),
        (float("inf"), "must be a number"),
        (10**18 + 1, "t has too many digits: at most 18 are allowed. Give for instance t=0.2."),
        (-(10**18) - 1, "too many digits"),
        (Fraction(1, 10**18 + 1), "too many digits"),
    ],
)
def test_what_is_no_number_says_so(value, told):
    with pytest.raises(ParameterError) as refused:
        written(value, "t", "t=0.2")
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("0", "0"),
        ("7", "7"),
        ("-7", "-7"),
        ("0.5", "0.5"),
        ("-0.05", "-0.05"),
        ("12.5", "12.5"),
        ("1/3", "1/3"),
        ("-2/3", "-2/3"),
        ("10", "10"),
        ("0.000000000000000001", "0.000000000000000001"),
        (Fraction(1, 2**30), "0.000000000931322574615478515625"),
        (Fraction(1, 2**31), "1/2147483648"),
        (Fraction(10**30 + 1, 2), "500000000000000000000000000000.5"),
    ],
)
def test_a_number_is_shown_as_a_person_writes_it(number, shown):
    assert text(Fraction(number)) == shown


@pytest.mark.parametrize(
    ("number", "down", "up"),
    [
        (1.23456, "1.2345", "1.2346"),
        (Fraction(1, 3), "0.3333", "0.3334"),
        (Fraction(5, 4), "1.25", "1.25"),
        (0, "0", "0"),
    ],
)
def test_figures_of_a_message_are_rounded_to_the_safe_side(number, down, up):
    assert (rounded(number, up=False), rounded(number, up=True)) == (down, up)


@pytest.mark.parametrize("limit", ["0", "1/2", "1000000"])
def test_what_floats_cannot_tell_from_the_limit_is_decided_exactly(limit):
    bound = float(Fraction(limit))
    hair = 2e-10 * (1 + bound)
    scores = np.array([bound - 1e-6 * (1 + bound), bound - hair, bound, bound + hair, bound + 1e-6 * (1 + bound)])
    asked = []
    for answer in (True, False):
        found = at_most(scores, Fraction(limit), lambda i, answer=answer: asked.append(i) or answer)
        assert found.tolist() == [True, answer, answer, answer, False]
    assert asked == [1, 2, 3] * 2
    assert at_most(np.array([-np.inf, np.inf]), Fraction(limit), lambda _: None).tolist() == [True, False]


def test_shares_of_empty_groups_are_none():
    found = shares(np.array([[1, 3], [0, 0], [0, 1]]))
    assert found.tolist() == [[0.25, 0.75], [0, 0], [0, 1]]


@pytest.mark.parametrize("factor", [0, 1, 2, 3, 2**31, 10**18])
@pytest.mark.parametrize("counts", [[], [0], [1, 2**62, 5], [2**62 - 1, 7], [2**31, 2**32], [4 * 10**9]])
def test_products_never_overflow(counts, factor):
    found = times(np.array(counts, np.int64), factor)
    assert found.tolist() == [count * factor for count in counts]


def test_counts_become_numbers_that_never_overflow():
    (found,) = whole_numbers(np.array([2**62]))
    assert found * 4 == 2**64


@pytest.mark.parametrize("digits", [5, 30, 39, 45, 77, 100, 200])
def test_a_small_sum_is_told_from_nothing(digits):
    """log 2 + log 3 - log 6, and a number with so many zeros behind its point."""
    for sign in (1, -1):
        more = [Decimal(f"{sign}e-{digits}")]
        found = is_positive(lambda c, more=more: [c.ln(Decimal(2)), c.ln(Decimal(3)), c.minus(c.ln(Decimal(6))), *more])
        assert found == (sign > 0)
    assert is_positive(lambda _: [Decimal(1)])
    assert not is_positive(lambda _: [Decimal(-1)])
    assert not is_positive(lambda _: [Decimal(3), Decimal(-4)])
