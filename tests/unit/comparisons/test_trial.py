"""One trial: computed by hand, and planted where the answer is known."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons.choices import Choice, choices, learner_names, listed
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.feeding import Feeding
from incrowd.comparisons.protocol import FiveByTwo, FixedSplit
from incrowd.comparisons.releasing import release_rows, without_unused
from incrowd.comparisons.subject import discretized, understand_table
from incrowd.comparisons.trial import DONE, Laboratory, Setup, Trial
from incrowd.errors import ParameterError, SchemaError, VerificationError
from incrowd.methods.catalog import METHODS, MethodEntry
from incrowd.plan.steps import Part, Recode, Recoding
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import recipe_of
from incrowd.vocabulary.released_value import Shown
from incrowd.vocabulary.requirement import KAnonymity

LEARNERS = ("c45", "nb", "logistic")


@dataclass(frozen=True)
class AsItIs:
    """A method that shows every value, whatever was promised."""

    name: ClassVar[str] = "as-it-is"

    def parameters(self):
        return {}

    def decide(self, population, requirement, randomness, preferences):
        table = population.sample()
        columns = []
        for name in population.schema.quasi_identifiers:
            column = table[name]
            values = column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()
            parts = [Part((value,), Shown(value), int(n)) for value, n in zip(values, column.counts, strict=False)]
            columns.append(Recoding(name, tuple(parts)))
        return (Recode(tuple(columns)),)


@pytest.fixture
def as_it_is(monkeypatch):
    entry = MethodEntry(name="as-it-is", module=__name__, factory="AsItIs", summary="", paper="", page="")
    monkeypatch.setitem(METHODS, "as-it-is", entry)
    return Choice.of("as-it-is")


@pytest.fixture(scope="module")
def patients():
    return understand_table(make_patients(500), target="readmitted")


def laboratory(subject, protocol=None, **setup):
    return Laboratory(subject, Setup(protocol or FixedSplit(), **setup))


def run(subject, method, k=1, learners=LEARNERS, **setup):
    return laboratory(subject, **setup).run(Trial(Choice.of(method), k, 0, 0, learners))


def test_a_method_that_changes_nothing_is_as_good_as_no_method(patients, as_it_is):
    papers = Feeding(sets="auto")  # a recipient does not know values that only test rows have
    plain, same = run(patients, "unprotected"), run(patients, "as-it-is", feeding=papers)
    assert [result.status for result in same] == [DONE] * 3
    for one, other in zip(plain, same, strict=True):
        assert (one.learner, one.accuracy, one.balanced_accuracy) == (
            other.learner,
            other.accuracy,
            other.balanced_accuracy,
        )
        assert one.auc == pytest.approx(other.auc)
        assert (one.groups, one.average_risk, one.pure_rows) == (other.groups, other.average_risk, other.pure_rows)


def test_a_broken_promise_is_raised_not_measured(patients, as_it_is):
    with pytest.raises(VerificationError, match="as-it-is broke its promise of 5-anonymity"):
        run(patients, "as-it-is", k=5)


def test_the_majority_is_right_as_often_as_its_class_occurs(patients):
    (found,) = run(patients, "majority")
    split = laboratory(patients).splits[0, 0]
    classes = patients.frame["readmitted"].to_list()
    trained, tested = ([classes[row] for row in rows] for rows in (split.train, split.test))
    best = max(sorted(set(trained)), key=trained.count)
    assert found.accuracy == pytest.approx(tested.count(best) / len(tested))
    assert (found.learner, found.auc, found.balanced_accuracy) == ("majority", 0.5, 0.5)


def four_and_four():
    train = [("x", "no"), ("x", "no"), ("y", "yes"), ("y", "yes")]
    test = [("x", "no"), ("y", "yes"), ("y", "no"), ("y", "yes")]
    frame = pl.DataFrame([*train, *test], schema=["a", "ill"], orient="row")
    return understand_table(frame, target="ill", quasi_identifiers=["a"])


def test_by_hand():
    """Four rows to learn from: two groups of two tell the class; one group of four tells nothing."""
    subject = four_and_four()

    def found(method, k):
        (result,) = run(subject, method, k, ("nb",), protocol=FixedSplit(train_first=4))
        return result

    two, four = found("mondrian", 2), found("mondrian", 4)
    assert (two.accuracy, two.groups, two.smallest_group, two.cells_kept) == (0.75, 2, 2, 1.0)
    assert (two.average_risk, two.largest_risk, two.pure_rows) == (0.5, 0.5, 1.0)
    assert two.balanced_accuracy == (0.5 + 1) / 2
    assert two.auc == (1 * 2 + 2 * 0.5) / 4  # of the four pairs, two are in order and two are tied
    assert (four.accuracy, four.groups, four.smallest_group) == (0.5, 1, 4)
    assert (four.average_risk, four.largest_risk, four.pure_rows) == (0.25, 0.25, 0.0)
    assert found("unprotected", 1).accuracy == 0.75
    assert found("majority", 1).accuracy == 0.5
    assert (two.train_rows, two.test_rows, two.released_rows) == (4, 4, 4)


def test_what_cannot_be_done_is_said(patients):
    found = run(patients, "mondrian", k=400)
    assert {result.status for result in found} == {
        "impossible: k=400 is impossible: the table has 333 rows. Choose k of at most 333, or add rows."
    }
    assert [result.accuracy for result in found] == [None] * 3


def test_a_learner_that_fails_does_not_stop_the_others(patients, monkeypatch):
    from incrowd.comparisons.learners.naive_bayes import NaiveBayes

    def broken(self, examples, seed):
        raise ValueError("could not convert string to float: 'secret'")

    monkeypatch.setattr(NaiveBayes, "fit", broken)
    found = {result.learner: result for result in run(patients, "mondrian", k=5)}
    assert found["nb"].status == "failed: nb raised ValueError"
    assert found["nb"].accuracy is None
    assert found["c45"].status == found["logistic"].status == DONE


@pytest.mark.each(4)
@pytest.mark.parametrize("method", [*METHODS, "kadet"])
def test_every_method_keeps_its_promise_in_the_lab(patients, method):
    for result in run(patients, method, k=10, learners=("nb",)):
        assert result.status == DONE
        assert result.smallest_group >= 10
        assert result.largest_risk == 1 / result.smallest_group
        assert 0 < result.average_risk <= result.largest_risk
        assert 0 <= result.accuracy <= 1


def test_kadet_takes_several_classes_and_says_why_it_cannot_take_missing_ones():
    known = pl.when(pl.col("age") >= 30).then(pl.col("diagnosis_group"))
    frame = make_patients(400)
    (found,) = run(understand_table(frame, target="diagnosis_group"), "kadet", k=10)
    assert found.status == DONE
    (refused,) = run(understand_table(frame.with_columns(known), target="diagnosis_group"), "kadet", k=10)
    assert refused.status.startswith("impossible: Values are missing in 'diagnosis_group'")


def test_methods_do_not_see_values_that_only_test_rows_have(patients):
    """A release of the training part is that of a table which was read without the other rows."""
    split = laboratory(patients, FiveByTwo(1)).splits[0, 0]
    frame = patients.frame[split.train]
    alone, _ = encode(Source(frame, Origin("polars")), patients.schema, patients.schema.names)
    for method in ("kactus", "tdr", "infogain-mondrian"):
        made = [
            release_rows(table, frame, patients.schema, method, {}, KAnonymity(10), 7).draft.frame
            for table in (patients.table.take(split.train), alone)
        ]
        assert made[0].equals(made[1])
    small = without_unused(patients.table.take(split.train))
    for name in patients.schema.names:
        assert small[name].dictionary.equals(alone[name].dictionary)
        assert np.array_equal(small[name].codes, alone[name].codes)


def test_the_same_trial_gives_the_same_result(patients):
    def figures(result):
        return {name: value for name, value in asdict(result).items() if not name.endswith("seconds")}

    trial = Trial(Choice.of("kactus-plus"), 5, 0, 1, LEARNERS)
    for feeding in (Feeding(), Feeding(sets="draw")):
        lab = laboratory(patients, FiveByTwo(1), feeding=feeding)
        again = laboratory(patients, FiveByTwo(1), feeding=feeding)
        assert [figures(result) for result in lab.run(trial)] == [figures(result) for result in again.run(trial)]


def test_numbers_can_be_cut_before_or_after(patients):
    cut = discretized(patients)
    assert not any(column.type.is_numeric for column in cut.schema.columns)
    assert cut.table.height == patients.table.height
    assert "test rows had a say" in str(cut.notices[-1])
    for result in [*run(cut, "kactus", 5), *run(patients, "kactus", 5, discretize="train")]:
        assert result.status == DONE
    with pytest.raises(ParameterError, match="discretize"):
        Setup(FixedSplit(), discretize="after")


def test_choices_are_checked_when_they_are_named():
    assert choices(["kactus", "kactus"]) == (Choice("kactus"),)
    assert str(Choice.of("kactus(numeric='mean')")) == "kactus(numeric='mean')"
    assert learner_names(["c4.5", "c45"]) == ("c45",)
    for text in ("kaktus", "kactus(size=3)", "majority(a=1)", "kadet(k=3)", "kadet(depth=3)", "kactus(numeric='big')"):
        with pytest.raises(ParameterError):
            Choice.of(text)
    assert listed("a,b(c='x,y', d=2),,e ") == ["a", "b(c='x,y', d=2)", "e"]


def test_all_that_is_asked_for_is_kept_in_trials_and_what_it_tells_is_measured(patients):
    recipe = recipe_of({"target": "readmitted", "purest": 0.7, "rarest": 15, "redraw": 0})
    free, kept = (
        laboratory(patients, **more).run(Trial(Choice.of("infogain-mondrian(form='counts')"), 5, 0, 0, ("nb",)))[0]
        for more in ({}, {"recipe": recipe})
    )
    assert (free.status, kept.status) == ("done", "done")
    assert kept.purity <= 0.7 < free.purity
    assert kept.pure_rows == 0 < free.pure_rows
    assert kept.class_advantage < free.class_advantage
    assert free.pure_rows <= free.purity <= 1
    off = laboratory(patients, attacked=False).run(Trial(Choice.of("mondrian"), 5, 0, 0, ("nb",)))[0]
    assert off.class_advantage is None


def test_a_requirement_on_a_column_that_outsiders_know_is_refused(patients):
    recipe = recipe_of({"target": "readmitted", "require": "t=0.3 on age"})
    with pytest.raises(SchemaError, match="nothing can be required of it"):
        patients.under(recipe)
