"""Bounds on powers of shares: at the border, at what is impossible, and what is no such bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import support.oracle_requirements as oracle
from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import Together
from incrowd.vocabulary.requirements.columns import RequirementSubject, holds
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, PowerBound

HAIR = Fraction(1, 10**15)


@pytest.mark.parametrize("weights", [{2: 1}, {3: "0.5"}, {2: "1/3", 8: 2}])
@pytest.mark.parametrize("group", [[1], [2, 2], [5, 3, 1], [7, 0, 1, 1], [10**9, 10**9 - 1]])
def test_the_border_is_exact(weights, group):
    exact = oracle.power_sum(group, [(power, Fraction(weight)) for power, weight in weights.items()])
    if exact.denominator > 10**18:
        exact = Fraction(round(exact * 10**15) + 1, 10**15)
    assert holds(PowerBound(weights, exact), group)
    below = exact - HAIR
    if below.denominator <= 10**18 and max(group) < 10**6:
        assert not holds(PowerBound(weights, below), group)


def test_a_union_keeps_what_its_parts_keep():
    rng, bound = np.random.default_rng(3), PowerBound({2: 1, 4: "0.5"}, "0.45")
    kept = [group for group in rng.integers(0, 6, (400, 4)) if group.any() and holds(bound, group)]
    assert len(kept) > 50
    assert all(holds(bound, one + other) for one, other in pairwise(kept))


def test_what_a_table_cannot_keep_is_refused_with_what_it_can():
    table = RequirementSubject("ill", np.array([5, 3, 1, 0]))
    with pytest.raises(RequirementError) as refused:
        PowerBound({2: 1}, "0.4", "ill").check_possible(table)
    assert str(refused.value) == (
        "share^2 summed over the values of ill of at most 0.4 is impossible: in the whole table the sum is 0.4321, and "
        "in any grouping one group has no less. Choose a limit of at least 0.4321."
    )
    PowerBound({2: 1}, "0.4321", "ill").check_possible(table)


@pytest.mark.parametrize(
    ("powers", "limit", "told"),
    [
        ({}, 1, "whole numbers from 2 to 8"),
        ({1: 1}, 1, "whole numbers from 2 to 8"),
        ({9: 1}, 1, "whole numbers from 2 to 8"),
        ({2.0: 1}, 1, "whole numbers from 2 to 8"),
        ({True: 1}, 1, "whole numbers from 2 to 8"),
        ({2: 0}, 1, "weight of a power must be above 0"),
        ({2: -1}, 1, "weight of a power must be above 0"),
        ({2: "x"}, 1, "The weight of a power must be a number"),
        ({2: 1}, 0, "limit must be above 0"),
        ({2: 1}, None, "limit must be a number"),
    ],
)
def test_what_is_no_bound_is_refused(powers, limit, told):
    with pytest.raises(ParameterError, match=told):
        PowerBound(powers, limit)


def test_in_words_and_data():
    bound = PowerBound({3: "0.5", 2: 1}, "0.4", "pay")
    assert str(bound) == "share^2 + 0.5 share^3 summed over the values of pay of at most 0.4"
    assert bound.meaning == "In every group share^2 + 0.5 share^3, summed over the values of pay, is at most 0.4."
    assert bound.to_json() == {
        "is": "bound on powers of shares",
        "powers": [[2, "1"], [3, "0.5"]],
        "limit": "0.4",
        "on": "pay",
    }
    assert bound == PowerBound({2: 1, 3: 0.5}, 0.4, "pay")


def test_a_requirement_of_somebody_else_is_none_that_the_verification_counts():
    """Its own words would be certified, whatever it promises."""

    class Boasting(DistinctDiversity):
        def __str__(self) -> str:
            return "distinct 10-diversity of pay"

    with pytest.raises(ParameterError, match="made of incrowd's own requirements"):
        Together((Boasting(1, "pay"),))
