"""Faces of scikit-learn where a person has several rows: k counts persons, and nobody is a feature."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

import incrowd.estimators
from incrowd.comparisons.datasets.visits import PERSON, TARGET, make_visits
from incrowd.errors import ParameterError, RequirementError, SchemaError
from incrowd.estimators import AnonymousClassifier, KActusPlus, KAdetClassifier, Mondrian
from incrowd.methods.catalog import METHODS

VISITS = make_visits(160).select(PERSON, "sex", "birth_year", "days", "ward", TARGET)
X = VISITS.drop(TARGET).to_pandas()
y = VISITS[TARGET].to_pandas()
IDS = X[PERSON].to_numpy()
NUMBERS = X[["birth_year", "days"]]
TREE = DecisionTreeClassifier(min_samples_leaf=10, random_state=0)
FACES = [getattr(incrowd.estimators, entry.factory) for entry in METHODS.values()]


@pytest.mark.each(11)
@pytest.mark.parametrize("face", FACES, ids=lambda face: face.__name__)
def test_every_face_takes_persons_as_a_column_or_beside_the_rows(face):
    named = face(k=5, person=PERSON, random_state=3, output="released")
    released, classes = named.fit_resample(X, y)
    passed, others = face(k=5, random_state=3, output="released").fit_resample(X.drop(columns=PERSON), y, person=IDS)
    assert PERSON not in released.columns
    assert list(released.columns) == list(passed.columns)
    assert released.equals(passed)
    assert (classes == others).all()
    assert list(named.feature_names_in_) == [name for name in X.columns if name != PERSON]
    assert named.plan_.schema.person == PERSON
    assert named.verdict_.sizes.persons.smallest >= 5


def test_k_counts_persons_not_rows():
    """Ten persons with ten equal rows each: k = 11 is impossible, and k = 10 leaves one group."""
    rng = np.random.default_rng(1)
    ids = np.repeat([f"p{number}" for number in range(10)], 10)
    rows, classes = np.repeat(rng.random((10, 2)), 10, axis=0), rng.integers(0, 2, 100)
    with pytest.raises(RequirementError, match="10 persons"):
        Mondrian(k=11).fit_resample(rows, classes, person=ids)
    released, _ = Mondrian(k=10, output="released").fit_resample(rows, classes, person=ids)
    assert len(pd.DataFrame(released).drop_duplicates()) == 1
    alone, _ = Mondrian(k=10, output="released").fit_resample(rows, classes)
    assert len(pd.DataFrame(alone).drop_duplicates()) > 1


@pytest.mark.slow
def test_one_grid_over_methods_k_and_learner_with_folds_of_persons():
    model = AnonymousClassifier(LogisticRegression(max_iter=500), k=10, person=PERSON, random_state=0)
    asked = [{"method": ["blend", "kactus-plus"], "k": [5, 10]}, {"method": ["mondrian"], "learner__C": [0.1]}]
    grid = GridSearchCV(model, asked, cv=GroupKFold(2), error_score="raise").fit(X, y, groups=IDS)
    assert len(grid.cv_results_["mean_test_score"]) == 5
    assert grid.best_score_ > 0.5
    best = grid.best_estimator_
    assert best.verdict_.passed
    assert PERSON not in best.learner_.feature_names_in_
    assert (best.predict(X) == best.predict(X.drop(columns=PERSON))).all()


def test_persons_beside_the_rows_go_with_the_folds():
    """scikit-learn hands each fold its own part of what is passed to fit."""
    seen = []

    class Watched(AnonymousClassifier):
        def fit(self, X, y, person=None):
            seen.append((len(X), set(person)))
            return super().fit(X, y, person)

    model = Watched(TREE, "kactus-plus", k=5)
    scores = cross_val_score(model, NUMBERS, y, groups=IDS, cv=GroupKFold(3), params={"person": IDS})
    assert len(scores) == len(seen) == 3
    folds = list(GroupKFold(3).split(NUMBERS, y, IDS))
    assert [rows for rows, _ in seen] == [len(train) for train, _ in folds]
    for (_, known), (_, test) in zip(seen, folds, strict=True):
        assert not known & set(IDS[test])


def test_pipelines_pass_persons_on():
    steps = make_pipeline(FunctionTransformer(), AnonymousClassifier(TREE, "kactus-plus", k=5))
    grid = GridSearchCV(steps, {"anonymousclassifier__k": [5, 10]}, cv=GroupKFold(2), error_score="raise")
    grid.fit(NUMBERS, y, groups=IDS, anonymousclassifier__person=IDS)
    assert grid.best_estimator_[-1].plan_.schema.person == "person"


def test_samplers_in_pipelines_name_the_column_and_learners_take_the_others():
    """imbalanced-learn passes nothing on to samplers, and new rows pass by them with all their columns."""
    learned = ["birth_year", "days"]
    taken = ColumnTransformer([("learned", "passthrough", learned)], verbose_feature_names_out=False)
    pipeline = make_sampling_pipeline(KActusPlus(person=PERSON), taken, TREE)
    grid = GridSearchCV(pipeline, {"kactusplus__k": [5, 10]}, cv=GroupKFold(2), error_score="raise")
    grid.fit(X[[PERSON, *learned]], y, groups=IDS)
    assert grid.best_estimator_[0].plan_.schema.person == PERSON
    assert grid.best_estimator_[-1].n_features_in_ == 2


def test_metadata_routing_knows_persons():
    with sklearn.config_context(enable_metadata_routing=True):
        model = AnonymousClassifier(TREE, "kactus-plus", k=5).set_fit_request(person=True)
        folds = GroupKFold(2).set_split_request(groups=True)
        grid = GridSearchCV(model, {"k": [5]}, cv=folds, error_score="raise")
        grid.fit(NUMBERS, y, groups=IDS, person=IDS)
    assert grid.best_estimator_.plan_.schema.person == "person"


@pytest.mark.parametrize("container", [pl.DataFrame, pa.Table, pd.DataFrame])
def test_frames_of_every_kind_have_a_person_column(container):
    frame = VISITS.select(PERSON, "birth_year", "days")
    rows = {pl.DataFrame: frame, pa.Table: frame.to_arrow(), pd.DataFrame: frame.to_pandas()}[container]
    sampler = KActusPlus(k=5, person=PERSON)
    released, _ = sampler.fit_resample(rows, y)
    names = released.column_names if container is pa.Table else list(released.columns)
    assert isinstance(released, container)
    assert names == ["birth_year", "days"]
    shown = sampler.fit(rows, y).transform(rows)
    assert (shown.column_names if container is pa.Table else list(shown.columns)) == names


def test_a_published_tree_counts_persons():
    tree = KAdetClassifier(k=10, person=PERSON).fit(X, y)
    assert tree.verdict_.sizes.persons.smallest >= 10
    assert tree.model_.of_persons
    assert PERSON not in [attribute.name for attribute in tree.model_.attributes]
    assert list(tree.feature_names_in_) == [name for name in X.columns if name != PERSON]
    assert (tree.predict(X) == tree.predict(X.drop(columns=PERSON))).all()
    passed = KAdetClassifier(k=10).fit(X.drop(columns=PERSON), y, person=IDS)
    assert passed.export_text() == tree.export_text()
    table = tree.to_table(X, y)
    assert len(table) == len(X)
    assert PERSON not in table.columns
    assert len(passed.to_table(X.drop(columns=PERSON), y, IDS)) == len(X)
    with pytest.raises(ParameterError, match="says whose rows they are"):
        passed.to_table(X.drop(columns=PERSON), y)
    grid = GridSearchCV(KAdetClassifier(person=PERSON), {"k": [5, 20]}, cv=GroupKFold(2), error_score="raise")
    assert grid.fit(X, y, groups=IDS).best_score_ > 0.5
    with pytest.raises(RequirementError, match="rows of 160 persons, fewer than k=161"):
        KAdetClassifier(k=161, person=PERSON).fit(X, y)


def test_refusals():
    with pytest.raises(ParameterError, match=r"X has no column 'patient_id'.*fit\(X, y, person=…\)"):
        AnonymousClassifier(TREE, person=PERSON).fit(NUMBERS, y)
    with pytest.raises(ParameterError, match="Say once whose rows they are"):
        AnonymousClassifier(TREE, person=PERSON).fit(X, y, person=IDS)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        KActusPlus(k=5).fit_resample(NUMBERS, y, person=IDS[:-1])
    gaps = IDS.copy()
    gaps[:3] = None
    with pytest.raises(SchemaError, match="3 rows have no person"):
        KActusPlus(k=5).fit_resample(NUMBERS, y, person=gaps)
    kept, _ = KActusPlus(k=5, missing_persons="drop").fit_resample(NUMBERS, y, person=gaps)
    assert len(kept) == len(NUMBERS) - 3
    alike = np.where(np.arange(len(IDS)) % 7 == 0, np.char.lower(IDS.astype(str)), IDS)
    with pytest.raises(SchemaError, match="differ from another only in case"):
        KActusPlus(k=5).fit_resample(NUMBERS, y, person=alike)
    assert KActusPlus(k=5, person_ids="normalised").fit(NUMBERS, y, person=alike).verdict_.passed
