"""Risk in persons, where these have several rows: against brute force, and as today where each has one."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from incrowd.errors import HeaderError, ParameterError, SchemaError
from incrowd.risk.assessment import RiskRequest, assess, measure_risk
from incrowd.risk.attackers import guesses
from incrowd.risk.classes import classes_of, coded, special_uniques

VISITS = pl.DataFrame(
    {
        "patient": ["a", "a", "a", "b", "b", "c", "d", "e"],
        "age": [30, 30, 40, 30, 50, 40, 60, 60],
        "sex": ["f", "f", "f", "f", "f", "m", "m", "m"],
        "ill": ["y", "y", "n", "n", "n", "y", "y", "y"],
    }
)
KNOWN = ["age", "sex"]


def test_a_person_is_as_exposed_as_its_row_with_the_fewest_persons():
    """Persons of the classes: 30f a and b, 40f a, 50f b, 40m c, 60m d and e."""
    found = measure_risk(VISITS, quasi_identifiers=KNOWN, person="patient")
    assert (found.rows, found.persons, found.unit) == (8, 5, "person")
    assert found.classes == ((1, 3), (2, 2))
    assert found.exposed == ((1, 3), (2, 2))
    assert found.uniques.in_sample == 3
    assert found.uniques.share == 3 / 5
    assert found.prosecutor.maximum == 1.0
    assert found.prosecutor.average == pytest.approx((3 + 2 / 2) / 5)
    assert [(one.threshold, one.rows) for one in found.prosecutor.at_risk] == [(0.05, 5), (0.1, 5), (0.2, 5), (0.5, 3)]
    assert found.marketer.average == pytest.approx((3 / 2 + 1 + 1 + 1 + 2 / 2) / 8)
    assert "3 of 5 persons have a row that is nobody else's" in str(found)
    assert "Persons at risk" in str(found)
    assert "a person is as exposed as its row with the fewest persons to pick from" in str(found)
    assert "Persons by the size" in found.plot("sizes").picture
    assert found.to_json()["persons"] == 5


def test_ten_rows_of_one_person_hide_nobody():
    rows = pl.DataFrame({"who": ["a"] * 10 + ["b", "c"], "age": [30] * 10 + [40, 40]})
    assert measure_risk(rows, quasi_identifiers=["age"]).uniques.in_sample == 0
    assert measure_risk(rows, quasi_identifiers=["age"], person="who").uniques.in_sample == 1


def test_with_one_row_each_everything_is_as_without_persons():
    generator = np.random.default_rng(5)
    people = pl.DataFrame(
        {
            "who": range(200),
            "age": generator.integers(20, 60, 200),
            "zip": generator.integers(0, 5, 200),
            "ill": generator.integers(0, 3, 200),
        }
    )
    plain: Any = measure_risk(people, quasi_identifiers=["age", "zip"], sensitive=["ill"]).to_json()
    counted: Any = measure_risk(people, quasi_identifiers=["age", "zip"], sensitive=["ill"], person="who").to_json()
    for name in ("classes", "uniques", "special_uniques"):
        kept = {"estimated_in_population"}
        assert {k: v for k, v in plain[name].items() if k not in kept} == {
            k: v for k, v in counted[name].items() if k not in kept
        }
    for name in ("singling_out", "linkability", "inference"):
        before, after = plain["wp216"][name], counted["wp216"][name]
        before, after = (one["ill"] if name == "inference" else one for one in (before, after))
        for part in ("attack", "control", "excess"):
            assert before[part] == pytest.approx(after[part])
        assert before["chance"] == pytest.approx(after["chance"])
    assert plain["prosecutor"]["average"] == pytest.approx(counted["prosecutor"]["average"])
    assert plain["prosecutor"]["at_risk"] == counted["prosecutor"]["at_risk"]
    assert plain["marketer"]["average"] == pytest.approx(counted["marketer"]["average"])


def rows_of(shape: tuple[tuple[int, int, int], ...]) -> pl.DataFrame:
    frame = pl.DataFrame(shape, schema=["who", "q", "v"], orient="row")
    return frame.with_columns(r=pl.col("q") % 2)


SHAPES = [tuple(zip(who, q, v, strict=True)) for who, q, v in zip(
    product(range(3), repeat=5), (tuple(i * j % 3 for i in range(5)) for j in range(243)),
    product(range(3), repeat=5), strict=True,
)]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_guesses_and_uniques_by_brute_force(seed):
    generator = np.random.default_rng(seed)
    shape = SHAPES[seed * 4]
    drawn = [(int(generator.integers(4)), int(generator.integers(3)), int(generator.integers(3))) for _ in range(9)]
    for rows in (rows_of(shape), rows_of(tuple(drawn))):
        names = sorted(set(rows["who"].to_list()))
        owners = np.array([names.index(who) for who in rows["who"]], np.int64)
        columns = coded(rows, ["q", "r"])
        classes, secret = classes_of(columns, owners), coded(rows, ["v"])[0]
        hits, left = guesses(classes, secret)
        for place, row in enumerate(rows.iter_rows(named=True)):
            alike = rows.filter((pl.col("q") == row["q"]) & (pl.col("r") == row["r"]))
            others = alike.filter(pl.col("who") != row["who"])
            assert classes.of_rows[place] == alike["who"].n_unique()
            assert classes.alone[classes.labels[place]] == others.is_empty()
            assert hits[place] == pytest.approx(chance_of(alike, row["v"]))
            assert left[place] == pytest.approx(chance_of(others, row["v"]))
        special = special_uniques(columns, ["q", "r"], 2, None, owners)
        assert sum(special.rows) + special.unscored == len(alone(rows, ["q", "r"]))
        assert special.rows[0] == len(alone(rows, ["q"]) | alone(rows, ["r"]))


def chance_of(rows: pl.DataFrame, value: int) -> float:
    """How likely a value is drawn from those that most persons have."""
    bearers = {one: rows.filter(pl.col("v") == one)["who"].n_unique() for one in set(rows["v"].to_list())}
    most = [one for one, persons in bearers.items() if persons == max(bearers.values())]
    return 1 / len(most) if value in most else 0.0


def alone(rows: pl.DataFrame, names: list[str]) -> set[int]:
    """The persons with a row that nobody else's is like."""
    return {
        row["who"]
        for row in rows.iter_rows(named=True)
        if rows.filter(*(pl.col(name) == row[name] for name in names))["who"].n_unique() == 1
    }


def test_of_an_unlinked_release_persons_cannot_be_counted():
    with pytest.raises(ParameterError, match="does not say whose rows they are"):
        measure_risk(VISITS, quasi_identifiers=KNOWN, person="patient", after=VISITS.drop("patient"))
    found = measure_risk(VISITS, quasi_identifiers=KNOWN, person="patient", after=VISITS)
    assert found.after.uniques.in_sample == 3
    assert "after, a polars table: 3 of 5 persons have" in str(found)


def test_whose_rows_they_are_may_be_known_already():
    """A person without a released row does not count."""
    released = VISITS.drop("patient")[:5].with_columns(age=pl.lit(1), sex=pl.lit("f"))
    owners = np.array([0, 0, 0, 1, 1, 2, 3, 4], np.int64)
    found = assess(VISITS, RiskRequest(("age", "sex")), after=released, owners=(owners, owners[:5] + 3))
    assert (found.persons, found.after.persons) == (5, 2)
    assert found.after.exposed == ((2, 2),)


def test_what_cannot_be_asked():
    with pytest.raises(SchemaError, match="'age' says whose row it is"):
        measure_risk(VISITS, quasi_identifiers=KNOWN, person="age")
    with pytest.raises(HeaderError, match="'nobody'"):
        measure_risk(VISITS, quasi_identifiers=KNOWN, person="nobody")
    with pytest.raises(ParameterError, match="Whose rows are they"):
        measure_risk(VISITS, quasi_identifiers=KNOWN, person_ids="exact")
    with pytest.raises(ParameterError, match="nothing is estimated"):
        measure_risk(VISITS, quasi_identifiers=KNOWN, person="patient", population=1000)
    rows = VISITS.with_columns(patient=pl.when(pl.col("age") == 60).then(None).otherwise("patient"))
    with pytest.raises(SchemaError, match="2 rows have no person"):
        measure_risk(rows, quasi_identifiers=KNOWN, person="patient")


def test_a_recipe_says_whose_rows_they_are(tmp_path):
    (tmp_path / "recipe.yaml").write_text(
        "columns:\n  patient: {role: person}\n  age: {role: quasi-identifier}\n  sex: {role: quasi-identifier}\n"
        "missing_persons: drop\n"
    )
    rows = VISITS.with_columns(patient=pl.when(pl.col("patient") == "e").then(None).otherwise("patient"))
    found = measure_risk(rows, recipe=tmp_path / "recipe.yaml")
    assert (found.rows, found.persons, found.uniques.in_sample) == (7, 4, 4)
    assert [notice.code for notice in found.notices] == ["missing-person", "heavy-person"]
