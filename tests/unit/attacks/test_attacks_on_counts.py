"""Attacks that put counts together: small cases by hand, and what they cannot do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.attacks.catalog import ATTACKS
from incrowd.attacks.membership import _log_likelihood, deal, hits
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.run import attack_release, run_attack
from incrowd.attacks.scene import Again, Scene
from incrowd.attacks.two_releases import _difference
from incrowd.risk.boxes import Released, read_released
from incrowd.vocabulary.requirement import KAnonymity
from support.planted import PLANTED, WORDS, counted, decoded, opened, words

NEW = ["shadow likelihood", "differencing", "decoded rows", "reconstruction from counts"]


def patients(rows: int = 240) -> pl.DataFrame:
    generator = np.random.default_rng(5)
    age = generator.integers(20, 80, rows)
    return pl.DataFrame(
        {
            "age": age,
            "job": generator.choice(["cook", "nurse", "clerk", "canary"], rows),
            "ill": np.where(age + generator.normal(0, 10, rows) > 50, "yes", "no"),
        }
    )


ASKED: dict[str, Any] = {"quasi_identifiers": ["age", "job"], "target": "ill", "k": 5, "class_sensitive": False}


def scene_of(**asked: Any) -> Scene:
    made = release(patients(), **{**ASKED, **asked})
    return open_scene(AttackRequest(made, patients(), seed=1))


def alone() -> pl.DataFrame:
    """Patients with towns and bands as well: most of them are alone."""
    return pl.concat([patients(), words(1, 240).drop("job", "ill")], how="horizontal")


@pytest.mark.each(3)
@pytest.mark.parametrize("name", NEW)
def test_each_runs_on_a_release_as_counts(name: str) -> None:
    asked = {**ASKED, "quasi_identifiers": ["age", "job", "town", "band"]}
    made = release(alone(), method="infogain-mondrian", form="counts", **asked)
    one = run_attack(ATTACKS[name], open_scene(AttackRequest(made, alone(), seed=1)))
    assert one.verdict != "not run", one.words
    assert one.measured is not None
    assert one.control is not None
    assert one.interval is not None
    assert one.interval[0] <= one.measured <= one.interval[1]
    assert np.isfinite([one.measured, one.control, *one.interval, *one.details.values()]).all()
    assert "canary" not in str(one)


@pytest.mark.slow
def test_exact_counts_give_the_record_of_whoever_leaves() -> None:
    counts = run_attack(ATTACKS["differencing"], scene_of(method="mondrian", form="counts", redraw=0))
    assert (counts.verdict, counts.measured) == ("leak", 1.0)
    drawn = run_attack(ATTACKS["differencing"], scene_of(method="mondrian", form="counts"))
    assert drawn.verdict == "no leak found"
    nothing = run_attack(ATTACKS["differencing"], scene_of(method="mondrian", k=120))
    assert nothing.measured == 0.0


def test_a_person_leaves_with_all_rows() -> None:
    visits = patients().with_columns(who=pl.Series(np.arange(240) // 2))
    made = release(visits, method="mondrian", form="counts", redraw=0, person="who", **ASKED)
    one = run_attack(ATTACKS["differencing"], open_scene(AttackRequest(made, visits, seed=1)))
    assert one.verdict == "leak"
    assert one.measured is not None
    assert one.measured > 0.9


AGES = pl.DataFrame({"age": [10, 20, 30, 40], "ill": ["no", "yes"] * 2})


def aged(cells: list[str | None]) -> Released:
    """A release of four ages, whoever is in it."""
    scene = opened(AGES, AGES, quasi_identifiers=["age"], sensitive=["ill"])
    shown = pl.DataFrame({"age": cells, "ill": AGES["ill"][: len(cells)]})
    return read_released(shown, scene.table, scene.schema)


@pytest.mark.parametrize(
    ("whole", "fewer", "gone"),
    [
        (["[10, 20]"] * 2 + ["[30, 40]"] * 2, ["[10, 20]"] * 2 + ["30"], [3]),  # an end that somebody had
        (["(-inf, 15]:1|(15, inf):3"] * 4, ["(-inf, 15]:1|(15, inf):2"] * 3, [1, 2, 3]),
        (["(-inf, 15]:1|(15, inf):3"] * 4, ["(-inf, 15]:1|(15, 25]:1|(25, inf):1"] * 3, [1, 2, 3]),  # cut again
        (["(-inf, 15]:1|(15, inf):3"] * 4, ["(-inf, 25]:1|(25, inf):2"] * 3, None),  # no bin is common
        (["(-inf, 15]:1|(15, inf):3"] * 4, ["*"] * 3, None),
        (["10", "20", "30", "30"], ["10", "20", "30"], [2]),
    ],
)
def test_what_is_read_off_two_releases(whole: list, fewer: list, gone: list[int] | None) -> None:
    _, codes = _difference(aged(whole), aged(fewer), 0)
    assert (None if codes is None else np.flatnonzero(codes).tolist()) == gone


def test_the_likelihood_is_that_of_the_mixture() -> None:
    """Two classes, a bin of two ages, one row of the whole table added to each class, reckoned once more by hand."""
    frame = pl.DataFrame({"age": [10, 20, 30, 30, 30, 10], "ill": ["no", "no", "yes", "no", "yes", "yes"]})
    shown = frame.with_columns(age=pl.Series(["(-inf, 25]:2|(25, inf):1"] * 3 + ["(-inf, 25]:1|(25, inf):2"] * 3))
    scene = opened(shown, frame, quasi_identifiers=["age"], target="ill", sensitive=None)
    whole = {name: column.counts + 0.5 for name, column in scene.table.columns.items()}
    got = np.exp(_log_likelihood(scene.released, scene.table, "ill", whole))
    ages, ills = whole["age"] / whole["age"].sum(), whole["ill"] / whole["ill"].sum()
    code = {10: 0, 20: 1, 30: 2}
    expected = []
    for age, ill in frame.rows():
        total = 0.0
        for bins, yes in (((2, 1), 1), ((1, 2), 2)):
            inside = [10, 20] if age < 25 else [30]
            part = whole["age"][code[age]] / sum(whole["age"][code[one]] for one in inside)
            by_age = (bins[age > 25] * part + ages[code[age]]) / 4
            by_ill = ((yes if ill == "yes" else 3 - yes) + ills[int(ill == "yes")]) / 4
            total += 0.5 * by_age * by_ill
        expected.append(total)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_hits_are_those_above_all_but_a_few_others() -> None:
    others = np.arange(1000.0)
    assert hits(np.array([998.5, 999.5, 5.0, 997.0]), others) == 0.5
    assert hits(np.array([990.0, 988.0]), others, alarms=0.01) == 0.5


def test_a_deal_has_the_counts_of_every_class() -> None:
    scene = decoded(1, leak=True)
    released = scene.released
    rows = deal(released, range(3), np.random.default_rng(1))
    for number in range(len(released.boxes)):
        inside = released.classes == number
        for place, name in enumerate(WORDS):
            codes = scene.table[name].codes[np.flatnonzero(inside)]
            assert Counter(rows[inside, place].tolist()) == Counter(codes.tolist())


def test_hidden_cells_are_nobodys_and_sets_become_one_of_their_values() -> None:
    frame = pl.DataFrame({"job": ["a", "b", "c", "d"], "town": ["x", "y", "x", "y"], "ill": ["no", "yes"] * 2})
    shown = frame.with_columns(job=pl.Series(["a|b", "a|b", None, None]), town=pl.lit(None, pl.String))
    scene = opened(shown, frame, quasi_identifiers=["job", "town"], sensitive=["ill"])
    assert [scene.released.tells(place) for place in (0, 1)] == [True, False]
    rows = deal(scene.released, [0], np.random.default_rng(1))[:, 0]
    assert set(rows[:2].tolist()) <= {0, 1}
    assert rows[2:].tolist() == [-1, -1]


def test_counts_that_are_not_exact_prove_nothing() -> None:
    frame = pl.DataFrame({"job": ["a"] * 2 + ["b"] * 8, "town": ["x", "y"] + ["y"] * 8, "ill": ["no", "yes"] * 5})
    shown = frame.with_columns(job=pl.lit("a:8|b:2"), town=pl.lit("x:1|y:9"))
    scene = opened(shown, frame, quasi_identifiers=["job", "town"], sensitive=["ill"])
    one = run_attack(ATTACKS["reconstruction from counts"], scene)
    assert (one.verdict, one.measured) == ("no leak found", 0.0)
    assert "not exact" in one.words
    assert one.details["would be certain"] > 0


def test_one_attribute_that_varies_is_stated_and_no_leak() -> None:
    """Ten cooks of one town, one of them ill: the counts say so, and prove that the ill one is alone."""
    frame = pl.DataFrame({"job": ["cook"] * 10, "town": ["x"] * 10, "ill": ["no"] * 9 + ["yes"]})
    scene = opened(counted(frame, ["job", "town"], [10]), frame, quasi_identifiers=["job", "town"], target="ill")
    one = run_attack(ATTACKS["reconstruction from counts"], scene)
    assert (one.verdict, one.measured, one.control) == ("no leak found", 1.0, 1.0)
    assert one.details["singled out for certain"] == pytest.approx(0.1)


def test_who_has_a_value_alone_is_singled_out_where_no_other_class_can_have_it() -> None:
    """Of each class one clerk; only in the first, all of whom live in x, can a clerk live in x."""
    frame = pl.DataFrame(
        {"job": (["cook"] * 4 + ["clerk"]) * 2, "town": ["x"] * 5 + ["y", "y", "y", "z", "z"], "ill": ["no", "yes"] * 5}
    )
    scene = opened(counted(frame, ["job", "town"], [5, 5]), frame, quasi_identifiers=["job", "town"], target="ill")
    one = run_attack(ATTACKS["reconstruction from counts"], scene)
    assert one.details["singled out for certain"] == pytest.approx(0.1)


def test_what_cannot_run_says_why() -> None:
    plain = scene_of(method="mondrian")
    assert run_attack(ATTACKS["reconstruction from counts"], plain).words == "The release shows no counts."
    unknown = replace(plain, again=None)
    for name in NEW[:3]:
        one = run_attack(ATTACKS[name], unknown)
        assert (one.verdict, "how this one was made is not known" in one.words) == ("not run", True)
    hidden = replace(
        plain, release=plain.release.with_columns(pl.lit(None, pl.String).alias(name) for name in ("age", "job"))
    )
    assert "shows nothing" in run_attack(ATTACKS["decoded rows"], replace(hidden, control=hidden.table)).words
    few = replace(plain, control=plain.table.take(np.arange(30)))
    assert "40 control rows" in run_attack(ATTACKS["shadow likelihood"], few).words
    tiny = open_scene(AttackRequest(patients(40), patients(40), method="mondrian", requirement="k=5", **roles()))
    assert "third of the original" in run_attack(ATTACKS["shadow likelihood"], tiny).words
    two = open_scene(AttackRequest(patients(2), patients(2), method="mondrian", requirement="k=1", **roles()))
    assert run_attack(ATTACKS["differencing"], two).verdict == "not run"


def roles() -> dict[str, Any]:
    return {"quasi_identifiers": ["age", "job"], "target": "ill"}


def test_control_rows_are_shadow_and_control() -> None:
    made = release(patients(), method="mondrian", form="counts", **ASKED)
    control = patients(480)[240:]
    one = attack_release(made, patients(), control=control, only=["shadow likelihood"], seed=1)["shadow likelihood"]
    assert "half of the control rows are released as its shadow" in one.words
    assert "240 members and 120 control rows" in one.words


def test_differencing_stops_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incrowd.attacks.two_releases.PATIENCE", 0.0)
    one = run_attack(ATTACKS["differencing"], PLANTED["differencing"](1, True))
    assert one.details["releases made"] == 4


def test_chance_of_both_releases_is_the_same() -> None:
    """What a ledger's key would draw alike is drawn alike, or differences would drown in other groups."""
    scene = replace(opened(words(1), words(1), quasi_identifiers=WORDS), again=Again("mondrian", KAnonymity(20)))
    both = [scene.made(np.arange(400), "differencing").draft.frame for _ in range(2)]
    assert both[0].equals(both[1])
