"""Effective k and people alone, against the definition written a second way."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.verification.unchanged import UnchangedColumn, count_unchanged
from support.unchanged_tables import agrees, coded, invented

NOISE_VALUES = (2, 3, 5, 9, 17, 33, 65, 120, 250, 500, 900, 1500, 2500, 3999)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.integers(0, 2**32))
def test_counts_agree_with_the_definition(seed):
    agrees(invented(seed))


@pytest.mark.slow
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.integers(0, 2**32))
def test_columns_of_many_values_are_counted_in_blocks(seed):
    agrees(invented(seed, most_rows=900, wide=True))


@pytest.mark.parametrize("seed", range(2))
def test_noise_raises_no_alarm(seed):
    """Twenty columns of chance, a weight that few share and a number for each row give nothing back."""
    generator = np.random.Generator(np.random.Philox(seed))
    rows = 4000
    ages, sexes = generator.integers(20, 80, rows).tolist(), generator.integers(0, 2, rows).tolist()
    jobs = generator.choice(6, rows, p=(0.9, 0.05, 0.02, 0.01, 0.01, 0.01)).tolist()
    quasi = {"age": ages, "sex": sexes, "job": jobs}
    unchanged = {f"noise {width}": generator.integers(0, width, rows).tolist() for width in NOISE_VALUES}
    unchanged |= {"weight": generator.integers(0, 2000, rows).tolist(), "id": generator.permutation(rows).tolist()}
    table = {
        "quasi": quasi,
        "cells": {name: [None] * rows for name in quasi},
        "allows": {name: {None: None} for name in quasi},
        "unchanged": unchanged,
        "roles": dict.fromkeys(unchanged, "other"),
        "k": 10,
    }
    counts = count_unchanged(*coded(table))
    assert (counts.given_back, counts.by, counts.effective_k) == (0, (), rows)
    assert counts.sound


def test_pairs_beyond_the_bound_are_not_counted_and_that_is_told():
    rows = 400
    values = np.arange(rows) % 4
    quasi, unchanged, known = coded(
        {
            "quasi": {"q": values.tolist()},
            "cells": {"q": [None] * rows},
            "allows": {"q": {None: None}},
            "unchanged": {"a": (values // 2).tolist(), "b": (np.arange(rows) % 3).tolist(), "c": [0] * rows},
            "roles": dict.fromkeys("abc", "other"),
            "k": 2,
        }
    )
    counts = count_unchanged(
        quasi, [UnchangedColumn(one.name, one.codes) for one in unchanged[1:]], known, pair_tests=0
    )
    assert [(one.what, one.why) for one in counts.not_counted] == [("1 of 1 tests of pairs of columns", "not counted")]
