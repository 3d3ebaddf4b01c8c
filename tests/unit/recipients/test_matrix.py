"""How plain rows become a matrix, where the order of categories means something."""

import numpy as np

from incrowd.recipients.dealing import Rows
from incrowd.recipients.matrix import Attribute, OneHot

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
