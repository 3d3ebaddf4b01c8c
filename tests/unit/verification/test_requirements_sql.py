"""The definitions as queries: which classes break them and what is told, counted by hand and by plain loops."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import exp, log, log2

import numpy as np
import pytest

import support.oracle_requirements as oracle
from incrowd.verification import requirements as sql
from incrowd.verification.opening import connect

HAIR = Fraction(1, 10**15)
MISSING = None


@pytest.fixture(scope="module")
def connection():
    with connect(threads=1) as opened:
        yield opened


def put(connection, name, columns, rows):
    """A table of some rows."""
    listed = ", ".join(f"({', '.join('NULL' if cell is None else repr(cell) for cell in row)})" for row in rows)
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} ({columns})")
    connection.execute(f"INSERT INTO {name} VALUES {listed}")


def laid(connection, groups):
    """The tables of groups, each given by how often it has each value."""
    whole = sum((Counter(group) for group in groups), Counter())
    numbered = list(enumerate(groups, start=1))
    cells = [(number, *cell) for number, group in numbered for cell in group.items()]
    put(connection, "cells", "g BIGINT, v VARCHAR, n HUGEINT", cells)
    classes = [(number, len(group), sum(group.values())) for number, group in numbered]
    put(connection, "classes", "g BIGINT, v BIGINT, rows HUGEINT", classes)
    values = [(value, count, sum(whole.values())) for value, count in whole.items()]
    put(connection, "whole", "v VARCHAR, n HUGEINT, rows HUGEINT", values)
    return connection


def answer(connection, asked, groups, *limits):
    """The classes that break it, numbered from 1, and what was found."""
    broken, found = asked(laid(connection, groups), *limits)
    return sorted(broken), found


def of(*counts):
    """A group with so many rows of a, b, c ... and, at the end, of the missing value, where there is a sixth."""
    return {value: count for value, count in zip(["a", "b", "c", "d", "e", MISSING], counts, strict=False) if count}


ONE, TWO, THREE = of(5), of(5, 1), of(1, 1, 0, 0, 0, 7)


@pytest.mark.parametrize(("least", "broken"), [(1, []), (2, [1]), (3, [1, 2]), (4, [1, 2, 3])])
def test_distinct_values_are_counted_and_missing_is_one(connection, least, broken):
    assert answer(connection, sql.distinct, [ONE, TWO, THREE], least) == (
        broken,
        "fewest values in one of 3 classes: 1",
    )
    assert answer(connection, sql.distinct, [THREE, THREE], 3)[1] == "fewest values in one of 2 classes: 3"


@pytest.mark.parametrize(
    ("share", "broken"),
    [
        ("3/4", []),
        (Fraction(3, 4) - HAIR, [2]),
        ("1/2", [2]),
        (Fraction(1, 2) - HAIR, [1, 2]),
        ("1/3", [1, 2]),  # both values of the first class are too frequent: it is told once
        ("1/5", [1, 2, 3]),
    ],
)
def test_the_largest_share_of_a_class_counts(connection, share, broken):
    groups = [of(2, 2), of(0, 1, 0, 0, 0, 3), of(1, 1, 1)]
    found = answer(connection, sql.confidence, groups, Fraction(share))
    assert found == (broken, "largest share of a value in a class: 0.7500")


@pytest.mark.parametrize(
    ("c", "least", "broken"),
    [
        # largest counts first: 4 2 1 (missing 4), 3 3, 1
        ("4/3", 2, [1, 3]),  # 4 is not below 4/3 (2 + 1), 3 is below 4/3 3, the third class has no second value
        (Fraction(4, 3) + HAIR, 2, [3]),
        (1, 2, [1, 2, 3]),
        (2, 2, [3]),
        (4, 3, [1, 2, 3]),
        (5, 3, [2, 3]),
        (1, 1, [3]),  # 1 is not below 1
        (2, 1, []),
        (100, 4, [1, 2, 3]),
    ],
)
def test_the_largest_count_is_below_c_times_the_tail(connection, c, least, broken):
    groups = [of(1, 2, 0, 0, 0, 4), of(3, 3), of(1)]
    found = answer(connection, sql.recursive, groups, Fraction(c), least)
    assert found == (broken, f"{3 - len(broken)} of 3 classes keep it")


@pytest.mark.parametrize(
    ("least", "broken"),
    [
        (1, []),
        ("3/2", [2]),
        (Fraction(2), [2]),
        (2 + HAIR, [1, 2]),
        (2 - HAIR, [2]),
        (Fraction(2) + Fraction(1, 10**8), [1, 2]),
        (Fraction(3), [1, 2]),
        (3 + HAIR, [1, 2, 3]),
        (9, [1, 2, 3]),
    ],
)
def test_entropy_is_held_against_log_l(connection, least, broken):
    groups = [of(5, 5), of(1, 0, 0, 0, 0, 9), of(4, 4, 0, 4)]
    smallest = exp(-0.1 * log(0.1) - 0.9 * log(0.9))
    found = answer(connection, sql.entropy, groups, Fraction(least))
    assert found == (broken, f"smallest of 3 classes: {smallest:.4f}")


def test_each_class_has_its_own_entropy_at_the_border(connection):
    groups = [of(1000, 1001), of(1001, 1001), of(3000, 3001), of(5, 4)]  # the first and third miss 2 by 1e-7 and less
    assert answer(connection, sql.entropy, groups, Fraction(2))[0] == [1, 3, 4]


GROWING = [of(3, 1), of(2, 2, 0, 0, 0, 4), of(1, 3)]  # of 16 rows a and b have six each, missing four


@pytest.mark.parametrize(
    ("beta", "broken"),
    [
        (1, []),
        (1 - HAIR, [1, 2, 3]),  # 3/4 is twice 6/16, and 1/2 twice 4/16
        ("2", []),
        (HAIR, [1, 2, 3]),
    ],
)
def test_no_share_grows_by_more_than_beta(connection, beta, broken):
    found = answer(connection, sql.likeness, GROWING, Fraction(beta), False)
    assert found == (broken, "largest growth of a share in a class: 1.0000")


def test_a_class_with_several_values_that_grow_is_told_once(connection):
    groups = [of(1, 1), of(0, 0, 3, 3)]
    assert answer(connection, sql.likeness, groups, Fraction(1, 5), False) == (
        [1, 2],
        "largest growth of a share in a class: 3.0000",
    )


@pytest.mark.parametrize(
    ("beta", "broken"),
    [
        (1, [1, 3]),  # log 16/6 = 0.98, log 16/4 = 1.39
        ("1/2", [1, 2, 3]),
        (9, [1, 3]),
    ],
)
def test_enhanced_no_share_grows_by_more_than_its_logarithm_either(connection, beta, broken):
    found = answer(connection, sql.likeness, GROWING, Fraction(beta), True)
    assert found == (broken, "largest growth of a share in a class: 1.0000")


def test_enhanced_growth_that_floats_cannot_tell_from_the_logarithm(connection):
    """(1 + log 2) / 2 = 0.846573590279972...: shares just below and above it, of a value that half of all rows have."""
    for mine, broken in ((84657359, []), (84657360, [1, 2])):
        groups = [of(mine, 10**8 - mine), of(10**8 - mine, mine)]
        assert answer(connection, sql.likeness, groups, Fraction(9), True)[0] == broken


def test_enhanced_a_column_with_one_value_grows_nowhere(connection):
    groups = [of(3), of(4)]
    assert answer(connection, sql.likeness, groups, Fraction(1), True) == (
        [],
        "largest growth of a share in a class: 0.0000",
    )


@pytest.mark.parametrize(
    ("delta", "broken"),
    [(1, [1, 2]), (1 + HAIR, []), (1 - HAIR, [1, 2]), (9, []), ("0.586", [1, 2]), ("0.3", [1, 2, 4])],
)
def test_ratios_of_shares_stay_below_a_power_of_two(connection, delta, broken):
    # a quarter has a: half of the first class, an eighth of the second, 2/9 and 1/3 of the others; else it is missing
    groups = [of(2, 0, 0, 0, 0, 2), of(1, 0, 0, 0, 0, 7), of(4, 0, 0, 0, 0, 14), of(2, 0, 0, 0, 0, 4)]
    found = answer(connection, sql.disclosure, groups, Fraction(delta))
    assert found == (broken, "largest logarithm of a ratio of shares: 1.0000")


def test_a_class_that_lacks_a_value_discloses_it(connection):
    groups = [of(2, 2), of(4, 3), of(6, 0), of(0, 2, 0, 0, 0, 1)]
    broken, found = answer(connection, sql.disclosure, groups, Fraction(99))
    assert broken == [1, 2, 3, 4]
    assert found == f"4 classes lack a value; largest logarithm of a ratio of shares: {log2(20 / 3):.4f}"
    assert answer(connection, sql.disclosure, [of(2, 2), of(4, 4), of(8, 0)], Fraction(1))[0] == [3]
    assert answer(connection, sql.disclosure, [of(2, 2), of(1, 9), of(8, 0)], Fraction(1))[0] == [2, 3]


def check_distances(connection, asked, groups, distances, *more):
    """Each class keeps its distance and breaks what is a hair below; the largest distance is told."""
    for limit in {limit for distance in distances for limit in (distance, distance - HAIR)}:
        broken, found = answer(connection, asked, groups, limit, *more)
        assert broken == [number for number, distance in enumerate(distances, start=1) if distance > limit]
        assert found == f"largest distance of {len(groups)} classes: {float(max(distances)):.4f}"


def test_equal_distance_is_half_of_all_differences(connection):
    groups = [of(4), of(0, 1, 0, 0, 0, 3), of(2, 1, 0, 0, 0, 1)]  # 6, 2 and 4 of 12
    check_distances(connection, sql.equal_distance, groups, [Fraction(1, 2), Fraction(1, 2), Fraction(1, 12)])


def test_a_column_with_one_value_is_nowhere_apart(connection):
    for asked, more in ((sql.equal_distance, ()), (sql.ordered_distance, (None,))):
        assert answer(connection, asked, [of(3), of(4)], Fraction(0), *more) == (
            [],
            "largest distance of 2 classes: 0.0000",
        )


@pytest.mark.parametrize(
    ("order", "distances"),
    [
        # a 4, b 1, missing 3 of 8: carried are 1/2 and 3/8; 1/2 and 3/8; over two steps
        (None, ["7/16", "7/16"]),
        (["b", "a"], ["1/4", "1/4"]),
        (["a", "b"], ["7/16", "7/16"]),
    ],
)
def test_ordered_distance_carries_shares_along_the_values(connection, order, distances):
    groups = [of(4), of(0, 1, 0, 0, 0, 3)]
    check_distances(connection, sql.ordered_distance, groups, list(map(Fraction, distances)), order)


def test_two_values_are_one_step_apart(connection):
    check_distances(connection, sql.ordered_distance, [of(3, 1), of(1, 3)], [Fraction(1, 4), Fraction(1, 4)], None)


def tree(connection, height, nodes, below):
    """The tables of a hierarchy: nodes with parent and height, and the nodes of each value."""
    put(connection, "nodes", "node BIGINT, parent BIGINT, height HUGEINT", nodes)
    put(
        connection, "below", "v VARCHAR, node BIGINT", [(value, node) for value, path in below.items() for node in path]
    )
    return height, 0


# 0 the root, 1 {a, b}, 2 {c, d}, leaves 3 to 6, e is a leaf below the root, missing another
NODES = [[0, -1, 2], [1, 0, 1], [2, 0, 1], [3, 1, 0], [4, 1, 0], [5, 2, 0], [6, 2, 0], [7, 0, 0], [8, 0, 0]]
BELOW = {"a": (3, 1), "b": (4, 1), "c": (5, 2), "d": (6, 2), "e": (7,), MISSING: (8,)}
PATHS = [(0, "ab", "*"), (1, "ab", "*"), (2, "cd", "*"), (3, "cd", "*"), (4, 4, "*"), (5, 5, "*")]


def test_hierarchical_distance_moves_within_the_lowest_groups_first(connection):
    groups = [of(2, 0), of(0, 2), of(1, 1)]
    asked = tree(connection, 2, NODES, BELOW)
    check_distances(
        connection, sql.hierarchical_distance, groups, [Fraction(1, 4), Fraction(1, 4), Fraction(0)], *asked
    )


def test_values_without_a_place_in_the_hierarchy_break_every_class(connection):
    laid(connection, [of(1), of(2)])
    assert sql.hierarchical_distance(connection, Fraction(1), 2, 3) == (
        [1, 2],
        "3 values have no place in the hierarchy",
    )


DISTANCES = {
    "equal": (sql.equal_distance, oracle.equal_distance, lambda _: ()),
    "ordered": (sql.ordered_distance, oracle.ordered_distance, lambda _: (None,)),
    "hierarchical": (
        sql.hierarchical_distance,
        lambda g, w: oracle.tree_distance(g, w, PATHS, 2),
        lambda connection: tree(connection, 2, NODES, BELOW),
    ),
}


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("seed", range(4))
def test_distances_agree_with_fractions(connection, name, seed):
    asked, expected, more = DISTANCES[name]
    counts = np.random.default_rng(seed).integers(0, 4, (6, 6)).tolist()
    whole = [sum(column) for column in zip(*counts, strict=True)]
    distances = [expected(group, whole) for group in counts]
    check_distances(connection, asked, [of(*group) for group in counts], distances, *more(connection))


SHARES = {
    "distinct": (sql.distinct, oracle.distinct, [1, 2, 3, 4]),
    "confidence": (sql.confidence, oracle.confidence, ["1/4", "1/3", "1/2", "3/5"]),
    "entropy": (sql.entropy, oracle.entropy, [1, 2, 3, "5/2", "4"]),
    "likeness": (sql.likeness, oracle.likeness, ["1/10", "1/2", 1, 2]),
    "enhanced": (sql.likeness, oracle.enhanced, ["1/10", "1/2", 1, 2]),
    "disclosure": (sql.disclosure, oracle.disclosure, ["1/2", 1, "3/2", 2]),
}


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("seed", range(3))
def test_shares_agree_with_fractions(connection, name, seed):
    asked, holds, limits = SHARES[name]
    counts = np.random.default_rng(seed).integers(0 if name != "disclosure" else 1, 5, (8, 6)).tolist()
    whole = [sum(column) for column in zip(*counts, strict=True)]
    more = {"likeness": (False,), "enhanced": (True,)}.get(name, ())
    for limit in map(Fraction, limits):
        expected = [number for number, group in enumerate(counts, start=1) if not holds(group, whole, limit)]
        asked_for = int(limit) if name == "distinct" else limit
        assert answer(connection, asked, [of(*group) for group in counts], asked_for, *more)[0] == expected
