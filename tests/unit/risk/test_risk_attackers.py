"""Prosecutor, journalist and marketer against exact fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError
from incrowd.risk.assessment import count_people, missing_in_population
from incrowd.risk.attackers import expected_journalist, expected_risk, journalist, prosecutor
from incrowd.risk.classes import Coded, classes_of, coded, matched

THRESHOLDS = (0.05, 0.1, 0.2, 0.5)


def of_sizes(*sizes):
    """Classes of the given sizes."""
    return classes_of([Coded(np.repeat(np.arange(len(sizes)), sizes), len(sizes))])


def test_the_prosecutor_by_fractions():
    sizes = (1, 1, 2, 5, 10, 10, 11, 20, 40)
    found = prosecutor(of_sizes(*sizes), THRESHOLDS)
    rows = [Fraction(1, size) for size in sizes for _ in range(size)]
    assert found.maximum == float(max(rows))
    assert found.average == pytest.approx(float(sum(rows) / len(rows)), abs=1e-15)
    for one in found.at_risk:
        above = sum(risk > Fraction(str(one.threshold)) for risk in rows)
        assert (one.rows, one.share) == (above, above / len(rows))


@pytest.mark.parametrize("k", range(2, 60))
def test_a_class_of_k_rows_is_not_above_one_in_k(k):
    """1 / k as a decimal is compared as written: 0.2 is a fifth, 0.333 is less than a third."""
    (one,) = prosecutor(of_sizes(k, k - 1), [round(1 / k, 12)]).at_risk
    exact = Fraction(str(round(1 / k, 12)))
    assert one.rows == sum(size for size in (k, k - 1) if Fraction(1, size) > exact)
    if 100 % k == 0:
        assert one.rows == k - 1


@pytest.mark.parametrize("bad", [0, 1, -0.1, 2.0, float("nan"), True, "0.1"])
def test_a_threshold_outside_0_and_1_is_refused(bad):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        prosecutor(of_sizes(2), [bad])


def test_the_journalist_by_fractions():
    few = pl.DataFrame({"a": ["x", "x", "y", "z", None], "b": [1, 1, 2, 3, 3]})
    many = pl.DataFrame(
        {"a": ["x"] * 5 + ["y"] * 3 + ["z"] * 1 + [None] * 20 + ["other"] * 7, "b": [1] * 5 + [2] * 3 + [3] * 28}
    )
    counted = count_people(few, many, ["a", "b"])
    sample, people = Counter(few.rows()), Counter(many.rows())
    found = journalist(counted.classes, counted.people, THRESHOLDS)
    per_row = [Fraction(1, people[row]) for row in few.rows()]
    assert found.maximum == float(max(per_row)) == 1.0
    other_way = Fraction(len(sample), sum(people[row] for row in sample))
    assert found.average == pytest.approx(float(max(sum(per_row) / 5, other_way)), abs=1e-15)
    assert [one.rows for one in found.at_risk] == [
        sum(risk > Fraction(str(threshold)) for risk in per_row) for threshold in THRESHOLDS
    ]
    assert counted.uniques == 1
    assert counted.uniques_in_sample == 1
    assert list(missing_in_population(counted)) == []


def test_the_journalist_takes_the_worse_of_two_ways():
    """Eleven rows, one of five people and ten of ten: from person to table 2 in 15, from table to person 12 in 110."""
    classes, people = of_sizes(1, 10), np.array([5, 10])
    assert journalist(classes, people, THRESHOLDS).average == pytest.approx(2 / 15)
    assert journalist(of_sizes(1, 1), people, THRESHOLDS).average == pytest.approx((1 / 5 + 1 / 10) / 2)


def test_people_missing_from_the_population_are_told_and_counted_with_their_rows():
    few, many = pl.DataFrame({"a": [1, 1, 2, 3]}), pl.DataFrame({"a": [1, 2, 2]})
    counted = count_people(few, many, ["a"])
    assert sorted(counted.people.tolist()) == [1, 2, 2]
    assert (counted.short, counted.unmatched) == (3, 1)
    (notice,) = missing_in_population(counted)
    assert notice.code == "population-too-small"
    assert "3 rows" in notice.message


def test_the_same_values_of_other_types_match():
    ints, texts = pl.DataFrame({"a": [1, 2, None]}), pl.DataFrame({"a": ["1", "1", None]})
    assert matched(ints, texts, ["a"])[1].tolist() == [2, 0, 1]
    floats = pl.DataFrame({"a": [1.0, 2.5, float("nan")]})
    assert matched(ints, floats, ["a"])[1].tolist() == [1, 0, 1]


def test_a_population_without_the_columns_is_refused():
    with pytest.raises(HeaderError, match="population table"):
        matched(pl.DataFrame({"a": [1]}), pl.DataFrame({"b": [1]}), ["a"])


@pytest.mark.parametrize(
    "fraction", [Fraction(1, 50), Fraction(1, 10), Fraction(49, 100), Fraction(1, 2), Fraction(9, 10)]
)
def test_the_expected_risk_is_the_sum_over_the_negative_binomial(fraction):
    found = expected_risk(6, float(fraction))
    for f in range(1, 7):
        p, total, mass, h = float(fraction), 0.0, 0.0, f
        while mass < 1 - 1e-13:
            weight = comb(h - 1, f - 1) * p**f * (1 - p) ** (h - f)
            total, mass, h = total + weight / h, mass + weight, h + 1
        assert found[f - 1] == pytest.approx(total, rel=1e-9)


def test_the_expected_risk_falls_with_the_rows_and_stays_below_the_prosecutors():
    for fraction in (0.001, 0.3, 0.499999, 0.5, 0.99, 1.0):
        found = expected_risk(5000, fraction)
        assert (np.diff(found) < 0).all()
        assert (found <= 1 / np.arange(1, 5001) * (1 + 1e-12)).all()
        assert (found >= fraction / np.arange(1, 5001) * (1 - 1e-9)).all()


def test_the_estimated_journalist_is_between_the_prosecutor_and_the_fraction():
    classes = of_sizes(1, 1, 3, 8)
    found, surely = expected_journalist(classes, 0.1, THRESHOLDS), prosecutor(classes, THRESHOLDS)
    assert surely.average * 0.1 < found.average < surely.average
    assert [one.rows for one in found.at_risk] <= [one.rows for one in surely.at_risk]
    whole = expected_journalist(classes, 1.0, THRESHOLDS)
    assert whole.average == pytest.approx(surely.average)


def test_missing_is_a_value_and_nan_is_missing():
    frame = pl.DataFrame({"a": [1.0, None, float("nan"), 0.0, -0.0]})
    assert sorted(classes_of(coded(frame, ["a"])).sizes.tolist()) == [1, 2, 2]


def test_many_wide_columns_do_not_overflow():
    rng = np.random.default_rng(0)
    columns = [Coded(rng.integers(0, 5000, 6000), 5000) for _ in range(12)]
    rows = list(zip(*(column.codes.tolist() for column in columns), strict=True))
    assert classes_of(columns).count == len(set(rows))
    assert classes_of(columns[:1]).count == len({row[0] for row in rows})
