"""t-closeness: its three distances against fractions and by hand, at the border of every group."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import support.oracle_requirements as oracle
from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirements.closeness import TCloseness, flows_of
from incrowd.vocabulary.requirements.columns import RequirementSubject

HAIR = Fraction(1, 10**12)
TREE = Hierarchy.from_paths(
    "v", [["0", "low", "*"], ["1", "low", "*"], ["2", "high", "*"], ["3", "high", "*"], ["4", "*"]]
)
PATHS = [(0, "low", "*"), (1, "low", "*"), (2, "high", "*"), (3, "high", "*"), (4, 4, "*"), (5, 5, "*")]
DISTANCES = {
    "equal": oracle.equal_distance,
    "ordered": oracle.ordered_distance,
    "hierarchical": lambda group, whole: oracle.tree_distance(group, whole, PATHS, 2),
}


def subject(counts, **more):
    return RequirementSubject("v", np.array(counts, np.int64), **more)


def kept(part, whole, groups):
    return part.holds_each(np.array(groups, np.int64), whole).tolist()


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(4))
def test_every_group_keeps_its_own_distance_and_no_less(distance, seed):
    groups = np.random.default_rng(seed).integers(0, 4, (8, 6))
    groups[:, seed % 6] *= seed % 2  # a value that does not occur
    listed, whole = groups.tolist(), groups.sum(axis=0).tolist()
    apart = [DISTANCES[distance](group, whole) for group in listed]
    table = subject(whole, hierarchy=TREE, leaves=np.arange(6))
    for limit in {limit for one in apart for limit in (one, one - HAIR, one + HAIR) if 0 <= limit <= 1}:
        assert kept(TCloseness(limit, None, distance), table, listed) == [one <= limit for one in apart]


@pytest.mark.parametrize(
    ("distance", "whole", "group", "apart"),
    [
        ("equal", [2, 2, 0], [1, 0, 0], "1/2"),
        ("equal", [1, 1, 2], [1, 0, 0], "3/4"),
        ("ordered", [1, 1, 2], [1, 0, 0], "5/8"),
        ("ordered", [1, 1, 2], [0, 1, 0], "3/8"),
        ("ordered", [2, 0, 2], [1, 0, 0], "1/2"),  # a value that does not occur is no step
        ("ordered", [3, 0, 0], [1, 0, 0], "0"),
        ("equal", [3, 0, 0], [1, 0, 0], "0"),
    ],
)
def test_distances_by_hand(distance, whole, group, apart):
    limit, table = Fraction(apart), subject(whole, has_order=True)
    assert kept(TCloseness(limit, None, distance), table, [group]) == [True]
    if limit:
        assert kept(TCloseness(limit - HAIR, None, distance), table, [group]) == [False]


@pytest.mark.parametrize("distance", DISTANCES)
def test_empty_groups_and_large_counts(distance):
    assert kept(TCloseness(0, None, distance), subject([0] * 6, hierarchy=TREE, leaves=np.arange(6)), [[0] * 6]) == [
        True
    ]
    table = subject([10**15] * 6, hierarchy=TREE, leaves=np.arange(6))
    groups = [[0] * 6, [10**14] * 6, [10**14] * 5 + [10**14 + 1]]
    assert kept(TCloseness(0, None, distance), table, groups) == [True, True, False]


@pytest.mark.parametrize(
    ("asked", "order", "hierarchy", "used"),
    [
        (None, False, None, "equal"),
        (None, True, None, "ordered"),
        (None, True, TREE, "hierarchical"),
        (None, False, TREE, "hierarchical"),
        ("equal", True, TREE, "equal"),
        ("ordered", True, TREE, "ordered"),
        ("hierarchical", True, TREE, "hierarchical"),
    ],
)
def test_the_distance_that_is_used(asked, order, hierarchy, used):
    table = subject([1] * 6, has_order=order, hierarchy=hierarchy, leaves=np.arange(6))
    assert TCloseness(0, None, asked).distance_on(table) == used
    TCloseness(0, None, asked).check_possible(table)


@pytest.mark.parametrize(
    ("distance", "told"),
    [
        ("ordered", "t-ordered on 'v' needs values with an order. Give the column the type ordered, integer, real or "),
        ("hierarchical", "t-hierarchical on 'v' needs the hierarchy of the column. Give one, or use t-equal."),
    ],
)
def test_a_distance_that_does_not_fit_the_column(distance, told):
    with pytest.raises(RequirementError) as refused:
        TCloseness(0.5, None, distance).check_possible(subject([1, 1]))
    assert str(refused.value).startswith(told)


def test_weights_are_whole_numbers():
    table = subject([1, 1, 0, 1, 1, 0], hierarchy=TREE, leaves=np.arange(6))
    equal = flows_of(table, "equal")
    assert (equal.unit, equal.weights.tolist(), equal.members.sum()) == (2, [1] * 4, 4)
    ordered = flows_of(table, "ordered")
    assert (ordered.unit, ordered.weights.tolist()) == (3, [1] * 3)
    tree = flows_of(table, "hierarchical")  # missing and 4 go all the way, groups and other leaves half of it
    assert {weight * Fraction(1, tree.unit) for weight in tree.weights} == {Fraction(1, 2), Fraction(1, 4)}
    assert sum(weight * 2 == tree.unit for weight in tree.weights) == 2


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: TCloseness("-0.01"), "t must be between 0 and 1"),
        (lambda: TCloseness("1.01"), "t must be between 0 and 1"),
        (lambda: TCloseness("x"), "t must be a number. Give for instance t=0.2."),
        (lambda: TCloseness(0.1, "a", "near"), "The distance of t must be one of equal, ordered, hierarchical."),
    ],
)
def test_numbers_are_checked_at_birth(make, told):
    with pytest.raises(ParameterError) as refused:
        make()
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("make", "plain", "words"),
    [
        (lambda: TCloseness(0), ("0", None, None), "0-closeness of the class"),
        (lambda: TCloseness(1, "pay", "ordered"), ("1", "pay", "ordered"), "1-closeness of pay (ordered distance)"),
        (lambda: TCloseness("1/3", "pay"), ("1/3", "pay", None), "1/3-closeness of pay"),
    ],
)
def test_a_requirement_in_data_and_words(make, plain, words):
    part = make()
    assert part.to_json() == dict(zip(("is", "t", "on", "distance"), ("t-closeness", *plain), strict=True))
    assert str(part) == words
