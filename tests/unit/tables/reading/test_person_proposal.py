"""Whose rows they may be, as a draft proposes it; and columns that hardly change within persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.tables.reading.draft import draft_schema, with_person
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import nearly_static, owners_of
from incrowd.tables.reading.read import read
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import Column, Role, Schema

ROWS = 300


def proposed(**columns: object) -> Schema:
    source = read(pl.DataFrame({"age": [20 + i % 50 for i in range(ROWS)], **columns}))
    return with_person(draft_schema(source), source)


@pytest.mark.parametrize("each", [2, 3, 30])
def test_an_identifier_that_repeats_is_proposed(each):
    schema = proposed(patient_id=[f"P{i // each}" for i in range(ROWS)])
    assert schema.person == "patient_id"
    assert f"have {each}.0 rows each on average: whose row it is?" in schema["patient_id"].reason


@pytest.mark.parametrize("name", ["pid", "PID", "usubjid", "PatientID", "patientid", "hhid"])
def test_usual_short_names_are_known(name):
    schema = proposed(**{name: [i // 3 for i in range(ROWS)], "phone": [i // 2 for i in range(ROWS)]})
    assert schema.person == name


def test_one_row_again_is_enough():
    assert proposed(person=[0, *range(ROWS - 1)]).person is None  # not named like an identifier
    assert proposed(person_nr=[0, *range(ROWS - 1)]).person == "person_nr"


def test_unique_identifiers_and_categories_are_none():
    assert proposed(patient_id=range(ROWS)).person is None
    schema = proposed(account=["private" if i % 5 else "public" for i in range(ROWS)])
    assert (schema.person, schema["account"].role) == (None, Role.QUASI_IDENTIFIER)
    assert proposed(patient_id=[None] * ROWS).person is None


def test_of_several_the_one_named_after_persons_with_most_values():
    numbers = {"phone": [i // 2 for i in range(ROWS)], "patient_id": [i // 3 for i in range(ROWS)]}
    schema = proposed(**numbers, visit_nr=range(ROWS))
    assert schema.person == "patient_id"
    assert (schema["phone"].role, schema["visit_nr"].role) == (Role.IDENTIFIER, Role.IDENTIFIER)
    assert "rows of one person share it?" in schema["phone"].reason
    assert "seems" not in schema["visit_nr"].reason
    schema = proposed(name=[i // 6 for i in range(ROWS)], phone=[i // 3 for i in range(ROWS)])
    assert schema.person == "phone"


def test_the_class_is_nobody():
    source = read(pl.DataFrame({"age": range(40), "patient_id": ["a", "b"] * 20}))
    assert with_person(draft_schema(source, target="patient_id"), source).person is None


@pytest.mark.parametrize(("changing", "told"), [(0, False), (1, True), (5, True), (6, False), (60, False)])
def test_what_changes_in_few_persons_is_told(changing, told):
    """A hundred persons of two rows, and fifty of one, who cannot change."""
    owners = np.concatenate([np.repeat(np.arange(100), 2), np.arange(100, 150)]).astype(np.int32)
    values = np.array(["f"] * len(owners), dtype=object)
    values[[2 * place for place in range(changing)]] = "m"
    order = np.random.default_rng(1).permutation(len(owners))
    column = encode(read(pl.DataFrame({"sex": values[order]})), Schema((Column("sex"),)), ["sex"])[0]["sex"]
    notices = list(nearly_static([column], owners[order]))
    assert [notice.code for notice in notices] == (["nearly-static"] if told else [])
    assert all(f"{changing} of 100 persons with several rows" in notice.message for notice in notices)


def test_no_rows_are_no_persons():
    assert list(nearly_static([], np.zeros(0, np.int32))) == []


@pytest.mark.parametrize("missing", [0, 40])
def test_rows_of_nobody_change_and_nothing_is_told(missing):
    """Thirty persons of two rows who do not change; rows without a person, as rows of one, have everything."""
    people = [f"p{i // 2:02d}" for i in range(60)] + [None] * missing
    values = [str(i // 2 % 3) for i in range(60)] + [str(i) for i in range(missing)]
    source = read(pl.DataFrame({"who": people, "sex": values}))
    owners = owners_of(source, Persons("who", missing="together"))
    columns = encode(source, Schema((Column("sex"),)), ["sex"])[0].columns.values()
    assert owners.nobody == (30 if missing else None)
    assert not [*nearly_static(columns, owners.codes, owners.nobody)]
    assert bool([*nearly_static(columns, owners.codes)]) == bool(missing)
