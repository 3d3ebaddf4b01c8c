"""Comparisons where a person has several rows: persons are split, released and counted."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import GroupKFold, KFold

import incrowd
from incrowd.comparisons import trial as trials
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.comparison import COLUMNS
from incrowd.comparisons.datasets.visits import PERSON, TARGET, make_visits
from incrowd.comparisons.persons import PersonQuality, RowPersons, person_quality, pooled_error
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.protocol import KFold as Folds
from incrowd.comparisons.releasing import risk_of
from incrowd.comparisons.subject import understand_table
from incrowd.comparisons.summary import Summary, noise
from incrowd.comparisons.trial import Laboratory, Setup, Trial
from incrowd.errors import InputError, ParameterError, SchemaError
from incrowd.vocabulary.persons import ORDER
from support.oracle_persons import Row, known_rows_k, linked_k

VISITS = make_visits(150)
KNOWN = ["sex", "birth_year", "ward", "days"]


def ask(table=VISITS, **more):
    usual = {"methods": ["mondrian"], "ks": [5], "learners": ["nb"], "protocol": "2-fold", "jobs": 1}
    usual |= {"quasi_identifiers": KNOWN, "target": TARGET, "person": PERSON}
    return incrowd.compare(table, **{**usual, **more})


def subject(table=VISITS, **more):
    return understand_table(table, target=TARGET, quasi_identifiers=KNOWN, person=PERSON, **more)


@pytest.fixture(scope="module")
def compared():
    return ask(methods=["mondrian", "kactus-plus"], ks=[5, 20], learners=["nb", "c45"])


def test_releases_keep_k_persons_and_both_accuracies_are_told(compared):
    assert set(compared.results["status"]) == {"done"}
    frame = compared.to_frame()
    assert frame.columns == [*itertools.takewhile(lambda name: name != "status", COLUMNS), "person_accuracy", "status"]
    ours = frame.filter(pl.col("k").is_not_null())
    assert (ours["smallest_group"] >= ours["k"]).all()
    assert frame["person_accuracy"].is_between(0, 1).all()
    assert (frame["person_accuracy"] != frame["value"]).any()
    whole = compared.results.group_by("method", "k", "learner").agg(pl.col("test_persons").sum())
    assert set(whole["test_persons"]) == {150}
    assert compared.persons == 150
    interval = compared.summary.cells[0].interval
    assert interval.kind == "persons drawn anew, 150 tested"
    assert interval.low < interval.estimate < interval.high


def test_only_persons_to_learn_from_are_released_and_no_method_sees_who_they_are(monkeypatch):
    """The year of birth names the person here, so the released frame tells who is in it."""
    named = VISITS.with_columns(birth_year=VISITS[PERSON].rank("dense").cast(pl.Int64))
    table, seen = subject(named), []
    release = trials.release_rows

    def watched(encoded, frame, schema, *further, owners, **more):
        seen.append((set(frame["birth_year"]), frame.columns, len(set(owners.tolist()))))
        return release(encoded, frame, schema, *further, owners=owners, **more)

    monkeypatch.setattr(trials, "release_rows", watched)
    laboratory = Laboratory(table, Setup(Folds(3)))
    everybody = set(named["birth_year"])
    for fold in range(3):
        laboratory.run(Trial(Choice.of("mondrian"), 5, 0, fold, ("nb",)))
        learned, columns, persons = seen[-1]
        tested = set(table.frame["birth_year"].gather(laboratory.splits[0, fold].test))
        assert not learned & tested
        assert learned | tested == everybody
        assert persons == len(learned)
        assert PERSON not in columns


def test_how_wrong_a_split_by_rows_is_stands_beside(compared):
    errors = compared.row_split_errors
    pairs = [(error.by_rows.method, error.by_rows.learner) for error in errors]
    assert {method for method, _ in pairs} == {"unprotected", compared.recommendation.method or "kactus-plus"}
    assert {learner for _, learner in pairs} == {"nb", "c45"}
    for words in (compared.page(), compared.markdown()):
        assert "How wrong a split by rows is" in words
        assert "by rows (wrong)" in words
        assert "ean accuracy over persons of C4.5" in words
        assert "150 persons" in words
    assert "persons of patient\\_id stay in one part" in compared.markdown()
    assert "only persons to learn from are released" in compared.markdown()
    alone = ask(person=None, drop=[PERSON])
    assert alone.row_split_errors == ()
    assert alone.over_persons is None
    assert alone.to_frame().columns == list(COLUMNS)
    assert "split by rows" not in alone.page() + alone.markdown()


def test_what_is_remembered_of_persons_is_not_learned():
    """Everybody has a class by chance, and a code that names them: by rows all of it is learned, by persons none."""
    rng = np.random.default_rng(5)
    person = np.repeat(np.arange(200), 5)
    label = rng.integers(0, 2, 200)[person]
    rows = pl.DataFrame({PERSON: person, "code": person * 7 % 200, TARGET: np.where(label == 1, "yes", "no")})
    found = ask(rows, quasi_identifiers=["code"], methods=["kactus-plus"], learners=["tree"], ks=[20])
    (own, _) = found.row_split_errors
    assert own.by_persons.value < 0.65
    assert own.by_rows.value > 0.95
    assert own.too_good == pytest.approx(own.by_rows.value - own.by_persons.value)


@pytest.mark.slow
def test_a_published_tree_and_linked_releases_are_compared_by_persons():
    named = ["kadet", "whole-histories", "known-rows(rows=2)", "blend", "tdr"]
    found = ask(methods=named, quasi_identifiers=["sex", "ward"]).to_frame().filter(pl.col("k").is_not_null())
    assert found["method"].to_list() == named
    assert set(found["status"]) == {"done"}
    assert (found["smallest_group"] >= 5).all()
    assert found["average_risk"].is_between(0, 1 / 5).all()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
@pytest.mark.parametrize(
    ("more", "words"),
    [
        (
            {"protocol": KFold(3, shuffle=True, random_state=1)},
            "persons of 'patient_id' would be learned from and tested",
        ),
        ({"groups": "ward"}, "would be learned from and tested on .*rows of the same ward stay in one part"),
        ({"time": "visit_date", "protocol": None}, "would be learned from and tested on .*in the order of visit_date"),
        ({"protocol": "first 100"}, "The first rows may be of persons who have later ones, too"),
        ({"protocol": "400-fold"}, "150 persons cannot be dealt to 400 parts"),
        ({"person": None, "measure": "person-accuracy"}, "A mean over persons needs to know whose rows they are"),
        ({"person": None, "person_ids": "exact"}, "Whose rows are they?"),
        ({"person": "sex", "missing_persons": "keep"}, "missing_persons is one of refuse, drop, together"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_splits_that_mix_persons_are_refused(more, words):
    with pytest.raises(ParameterError, match=words):
        ask(**more)


def test_columns_that_cannot_say_whose_row_it_is_are_refused():
    with pytest.raises(SchemaError, match="says whose row it is, so it is no class and no quasi-identifier"):
        ask(quasi_identifiers=[PERSON, *KNOWN])
    with pytest.raises(InputError, match="patient_id"):
        ask(person="patient")


@pytest.mark.slow
def test_splits_that_keep_persons_apart_are_taken():
    assert ask(protocol=GroupKFold(3)).splitting.endswith("persons of patient_id stay in one part")
    within = VISITS.with_columns(half=pl.col(PERSON).hash(seed=1) % 4, first=pl.col("visit_date").min().over(PERSON))
    by_half = ask(within, groups="half", drop=["half", "first"])
    assert "rows of the same half stay in one part" in by_half.splitting
    assert by_half.row_split_errors
    assert ask(within, time="first", drop=["half", "first"], protocol=None).row_split_errors


def test_rows_of_nobody_and_spellings_of_persons_are_as_in_a_release():
    gaps = VISITS.with_columns(pl.when(pl.int_range(pl.len()) > 9).then(PERSON).alias(PERSON))
    with pytest.raises(SchemaError, match="10 rows have no person"):
        ask(gaps)
    dropped = subject(gaps, missing_persons="drop")
    assert dropped.table.height == VISITS.height - 10
    assert dropped.persons.codes.tolist() == (gaps[10:][PERSON].rank("dense").cast(pl.Int64) - 1).to_list()
    together = subject(gaps, missing_persons="together")
    assert together.table.height == VISITS.height
    assert len(set(together.persons.codes[:10].tolist())) == 1
    by_group = subject(gaps, missing_persons="drop", groups="ward")
    assert len(by_group.split_by.codes) == VISITS.height - 10


def test_fewer_rows_are_those_of_fewer_persons():
    some = subject(rows=200)
    assert 150 < some.table.height <= 200
    kept = some.persons
    sizes = VISITS.group_by(PERSON).len()
    assert sorted(np.bincount(kept.codes).tolist()) != sorted(sizes["len"].to_list())
    assert set(np.bincount(kept.codes).tolist()) <= set(sizes["len"].to_list())
    assert any("of persons drawn at random" in str(notice) for notice in some.notices)


def test_a_recipe_says_whose_rows_they_are():
    recipe = incrowd.Recipe(
        k=5, columns={PERSON: {"role": "person"}, **{n: {"role": "quasi-identifier"} for n in KNOWN}}
    )
    found = ask(person=None, quasi_identifiers=None, recipe=recipe, ks=None)
    assert found.persons == 150
    assert found.quasi_identifiers == tuple(name for name in VISITS.columns if name in KNOWN)


def test_groups_are_as_large_as_they_have_persons():
    frame = pl.DataFrame({"ward": ["a", "a", "a", "b", "b", "b"]})
    owners = np.array([0, 0, 0, 1, 2, 2], np.int32)
    risk = risk_of(frame, owners=owners)
    assert (risk.groups, risk.smallest, risk.largest) == (2, 1, 1.0)
    assert risk.average == pytest.approx((3 / 1 + 3 / 2) / 6)
    each = risk_of(frame, owners=np.arange(6, dtype=np.int32))
    assert each == risk_of(frame)


def test_repetitions_make_nothing_surer_and_folds_add_up():
    assert pooled_error([(0, 0.02)]) == pytest.approx(0.02)
    assert pooled_error([(0, 0.02), (0, 0.02)]) == pytest.approx(0.02 / 2**0.5)
    assert pooled_error([(0, 0.02), (1, 0.02)]) == pytest.approx(0.02)


def test_an_interval_of_persons_is_wider_where_rows_of_a_person_are_right_together():
    persons = np.repeat(np.arange(100, dtype=np.int32), 9)
    right = (np.arange(100) % 10 < 7)[persons]
    together = person_quality(right, persons)
    assert together == PersonQuality(0.7, together.accuracy_error, together.person_accuracy_error, 100)
    assert together.accuracy_error == pytest.approx((0.7 * 0.3 / 100) ** 0.5, rel=0.2)
    apart = person_quality(right, np.arange(900, dtype=np.int32))
    assert apart.accuracy_error == pytest.approx((0.7 * 0.3 / 900) ** 0.5, rel=0.2)


def test_several_processes_and_a_folder_give_the_same(tmp_path):
    first = ask(to=tmp_path / "kept")
    again = ask(to=tmp_path / "kept", jobs=2)
    known = [name for name in first.results.columns if not name.endswith("seconds")]
    assert first.results.select(known).equals(again.results.select(known))
    assert [one.too_good for one in first.row_split_errors] == [one.too_good for one in again.row_split_errors]
    lines = (tmp_path / "kept" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(first.runs) + len(first.row_runs)


def test_noise_between_methods_counts_persons(compared):
    one, other = Summary.of(compared.runs).rivals("nb", 5)
    assert noise(one, other) == pytest.approx(1.96 * (one.person_error**2 + other.person_error**2) ** 0.5, rel=1e-3)


def test_persons_are_taken_without_gaps():
    some = RowPersons("patient", np.array([3, 1, 0, 3, 2], np.int32)).take(np.array([0, 1, 3]))
    assert some.codes.tolist() == [1, 0, 1]
    assert some.count == 2


def test_the_protocol_says_that_persons_are_drawn():
    laboratory = Laboratory(subject(), Setup(FixedSplit()))
    drawn = "tested on 33 % of the persons, drawn at random, stratified"
    assert laboratory.splitting == f"{drawn}; persons of {PERSON} stay in one part"


# persons who can be followed


FOLLOWED = [
    ({}, lambda rows: linked_k(rows)),
    ({"known_rows": 2}, lambda rows: known_rows_k(rows, 2)),
    ({"known_rows": 1, "count_known": True}, lambda rows: known_rows_k(rows, 1, count_known=True)),
]


@pytest.mark.each(3)
@pytest.mark.parametrize(
    ("known", "counted"), FOLLOWED, ids=["whole histories", "two rows", "one row and their number"]
)
def test_histories_are_counted_where_persons_can_be_followed(known, counted, monkeypatch):
    """What a comparison calls the smallest group is what brute force counts of each release it makes."""
    counts, real = [], trials.release_rows

    def seen(*arguments, **named):
        made = real(*arguments, **named)
        cells = made.draft.frame.select(KNOWN).rows()
        rows = [Row(int(named["owners"][at]), cell) for at, cell in zip(made.draft.origin.tolist(), cells, strict=True)]
        counts.append((made.risk.smallest, counted(rows)))
        return made

    monkeypatch.setattr(trials, "release_rows", seen)
    compared = ask(methods=None, keep_link=True, **known)
    assert len(counts) >= 2
    assert all(told == by_hand >= 5 for told, by_hand in counts)
    methods = set(compared.results["method"]) - {"unprotected", "majority"}
    assert {name.partition("(")[0] for name in methods} == {"known-rows" if known else "whole-histories"}


def test_a_recipe_says_that_persons_can_be_followed_and_dates_become_days():
    recipe = incrowd.Recipe(columns={PERSON: {"role": "person"}}, keep_link=True, order="visit_date")
    known = ["sex", "ward", "visit_date"]
    compared = ask(recipe=recipe, person=None, methods=None, quasi_identifiers=known)
    assert "whole-histories" in set(compared.results["method"])
    followed = understand_table(
        VISITS, target=TARGET, quasi_identifiers=known, person=PERSON, keep_link=True, order="visit_date"
    )
    first = followed.frame.group_by(pl.Series(followed.persons.codes)).agg(pl.col("visit_date").min())
    assert set(first["visit_date"]) == {0}
    assert followed.order.name == ORDER
    assert followed.take(np.arange(9)).order.codes.tolist() == followed.order.codes[:9].tolist()


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"methods": ["mondrian"]}, "mondrian does not promise"),
        ({"methods": ["known-rows(rows=1)"]}, "does not promise"),
        ({"person": None}, "Whose rows are they"),
        ({"keep_link": False, "known_rows": 1}, "keep_link"),
        ({"order": "when"}, "no column 'when'"),
    ],
)
def test_what_is_asked_of_followed_persons_fits(more, told):
    with pytest.raises((ParameterError, InputError), match=told):
        ask(**{"methods": None, "keep_link": True, **more})


@pytest.mark.parametrize("more", [{"with_table": "visits.csv"}, {"key_column": PERSON}])
def test_a_comparison_is_of_one_table(more):
    with pytest.raises(ParameterError, match="takes one table"):
        ask(**more)
