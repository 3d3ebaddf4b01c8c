"""Learners and methods that are passed as objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.tree import DecisionTreeClassifier

from incrowd.comparisons.choices import Choice, learner_names, own_learners
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.learners.c45 import C45Learner
from incrowd.comparisons.learners.catalog import LEARNERS, find_learner, learner_entry, made_by
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.run import compare
from incrowd.errors import ParameterError
from incrowd.methods.partitioning.mondrian import Mondrian


@dataclass(frozen=True)
class First:
    """Gives everybody the first class."""

    wrong: str = ""
    name: str = "first"

    def fit(self, examples: Any, seed: int) -> First:
        if self.wrong == "fit":
            raise KeyError("a cell")
        return self

    def scores(self, examples: Any) -> Any:
        columns = len(examples.labels) + (self.wrong == "scores")
        return np.eye(1, columns).repeat(examples.height, axis=0)


def test_a_classifier_is_called_by_its_class_and_what_is_unusual() -> None:
    assert find_learner(BernoulliNB()).name == "BernoulliNB"
    assert find_learner(BernoulliNB(alpha=0.5)).name == "BernoulliNB(alpha=0.5)"
    bagged = find_learner(BaggingClassifier(DecisionTreeClassifier()))
    assert bagged.name == "BaggingClassifier(estimator='DecisionTreeClassifier')"
    assert find_learner(C45Learner()).name == "c45"


def test_what_is_no_learner_is_refused() -> None:
    for wrong in (5, BernoulliNB, object()):
        with pytest.raises(ParameterError, match="A learner is the name of one, an object with a name and fit"):
            find_learner(wrong)
    with pytest.raises(ParameterError, match="has the name of another one, 'nb'"):
        find_learner(First(name="nb"))
    with pytest.raises(ParameterError, match="Two of the learners that are passed have the same name"):
        learner_names([First(), First("fit")])
    assert own_learners(["nb", First()]) == (First(),)


def test_a_factory_from_elsewhere_makes_a_learner_by_its_word() -> None:
    assert made_by(DecisionTreeClassifier, "stump", {"max_depth": 1}).name == "stump(max_depth=1)"
    assert made_by(lambda: First(), "first", {}) == First()
    with pytest.raises(ParameterError, match="stump cannot be made with these parameters: depth"):
        made_by(DecisionTreeClassifier, "stump", {"depth": 1})
    with pytest.raises(ParameterError, match="The learner 'last' calls itself 'first'"):
        made_by(First, "last", {})
    with pytest.raises(ParameterError, match="named by the class or function"):
        learner_entry(5)
    assert learner_entry(First).summary == "Gives everybody the first class"
    assert {entry.package for entry in LEARNERS.values()} == {"incrowd"}


def test_a_method_as_an_object_is_a_choice_with_its_parameters() -> None:
    assert Choice.of(Mondrian(numeric="mean")) == Choice.of("mondrian(numeric='mean')")
    assert Choice.of(Mondrian) == Choice.of("mondrian")
    with pytest.raises(ParameterError, match=r"There is no method 'majorty'.*kadet, unprotected, majority"):
        Choice.of("majorty")


@pytest.mark.slow
def test_objects_are_compared_as_names_are(tmp_path) -> None:
    asked: dict[str, Any] = {"ks": [5], "protocol": FixedSplit(), "jobs": 2, "to": tmp_path}
    learners = [BernoulliNB(), First(), First("fit", "fails"), First("scores", "misses")]
    table = make_patients(300)
    comparison = compare(table, target="readmitted", methods=[Mondrian()], learners=learners, **asked)
    results = {
        row["learner"]: row["status"] for row in comparison.results.rows(named=True) if row["method"] == "mondrian"
    }
    assert results == {
        "BernoulliNB": "done",
        "first": "done",
        "fails": "failed: fails raised KeyError",
        "misses": "failed: misses gave no score for each row and class",
    }
    lines = (tmp_path / "trials.jsonl").read_text().splitlines()
    other = compare(table, target="readmitted", methods=["mondrian"], learners=[BernoulliNB(alpha=2)], **asked)
    assert "BernoulliNB(alpha=2)" in other.results["learner"].to_list()
    assert len((tmp_path / "trials.jsonl").read_text().splitlines()) == len(lines) + 2
