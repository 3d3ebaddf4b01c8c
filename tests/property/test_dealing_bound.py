"""How far a deal is from the table: the bound on docs/blend.md, against all deals of small tables, one by one."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.attacks.membership import deal
from support.examples import drawn
from support.planted import counted, opened

Row = tuple[int, ...]
Shares = Mapping[Row, Fraction]
row = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1))  # two attributes and the class
groups = st.lists(st.lists(row, min_size=1, max_size=4), min_size=1, max_size=3)


def all_deals(rows: Sequence[Row]) -> list[tuple[Row, ...]]:
    """Every deal of a group: each attribute permuted over its rows, the class where it is."""
    first, second, label = zip(*rows, strict=True)
    return [tuple(zip(one, other, label, strict=True)) for one in permutations(first) for other in permutations(second)]


def divergence(of: Shares, by: Shares) -> float:
    return sum(float(share) * math.log(share / by[row]) for row, share in of.items())


def mean(parts: Sequence[tuple[int, Shares]]) -> Shares:
    rows = sum(size for size, _ in parts)
    total: dict[Row, Fraction] = {}
    for size, shares in parts:
        for one, share in shares.items():
            total[one] = total.get(one, Fraction(0)) + share * Fraction(size, rows)
    return total


def shares_of(rows: Sequence[Row]) -> Shares:
    return {one: Fraction(count, len(rows)) for one, count in Counter(rows).items()}


def entropy(values: Sequence[object]) -> float:
    return -sum(count / len(values) * math.log(count / len(values)) for count in Counter(values).values())


def total_correlation(rows: Sequence[Row]) -> float:
    return sum(entropy(column) for column in zip(*rows, strict=True)) - entropy(rows)


@settings(max_examples=drawn(200), deadline=None)
@given(groups)
def test_the_divergence_is_the_bound_less_what_rows_say_of_their_group(table: list[list[Row]]) -> None:
    """The dealt table is the mean of all deals; entropies, products of margins and posteriors come out the same."""
    rows = sum(map(len, table))
    weights = [Fraction(len(group), rows) for group in table]
    dealt = [shares_of([one for each in all_deals(group) for one in each]) for group in table]
    for group, shares in zip(table, dealt, strict=True):
        margins = [Counter(column) for column in zip(*group, strict=True)]
        for one in product(*margins):
            by_margins = math.prod(
                Fraction(margin[value], len(group)) for margin, value in zip(margins, one, strict=True)
            )
            assert shares[one] == by_margins
    original = mean([(len(group), shares_of(group)) for group in table])
    after = mean([(len(group), shares) for group, shares in zip(table, dealt, strict=True)])
    distance = divergence(original, after)
    bound = sum(len(group) / rows * total_correlation(group) for group in table)
    told = 0.0
    for one, share in original.items():
        for weight, group, shares in zip(weights, table, dealt, strict=True):
            own = weight * shares_of(group).get(one, Fraction(0)) / share
            if own:
                told += float(share * own) * math.log(own / (weight * shares[one] / after[one]))
    assert told > -1e-12
    assert distance <= bound + 1e-12
    assert math.isclose(distance, bound - told, abs_tol=1e-9)


def test_where_a_row_tells_its_group_the_bound_is_met() -> None:
    table = [[(0, 0, 0), (0, 1, 1)], [(1, 0, 0), (1, 1, 1), (1, 2, 0)]]
    rows = [one for group in table for one in group]
    dealt = mean([(len(group), shares_of([one for each in all_deals(group) for one in each])) for group in table])
    bound = sum(len(group) / len(rows) * total_correlation(group) for group in table)
    assert bound > 0.5
    assert math.isclose(divergence(shares_of(rows), dealt), bound)


@settings(max_examples=drawn(50), deadline=None)
@given(groups, st.integers(0, 2**31))
def test_what_is_dealt_from_a_release_is_one_of_the_deals(table: list[list[Row]], seed: int) -> None:
    rows = [one for group in table for one in group]
    frame = pl.DataFrame([(f"a{a}", f"b{b}", f"c{c}") for a, b, c in rows], schema=["one", "two", "ill"], orient="row")
    shown = counted(frame, ["one", "two"], [len(group) for group in table])
    scene = opened(shown, frame, quasi_identifiers=["one", "two"], sensitive=["ill"])
    names = ("one", "two")
    got = deal(scene.released, range(2), np.random.default_rng(seed))
    for number in range(len(scene.released.boxes)):  # groups that look the same are one class
        inside = np.flatnonzero(scene.released.classes == number)
        own = [scene.table[name].codes[inside] for name in names]
        assert [sorted(got[inside, place].tolist()) for place in range(2)] == [sorted(codes.tolist()) for codes in own]
