"""Learners against oracles in plain Python."""

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.comparisons.learners.c45 import CLASS, C45Learner, WeightedC45, tabled
from incrowd.comparisons.learners.learner import Discretization, Examples, discretize, repeated
from incrowd.comparisons.learners.naive_bayes import NaiveBayes
from incrowd.comparisons.learners.rule_list import RuleList
from incrowd.recipients.matrix import Attribute
from incrowd.trees.c45 import C45
from incrowd.trees.packing import pack
from incrowd.trees.tree import Eq, Gt, Le


@st.composite
def tables(draw, categories=True, max_rows=30):
    """Examples with missing values and whole weights, as they are and as plain rows (None is missing)."""
    height = draw(st.integers(1, max_rows))
    labels = ("x", "y", "z")[: draw(st.integers(1, 3))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    attributes = []
    for place in range(draw(st.integers(0, 4))):
        gone = rng.random(height) < draw(st.sampled_from([0.0, 0.2, 0.6, 1.0]))
        size = draw(st.integers(1, 6))
        codes = rng.integers(0, size, height)
        if not categories or draw(st.booleans()):
            attributes.append(Attribute(f"a{place}", np.where(gone, np.nan, codes**2 / 4 - 1)))
        else:
            attributes.append(Attribute(f"a{place}", np.where(gone, -1, codes), tuple("pqrstu"[:size])))
    classes = rng.integers(0, len(labels), height)
    if attributes and draw(st.booleans()):
        classes = np.nan_to_num(attributes[0].values * 3).astype(np.int64) % len(labels)
    weights = rng.integers(1, 4, height).astype(float) if draw(st.booleans()) else None
    return Examples(tuple(attributes), classes, labels, weights)


def plain(examples):
    """Rows of plain values."""
    columns = []
    for each in examples.attributes:
        missing = each.is_missing.tolist()
        columns.append([None if gone else value for value, gone in zip(each.values.tolist(), missing, strict=True)])
    return [[column[row] for column in columns] for row in range(examples.height)]


def bayes(train, row):
    """The probabilities of the classes for one row: counts as fractions, the normal distribution by the library."""
    known = list(zip(plain(train), train.classes.tolist(), strict=True))
    scores = []
    for label in range(len(train.labels)):
        own = [values for values, each in known if each == label]
        score = Fraction(len(own) + 1, len(known) + len(train.labels))
        for place, (value, attribute) in enumerate(zip(row, train.attributes, strict=True)):
            column = [values[place] for values in own if values[place] is not None]
            everyone = [values[place] for values, _ in known if values[place] is not None]
            if value is None or (not everyone and attribute.categories is None):
                continue
            if attribute.categories is not None:
                score *= Fraction(Counter(column)[value] + 1, len(column) + len(attribute.categories))
            else:
                score *= Fraction(mass(column or everyone, everyone, value))
        scores.append(score)
    return [float(score / sum(scores)) for score in scores]


def mass(column, everyone, value):
    distinct = sorted(set(everyone))
    precision = (distinct[-1] - distinct[0]) / (len(distinct) - 1) if len(distinct) > 1 else 0.01
    column = [round(each / precision) * precision for each in column]
    mean = sum(column) / len(column)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in column) / len(column))
    normal = NormalDist(mean, max(deviation, precision / 6))
    value = mean - abs(round(value / precision) * precision - mean)  # the lower tail is the exact one
    return max(normal.cdf(value + precision / 2) - normal.cdf(value - precision / 2), 1e-75)


@settings(max_examples=150, deadline=None)
@given(tables(), st.integers(0, 99))
def test_naive_bayes_is_counting(train, seed):
    test = train.take(np.random.default_rng(seed).integers(0, train.height, 5))
    scores = NaiveBayes().fit(train, 0).scores(test)
    everyone = repeated(train, "nb")
    np.testing.assert_allclose(scores, [bayes(everyone, row) for row in plain(test)], rtol=1e-6, atol=1e-9)


def satisfied(condition, row, attribute):
    """To what part a plain row satisfies a condition."""
    value = row[condition.place]
    if value is None:
        return condition.share
    match condition.predicate:
        case Le(threshold=threshold):
            return float(value <= threshold)
        case Gt(threshold=threshold):
            return float(value > threshold)
        case Eq(value=category):
            return float(attribute.categories[value] == category)


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from(["whole", "partial"]), st.sampled_from([1, 3, None]), st.sampled_from([None, 0.25]))
def test_rules_cover_the_rows_they_say(train, trees, rules_per_round, confidence):
    learner = RuleList(confidence, 1, trees=trees, rules_per_round=rules_per_round if trees == "whole" else 1)
    model = learner.fit(train, 0)
    weights = np.ones(train.height) if train.weights is None else train.weights
    rows = plain(train)
    left = [1.0] * train.height
    expected = np.zeros((train.height, len(train.labels)))
    for rules in model.rounds:
        taken = [0.0] * train.height
        for rule in rules:
            counts = [0.0] * len(train.labels)
            for place, row in enumerate(rows):
                part = 1.0
                for condition in rule.conditions:
                    part *= satisfied(condition, row, train.attributes[condition.place])
                taken[place] += part
                counts[train.classes[place]] += weights[place] * left[place] * part
                expected[place] += np.array(rule.counts) / sum(rule.counts) * left[place] * part
            if any(left):
                np.testing.assert_allclose(rule.counts, counts, atol=1e-2)
        left = [each * max(0.0, 1 - part) for each, part in zip(left, taken, strict=True)]
        left = [0.0 if each < 1e-3 else each for each in left]
    assert not any(left)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.scores(train), expected, atol=1e-9)


@settings(max_examples=100, deadline=None)
@given(tables())
def test_the_rules_of_a_round_exclude_each_other(train):
    for rules in RuleList(rules_per_round=None, min_branch=1).fit(train, 0).rounds:
        covered = np.zeros(train.height)
        for rule in rules:
            rows, parts = rule.weights(train, np.arange(train.height))
            covered[rows] += parts
        assert (covered <= 1 + 1e-9).all()


@settings(max_examples=100, deadline=None)
@given(tables(), st.sampled_from([0.25, None]))
def test_a_tree_of_weights_of_one_is_the_tree_without_weights(train, confidence):
    table, names = tabled(train), [each.name for each in train.attributes]
    weighted = WeightedC45(pack(table, names, CLASS, None), 2, confidence).grow(np.ones(train.height))
    assert weighted == C45(bins=None, missing="weight", confidence=confidence).grow(table, names, CLASS)


@settings(max_examples=100, deadline=None)
@given(tables(categories=False))  # with categories, C4.5 looks at the number of rows, not at their weight
def test_a_weighted_tree_is_the_tree_of_repeated_rows(train):
    weights = np.ones(train.height) if train.weights is None else train.weights
    doubled = replace(train, weights=weights * 2)  # never all one, so that the weighted way is taken
    one = C45Learner(bins=None).fit(doubled, 0).tree
    other = C45Learner(bins=None).fit(repeated(doubled, "c45"), 0).tree
    np.testing.assert_allclose([node.counts for node in one.nodes], [node.counts for node in other.nodes], atol=1e-6)
    assert [node.branches for node in one.nodes] == [node.branches for node in other.nodes]


@settings(max_examples=100, deadline=None)
@given(tables(), tables())
def test_intervals_say_where_the_number_is(train, other):
    test = train.take(np.random.default_rng(other.height).integers(0, train.height, other.height))
    shown_train, shown = discretize(train, test)
    for before, after, cuts in zip(test.attributes, shown.attributes, Discretization.of(train).cuts, strict=True):
        if cuts is None:
            assert after is before
            continue
        for value, code in zip(before.values.tolist(), after.values.tolist(), strict=True):
            if math.isnan(value):
                assert code == -1
            else:
                low, high = after.categories[code].strip("()]").split(", ")
                assert float(low) < value <= float(high)
    for one, two in zip(shown_train.attributes, shown.attributes, strict=True):
        assert one.categories == two.categories
