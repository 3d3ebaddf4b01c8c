"""Blend: the best split is the best of all, groups keep the requirement, counts keep every value."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.methods.blending import kernel
from incrowd.methods.blending.blend import CLUSTERS, SPLITS, Blend
from incrowd.methods.blending.clusters import Features
from incrowd.methods.method import applied
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Counts, Suppressed
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for
from support.oracle_blend import best_gain
from support.strategies import TARGET, cases

SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
ASKED = st.sampled_from(["distinct-l=2", "entropy-l=1.3", "t-equal=0.4", "alpha=0.8"])
GROUPS = st.sampled_from([SPLITS, CLUSTERS])
numbers = st.integers(0, 8).map(lambda number: number / 8)


@st.composite
def nodes(draw):
    rows, attributes = draw(st.integers(2, 24)), draw(st.integers(1, 3))
    widths = [draw(st.integers(1, 4)) for _ in range(attributes)]
    places = np.array([[draw(st.integers(0, width - 1)) for width in widths] for _ in range(rows)], np.int32)
    classes = draw(st.integers(2, 3))
    score = np.array([[draw(numbers) for _ in range(classes)] for _ in range(rows)])
    return places, widths, draw(st.lists(st.booleans(), min_size=attributes, max_size=attributes)), score


@SOME
@given(nodes(), st.integers(1, 5), st.booleans(), st.booleans(), st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_the_best_split_is_the_best_of_all(node, k, with_scores, with_pairs, persons, seed):
    """With so many persons who have the rows; 0: every row is a person."""
    places, widths, ordered, score = node
    start = np.cumsum([0, *widths])
    scales = np.array([0.5, 2.0, 1.0][: len(widths)])
    cut = score.shape[1] if with_scores else 0
    rows = kernel.RowTable((places + start[:-1]).astype(np.int32), start, np.array(ordered), scales, score, cut, 1.0)
    orders = np.argsort(score, axis=0, kind="stable").T[: max(1, cut)].copy()
    owners = None
    if persons:
        owners = np.random.default_rng(seed).integers(0, persons, len(score))
        rows = rows._replace(owners=owners)
        orders = np.vstack([orders, np.argsort(owners, kind="stable")])
    room = kernel.make_room(rows, len(score))
    if not with_pairs:  # rows are moved one by one, as in small nodes
        room = room._replace(pairs=np.zeros((0, 0), np.int32))
    splits = kernel.list_splits(rows, orders, 0, len(score), k, room)
    expected = best_gain(places, widths, scales, ordered, score, cut, k, owners)
    assert (expected is None) == (len(splits) == 0)
    if expected is not None:
        assert splits[:, kernel.GAIN].max() == pytest.approx(expected, abs=1e-9)


@SOME
@given(nodes(), st.data())
def test_distances_are_those_of_the_columns_one_by_one(node, data):
    """A second reckoning, with every 0/1 column written out."""
    places, widths, ordered, score = node
    scales = np.array([0.5, 2.0, 1.0][: len(widths)])
    start = np.cumsum([0, *widths])
    rows = kernel.RowTable((places + start[:-1]).astype(np.int32), start, np.array(ordered), scales, score, 0, 1.0)
    ones = [np.eye(width)[places[:, a]] * np.sqrt(scales[a]) for a, width in enumerate(widths)]
    matrix = np.hstack([*ones, score])
    groups = np.array([data.draw(st.integers(0, 2)) for _ in score])
    groups = np.unique(groups, return_inverse=True)[1]
    means = np.stack([matrix[groups == group].mean(axis=0) for group in range(groups.max() + 1)])
    features = Features.of(rows)
    assert features.unlike(groups) == pytest.approx(((matrix - means[groups]) ** 2).sum(), abs=1e-9)
    near = features.apart(np.arange(len(score)), features.mean(np.flatnonzero(groups == 0)))
    assert near == pytest.approx(((matrix - means[0]) ** 2).sum(axis=1), abs=1e-9)


def decided(case, requirement, seed, **parameters):
    randomness, engine = SeededRandomness(seed), EmbeddedEngine()
    population = engine.population(case.table, case.schema, randomness)
    steps = Blend(guide="bayes", **parameters).decide(population, requirement, randomness)
    plan = ReleasePlan("blend", (), requirement, case.schema, len(case.rows), (Drop(()), *steps))
    return engine.settle(plan, population), applied(plan.steps, population).groups  # type: ignore[attr-defined]


@SOME
@given(cases(), st.data())
def test_every_row_is_in_a_group_of_k_whose_counts_have_its_value(case, data):
    k = data.draw(st.integers(1, len(case.rows)))
    parameters = {"scores": data.draw(st.sampled_from([0, 0.5])), "groups": data.draw(GROUPS)}
    plan, groups = decided(case, KAnonymity(k), data.draw(st.integers(0, 99)), **parameters)
    sizes = Counter(groups.tolist())
    assert min(sizes.values()) >= k
    assert sum(sizes.values()) == len(case.rows)
    for name in case.names:
        for group, form in enumerate(plan.forms(name)):
            assert isinstance(form, Counts | Suppressed)
            if isinstance(form, Counts):
                alike = sum(
                    sizes[other] for other, same in enumerate(plan.groups) if same.forms == plan.groups[group].forms
                )
                assert sum(count for _, count in form.members) == alike


@SOME
@given(
    cases(), st.sampled_from(["distinct-l=2", "entropy-l=1.3", "t-equal=0.4", "alpha=0.8"]), st.integers(1, 4), GROUPS
)
def test_what_is_required_of_the_class_holds_in_every_group(case, asked, k, made):
    requirement = asked_for(asked, KAnonymity(min(k, len(case.rows))))
    try:
        _, groups = decided(case, requirement, 1, groups=made)
    except RequirementError:
        return
    labels = case.table[TARGET].codes
    whole = np.bincount(labels) / len(labels)
    for group in set(groups.tolist()):
        shares = np.bincount(labels[groups == group], minlength=len(whole)) / (groups == group).sum()
        if asked == "distinct-l=2":
            assert (shares > 0).sum() >= 2
        elif asked == "alpha=0.8":
            assert shares.max() <= 0.8 + 1e-12
        elif asked == "t-equal=0.4":
            assert abs(shares - whole).sum() / 2 <= 0.4 + 1e-12
        else:
            known = shares[shares > 0]
            assert -(known * np.log(known)).sum() >= np.log(1.3) - 1e-12
