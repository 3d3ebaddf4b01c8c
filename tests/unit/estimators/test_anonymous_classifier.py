"""A classifier that learns from a release of its training rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator

from incrowd.errors import ParameterError, RequirementError
from incrowd.estimators import AnonymousClassifier
from incrowd.methods.blending.blend import Blend
from incrowd.methods.catalog import METHODS
from incrowd.vocabulary.hierarchy import Hierarchy

JOBS = Hierarchy.from_paths(
    "job", [["nurse", "care", "*"], ["clerk", "other", "*"], ["smith", "other", "*"], ["cook", "other", "*"]]
)


def checks():
    """All of scikit-learn's checks but the one of array libraries, which a table of mixed types cannot come from."""
    classifier = AnonymousClassifier(DecisionTreeClassifier(random_state=0), method="kactus-plus", k=2)
    for estimator, check in estimator_checks_generator(classifier):
        name = getattr(check, "func", check).__name__
        if name != "check_array_api_input":
            yield pytest.param(estimator, check, id=name)


@pytest.mark.each(7)
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks_of_the_anonymous_classifier(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    rows = 600
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": rng.normal(170, 10, rows),
            "job": rng.choice(["nurse", "clerk", "smith", "cook"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    ill = np.where((frame["age"] > 50) ^ (rng.random(rows) < 0.1), "yes", "no")
    return frame, pd.Series(ill, name="ill")


LEARNERS = [
    LogisticRegression(max_iter=1000),
    DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    HistGradientBoostingClassifier(max_iter=20, random_state=0),
    KNeighborsClassifier(15),
    LinearSVC(),
]


@pytest.mark.each(2)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_it_learns_from_the_release_and_predicts_plain_rows(people, learner):
    frame, y = people
    train, test = slice(0, 400), slice(400, 600)
    method = {} if learner is LEARNERS[0] else {"method": Blend(guide="bayes")}  # the same method, in less time
    model = AnonymousClassifier(learner, **method, random_state=1).fit(frame[train], y[train])
    assert model.score(frame[test], y[test]) > 0.75
    assert model.verdict_.passed
    assert model.verdict_.sizes.smallest >= 10
    assert model.plan_ is model.release_.plan
    assert (model.plan_.method, model.plan_.schema.target) == ("blend", "ill")
    assert (model.n_features_in_, [*model.feature_names_in_]) == (3, ["age", "height", "job"])
    assert not hasattr(learner, "classes_")
    for name in ("predict_proba", "decision_function"):
        assert hasattr(model, name) == hasattr(learner, name) == hasattr(clone(model), name)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(frame) == model.predict(frame)).all()
    assert again.release_.table.equals(model.release_.table)


@pytest.mark.each(4)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_serves(people, method):
    frame, y = people
    model = AnonymousClassifier(LogisticRegression(max_iter=1000), method, 20, random_state=1).fit(frame, y)
    assert (model.plan_.method, model.verdict_.passed) == (method, True)
    assert model.score(frame, y) > (0.8 if METHODS[method].weighs and method not in ("mondrian", "tdr") else 0.4)


@pytest.mark.each(2)
@pytest.mark.parametrize("learner", [HistGradientBoostingClassifier(max_iter=5), LogisticRegression(max_iter=1000)])
def test_columns_of_numbers_that_nobody_has_or_few_have_disturb_no_learner(people, learner):
    frame, y = people
    frame = frame.assign(nothing=np.nan, few=frame["age"].where(frame.index < 9).astype(float))
    model = AnonymousClassifier(learner, k=10, random_state=1).fit(frame, y)
    assert model.plan_.method == "blend"
    assert model.score(frame, y) > 0.8
    assert set(model.release_.table["nothing"]) == set(model.release_.table["few"]) == {"*"}


@pytest.mark.slow
def test_one_grid_over_method_k_and_learner(people):
    frame, y = people
    grid = GridSearchCV(
        AnonymousClassifier(LogisticRegression(max_iter=1000), random_state=1),
        [
            {"method": [Blend(guide="bayes")], "k": [50], "learner__C": [0.01, 1.0]},
            {"method": ["kactus-plus"], "k": [5], "parameters": [{"numeric": "levels"}]},
        ],
        cv=2,
        error_score="raise",
    ).fit(frame, y)
    assert grid.best_score_ > 0.75
    assert len(grid.cv_results_["params"]) == 3
    assert grid.best_params_.get("learner__C", 1.0) == grid.best_estimator_.learner.C
    assert grid.best_estimator_.verdict_.sizes.smallest >= grid.best_params_["k"]


@pytest.mark.slow
def test_auto_chooses_for_the_learner_among_methods_that_keep_what_is_asked(people):
    frame, y = people
    asked = {"hierarchies": {"job": JOBS}, "at_most": {"job": 1}, "parameters": {"measure": "auc"}}
    model = AnonymousClassifier(DecisionTreeClassifier(max_depth=3), "auto", random_state=1, **asked).fit(frame, y)
    chosen = model.release_.certificate["method"]["chosen"]
    assert chosen["learners"] == ["DecisionTreeClassifier(max_depth=3)"]
    assert chosen["measure"] == "auc"
    assert set(chosen["among"]) == {"tdr", "infogain-mondrian", "mondrian"}
    assert model.plan_.method in chosen["among"]


def test_a_method_object_has_its_parameters(people):
    frame, y = people
    parameters = {"cuts": "class", "guide": "bayes"}
    for method, beside in ((Blend(**parameters), None), ("blend", parameters)):
        model = clone(AnonymousClassifier(LogisticRegression(max_iter=1000), method, parameters=beside)).fit(frame, y)
        assert dict(model.plan_.parameters).items() >= parameters.items()


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow", "object array"])
def test_every_container_is_taken_by_the_anonymous_classifier(people, container):
    frame, y = people
    X = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "object array": frame.to_numpy(dtype=object),
    }[container]
    model = AnonymousClassifier(DecisionTreeClassifier(random_state=0), "kactus-plus", 25, random_state=1).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.each(3)
@pytest.mark.parametrize("labels", [("no", "yes", "so"), (9, 10, 11), (-1.0, 2.0, 10.0), ("", "?", "*")])
def test_classes_keep_their_type_and_their_order(people, labels):
    """Written as text 10 comes before 9; probabilities and scores are in the order of the classes all the same."""
    frame, _ = people
    thirds = np.searchsorted([45, 65], frame["age"])
    labels = sorted(labels)
    y = np.array(labels)[thirds]
    model = AnonymousClassifier(LogisticRegression(max_iter=1000), "kactus-plus").fit(frame[["age"]], y)
    assert model.classes_.tolist() == labels
    assert model.score(frame[["age"]], y) > 0.8
    for scores in (model.predict_proba(frame[["age"]]), model.decision_function(frame[["age"]])):
        assert (model.classes_[scores.argmax(axis=1)] == model.predict(frame[["age"]])).all()
    two = AnonymousClassifier(LogisticRegression(), "kactus-plus").fit(frame[["age"]], y_two := y == labels[2])
    assert two.score(frame[["age"]], y_two) > 0.8
    first_last = np.array(labels)[[0, 2]][(thirds == 2).astype(int)]
    both = AnonymousClassifier(LogisticRegression(), "kactus-plus").fit(frame[["age"]], first_last)
    scores = both.decision_function(frame[["age"]])
    assert (both.classes_[(scores > 0).astype(int)] == both.predict(frame[["age"]])).all()


def test_it_is_cross_validated_as_any_classifier(people):
    frame, y = people
    model = AnonymousClassifier(DecisionTreeClassifier(min_samples_leaf=10, random_state=0), "kactus-plus", 10)
    assert cross_val_score(model, frame, y, cv=3, scoring="roc_auc").mean() > 0.75


def test_refusals_of_the_anonymous_classifier(people):
    frame, y = people
    learner = LogisticRegression()
    with pytest.raises(ParameterError, match="no method 'blnd'"):
        AnonymousClassifier(learner, "blnd").fit(frame, y)
    with pytest.raises(RequirementError, match="k=5000 is impossible"):
        AnonymousClassifier(learner, k=5000).fit(frame, y)
    with pytest.raises(ParameterError, match="passed as an object has its parameters"):
        AnonymousClassifier(learner, Blend(), parameters={"cuts": "class"}).fit(frame, y)
    with pytest.raises(ParameterError, match="auto has no parameter 'cuts'"):
        AnonymousClassifier(learner, "auto", parameters={"cuts": "class"}).fit(frame, y)
    for method in (7, learner):
        with pytest.raises(ParameterError, match="method must be the name of a method"):
            AnonymousClassifier(learner, method).fit(frame, y)
    with pytest.raises(ParameterError, match="blend uses no hierarchy"):
        AnonymousClassifier(learner, "blend", hierarchies={"job": JOBS}).fit(frame, y)
    with pytest.raises(ParameterError, match="blend cannot leave rows out"):
        AnonymousClassifier(learner, "blend", lose=0.1).fit(frame, y)
