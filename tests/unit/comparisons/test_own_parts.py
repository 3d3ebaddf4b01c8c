"""Comparisons with learners, methods and splits of one's own; their results as a frame."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.tree import DecisionTreeClassifier

import incrowd
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.comparison import COLUMNS, Comparison, fingerprints
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.protocol import FixedSplit, KFold, OwnSplits, PastFuture, find_protocol
from incrowd.comparisons.subject import understand_table
from incrowd.comparisons.trial import Laboratory, Setup, Trial
from incrowd.comparisons.workers import run_trials
from incrowd.errors import InputError, ParameterError
from incrowd.methods.catalog import find_method
from incrowd.methods.partitioning.mondrian import Mondrian

PATIENTS = make_patients(300)
HOLDOUT = FixedSplit()
TREE = DecisionTreeClassifier(max_depth=3)


def ask(table=PATIENTS, **more):
    usual = {"methods": ["mondrian"], "ks": [5], "learners": ["nb"], "protocol": FixedSplit(), "jobs": 1}
    return incrowd.compare(table, target="readmitted", **{**usual, **more})


@pytest.fixture(scope="module")
def whole():
    learners = ["nb", TREE, make_pipeline(MaxAbsScaler(), RandomForestClassifier(n_estimators=3))]
    methods = [Mondrian(), find_method("kactus"), "tdr"]
    return ask(PATIENTS.to_pandas(), learners=learners, methods=methods, protocol="2-fold", ks=[5, 140])


def test_objects_are_compared_beside_names(whole):
    assert whole.summary.methods == ("mondrian", "kactus", "tdr")
    assert whole.summary.learners[:2] == ("nb", "DecisionTreeClassifier(max_depth=3)")
    assert whole.summary.learners[2].startswith("Pipeline(")
    assert set(whole.results.filter(pl.col("k") < 100)["status"]) == {"done"}
    assert whole.recommendation.method in whole.summary.methods
    assert len(whole.recommendation.advice) == 6


def test_a_frame_states_each_method_beside_the_table_itself_and_the_baseline(whole):
    frame = whole.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == list(COLUMNS)
    ours = frame[~frame["method"].isin(["unprotected", "majority"])]
    assert len(ours) == 3 * 3 * 2
    nb = ours[(ours["learner"] == "nb") & (ours["k"] == 5)]
    assert set(nb["unprotected"]) == {whole.summary.unprotected("nb").value}
    assert set(nb["majority"]) == {whole.summary.majority.value}
    assert (nb["low"] < nb["value"]).all()
    assert (nb["value"] < nb["high"]).all()
    assert set(nb["splits"]) == {2}
    assert (nb["smallest_group"] >= 5).all()
    (best,) = [one for one in whole.recommendation.advice if (one.learner, one.k) == ("nb", 5)]
    chosen = nb[nb["advice"].isin(["best", "not above majority"])]
    assert chosen["method"].tolist() == [best.best.method]
    assert frame[frame["method"] == "unprotected"]["k"].isna().all()
    assert frame[frame["method"] == "unprotected"]["advice"].isna().all()


def test_every_column_of_the_frame_is_documented():
    told = Comparison.to_frame.__doc__
    assert all(name in told for name in COLUMNS)


def test_the_frame_is_of_the_kind_that_came_in(whole):
    small = replace(whole, origin=understand_table(PATIENTS, target="readmitted").origin)
    assert isinstance(small.to_frame(), pl.DataFrame)
    from_arrow = replace(whole, origin=understand_table(PATIENTS.to_arrow(), target="readmitted").origin)
    assert isinstance(from_arrow.to_frame(), pa.Table)


def test_the_chance_of_an_object_is_that_of_the_trial():
    laboratory = Laboratory(understand_table(PATIENTS, target="readmitted"), Setup(FixedSplit()))
    parts = laboratory.subject.parts(laboratory.splits[0, 0])
    from incrowd.comparisons.feeding import feed_unprotected

    train, test = feed_unprotected(parts)
    learner = find_learner(make_pipeline(MaxAbsScaler(), RandomForestClassifier(n_estimators=3)))
    first, again, other = (learner.fit(train, seed).scores(test) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_an_object_enters_the_fingerprint_with_all_its_parameters():
    def mark(classifier, protocol=HOLDOUT):
        learner = find_learner(classifier)
        laboratory = Laboratory(understand_table(PATIENTS, target="readmitted"), Setup(protocol, own=(learner,)))
        return fingerprints("", laboratory, Trial(Choice.of("mondrian"), 5, 0, 0, (learner.name,)))[learner.name]

    inner = [make_pipeline(MaxAbsScaler(), DecisionTreeClassifier(max_depth=depth)) for depth in (2, 2, 3)]
    first, again, other = map(mark, inner)
    assert first == again != other
    assert mark(TREE) != mark(TREE, KFold(3))


class Locked(DummyClassifier):
    """A classifier that cannot be packed."""

    def __getstate__(self):
        return {"lock": threading.Lock()}


def test_what_cannot_be_sent_to_other_processes_is_refused_with_the_way_out():
    learner = find_learner(Locked())
    laboratory = Laboratory(understand_table(PATIENTS, target="readmitted"), Setup(FixedSplit(), own=(learner,)))
    trials = [Trial(Choice.of("mondrian"), k, 0, 0, (learner.name,)) for k in (5, 6)]
    with pytest.raises(ParameterError, match=r"cannot be sent to other processes \(TypeError\).*jobs=1"):
        list(run_trials(laboratory, trials, 2))


@pytest.mark.slow
def test_what_other_processes_cannot_import_is_refused_with_the_way_out(monkeypatch):
    """A class of a module that only this process has."""
    import sys
    import types

    module = types.ModuleType("only_here")
    made = type("OnlyHere", (DummyClassifier,), {"__module__": "only_here"})
    module.__dict__["OnlyHere"] = made
    monkeypatch.setitem(sys.modules, "only_here", module)
    learner = find_learner(made())
    laboratory = Laboratory(understand_table(PATIENTS, target="readmitted"), Setup(FixedSplit(), own=(learner,)))
    trials = [Trial(Choice.of("mondrian"), k, 0, 0, (learner.name,)) for k in (5, 6)]
    with pytest.raises(ParameterError, match=r"cannot be imported by other processes .*jobs=1"):
        list(run_trials(laboratory, trials, 2))


WARDS = [f"ward {row % 7}" for row in range(300)]


def test_rows_of_a_group_stay_in_one_part():
    by_column = understand_table(PATIENTS, target="readmitted", groups="ward", rows=200)
    for subject, values in (
        (by_column, by_column.frame["ward"].to_numpy()),
        (understand_table(PATIENTS, target="readmitted", groups=WARDS), np.array(WARDS)),
    ):
        laboratory = Laboratory(subject, Setup(KFold(3)))
        for split in laboratory.splits.values():
            assert not set(values[split.train]) & set(values[split.test])
    assert laboratory.splitting == "3-fold cross-validation, stratified; rows of the same group stay in one part"


def test_the_past_is_learned_from_and_the_future_is_tested_on():
    found = ask(time="admission_date", protocol="3-fold")
    assert set(found.results["fold"]) == {0, 1, 2}
    assert found.results["train_rows"].n_unique() == 3
    assert found.splitting == (
        "learned from the past, tested on what followed, up to 3 times; in the order of admission_date"
    )
    assert found.splitting in found.page()
    subject = understand_table(PATIENTS, target="readmitted", time=PATIENTS["admission_date"].to_numpy())
    days = PATIENTS["admission_date"].to_numpy()
    for split in Laboratory(subject, Setup(PastFuture())).splits.values():
        assert days[split.train].max() < days[split.test].min()


def test_a_splitter_of_scikit_learn_splits():
    found = ask(protocol=GroupKFold(3), groups="ward")
    assert set(found.results["fold"]) == {0, 1, 2}
    assert found.splitting == (
        "GroupKFold(n_splits=3, random_state=None, shuffle=False); rows of the same ward stay in one part"
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"groups": "ward", "time": "admission_date"}, "not by both"),
        ({"groups": ["a"]}, "groups has 1 value for 300 rows"),
        ({"groups": "nowhere"}, "nowhere"),
        ({"time": "sex"}, "has neither dates nor numbers"),
        ({"time": [None, *range(299)]}, "is missing in 1 row"),
        ({"time": "admission_date", "protocol": "5x2"}, "not drawn at random"),
        ({"protocol": PastFuture()}, "Name one as time"),
        ({"protocol": GroupKFold(3)}, "GroupKFold.* cannot split these rows"),
        ({"protocol": PredefinedSplit([0] * 400)}, "names rows that are not compared|empty part"),
        ({"protocol": 5}, "'int' is no protocol"),
        ({"groups": "ward", "protocol": "first 20"}, "Whole groups cannot be split"),
    ],
    ids=lambda case: "" if isinstance(case, str) else "+".join(case),
)
def test_splits_that_cannot_be_are_refused(wrong, words):
    with pytest.raises((ParameterError, InputError), match=words):
        ask(**wrong)


class OneRowInBoth:
    """A splitter that cheats."""

    def split(self, X, y, groups):
        yield range(len(X)), range(1)


class Nothing:
    """A splitter without a split."""

    def split(self, X, y, groups):
        return iter(())


@pytest.mark.parametrize(("splitter", "words"), [(OneRowInBoth(), "a row in both parts"), (Nothing(), "no split")])
def test_what_a_splitter_gives_is_checked(splitter, words):
    with pytest.raises(ParameterError, match=words):
        find_protocol(splitter).splits(np.zeros(9, np.int64), 1)
    assert isinstance(find_protocol(splitter), OwnSplits)
