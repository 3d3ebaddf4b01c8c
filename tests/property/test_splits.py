"""Splits part the rows, whatever the classes; and so does AUC agree with its definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.comparisons.persons import RowPersons, person_quality
from incrowd.comparisons.protocol import FiveByTwo, FixedSplit, KFold, OwnSplits, PastFuture, SplitBy
from incrowd.comparisons.scores import quality
from incrowd.errors import ParameterError

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


@st.composite
def in_groups(draw):
    """Classes and groups of rows; groups are numbered without gaps."""
    pairs = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9)), min_size=12, max_size=60))
    classes, groups = np.array(pairs, np.int64).T
    return classes, SplitBy("ward", groups).take(np.arange(len(groups))).codes


@given(in_groups(), st.integers(2, 4), st.booleans(), st.integers(0, 2**40))
def test_no_group_is_learned_from_and_tested_on(rows, folds, stratified, seed):
    classes, groups = rows
    known = set(groups.tolist())
    if len(known) < folds:
        with pytest.raises(ParameterError, match=f"cannot be dealt to {folds} folds"):
            KFold(folds).splits(classes, seed, groups)
        return
    splits = KFold(folds, stratified).splits(classes, seed, groups)
    assert len(splits) == folds
    assert sorted(np.concatenate([split.test for split in splits]).tolist()) == list(range(len(classes)))
    for split in [*splits, *FixedSplit(0.3, repetitions=2).splits(classes, seed, groups)]:
        learned, tested = set(groups[split.train].tolist()), set(groups[split.test].tolist())
        assert learned
        assert tested
        assert not learned & tested
        assert learned | tested == known


@given(in_groups(), st.integers(1, 6))
def test_what_is_tested_came_after_what_was_learned(rows, steps):
    classes, moments = rows
    early = int(np.sum(moments < moments.max()))
    if early * (steps + 1) < len(moments):
        with pytest.raises(ParameterError, match="no past to learn from"):
            PastFuture(steps).splits(classes, 1, moments)
        return
    splits = PastFuture(steps).splits(classes, 1, moments)
    assert 1 <= len(splits) <= steps
    for split in splits:
        assert moments[split.train].max() < moments[split.test].min()
    tested = np.concatenate([split.test for split in splits]).tolist()
    assert sorted(tested) == np.flatnonzero(moments > moments[splits[0].train].max()).tolist()
    assert sorted(splits[-1].train.tolist() + splits[-1].test.tolist()) == list(range(len(moments)))


@settings(deadline=None)
@given(st.integers(10, 40), st.integers(2, 4), st.integers(1, 3))
def test_the_splits_of_a_splitter_are_its_own(rows, folds, repeats):
    from sklearn.model_selection import RepeatedKFold

    splitter = RepeatedKFold(n_splits=folds, n_repeats=repeats, random_state=3)
    splits = OwnSplits(splitter).splits(np.zeros(rows, np.int64), 1)
    pairs = list(splitter.split(np.zeros((rows, 1))))
    assert [split.test.tolist() for split in splits] == [test.tolist() for _, test in pairs]
    assert [split.repetition for split in splits] == [place // folds for place in range(folds * repeats)]
    assert len({(split.repetition, split.fold) for split in splits}) == folds * repeats


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


@st.composite
def of_persons(draw):
    """Classes, and whose row each row is."""
    classes, codes = draw(in_groups())
    return classes, RowPersons("patient", codes.astype(np.int32))


@given(of_persons(), PROTOCOLS, st.integers(0, 2**40))
def test_nobody_is_learned_from_and_tested_on(rows, protocol, seed):
    classes, persons = rows
    first = isinstance(protocol, FixedSplit) and protocol.train_first is not None
    if first or persons.count < max(2, protocol.folds):
        with pytest.raises(ParameterError, match=r"The first rows|cannot be dealt to"):
            persons.splits(protocol, classes, seed)
        return
    splits = persons.splits(protocol, classes, seed)
    assert len(splits) == protocol.repetitions * protocol.folds
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(len(classes)))
        learned, tested = ({persons.codes[row] for row in part} for part in (split.train, split.test))
        assert learned
        assert tested
        assert not learned & tested
    persons.check_apart(splits, "as dealt")
    assert [split.test.tolist() for split in persons.splits(protocol, classes, seed)] == [
        split.test.tolist() for split in splits
    ]


@given(of_persons(), st.integers(2, 4), st.booleans(), st.integers(0, 2**40))
def test_folds_have_as_many_persons_of_each_majority_class(rows, folds, stratified, seed):
    classes, persons = rows
    if persons.count < folds:
        return
    main = {}
    for person in range(persons.count):
        own = [int(one) for one, whose in zip(classes, persons.codes, strict=True) if whose == person]
        main[person] = min(set(own), key=lambda label: (-own.count(label), label))
    assert persons.majority_classes(classes).tolist() == [main[person] for person in range(persons.count)]
    tests = [
        set(persons.codes[split.test].tolist()) for split in persons.splits(KFold(folds, stratified), classes, seed)
    ]
    for label in range(4):
        counts = [sum(main[person] == label for person in own) for own in tests]
        assert max(counts) - min(counts) <= 1


@given(of_persons(), st.integers(1, 70), st.integers(0, 2**40))
def test_some_rows_are_those_of_whole_persons(rows, most, seed):
    _, persons = rows
    kept = persons.drawn(most, np.random.default_rng(seed))
    whose = set(persons.codes[kept].tolist())
    assert kept.tolist() == [row for row, person in enumerate(persons.codes.tolist()) if person in whose]
    assert len(kept) <= most or len(whose) == 1
    assert most < len(persons.codes) or len(kept) == len(persons.codes)


@given(of_persons(), st.integers(0, 2**40))
def test_accuracies_of_persons_are_those_of_plain_python(rows, seed):
    classes, persons = rows
    right = np.random.default_rng(seed).random(len(classes)) < 0.6
    by_person = {}
    for hit, person in zip(right.tolist(), persons.codes.tolist(), strict=True):
        by_person.setdefault(person, []).append(hit)
    shares = [Fraction(sum(own), len(own)) for own in by_person.values()]
    found = person_quality(right, persons.codes, seed)
    assert found.test_persons == len(shares)
    mean = sum(shares) / len(shares)
    assert found.person_accuracy == pytest.approx(float(mean))
    spread = float(sum((share - mean) ** 2 for share in shares) / len(shares) ** 2)  # of a mean of persons drawn anew
    assert found.person_accuracy_error == pytest.approx(math.sqrt(spread), rel=0.2, abs=1e-9)
