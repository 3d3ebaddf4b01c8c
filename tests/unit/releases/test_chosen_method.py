"""A release whose method is chosen on the table: what the user asks for narrows it, and what was chosen is told."""

from __future__ import annotations

import json

import pytest

import incrowd
from incrowd.comparisons.datasets.invented import make_patients
from incrowd.errors import ParameterError
from incrowd.releases import automatic
from incrowd.releases.job import Job
from incrowd.tables.recipe import Recipe, read_recipe, recipe_of

PATIENTS = make_patients(240)
KNOWN = ["age", "sex", "insurance"]
ASKED = {
    "quasi_identifiers": KNOWN,
    "target": "readmitted",
    "drop": [name for name in PATIENTS.columns if name not in (*KNOWN, "readmitted")],
    "class_sensitive": False,
    "k": 8,
}


def release(**more):
    return incrowd.release(PATIENTS, method="auto", **{**ASKED, "parameters": {"learners": "nb"}, **more})


@pytest.mark.slow
def test_what_was_chosen_is_in_the_certificate_without_figures_and_in_a_notice_with_them():
    made = release(form="strict", at_most={}, run=incrowd.Run(seed=3))
    chosen = made.certificate["method"]["chosen"]
    assert chosen["by"] == "auto"
    assert made.certificate["method"]["name"] == made.plan.method
    assert set(chosen) == {"by", "among", "learners", "measure"}
    assert "blend(form='strict')" in chosen["among"]
    assert not [one for one in chosen["among"] if "counts" in one or one == "blend"]
    (notice,) = [one for one in made.report.notices if one.code == "method-chosen"]
    assert notice.message.startswith("auto took ")
    assert "; it is the usual choice, and the lead of " in notice.message
    assert notice.message not in json.dumps(made.certificate)


def test_limits_and_forms_narrow_the_candidates(monkeypatch):
    seen = []

    def first(subject, candidates, asked, *_):
        seen.append([str(one) for one in candidates])
        raise ParameterError("enough")

    monkeypatch.setattr(automatic, "choose", first)
    for more in ({}, {"form": "counts"}, {"form": "pair"}, {"lose": 0.05}, {"redraw": 0}, {"weights": {"age": 2}}):
        with pytest.raises(ParameterError, match="enough"):
            release(**more)
    everything, counts, pair, lose, exact, weighed = seen
    assert {"kactus-plus", "blend", "infogain-mondrian(form='counts')"} <= set(everything)
    assert {"blend", "kactus-plus(form='counts')"} <= set(counts)
    assert "kactus-plus" not in counts
    assert "blend(form='pair')" in pair
    assert "tdr" not in pair
    assert "kactus-plus" in lose
    assert "blend" not in lose
    assert set(exact) == {"blend", "kactus-plus(form='counts')", "infogain-mondrian(form='counts')"}
    assert {"kactus-plus", "blend"} <= set(weighed)


def test_all_that_is_asked_for_reaches_the_trials(monkeypatch):
    def look(subject, candidates, asked, auto, *_):
        assert asked.requirement.smallest_group == 8
        assert "confidence" in str(asked.requirement)
        assert asked.rarest == 5
        assert subject.persons is not None
        assert auto.seconds == 7
        raise ParameterError("seen")

    monkeypatch.setattr(automatic, "choose", look)
    frame = PATIENTS.with_columns(who=PATIENTS["age"].cast(str))
    with pytest.raises(ParameterError, match="seen"):
        incrowd.release(frame, method="auto", **ASKED, purest=0.9, rarest=5, person="who", parameters={"seconds": 7})


@pytest.mark.slow
def test_of_a_table_in_blocks_drawn_rows_choose_and_always_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(automatic, "MOST_ROWS", 200)
    seen = []

    def look(subject, candidates, *asked):
        seen.append(subject.frame)
        return choose(subject, candidates[:1], *asked)

    choose = automatic.choose
    monkeypatch.setattr(automatic, "choose", look)
    (tmp_path / "parts").mkdir()
    PATIENTS.write_parquet(tmp_path / "parts" / "a.parquet")
    asked = {**ASKED, "parameters": {"learners": "nb"}, "outputs": incrowd.Outputs(replace=True)}
    made = [incrowd.release(tmp_path / "parts", method="auto", to=tmp_path / "r.parquet", **asked) for _ in range(2)]
    assert made[0].plan.method == made[1].plan.method
    assert [one.height for one in seen] == [200, 200]
    assert seen[0].equals(seen[1])
    assert made[0].certificate["rows"] == {"input": 240, "released": 240, "left_out": 0}


def test_where_nothing_can_be_compared_it_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="auto compares by what learners learn of the class"):
        release(target=None, drop=[*ASKED["drop"], "readmitted"], class_sensitive=None)
    with pytest.raises(ParameterError, match="none leaves the executors"):
        Job(tmp_path, Recipe(method="auto"), run=incrowd.Run(engine="spark")).check()
    with pytest.raises(ParameterError, match="auto groups rows, and keep_link takes groups of persons"):
        recipe_of({"method": "auto", "person": "who", "keep_link": True})
    with pytest.raises(ParameterError, match="auto has no parameter 'learner'"):
        release(parameters={"learner": "nb"})
    with pytest.raises(ParameterError, match="The measure must be one of"):
        release(parameters={"learners": "nb", "measure": "beauty"})


def test_a_recipe_may_leave_the_method_to_it(tmp_path):
    (tmp_path / "recipe.yaml").write_text("method: auto\nparameters: {learners: [nb], measure: auc}\nk: 8\n")
    recipe = read_recipe(tmp_path / "recipe.yaml")
    assert (recipe.method, recipe.parameters) == ("auto", {"learners": ["nb"], "measure": "auc"})
