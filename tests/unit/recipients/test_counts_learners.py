"""Classifiers on counts: what they learn is what infinitely many deals would show."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from incrowd.errors import HeaderError, ValuesError
from incrowd.recipients import CountsNaiveBayes, CountsTree
from incrowd.recipients.dealing import Dealing
from incrowd.recipients.learning import _bits
from incrowd.recipients.views import ReleasedColumn
from incrowd.vocabulary.schema import ColumnType

RNG = np.random.default_rng(5)


def drawn(chance, size):
    """A group: its texts, and the rows behind them."""
    old = RNG.random(size) < 0.1 + 0.8 * chance
    job = RNG.choice(["cook", "nurse", "smith"], size, p=[0.8 - 0.6 * chance, 0.1, 0.1 + 0.6 * chance])
    ages = np.where(old, "(40, inf)", "(-inf, 40]")
    texts = tuple("|".join(f"{name}:{(of == name).sum()}" for name in np.unique(of)) for of in (ages, job))
    return texts, [(60 if o else 20, j) for o, j in zip(old, job.tolist(), strict=True)]


def made(groups=30, size=20):
    """Groups that look different, whose age and job go with the class; the rows behind them."""
    found, labels, rows = {}, [], []
    while len(found) < groups:
        chance = len(found) / (groups - 1)
        texts, own = drawn(chance, size)
        if texts not in found:
            found[texts] = size
            labels += np.where(RNG.random(size) < chance, "y", "n").tolist()
            rows += own
    cells = [texts for texts in found for _ in range(size)]
    order = RNG.permutation(len(labels))
    return (
        pl.DataFrame(cells, ["age", "job"], orient="row")[order],
        np.array(labels)[order],
        pl.DataFrame(rows, ["age", "job"], orient="row")[order],
    )


def decoded(counts, labels, deals):
    """The counts as dealt words, with the class of each row."""
    columns = tuple(ReleasedColumn(name, ColumnType.CATEGORICAL, "counts") for name in counts.columns)
    rows = Dealing(columns, counts.to_arrow()).dealt(np.random.default_rng(1), deals)
    words = {each.name: np.array(each.categories)[each.values] for each in rows.attributes}
    return pl.DataFrame({**words, "y": np.tile(labels, deals)})


def test_naive_bayes_is_that_of_many_deals():
    counts, labels, rows = made()
    model = CountsNaiveBayes().fit(counts, labels)
    deals = 400
    plain = decoded(counts, labels, deals)
    for attribute, learned in zip(model.attributes_, model.log_likelihoods_, strict=True):
        for c, label in enumerate(model.classes_):
            mine = plain.filter(pl.col("y") == label)[attribute.view.name]
            found = np.array([(mine == value).sum() / deals + 1 for value in attribute.view.categories])
            assert np.exp(learned[c]) == pytest.approx(found / found.sum(), abs=0.01)
    shares = model.predict_proba(rows)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert set(model.predict(rows)) == {"y", "n"}


def test_a_tree_splits_as_one_on_many_deals_does():
    counts, labels, rows = made()
    model = CountsTree().fit(counts, labels)
    plain = decoded(counts, labels, 60)
    coded = np.column_stack([(plain["age"] == "(40, inf)"), plain["job"] == "cook", plain["job"] == "smith"])
    other = DecisionTreeClassifier(criterion="entropy", max_depth=model.depth_).fit(coded, plain["y"].to_numpy())
    test = np.column_stack([(rows["age"] > 40), rows["job"] == "cook", rows["job"] == "smith"])
    agree = np.mean(other.predict(test) == model.predict(rows))
    assert agree > 0.95
    assert np.abs(other.predict_proba(test) - model.predict_proba(rows)).mean() < 0.05


def test_bits_are_those_of_the_entropy():
    counts = np.array([[3.0, 0.0], [1.0, 5.0]])
    shares = np.array([0.75, 0.25])
    assert _bits(counts) == pytest.approx([-4 * (shares * np.log2(shares)).sum(), 0.0])


@pytest.mark.parametrize("learner", [CountsNaiveBayes, CountsTree])
def test_new_rows_may_be_numbers_texts_bins_missing_or_unseen(learner):
    counts, labels, _ = made()
    model = learner().fit(counts, labels)
    same = [{"age": [60]}, {"age": [60.0]}, {"age": ["60"]}, {"age": ["(40, inf)"]}]
    found = {tuple(model.predict_proba(pl.DataFrame({**age, "job": ["smith"]}))[0]) for age in same}
    assert len(found) == 1
    odd = model.predict_proba(
        pl.DataFrame({"age": [None, 60], "job": ["smith", "pilot"]}, {"age": pl.Int64, "job": pl.String})
    )
    assert odd.sum(axis=1) == pytest.approx(1)
    with pytest.raises(HeaderError):
        model.predict(pl.DataFrame({"age": [1]}))


@pytest.mark.parametrize("learner", [CountsNaiveBayes(smoothing=2.0), CountsTree(min_rows=7, max_depth=2)])
def test_scikit_learn_can_clone_them_and_hidden_attributes_are_left_out(learner):
    counts, labels, rows = made()
    copy = clone(learner)
    assert copy.get_params() == learner.get_params()
    copy.fit(counts.with_columns(sex=pl.lit("*")), labels)
    plain = clone(learner).fit(counts, labels)
    assert copy.predict(rows).tolist() == plain.predict(rows).tolist()
    assert list(copy.feature_names_in_) == ["age", "job", "sex"]
    assert copy.score(rows, labels) > 0.5


@pytest.mark.parametrize("learner", [CountsNaiveBayes, CountsTree])
def test_what_is_no_counts_is_refused(learner):
    counts, labels, _ = made()
    with pytest.raises(HeaderError, match="no column of counts"):
        learner().fit(counts.with_columns(pl.Series("y", labels)), labels)
    with pytest.raises(ValuesError, match="class for each row"):
        learner().fit(counts, labels[:-1])


def test_groups_that_hide_an_attribute_do_not_tell_of_it():
    counts = pl.DataFrame({"a": ["x:40"] * 40 + ["y:40"] * 40 + ["*"] * 40, "b": ["u:40"] * 80 + ["v:40"] * 40})
    labels = ["n"] * 40 + ["y"] * 80
    for learner in (CountsNaiveBayes(), CountsTree()):
        model = learner.fit(counts, labels)
        assert model.predict(pl.DataFrame({"a": ["x", "y"], "b": ["u", "u"]})).tolist() == ["n", "y"]
