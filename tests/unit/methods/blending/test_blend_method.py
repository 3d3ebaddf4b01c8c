"""Blend, piece by piece: guide, bins, hiding, splits, refusals, what the plan keeps."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.errors import ParameterError, PlanError, SchemaError
from incrowd.methods.blending.blend import Blend, split_rows
from incrowd.methods.blending.guide import Guided, given_up, guided, hidden_names
from incrowd.methods.blending.row_table import RowFeatures, Worth
from incrowd.methods.judging import Judge
from incrowd.methods.numeric import bins_of, fine_cuts, public_bins
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts, Bin, Reasons, Seat, Show
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.testing.tables import BlockedEngine
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness, SystemRandomness
from incrowd.vocabulary.released_value import Counts, Suppressed
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.requirements.words import asked_for
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

ROWS = 400


def column(name, codes, kind=ColumnType.CATEGORICAL):
    codes = np.asarray(codes)
    values = [int(code) for code in range(codes.max() + 1)]
    numeric = kind is ColumnType.INTEGER
    dictionary = pl.Series(name, values if numeric else [f"v{value}" for value in values])
    return EncodedColumn(name, kind, codes.astype(np.int32), dictionary)


@pytest.fixture(scope="module")
def population():
    """age and job tell the class, each in part; shoe tells nothing; again is job once more."""
    rng = np.random.default_rng(7)
    age, job, shoe = rng.integers(0, 60, ROWS), rng.integers(0, 5, ROWS), rng.integers(0, 4, ROWS)
    ill = (rng.random(ROWS) < 0.1 + 0.5 * (age > 35) + 0.3 * (job > 2)).astype(int)
    columns = [
        column("age", age, ColumnType.INTEGER),
        column("job", job),
        column("again", job),
        column("shoe", shoe),
        column("ill", ill),
    ]
    schema = Schema(
        tuple(Column(c.name, Role.TARGET if c.name == "ill" else Role.QUASI_IDENTIFIER, c.type) for c in columns)
    )
    return EmbeddedPopulation(EncodedTable.of(columns), schema, SystemRandomness())


def steps_of(population, k=20, seed=1, requirement=None, **parameters):
    method = Blend(**{"guide": "bayes", **parameters})
    return method.decide(population, requirement or KAnonymity(k), SeededRandomness(seed))


def test_the_steps_are_public_bins_seats_counts_and_reasons(population):
    bins, seat, show, counts, reasons = steps_of(population, hide=False)
    assert [type(step) for step in (bins, seat, show, counts, reasons)] == [Bin, Seat, Show, AsCounts, Reasons]
    assert min(seat.sizes) >= 20
    assert sum(seat.sizes) == ROWS
    assert [group.rows for group in show.groups] == list(seat.sizes)
    assert all(form == Counts() for group in show.groups for form in group.forms)
    assert counts.cuts == bins.cuts


def test_chance_decides_the_numbers_of_groups_but_a_seed_repeats_them(population):
    one, again = steps_of(population)[1], steps_of(population)[1]
    assert np.array_equal(one.seats, again.seats)


def test_the_plan_keeps_no_score_and_no_seat(population):
    steps = steps_of(population)
    plan = ReleasePlan("blend", (), KAnonymity(20), population.schema, ROWS, steps)
    read = plan_from_json(plan_to_json(plan))
    assert read == plan
    (seat,) = (step for step in read.steps if isinstance(step, Seat))
    with pytest.raises(PlanError, match="Release the table again"):
        population.seat(seat)


def test_seats_of_other_rows_are_refused(population):
    with pytest.raises(PlanError, match="other rows"):
        population.seat(Seat((2,), np.zeros(2, np.int32)))


def test_blocks_give_the_same_groups_as_memory(population):
    blocks = BlockedEngine(70).population(population.table, population.schema, SeededRandomness(1))
    assert steps_of(blocks)[1] == steps_of(population)[1]
    assert np.array_equal(steps_of(blocks)[1].seats, steps_of(population)[1].seats)


def test_a_population_whose_sample_leaves_rows_out_is_refused(population):
    class Sampled(EmbeddedPopulation):
        def sample(self):
            return self.table.take(np.arange(100))

    sampled = Sampled(population.table, population.schema, SystemRandomness())
    with pytest.raises(ParameterError, match="looks at every row"):
        steps_of(sampled)


def test_a_table_without_a_target_is_refused(population):
    schema = Schema(tuple(c for c in population.schema.columns if c.role is not Role.TARGET))
    with pytest.raises(SchemaError, match="needs a target"):
        steps_of(EmbeddedPopulation(population.table, schema, SystemRandomness()))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"guide": "oracle"}, "guide must be one of"),
        ({"guide": object()}, "predict_proba"),
        ({"hide": 1}, "hide must be True or False"),
        ({"attributes": -1}, "attributes must be a number"),
        ({"scores": float("nan")}, "scores must be a number"),
    ],
)
def test_parameters_have_ranges(wrong, said):
    with pytest.raises(ParameterError, match=said):
        Blend(**wrong)


def test_any_classifier_may_guide_and_is_named(population):
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    for guide in (LogisticRegression(C=0.5), DecisionTreeClassifier(max_depth=3), "logistic", "forest"):
        before = repr(guide)
        steps = steps_of(population, guide=guide)
        assert min(steps[1].sizes) >= 20
        assert repr(guide) == before
    assert Blend(guide=LogisticRegression(C=0.5)).parameters()["guide"] == "LogisticRegression(C=0.5)"


@pytest.mark.parametrize("guide", ["forest", "boosting", "logistic", "bayes"])
def test_every_guide_gives_probabilities_of_rows_it_has_not_seen(population, guide):
    rng = np.random.default_rng(3)
    noise = rng.integers(0, 300, ROWS)  # almost a name: who has seen a row knows its class
    table = EncodedTable.of([column("noise", noise), column("ill", rng.integers(0, 2, ROWS))])
    found = guided(table, ["noise"], "ill", guide, SeededRandomness(1))
    assert np.allclose(found.scores.sum(axis=1), 1)
    assert abs(found.accuracy - 0.5) < 0.12


def test_rows_beyond_the_largest_part_are_told_as_well(population, monkeypatch):
    monkeypatch.setattr("incrowd.methods.blending.guide.LARGEST", 150)
    for guide in ("forest", "logistic"):
        found = guided(population.table, ["age", "job"], "ill", guide, SeededRandomness(1))
        assert np.allclose(found.scores.sum(axis=1), 1)
        assert found.accuracy > 0.6


def test_bins_are_round_and_finer_ones_contain_the_others_and_have_k_rows(population):
    target, age = population.table["ill"], population.table["age"]
    (coarse,) = public_bins(population.table, ["age", "job"], target, "class", 50).cuts
    assert coarse[0] == "age"
    assert any(30 <= cut <= 40 for cut in coarse[1])
    fine = fine_cuts(age, target, 50)
    assert {*bins_of(age, target, 50, bins="class")} < {*fine}
    rows = np.bincount(np.searchsorted(fine, age.numbers[age.codes[age.codes < age.missing_code]]))
    assert rows.min() >= 50


def test_what_is_said_twice_is_given_up_and_what_tells_is_not(population):
    names = ["age", "job", "again", "shoe"]
    gone = given_up([population.table[n] for n in names], population.table["ill"], np.arange(ROWS))
    assert len({"job", "again"} & set(gone)) <= 1
    assert "age" not in gone


def test_the_guide_has_the_last_word_on_hiding():
    def guide(left):
        return Guided(np.zeros((1, 2)), 0.9 if "b" in left else 0.8)

    whole = Guided(np.zeros((1, 2)), 0.9)
    assert hidden_names(["a", "b", "c"], ["c", "b"], guide, whole)[0] == ["c"]
    assert hidden_names(["a", "b", "c"], ["b"], guide, whole)[0] == []


def test_hidden_attributes_show_nothing_and_are_not_split(population):
    *_, show, _counts, reasons = steps_of(population)
    hidden = [name for name, splits in reasons.rows if splits == "hidden"]
    shown = show.groups[0].forms
    assert [n for n, form in zip(show.names, shown, strict=True) if form == Suppressed()] == hidden


def test_without_score_splits_the_score_is_never_split(population):
    reasons = steps_of(population, scores=0, hide=False)[-1]
    assert dict(reasons.rows)["the score"] == 0
    assert dict(steps_of(population, attributes=0, labels=0, hide=False)[-1].rows)["the score"] > 0


def test_a_class_rarer_than_k_is_told(population):
    told = dict(steps_of(population, k=200)[-1].facts)
    assert "rarest class" in told["warning"]
    assert "warning" not in dict(steps_of(population, k=5)[-1].facts)


def test_requirements_are_kept_inside_the_splits(population):
    requirement = asked_for("entropy-l=1.6", KAnonymity(5))
    judge = Judge.of(requirement, population)
    seats = steps_of(population, requirement=requirement)[1].seats
    evidence = judge.tally(judge.of_rows(population.table), seats, seats.max() + 1)
    assert judge.holds(evidence).all()
    assert len(evidence) > 1


def test_requirements_of_a_population_are_refused(population):
    with pytest.raises(ParameterError, match="another method"):
        steps_of(population, requirement=asked_for("k-map=3", KAnonymity(5)))


def test_rows_of_the_same_score_are_together_when_nothing_else_counts():
    score = np.repeat([0.1, 0.5, 0.9], 30)
    told = np.stack([1 - score, score], axis=1)
    features = RowFeatures([column("a", np.arange(90) % 2)], [False], np.ones(1), told, np.zeros(90, np.int32))
    made = split_rows(features, Judge(KAnonymity(30), (), ()), np.empty((90, 0), np.int64), Worth(0, 0, 1))
    assert made.count == 3
    assert [len(set(made.groups[i : i + 30].tolist())) for i in (0, 30, 60)] == [1, 1, 1]


def test_marginal_counts_are_those_of_the_table(population):
    engine = EmbeddedEngine()
    steps = steps_of(population, hide=False)
    plan = engine.settle(ReleasePlan("blend", (), KAnonymity(20), population.schema, ROWS, steps), population)
    totals = {}
    for group in {id(g.forms): g for g in plan.groups}.values():
        for member, rows in group.forms[plan.names.index("job")].members:
            totals[member] = totals.get(member, 0) + rows
    job = population.table["job"]
    assert totals == dict(zip(job.dictionary.to_list(), job.counts.tolist(), strict=False))


def test_plain_values_get_groups_that_are_not_parted_by_score(population):
    from incrowd.methods.release_forms import suited

    assert suited(Blend(attributes=2), "strict") == Blend(attributes=2, cuts="class", scores=0, groups="splits")
    assert suited(Blend(), "counts") == suited(Blend(), None) == Blend()


def test_large_tables_are_hidden_by_a_part_and_grown_by_pieces(population, monkeypatch):
    from incrowd.methods.blending import blend, guide

    for room in (blend, guide):
        monkeypatch.setattr(room, "LARGEST", 150)
    apart = steps_of(population, k=10, hide=True)
    assert min(apart[1].sizes) >= 10
    assert sum(apart[1].sizes) == ROWS
    monkeypatch.undo()
    whole = steps_of(population, k=10, hide=False)[1]
    monkeypatch.setattr(blend, "SMALL", 40)
    pieces = steps_of(population, k=10, hide=False)[1]
    assert len(set(zip(whole.seats.tolist(), pieces.seats.tolist(), strict=True))) == len(whole.sizes)
