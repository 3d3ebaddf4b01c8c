"""kADET as a scikit-learn classifier."""

import json
import pickle
import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import estimator_checks_generator

from incrowd.errors import ParameterError, RequirementError, ValuesError
from incrowd.estimators.classifiers import KAdetClassifier
from incrowd.models.pipeline import verify_model
from incrowd.models.published_tree import write_model
from incrowd.vocabulary.hierarchy import Hierarchy

JOBS = Hierarchy.from_paths(
    "job", [["nurse", "care", "*"], ["clerk", "other", "*"], ["smith", "other", "*"], ["cook", "other", "*"]]
)


def checks():
    """All of scikit-learn's checks but the one of array libraries, which a table of mixed types cannot come from.

    How missing values are filled matters to few of them: with the mode, every third is tried.
    """
    for classifier, step in ((KAdetClassifier(k=2), 1), (KAdetClassifier(k=2, fill="mode"), 3)):
        for place, (estimator, check) in enumerate(estimator_checks_generator(classifier)):
            name = getattr(check, "func", check).__name__
            if name != "check_array_api_input" and (place % step == 0 or "nan" in name):
                marks = [] if classifier.fill != "mode" else [pytest.mark.slow]
                yield pytest.param(estimator, check, id=f"{classifier.fill}-{name}", marks=marks)


@pytest.mark.each(3)
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_checks_of_the_classifier(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(3)
    rows = 1000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "height": rng.normal(170, 10, rows),
            "job": rng.choice(["nurse", "clerk", "smith", "cook"], rows, p=[0.4, 0.3, 0.2, 0.1]),
        }
    )
    ill = np.where((frame["age"] > 50) ^ (frame["job"] == "nurse"), "yes", "no")
    return frame, np.where(rng.random(rows) < 0.1, "no", ill)


def test_it_learns_and_every_span_has_k_rows(people):
    frame, y = people
    tree = KAdetClassifier(k=25, private=["height"]).fit(frame, y)
    assert tree.score(frame, y) > 0.85
    assert tree.model_.smallest_span >= 25
    assert tree.verdict_.passed
    assert tree.model_.private == ("height",)
    assert cross_val_score(clone(tree), frame, y, cv=3).mean() > 0.8


@pytest.mark.parametrize("container", ["pandas", "polars", "pyarrow", "object array"])
def test_every_container_is_taken(people, container):
    frame, y = people
    X = {
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "object array": frame.to_numpy(dtype=object),
    }[container]
    private = ["x1"] if container == "object array" else ["height"]
    tree = KAdetClassifier(k=25, private=private).fit(X, y)
    expected = KAdetClassifier(k=25, private=["height"]).fit(frame, y)
    assert (tree.predict(X) == expected.predict(frame)).all()
    shown = tree.to_table(X, y)
    assert shown.shape == (1000, 4)
    counts = pl.from_pandas(shown) if container == "pandas" else pl.DataFrame(shown)
    names = ["x0", "x2"] if container == "object array" else ["age", "job"]
    assert counts.group_by(names).len()["len"].min() >= 25


def test_probabilities_come_from_public_counts_only(people):
    frame, y = people
    tree = KAdetClassifier(k=25, private=["height"]).fit(frame, y)
    shares = tree.predict_proba(frame)
    rows = pl.from_pandas(frame)
    model = tree.model_
    leaves = model.leaf_of(tree._encoded(rows))
    assert np.allclose(shares.sum(axis=1), 1)
    assert (tree.classes_[shares.argmax(axis=1)] == tree.predict(frame)).all()
    for leaf, share in zip(leaves, shares, strict=True):
        counts = model.safe_counts[leaf]
        wanted = np.eye(2)[model.labels[leaf]] if counts is None else np.array(counts) / sum(counts)
        assert np.allclose(share, wanted)
    assert any(counts is None for counts in (model.safe_counts[leaf] for leaf in leaves))


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1.0, 2.0), (False, True), ("", "?")])
def test_classes_are_those_of_y(people, labels):
    frame, y = people
    y = pd.Series(np.where(y == "yes", labels[1], labels[0]), name="outcome")
    tree = KAdetClassifier(k=25).fit(frame, y)
    assert tree.classes_.tolist() == sorted(labels)
    assert set(tree.predict(frame)) == set(labels)
    assert sorted(tree.model_.classes) == sorted(labels)
    assert tree.model_.target == "outcome"
    assert json.loads(json.dumps(tree.model_.to_json()))["classes"] == list(tree.model_.classes)


def test_more_than_ten_classes_keep_their_places(people):
    frame, _ = people
    y = frame["age"].to_numpy() // 7
    tree = KAdetClassifier(k=10).fit(frame, y)
    assert tree.score(frame, y) > 0.9
    assert (tree.classes_[tree.predict_proba(frame).argmax(axis=1)] == tree.predict(frame)).mean() > 0.99


def test_what_is_exported(people, tmp_path):
    frame, y = people
    tree = KAdetClassifier(k=25, hierarchies={"job": JOBS}).fit(frame, pd.Series(y, name="ill"))
    assert "care" in tree.export_text() or "nurse" in tree.export_text()
    assert tree.export_text(max_depth=1).count("\n") < tree.export_text().count("\n")
    ElementTree.fromstring(tree.plot().svg)
    ElementTree.fromstring(tree.to_pmml())
    write_model(tree.model_, tmp_path / "tree.json")
    frame.assign(ill=y).to_csv(tmp_path / "people.csv", index=False)
    assert verify_model(tmp_path / "tree.json", tmp_path / "people.csv").passed
    assert (pickle.loads(pickle.dumps(tree)).predict(frame) == tree.predict(frame)).all()


def test_new_values_rest_where_nobody_knows_them(people):
    frame, y = people
    tree = KAdetClassifier(k=25, fill="mode").fit(frame, y)
    new = frame.head(4).copy()
    new["age"] = new["age"] + 0.5
    new.loc[0, "job"] = "astronaut"
    new.loc[1, "job"] = None
    assert set(tree.predict(new)) <= {"yes", "no"}
    inner = tree.model_.leaf_of(tree._encoded(pl.from_pandas(new)))[0]
    assert tree.model_.tree.nodes[inner].attribute == "job"


def test_a_tree_without_tests_says_the_majority(people):
    frame, y = people
    tree = KAdetClassifier(k=1000).fit(frame, y)
    assert len(tree.model_.tree.nodes) == 1
    assert set(tree.predict(frame)) == {max(set(y), key=list(y).count)}
    assert np.allclose(tree.predict_proba(frame.head(2))[:, 1], (y == "yes").mean())


def test_missing_values_are_refused_in_fit_and_in_predict(people):
    frame, y = people
    holes = frame.copy()
    holes.loc[:4, "job"] = None
    with pytest.raises(ValuesError, match=r"'job' \(5 rows\)"):
        KAdetClassifier(k=25).fit(holes, y)
    tree = KAdetClassifier(k=25).fit(frame, y)
    with pytest.raises(ValuesError, match=r"'job' \(5 rows\)"):
        tree.predict(holes)
    assert len(KAdetClassifier(k=25, fill="value").fit(holes, y).predict(holes)) == len(holes)


def test_refusals_of_the_classifier(people):
    frame, y = people
    with pytest.raises(ParameterError, match="no column 'zip'"):
        KAdetClassifier(private=["zip"]).fit(frame, y)
    with pytest.raises(ParameterError, match="All columns are private"):
        KAdetClassifier(private=list(frame.columns)).fit(frame, y)
    with pytest.raises(RequirementError, match="fewer than k=5000"):
        KAdetClassifier(k=5000).fit(frame, y)
    with pytest.raises(ParameterError, match="score must be one of"):
        KAdetClassifier(criterion="gini").fit(frame, y)
    with pytest.raises(RequirementError, match="rows the model was grown on"):
        KAdetClassifier(k=25).fit(frame, y).to_table(frame.head(100), y[:100])
