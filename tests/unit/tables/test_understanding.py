"""Roles settled from draft and recipe: what is dropped, what is told, what is refused."""

from __future__ import annotations

import polars as pl
import pytest

from incrowd.errors import SchemaError
from incrowd.tables.reading.read import read
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_schema
from incrowd.vocabulary.schema import Role

ROWS = 600


def table(**more):
    """People, one row each, unless more columns say otherwise."""
    return pl.DataFrame(
        {
            "age": [20 + i % 50 for i in range(ROWS)],
            "weight": [50.5 + i % 7 for i in range(ROWS)],
            "diagnosis": ["flu" if i % 3 else "none" for i in range(ROWS)],
            "ill": ["y" if i % 2 else "n" for i in range(ROWS)],
            **more,
        }
    )


def settle(frame, **columns):
    repeats = columns.pop("repeats", ())
    said = {"age": {"role": "quasi-identifier"}, "ill": {"role": "target"}}
    said |= {name: {"role": role} for name, role in columns.items()}
    return settle_schema(read(frame), Recipe(columns=said, repeats=repeats))


def told(notices):
    return {(notice.code, notice.where) for notice in notices}


def test_unnamed_columns_are_kept_with_a_word_or_dropped():
    schema, notices = settle(table(patient_id=range(ROWS)))
    assert {column.name: column.role for column in schema.columns} == {
        "age": Role.QUASI_IDENTIFIER,
        "weight": Role.OTHER,
        "diagnosis": Role.OTHER,
        "ill": Role.TARGET,
        "patient_id": Role.IDENTIFIER,
    }
    assert told(notices) == {("unnamed", "weight"), ("unnamed", "diagnosis"), ("dropped", "patient_id")}


def test_nothing_is_told_when_everything_was_said():
    schema, notices = settle(table(patient_id=range(ROWS)), weight="private", diagnosis="sensitive", patient_id="drop")
    assert notices == ()
    assert schema.sensitive == ("diagnosis",)


def test_a_quasi_identifier_must_be_named():
    with pytest.raises(SchemaError, match=r"No quasi-identifier is named.*suggest: age, weight"):
        settle_schema(read(table()), Recipe(columns={"ill": {"role": "target"}}))
    with pytest.raises(SchemaError, match="No quasi-identifier is named"):
        settle_schema(read(table()), Recipe(columns={"ill": {"role": "target"}, "age": {"type": "integer"}}))


def test_no_number_of_persons_is_suggested_as_a_quasi_identifier():
    visits = pl.DataFrame({"Patientennummer": [f"P{i // 3}" for i in range(90)], "ward": ["a", "b", "c"] * 30})
    with pytest.raises(SchemaError, match=r"what could an attacker know\? The data suggest: ward\."):
        settle_schema(read(visits.with_columns(cost=pl.Series(["low", "high"] * 45))), Recipe())


def test_other_is_no_statement_and_asks_as_no_role_does():
    _, notices = settle(table(patient_id=range(ROWS)), weight="other", diagnosis="other", patient_id="other")
    assert told(notices) == {("unnamed", "weight"), ("unnamed", "diagnosis"), ("unnamed", "patient_id")}


def test_what_is_dropped_is_not_asked_about_but_rows_of_a_person_are_told():
    schema, notices = settle(table(patient_id=VISITS), weight="drop", diagnosis="drop", patient_id="drop")
    assert schema.dropped == ("weight", "diagnosis", "patient_id")
    assert schema.released == ("age", "ill")
    [notice] = notices
    assert (notice.code, notice.where) == ("repeats", "patient_id")
    assert "rows are not persons here" in notice.message


VISITS = [i // 4 for i in range(ROWS)]


def test_62_an_identifier_that_repeats_is_refused():
    with pytest.raises(SchemaError) as caught:
        settle(table(person=VISITS), person="identifier")
    message = str(caught.value)
    assert "Rows are not persons here: the identifier 'person' repeats, 450 rows" in message
    assert "if k counts rows" in message
    assert message.index("let k count persons: person='person'") < message.index("repeats=['person']")


def test_62_identifiers_repeat_with_their_persons():
    schema, notices = settle(table(person=VISITS, name=VISITS), person="person", name="identifier")
    assert (schema.person, schema.identifiers) == ("person", ("name",))
    assert not [notice for notice in notices if notice.code == "repeats"]


def test_62_a_finer_person_than_an_identifier_is_told():
    """Whoever names the visit as the person protects visits."""
    _, notices = settle(table(visit=range(ROWS), person=VISITS), visit="person", person="identifier")
    [notice] = [notice for notice in notices if notice.code == "repeats"]
    assert notice.where == "person"
    assert "fewer values than visit has persons" in notice.message


def test_62_a_pseudonym_of_persons_links_their_rows():
    with pytest.raises(SchemaError, match=r"pseudonym 'card' repeats.*keep_link=True.*repeats=\['card'\]"):
        settle(table(person=VISITS, card=VISITS), person="person", card="pseudonym")
    with pytest.raises(SchemaError, match=r"person='card' with keep_link=True, in place of a pseudonym"):
        settle(table(card=VISITS), card="pseudonym")
    _, notices = settle(table(person=VISITS, card=VISITS), person="person", card="pseudonym", repeats=["card"])
    [notice] = [notice for notice in notices if notice.code == "repeats"]
    assert "fewer than k persons" in notice.message


@pytest.mark.parametrize("repeated", [2, 4, 20])
def test_62_an_unnamed_identifier_that_repeats_is_refused(repeated):
    """It must neither be released as an ordinary column nor be dropped in silence."""
    numbers = [f"P-{i // repeated}" for i in range(ROWS)]
    with pytest.raises(SchemaError, match=f"'patient_id' repeats, {ROWS - ROWS // repeated} rows"):
        settle(table(patient_id=numbers))


def test_62_one_repeated_row_is_enough():
    with pytest.raises(SchemaError, match="1 row has the value"):
        settle(table(person=[0, *range(ROWS - 1)]), person="identifier")


def test_62_a_category_with_the_name_of_an_identifier_is_none():
    schema, notices = settle(table(account=["private" if i % 5 else "public" for i in range(ROWS)]))
    assert schema["account"].role is Role.OTHER
    assert ("unnamed", "account") in told(notices)


def test_62_missing_identifiers_repeat_nobody():
    schema, _ = settle(table(person=[None, None, *range(ROWS - 2)]), person="identifier")
    assert schema.identifiers == ("person",)


def test_62_every_identifier_is_asked():
    """A unique number of the visit does not prove that persons come once."""
    with pytest.raises(SchemaError, match="'person' repeats"):
        settle(table(visit=range(ROWS), person=VISITS), visit="identifier", person="identifier")


def test_62_names_may_repeat_if_one_says_so():
    frame = table(name=["Ann" if i % 9 else "Bob" for i in range(ROWS)], person=range(ROWS))
    with pytest.raises(SchemaError, match="'name' repeats"):
        settle(frame, name="identifier", person="identifier")
    schema, notices = settle(frame, name="identifier", person="identifier", repeats=["name"])
    assert schema.identifiers == ("name", "person")
    assert ("repeats", "name") in told(notices)
    assert "598 rows" in next(notice.message for notice in notices if notice.code == "repeats")


def test_62_repeats_is_about_identifiers():
    with pytest.raises(SchemaError, match="repeats names 'age', which is no identifier"):
        settle(table(), repeats=["age"])


def test_62_other_roles_may_repeat():
    schema, _ = settle(table(person=VISITS), person="quasi-identifier")
    assert "person" in schema.quasi_identifiers


def test_62_no_value_is_told():
    with pytest.raises(SchemaError) as caught:
        settle(table(person=["SECRET"] * ROWS), person="identifier")
    assert "SECRET" not in str(caught.value)
