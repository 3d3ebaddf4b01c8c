"""People of a population who fit released combinations, read cell by cell; counted by hand."""

from __future__ import annotations

import datetime
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.verification.opening import connect, register
from incrowd.verification.population import People, combinations_kept, recount_population
from incrowd.verification.verdict import Check
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import ColumnType

CATEGORICAL, INTEGER, REAL, DATE = ColumnType.CATEGORICAL, ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE


@pytest.fixture(scope="module")
def connection():
    with connect(threads=1) as opened:
        yield opened


def people_of(columns):
    """A population: for each column its type and what each person has."""
    encoded = []
    for name, (kind, cells) in columns.items():
        values = sorted({cell for cell in cells if cell is not None})
        codes = [len(values) if cell is None else values.index(cell) for cell in cells]
        encoded.append(EncodedColumn(name, kind, np.array(codes, np.int32), pl.Series(values)))
    return EncodedTable.of(encoded)


def recounted(connection, shown, people):
    """The checks of a release that shows these columns."""
    connection.execute("SELECT 1").fetchall()  # what was asked before has been answered in full
    names = register(connection, pa.table(shown), "released")
    return recount_population(connection, names, list(shown), people)


def fitting(connection, kind, cells, shown, hierarchy=None):
    """How many of these people fit a cell; -1 if the check of a map contradicts the figure."""
    hierarchies = {} if hierarchy is None else {"q": hierarchy}
    table = people_of({"own": (kind, cells)})
    people = People(table, {"q": "own"}, [KMap(1), DeltaPresence(0, 1)], hierarchies)
    (check, _) = recounted(connection, {"q": pa.array([shown], pa.string())}, people)
    told, _, nobody = check.finding.partition("; ")
    count = int(told.rpartition(": ")[2])
    assert told == f"fewest people that fit one of 1 combinations: {count}"
    assert (check.passed, nobody) == ((True, "") if count else (False, "1 combinations fit nobody"))
    return count


AGES = [20, 30, 30, 40, 50, None]
JOBS = ["cook", "nurse", "nurse", "a|b", "50%", "=1+2", "-x", "'-x", None]
DAYS = [datetime.date(2020, 1, day) for day in (1, 2, 2, 31)] + [datetime.date(2020, 2, 1), None]
REALS = [0.5, 1.0, 1.5, 2.25, -3.0]
TREE = Hierarchy.from_paths("job", [["cook", "out", "*"], ["nurse", "in", "*"], ["50%", "in", "*"]])
BOUNDS = Hierarchy("age", ("*", "young", "(0, 20]", "(20, 30]", "(30, 60]"), (-1, 0, 1, 1, 0), Leaves.NUMBERS)


@pytest.mark.parametrize(
    ("kind", "cells", "shown", "count"),
    [
        (INTEGER, AGES, None, 6),  # shows nothing: everybody, also who has no age
        (INTEGER, AGES, "30", 2),
        (INTEGER, AGES, "30.0", 2),
        (INTEGER, AGES, "31", 0),
        (INTEGER, AGES, "20|50", 2),
        (INTEGER, AGES, "20|x|50", 2),
        (INTEGER, AGES, "(20, 40]", 3),  # without its low end, with its high end
        (INTEGER, AGES, "(19, 39]", 3),
        (INTEGER, AGES, "(-inf, 30]", 3),
        (INTEGER, AGES, "(30, inf)", 2),
        (INTEGER, AGES, "(-inf, inf)", 5),  # who has no age is not between
        (INTEGER, AGES, "[20, 40]", 4),  # with both ends
        (INTEGER, AGES, "[21, 39]", 2),
        (INTEGER, AGES, "[30, 30]", 2),
        (INTEGER, AGES, "[40, 30]", 0),
        (INTEGER, AGES, "[20, 30, 40]", 0),
        (INTEGER, AGES, "[20]", 0),
        (INTEGER, AGES, "[20, x]", 0),
        (INTEGER, AGES, "[x, 20]", 0),
        (INTEGER, AGES, "(40, 20]", 0),
        (INTEGER, AGES, "old", 0),
        (INTEGER, AGES, "*", 0),
        (INTEGER, [-5, 3], "'-5", 1),
        (INTEGER, [-5, 3], "-5", 1),
        (REAL, REALS, "0.5", 1),
        (REAL, REALS, "1", 1),
        (REAL, REALS, "(0.5, 1.5]", 2),
        (REAL, REALS, "[0.5, 1.5]", 3),
        (REAL, REALS, "-3|2.25", 2),
        (DATE, DAYS, "2020-01-02", 2),
        (DATE, DAYS, "2020-01-03", 0),
        (DATE, DAYS, "(2020-01-01, 2020-01-31]", 3),
        (DATE, DAYS, "[2020-01-01, 2020-01-31]", 4),
        (DATE, DAYS, "[2020-01-02, 2020-01-30]", 2),
        (DATE, DAYS, "(2020-01-31, inf)", 1),
        (CATEGORICAL, JOBS, "nurse", 2),
        (CATEGORICAL, JOBS, "nurse|cook", 3),
        (CATEGORICAL, JOBS, "doctor", 0),
        (CATEGORICAL, JOBS, "nurse|doctor", 2),
        (CATEGORICAL, JOBS, "a|b", 1),  # the value itself, as nobody is a or b
        (CATEGORICAL, JOBS, "a%7Cb|cook", 2),
        (CATEGORICAL, JOBS, "50%25|cook", 2),
        (CATEGORICAL, JOBS, "50%", 1),
        (CATEGORICAL, JOBS, "'=1+2", 1),  # an apostrophe before what looks like a formula
        (CATEGORICAL, JOBS, "=1+2", 1),
        (CATEGORICAL, JOBS, "'-x", 2),  # -x with an apostrophe, and '-x as it is
        (CATEGORICAL, JOBS, "-x", 1),
        (CATEGORICAL, JOBS, "'cook", 0),
        (CATEGORICAL, ["(1, 2]", "1"], "(1, 2]", 1),
        (CATEGORICAL, ["[1, 2]", "1"], "[1, 2]", 1),
        (CATEGORICAL, JOBS, "", 0),
    ],
)
def test_people_fit_what_is_true_of_them(connection, kind, cells, shown, count):
    assert fitting(connection, kind, cells, shown) == count


@pytest.mark.parametrize(
    ("kind", "cells", "hierarchy", "shown", "count"),
    [
        (CATEGORICAL, JOBS, TREE, "in", 3),
        (CATEGORICAL, JOBS, TREE, "out", 1),
        (CATEGORICAL, JOBS, TREE, "*", 4),  # not who has no place below it, nor who has none
        (CATEGORICAL, JOBS, TREE, "nurse", 2),
        (CATEGORICAL, JOBS, TREE, "nurse|cook", 3),
        (CATEGORICAL, JOBS, TREE, "a|b", 1),
        (INTEGER, AGES, BOUNDS, "young", 3),
        (INTEGER, AGES, BOUNDS, "(20, 30]", 2),
        (INTEGER, AGES, BOUNDS, "(30, 60]", 2),
        (INTEGER, AGES, BOUNDS, "(30, 40]", 1),
        (INTEGER, AGES, BOUNDS, "*", 5),
    ],
)
def test_people_fit_the_groups_of_a_hierarchy(connection, kind, cells, hierarchy, shown, count):
    assert fitting(connection, kind, cells, shown, hierarchy) == count


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [(20, 40, 3), (None, 30, 3), (30, None, 2), (None, None, 6), (10, 20, 1), (30, 30, 0), (60, None, 0), (None, 9, 0)],
)
@pytest.mark.parametrize("kind", [INTEGER, DATE])
def test_bounds_in_two_columns_exclude_the_low_and_include_the_high_end(connection, kind, low, high, count):
    day = {None: None} | {number: datetime.date(2020, 1, 1) + datetime.timedelta(number) for number in range(61)}
    ages = AGES if kind is INTEGER else [day[age] for age in AGES]
    ends = (low, high) if kind is INTEGER else (day[low], day[high])
    arrow = pa.int64() if kind is INTEGER else pa.date32()
    people = People(people_of({"age": (kind, ages)}), {"from": "age"}, [KMap(1)], {}, [("from", "to")])
    shown = {name: pa.array([end], arrow) for name, end in zip(("from", "to"), ends, strict=True)}
    (check,) = recounted(connection, shown, people)
    assert check.finding.startswith(f"fewest people that fit one of 1 combinations: {count}")


WHO = {"age": (INTEGER, [20, 20, 20, 30, 30, 40]), "job": (CATEGORICAL, ["a", "a", "b", "a", None, "c"])}


@pytest.mark.parametrize(
    ("rows", "asked", "passed", "found"),
    [
        ([("20", "a")], KMap(2), True, "fewest people that fit one of 1 combinations: 2"),
        ([("20", "a")], KMap(3), False, "fewest people that fit one of 1 combinations: 2"),
        ([("20", None), ("20", "a")], KMap(2), True, "fewest people that fit one of 2 combinations: 2"),
        ([("20", None), ("20", "a")], KMap(3), False, "fewest people that fit one of 2 combinations: 2"),
        ([("20", None), ("30", None)], KMap(2), True, "fewest people that fit one of 2 combinations: 2"),
        (
            [("20", "c"), ("20", "a"), ("x", "a")],
            KMap(1),
            False,
            "fewest people that fit one of 3 combinations: 0; 2 combinations fit nobody",
        ),
        (
            [("20", "a"), ("20", None), ("20", None)],
            DeltaPresence("1/2", "2/3"),
            False,
            "shares from 0.5000 to 0.6667; 3 people fit no combination",
        ),
        (
            [("20", "a"), ("20", None), ("20", None)],
            DeltaPresence(0, "2/3"),
            True,
            "shares from 0.5000 to 0.6667; 3 people fit no combination",
        ),
        (
            [(None, "a")] * 3,
            DeltaPresence(0, 1),
            True,
            "shares from 1.0000 to 1.0000; 3 people fit no combination",
        ),
        ([("[20, 40]", None)] * 3, DeltaPresence("1/2", "1/2"), True, "shares from 0.5000 to 0.5000"),
        ([("[20, 40]", None)] * 3, DeltaPresence("0.51", 1), False, "shares from 0.5000 to 0.5000"),
        ([("[20, 40]", None)] * 3, DeltaPresence(0, "0.49"), False, "shares from 0.5000 to 0.5000"),
        (
            [("[20, 30]", None)] * 4,
            DeltaPresence("0.1", 1),
            False,
            "shares from 0.8000 to 0.8000; 1 people fit no combination",
        ),
        (
            [("x", None)],
            DeltaPresence(0, 1),
            False,
            "no shares; 6 people fit no combination; 1 combinations fit nobody",
        ),
        (
            [("x", None), ("(0, 90]", None)],
            DeltaPresence(0, 1),
            False,
            "shares from 0.1667 to 0.1667; 1 combinations fit nobody",
        ),
    ],
)
def test_requirements_on_people(connection, rows, asked, passed, found):
    people = People(people_of(WHO), {"a": "age", "j": "job"}, [asked])
    shown = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(("a", "j"))}
    assert recounted(connection, shown, people) == (Check(str(asked), passed, found),)


def test_every_requirement_is_checked_and_without_people_none(connection):
    asked = [KMap(1), DeltaPresence(0, 1), KMap(7)]
    people = People(people_of(WHO), {"a": "age"}, asked)
    checks = recounted(connection, {"a": pa.array(["(0, 99]"])}, people)
    assert [(check.name, check.passed) for check in checks] == [
        ("1-map", True),
        ("(0, 1)-presence", True),
        ("7-map", False),
    ]
    assert recount_population(connection, ["a"], ["a"], None) == ()


def test_columns_are_found_by_name_and_rows_counted_by_combination(connection):
    people = People(people_of(WHO), {"j": "job"}, [DeltaPresence("1/3", "1/3")])
    connection.execute("SELECT 1").fetchall()
    names = register(connection, pa.table({"x": ["1", "2"], "j": ["a", "(1, 2]"], "y": ["3", "4"]}), "released")
    (check,) = recount_population(connection, names, ["j"], people)
    assert check.finding == "shares from 0.3333 to 0.3333; 3 people fit no combination; 1 combinations fit nobody"


@pytest.mark.parametrize(
    ("part", "rows", "people", "kept"),
    [
        (KMap(3), [1, 1, 1, 9], [2, 3, 4, 0], [False, True, True, False]),
        (DeltaPresence("0.1", "0.5"), [1, 1, 5, 51, 0], [11, 10, 10, 100, 0], [False, True, True, False, False]),
        (DeltaPresence(Fraction(1, 3), 1), [1, 3, 4], [3, 3, 3], [True, True, False]),
        (DeltaPresence(0, "0.5"), [0, 1], [1, 2], [True, True]),
    ],
)
def test_combinations_keep_what_is_between_the_bounds(part, rows, people, kept):
    assert combinations_kept(part, rows, people) == kept


def test_every_combination_has_its_people():
    with pytest.raises(ValueError, match="shorter"):
        combinations_kept(DeltaPresence(0, 1), [1, 1], [1])
