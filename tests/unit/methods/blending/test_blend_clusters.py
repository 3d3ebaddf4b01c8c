"""Blend's groups as clusters: exactly k of the nearest, whoever may be a group, and splits where these are better."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.errors import ParameterError
from incrowd.methods.blending import blend, clusters
from incrowd.methods.blending.blend import Blend
from incrowd.methods.blending.clusters import Features, cluster_rows
from incrowd.methods.blending.row_table import RowTable
from incrowd.methods.judging import Judge
from incrowd.plan.steps import Reasons, Seat
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import fixed, owned
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for

ROWS = 240
NOTHING = np.empty((0, 0), np.int64)


def table(rows=ROWS, seed=3):
    """The class follows from two attributes together and from neither alone; a third tells nothing."""
    rng = np.random.default_rng(seed)
    one, other, noise = rng.integers(0, 4, rows), rng.integers(0, 4, rows), rng.integers(0, 3, rows)
    labels = np.where(rng.random(rows) < 0.9, (one + other) % 2, rng.integers(0, 2, rows))
    values = {"one": [f"v{x}" for x in one], "other": [f"w{x}" for x in other], "noise": [f"n{x}" for x in noise]}
    return fixed(values, [f"c{label}" for label in labels])


def population_of(case):
    return EmbeddedPopulation(case.table, case.schema, SeededRandomness(1), owners=case.owners)


def steps_of(case, asked="", k=10, preferences=None, **parameters):
    requirement = asked_for(asked, KAnonymity(k)) if asked else KAnonymity(k)
    method = Blend(**{"guide": "forest", "hide": False, "groups": "clusters", **parameters})
    more = () if preferences is None else (preferences,)
    return method.decide(population_of(case), requirement, SeededRandomness(1), *more)


def seats_of(case, **asked):
    return next(step for step in steps_of(case, **asked) if isinstance(step, Seat)).known


def rows_of(score, k=2):
    """Rows that differ by one number alone."""
    score = np.array(score, float)[:, None]
    rows = RowTable(np.zeros((len(score), 1), np.int32), np.array([0, 1]), np.array([False]), np.ones(1), score, 0, 1.0)
    return Features.of(rows), Judge(KAnonymity(k)), np.empty((len(score), 0), np.int64)


def test_groups_are_those_of_the_nearest():
    groups = cluster_rows(*rows_of([0, 10, 20, 0.1, 10.1, 20.1]))
    assert groups.tolist() == groups.tolist()[:3] * 2
    assert len(set(groups.tolist())) == 3


def test_a_row_is_exchanged_for_one_that_fits_better():
    features, judge, marks = rows_of([0, 1, 10, 11])
    exchange = clusters._Exchange(features, judge, marks, np.array([0, 1, 0, 1], np.int32))
    groups = exchange.run().tolist()
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_what_an_exchange_gains_is_what_it_takes_off_the_sum_of_squares():
    rng = np.random.default_rng(2)
    features, judge, marks = rows_of(rng.random(12), k=3)
    groups = np.repeat([0, 1, 2], [5, 4, 3]).astype(np.int32)
    before = features.unlike(groups)
    exchange = clusters._Exchange(features, judge, marks, groups.copy())
    for row in range(12):
        for gain, other, group in [*exchange._moves(row), *exchange._swaps(row)]:
            changed = groups.copy()
            changed[row] = group
            if other >= 0:
                changed[other] = groups[row]
            assert before - features.unlike(changed) == pytest.approx(gain if group != groups[row] else 0, abs=1e-9)


def test_groups_have_k_rows_and_never_twice_as_many():
    sizes = np.bincount(seats_of(table(), k=11))
    assert sizes.min() >= 11
    assert sizes.max() < 22
    assert len(sizes) == ROWS // 11


def test_clusters_are_more_alike_than_splits():
    case, judge = table(), Judge(KAnonymity(10))
    population = population_of(case)
    prepared = Blend(guide="forest", hide=False).prepare(population, 10, SeededRandomness(1))
    marks, worth = judge.of_rows(case.table), blend.Worth()
    split = blend.split_rows(prepared.features, judge, marks, worth)
    made = blend.clustered(prepared.features, judge, marks, worth, split)
    features = Features.of(blend.kernel_rows(prepared.features, worth))
    assert features.unlike(made.groups) < 0.9 * features.unlike(split.groups)


@pytest.mark.each(3)
@pytest.mark.parametrize("asked", ["alpha=0.7", "entropy-l=1.6", "distinct-l=2", "t-equal=0.2"])
def test_what_is_required_is_kept(asked):
    case = table()
    judge = Judge.of(asked_for(asked, KAnonymity(10)), population_of(case))
    seats = seats_of(case, asked=asked)
    evidence = judge.tally(judge.of_rows(case.table), seats, seats.max() + 1)
    assert judge.holds(evidence).all()
    assert len(evidence) > 5


def test_groups_that_may_not_be_released_are_joined_with_those_with_which_they_may():
    case = fixed({"a": ["v"] * 12}, ["x", "y"] * 4 + ["x"] * 4)
    judge = Judge.of(asked_for("alpha=0.75", KAnonymity(4)), population_of(case))
    marks = judge.of_rows(case.table)
    features, _, _ = rows_of(range(12))
    mixed, pure = np.arange(8), np.arange(8, 12)
    (joined,) = clusters._joined([mixed, pure], features, judge, marks)
    assert sorted(joined.tolist()) == list(range(12))


@pytest.mark.parametrize("asked", ["", "alpha=0.8"])
def test_groups_have_k_persons(asked):
    owners = np.random.default_rng(4).integers(0, 90, ROWS).astype(np.int32)
    case = owned(table(), owners)
    seats = seats_of(case, asked=asked, guide="bayes")
    groups = [owners[seats == group] for group in np.unique(seats)]
    assert len(groups) > 4
    assert min(len(set(group.tolist())) for group in groups) >= 10
    assert any(len(set(group.tolist())) < len(group) for group in groups)


def test_a_heavy_attribute_is_more_alike_within_groups():
    case = table()
    codes = case.table["noise"].codes

    def mixed(preferences):
        seats = seats_of(case, preferences=preferences)
        counts = np.zeros((seats.max() + 1, codes.max() + 1))
        np.add.at(counts, (seats, codes), 1)
        return 1 - counts.max(axis=1).sum() / ROWS

    assert mixed(Preferences(weights={"noise": 500.0})) < mixed(None)


def test_large_tables_are_split(monkeypatch):
    case = table()
    clustered = seats_of(case)
    monkeypatch.setattr(blend, "LARGEST_CLUSTERED", ROWS - 1)
    assert np.array_equal(seats_of(case), seats_of(case, groups="splits"))
    assert not np.array_equal(clustered, seats_of(case))


def test_the_plan_says_what_groups_are(monkeypatch):
    def told(steps):
        return dict(next(step for step in steps if isinstance(step, Reasons)).facts)["groups are"]

    assert told(steps_of(table())) == "clusters"
    assert told(steps_of(table(), groups="splits")) == "splits"
    monkeypatch.setattr(Features, "unlike", lambda _self, groups: float(len(set(groups.tolist())) > 20))
    assert told(steps_of(table())) == "splits"  # of which there are fewer


@pytest.mark.slow
def test_by_default_groups_are_clusters_where_something_is_required_of_the_class():
    case = table()
    for asked, like in (("", "splits"), ("alpha=0.8", "clusters"), ("distinct-l=2 on noise", "splits")):
        by_default, so = (seats_of(case, asked=asked, groups=groups) for groups in ("auto", like))
        assert np.array_equal(by_default, so)
    assert Blend().in_plain_values().groups == "splits"
    assert Blend(groups="clusters").in_plain_values().groups == "clusters"


def test_groups_have_two_ways():
    with pytest.raises(ParameterError, match="groups must be one of auto, splits, clusters"):
        Blend(groups="boxes")
