"""Learners by name, and what they say when they are not to be had."""

import sys
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from incrowd.comparisons.learners.catalog import LEARNERS, Scikit, find_learner, parsed
from incrowd.comparisons.learners.learner import Examples
from incrowd.errors import InputError, MissingPackageError, ParameterError
from incrowd.recipients.matrix import Attribute, OneHot

SEX = Attribute("sex", np.array([0, 1, 1, -1]), ("f", "m"))
ROWS = Examples((SEX,), np.array([0, 1, 1, 0]), ("no", "yes"))


def test_every_learner_is_called_by_its_name():
    for name, entry in LEARNERS.items():
        assert find_learner(name).name == name
        assert entry.summary
        for alias in entry.aliases:
            assert find_learner(alias) == find_learner(name)


def test_the_names_that_were_promised():
    ours = {"c45", "tree", "nb", "logistic", "rules", "svm", "forest", "boosting", "knn"}
    assert ours | {"weka-j48", "weka-part", "weka-nb", "weka-logistic"} <= set(LEARNERS)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("c46", "no learner 'c46'. Did you mean 'c45'"),
        ("ExtraTreeClassifer", "Did you mean 'ExtraTreeClassifier'"),
        ("sklearn.ensemble.RandomForestClasifier", "Did you mean 'RandomForestClassifier'"),
        ("sklearn.nowhere.GaussianNB", "no classifier"),
        ("sklearn.linear_model.LinearRegression", "no classifier"),
        ("os.system", "no learner"),
        ("VotingClassifier", "made of other classifiers"),
        ("c45(depth=3)", "no parameter 'depth'"),
        ("forest(n_estimator=3)", "Did you mean 'n_estimators'"),
        ("c45(confidence=2)", "confidence must be"),
        ("c45(missing='guess')", "missing must be"),
        ("nb(laplace=0)", "laplace must be"),
        ("nb(laplace=True)", "laplace must be"),
        ("logistic(missing='guess')", "missing must be"),
        ("tree(encoding='binary')", "encoding must be"),
        ("tree(missing='guess')", "missing must be"),
        ("rules(rules_per_round=0)", "rules_per_round must be"),
        ("rules(trees='half')", "trees must be"),
        ("rules(trees='partial', rules_per_round=2)", "one rule"),
        ("weka-j48(options=5)", "options must be"),
        ("weka-j48(scheme='x')", "no parameter 'scheme'"),
        ("c45(missing=", "not understood"),
        ("c45('stop')", "not understood"),
        ("c45(missing=open('x'))", "not understood"),
        ("c45(**{'missing': 'stop'})", "not understood"),
        ("c45(missing='stop') or 1", "not understood"),
    ],
)
def test_what_cannot_be_had_is_said(name, said):
    with pytest.raises(ParameterError, match=said.replace("(", r"\(")):
        find_learner(name)


def test_parameters_are_read():
    assert parsed(" forest( n_estimators = 5, max_depth=None )") == ("forest", {"n_estimators": 5, "max_depth": None})


def test_parameters_reach_the_classifier():
    model = find_learner("forest(n_estimators=3, max_depth=2)").fit(ROWS, 5)
    parameters = model.classifier.get_params()  # type: ignore[attr-defined]
    assert (parameters["n_estimators"], parameters["max_depth"]) == (3, 2)
    assert (parameters["random_state"], parameters["n_jobs"]) == (5, 1)


def test_boosting_holds_no_rows_back_unless_it_is_asked_to():
    assert find_learner("boosting").fit(ROWS, 0).classifier.early_stopping is False  # type: ignore[attr-defined]
    rows = ROWS.take(np.tile(np.arange(ROWS.height), 30))
    assert find_learner("boosting(early_stopping=True)").fit(rows, 0).classifier.early_stopping is True  # type: ignore[attr-defined]


def test_a_parameter_that_scikit_learn_refuses_is_told():
    with pytest.raises(ParameterError, match=r"logistic\(C=-1\) cannot be made: The 'C' parameter"):
        find_learner("logistic(C=-1)").fit(ROWS, 0)


def test_boosting_knows_its_categories():
    assert find_learner("boosting").fit(ROWS, 0).classifier.is_categorical_.tolist() == [True]  # type: ignore[attr-defined]


def test_a_classifier_that_refuses_is_an_input_error():
    learner = Scikit("cv", "sklearn.calibration.CalibratedClassifierCV")
    with pytest.raises(InputError, match="cv cannot learn from these rows"):
        learner.fit(ROWS.take(np.array([0, 1])), 0)


def test_broken_weights_are_refused_where_rows_can_only_be_repeated():
    with pytest.raises(ParameterError, match="knn takes whole weights only"):
        find_learner("knn").fit(replace(ROWS, weights=np.array([0.5, 1, 1, 1])), 0)


@pytest.mark.parametrize("gone", ["weka", "jpype"])
def test_weka_says_what_it_needs(monkeypatch, gone):
    monkeypatch.setitem(sys.modules, gone, None)
    monkeypatch.delitem(sys.modules, "weka.core.jvm", raising=False)
    with pytest.raises(MissingPackageError, match=r"pip install python-weka-wrapper3.*Java"):
        find_learner("weka-j48").fit(ROWS, 0)


def test_weka_says_that_java_is_missing(monkeypatch):
    """With the package but without Java."""

    def no_java(*_flags, **_settings):
        raise ValueError("No JVM shared library file found")

    jvm, jpype = ModuleType("weka.core.jvm"), ModuleType("jpype")
    jvm.add_bundled_jars = lambda jars: jars.append("weka.jar")  # type: ignore[attr-defined]
    jpype.isJVMStarted, jpype.startJVM = lambda: False, no_java  # type: ignore[attr-defined]
    for module in (ModuleType("weka"), ModuleType("weka.core"), jvm, jpype):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(MissingPackageError, match="Java 11"):
        find_learner("weka-nb").fit(ROWS, 0)


def test_missing_categories_as_declared():
    shown = {way: OneHot.of(ROWS, way).matrix(ROWS).toarray()[3].tolist() for way in ("zeros", "indicator", "mode")}
    assert shown == {"zeros": [0, 0], "indicator": [0, 0, 1], "mode": [0, 1]}


def test_missing_numbers_are_the_mean():
    rows = Examples((Attribute("age", np.array([1.0, 3.0, np.nan])),), np.array([0, 1, 1]), ("no", "yes"))
    shown = {way: OneHot.of(rows, way).matrix(rows).toarray()[2].tolist() for way in ("zeros", "indicator", "mode")}
    assert shown == {"zeros": [0], "indicator": [0, 1], "mode": [0]}


def test_a_shared_row_at_a_leaf_of_the_rule_list_speaks_for_all_rules():
    rows = ROWS.take(np.repeat(np.arange(3), 4))
    scores = find_learner("rules").fit(rows, 0).scores(ROWS)
    assert scores[:3].tolist() == [[1, 0], [0, 1], [0, 1]]
    np.testing.assert_allclose(scores[3], [1 / 3, 2 / 3])


def test_what_scikit_learn_says_of_a_cell_is_not_passed_on(monkeypatch):
    def refuse(*_args, **_keywords):
        raise ValueError("could not convert 4711")

    monkeypatch.setattr("sklearn.naive_bayes.ComplementNB.fit", refuse)
    rows = Examples((Attribute("a", np.array([4711.0, 1.0])),), np.array([0, 1]), ("no", "yes"))
    with pytest.raises(InputError) as told:
        find_learner("ComplementNB").fit(rows, 1)
    assert "4711" not in str(told.value)
    assert told.value.__cause__ is None


def test_a_parameter_out_of_its_range_is_told_as_such():
    rows = Examples((Attribute("a", np.array([0.0, 1.0])),), np.array([0, 1]), ("no", "yes"))
    with pytest.raises(ParameterError, match="max_depth"):
        find_learner("tree(max_depth=-1)").fit(rows, 1)
