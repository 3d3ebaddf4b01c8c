"""How plain rows become a matrix, where the order of categories means something."""

import numpy as np

from incrowd.recipients.dealing import Rows
from incrowd.recipients.encoding import Encoding
from incrowd.recipients.matrix import Attribute, Binning, OneHot, Ordinal

BINS = ("low", "middle", "high", "never")


def rows_of(codes, shares=None):
    return Rows((Attribute("age", np.array(codes), BINS, ordered=True, shares=shares),), len(codes))


def test_ordered_bins_are_thermometers():
    train = rows_of([0, 1, 2, -1])
    one_hot = OneHot.of(train, "zeros")
    assert one_hot.names(train) == ["age>=low", "age>=middle", "age>=high"]
    assert one_hot.matrix(train).toarray().tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 0]]


def test_missing_ordered_bins_as_declared():
    train = rows_of([0, 1, 1, -1])
    shown = {way: OneHot.of(train, way).matrix(train).toarray()[3].tolist() for way in ("zeros", "indicator", "mode")}
    assert shown == {"zeros": [0, 0], "indicator": [0, 0, 1], "mode": [1, 1]}


def test_a_bin_that_training_never_had_has_reached_all_below_it():
    one_hot = OneHot.of(rows_of([0, 1, 2]), "zeros")
    assert one_hot.matrix(rows_of([3])).toarray().tolist() == [[1, 1, 1]]


def test_a_row_that_stands_for_several_bins_has_reached_each_with_its_share():
    one_hot = OneHot.of(rows_of([0, 1, 2]), "zeros")
    shares = np.array([[0.0, 0.25, 0.75, 0.0], [0.0, 0.0, 0.0, 0.0]])
    assert one_hot.matrix(rows_of([-1, 1], shares)).toarray().tolist() == [[1, 1, 0.75], [1, 1, 0]]


def test_ordered_bins_are_numbers_where_codes_are_taken():
    """A category of its own would not be between its neighbours."""
    words = Attribute("job", np.array([0, 1, -1]), ("cook", "nurse"))
    both = Rows((*rows_of([0, 2, -1]).attributes, words), 3)
    ordinal = Ordinal.of(both)
    assert ordinal.is_category == (False, True)
    assert np.array_equal(ordinal.matrix(both), [[0, 0], [2, 1], [np.nan, np.nan]], equal_nan=True)


def test_many_bins_are_joined_where_they_are_counted():
    names = tuple(f"b{place}" for place in range(20))
    codes = np.repeat(np.arange(20), 3)
    shares = np.zeros((60, 20))
    shares[0, [0, 1, 19]] = 0.25, 0.25, 0.5
    fine = Rows((Attribute("age", codes, names, ordered=True, shares=shares), Attribute("kg", codes * 1.0)), 60)
    joined, numbers = Binning.of_bins(fine).binned(fine).attributes
    assert joined.categories == tuple(f"b{place} to b{place + 1}" for place in range(0, 20, 2))
    assert joined.values.tolist() == (codes // 2).tolist()
    assert (joined.ordered, joined.shares[0, [0, 9]].tolist()) == (False, [0.5, 0.5])
    assert numbers.is_numeric
    assert Encoding.of("bayes", fine).encoded(fine).shape == (60, 20)


def test_few_bins_stay_as_they_are_but_for_one_that_learning_never_had():
    joined = Binning.of(rows_of([0, 1, 2, -1]))
    (seen,) = joined.binned(rows_of([3, 2, -1])).attributes
    assert seen.categories == ("low", "middle", "high to never")
    assert seen.values.tolist() == [2, 2, -1]
