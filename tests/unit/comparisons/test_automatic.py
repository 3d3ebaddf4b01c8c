"""The short comparison that chooses a method: the same for the same request, for whom it is for, and not for ever."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.comparisons import recommend
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.persons import RowPersons
from incrowd.comparisons.recommend import choose
from incrowd.comparisons.subject import understand_table
from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.automatic import Auto
from incrowd.methods.catalog import find_method
from incrowd.tables.recipe import Recipe, recipe_of

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
    assert [name for name, _ in chosen.reached] == ["infogain-mondrian", "mondrian"]
    assert chosen.reached[0][1] == pytest.approx(1.0)
    assert chosen.unprotected == pytest.approx(1.0)
    assert not chosen.cut_short
    assert str(chosen).startswith(
        "auto took infogain-mondrian: accuracy 100.0 % for C4.5, 15 splits of 400 rows, 2 candidates; the table "
        "itself 100.0 %; the second best, mondrian, would cost "
    )


def test_a_bound_on_purity_reaches_the_trials(crossed):
    chosen = choose(crossed, candidates("mondrian", "infogain-mondrian"), asked_of_crossed(purest=0.7), Auto("c45"), 1)
    assert chosen.reached[0][1] < 0.95


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
    monkeypatch.setattr(recommend, "monotonic", lambda: float(next(ticks)))
    named = candidates("kactus-plus", "mondrian", "infogain-mondrian")
    chosen = choose(patients, named, ASKED, Auto("nb", seconds=3), seed=1)
    assert chosen.cut_short
    assert chosen.untried == ("infogain-mondrian",)
    assert str(chosen).endswith("; time ran out before infogain-mondrian could be tried.")
    ticks = iter(range(1000))
    later = choose(patients, named, ASKED, Auto("nb", seconds=7), seed=1)
    assert (later.untried, later.splits) == ((), 1)
    assert str(later).endswith("so another run may choose otherwise.")


def test_the_first_round_is_for_all_and_the_next_for_the_best(patients):
    told = []
    named = candidates("kactus-plus", "mondrian", "infogain-mondrian", "kactus")
    chosen = choose(patients, named, ASKED, Auto("nb"), 1, told.append)
    assert {str(one) for one in named} == {words.removeprefix("trying ") for words in told} - {"unprotected"}
    assert len(chosen.reached) == 3
    assert chosen.splits == 15
    assert len(told) == 3 * 5 + 4 * 3 * 4


def test_persons_are_in_one_part_and_large_tables_are_drawn_from(patients, monkeypatch):
    monkeypatch.setattr(recommend, "MOST_ROWS", 120)
    owners = RowPersons("patient", (np.arange(300) // 3).astype(np.int32))
    chosen = choose(replace(patients, persons=owners), candidates("kactus-plus"), ASKED, Auto("nb"), seed=1)
    assert chosen.rows == 120
    assert chosen.reached[0][0] == "kactus-plus"


def test_what_cannot_be_done_is_left_out_and_if_nothing_can_that_is_said(patients):
    few = Recipe(k=120, columns=ASKED.columns)
    with pytest.raises(RequirementError, match=r"auto: no candidate can release a part of the table: .* Name a method"):
        choose(patients, candidates("kactus-plus"), replace(few, k=290), Auto("nb"), seed=1)


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
