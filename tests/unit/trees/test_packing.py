"""Bins: whole values, about equal sizes, heavy values alone."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.errors import ParameterError
from incrowd.trees.packing import exact_bins, quantile_bins


def test_few_values_are_exact():
    bins = quantile_bins(np.array([5, 0, 2, 7]), 2)
    assert bins.of_code.tolist() == [0, 0, 1, 2]
    assert (bins.first.tolist(), bins.last.tolist(), bins.width) == ([0, 2], [0, 2], 3)


def test_many_values_share_bins_of_equal_size():
    counts = np.append(np.ones(1000, np.int64), 0)
    bins = quantile_bins(counts, 10)
    assert np.bincount(bins.of_code[:-1]).tolist() == [100] * 10


def test_a_heavy_value_has_its_own_bin_and_leaves_room_for_the_others():
    counts = np.append(np.ones(1001, np.int64), 3)
    counts[500] = 100_000
    bins = quantile_bins(counts, 64)
    assert np.count_nonzero(bins.of_code == bins.of_code[500]) == 1
    assert bins.width > 60
    assert bins.of_code[-1] == bins.width - 1


def test_a_column_without_values_has_only_the_missing_bin():
    bins = exact_bins(np.array([0, 0, 4]))
    assert (bins.width, bins.of_code.tolist()) == (1, [0, 0, 0])


def test_one_bin_is_refused():
    with pytest.raises(ParameterError, match="at least 2"):
        quantile_bins(np.array([1, 1, 1, 0]), 1)
