"""The statistics of comparisons against oracles written a second way."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from experiments.significance import bonferroni_dunn, five_by_two_test, friedman_test, ranks
from incrowd.comparisons.summary import (
    corrected_t_interval,
    wilson_interval,
)

hundredths = st.integers(-30, 30)
differences = st.lists(st.tuples(hundredths, hundredths), min_size=5, max_size=5)
accuracies = st.integers(2, 6).flatmap(
    lambda methods: st.lists(st.lists(st.integers(0, 8), min_size=methods, max_size=methods), min_size=2, max_size=12)
)
folds = st.lists(st.integers(0, 1000).map(lambda value: value / 1000), min_size=2, max_size=20)


def exact_f(pairs: list[tuple[int, int]]) -> Fraction | None:
    """F by the definition, in whole fractions; None where nothing varies."""
    above = Fraction(sum(p * p for pair in pairs for p in pair))
    below = Fraction(0)
    for pair in pairs:
        mean = Fraction(sum(pair), 2)
        below += sum((p - mean) ** 2 for p in pair)
    return above / (2 * below) if below else None


@given(differences)
def test_five_by_two_is_the_definition(pairs: list[tuple[int, int]]) -> None:
    found = five_by_two_test([[a / 100, b / 100] for a, b in pairs])
    exact = exact_f(pairs)
    if exact is None:
        assert found.statistic == (math.inf if any(a for a, _ in pairs) else 0)
        assert found.p_value == (0 if any(a for a, _ in pairs) else 1)
    else:
        assert found.statistic == pytest.approx(float(exact))
        assert found.p_value == pytest.approx(1 - stats.f.cdf(float(exact), 10, 5), abs=1e-9)
    assert found.mean_difference == pytest.approx(sum(a + b for a, b in pairs) / 1000, abs=1e-12)


@given(differences, st.sampled_from([1e-200, 1e-9, 1e6]))
def test_five_by_two_knows_no_scale_and_no_side(pairs: list[tuple[int, int]], scale: float) -> None:
    found = five_by_two_test(np.array(pairs, float))
    scaled = five_by_two_test(np.array(pairs, float) * scale)
    swapped = five_by_two_test([(-b, -a) for a, b in reversed(pairs)])
    assert scaled.statistic == pytest.approx(found.statistic, rel=1e-9)
    assert swapped.statistic == pytest.approx(found.statistic, rel=1e-9)


def counted_rank(row: list[int], position: int) -> Fraction:
    """How many are better, and half of the equals."""
    better = sum(other > row[position] for other in row)
    equal = sum(other == row[position] for other in row)
    return better + Fraction(equal + 1, 2)


@given(accuracies)
def test_ranks_count_the_better_ones(rows: list[list[int]]) -> None:
    found = ranks(rows)
    assert found.tolist() == [[float(counted_rank(row, i)) for i in range(len(row))] for row in rows]
    assert ranks(-np.array(rows), larger_is_better=False).tolist() == found.tolist()


@given(accuracies)
def test_friedman_is_the_definition(rows: list[list[int]]) -> None:
    cases, methods = len(rows), len(rows[0])
    means = [sum((counted_rank(row, j) for row in rows), Fraction(0)) / cases for j in range(methods)]
    middle = Fraction(methods + 1, 2)
    chi_square = Fraction(12 * cases, methods * (methods + 1)) * sum((mean - middle) ** 2 for mean in means)
    found = friedman_test(rows)
    assert found.mean_ranks == pytest.approx([float(mean) for mean in means])
    assert found.chi_square == pytest.approx(float(chi_square), abs=1e-9)
    below = cases * (methods - 1) - chi_square
    if below:
        assert found.f_statistic == pytest.approx(float((cases - 1) * chi_square / below), abs=1e-9)
    else:
        assert (found.f_statistic, found.f_p) == (math.inf, 0)
    assert 0 <= found.f_p <= 1
    assert 0 <= found.chi_square_p <= 1


@given(st.integers(3, 6).flatmap(lambda k: st.lists(st.permutations(range(k)), min_size=2, max_size=10)))
def test_friedman_agrees_with_scipy_where_no_values_are_equal(rows: list[list[int]]) -> None:
    """SciPy corrects for equals, so the two may only differ where there are some."""
    theirs = stats.friedmanchisquare(*np.array(rows).T)
    ours = friedman_test(rows)
    assert ours.chi_square == pytest.approx(theirs.statistic)
    assert ours.chi_square_p == pytest.approx(theirs.pvalue)


@given(accuracies)
def test_friedman_agrees_with_scipy_but_for_its_correction_for_equals(rows: list[list[int]]) -> None:
    methods = len(rows[0])
    assume(methods >= 3)
    ties = sum(row.count(value) ** 3 - row.count(value) for row in rows for value in set(row))
    correction = 1 - ties / (len(rows) * methods * (methods**2 - 1))
    assume(correction > 0)
    theirs = stats.friedmanchisquare(*np.array(rows).T)
    assert friedman_test(rows).chi_square == pytest.approx(theirs.statistic * correction, abs=1e-9)


mean_ranks = st.dictionaries(st.sampled_from("abcdefg"), st.integers(4, 28).map(lambda r: r / 4), min_size=2)


@settings(max_examples=60, deadline=None)
@given(mean_ranks, st.integers(1, 60))
def test_a_control_is_better_worse_or_alike(ranked: dict[str, float], cases: int) -> None:
    control = min(ranked)
    found = bonferroni_dunn(ranked, cases, control)
    better, worse = set(found.better_than(control)), set(found.worse_than(control))
    for name, rank in ranked.items():
        assert (name in better) == (ranked[control] - rank > found.difference)
        assert (name in worse) == (rank - ranked[control] > found.difference)


@given(folds)
def test_the_interval_over_folds_is_the_formula(values: list[float]) -> None:
    exact = [Fraction(round(value * 1000), 1000) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / (len(exact) - 1)
    width = stats.t.ppf(0.975, len(values) - 1) * math.sqrt(variance * (1 + Fraction(1, len(exact))))
    found = corrected_t_interval(values, test_by_train=1)
    assert (found.low, found.high) == pytest.approx((float(mean) - width, float(mean) + width), abs=1e-9)


@given(st.integers(1, 2000), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_bounds_are_where_the_score_test_turns(rows: int, data: st.DataObject, level: float) -> None:
    """A share lies on the bound if the observed one is just z standard errors, of that share, away."""
    right = data.draw(st.integers(0, rows))
    found = wilson_interval(right / rows, rows, level)
    z = stats.norm.ppf((1 + level) / 2)
    assert 0 <= found.low <= right / rows + 1e-12
    assert right / rows - 1e-12 <= found.high <= 1
    for bound in (found.low, found.high):
        assert (right / rows - bound) ** 2 == pytest.approx(z**2 * bound * (1 - bound) / rows, abs=1e-9)
