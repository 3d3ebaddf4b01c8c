"""A release that an attack makes again is like the one it attacks: its form, its limits, its persons."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.attacks import minimality
from incrowd.attacks.minimality import all_releases
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.scene import Again, Scene
from incrowd.errors import InputError, ParameterError
from incrowd.tables.options import Outputs
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.encoded_table import OwnedTable
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.requirement import KAnonymity

JOBS = {"nurse": "care", "doctor": "care", "cook": "food", "waiter": "food"}
ROLES = {"quasi_identifiers": ["job", "age", "sex"], "target": "ill", "class_sensitive": False, "k": 5}


def people(rows: int = 160) -> pl.DataFrame:
    generator = np.random.default_rng(8)
    age = generator.integers(20, 80, rows)
    return pl.DataFrame(
        {
            "job": generator.choice(list(JOBS), rows),
            "age": age,
            "sex": generator.choice(["f", "m"], rows),
            "ill": np.where(age + generator.normal(0, 15, rows) > 50, "yes", "no"),
        }
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "job.csv").write_text("".join(f"{job};{group};*\n" for job, group in JOBS.items()))
    return tmp_path / "people.csv"


def scenes(table: Path, **asked: Any) -> list[Scene]:
    """The scene by the release as an object, by its plan alone, and by the certificate beside it."""
    out, plan = table.with_name("out.csv"), table.with_name("plan.json")
    made = release(table, to=out, outputs=Outputs(plan=plan, replace=True), **{**ROLES, **asked})
    trees = asked.get("hierarchies")
    return [
        open_scene(AttackRequest(made, table)),
        open_scene(AttackRequest(out, table, plan=plan, certificate={})),
        open_scene(AttackRequest(out, table, hierarchies=trees)),
    ]


def once_more(scene: Scene) -> pl.DataFrame:
    return scene.made(np.arange(scene.table.height), "once more").draft.frame


@pytest.mark.each(3)
@pytest.mark.parametrize(
    ("asked", "counted"),
    [
        ({"method": "infogain-mondrian", "form": "counts"}, True),
        ({"method": "blend"}, True),
        ({"method": "blend", "form": "strict"}, False),
        ({"method": "infogain-mondrian"}, False),
    ],
)
def test_it_has_the_form_of_the_release(table: Path, asked: dict[str, str], counted: bool) -> None:
    for scene in scenes(table, **asked):
        assert scene.released.counted is counted
        assert scene.read(scene.made(np.arange(scene.table.height), "once more")).counted is counted
        assert scene.split.released.counted is counted


def test_two_tables_are_made_again_as_counts(table: Path) -> None:
    made = release(table, to=table.with_name("pair.csv"), form="pair", method="mondrian", **ROLES)
    again = open_scene(AttackRequest(people(), table, plan=made.plan)).again
    assert again is not None
    assert again.form == "counts"


@pytest.mark.parametrize("form", [None, "counts"])
def test_without_plan_and_certificate_the_owner_says_the_form(table: Path, form: str | None) -> None:
    told = AttackRequest(people(), table, method="mondrian", form=form, **roles_of_attack())
    recipe = Recipe(method="mondrian", form=form, k=5)
    by_recipe = AttackRequest(people(), table, recipe=recipe, **roles_of_attack())
    for request in (told, by_recipe):
        shown = once_more(open_scene(request))
        assert shown["sex"].str.contains("f:").any() == (form == "counts")


def test_it_keeps_the_limits_of_the_release(table: Path) -> None:
    limits = {"weights": {"age": 3}, "at_most": {"job": 1}, "apart": {"sex": "*"}, "lose": "5%"}
    asked = {"method": "tdr", "hierarchies": {"job": table.with_name("job.csv")}, **limits}
    for scene in scenes(table, **asked):
        assert scene.again is not None
        assert scene.again.preferences == Preferences(**limits)
        shown = once_more(scene)
        assert set(shown["job"]) <= {*JOBS, *JOBS.values()}
        assert set(shown["sex"]) == {"f", "m"}
        free = replace(scene, again=replace(scene.again, preferences=Preferences()))
        assert None in set(once_more(free)["job"])  # it is hidden where nobody minds


def test_it_names_no_rare_value_where_the_release_does_not(table: Path) -> None:
    rare = people().with_columns(job=pl.Series(["bishop"] * 2 + people()["job"].to_list()[2:]))
    rare.write_csv(table)
    asked = {"method": "mondrian", "form": "counts", "quasi_identifiers": ["age", "sex", "job"]}
    for scene in scenes(table, rarest=3, **asked):
        assert not once_more(scene)["job"].str.contains("bishop").any()
    assert any(once_more(scene)["job"].str.contains("bishop").any() for scene in scenes(table, **asked))


def test_sets_that_stay_apart_are_in_the_plan_or_the_recipe_and_not_in_the_certificate(table: Path) -> None:
    apart = {"job": "nurse|cook,waiter"}
    release(table, to=table.with_name("out.csv"), method="mondrian", apart=apart, **ROLES)
    request = AttackRequest(table.with_name("out.csv"), table)
    assert open_scene(request).again is None
    told = open_scene(replace(request, recipe=Recipe(apart=apart)))
    assert told.again is not None
    assert "nurse" in set(once_more(told)["job"])


@pytest.mark.parametrize("limits", [[], {"apart": 3}])
def test_a_certificate_with_limits_that_are_none_is_damaged(table: Path, limits: Any) -> None:
    made = release(table, method="mondrian", **ROLES)
    damaged = table.with_name("damaged.json")
    damaged.write_text(json.dumps({**made.certificate, "limits": limits}))
    with pytest.raises(InputError, match="damaged"):
        open_scene(AttackRequest(made.table, table, certificate=damaged))


def test_the_population_of_persons_is_of_persons() -> None:
    visits = people().with_columns(who=pl.Series(np.arange(160) // 2))
    asked = {**ROLES, "require": "k-map=6", "population": pl.concat([visits, visits]), "person": "who"}
    made = release(visits, method="mondrian", **asked)
    again = open_scene(AttackRequest(made, visits, population=asked["population"])).again
    assert again is not None
    assert isinstance(again.people, OwnedTable)


@pytest.mark.slow
def test_small_tables_are_released_in_the_same_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of groups in which one attribute varies hide nothing, so they are no downcoding."""
    monkeypatch.setattr(minimality, "ROWS", 5)  # two groups, one of them larger than it must be
    counts, hiding, _ = all_releases(Again("mondrian", KAnonymity(2), form="counts"))
    assert any("f:" in (row[1] or "") for text in counts for row in text)
    stated = [text for text, tables in counts.items() if not tables & hiding]
    assert stated
    for text in stated:
        groups = {row[:2]: {other[2] for other in text if other[:2] == row[:2]} for row in text}
        for (age, sex), labels in groups.items():
            assert ("|" in (age or "")) + ("|" in (sex or "")) + (len(labels) > 1) < 2


def test_the_form_must_be_one() -> None:
    scene = open_scene(AttackRequest(people(), people(), method="mondrian", form="nothing", **roles_of_attack()))
    with pytest.raises(ParameterError, match="form must be one of"):
        once_more(scene)


def roles_of_attack() -> dict[str, Any]:
    return {"quasi_identifiers": ["job", "age", "sex"], "target": "ill", "requirement": "k=5"}
