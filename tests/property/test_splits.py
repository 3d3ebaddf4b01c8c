"""Splits part the rows, whatever the classes; and so does AUC agree with its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.comparisons.protocol import FiveByTwo, FixedSplit, KFold
from incrowd.comparisons.scores import quality

CLASSES = st.lists(st.integers(0, 3), min_size=10, max_size=60).map(lambda codes: np.array(codes, np.int64))
PROTOCOLS = st.one_of(
    st.builds(FiveByTwo, st.integers(1, 3), st.booleans()),
    st.builds(KFold, st.integers(2, 10), st.booleans(), st.integers(1, 2)),
    st.builds(FixedSplit, st.floats(0.05, 0.95), st.none(), st.booleans(), st.integers(1, 3)),
    st.builds(FixedSplit, train_first=st.integers(1, 9)),
)


@given(CLASSES, PROTOCOLS, st.integers(0, 2**40))
def test_every_row_is_learned_from_or_tested_on(classes, protocol, seed):
    splits = protocol.splits(classes, seed)
    assert len(splits) == protocol.repetitions * protocol.folds
    for split in splits:
        assert len(split.train)
        assert len(split.test)
        assert sorted([*split.train, *split.test]) == list(range(len(classes)))
        assert np.all(np.diff(split.train) > 0)
        assert np.all(np.diff(split.test) > 0)


@given(CLASSES, st.builds(KFold, st.integers(2, 10), st.booleans(), st.integers(1, 3)), st.integers(0, 2**40))
def test_folds_test_every_row_once_in_a_repetition(classes, protocol, seed):
    splits = protocol.splits(classes, seed)
    for repetition in range(protocol.repetitions):
        tests = [split.test for split in splits if split.repetition == repetition]
        assert sorted(np.concatenate(tests).tolist()) == list(range(len(classes)))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1


@given(CLASSES, st.integers(2, 10), st.integers(0, 2**40))
def test_stratified_folds_have_equal_shares_of_each_class(classes, folds, seed):
    for label in range(4):
        counts = [int(np.sum(classes[split.test] == label)) for split in KFold(folds).splits(classes, seed)]
        assert max(counts) - min(counts) <= 1


@given(CLASSES, PROTOCOLS, st.integers(0, 2**40))
def test_the_same_seed_gives_the_same_splits_and_more_repetitions_only_add(classes, protocol, seed):
    first, again = protocol.splits(classes, seed), protocol.splits(classes, seed)
    assert [split.test.tolist() for split in first] == [split.test.tolist() for split in again]
    if isinstance(protocol, KFold):
        longer = KFold(protocol.folds, protocol.stratified, protocol.repetitions + 1).splits(classes, seed)
        assert [split.test.tolist() for split in longer][: len(first)] == [split.test.tolist() for split in first]


@settings(deadline=None)  # the first one imports scikit-learn
@given(st.integers(2, 4), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_quality_is_what_scikit_learn_says(labels, rows, seed):
    from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

    rng = np.random.default_rng(seed)
    truth = rng.integers(0, labels, rows)
    scores = rng.integers(1, 5, (rows, labels)).astype(float)
    scores /= scores.sum(axis=1, keepdims=True)
    found, guesses = quality(scores, truth), scores.argmax(axis=1)
    assert found.accuracy == pytest.approx(accuracy_score(truth, guesses))
    recalls = [np.mean(guesses[truth == label] == label) for label in np.unique(truth)]
    assert found.balanced_accuracy == pytest.approx(np.mean(recalls))
    assert found.log_loss == pytest.approx(log_loss(truth, scores, labels=range(labels)))
    assert np.isnan(quality(scores - 1, truth).log_loss)
    if len(set(truth)) == 1:
        assert np.isnan(found.auc)
    elif labels == 2:
        assert found.auc == pytest.approx(roc_auc_score(truth, scores[:, 1] - scores[:, 0]))
    elif len(set(truth)) == labels:
        assert found.auc == pytest.approx(roc_auc_score(truth, scores, multi_class="ovr", average="weighted"))
