"""Classifiers on counts keep scikit-learn's conventions: its own checks where they apply, the others on counts."""

import pickle

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from incrowd.recipients import CountsNaiveBayes, CountsTree

LEARNERS = [CountsNaiveBayes(), CountsTree(min_rows=2)]
# those that fit nothing; all others fit arrays of numbers, and these classifiers learn from columns of counts alone
APPLICABLE = (
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_scikit_learn_checks_of_classifiers_on_counts(learner):
    for name in APPLICABLE:
        getattr(estimator_checks, name)(type(learner).__name__, clone(learner))


@pytest.fixture(scope="module")
def counts():
    """Three groups of 20, whose age tells the class."""
    ages = [f"(-inf, 30]:{20 - old}|(30, inf):{old}" for old in (2, 10, 18)]
    table = pl.DataFrame({"age": np.repeat(ages, 20), "job": np.repeat(["a:20", "a:9|b:11", "b:20"], 20)})
    return table, np.concatenate([np.arange(20) < old for old in (2, 10, 18)])


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (-1.0, 2.0), (False, True)])
def test_what_the_other_checks_ask_holds_on_counts(counts, learner, labels):
    table, old = counts
    y = np.where(old, labels[1], labels[0])
    model = clone(learner)
    assert model.fit(table, y) is model
    rows = pl.DataFrame({"age": [20, 40, 20, 40], "job": ["a", "b", "b", None]})
    shares = model.predict_proba(rows)
    assert model.predict(rows)[:2].tolist() == [*labels]
    assert (model.classes_.tolist(), model.n_features_in_) == ([*labels], 2)
    assert np.array_equal(model.predict_proba(rows[::-1]), shares[::-1])
    assert np.array_equal(np.vstack([model.predict_proba(rows[i]) for i in range(4)]), shares)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(rows), shares)
    order = np.random.default_rng(1).permutation(60)
    assert np.allclose(clone(learner).fit(table[order], y[order]).predict_proba(rows), shares)
    assert clone(learner).fit(table, np.full(60, labels[0])).predict(rows).tolist() == [labels[0]] * 4


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_refusals_of_classifiers_on_counts(counts, learner):
    table, _ = counts
    with pytest.raises(NotFittedError):
        clone(learner).predict(table)
    with pytest.raises(ValueError, match="target y is None"):
        clone(learner).fit(table, None)
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        clone(learner).fit(table, np.linspace(0, 1, 60))
