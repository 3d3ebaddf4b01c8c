"""What a classifier still learns: a decision tree from the table and from its release, on the same unseen rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.algorithms.catalog import find_method, make_method
from incrowd.engines.embedded.binning import bin_table
from incrowd.engines.engine import Engine
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Bin, Spread
from incrowd.reading.encode import encode
from incrowd.reading.source import Origin, Source
from incrowd.recipe import Recipe
from incrowd.report.facts import Accuracy
from incrowd.trees.c45 import C45
from incrowd.trees.predict import predict
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import SystemRandomness, permutation
from incrowd.vocabulary.released_value import Form, Interval, Mean, Range, Suppressed, ValueSet
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

LARGEST = 60_000


def measure_accuracy(source: Source, schema: Schema, recipe: Recipe, engine: Engine) -> Accuracy:
    """Release two thirds of the rows, learn from them before and after, test on the last third.

    The learner is C4.5 with missing values shared out over branches. To it, suppressed cells and value sets are
    missing; public bins are categories, and unseen rows are put into the same bins; an interval that is no public
    bin is its middle. Where a method generalizes, unseen rows are shown through its plan. At most 60,000 rows, drawn at
    random, are used.
    """
    randomness = SystemRandomness()
    rows = permutation(source.frame.height, randomness)[:LARGEST]
    names = _learnable(schema)
    table, _ = encode(replace(source, frame=source.frame[rows]), schema, names)
    third = table.height // 3
    order = np.arange(table.height)
    test, train = table.take(order[:third]), table.take(order[third:])
    population = engine.population(train, schema, randomness)
    method = make_method(recipe.method, dict(recipe.parameters))
    steps = method.decide(population, recipe.requirement, randomness)
    plan = ReleasePlan(method.name, (), recipe.requirement, schema, train.height, steps)
    plan = as_learned(engine.settle(plan, population))
    frame = engine.draft(plan, population, source.frame[rows[third:]], randomness).frame
    released = _encoded(frame, _schema_of(frame, schema), names)
    if find_method(recipe.method).generalizes:
        seen = engine.transform(plan, test, source.frame[rows[:third]])
        unseen = _encoded(seen, _schema_of(frame, schema), names)
    else:
        unseen = _binned(test, plan)
    assert schema.target is not None
    majority = int(np.argmax(train[schema.target].counts))
    return Accuracy(
        before=_accuracy(train, test, names, schema.target),
        after=_accuracy(released, unseen, names, schema.target),
        majority=float(np.mean(test[schema.target].codes == majority)),
        train_rows=train.height,
        test_rows=test.height,
    )


def _learnable(schema: Schema) -> list[str]:
    """The released columns a tree can use, the target among them."""
    return [
        column.name
        for column in schema.columns
        if column.role in (Role.QUASI_IDENTIFIER, Role.TARGET)
        or (column.role is not Role.IDENTIFIER and column.type is not ColumnType.TEXT)
    ]


def _accuracy(train: EncodedTable, test: EncodedTable, names: Sequence[str], target: str) -> float:
    tree = C45(missing="weight").grow(train, [name for name in names if name != target], target)
    truth = np.array([*test[target].dictionary.to_list(), None], dtype=object)[test[target].codes]
    return float(np.mean(np.array(tree.classes, dtype=object)[predict(tree, test)] == truth))


def _encoded(frame: pl.DataFrame, schema: Schema, names: Sequence[str]) -> EncodedTable:
    return encode(Source(frame, Origin("polars", missing=())), schema, names)[0]


def as_learned(plan: ReleasePlan) -> ReleasePlan:
    """The plan as a learner takes it: sets are missing, and intervals that are no public bins are their middles."""

    def learned(name: str, form: Form) -> Form:
        if isinstance(form, ValueSet):
            return Suppressed()
        return _middle(form) if isinstance(form, Interval | Range) and name not in plan.binned else form

    whole = replace(plan, steps=tuple(step for step in plan.steps if not isinstance(step, Spread)))
    return whole.with_forms({name: [learned(name, form) for form in plan.forms(name)] for name in plan.names})


def _middle(interval: Interval | Range) -> Mean:
    """The middle of an interval; of an open one the number just inside its only end."""
    if interval.low is None or interval.high is None:
        return Mean(interval.high if interval.low is None else float(np.nextafter(interval.low, np.inf)))
    return Mean((interval.low + interval.high) / 2)


def _binned(test: EncodedTable, plan: ReleasePlan) -> EncodedTable:
    """Unseen rows in the plan's public bins, where bins are shown as categories."""
    for step in plan.steps:
        if isinstance(step, Bin) and not plan.levelled:
            test = bin_table(test, step)
    return test


def _schema_of(frame: pl.DataFrame, schema: Schema) -> Schema:
    """The released columns as a learner takes them: numbers as numbers, bins as categories."""
    return Schema(tuple(_column(schema[name], frame.schema[name]) for name in frame.columns))


def _column(column: Column, dtype: pl.DataType) -> Column:
    if column.role is not Role.QUASI_IDENTIFIER or not column.type.is_numeric:
        return column
    if dtype == pl.String:
        return replace(column, type=ColumnType.CATEGORICAL)
    return replace(column, type=ColumnType.DATE if dtype == pl.Date else ColumnType.REAL)
