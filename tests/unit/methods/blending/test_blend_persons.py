"""Blend, where a person may have several rows: the guide has not seen the person, and groups have k persons."""

from __future__ import annotations

import numpy as np
import pytest

from incrowd.methods.blending import guide as guiding
from incrowd.methods.blending.blend import Blend
from incrowd.methods.blending.guide import FOLDS, guided, in_folds
from incrowd.plan.steps import Seat
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import TARGET, fixed, owned
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap

PERSONS, EACH = 120, 5


def telltale():
    """Everybody has five rows with an attribute that is nearly a name, and one class by chance."""
    rng = np.random.default_rng(5)
    names, labels = rng.permutation(PERSONS), rng.choice(["x", "y"], PERSONS)
    owners = np.repeat(np.arange(PERSONS), EACH)
    case = fixed({"name": [f"n{names[p]}" for p in owners]}, [str(labels[p]) for p in owners])
    return owned(case, owners)


@pytest.mark.each(3)
@pytest.mark.parametrize("largest", [60_000, 250], ids=["all rows", "a part of them"])
@pytest.mark.parametrize("guide", ["forest", "boosting", "logistic", "bayes"])
def test_a_guide_cannot_tell_whom_it_has_not_seen(guide, largest, monkeypatch):
    """By rows it would: the other rows of a person name its class."""
    monkeypatch.setattr(guiding, "LARGEST", largest)
    case = telltale()
    leaking = guided(case.table, ["name"], TARGET, "logistic", SeededRandomness(1))
    assert leaking.accuracy > 0.65
    honest = guided(case.table, ["name"], TARGET, guide, SeededRandomness(1), case.owners)
    assert honest.accuracy < 0.62
    assert np.allclose(honest.scores.sum(axis=1), 1)


@pytest.mark.parametrize("seed", range(10))
def test_folds_are_of_persons_however_they_are_numbered(seed):
    rng = np.random.default_rng(seed)
    owners = rng.integers(0, 9, 30).astype(np.int32)
    others = rng.permutation(9).astype(np.int32)[owners]
    rows, folds = in_folds(30, owners, SeededRandomness(seed))
    again = in_folds(30, others, SeededRandomness(seed))
    assert sorted(rows.tolist()) == list(range(30))
    assert folds is not None
    assert again[1] is not None
    assert (rows.tolist(), folds.tolist()) == (again[0].tolist(), again[1].tolist())
    assert all(len(set(folds[owners == person].tolist())) == 1 for person in np.unique(owners))
    assert set(folds.tolist()) <= set(range(FOLDS))
    places = np.argsort(rows)
    assert all(np.ptp(places[owners == p]) + 1 == (owners == p).sum() for p in np.unique(owners))  # together


def test_one_row_each_is_dealt_as_rows_are():
    rows, folds = in_folds(20, np.arange(20, dtype=np.int32)[::-1].copy(), SeededRandomness(1))
    assert folds is None
    assert rows.tolist() == in_folds(20, None, SeededRandomness(1))[0].tolist()


def test_a_model_of_one_class_or_of_nobody_is_not_asked():
    """One person has nearly all rows: the models of the others learn next to nothing, and say so."""
    owners = np.array([0] * 110 + [1, 2, 3], np.int32)
    case = owned(fixed({"a": ["v", "w"] * 56 + ["v"]}, ["x", "y"] * 55 + ["x", "x", "x"]), owners)
    told = guided(case.table, ["a"], TARGET, "boosting", SeededRandomness(2), case.owners)
    assert np.allclose(told.scores.sum(axis=1), 1)


@pytest.mark.parametrize("further", [(), (ConfidenceCap("0.95"),)], ids=["k alone", "more than k"])
def test_groups_have_k_persons_and_several_rows_of_some(further):
    rng = np.random.default_rng(8)
    owners = rng.integers(0, 60, 400)
    case = fixed(
        {"age": rng.integers(0, 40, 400).tolist(), "job": [f"j{j}" for j in rng.integers(0, 5, 400)]},
        [str(label) for label in rng.choice(["x", "y", "z"], 400)],
    )
    case = owned(case, owners)
    population = EmbeddedPopulation(case.table, case.schema, SeededRandomness(1), owners=case.owners)
    requirement = Together((KAnonymity(12), *further))
    steps = Blend(guide="bayes").decide(population, requirement, SeededRandomness(1))
    seats = next(step for step in steps if isinstance(step, Seat)).known
    groups = [owners[seats == group] for group in np.unique(seats)]
    assert len(groups) > 5
    assert min(len(set(group.tolist())) for group in groups) >= 12
    assert any(len(set(group.tolist())) < len(group) for group in groups)
