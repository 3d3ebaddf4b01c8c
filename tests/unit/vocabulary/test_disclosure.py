"""beta-likeness, delta-disclosure and the cap on the confidence: which groups keep them, at the border too."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import support.oracle_requirements as oracle
from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.closeness import (
    BetaLikeness,
    ConfidenceCap,
    DeltaDisclosure,
    below_log,
    below_power_of_two,
)
from incrowd.vocabulary.requirements.columns import RequirementSubject, holds

HAIR = Fraction(1, 10**17)


def kept(part, whole, *groups):
    return part.holds_each(np.array(groups, np.int64), RequirementSubject("ill", np.array(whole, np.int64))).tolist()


# of 16 rows 4 have the first value, 12 the second, none the last
WHOLE = [4, 12, 0]
GROUPS = [[1, 3, 0], [2, 2, 0], [3, 1, 0], [0, 4, 0], [4, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (BetaLikeness(3), [True, True, True, True, True, True]),
        (BetaLikeness(3 - HAIR), [True, True, True, True, False, True]),
        (BetaLikeness(2), [True, True, True, True, False, True]),
        (BetaLikeness(1), [True, True, False, True, False, True]),
        (BetaLikeness(1 - HAIR), [True, False, False, True, False, True]),
        (BetaLikeness("1/3"), [True, False, False, True, False, True]),
        (BetaLikeness(Fraction(1, 3) - HAIR), [True, False, False, False, False, True]),
        (BetaLikeness(HAIR), [True, False, False, False, False, True]),
        (BetaLikeness(10**18), [True, True, True, True, True, True]),
        # enhanced: the first may grow by log 4 = 1.386, the second by log 4/3 = 0.288
        (BetaLikeness(3, None, True), [True, True, False, False, False, True]),
        (BetaLikeness("0.5", None, True), [True, False, False, False, False, True]),
        (DeltaDisclosure(2), [True, True, True, False, False, True]),
        (DeltaDisclosure("1.6"), [True, True, True, False, False, True]),  # log2 3 = 1.58496
        (DeltaDisclosure("1.58"), [True, True, False, False, False, True]),
        (DeltaDisclosure(1 + HAIR), [True, True, False, False, False, True]),
        (DeltaDisclosure(1), [True, False, False, False, False, True]),
        (DeltaDisclosure(HAIR), [True, False, False, False, False, True]),
        (DeltaDisclosure(10**18), [True, True, True, False, False, True]),
        (ConfidenceCap(1), [True, True, True, True, True, True]),
        (ConfidenceCap("0.75"), [True, True, True, False, False, True]),
        (ConfidenceCap(Fraction(3, 4) - HAIR), [False, True, False, False, False, True]),
        (ConfidenceCap("0.5"), [False, True, False, False, False, True]),
        (ConfidenceCap("0.49"), [False, False, False, False, False, True]),
    ],
)
def test_groups_that_keep_it(part, expected):
    assert kept(part, WHOLE, *GROUPS) == expected
    assert [kept(part, WHOLE, group) for group in GROUPS] == [[each] for each in expected]
    assert kept(part, WHOLE, WHOLE) == [not isinstance(part, ConfidenceCap) or part.share >= Fraction(3, 4)]


def test_values_that_all_rows_have_may_not_grow():
    for part in (BetaLikeness(1, None, True), BetaLikeness(HAIR), DeltaDisclosure(HAIR)):
        assert kept(part, [5, 0], [3, 0], [0, 0]) == [True, True]


def test_empty_groups_beside_rare_values():
    assert kept(BetaLikeness(1), [1, 10**12], [0, 0], [0, 5], [1, 0]) == [True, True, False]
    assert kept(DeltaDisclosure(HAIR), [1, 10**12], [0, 0], [0, 5]) == [True, False]
    assert kept(BetaLikeness(1), [0, 0], [0, 0]) == kept(DeltaDisclosure(1), [0, 0], [0, 0]) == [True]


def test_growth_a_hair_from_the_logarithm_is_decided_exactly():
    # (1 + log 2) / 2 = 0.8465735902799726547...
    rows = 10**15
    below, above = 846573590279972, 846573590279973
    whole = [rows, rows]
    assert kept(BetaLikeness(9, None, True), whole, [below, rows - below], [above, rows - above]) == [True, False]


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_fractions(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 5, (40, 4)) + (seed % 2)
    groups[groups.sum(axis=1) == 0, 0] = 1
    groups[:, 3] *= seed % 3 > 0
    listed, whole = groups.tolist(), groups.sum(axis=0).tolist()
    for number in map(Fraction, ("1/5", "1/2", "1", "8/5")):
        assert kept(BetaLikeness(number), whole, *listed) == [oracle.likeness(g, whole, number) for g in listed]
        assert kept(BetaLikeness(number, None, True), whole, *listed) == [
            oracle.enhanced(g, whole, number) for g in listed
        ]
        assert kept(DeltaDisclosure(number), whole, *listed) == [oracle.disclosure(g, whole, number) for g in listed]
        cap = min(number, Fraction(1))
        assert kept(ConfidenceCap(cap), whole, *listed) == [oracle.confidence(g, whole, cap) for g in listed]


def test_a_share_of_half_of_that_in_the_table_is_as_far_as_twice():
    assert kept(DeltaDisclosure(1), [4, 12], [1, 7], [2, 2], [2, 7]) == [False, False, True]
    assert kept(DeltaDisclosure(1 + HAIR), [4, 12], [1, 7], [2, 2]) == [True, True]


def test_large_counts_do_not_overflow():
    large = 2**61
    assert kept(ConfidenceCap("0.5"), [1], [large, large], [large + 1, large - 1]) == [True, False]
    assert kept(ConfidenceCap(Fraction(1, 3)), [1], [large // 2] * 3, [large // 2 + 1, large // 2, large // 2 - 1]) == [
        True,
        False,
    ]
    assert holds(ConfidenceCap(0.85), [17, 3])
    assert not holds(ConfidenceCap(0.85), [18, 3])


def test_what_is_impossible_says_what_is_possible():
    table = RequirementSubject("ill", np.array([5, 3, 1, 0]))
    with pytest.raises(RequirementError) as refused:
        ConfidenceCap("0.55").check_possible(table)
    assert str(refused.value) == (
        "alpha=0.55 on 'ill' is impossible: the most frequent value has a share of 0.5556 in the whole table, and in "
        "any grouping one group has no less. Choose alpha of at least 0.5556."
    )
    for part in (ConfidenceCap("5/9"), ConfidenceCap("0.5556"), BetaLikeness(HAIR), DeltaDisclosure(HAIR)):
        part.check_possible(table)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: BetaLikeness(0), "beta must be above 0"),
        (lambda: BetaLikeness("-0.5"), "beta must be above 0"),
        (lambda: BetaLikeness("x"), "beta must be a number"),
        (lambda: DeltaDisclosure(0), "delta-disclosure must be above 0"),
        (lambda: DeltaDisclosure(-1), "delta-disclosure must be above 0"),
        (lambda: ConfidenceCap(0), "above 0 and at most 1"),
        (lambda: ConfidenceCap("-0.1"), "above 0 and at most 1"),
        (lambda: ConfidenceCap("1.01"), "above 0 and at most 1"),
    ],
)
def test_numbers_are_checked_at_birth(make, told):
    with pytest.raises(ParameterError) as refused:
        make()
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("make", "plain", "words"),
    [
        (
            lambda: BetaLikeness("0.5", "a"),
            {"is": "beta-likeness", "beta": "0.5", "enhanced": False, "on": "a"},
            "0.5-likeness of a",
        ),
        (
            lambda: BetaLikeness(2, enhanced=True),
            {"is": "beta-likeness", "beta": "2", "enhanced": True, "on": None},
            "enhanced 2-likeness of the class",
        ),
        (
            lambda: DeltaDisclosure("1/3", "a"),
            {"is": "delta-disclosure privacy", "delta": "1/3", "on": "a"},
            "1/3-disclosure privacy of a",
        ),
        (
            lambda: ConfidenceCap(1),
            {"is": "confidence cap", "alpha": "1", "on": None},
            "confidence in any value of the class of at most 1",
        ),
    ],
)
def test_a_requirement_in_data_and_words(make, plain, words):
    part = make()
    assert part.to_json() == plain
    assert str(part) == words


@pytest.mark.parametrize(
    ("number", "of", "below"),
    [
        ("1/2", "2", True),
        ("7/10", "2", False),
        ("69314718055994530941723212145817656807/100000000000000000000000000000000000000", "2", True),
        ("69314718055994530941723212145817656808/100000000000000000000000000000000000000", "2", False),
        ("1/9", "1", False),
        ("4/10", "3/2", True),
        ("41/100", "3/2", False),
        ("1/1000000000000000000", "1000000000000000001/1000000000000000000", False),
        ("1/1000000000000000002", "1000000000000000001/1000000000000000000", True),
    ],
)
def test_fractions_and_logarithms(number, of, below):
    assert below_log(Fraction(number), Fraction(of)) == below


@pytest.mark.parametrize(
    ("ratio", "power", "below"),
    [
        ("2", "1", False),
        ("2", "1000001/1000000", True),
        ("2", "999999/1000000", False),
        ("1", "1/1000000000000000000", True),
        ("7/5", "1/2", True),
        ("3/2", "1/2", False),
        ("1024", "10", False),
        ("1024", "11", True),
        ("1024", "9", False),
        ("1023", "10", True),
        ("1025", "10", False),
        ("3/2", "1", True),
        ("5/2", "1", False),
        ("3", "1000000000000000000", True),
        ("141421356237309504/100000000000000000", "1/2", True),
        ("141421356237309505/100000000000000000", "1/2", False),
    ],
)
def test_fractions_and_powers_of_two(ratio, power, below):
    assert below_power_of_two(Fraction(ratio), Fraction(power)) == below
