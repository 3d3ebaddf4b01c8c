"""Numbers as intervals, cut by the training rows."""

import numpy as np

from incrowd.comparisons.learners.learner import Discretization, Examples, discretize
from incrowd.recipients.matrix import Attribute


def rows(ages, classes):
    return Examples((Attribute("age", np.array(ages, float)),), np.array(classes), ("no", "yes"))


TRAIN = rows([20, 21, 22, 23, 24, 60, 61, 62, 63, 64], [0] * 5 + [1] * 5)


def cut_by_itself(examples: Examples) -> Examples:
    """Rows cut as they themselves say."""
    return Discretization.of(examples).applied(examples)


def test_cuts_come_from_the_training_rows_only():
    test = rows([10, 42, 42.1, 99, np.nan], [1, 0, 1, 0, 1])
    shown, unseen = discretize(TRAIN, test)
    assert shown.attributes[0].categories == ("(-inf, 42]", "(42, inf)") == unseen.attributes[0].categories
    assert unseen.attributes[0].values.tolist() == [0, 0, 1, 1, -1]
    assert unseen.classes is test.classes


def test_cutting_before_sees_all_rows():
    first = TRAIN.take(np.arange(5))
    assert discretize(first, TRAIN)[1].attributes[0].categories == ("(-inf, inf)",)
    assert cut_by_itself(TRAIN).attributes[0].categories == ("(-inf, 42]", "(42, inf)")


def test_a_number_that_says_nothing_is_one_interval():
    shown = cut_by_itself(rows([1, 2, 3, 4], [0, 1, 0, 1])).attributes[0]
    assert shown.categories == ("(-inf, inf)",)
    assert shown.values.tolist() == [0, 0, 0, 0]


def test_a_number_missing_throughout_stays_missing():
    shown = cut_by_itself(rows([np.nan, np.nan], [0, 1])).attributes[0]
    assert shown.values.tolist() == [-1, -1]


def test_categories_stay_and_inputs_are_unchanged():
    sex = Attribute("sex", np.zeros(10, np.int64), ("f", "m"))
    both = Examples((sex, TRAIN.attributes[0]), TRAIN.classes, TRAIN.labels)
    before = both.attributes[1].values.copy()
    assert cut_by_itself(both).attributes[0] is sex
    np.testing.assert_array_equal(both.attributes[1].values, before)


def test_neighbouring_and_huge_numbers_are_cut_apart():
    step = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, step), (-1.7e308, 1.7e308), (1e308, 1.7e308)):
        ages = rows([low] * 20 + [high] * 20, [0] * 20 + [1] * 20)
        assert cut_by_itself(ages).attributes[0].values.tolist() == [0] * 20 + [1] * 20
        (cut,) = Discretization.of(ages).cuts[0]
        assert low <= cut < high
