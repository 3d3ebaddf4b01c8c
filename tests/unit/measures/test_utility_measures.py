"""Utility measures against their definitions, cell by cell, in whole numbers and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.report.utility_facts import Domain, average_group, certainty_penalty, discernibility, loss_metric
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import (
    Category,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    Suppressed,
    ValueSet,
)
from incrowd.vocabulary.schema import ColumnType


def numbers(values):
    """A column of whole numbers, None is missing."""
    known = sorted({value for value in values if value is not None})
    codes = [len(known) if value is None else known.index(value) for value in values]
    return EncodedColumn("n", ColumnType.INTEGER, np.array(codes, np.int32), pl.Series(known, dtype=pl.Int64))


def words(values):
    known = sorted({value for value in values if value is not None})
    codes = [len(known) if value is None else known.index(value) for value in values]
    return EncodedColumn("w", ColumnType.CATEGORICAL, np.array(codes, np.int32), pl.Series(known, dtype=pl.String))


ENDS = st.none() | st.integers(-2, 12)


@given(st.lists(st.none() | st.integers(0, 10), min_size=1, max_size=30), ENDS, ENDS)
def test_an_interval_stands_for_the_values_inside(values, low, high):
    domain = Domain(numbers(values))
    distinct = set(values)
    inside = {v for v in distinct - {None} if (low is None or v > low) and (high is None or v <= high)}
    closed = {v for v in distinct - {None} if (low is None or v >= low) and (high is None or v <= high)}
    assert domain.size == len(distinct)
    if low is None or high is None or low <= high:
        for form in (Interval(low, high), Level(low, high, 3.0), Midpoint(low, high, 3.0)):
            assert domain.covered(form) == len(inside)
        assert domain.covered(Range(low, high)) == len(closed)


def test_every_other_form_stands_for_what_it_can_be():
    domain = Domain(words(["a", "b", "b", None, "c"]))
    assert domain.size == 4
    assert domain.covered(Shown("a")) == domain.covered(ShownMissing()) == 1
    assert domain.covered(ValueSet(("a", "c"))) == 2
    assert domain.covered(Suppressed()) == domain.covered(Mean(2.0)) == 4


def test_a_value_that_no_row_has_does_not_count():
    column = words(["a", "b", "c"])
    left = EncodedColumn("w", column.type, column.codes[:1], column.dictionary)
    assert Domain(left).size == 1


def test_a_group_of_a_hierarchy_stands_for_the_values_of_the_table_below_it():
    job = Hierarchy.from_paths("w", [["a", "ab", "*"], ["b", "ab", "*"], ["c", "*"], ["unused", "ab", "*"]])
    domain = Domain(words(["a", "b", "c", None]), job)
    found = [domain.covered(Category(label)) for label in ("ab", "c", "*", "unheard of")]
    assert found == [2, 1, 3, 4]


def test_a_group_of_numbers_stands_for_the_numbers_in_it():
    labels, parents = ("*", "(-inf, 30]", "(30, inf)"), (-1, 0, 0)
    domain = Domain(numbers([10, 20, 30, 31]), Hierarchy("n", labels, parents, Leaves.NUMBERS))
    assert [domain.covered(Category(label)) for label in labels] == [4, 3, 1]


@st.composite
def released(draw):
    """How many values there are, and what cells stand for, in how many rows."""
    size = draw(st.integers(1, 9))
    return size, draw(st.lists(st.tuples(st.integers(1, size), st.integers(0, 9)), max_size=6))


@given(released())
def test_losses_are_the_mean_of_the_losses_of_cells(case):
    size, cells = case
    single = [covered for covered, rows in cells for _ in range(rows)]
    penalties = [Fraction(0 if one == 1 else one, size) for one in single]
    losses = [Fraction(one - 1, size - 1) if size > 1 else Fraction(0) for one in single]
    assert certainty_penalty(cells, size) == pytest.approx(float(_mean(penalties)), abs=1e-15)
    assert loss_metric(cells, size) == pytest.approx(float(_mean(losses)), abs=1e-15)


def _mean(numbers):
    return sum(numbers, Fraction(0)) / len(numbers) if numbers else Fraction(0)


@given(st.lists(st.integers(1, 12), max_size=12), st.integers(0, 5))
def test_discernibility_counts_pairs_that_look_alike(sizes, left_out):
    rows = [group for group, size in enumerate(sizes) for _ in range(size)]
    alike = sum(one == other for one in rows for other in rows)
    histogram = [(size, sizes.count(size)) for size in sorted(set(sizes))]
    assert discernibility(histogram, left_out) == alike + left_out * (len(rows) + left_out)


def test_average_group():
    assert average_group([(5, 2), (20, 1)], 5) == 2.0
    assert average_group([], 5) == 0.0


def test_nothing_hidden_costs_nothing_and_everything_costs_all():
    assert certainty_penalty([(1, 7)], 3) == loss_metric([(1, 7)], 3) == 0.0
    assert certainty_penalty([(3, 7)], 3) == loss_metric([(3, 7)], 3) == 1.0
    assert certainty_penalty([(1, 7)], 1) == loss_metric([(1, 7)], 1) == 0.0
