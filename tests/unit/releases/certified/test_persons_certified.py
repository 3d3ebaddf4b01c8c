"""Certificates of persons with several rows: what they state is what was counted, and what a recipient can tell."""

from __future__ import annotations

import copy
import json
from collections import Counter

import numpy as np
import polars as pl
import pytest

from incrowd.api import release
from incrowd.errors import UndeterminedError, VerificationError
from incrowd.releases.certified.checking import check_release
from incrowd.releases.certified.consistency import check_issued
from incrowd.releases.recount import verify
from incrowd.report.certificate import faults, schema
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.persons import Persons

ASKED = {"quasi_identifiers": ["age", "sex"], "target": "ill", "private": ["row"], "k": 4, "class_sensitive": False}
LINKS = [{}, {"keep_link": True}, {"keep_link": True, "known_rows": 1}, {"keep_link": True, "known_rows": 2}]


@pytest.fixture(autouse=True)
def private_home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def visits(persons: int = 40) -> pl.DataFrame:
    """Rows of persons with one to five rows; ``row`` tells every row."""
    generator = np.random.default_rng(6)
    rows = []
    for person in range(persons):
        sex = str(generator.choice(["f", "m"]))
        ages = generator.integers(20, 40, int(generator.integers(1, 6))).tolist()
        rows += [(f"canary{person:02d}", age, sex, "yn"[(person + age) % 2]) for age in ages]
    frame = pl.DataFrame(rows, schema=["patient", "age", "sex", "ill"], orient="row")
    return frame.with_columns(row=pl.Series([f"r{place}" for place in range(frame.height)]))


def made(table: pl.DataFrame | None = None, **options):
    method = {} if options.get("keep_link") else {"method": "mondrian"}
    return release(visits() if table is None else table, person="patient", **(ASKED | method | options))


def owners_of(frame: pl.DataFrame, table: pl.DataFrame) -> list[str]:
    whose = dict(zip(table["row"].to_list(), table["patient"].to_list(), strict=True))
    return [whose[row] for row in frame["row"].to_list()]


def classes_of(frame: pl.DataFrame) -> list[tuple[object, ...]]:
    return frame.select(name for name in frame.columns if name.startswith(("age", "sex"))).rows()


def test_the_numbers_are_those_of_a_plain_count():
    table = visits()
    one = made(table)
    frame, issued = pl.DataFrame(one.table), one.certificate
    stated = issued["persons"]
    persons, rows = owners_of(frame, table), Counter(classes_of(frame))
    in_class = {one: Counter(p for p, c in zip(persons, classes_of(frame), strict=True) if c == one) for one in rows}
    sizes = Counter(len(people) for people in in_class.values())
    assert stated["histogram"] == [list(bar) for bar in sorted(sizes.items())]
    assert stated["smallest"] == min(sizes) >= 4
    share = max(max(people.values()) / rows[one] for one, people in in_class.items())
    assert stated["largest_share"] == pytest.approx(share, abs=1e-6)
    assert (stated["input"], stated["released"], stated["lost"]) == (40, len(set(persons)), 40 - len(set(persons)))
    assert stated["rows_lost"] == table.height - frame.height
    assert (stated["column"], stated["requirement_counts"], stated["link"]) == ("patient", "persons", {"kind": "none"})
    assert issued["statement"].startswith("The release satisfies 4-anonymity, counted in persons, recounted")
    assert "canary" not in json.dumps(issued)


def test_histories_are_those_of_a_plain_count():
    table = visits()
    one = made(table, keep_link=True)
    frame, stated = pl.DataFrame(one.table), one.certificate["persons"]
    histories: dict[str, list[object]] = {}
    for person, own in zip(frame["patient"].to_list(), classes_of(frame), strict=True):
        histories.setdefault(person, []).append(own)
    alike = Counter(tuple(sorted(map(str, history))) for history in histories.values())
    assert stated["histogram"] == [list(bar) for bar in sorted(Counter(alike.values()).items())]
    assert (stated["alike"], stated["smallest"]) == ("histories", min(alike.values()))
    assert stated["link"] == {"kind": "whole histories"}
    assert "counted in persons with the same history" in one.certificate["statement"]
    person = next(column for column in one.certificate["released_columns"] if column["role"] == "person")
    assert (person["name"], person["as"]) == ("patient", "pseudonym")


def test_known_rows_are_stated():
    issued = made(keep_link=True, known_rows=2).certificate
    assert issued["persons"]["link"] == {"kind": "known rows", "known_rows": 2, "count_known": False}
    assert issued["persons"]["alike"] == "sets of known rows"
    assert "who share any 2 known rows" in issued["statement"]


@pytest.mark.parametrize(("missing", "persons", "without"), [("drop", 39, 2), ("together", 40, 0)])
def test_rows_without_a_person(missing, persons, without):
    table = visits()
    gone = pl.col("patient") == table["patient"][0]
    table = table.with_columns(patient=pl.when(gone).then(None).otherwise("patient"))
    rows = table["patient"].null_count()
    stated = made(table, missing_persons=missing).certificate["persons"]
    assert (stated["input"], stated["missing"]) == (persons, missing)
    assert stated["rows_without_person"] == (rows if without else 0) <= stated["rows_lost"]


def test_without_a_person_column_nothing_is_stated():
    table = visits().unique("patient", maintain_order=True).drop("patient")
    issued = release(table, method="mondrian", **ASKED).certificate
    assert "persons" not in issued
    assert issued["statement"].startswith("The release satisfies 4-anonymity, recounted independently")


@pytest.mark.parametrize("link", LINKS)
def test_a_certificate_that_states_other_numbers_is_not_issued(link):
    one = made(**link)
    issued, verdict, plan = one.certificate, one.verdict, one.plan
    roles = {column["name"]: column["role"] for column in issued["columns"]}
    options = {"linked": bool(link), "known_rows": link.get("known_rows")}
    persons = Persons("patient", **options)
    check_issued(issued, verdict, plan.requirement, roles, persons=persons)
    for name, value in issued["persons"].items():
        changed = copy.deepcopy(issued)
        changed["persons"][name] = _other(value)
        with pytest.raises(VerificationError, match="does not state what was counted"):
            check_issued(changed, verdict, plan.requirement, roles, persons=persons)
    without = {name: value for name, value in issued.items() if name != "persons"}
    for wrong, whose in ((without, persons), (issued, None), (issued, Persons("row", **options))):
        with pytest.raises(VerificationError, match="does not state what was counted"):
            check_issued(wrong, verdict, plan.requirement, roles, persons=whose)


def _other(value):
    """Another value of the same kind."""
    if isinstance(value, bool) or value is None:
        return "exact"
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value / 2
    if isinstance(value, list):
        return [*value[:-1], [value[-1][0], value[-1][1] + 1]]
    if isinstance(value, dict):
        return {"kind": "none"} if value["kind"] != "none" else {"kind": "whole histories"}
    others = {"refuse": "drop", "classes": "histories"}
    return others.get(value, "classes")


@pytest.mark.each(3)
@pytest.mark.parametrize("link", LINKS)
def test_a_recipient_is_never_told_yes(link, tmp_path):
    made(to=tmp_path / "out.csv", **link)
    verdict = check_release(tmp_path / "out.csv")
    assert verdict.failed == ()
    assert [one.name for one in verdict.undecided] == ["4-anonymity"]
    assert (verdict.passed, verdict.exit_status) == (False, 2)
    words = next(one.words for one in verdict.statements if one.name == "4-anonymity")
    assert ("by its pseudonyms" if link else "which is necessary; persons cannot be counted") in words
    assert "canary" not in str(verdict)


@pytest.mark.parametrize("link", LINKS)
def test_what_is_necessary_can_fail(link, tmp_path):
    one = made(**link)
    frame = pl.DataFrame(one.table)
    first = classes_of(frame).index(Counter(classes_of(frame)).most_common()[-1][0])
    few = frame.filter(pl.Series([own != classes_of(frame)[first] for own in classes_of(frame)])).vstack(frame[first])
    verdict = check_release(few, one.certificate)
    assert verdict.exit_status == 1
    assert "4-anonymity" in {each.name for each in verdict.failed}


def test_two_pseudonyms_in_one_are_seen():
    one = made(keep_link=True)
    frame = pl.DataFrame(one.table)
    names = frame["patient"].unique().sort().to_list()
    joined = frame.with_columns(patient=pl.col("patient").replace({names[0]: names[1]}))
    failed = {each.name for each in check_release(joined, one.certificate).failed}
    assert "persons released, by pseudonyms" in failed
    other = frame.with_columns(patient=pl.col("patient").replace({names[0]: "Smith"}))
    assert "patient pseudonyms" in {each.name for each in check_release(other, one.certificate).failed}


@pytest.mark.each(3)
@pytest.mark.parametrize("link", LINKS[:3])
def test_every_number_of_persons_is_held_against_the_rest(link):
    """What a recipient can see of the statements about persons; how they are spelled and lost is the issuer's word."""
    one = made(**link)
    issued = json.loads(json.dumps(one.certificate))
    free = {"ids"} if link else {"ids", "largest_share"}
    for name, value in issued["persons"].items():
        changed = copy.deepcopy(issued)
        changed["persons"][name] = _other(value)
        if name == "missing":
            continue
        verdict = check_release(pl.DataFrame(one.table), changed)
        assert verdict.exit_status == (2 if name in free else 1), name


@pytest.mark.parametrize("link", LINKS[:2])  # nothing beyond k is promised for known rows
def test_promises_beyond_k_stay_open(link):
    one = made(class_sensitive=True, require="distinct-l=2", **link)
    verdict = check_release(one.table, one.certificate)
    assert verdict.exit_status == 2
    assert "distinct 2-diversity of the class" in {each.name for each in verdict.undecided}


def test_a_recipe_of_persons_is_no_plain_yes(tmp_path):
    one = made(to=tmp_path / "out.csv")
    recipe = Recipe(
        columns={
            "patient": {"role": "person"},
            "age": {"role": "quasi-identifier"},
            "sex": {"role": "quasi-identifier"},
        },
        k=4,
    )
    with pytest.raises(UndeterminedError, match="whether they are of enough persons cannot be told"):
        verify(tmp_path / "out.csv", recipe=recipe)
    assert verify(visits(), recipe=recipe).passed is False
    assert one.certificate["persons"]["smallest"] >= 4


def test_pseudonyms_are_there_where_the_recipe_keeps_the_link(tmp_path):
    made(to=tmp_path / "plain.csv")
    made(to=tmp_path / "linked.csv", keep_link=True)
    columns = {"patient": {"role": "person"}, "age": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}}
    plain, linked = Recipe(columns=columns, k=4), Recipe(columns=columns, k=4, keep_link=True)
    with pytest.raises(UndeterminedError, match="or only by pseudonyms"):
        verify(tmp_path / "linked.csv", recipe=linked)
    without = str(verify(tmp_path / "plain.csv", recipe=linked))
    assert "FAILED  columns: patient should be there, with pseudonyms" in without
    beside = str(verify(tmp_path / "linked.csv", recipe=plain))
    assert "patient should have been left out; pseudonyms of patient are released only if" in beside
    for words in (without, beside):
        assert "rows; of how many persons cannot be told" in words


def test_the_schema_knows_persons():
    issued = made().certificate
    assert list(faults(issued, schema())) == []
    for path, value in ((("persons", "released"), -1), (("persons", "link"), {"kind": "blood"}), (("persons", "x"), 1)):
        changed = copy.deepcopy(issued)
        changed[path[0]][path[1]] = value
        assert list(faults(changed, schema()))
