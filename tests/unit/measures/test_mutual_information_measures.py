"""Measures on contingencies: edges, identities, and a second way to compute them."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from incrowd.measures import information as measures

contingencies = st.integers(1, 4).flatmap(
    lambda classes: st.lists(st.lists(st.integers(0, 20), min_size=classes, max_size=classes), min_size=1, max_size=6)
)


def plain_information(counts):
    """I(A; C) as sum f(a, c) log f(a, c) / (f(a) f(c))."""
    total = sum(map(sum, counts))
    columns = list(map(sum, zip(*counts, strict=True)))
    return sum(
        cell / total * math.log2(cell * total / (sum(row) * column))
        for row in counts
        for cell, column in zip(row, columns, strict=True)
        if cell
    )


@given(contingencies)
def test_mutual_information_is_that_of_the_definition(counts):
    assert math.isclose(measures.mutual_information(counts), plain_information(counts), abs_tol=1e-9)


@given(contingencies)
def test_information_is_symmetric_and_bounded(counts):
    found = measures.mutual_information(counts)
    assert math.isclose(found, measures.mutual_information(np.transpose(counts)), abs_tol=1e-9)
    assert 0 <= found <= min(measures.class_entropy(counts), measures.value_entropy(counts)) + 1e-9
    assert 0 <= measures.normalized_information(counts) <= 1 + 1e-9


def test_no_rows_and_one_value_tell_nothing():
    assert measures.normalized_information(np.zeros((3, 2), int)) == 0
    assert measures.conditional_entropy(np.zeros((3, 2), int)) == 0
    assert measures.normalized_information([[3, 4]]) == 0


def test_conditional_entropy_of_halves():
    assert measures.conditional_entropy([[1, 1], [2, 0]]) == 0.5


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6))
def test_divergence_grows_with_what_is_suppressed(pairs):
    before = [a + b for a, b in pairs]
    after = [a for a, _ in pairs]
    found = measures.divergence(before, after)
    assert found >= 0
    assert math.isinf(found) == any(b and not a for a, b in zip(after, before, strict=True))
    assert (found > 1e-12) == (before != after)


def test_room_for_divergence():
    assert measures.divergence_room([4, 4]) == 2.0
    assert measures.divergence_room([8]) == 3.0
    assert measures.divergence_room([1, 1, 1, 1]) == measures.divergence_room([]) == 0
