"""Estimated uniques: formulas reckoned a second way, and samples of populations that are known."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import ParameterError
from incrowd.risk.classes import NotMeasured
from incrowd.risk.uniques import (
    Estimate,
    Sample,
    classes_of_population,
    estimates_of,
    ewens,
    expected_counts,
    expected_uniques,
    log_likelihood,
    pitman,
    slide_negative_binomial,
    zayatz,
)


def histogram(labels):
    """Classes by size, counted with dictionaries."""
    return tuple(sorted(Counter(Counter(labels).values()).items()))


def pitman_population(theta, alpha, people, rng):
    """People who join a class in turn, as in Pitman's model."""
    sizes, labels = [], []
    for number in range(people):
        if rng.random() * (theta + number) < theta + alpha * len(sizes):
            sizes.append(1)
            labels.append(len(sizes) - 1)
            continue
        while True:
            one = labels[rng.integers(number)]
            if rng.random() * sizes[one] < sizes[one] - alpha:
                break
        sizes[one] += 1
        labels.append(one)
    return np.array(labels)


def slide_population(classes, a, b, rng):
    return np.repeat(np.arange(classes), 1 + rng.negative_binomial(a, b, classes))


def error(labels, fraction, estimator, rng, draws=9):
    """The median relative error over samples."""
    true = Counter(Counter(labels.tolist()).values())[1]
    found = []
    for _ in range(draws):
        drawn = rng.permutation(labels)[: round(fraction * len(labels))]
        found.append(estimator(Sample(histogram(drawn.tolist()), len(labels))).uniques / true - 1)
    return float(np.median(found))


def test_zayatz_by_exact_fractions():
    sample = Sample(((1, 12), (2, 5), (3, 2), (7, 1)), 90)
    n, people = sample.rows, sample.people
    ways = {i: Fraction(i * comb(people - i, n - 1), comb(people, n)) for i, _ in sample.histogram}
    alone = 12 * ways[1] / sum(count * ways[size] for size, count in sample.histogram)
    assert zayatz(sample).uniques == pytest.approx(float(12 * alone * Fraction(people, n)), rel=1e-9)


def test_zayatz_where_a_class_is_larger_than_what_was_not_drawn():
    sample = Sample(((1, 2), (9, 1)), 12)
    n, people = 11, 12
    ways = {i: Fraction(i * comb(people - i, n - 1), comb(people, n)) for i in (1, 9)}
    alone = 2 * ways[1] / (2 * ways[1] + ways[9])
    assert ways[9] == 0
    assert zayatz(sample).uniques == pytest.approx(float(2 * alone * Fraction(people, n)))


def test_ewens_theta_explains_the_number_of_classes():
    sample = Sample(((1, 30), (2, 10), (5, 4)), 2000)
    theta = dict(ewens(sample).parameters)["theta"]
    assert sum(theta / (theta + i) for i in range(sample.rows)) == pytest.approx(sample.classes, rel=1e-9)
    assert ewens(sample).uniques == pytest.approx(2000 * theta / (theta + 1999))


@pytest.mark.parametrize(("theta", "alpha"), [(2.0, 0.0), (0.5, 0.3), (-0.2, 0.5), (40.0, 0.9)])
def test_expected_uniques_by_the_chain_of_classes(theta, alpha):
    """By induction over people: the expected number of classes says how often the last one is new."""
    people = 60
    classes = 0.0
    for number in range(people - 1):
        classes += (theta + alpha * classes) / (theta + number) if number else 1.0
    assert expected_uniques(theta, alpha, people) == pytest.approx(
        people * (theta + alpha * classes) / (theta + people - 1)
    )


def test_pitman_is_at_the_top_of_its_likelihood():
    sample = Sample(((1, 80), (2, 22), (3, 9), (4, 6), (9, 3), (30, 1)), 5000)
    found = dict(pitman(sample).parameters)
    best = log_likelihood(sample, found["theta"], found["alpha"])
    for theta in found["theta"] * np.array([0.5, 0.9, 0.99, 1.01, 1.1, 2.0]):
        for alpha in np.clip(found["alpha"] + np.array([-0.2, -0.01, 0.0, 0.01, 0.2]), 0.001, 0.999):
            assert log_likelihood(sample, float(theta), float(alpha)) <= best + 1e-7


def test_the_likelihood_is_that_of_joining_in_turn():
    """One order of arrival, reckoned step by step; the number of orders does not depend on the parameters."""
    theta, alpha, labels = 1.7, 0.35, [0, 0, 1, 0, 2, 1, 3]
    sizes, steps = Counter(), 0.0
    for number, one in enumerate(labels):
        weight = sizes[one] - alpha if sizes[one] else theta + alpha * len(sizes)
        steps += np.log(weight / (theta + number)) if number else 0.0
        sizes[one] += 1
    assert log_likelihood(Sample(histogram(labels), 100), theta, alpha) == pytest.approx(steps)


def test_slide_negative_binomial_counts_by_summing_over_the_population():
    a, b, p = 0.8, 0.3, 0.25
    weight, once, twice = b**a, 0.0, 0.0
    for k in range(1, 400):
        once += weight * k * p * (1 - p) ** (k - 1)
        twice += weight * comb(k, 2) * p**2 * (1 - p) ** max(k - 2, 0)
        weight *= (a + k - 1) / k * (1 - b)
    assert expected_counts(a, b, 1000.0, p) == pytest.approx((1000 * once, 1000 * twice), rel=1e-9)


def test_slide_negative_binomial_solves_its_equations():
    sample = Sample(((1, 400), (2, 160), (3, 70), (4, 30), (5, 15)), 2500)
    found = dict(slide_negative_binomial(sample).parameters)
    assert expected_counts(found["a"], found["b"], found["classes"], sample.fraction) == pytest.approx(
        (400, 160), rel=1e-4
    )
    assert slide_negative_binomial(sample).uniques == pytest.approx(found["classes"] * found["b"] ** found["a"])


def test_shlosser_finds_the_number_of_classes():
    rng = np.random.default_rng(3)
    labels = slide_population(3000, 0.7, 0.25, rng)
    drawn = rng.permutation(labels)[: len(labels) // 3]
    assert classes_of_population(Sample(histogram(drawn.tolist()), len(labels))) == pytest.approx(3000, rel=0.15)


def test_pitman_finds_the_uniques_of_its_own_population():
    rng = np.random.default_rng(11)
    labels = pitman_population(100.0, 0.5, 12_000, rng)
    for fraction in (0.05, 0.1, 0.3):
        assert abs(error(labels, fraction, pitman, rng)) < 0.2


def test_slide_negative_binomial_finds_the_uniques_of_its_own_population():
    rng = np.random.default_rng(12)
    labels = slide_population(4000, 0.8, 0.2, rng)
    assert abs(error(labels, 0.5, slide_negative_binomial, rng)) < 0.1


def test_zayatz_is_good_for_large_fractions_and_far_too_high_for_small_ones():
    rng = np.random.default_rng(13)
    labels = pitman_population(100.0, 0.5, 12_000, rng)
    assert abs(error(labels, 0.5, zayatz, rng)) < 0.1
    assert error(labels, 0.02, zayatz, rng) > 0.5


@pytest.mark.parametrize(("fraction", "most"), [(0.05, 0.35), (0.1, 0.2), (0.3, 0.1), (0.5, 0.1)])
def test_the_rule_on_people(fraction, most):
    """Patients with age, sex and postcode; docs/risk.md tells the errors found so."""
    rng = np.random.default_rng(14)
    frame = make_patients(12_000).select(pl.struct("age", "sex", "postcode").rank("dense"))
    labels = frame.to_series().to_numpy()
    assert abs(error(labels, fraction, lambda sample: estimates_of(sample).chosen, rng)) < most


def test_the_rule_chooses_by_fraction():
    small, large = Sample(((1, 60), (2, 20), (3, 10)), 5000), Sample(((1, 60), (2, 20), (3, 10)), 400)
    assert estimates_of(small).chosen.how == "Pitman"
    found = estimates_of(large)
    both = [found.by_name["Zayatz"].uniques, found.by_name["SNB"].uniques]
    assert found.chosen.uniques == min(both)
    assert found.chosen.how in ("Zayatz", "SNB")


def test_where_a_model_cannot_be_fitted_zayatz_answers():
    every = estimates_of(Sample(((1, 50),), 5000))
    assert isinstance(every.by_name["Pitman"], NotMeasured)
    assert isinstance(every.by_name["Ewens"], NotMeasured)
    assert isinstance(every.by_name["SNB"], NotMeasured)
    assert every.chosen.how == "Zayatz"
    assert every.chosen.uniques == 5000


def test_the_whole_population_needs_no_model():
    found = estimates_of(Sample(((1, 7), (2, 3)), 13))
    assert {one.uniques for one in found.by_name.values()} == {7.0}
    assert found.chosen.share == 7 / 13


def test_no_unique_row_is_told_as_what_it_is():
    found = estimates_of(Sample(((2, 3), (9, 1)), 1000))
    assert found.chosen.uniques == 0
    assert "lack of any unique row" in found.chosen.how


@pytest.mark.parametrize("people", [4, 0, -1, True, 10.5])
def test_a_population_below_the_sample_is_refused(people):
    with pytest.raises(ParameterError, match="at least the 5 rows"):
        Sample(((1, 5),), people)


def test_one_class_with_a_unique():
    found = estimates_of(Sample(((1, 1),), 10))
    assert isinstance(found.chosen, Estimate)
    assert 0 <= found.chosen.uniques <= 10
