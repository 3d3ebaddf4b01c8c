"""Weights of attributes and limits of a release, as they are said."""

from __future__ import annotations

import math

import pytest

from incrowd.errors import ParameterError
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences, rows_to_lose
from incrowd.vocabulary.schema import Column, Role, Schema

SCHEMA = Schema((Column("age", Role.QUASI_IDENTIFIER), Column("ill", Role.TARGET), Column("note", Role.OTHER)))


@pytest.mark.parametrize("factor", [0, -1, math.inf, math.nan, "3", True, None, 1001, 0.0001])
def test_a_weight_is_a_positive_number_that_is_neither_tiny_nor_huge(factor):
    with pytest.raises(ParameterError, match="'age' must be a number"):
        Preferences(weights={"age": factor})


@pytest.mark.parametrize("weights", [["age"], "age", 3, {3: 3}])
def test_weights_are_columns_with_numbers(weights):
    with pytest.raises(ParameterError, match="weights takes columns and a number for each"):
        Preferences(weights=weights)


def test_only_how_weights_compare_matters():
    assert Preferences(weights={"a": 4, "b": 4}).factors(["a", "b"]) == INDIFFERENT.factors(["a", "b"]) == (1, 1)
    assert Preferences(weights={"a": 0.5}).factors(["a", "b"]) == (1, 2)


def test_only_quasi_identifiers_have_weights():
    Preferences(weights={"age": 2}).check_columns(SCHEMA)
    with pytest.raises(ParameterError, match="is about quasi-identifiers, and 'ill', 'note' are no such"):
        Preferences(weights={"age": 2, "ill": 2, "note": 2}).check_columns(SCHEMA)


@pytest.mark.parametrize("lose", ["2%", "2.5 %", 0.02, "0.02", 3, "3"])
def test_a_limit_of_rows_is_a_share_or_a_number(lose):
    assert rows_to_lose(lose, 150) == 3


@pytest.mark.parametrize(("lose", "rows"), [(0, 0), ("0%", 0), (1e-05, 0), (999, 150), (None, 0), ("99.9%", 149)])
def test_a_limit_of_rows_is_none_at_least_and_all_at_most(lose, rows):
    assert rows_to_lose(lose, 150) == rows


@pytest.mark.parametrize("lose", ["100%", 1.0, 1.5, -1, -0.1, "two", "", True, [2], math.nan, math.inf, "-2%", "1/3"])
def test_other_limits_of_rows_are_refused(lose):
    with pytest.raises(ParameterError, match="lose is a share of the rows below all of them"):
        Preferences(lose=lose)
