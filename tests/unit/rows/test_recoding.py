"""Values shown by their parts, rare combinations hidden, new rows, and what the verification is told."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import SchemaError
from incrowd.plan.release_plan import HIGH, LOW, ReleasePlan, Written
from incrowd.plan.steps import Hide, Part, Recode, Recoding, Spread
from incrowd.rows.memory.drafting import end_values
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.memory.population import _SMALL_TABLE, combine, first_rows, recode_column
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Category, Interval, Level, Midpoint, Shown, Suppressed
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

SOME = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def encoded(name, values, kind):
    known = sorted({value for value in values if value is not None})
    place = {value: i for i, value in enumerate(known)} | {None: len(known)}
    dtypes = {ColumnType.INTEGER: pl.Int64, ColumnType.REAL: pl.Float64}
    dictionary = pl.Series(name, known, dtypes.get(kind, pl.String))
    return EncodedColumn(name, kind, np.array([place[value] for value in values], np.int32), dictionary)


AGES = [20, 25, 31, 40, 40, None, 62, 90]
JOBS = ["cook", "nurse", "nurse", "smith", None, "cook", "nurse", "cook"]
ILL = ["y", "n", "n", "y", "n", "n", "y", "y"]
TABLE = EncodedTable.of(
    [
        encoded("age", AGES, ColumnType.INTEGER),
        encoded("job", JOBS, ColumnType.CATEGORICAL),
        encoded("ill", ILL, ColumnType.CATEGORICAL),
    ]
)
FRAME = pl.DataFrame({"age": AGES, "job": JOBS, "ill": ILL})
SCHEMA = Schema(
    (
        Column("age", Role.QUASI_IDENTIFIER, ColumnType.INTEGER),
        Column("job", Role.QUASI_IDENTIFIER, ColumnType.CATEGORICAL),
        Column("ill", Role.TARGET, ColumnType.CATEGORICAL),
    )
)
YOUNG, OLD = Interval(None, 30), Interval(30, None)
JOB_PARTS = Recoding(
    "job", (Part(("cook", "smith", "baker"), Category("craft"), 4), Part(("nurse",), Shown("nurse"), 3))
)


def recode(form=lambda interval: interval):
    return Recode((Recoding("age", (Part(YOUNG, form(YOUNG), 2), Part(OLD, form(OLD), 5))), JOB_PARTS))


def plan_of(*steps):
    return ReleasePlan("m", (), KAnonymity(1), SCHEMA, 8, steps)


def drafted(plan, seed=1):
    engine, chance = EmbeddedEngine(), SeededRandomness(seed)
    population = engine.population(TABLE, SCHEMA, chance)
    settled = engine.settle(plan, population)
    draft = engine.draft(settled, population, FRAME, chance)
    order = np.argsort(draft.origin)
    return settled, draft.frame[order], draft, order


def test_every_value_shows_its_part_and_missing_shows_nothing():
    _, frame, draft, _ = drafted(plan_of(recode()))
    assert frame["age"].to_list() == [f"({'-inf, 30]' if a <= 30 else '30, inf)'}" if a else None for a in AGES]
    assert frame["job"].to_list() == ["craft", "nurse", "nurse", "craft", None, "craft", "nurse", "craft"]
    assert frame["ill"].to_list() == ILL
    assert draft.claims == {}


def test_a_level_is_the_mean_of_its_part_and_of_nobody_else():
    settled, frame, *_ = drafted(plan_of(recode(lambda i: Level(i.low, i.high))))
    assert settled.forms("age")[0] == Level(None, 30, 22.5)
    assert settled.forms("age")[1] == Level(30, None, (31 + 40 + 40 + 62 + 90) / 5)
    assert frame["age"].to_list()[:2] == [22.5, 22.5]
    none = Recoding("age", (Part(Interval(None, 3), Level(None, 3), 0),))
    settled, *_ = drafted(plan_of(Recode((none, JOB_PARTS))))
    assert settled.forms("age") == (Level(None, 3, None), Suppressed())


def test_rare_combinations_show_nothing_or_are_left_out():
    hide = Hide(("age", "job"), 2, (), rows=4)
    population = EmbeddedEngine().population(TABLE, SCHEMA, SeededRandomness(1)).recode(recode()).hide(hide)
    assert population.table["age"].codes.tolist() == [2, 2, 1, 1, 2, 2, 1, 1]
    assert population.table["job"].codes.tolist() == [2, 2, 1, 0, 2, 2, 1, 0]
    dropped = drafted(plan_of(recode(), Hide(("age", "job"), 2, (), drop=True, rows=4)))
    assert sorted(dropped[2].origin.tolist()) == [2, 3, 6, 7]
    assert dropped[0].rows_dropped == 4


def test_a_combination_can_be_named():
    hide = Hide(("age", "job"), 1, ((1, 0), (0, 2)))
    population = EmbeddedEngine().population(TABLE, SCHEMA, SeededRandomness(1)).recode(recode()).hide(hide)
    assert population.table["age"].codes.tolist() == [0, 0, 1, 2, 1, 2, 1, 2]
    assert population.table["job"].codes.tolist() == [0, 1, 1, 2, 2, 0, 1, 2]


def test_left_out_rows_are_not_counted_any_more():
    population = EmbeddedEngine().population(TABLE, SCHEMA, SeededRandomness(1)).recode(recode())
    population = population.hide(Hide(("age",), 3, (), drop=True))
    assert population.kept.tolist() == [2, 3, 4, 6, 7]
    found = population.combinations(["age", "job"])
    assert found.codes.tolist() == [[1, 0], [1, 1], [1, 2]]
    assert found.sizes.tolist() == [2, 2, 1]
    again = population.hide(Hide(("job",), 2, (), drop=True))
    assert again.kept.tolist() == [2, 3, 6, 7]


def test_a_step_is_applied_once():
    population = EmbeddedEngine().population(TABLE, SCHEMA, SeededRandomness(1))
    step = recode()
    assert population.recode(step) is population.recode(step)


def test_counts_are_by_class_and_missing_is_counted():
    population = EmbeddedEngine().population(TABLE, SCHEMA, SeededRandomness(1))
    assert population.contingency("job").tolist() == [[1, 2, 0], [2, 1, 0], [0, 1, 0], [1, 0, 0]]
    blind = Schema(tuple(c for c in SCHEMA.columns if c.name != "ill"))
    population = EmbeddedEngine().population(TABLE, blind, SeededRandomness(1))
    assert population.contingency("job").tolist() == [[3], [3], [1], [1]]


def test_intervals_are_written_as_two_columns():
    plan, frame, *_ = drafted(plan_of(recode(), Spread(("age",))))
    assert frame.columns == ["age_low", "age_high", "job", "ill"]
    assert frame["age_low"].to_list() == [None, None, 30, 30, 30, None, 30, 30]
    assert frame["age_high"].to_list() == [30, 30, None, None, None, None, None, None]
    assert frame.schema["age_low"] == pl.Int64
    assert [column.source for column in plan.written] == ["age", "age", "job", "ill"]


def test_both_ends_of_a_single_value_are_the_value():
    forms = [Shown(3), Interval(3, 4.5), Suppressed()]
    low = end_values(Written("x_low", "x", LOW), forms, ColumnType.REAL)
    high = end_values(Written("x_high", "x", HIGH), forms, ColumnType.REAL)
    assert low.to_list() == [3, 3, None]
    assert high.to_list() == [3, 4.5, None]
    dates = end_values(Written("x_low", "x", LOW), [Interval(0, 10)], ColumnType.DATE)
    assert str(dates[0]) == "1970-01-01"


def test_two_columns_need_free_names():
    columns = (*SCHEMA.columns, Column("age_low"))
    plan = ReleasePlan("m", (), KAnonymity(1), Schema(columns), 8, (recode(), Spread(("age",))))
    with pytest.raises(SchemaError, match="Rename it"):
        _ = plan.written


def test_middles_come_with_the_interval_they_claim():
    _, frame, draft, order = drafted(plan_of(recode(lambda i: Midpoint(i.low, i.high, 25.0 if i == YOUNG else 60.0))))
    assert frame["age"].to_list() == [25, 25, 60, 60, 60, None, 60, 60]
    low, high = (ends[order] for ends in draft.claims["age"])
    assert np.array_equal(low, [-np.inf, -np.inf, 30, 30, 30, np.nan, 30, 30], equal_nan=True)
    assert np.array_equal(high, [30, 30, np.inf, np.inf, np.inf, np.nan, np.inf, np.inf], equal_nan=True)


def test_new_rows_show_their_parts_and_are_not_hidden():
    plan = plan_of(recode(), Hide(("age", "job"), 100, rows=8))
    new = EncodedTable.of(
        [
            encoded("age", [30.0, 30.5, -1e9, None], ColumnType.REAL),
            encoded("job", ["baker", "astronaut", None, "nurse"], ColumnType.CATEGORICAL),
        ]
    )
    frame = pl.DataFrame({"age": [30.0, 30.5, -1e9, None], "job": ["baker", "astronaut", None, "nurse"]})
    shown = EmbeddedEngine().transform(plan, new, frame)
    assert shown["age"].to_list() == ["(-inf, 30]", "(30, inf)", "(-inf, 30]", None]
    assert shown["job"].to_list() == ["craft", None, None, "nurse"]


def test_numbers_may_be_members_one_by_one():
    column = encoded("age", [1, 2, 3], ColumnType.INTEGER)
    recoded = recode_column(column, Recoding("age", (Part((1, 3), Category("odd"), 2),)))
    assert recoded.codes.tolist() == [0, 1, 0]


@SOME
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2), st.integers(0, 40)), max_size=60), st.booleans())
def test_combinations_are_numbered_in_their_order(rows, wide):
    width = _SMALL_TABLE if wide else 41
    columns = [
        EncodedColumn(str(i), ColumnType.TEXT, np.array([row[i] for row in rows], np.int32), pl.Series(["x"] * (w - 1)))
        for i, w in enumerate((5, 3, width))
    ]
    numbers, count = combine(columns, len(rows))
    distinct = sorted(set(rows))
    assert count == len(distinct)
    assert [distinct[number] for number in numbers] == rows
    assert Counter(numbers.tolist()) == Counter(distinct.index(row) for row in rows)
    assert [rows[first] for first in first_rows(numbers, count)] == distinct


def test_no_column_is_one_combination():
    assert combine([], 3)[0].tolist() == [0, 0, 0]
    assert combine([], 0)[1] == 0
