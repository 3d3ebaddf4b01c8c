"""Attacks on releases of persons with several rows: what the scene knows of them, and small cases by hand."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from incrowd.api import release, transform
from incrowd.attacks.opening import AttackRequest, open_scene
from incrowd.attacks.persons import few_share
from incrowd.attacks.run import attack_release
from incrowd.errors import CannotRunError, PlanError, SchemaError
from incrowd.tables.options import Measuring, Outputs
from incrowd.vocabulary.schema import ColumnType
from support.planted import intersection, link_by_static, number_of_rows, with_parts

OF_PERSONS = [
    *("link by static columns", "intersection", "heavy person"),
    *("number of rows", "one more row", "pseudonym order"),
]


def visits(persons: int = 60, seed: int = 2) -> pl.DataFrame:
    """Rows of persons; sex and blood do not change, ill does."""
    generator = np.random.default_rng(seed)
    rows = []
    for person in range(persons):
        sex, blood = generator.choice(["f", "m"]), generator.choice(["A", "B", "0"])
        for _ in range(int(generator.integers(1, 6))):
            rows.append(
                (f"canary{person:03d}", int(generator.integers(20, 60)), str(sex), str(blood), "yn"[len(rows) % 2])
            )
    frame = pl.DataFrame(rows, schema=["patient", "age", "sex", "blood", "ill"], orient="row")
    return frame[generator.permutation(frame.height).tolist()]


ASKED = {"quasi_identifiers": ["age", "sex"], "sensitive": ["blood"], "target": "ill", "k": 5, "class_sensitive": False}


def test_the_certificate_says_whose_rows_they_are(tmp_path):
    table = visits()
    table.write_csv(tmp_path / "visits.csv")
    release(tmp_path / "visits.csv", person="patient", method="mondrian", to=tmp_path / "out.csv", **ASKED)
    scene = open_scene(AttackRequest(tmp_path / "out.csv", tmp_path / "visits.csv"))
    assert scene.persons is not None
    assert (scene.persons.column, scene.persons.linked) == ("patient", False)
    assert scene.owners is not None
    names = table["patient"].to_numpy()
    assert len(set(zip(names, scene.owners.tolist(), strict=True))) == 60
    assert scene.again is not None


def test_halves_and_parts_keep_persons_together():
    scene = open_scene(AttackRequest(visits().drop("patient"), visits(), person="patient", **quiet()))
    owners = scene.whose
    order = scene.dealt("anything")
    assert sorted(order.tolist()) == list(range(len(owners)))
    for place in (1, len(order) // 3, len(order) // 2, len(order) - 1):
        cut = scene.cut(order, place)
        assert place <= cut <= len(order)
        assert not set(owners[order[:cut]]) & set(owners[order[cut:]])


def quiet() -> dict[str, object]:
    return {"quasi_identifiers": ["age", "sex"], "sensitive": ["blood"], "requirement": "k=5", "seed": 1}


def test_a_half_that_is_released_again_keeps_persons_apart(tmp_path):
    table = visits(200)
    table.write_csv(tmp_path / "visits.csv")
    release(tmp_path / "visits.csv", person="patient", method="mondrian", to=tmp_path / "out.csv", **ASKED)
    scene = open_scene(AttackRequest(tmp_path / "out.csv", tmp_path / "visits.csv", seed=3))
    split = scene.split
    assert split.members.height + split.others.height == table.height
    made = scene.made(np.arange(table.height), "again")
    classes, persons = scene.read(made).classes, scene.whose[made.draft.origin]
    for one in np.unique(classes):
        assert len(np.unique(persons[classes == one])) >= 5


@pytest.mark.parametrize(
    ("options", "quiet_ones"),
    [
        ({}, {"number of rows", "one more row", "pseudonym order"}),
        ({"keep_link": True}, {"link by static columns", "intersection", "heavy person", "one more row"}),
        ({"keep_link": True, "known_rows": 1}, {"link by static columns", "intersection", "heavy person"}),
    ],
)
def test_a_release_runs_those_that_apply(options, quiet_ones):
    """Pseudonyms are whose while the release is made; afterwards nobody knows."""
    table = visits(200)
    method = {} if options else {"method": "mondrian"}
    made = release(table, person="patient", measuring=Measuring(attacks=OF_PERSONS), **ASKED, **options, **method)
    found = {one["attack"]: one for one in made.certificate["attacks"]["after"]}
    assert {name for name in OF_PERSONS if found[name]["verdict"] == "not run"} == quiet_ones
    assert "canary" not in str(made.certificate["attacks"])
    if options:
        assert found["pseudonym order"]["verdict"] == "no leak found"
        later = attack_release(made, table, only=OF_PERSONS)
        assert "never after" in later["pseudonym order"].words
    if options == {"keep_link": True}:
        assert found["number of rows"]["measured"] == 0


def test_without_persons_they_do_not_run():
    made = release(visits().drop("patient"), method="mondrian", **ASKED)
    found = attack_release(made, visits().drop("patient"), only=OF_PERSONS)
    assert {one.verdict for one in found.findings} == {"not run"}
    assert all("whose row it is" in one.words for one in found.findings)


def test_an_unknown_person_column_is_told():
    with pytest.raises(Exception, match="'nobody'"):
        open_scene(AttackRequest(visits(), visits(), person="nobody", **quiet()))


def test_a_value_that_one_class_alone_shows_is_not_newly_found():
    scene = intersection(1, leak=True)
    alone = scene.release.with_columns(ill=pl.when(pl.col("group") == "left").then(pl.lit("flu")).otherwise("ill"))
    frame = scene.frame.with_columns(ill=pl.when(pl.col("group") == "left").then(pl.lit("flu")).otherwise("ill"))
    again = open_scene(
        AttackRequest(alone, frame, person="who", quasi_identifiers=["group"], sensitive=["ill"], requirement="k=5")
    )
    from incrowd.attacks.persons import intersection as attack

    assert attack(scene).measured == 1 / 121
    assert attack(with_parts(again, origin=scene.origin)).measured == 0


def test_pairs_by_hand():
    """Two persons of three rows share a blood group: of the five others two are the person's own."""
    from incrowd.attacks.persons import link_by_static as attack

    assert attack(link_by_static(3, leak=True)).measured == pytest.approx(2 / 5)
    scene = number_of_rows(1, leak=True)
    with pytest.raises(CannotRunError, match="can follow persons"):
        attack(scene)


def test_known_rows_by_brute_force():
    generator = np.random.default_rng(4)
    for _ in range(200):
        histories = [tuple(sorted(generator.integers(0, 3, int(generator.integers(1, 5))).tolist())) for _ in range(6)]
        rows, k = int(generator.integers(1, 4)), int(generator.integers(1, 5))
        for counting in (False, True):
            found = few_share(histories, rows, k, counting=counting).tolist()
            assert found == [_few(histories, own, rows, k, counting) for own in histories]


def _few(histories, own, rows, k, counting):
    """Whether up to so many rows of somebody are had by fewer than k persons, counted plainly."""
    for size in range(1, min(rows, len(own)) + 1):
        for known in combinations(own, size):
            fits = [one for one in histories if all(one.count(row) >= known.count(row) for row in known)]
            if counting:
                fits = [one for one in fits if len(one) == len(own)]
            if len(fits) < k:
                return True
    return False


def test_too_many_ways_to_choose_are_refused():
    with pytest.raises(CannotRunError, match="too many ways"):
        few_share([tuple(range(60))], 6, 2)


def test_the_table_itself_is_attacked_as_if_released(tmp_path):
    made = release(
        visits(100), person="patient", method="mondrian", to=tmp_path / "out.csv", **ASKED,
        measuring=Measuring(attacks=["heavy person", "intersection"]), outputs=Outputs(report=tmp_path / "r.html"),
    )  # fmt: skip
    before = {one["attack"]: one for one in made.certificate["attacks"]["before"]}
    assert before["intersection"]["measured"] >= 0
    page = (tmp_path / "r.html").read_text()
    assert "intersection" in page
    assert "canary" not in page


def test_rows_of_persons_are_not_called_people():
    told = {"only": ["deFinetti"], "seed": 1, **quiet()}
    by_rows = attack_release(visits().drop("patient"), visits().drop("patient"), **told)
    rows = visits().height
    assert f"of {rows:,} people, by the frequencies" in str(by_rows)
    by_persons = attack_release(visits().drop("patient"), visits(), person="patient", **told)
    assert f"of {rows:,} rows, by the frequencies" in str(by_persons)


def dated(table: pl.DataFrame) -> pl.DataFrame:
    """With the day of each row as a date that is written as people write it."""
    days = pl.int_range(table.height, eager=False) * 37 % 900
    return table.with_columns((pl.date(2021, 1, 1) + pl.duration(days=days)).dt.strftime("%d.%m.%Y").alias("day"))


def test_dates_that_order_rows_are_read_as_the_release_reads_them(tmp_path):
    table = dated(visits(120))
    table.write_csv(tmp_path / "visits.csv")
    asked = ASKED | {"quasi_identifiers": ["sex", "day"], "person": "patient", "keep_link": True, "order": "day"}
    made = release(tmp_path / "visits.csv", to=tmp_path / "out.csv", **asked)
    known = AttackRequest(tmp_path / "out.csv", tmp_path / "visits.csv", control=dated(visits(40, seed=9)))
    for request in (known, AttackRequest(made, table)):
        scene = open_scene(request)
        assert scene.schema["day"].type is ColumnType.INTEGER
        days = pl.DataFrame({"who": scene.whose, "day": scene.frame["day"]})
        assert days["day"].dtype == pl.Int64
        assert days.group_by("who").agg(pl.col("day").min())["day"].to_list() == [0] * 120
        assert days["day"].max() > 100
    control = open_scene(known).control
    assert control is not None
    assert control["day"].missing_code not in control["day"].codes
    found = attack_release(tmp_path / "out.csv", tmp_path / "visits.csv", seed=1)
    assert "number of rows" in str(found)
    with pytest.raises(PlanError, match="whole histories, and says nothing of other rows"):
        transform(made.plan, table)


def test_dates_are_not_shown_by_a_plan_of_days():
    table = dated(visits(120))
    asked = ASKED | {"quasi_identifiers": ["sex", "day"], "person": "patient", "keep_link": True, "order": "day"}
    made = release(table, known_rows=1, **asked)
    with pytest.raises(SchemaError, match="'day' has dates, and the plan shows whole days since the first row"):
        transform(made.plan, table)
    assert transform(made.plan, table.with_columns(pl.lit(3).alias("day"))).height == table.height
