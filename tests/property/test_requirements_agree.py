"""For every requirement: algorithms, SQL and fractions agree on 10,000 random groups, at the border too.

k-map and delta-presence, which look at a population, are in ``test_population_requirements.py``.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import support.oracle_requirements as oracle
from incrowd.verification.class_sizes import verify_arrow
from incrowd.verification.opening import connect, register
from incrowd.verification.requirements import Further, broken_classes
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.columns import RequirementSubject
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.schema import ColumnType

GROUPS, PER_TABLE, VALUES = 10_000, 500, 6  # values 0 to 4, and missing
TREE = Hierarchy.from_paths(
    "v", [["0", "low", "*"], ["1", "low", "*"], ["2", "high", "*"], ["3", "high", "*"], ["4", "*"]]
)
PATHS = [
    (0, "low", "*"),
    (1, "low", "*"),
    (2, "high", "*"),
    (3, "high", "*"),
    (4, 4, "*"),
    ("none", "none", "*"),
]


def near(number):
    """A fraction exactly on the border of a group, or a hair to either side."""
    hair = Fraction(1, number.denominator * 10_000)
    return [number, number + hair, number - hair]


WEIGHTS = {2: Fraction(1), 3: Fraction(1, 2)}
MAKE = {
    "distinct": lambda rng, g, w: DistinctDiversity(int(rng.integers(1, 6))),
    "entropy": lambda rng, g, w: EntropyDiversity(pick(rng, [1, 2, 3, 4, "1.5", "2.7", "3.999999999"])),
    "recursive": lambda rng, g, w: RecursiveDiversity(pick(rng, ["0.5", 1, 2, "1.25"]), int(rng.integers(1, 5))),
    "alpha": lambda rng, g, w: ConfidenceCap(border(rng, max(oracle.shares(g)), 1)),
    "powers": lambda rng, g, w: PowerBound(WEIGHTS, border(rng, oracle.power_sum(g, WEIGHTS.items()), 10)),
    "t-equal": lambda rng, g, w: TCloseness(border(rng, oracle.equal_distance(g, w), 1), None, "equal"),
    "t-ordered": lambda rng, g, w: TCloseness(border(rng, oracle.ordered_distance(g, w), 1), None, "ordered"),
    "t-hierarchical": lambda rng, g, w: TCloseness(border(rng, by_tree(g, w), 1), None, "hierarchical"),
    "beta": lambda rng, g, w: BetaLikeness(border(rng, growth(g, w), 10)),
    "enhanced-beta": lambda rng, g, w: BetaLikeness(border(rng, growth(g, w), 10), enhanced=True),
    "delta-disclosure": lambda rng, g, w: DeltaDisclosure(pick(rng, [1, 2, "0.5", "1.5", Fraction(1, 3), "0.585"])),
}
HOLDS = {
    "distinct": lambda r, g, w: oracle.distinct(g, w, r.l),
    "entropy": lambda r, g, w: oracle.entropy(g, w, r.l),
    "recursive": lambda r, g, w: oracle.recursive(g, w, r.c, r.l),
    "alpha": lambda r, g, w: oracle.confidence(g, w, r.share),
    "powers": lambda r, g, w: oracle.power_sum(g, r.powers) <= r.limit,
    "t-equal": lambda r, g, w: oracle.equal_distance(g, w) <= r.t,
    "t-ordered": lambda r, g, w: oracle.ordered_distance(g, w) <= r.t,
    "t-hierarchical": lambda r, g, w: by_tree(g, w) <= r.t,
    "beta": lambda r, g, w: oracle.likeness(g, w, r.beta),
    "enhanced-beta": lambda r, g, w: oracle.enhanced(g, w, r.beta),
    "delta-disclosure": lambda r, g, w: oracle.disclosure(g, w, r.delta),
}


def by_tree(group, whole):
    return oracle.tree_distance(group, whole, PATHS, 2)


def pick(rng, choices):
    return choices[int(rng.integers(len(choices)))]


def growth(group, whole):
    return max((q - p) / p for q, p in zip(oracle.shares(group), oracle.shares(whole), strict=True) if p)


def border(rng, number, most):
    """Mostly the border of this very group, so that ties are tried; sometimes any number."""
    chosen = pick(rng, [*near(number), Fraction(int(rng.integers(1, 100)), 100)])
    return min(max(chosen, Fraction(1, 10**12)), Fraction(most))


def random_groups(rng):
    """Groups with small counts, many of them equal: ties are frequent."""
    most = int(pick(rng, [2, 4, 9, 40]))
    groups = rng.integers(0, most, (PER_TABLE, VALUES)) * (rng.random((PER_TABLE, VALUES)) < 0.7)
    groups[groups.sum(axis=1) == 0, 0] = 1
    return groups.astype(np.int64)


def broken_by_sql(groups, requirement):
    """The verification's answer, on a table with one row for each row of each group."""
    numbers, values = np.nonzero(groups)
    rows = np.repeat(np.stack([numbers, values], axis=1), groups[numbers, values], axis=0)
    texts = [None if value == VALUES - 1 else str(value) for value in rows[:, 1].tolist()]
    table = pa.table({"group": rows[:, 0], "v": pa.array(texts, pa.string())})
    ordered = getattr(requirement, "distance", None) == "ordered"
    asked = Further(requirement, "v", ColumnType.INTEGER if ordered else ColumnType.CATEGORICAL, (), TREE)
    with connect() as connection:
        names = register(connection, table, "released")
        return {number - 1 for number in broken_classes(connection, names, ["group"], asked)}


@pytest.mark.each(11)
@pytest.mark.parametrize("name", MAKE)
def test_algorithms_sql_and_fractions_agree(name):
    make, holds = MAKE[name], HOLDS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    both = set()
    for _ in range(GROUPS // PER_TABLE):
        groups = random_groups(rng)
        whole = groups.sum(axis=0)
        subject = RequirementSubject("v", whole, True, TREE, np.arange(VALUES))
        requirement = make(rng, groups[int(rng.integers(PER_TABLE))].tolist(), whole.tolist())
        expected = np.array([holds(requirement, group, whole.tolist()) for group in groups.tolist()])
        assert requirement.holds_each(groups, subject).tolist() == expected.tolist(), requirement  # type: ignore[attr-defined]
        assert broken_by_sql(groups, requirement) == set(np.flatnonzero(~expected).tolist()), requirement
        both |= set(expected.tolist())
    assert both == {True, False}


@pytest.mark.parametrize("name", MAKE)
def test_a_union_of_groups_that_keep_it_keeps_it(name):
    make, holds = MAKE[name], HOLDS[name]
    rng = np.random.default_rng(7)
    for _ in range(5):
        groups = random_groups(rng)
        whole = groups.sum(axis=0).tolist()
        requirement = make(rng, groups[0].tolist(), whole)
        keeping = [group for group in groups.tolist() if holds(requirement, group, whole)]
        for one, other in pairwise(keeping):
            assert holds(requirement, [a + b for a, b in zip(one, other, strict=True)], whole)


@pytest.mark.parametrize("together", [False, True])
def test_algorithms_and_sql_agree_on_sizes(together):
    """k-anonymity, of all columns or of sets of them."""
    rng = np.random.default_rng(3)
    both = set()
    for _ in range(GROUPS // PER_TABLE):
        sizes = rng.integers(1, 12, PER_TABLE).tolist()
        k = int(pick(rng, sizes))
        asked = KnownTogether((KnownSet(("group",), k),)) if together else KAnonymity(k)
        expected = [size >= k for size in sizes]
        assert [asked.holds(np.array([size - size // 2, size // 2])) for size in sizes] == expected
        table = pa.table({"group": np.repeat(np.arange(PER_TABLE), sizes)})
        found = verify_arrow(table, [(str(asked), one.names, one.k) for one in asked.sets(["group"])])
        assert found.passed == all(expected)
        assert found.sizes.classes_below(k) == expected.count(False)
        assert dict(found.sizes.histogram) == Counter(sizes)
        both |= set(expected)
    assert both == {True, False}
