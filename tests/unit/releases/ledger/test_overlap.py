"""Who of a table is in an entry."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import incrowd.releases.ledger.overlap as overlap
from incrowd.errors import VerificationError
from incrowd.releases.ledger.entry import FIRST, RELEASE, LedgerEntry, Recorded, linked
from incrowd.releases.ledger.judging import Beside
from incrowd.releases.ledger.marks import Marker
from incrowd.releases.ledger.overlap import MarkedTable
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.schema import Column, Role, Schema

KEY = bytes(32)


def table_of(frame, identifiers=(), **asked):
    roles = {name: Role.IDENTIFIER if name in identifiers else Role.QUASI_IDENTIFIER for name in frame.columns}
    schema = Schema(tuple(Column(name, role) for name, role in roles.items()))
    return MarkedTable(Source(frame, Origin("polars")), schema, Marker(KEY), **asked)


def recorded(table):
    entry = LedgerEntry(RELEASE, k=2, quasi_identifiers=table.schema.quasi_identifiers, people=table.people)
    people = table.people_of(np.zeros(table.people, np.int32))
    return Recorded(entry, linked(entry.to_json(), 0, FIRST, KEY), lambda: people)


def compared(now, then):
    found = overlap.compare(now, recorded(then))
    return found.by, found.relation, found.shared


PEOPLE = pl.DataFrame(
    {
        "number": [f"p{i}" for i in range(60)],
        "card": [f"c{i}" for i in range(60)],
        "age": [i % 30 + 20 for i in range(60)],
        "town": [f"t{i}" for i in range(60)],
    }
)


def test_the_identifier_that_shares_most_decides():
    then = table_of(PEOPLE, ["number", "card"])
    renumbered = PEOPLE.with_columns(number=pl.Series([f"n{i}" for i in range(60)]))
    assert compared(table_of(renumbered, ["number", "card"]), then) == ("identifier", "complete", 60)
    only_card = table_of(PEOPLE.drop("number")[30:], ["card"])
    assert compared(only_card, then) == ("identifier", "partial", 30)


@pytest.mark.parametrize("cell", [None, "p1"])
def test_an_identifier_that_is_missing_or_repeats_somewhere_is_none(cell):
    flawed = PEOPLE.drop("card").with_columns(number=pl.Series([cell, *PEOPLE["number"][1:]]))
    now = table_of(flawed, ["number"])
    assert now.persons == {}
    assert compared(now, table_of(PEOPLE.drop("card"), ["number"])) == ("quasi-identifiers", "complete", 60)


def test_people_with_one_quasi_identifier_are_not_alike_in_nothing():
    ages = pl.DataFrame({"age": ["a", "b"]})
    assert compared(table_of(pl.DataFrame({"age": ["x"]})), table_of(ages)) == ("quasi-identifiers", "none", 0)


@pytest.mark.parametrize("moved", [-10, -3, 1, 10])
def test_ages_of_other_years(moved, monkeypatch):
    rows = PEOPLE.drop("number", "card")
    later = rows.with_columns(age=pl.col("age") + moved)
    wanted = (f"quasi-identifiers, age {moved:+d}", "complete", 60)
    assert compared(table_of(later), table_of(rows)) == wanted
    monkeypatch.setattr(overlap, "_LARGE", 10)
    assert compared(table_of(later), table_of(rows)) == wanted


def test_a_sample_that_points_out_one_shift_spares_counting_the_others(monkeypatch):
    rows = PEOPLE.drop("number", "card")
    now, then = table_of(rows.with_columns(age=pl.col("age") + 2)), table_of(rows)
    entry = recorded(then).entry
    people = recorded(then).people
    monkeypatch.setattr(overlap, "_LARGE", 10)
    assert [shift for _, shift in overlap._shifted(now, entry, people, 0)] == [("age", -2)]
    few = table_of(rows.head(20).with_columns(age=pl.col("age") + 2))
    assert len(list(overlap._shifted(few, entry, people, 0))) == 2 * overlap.FURTHEST


def test_further_than_ten_years_must_be_said():
    rows = PEOPLE.drop("number", "card")
    later = table_of(rows.with_columns(age=pl.col("age") + 11))
    assert compared(later, table_of(rows)) == ("alike in all but one", "unknown", None)


def test_a_column_with_the_values_of_one_that_is_gone_is_proposed():
    rows = PEOPLE.drop("number", "card")
    found = overlap.compare(table_of(rows.rename({"town": "city"})), recorded(table_of(rows)))
    assert "city has the values of town" in found.hint
    found = overlap.compare(table_of(rows.drop("town")), recorded(table_of(rows)))
    assert "The column town is gone" in found.hint


def test_a_name_that_now_belongs_to_another_column():
    rows = PEOPLE.drop("number", "card")
    exchanged = rows.rename({"age": "town", "town": "age"})
    now = table_of(exchanged, same_columns={"age": "town", "town": "age"})
    assert compared(now, table_of(rows)) == ("quasi-identifiers", "complete", 60)
    taken = table_of(rows.rename({"town": "city"}).with_columns(town=pl.lit("x")), same_columns={"city": "town"})
    assert compared(taken, table_of(rows)) == ("quasi-identifiers", "complete", 60)


def test_two_counts_of_who_is_shared_must_agree(monkeypatch):
    beside = Beside(table_of(PEOPLE, ["number", "card"]), [recorded(table_of(PEOPLE, ["number", "card"]))], "")
    object.__setattr__(beside.overlaps[0], "shared", 61)
    with pytest.raises(VerificationError, match="Two counts"):
        beside.together(np.zeros(60, np.int32), 2, {})


def test_rows_are_put_into_an_order_that_does_not_depend_on_theirs():
    rows = pl.DataFrame({"age": [1, 1, 1, 2], "note": ["b", "a", "c", "d"]})
    table, other = table_of(rows), table_of(rows.reverse())
    orders = [one.order(one.rows(["age"]), ["note"]) for one in (table, other)]
    assert rows[orders[0]].rows() == rows.reverse()[orders[1]].rows()
