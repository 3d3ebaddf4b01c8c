"""Releases that promise more than k are attacked like others: what was promised is read, and they are made again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.run import attack_release
from incrowd.errors import SchemaError
from incrowd.tables.hierarchies.intervals import from_edges
from incrowd.vocabulary.requirements.words import WORDS

ASKED = "k=5, distinct-l=2 on diagnosis, t=0.45 on pay, t-equal=0.6"
AGAIN = [
    "membership by box",
    "attribute inference",
    "model membership",
    "composition",
    "sequential releases",
    "seed re-run",
]
ROLES = {"quasi_identifiers": ["age", "sex"], "target": "ill"}


def patients(rows: int = 240) -> pl.DataFrame:
    generator = np.random.default_rng(8)
    age = generator.integers(20, 80, rows)
    return pl.DataFrame(
        {
            "age": age,
            "sex": generator.choice(["f", "m"], rows),
            "ill": np.where(age + generator.normal(0, 20, rows) > 50, "yes", "no"),
            "diagnosis": generator.choice(["flu", "cold", "pox"], rows),
            "pay": generator.integers(10, 30, rows) * 100,
        }
    )


@pytest.mark.each(5)
@pytest.mark.parametrize("method", ["kactus", "tdr", "iack", "mondrian"])
def test_what_names_a_sensitive_column_is_released_again(method: str) -> None:
    made = release(patients(), **ROLES, method=method, require=ASKED, class_sensitive=True)
    found = attack_release(made, patients(), seed=1, only=AGAIN)
    assert {one.attack: one.words for one in found.findings if one.verdict == "not run"} == {}


EACH = {
    "k": "k=5",
    "k-map": "k=5, k-map=20",
    "delta-presence": "k=5, delta-presence=0..0.9",
    "distinct-l": "k=5, distinct-l=2 on diagnosis",
    "entropy-l": "k=5, entropy-l=1.5 on diagnosis",
    "recursive-l": "k=5, recursive-l=2 c=3 on diagnosis",
    "t": "k=5, t=0.4 on pay",
    "t-equal": "k=5, t-equal=0.5",
    "t-ordered": "k=5, t-ordered=0.3 on pay",
    "t-hierarchical": "k=5, t-hierarchical=0.4 on pay",
    "alpha": "k=5, alpha=0.9 on diagnosis",
    "beta": "k=5, beta=2 on diagnosis",
    "enhanced-beta": "k=5, enhanced-beta=2 on diagnosis",
    "delta-disclosure": "k=5, delta-disclosure=3 on diagnosis",
}


def test_every_requirement_is_tried() -> None:
    assert set(EACH) == set(WORDS)


@pytest.mark.each(7)
@pytest.mark.parametrize("word", EACH)
def test_what_the_certificate_promises_is_read(tmp_path: Path, word: str) -> None:
    trees = {"pay": from_edges("pay", [1500, 2000, 2500], [2000])} if word == "t-hierarchical" else None
    table = patients()
    everybody = pl.concat([table, table]) if word in ("k-map", "delta-presence") else None
    made = release(
        table,
        **ROLES,
        method="mondrian",
        require=EACH[word],
        population=everybody,
        hierarchies=trees,
        to=tmp_path / "release.csv",
    )
    scene = open_scene(AttackRequest(tmp_path / "release.csv", table, hierarchies=trees, population=everybody))
    assert scene.again is not None
    assert scene.again.requirement == made.plan.requirement
    assert scene.schema.sensitive == made.plan.schema.sensitive
    assert (scene.again.people is None) == (everybody is None)
    scene.made(np.arange(table.height), "once more")


def test_without_the_population_a_release_is_not_made_again(tmp_path: Path) -> None:
    table = patients()
    release(table, **ROLES, method="mondrian", require="k=5, k-map=9", population=table, to=tmp_path / "release.csv")
    given = {"release": tmp_path / "release.csv", "original": table}
    assert open_scene(AttackRequest(**given)).again is None
    found = attack_release(**given, only=["sequential releases"])["sequential releases"]
    assert found.verdict == "not run"
    assert "population" in found.words


def test_a_distance_that_the_certificate_does_not_tell_is_not_guessed(tmp_path: Path) -> None:
    trees = {"pay": from_edges("pay", [1500, 2000, 2500], [2000])}
    release(patients(), **ROLES, method="tdr", require="t=0.4 on pay", hierarchies=trees, to=tmp_path / "release.csv")
    with pytest.raises(SchemaError, match="How far"):
        open_scene(AttackRequest(tmp_path / "release.csv", patients()))


def test_sets_known_together_are_read_back(tmp_path: Path) -> None:
    sets = [(["age"], 4), (["sex"], 30)]
    made = release(patients(), target="ill", known_together=sets, method="tdr", to=tmp_path / "release.csv")
    scene = open_scene(AttackRequest(tmp_path / "release.csv", patients()))
    assert scene.again is not None
    assert scene.again.requirement == made.plan.requirement


def test_a_requirement_that_is_said_makes_its_column_sensitive() -> None:
    table = patients()
    scene = open_scene(AttackRequest(table, table, **ROLES, requirement="k=2, t=0.3 on pay"))
    assert "pay" in scene.sensitive
    with pytest.raises(SchemaError, match="nothing can be required"):
        open_scene(AttackRequest(table, table, **ROLES, requirement="t=0.3 on age"))
