"""Edge cases of what hiding costs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from incrowd.hiding.evaluation import (
    Divergence,
    InformationChange,
    direct_distance,
    information_change,
    kullback_leibler,
    printed_change,
    summed,
    uncertainty,
)
from incrowd.hiding.taxonomy import CellTaxonomy

SQUARE = arrays(np.int64, (4, 4), elements=st.integers(0, 20))
COUNTS = arrays(np.int64, 4, elements=st.integers(0, 20))


def test_nothing_at_all():
    assert direct_distance(np.zeros((2, 2))) == 0
    assert kullback_leibler([], []) == Divergence(0.0)
    assert kullback_leibler([0, 0], [0, 0]) == Divergence(0.0)
    assert summed([]) == Divergence(0.0)
    assert uncertainty(np.zeros((3, 3))) == 0.0
    change = information_change([])
    assert (change.ratio, change.difference, change.lost) == (1.0, 0.0, 0)


def test_a_value_that_vanished_is_infinite_unless_mended():
    assert kullback_leibler([2, 2], [0, 2]) == Divergence(math.inf, 1)
    mended = kullback_leibler([2, 2], [0, 2], mend=True)
    assert mended.vanished == 1
    assert mended.bits == pytest.approx(0.5 * math.log2(0.5 / 0.125) + 0.5 * math.log2(0.5))


def test_nothing_over_nothing_is_no_change_and_something_over_nothing_is_lost():
    free, bound = [[1, 1], [1, 1]], [[2, 0], [0, 2]]
    assert information_change([(free, free)]).ratio == 1.0
    change = information_change([(bound, free), (bound, bound)])
    assert (change.ratio, change.lost, change.difference) == (math.inf, 1, 0.5)
    assert information_change([(free, bound)]).ratio == 0.0


def test_as_printed_has_columns_with_themselves_and_too_few_to_divide_by():
    same = [([2, 2], [2, 2])] * 4
    assert printed_change(InformationChange(1.0, 0.0, 0), same) == pytest.approx(5 / 3)
    assert math.isnan(printed_change(InformationChange(1.0, 0.0, 0), same[:1]))
    assert printed_change(InformationChange(1.0, 0.0, 0), [*same[:3], ([2, 2], [4, 0])]) == math.inf


def test_weights_that_are_no_whole_numbers():
    change = information_change([([[2, 0], [0, 2]], [[1.5, 0], [0, 1.5]])])
    assert change.ratio == pytest.approx(1.0)


@given(SQUARE)
def test_uncertainty_is_never_negative_and_nothing_for_what_is_left_alone(transition):
    assert uncertainty(transition) >= 0
    assert uncertainty(np.diag(transition.diagonal())) == 0
    assert direct_distance(np.diag(transition.diagonal())) == 0


@given(COUNTS, COUNTS)
def test_divergence_is_never_negative_and_nothing_for_the_same(before, after):
    assert kullback_leibler(before, after).bits >= 0
    assert kullback_leibler(before, before).bits == pytest.approx(0)


@given(arrays(np.int64, 6, elements=st.integers(0, 9)))
def test_shares_add_up(own):
    taxonomy = CellTaxonomy("job", tuple("?abcde"), (-1, 0, 1, 1, 0, 0), np.zeros(1, np.int32))
    assert sum(taxonomy.estimate(own, leaf) for leaf in taxonomy.leaves) == own.sum()
    weights = taxonomy.leaf_weights(own)
    for node in range(1, 6):
        held = own[node : taxonomy.ends[node]].sum()
        assert weights[node].sum() == pytest.approx(1 if held else 0)
