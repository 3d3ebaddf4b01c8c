"""Persons of two tables, of a population, of rare values; and pseudonyms that chance made."""

from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from incrowd.verification.class_sizes import recount_persons
from incrowd.verification.forbidden_cells import RareValues
from incrowd.verification.histories import BESIDE, person_pseudonym_checks
from incrowd.verification.opening import connect, register
from incrowd.verification.population import People, recount_population
from incrowd.verification.requirements import Further, necessary_of_rows
from incrowd.verification.two_tables import PersonsTable
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import ColumnType
from support import oracle_persons as oracle
from support.oracle_persons import Row
from support.owned_tables import Counted, owners_of_rows

# two tables

STATIC = st.lists(st.sampled_from("fm"), min_size=1, max_size=5)
EVENTS = st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["A", "B", None])), min_size=1, max_size=9)


@given(static=STATIC, events=EVENTS, m=st.integers(1, 3), count_known=st.booleans())
def test_both_tables_are_counted_as_by_brute_force(static, events, m, count_known):
    persons = [Row(f"p{number}", (sex,)) for number, sex in enumerate(static)]
    rows = [Row(f"p{number}", (cell,)) for number, cell in events if number < len(static)]
    assume(rows)
    numbers = {sex: place + 1 for place, sex in enumerate("fm")}
    beside = PersonsTable(
        [row.person for row in persons],
        pa.table({"person": np.arange(len(static)), "st": [numbers[sex] for sex in static]}),
        0,
        (),
    )
    for said, expected in (
        ({}, oracle.joint_linked_k(persons, rows)),
        (
            {"known_rows": m, "count_known": count_known},
            oracle.joint_known_rows_k(persons, rows, m, count_known=count_known),
        ),
    ):
        with Counted(rows, linked=True, **said) as table:
            beside.register(table.connection, table.owners)
            sizes, _ = recount_persons(table.connection, table.names, [("k", ["q0"], 2)], table.owners)
            assert table.connection.execute(f"SELECT count(*) FROM {BESIDE}").fetchall() == [(len(static),)]
        assert sizes.persons.smallest == expected


def test_who_has_events_and_no_row_is_alone_with_having_none():
    rows = [Row("p", ("A",)), Row("q", ("A",)), Row("r", ("A",))]
    beside = PersonsTable(["p", "q"], pa.table({"person": [0, 1], "st": [1, 1]}), 0, ())
    assert beside.strangers(owners_of_rows(rows)).tolist() == [False, False, True]
    with Counted(rows, linked=True) as table:
        beside.register(table.connection, table.owners)
        sizes, _ = recount_persons(table.connection, table.names, [("k", ["q0"], 2)], table.owners)
    assert sizes.persons.histogram == ((1, 1), (2, 1))


# populations


def test_persons_of_the_population_are_counted_once():
    """The worked example: a has rows x and y, b has x, c and d have y."""
    values = pl.Series(["x", "y"])
    own = EncodedColumn("q", ColumnType.CATEGORICAL, np.array([0, 1, 0, 1, 1], np.int32), values)
    parts = (KMap(2), KMap(3), DeltaPresence("1/4", "1"), DeltaPresence("0", "3/4"))
    people = People(EncodedTable.of([own]), {"q0": "q"}, parts, owners=np.array([0, 0, 1, 2, 3]))
    rows = [Row("a", ("x",)), Row("a", ("x",)), Row("b", ("x",)), Row("a", ("x|y",))]
    with Counted(rows) as table:
        checks = recount_population(table.connection, table.names, ["q0"], people, persons=True)
    assert [check.passed for check in checks] == [True, False, True, False]
    assert checks[0].finding == "fewest people that fit one of 2 combinations: 2"
    assert checks[2].finding == f"shares from {float(Fraction(1, 4)):.4f} to 1.0000"


# rare values

AGES = [(0, 20), (0, 21), (0, 22), (1, 21), (1, 30), (2, 30)]


def rare(shown, people, *, person=True, hierarchy=None):
    """How many cells name what fewer persons have; a person and an age in each row."""
    with connect(threads=1) as connection:
        ages = [age for _, age in AGES]
        register(connection, pa.table({"age": shown}), "released")
        register(connection, pa.table({"age": ages}), "original")
        register(connection, pa.table({"age": ages, "who": [who for who, _ in AGES]}), "everybody")
        looks = RareValues(
            connection,
            ["age"],
            ["age"],
            people,
            "everybody",
            hierarchies={"age": hierarchy} if hierarchy else {},
            person="c1" if person else None,
        )
        return looks.cells()["age"]


def test_intervals_name_persons_not_rows():
    shown = ["(19, 22]"] * 4 + ["(22, 30]"] * 2
    assert rare(shown, 4, person=False) == 2
    assert (rare(shown, 2), rare(shown, 3)) == (0, 6)


def test_groups_name_persons_not_rows():
    ages = [["20", "young", "*"], ["21", "young", "*"], ["22", "young", "*"], ["30", "old", "*"]]
    tree = Hierarchy.from_paths("age", ages)
    shown = ["young"] * 4 + ["old"] * 2
    assert (rare(shown, 2, hierarchy=tree), rare(shown, 3, hierarchy=tree)) == (0, 6)
    assert rare(shown, 4, person=False, hierarchy=tree) == 2


# pseudonyms


@pytest.mark.parametrize("seed", range(40))
def test_pseudonyms_that_chance_made_are_not_refused(seed):
    chance = np.random.default_rng(86420 + seed)
    rows = [Row(f"{number:03d}", ("x",), f"p{chance.bytes(16).hex()}") for number in range(60)]
    with Counted(rows, linked=True) as table:
        assert all(check.passed for check in person_pseudonym_checks(table.connection, "s", 1, table.owners))


@pytest.mark.parametrize("key", ["{:03d}", "{}"])
def test_pseudonyms_in_the_order_of_numbers_are_refused(key):
    chance = np.random.default_rng(5)
    names = sorted(f"p{chance.bytes(16).hex()}" for _ in range(60))
    rows = [Row(key.format(number), ("x",), names[number]) for number in chance.permutation(60).tolist()]
    with Counted(rows, linked=True) as table:
        checks = {check.name: check for check in person_pseudonym_checks(table.connection, "s", 1, table.owners)}
    assert not checks["s order"].passed


# who has the release alone


def test_only_numbers_of_values_are_necessary_of_rows():
    """Ten rows of one diagnosis, and two others: 3-diverse and no share above 1/3 by persons, not by rows."""
    parts = [Further(part, "s") for part in (DistinctDiversity(3), ConfidenceCap("1/3"), EntropyDiversity(3))]
    assert necessary_of_rows(parts) == (parts[0],)
