"""Weights and limits on random tables: what they promise, by every method that can."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.catalog import METHODS, make_method
from incrowd.plan.steps import Recode, Show
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval, Shown, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.strategies import Case, cases

SOME = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
WEIGHING = [name for name, entry in METHODS.items() if entry.weighs and not entry.together]


def decided(case, method, k, preferences):
    population = EmbeddedPopulation(case.table, case.schema, SeededRandomness(7))
    return make_method(method, {}).decide(population, KAnonymity(k), SeededRandomness(8), preferences)


@SOME
@given(cases(max_rows=30), st.integers(1, 6), st.sampled_from(WEIGHING), st.sampled_from([1, 0.5, 7]))
def test_equal_weights_are_as_none(case, k, method, factor):
    k = min(k, case.table.height)
    weights = Preferences(weights=dict.fromkeys(case.names, factor))
    assert decided(case, method, k, weights) == decided(case, method, k, Preferences())


def alike(rows=240):
    """Three numbers that tell equally much of the class, and one word that tells little."""
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 8, rows).astype(np.int32) for name in ("a", "b", "c")}
    codes["word"] = rng.integers(0, 3, rows).astype(np.int32)
    labels = (codes["a"] + codes["b"] + codes["c"] + rng.integers(0, 6, rows) > 13).astype(np.int32)
    numbers = [EncodedColumn(n, ColumnType.INTEGER, codes[n], pl.Series(range(8))) for n in ("a", "b", "c")]
    word = EncodedColumn("word", ColumnType.CATEGORICAL, codes["word"], pl.Series(["x", "y", "z"]))
    target = EncodedColumn("class", ColumnType.CATEGORICAL, labels, pl.Series(["no", "yes"]))
    columns = [*numbers, word, target]
    roles = [*[Role.QUASI_IDENTIFIER] * 4, Role.TARGET]
    schema = Schema(tuple(Column(c.name, role, c.type) for c, role in zip(columns, roles, strict=True)))
    return Case([], EncodedTable.of(columns), schema)


def covered(form):
    """How many of the eight numbers, or three words, a form may stand for."""
    match form:
        case Shown():
            return 1
        case ValueSet(values):
            return len(values)
        case Interval(low, high):
            return sum((low is None or number > low) and (high is None or number <= high) for number in range(8))
    return 8


def coarseness(steps, name):
    """How many values the cells of an attribute may stand for, all rows together."""
    for step in steps:
        if isinstance(step, Show):
            return sum(group.rows * covered(group.forms[step.names.index(name)]) for group in step.groups)
        if isinstance(step, Recode):
            parts = step[name].parts
            hidden = 240 - sum(part.rows for part in parts)
            return sum(part.rows * covered(part.form) for part in parts) + 8 * hidden
    raise AssertionError("nothing is shown")


@pytest.mark.parametrize("method", WEIGHING)
@pytest.mark.parametrize("name", ["a", "b", "c", "word"])
def test_a_heavy_attribute_is_kept_at_least_as_fine(method, name):
    case = alike()
    heavy = decided(case, method, 10, Preferences(weights={name: 1000}))
    assert coarseness(heavy, name) <= coarseness(decided(case, method, 10, Preferences()), name)


@pytest.mark.parametrize("method", WEIGHING)
def test_weights_change_what_is_kept(method):
    case = alike()
    kinds = [decided(case, method, 10, Preferences(weights={name: 1000})) for name in ("a", "b", "c")]
    assert kinds[0] != kinds[1] != kinds[2]
