"""Means: exact, whatever the numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incrowd.rows.memory.settling import FormTally, group_means, settle_forms
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.released_value import Level, Mean, Range, Shown, Suppressed
from incrowd.vocabulary.schema import ColumnType


def column(values, kind):
    """An encoded column of plain numbers, None for missing."""
    dictionary = sorted({value for value in values if value is not None})
    place = {value: i for i, value in enumerate(dictionary)} | {None: len(dictionary)}
    dtype = pl.Int64 if kind is ColumnType.INTEGER else pl.Float64
    codes = np.array([place[value] for value in values], np.int32)
    return EncodedColumn("x", kind, codes, pl.Series(dictionary, dtype=dtype))


def means_of(numbers, groups, count):
    """Group means, from the rows."""
    return group_means(numbers.numbers, FormTally.of(numbers, np.array(groups, np.int32), count), count)


def settled(forms, numbers, shown):
    """Forms filled in, from the rows; in one tally and in two."""
    shown = np.array(shown, np.int32)
    halves = [np.arange(0, len(shown), 2), np.arange(1, len(shown), 2)]
    parts = [FormTally.of(numbers.take(rows), shown[rows], len(forms)) for rows in halves]
    found = settle_forms(forms, numbers, FormTally.of(numbers, shown, len(forms)))
    assert found == settle_forms(forms, numbers, FormTally.sum(parts))
    return found


whole = st.integers(-(2**63), 2**63 - 1)
real = st.floats(allow_nan=False, allow_infinity=False)
SOME = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))


def check(values, groups, kind, count=4):
    means = means_of(column(values, kind), groups, count)
    for group in range(count):
        own = [v for v, g in zip(values, groups, strict=True) if g == group and v is not None]
        if not own:
            assert math.isnan(means[group])
            continue
        exact = sum(map(Fraction, own)) / len(own)
        one_ulp = Fraction(math.ulp(float(exact)))
        assert abs(Fraction(means[group]) - exact) <= one_ulp
        assert float(min(own)) <= means[group] <= float(max(own))


@SOME
@given(st.lists(st.tuples(st.none() | whole, st.integers(-1, 3)), min_size=1, max_size=30))
@example([(-(2**63), 0), (2**63 - 1, 0), (1, 0)])
@example([(2**53 + 1, 0), (2**53 + 1, 0)])
@example([(2**53 + 1, 0), (2**53 + 3, 0), (None, 1)])
@example([(-(2**63), 0)] * 3 + [(-(2**63) + 1, 0)])
def test_means_of_whole_numbers_are_exact(pairs):
    check([v for v, _ in pairs], [g for _, g in pairs], ColumnType.INTEGER)


@SOME
@given(st.lists(st.tuples(st.none() | real, st.integers(-1, 3)), min_size=1, max_size=30))
@example([(1e16, 0), (1.0, 0), (-1e16, 0)])
@example([(1e308, 0), (1.7e308, 0), (1.6e308, 0)])
@example([(0.1, 0)] * 10)
@example([(5e-324, 0), (0.0, 0), (5e-324, 1)])
@example([(0.0, 1), (1.0, 1), (5.7317512975603976e16, 1), (-6.595132541819598e16, 1), (-6.595132541819598e16, 1)])
def test_means_of_reals_are_rounded_once_at_most_twice(pairs):
    check([v for v, _ in pairs], [g for _, g in pairs], ColumnType.REAL)


def test_a_large_column_of_small_numbers_takes_the_fast_way_to_the_same_result():
    rng = np.random.default_rng(0)
    values, groups = rng.integers(-1000, 1000, 5000).tolist(), rng.integers(-1, 4, 5000).tolist()
    check(values, groups, ColumnType.INTEGER)


def test_constant_groups_show_exactly_their_value():
    values = [0.1] * 7 + [1 / 3] * 11
    means = means_of(column(values, ColumnType.REAL), [0] * 7 + [1] * 11, 2)
    assert means.tolist() == [0.1, 1 / 3]


def test_only_means_and_levels_are_filled_in():
    numbers = column([1, 4, 10, 20, 7, 7], ColumnType.INTEGER)
    forms = [Mean(), Suppressed(), Shown(7)]
    filled = settled(forms, numbers, np.array([0, 0, 1, 1, 2, 2], np.int32))
    assert filled == [Mean(2.5), Suppressed(), Shown(7)]
    assert forms[0] == Mean()


def test_a_level_is_the_mean_over_all_groups_that_show_its_interval():
    numbers = column([1, 2, 3, 6, 50, 60, 4, 4], ColumnType.INTEGER)
    low, high = Level(None, 10), Level(10, None)
    filled = settled([low, low, high, Suppressed()], numbers, np.array([0, 0, 1, 1, 2, 2, 3, 3], np.int32))
    assert filled == [Level(None, 10, 3.0), Level(None, 10, 3.0), Level(10, None, 55.0), Suppressed()]


def test_a_range_goes_from_the_smallest_to_the_largest_number_of_its_group():
    numbers = column([5, 1, 9, 9, None, 2], ColumnType.INTEGER)
    filled = settled([Range(), Range(), Suppressed()], numbers, np.array([0, 0, 1, 1, 1, 2], np.int32))
    assert filled == [Range(1, 5), Range(9, 9), Suppressed()]


def test_rows_that_are_left_out_do_not_count():
    numbers = column([1, 3, 1000], ColumnType.INTEGER)
    shown = np.array([0, 0, -1], np.int32)
    assert settled([Level(None, 2000)], numbers, shown) == [Level(None, 2000, 2.0)]
    assert settled([Mean()], numbers, shown) == [Mean(2.0)]
    assert settled([Range()], numbers, shown) == [Range(1, 3)]
