"""What every learner must survive."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from incrowd.comparisons.learners.catalog import LEARNERS, find_learner
from incrowd.comparisons.learners.learner import Examples, predicted
from incrowd.recipients.matrix import Attribute

WEKA = [name for name in LEARNERS if name.startswith("weka-")]
NAMES = [
    *(name for name in LEARNERS if name not in WEKA),
    "c45(missing='stop')",
    "c45(missing='branch')",
    "c45(raising=True)",
    "logistic(missing='indicator')",
    "logistic(missing='mode')",
    "rules(rules_per_round=None)",
    "forest(encoding='one-hot', n_estimators=10)",
    "svm(encoding='ordinal')",
    "GaussianNB",
    "MultinomialNB",
    "sklearn.ensemble.ExtraTreesClassifier(n_estimators=10)",
]


def rows(height=60, seed=0):
    """A table where sex and age tell the class, with missing values."""
    rng = np.random.default_rng(seed)
    sex, age, pay = rng.integers(0, 2, height), rng.integers(20, 80, height).astype(float), rng.random(height)
    classes = ((sex == 1) & (age > 40)).astype(np.int64)
    sex, age = np.where(rng.random(height) < 0.1, -1, sex), np.where(rng.random(height) < 0.1, np.nan, age)
    attributes = (Attribute("sex", sex, ("f", "m")), Attribute("age", age), Attribute("pay", pay))
    return Examples(attributes, classes, ("no", "yes"))


def checked(learner, train, test):
    scores = learner.fit(train, 7).scores(test)
    assert scores.shape == (test.height, len(train.labels))
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    return scores


@pytest.fixture(params=NAMES)
def learner(request):
    return find_learner(request.param)


def test_it_learns_and_is_the_same_for_the_same_seed(learner):
    train, test = rows(seed=1, height=200), rows(seed=2)
    scores = checked(learner, train, test)
    np.testing.assert_array_equal(scores, checked(learner, train, test))
    majority = np.argmax(np.bincount(train.classes))
    if learner.name not in ("majority", "MultinomialNB"):
        assert np.mean(predicted(scores) == test.classes) > np.mean(test.classes == majority)


def test_names_are_found_again(learner):
    assert find_learner(learner.name) == learner
    assert pickle.loads(pickle.dumps(learner)) == learner


def test_weights_of_one_change_nothing(learner):
    train, test = rows(seed=1), rows(seed=2)
    ones = replace(train, weights=np.ones(train.height))
    np.testing.assert_allclose(checked(learner, train, test), checked(learner, ones, test), atol=1e-9)


def test_inputs_stay_as_they_are(learner):
    train, test = replace(rows(seed=1), weights=np.full(60, 2.0)), rows(seed=2)
    for part in (train, test):
        for array in (part.classes, part.weights, *(each.values for each in part.attributes)):
            if array is not None:
                array.flags.writeable = False
    checked(learner, train, test)


def test_one_class(learner):
    train = replace(rows(), classes=np.ones(60, np.int64))
    assert (predicted(checked(learner, train, rows(seed=2))) == 1).all()


@pytest.mark.each(3)
def test_a_class_among_the_test_rows_only(learner):
    train = replace(rows(height=100), labels=("no", "yes", "maybe"))
    first = replace(train, classes=train.classes + 1, labels=("maybe", "no", "yes"))
    assert (predicted(checked(learner, train, train)) != 2).all()
    assert (predicted(checked(learner, first, first)) != 0).all()


@pytest.mark.each(3)
def test_attributes_missing_throughout(learner):
    train, test = rows(), rows(seed=2)
    gone = (np.full(60, -1), np.full(60, np.nan))
    some = tuple(replace(each, values=v) for each, v in zip(train.attributes[:2], gone, strict=True))
    checked(learner, replace(train, attributes=(*some, train.attributes[2])), test)
    checked(learner, replace(train, attributes=some), replace(test, attributes=test.attributes[:2]))
    checked(learner, train, replace(test, attributes=(*some, test.attributes[2])))
    none = replace(some[0], categories=())
    checked(learner, replace(train, attributes=(none,)), replace(test, attributes=(none,)))


def test_constant_attributes(learner):
    train, test = rows(), rows(seed=2)
    constant = (Attribute("sex", np.zeros(60, np.int64), ("f", "m")), Attribute("age", np.full(60, 5.0)))
    checked(learner, replace(train, attributes=constant), replace(test, attributes=test.attributes[:2]))


def test_a_category_among_the_test_rows_only(learner):
    train, test = rows(), rows(seed=2)
    wider = ("f", "m", "x")
    seen = Attribute("sex", train.attributes[0].values, wider)
    unseen = Attribute("sex", np.full(60, 2), wider)
    checked(
        learner,
        replace(train, attributes=(seen, train.attributes[1])),
        replace(test, attributes=(unseen, test.attributes[1])),
    )


def test_no_attributes(learner):
    train = replace(rows(), attributes=())
    assert len(np.unique(checked(learner, train, train), axis=0)) == 1


@pytest.mark.each(3)
def test_few_rows(learner):
    train = rows(seed=1)
    for height in (1, 2, 3, 5):
        checked(learner, train.take(np.arange(height)), rows(seed=2))
    checked(learner, train, rows(seed=2).take(np.arange(0)))


def test_no_rows_to_learn_from(learner):
    with pytest.raises(ValueError, match="no rows to learn from"):
        learner.fit(rows().take(np.arange(0)), 0)


@pytest.mark.each(3)
def test_huge_numbers(learner):
    train, test = rows(), rows(seed=2)
    for size in (1e12, 1e200, 1.7e308):
        values = np.where(train.classes == 1, size, -size)
        values[:5] = 0.0
        huge = Attribute("age", values)
        checked(learner, replace(train, attributes=(huge,)), replace(test, attributes=(huge,)))
        normal = replace(test, attributes=(train.attributes[1],))
        checked(learner, normal, replace(test, attributes=(huge,)))


@pytest.mark.each(3)
def test_many_classes_and_categories(learner):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 400, 300)
    attributes = (Attribute("town", codes, tuple(f"t{i}" for i in range(400))),)
    examples = Examples(attributes, codes % 7, tuple("abcdefg"))
    checked(learner, examples, examples)


def test_whole_weights_are_repeated_rows(learner):
    train, test = rows(height=80, seed=1), rows(seed=2)
    times = np.arange(80) % 3
    weighted = checked(learner, replace(train, weights=times.astype(float)), test)
    again = checked(learner, train.take(np.repeat(np.arange(80), times)), test)
    if learner.name.startswith(("c45", "nb", "logistic", "rules", "part", "majority", "knn", "MultinomialNB")):
        np.testing.assert_allclose(weighted, again, atol=1e-6)
