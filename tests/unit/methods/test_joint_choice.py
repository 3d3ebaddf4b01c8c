"""Which attributes are counted together: what is left to tell within groups and classes, in sets that are disjoint."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from incrowd.methods.joint_counts import JointChoice
from incrowd.plan.steps import Bin, Seat
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

ROWS, RNG = 1200, np.random.default_rng(1)
CUTS = Bin((("age", (30.0,)),))
NAMES = ("a", "b", "c", "d", "age")


def population(columns, owners=None):
    """Rows with attributes as codes, an age, and a class."""
    known = [
        EncodedColumn(name, ColumnType.CATEGORICAL, codes.astype(np.int32), pl.Series([f"{name}{n}" for n in range(4)]))
        for name, codes in columns.items()
        if name != "age"
    ]
    ages = EncodedColumn("age", ColumnType.INTEGER, columns["age"].astype(np.int32), pl.Series([20, 30, 40, 50]))
    roles = {name: Role.TARGET if name == "y" else Role.QUASI_IDENTIFIER for name in columns}
    schema = Schema(
        tuple(Column(n, role, ages.type if n == "age" else ColumnType.CATEGORICAL) for n, role in roles.items())
    )
    return EmbeddedPopulation(EncodedTable.of([*known, ages]), schema, SeededRandomness(1), owners=owners)


def choice_of(columns, people=10, groups=None, owners=None):
    before = population(columns, owners)
    groups = np.arange(ROWS) // 60 if groups is None else groups
    after = before.seat(Seat(tuple(np.bincount(groups).tolist()), groups.astype(np.int32))).bin(CUTS)
    joint, reasons = JointChoice.of(after, before, CUTS, people).chosen(NAMES)
    return joint, reasons


def independent():
    return {name: RNG.integers(0, 4, ROWS) for name in (*NAMES, "y")}


def test_nothing_is_chosen_where_attributes_are_independent():
    joint, reasons = choice_of(independent())
    assert (joint, reasons.rows) == ((), ())


def test_what_group_or_class_tells_is_not_told_again():
    columns = independent()
    groups = np.sort(RNG.integers(0, 4, ROWS))
    columns |= {"a": groups, "b": (groups + 1) % 4, "c": columns["y"], "d": 3 - columns["y"]}
    assert choice_of(columns, groups=groups)[0] == ()


def test_pairs_and_a_third_attribute_are_chosen_and_no_attribute_twice():
    columns = independent()
    columns["b"] = np.where(RNG.random(ROWS) < 0.9, columns["a"], columns["b"])
    columns["c"] = np.where(RNG.random(ROWS) < 0.9, (columns["a"] + columns["b"]) // 2, columns["c"])
    columns["age"] = np.where(RNG.random(ROWS) < 0.95, columns["d"], columns["age"])
    joint, reasons = choice_of(columns, people=2)
    assert sorted(one.names for one in joint) == [("a", "b", "c"), ("d", "age")]
    assert next(iter(reasons.rows))[1] == max(bits for _, bits in reasons.rows)
    ages = {value for one in joint if "age" in one.names for _, value in one.values}
    assert ages == {Interval(None, 30.0), Interval(30.0, None)}


@pytest.mark.parametrize("persons", [False, True])
def test_what_few_people_have_may_not_be_named_and_is_a_twentieth_at_most(persons):
    columns = independent()
    columns["b"] = columns["a"].copy()
    columns["b"][:24] = (columns["a"][:24] + 1) % 4
    owners = np.arange(ROWS, dtype=np.int32) // 2 if persons else None
    joint, _ = choice_of(columns, people=60, owners=owners)
    assert [set(one.values) for one in joint] == [{(f"a{n}", f"b{n}") for n in range(4)}]
    columns["b"][:90] = (columns["a"][:90] + 1) % 4
    assert choice_of(columns, people=60, owners=owners)[0] == ()
