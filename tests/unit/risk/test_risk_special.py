"""Special uniques: a table done by hand, scores, bounds."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError
from incrowd.risk import classes as module
from incrowd.risk.classes import (
    Coded,
    NotMeasured,
    classes_of,
    coded,
    dis_suda,
    reachable,
    special_uniques,
    suda_weight,
)

PEOPLE = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "f"],
        "age": ["old", "old", "young", "old", "young"],
        "job": ["a", "b", "a", "a", "b"],
    }
)


def found_in(frame, largest=3, fraction=None):
    return special_uniques(coded(frame, frame.columns), frame.columns, largest, fraction)


def test_a_table_by_hand():
    """The man by his sex; the others by age and job, but the old woman of job a shares both with the man."""
    found = found_in(PEOPLE)
    assert found.minimal == (1, 3, 1)
    assert found.rows == (1, 3, 1)
    assert found.scores.tolist() == [1.0, 1.0, 1.0, 2.0, 1.0]
    assert found.unscored == 0
    assert [(name, count) for name, count, _ in found.columns] == [("sex", 2), ("age", 4), ("job", 4)]
    assert found.special == 5


def test_rows_beyond_the_bound_are_counted():
    found = found_in(PEOPLE, largest=1)
    assert (found.rows, found.unscored, found.largest, found.requested, found.sets) == ((1,), 4, 1, 1, 3)


def test_weights_are_those_of_the_paper():
    """With all sizes tried, a set of k of n columns weighs (n - k)!: 120, 24, 6, 2, 1, 1."""
    assert [suda_weight(size, 6, 6) for size in range(1, 7)] == [120, 24, 6, 2, 1, 1]
    assert [suda_weight(size, 8, 3) for size in (1, 2, 3)] == [7 * 6 * 5, 6 * 5, 5]


def test_what_is_too_much_is_left_out_and_told(monkeypatch):
    monkeypatch.setattr(module, "MOST_CELLS", 5 * 3 + 5 * 3)
    found = found_in(PEOPLE)
    assert (found.largest, found.requested) == (2, 3)
    assert found.unscored == 1
    assert reachable(10**9, 3, 3) == 1


@pytest.mark.parametrize("bad", [0, -1, 2.5, True])
def test_a_bad_bound_is_refused(bad):
    with pytest.raises(ParameterError, match="at least 1"):
        found_in(PEOPLE, largest=bad)


def test_dis_is_that_of_skinner_and_elliot():
    classes = classes_of([Coded(np.array([0, 1, 2, 3, 3, 4, 4, 5, 5, 5]), 6)])
    scores = np.array([8.0, 2.0, 1.0, 0, 0, 0, 0, 0, 0, 0])
    found = dis_suda(scores, classes, 0.1)
    assert found.dis == pytest.approx(0.1 * 3 / (0.1 * 3 + 2 * 0.9 * 2))
    odds = [1 / score for score in (8.0, 2.0, 1.0)]
    others = [(1 - found.dis) / found.dis * one / (sum(odds) / 3) for one in odds]
    alike = [1 + other for other in others]
    assert sum(alike) / 3 == pytest.approx(1 / found.dis)
    assert found.highest == pytest.approx(1 / alike[0])
    assert found.mean == pytest.approx(sum(1 / one for one in alike) / 3)
    assert dict(found.above)[0.1] == sum(1 / one > 0.1 for one in alike)


def test_dis_estimates_how_often_a_unique_match_is_right():
    """Samples of a known population: uniques over the people who look like one of them."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(4000), 1 + rng.poisson(2.0, 4000))
    people = np.bincount(labels)
    errors = []
    for _ in range(20):
        drawn = rng.permutation(labels)[: len(labels) // 5]
        rows = np.bincount(drawn, minlength=4000)
        true = (rows == 1).sum() / people[rows == 1].sum()
        classes = classes_of([Coded(drawn, 4000)])
        errors.append(dis_suda((classes.of_rows == 1).astype(float), classes, 0.2).dis / true - 1)
    assert abs(np.median(errors)) < 0.05


def test_without_a_fraction_or_a_unique_nothing_is_estimated():
    assert isinstance(found_in(PEOPLE).dis, NotMeasured)
    assert isinstance(found_in(pl.DataFrame({"a": [1, 1]}), fraction=0.5).dis, NotMeasured)
    assert found_in(PEOPLE, fraction=1.0).dis.highest == 1.0


def test_forty_five_thousand_rows_of_eight_columns_are_scored():
    rng = np.random.default_rng(1)
    widths = (74, 8, 16, 7, 14, 5, 2, 41)
    columns = [Coded(np.minimum(rng.geometric(0.2, 45_222), width) - 1, width) for width in widths]
    found = special_uniques(columns, list("abcdefgh"))
    assert found.sets == 92
    assert found.special + found.unscored == classes_of(columns).number_of(1)
