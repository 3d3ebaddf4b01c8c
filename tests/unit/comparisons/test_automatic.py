"""The short comparison that chooses a method: the same for the same request, for whom it is for, and not by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons import automatic
from incrowd.comparisons.automatic import best_lead, choose, usual_candidates
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.persons import RowPersons
from incrowd.comparisons.subject import understand_table
from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.automatic import Auto
from incrowd.methods.catalog import find_method
from incrowd.tables.hierarchies.draft import draft_hierarchy
from incrowd.tables.recipe import Recipe, recipe_of
from incrowd.vocabulary.schema import Schema

KNOWN = ["age", "sex", "insurance"]
ASKED = Recipe(k=10, columns={"readmitted": {"role": "target"}})


def candidates(*names):
    return tuple(map(Choice.of, names))


@pytest.fixture(scope="module")
def patients():
    return understand_table(make_patients(300), target="readmitted", quasi_identifiers=KNOWN)


@pytest.fixture(scope="module")
def crossed():
    """One attribute is the class; one of two values and one of many tell nothing, and medians cut the latter."""
    chance = np.random.default_rng(1)
    a, b, noise = chance.integers(0, 2, 400), chance.integers(0, 2, 400), chance.integers(0, 300, 400)
    frame = pl.DataFrame({"a": a, "b": b, "noise": noise, "ill": np.where(a == 1, "yes", "no")})
    return understand_table(frame, target="ill", quasi_identifiers=["a", "b", "noise"])


def asked_of_crossed(**more):
    options: Any = {"target": "ill", "k": 60, **more}
    return recipe_of(options)


def test_what_shows_the_class_wins_over_what_cuts_where_it_says_nothing(crossed):
    chosen = choose(crossed, candidates("mondrian", "infogain-mondrian"), asked_of_crossed(), Auto("c45"), seed=1)
    assert chosen.choice.method == "infogain-mondrian"
    assert chosen.reached == pytest.approx(1.0)
    assert chosen.unprotected == pytest.approx(1.0)
    assert not chosen.cut_short
    assert str(chosen).startswith(
        "auto took infogain-mondrian: accuracy 100.0 % for C4.5, 15 splits of 400 rows, 2 candidates; the table "
        "itself 100.0 %; "
    )


def test_a_clear_winner_is_taken_whatever_the_order_and_that_is_said(crossed):
    chosen = choose(crossed, candidates("mondrian", "infogain-mondrian"), asked_of_crossed(), Auto("c45"), seed=1)
    assert (chosen.usual, chosen.choice.method) == ("mondrian", "infogain-mondrian")
    assert "mondrian, the usual choice, would cost " in str(chosen)
    chosen = choose(crossed, candidates("infogain-mondrian", "mondrian"), asked_of_crossed(), Auto("c45"), seed=1)
    assert (chosen.usual, chosen.choice.method) == ("infogain-mondrian", "infogain-mondrian")
    assert "the second best, mondrian, would cost " in str(chosen)


def splits_of(rows, accuracies, seed):
    """What methods reach on fifteen splits of some rows, each of which a method tells right by chance, as it does."""
    chance = np.random.default_rng(seed)
    right = chance.random((len(accuracies), rows)) < np.array(accuracies)[:, None]
    tested = [part for _ in range(5) for part in np.array_split(chance.permutation(rows), 3)]
    return {f"method {place}": [own[part].mean() for part in tested] for place, own in enumerate(right)}


def test_noise_of_splits_does_not_change_the_choice_of_eight():
    chance = np.random.default_rng(1)
    clear = 0
    for _ in range(200):
        values = {f"method {place}": list(0.8 + 0.05 * chance.standard_normal(15)) for place in range(8)}
        best = max(values, key=lambda method: sum(values[method]))
        clear += best_lead(values, 0.5).is_clear
        moved = {method: [one + 0.1 * (method == best) for one in own] for method, own in values.items()}
        assert best == "method 0" or best_lead(moved, 0.5).method == best
    assert clear <= 200 / 20


def test_noise_of_rows_rarely_changes_the_choice_and_a_clear_winner_does():
    equal = [best_lead(splits_of(120, [0.8, 0.8], seed), 0.5) for seed in range(300)]
    assert sum(lead.is_clear for lead in equal) < 0.25 * 300
    for seed in range(100):
        lead = best_lead(splits_of(600, [0.7, 0.7, 0.9, 0.8], seed), 0.5)
        assert (lead.method, lead.is_clear) == ("method 2", True)
        assert lead.value == pytest.approx(0.2, abs=0.08)


def test_one_split_says_nothing_and_a_clear_lead_goes_before_a_larger_one():
    assert best_lead({"usual": [0.5]}, 0.5) is None
    assert not best_lead({"usual": [0.1], "other": [0.9]}, 0.5).is_clear
    both = best_lead({"usual": [0.5] * 4, "wild": [0.9, 0.1, 0.95, 0.9], "sure": [0.6] * 4}, 0.5)
    assert (both.method, both.is_clear) == ("sure", True)


def test_the_order_has_every_usual_candidate_in_every_form_and_others_come_last(patients):
    schema = patients.schema
    assert list(map(str, usual_candidates(schema, "strict")))[:2] == ["blend(form='strict')", "kactus-plus"]
    assert usual_candidates(schema, "pair")[0].method == "blend"
    for form in (None, "counts", "strict"):
        names = list(map(str, usual_candidates(schema, form)))
        assert names == [one for one in automatic.PREFERRED if one in names]
    age = replace(schema["age"], hierarchy=draft_hierarchy(patients.table["age"]))
    named = Schema(tuple(age if one.name == "age" else one for one in schema.columns))
    assert [one.method for one in usual_candidates(named)][-1] == "iack"


def test_a_bound_on_purity_reaches_the_trials(crossed):
    chosen = choose(crossed, candidates("mondrian", "infogain-mondrian"), asked_of_crossed(purest=0.7), Auto("c45"), 1)
    assert chosen.reached < 0.95


@pytest.mark.slow
def test_the_same_request_has_the_same_choice_and_a_certificate_has_no_figures(patients):
    both = [choose(patients, candidates("kactus-plus", "mondrian"), ASKED, Auto("nb"), seed=5) for _ in range(2)]
    assert both[0] == both[1]
    assert both[0].to_json() == {
        "by": "auto",
        "among": ["kactus-plus", "mondrian"],
        "learners": ["nb"],
        "measure": "accuracy",
    }


def test_the_clock_ends_it_and_that_is_said(patients, monkeypatch):
    ticks = iter(range(1000))
    monkeypatch.setattr(automatic, "monotonic", lambda: float(next(ticks)))
    named = candidates("kactus-plus", "mondrian", "infogain-mondrian")
    chosen = choose(patients, named, ASKED, Auto("nb", seconds=3), seed=1)
    assert chosen.cut_short
    assert chosen.untried == ("infogain-mondrian",)
    assert str(chosen).endswith("; time ran out before infogain-mondrian could be tried.")
    ticks = iter(range(1000))
    later = choose(patients, named, ASKED, Auto("nb", seconds=7), seed=1)
    assert (later.untried, later.splits) == ((), 1)
    assert str(later).endswith("so another run may choose otherwise.")


@pytest.mark.slow
def test_all_are_tried_on_the_same_splits(patients):
    told = []
    named = candidates("kactus-plus", "mondrian", "infogain-mondrian", "kactus")
    chosen = choose(patients, named, ASKED, Auto("nb"), 1, told.append)
    assert {words: told.count(words) for words in told} == {
        f"trying {one}": 15 for one in ("unprotected", *map(str, named))
    }
    assert chosen.splits == 15


def test_persons_are_in_one_part_and_large_tables_are_drawn_from(patients, monkeypatch):
    monkeypatch.setattr(automatic, "MOST_ROWS", 120)
    owners = RowPersons("patient", (np.arange(300) // 3).astype(np.int32))
    chosen = choose(replace(patients, persons=owners), candidates("kactus-plus"), ASKED, Auto("nb"), seed=1)
    assert chosen.rows == 120
    assert chosen.choice.method == "kactus-plus"
    assert chosen.lead is None


def test_what_cannot_be_done_is_left_out_and_if_nothing_can_that_is_said(patients):
    few = Recipe(k=120, columns=ASKED.columns)
    with pytest.raises(RequirementError, match=r"auto: no candidate can release a part of the table: .* Name a method"):
        choose(patients, candidates("kactus-plus"), replace(few, k=290), Auto("nb"), seed=1)


@pytest.mark.slow
def test_a_measure_for_rare_classes_may_be_named(patients):
    chosen = choose(patients, candidates("kactus-plus", "mondrian"), ASKED, Auto("nb", "balanced-accuracy"), seed=1)
    assert "balanced accuracy" in str(chosen)


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"learners": ()}, "at least one learner"),
        ({"seconds": 0}, "seconds is a number above 0"),
        ({"seconds": True}, "seconds is a number above 0"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(parameters, why):
    with pytest.raises(ParameterError, match=why):
        Auto(**parameters)


def test_auto_is_no_method_to_be_compared():
    assert find_method("auto").name == "auto"
    with pytest.raises(ParameterError, match="is itself a comparison"):
        Choice.of("auto")
