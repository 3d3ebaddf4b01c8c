"""l-diversity in its three forms: which groups keep it, what is possible, and exact logarithms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import support.oracle_requirements as oracle
from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.columns import RequirementSubject, holds
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
    coprime_base,
    diversity_powers,
    sign_of_logs,
)

HAIR = Fraction(1, 10**17)
NOBODY = RequirementSubject("ill", np.array([1]))


def kept(part, *groups):
    """Which groups keep it, asked together."""
    return part.holds_each(np.array(groups, np.int64), NOBODY).tolist()


GROUPS = [[4, 0, 0], [3, 1, 0], [2, 2, 0], [2, 1, 1], [1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (DistinctDiversity(1), [True, True, True, True, True, True]),
        (DistinctDiversity(2), [False, True, True, True, True, True]),
        (DistinctDiversity(3), [False, False, False, True, True, True]),
        (DistinctDiversity(4), [False, False, False, False, False, True]),
        (EntropyDiversity(1), [True, True, True, True, True, True]),
        (EntropyDiversity(1 + HAIR), [False, True, True, True, True, True]),
        (EntropyDiversity("1.7"), [False, True, True, True, True, True]),
        (EntropyDiversity("1.8"), [False, False, True, True, True, True]),
        (EntropyDiversity(2), [False, False, True, True, True, True]),
        (EntropyDiversity(2 + HAIR), [False, False, False, True, True, True]),
        (EntropyDiversity(3), [False, False, False, False, True, True]),
        (EntropyDiversity(3 + HAIR), [False, False, False, False, False, True]),
        (RecursiveDiversity(1, 1), [False, True, True, True, True, True]),
        (RecursiveDiversity(1, 2), [False, False, False, False, True, True]),
        (RecursiveDiversity(1 + HAIR, 2), [False, False, True, True, True, True]),
        (RecursiveDiversity(3, 2), [False, False, True, True, True, True]),
        (RecursiveDiversity(4, 2), [False, True, True, True, True, True]),
        (RecursiveDiversity(2, 3), [False, False, False, False, True, True]),
        (RecursiveDiversity(9, 4), [False, False, False, False, False, True]),
    ],
)
def test_groups_that_keep_it(part, expected):
    assert kept(part, *GROUPS) == expected
    assert [holds(part, group) for group in GROUPS] == expected


@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_fractions(seed):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 6, (60, 5))
    groups[groups.sum(axis=1) == 0, 0] = 1
    listed = groups.tolist()
    for part, expected in (
        (DistinctDiversity(3), [oracle.distinct(g, None, 3) for g in listed]),
        (EntropyDiversity("2.5"), [oracle.entropy(g, None, Fraction(5, 2)) for g in listed]),
        (EntropyDiversity(4), [oracle.entropy(g, None, Fraction(4)) for g in listed]),
        (RecursiveDiversity("1.5", 2), [oracle.recursive(g, None, Fraction(3, 2), 2) for g in listed]),
        (RecursiveDiversity("0.5", 2), [oracle.recursive(g, None, Fraction(1, 2), 2) for g in listed]),
    ):
        assert kept(part, *listed) == expected


def test_large_counts_do_not_overflow():
    large = 2**61
    assert kept(RecursiveDiversity("1.5", 2), [3 * large // 4, large // 2], [3 * large // 4 - 1, large // 2]) == [
        False,
        True,
    ]
    assert kept(RecursiveDiversity(Fraction(1, 10**18), 1), [large]) == [False]
    assert holds(EntropyDiversity(2), [10**17, 10**17])
    assert not holds(EntropyDiversity(2), [10**17 + 1, 10**17])


@pytest.mark.parametrize(
    ("part", "counts", "told"),
    [
        (
            DistinctDiversity(3),
            [5, 1, 0],
            "distinct-l=3 on 'ill' is impossible: the column has 2 values. Choose l of at most 2.",
        ),
        (
            EntropyDiversity("1.8"),
            [3, 1, 0],
            "entropy-l=1.8 on 'ill' is impossible: all rows together reach 1.7547, and in any grouping one group "
            "reaches no more. Choose l of at most 1.7547.",
        ),
        (
            RecursiveDiversity(1, 2),
            [5, 2, 1, 0],
            "recursive-l=2 c=1 on 'ill' is impossible: for all rows together c must be above 1.6667. Choose a larger "
            "c, or a smaller l.",
        ),
        (
            RecursiveDiversity(9, 3),
            [3, 1, 0],
            "recursive-l=3 c=9 on 'ill' is impossible: the column has 2 values. Choose l of at most 2.",
        ),
    ],
)
def test_what_is_impossible_says_what_is_possible(part, counts, told):
    with pytest.raises(RequirementError) as refused:
        part.check_possible(RequirementSubject("ill", np.array(counts)))
    assert str(refused.value) == told


@pytest.mark.parametrize(
    ("part", "counts"),
    [
        (DistinctDiversity(2), [5, 1, 0]),
        (EntropyDiversity("1.7547"), [3, 1, 0]),
        (EntropyDiversity(2), [3, 3, 0]),
        (RecursiveDiversity("3.0001", 2), [3, 1, 0]),
    ],
)
def test_what_is_possible_is_not_refused(part, counts):
    part.check_possible(RequirementSubject("ill", np.array(counts)))


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: DistinctDiversity(0), "distinct-l must be a whole number of at least 1"),
        (lambda: DistinctDiversity(True), "whole number"),
        (lambda: DistinctDiversity(2.0), "whole number"),
        (lambda: EntropyDiversity("0.99"), "l must be a number of at least 1"),
        (lambda: EntropyDiversity("x"), "l must be a number. Give for instance entropy-l=1.5."),
        (lambda: RecursiveDiversity(0, 2), "c of recursive-l must be above 0"),
        (lambda: RecursiveDiversity(-1, 2), "c of recursive-l must be above 0"),
        (lambda: RecursiveDiversity(2, 0), "recursive-l must be a whole number of at least 1"),
        (lambda: RecursiveDiversity(2, 2.0), "whole number"),
        (lambda: RecursiveDiversity(2, True), "whole number"),
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
            lambda: DistinctDiversity(1),
            {"is": "distinct l-diversity", "l": 1, "on": None},
            "distinct 1-diversity of the class",
        ),
        (
            lambda: DistinctDiversity(np.int64(3), "a"),
            {"is": "distinct l-diversity", "l": 3, "on": "a"},
            "distinct 3-diversity of a",
        ),
        (
            lambda: EntropyDiversity(1),
            {"is": "entropy l-diversity", "l": "1", "on": None},
            "entropy 1-diversity of the class",
        ),
        (
            lambda: EntropyDiversity(1.5, "a"),
            {"is": "entropy l-diversity", "l": "1.5", "on": "a"},
            "entropy 1.5-diversity of a",
        ),
        (
            lambda: RecursiveDiversity("0.5", np.int64(1), "a"),
            {"is": "recursive (c,l)-diversity", "c": "0.5", "l": 1, "on": "a"},
            "recursive (0.5, 1)-diversity of a",
        ),
    ],
)
def test_a_requirement_in_data_and_words(make, plain, words):
    part = make()
    assert part.to_json() == plain
    assert type(part.l) in (int, Fraction)
    assert str(part) == words


def test_entropy_in_bits():
    assert EntropyDiversity(8).bits == 3.0
    assert EntropyDiversity(1).bits == 0.0


@pytest.mark.parametrize(
    ("counts", "base", "above", "below"),
    [
        ([3, 3], "2", {2: 2, 1: 2}, {2: 2, 1: 2}),
        ([4, 2], "3/2", {3: 3, 2: 3}, {3: 3, 2: 2, 1: 1}),
        ([5], "1", {1: 2}, {1: 2}),
        ([6, 10], "2", {8: 8, 1: 8}, {2: 8, 3: 3, 5: 5}),
    ],
)
def test_the_powers_behind_an_entropy(counts, base, above, below):
    assert diversity_powers(counts, Fraction(base)) == (above, below)


@pytest.mark.parametrize(
    ("above", "below", "sign"),
    [
        ({4: 3}, {2: 6}, 0),
        ({6: 2, 10: 1}, {2: 3, 3: 2, 5: 1}, 0),
        ({6: 2, 10: 1}, {2: 3, 3: 2, 5: 2}, -1),
        ({6: 2, 10: 2}, {2: 3, 3: 2, 5: 1}, 1),
        ({3: 2}, {2: 3}, 1),
        ({2: 3}, {3: 2}, -1),
        ({1: 5}, {1: 9}, 0),
        ({12: 1, 18: 1}, {6: 3}, 0),
        ({2: 84}, {3: 53}, -1),  # 1.9343e25 and 1.9383e25
        ({10**60 + 1: 1}, {10: 60}, 1),
        ({10**90 - 1: 2}, {10: 180}, -1),
    ],
)
def test_products_of_powers_are_compared_exactly(above, below, sign):
    assert sign_of_logs(above, below) == sign


@pytest.mark.parametrize(
    ("numbers", "base"),
    [
        ([12, 18], {2, 3}),
        ([1, 1], set()),
        ([7], {7}),
        ([8, 4], {2}),
        ([6, 35], {6, 35}),
        ([6, 10, 15], {2, 3, 5}),
        ([6, 6, 1], {6}),
        ([30, 42], {6, 5, 7}),
        ([36, 6], {6}),
    ],
)
def test_numbers_without_common_factors(numbers, base):
    found = coprime_base(numbers)
    assert len(found) == len(base)
    assert set(found) == base
