"""What a classifier still learns: a decision tree from the table and from its release, on the same unseen rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from incrowd.comparisons.examples import Examples
from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected, learnable
from incrowd.comparisons.learners.c45 import C45Learner
from incrowd.comparisons.learners.learner import predicted
from incrowd.comparisons.releasing import without_unused
from incrowd.methods.catalog import make_method
from incrowd.methods.limits import decide_within
from incrowd.methods.release_forms import formed, suited
from incrowd.plan.release_plan import ReleasePlan
from incrowd.report.facts import Accuracy
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, permutation
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.schema import Schema

LARGEST = 60_000
"""Rows on which accuracy is measured, drawn at random if there are more."""


def measure_accuracy(source: Source, schema: Schema, recipe: Recipe) -> Accuracy:
    """Release two thirds of the rows, learn from them before and after, test on the last third.

    The learner is C4.5 with missing values shared out over branches. How it takes cells that are no plain values is
    the usual :class:`~incrowd.comparisons.feeding.Feeding`. At most 60,000 rows, drawn at random, are used.
    """
    assert schema.target is not None
    engine, randomness = EmbeddedEngine(), SystemRandomness()
    rows = permutation(source.frame.height, randomness)[:LARGEST]
    subjects = subject_names(recipe.requirement, schema.target)
    names = [*dict.fromkeys([*learnable(schema), *subjects])]
    table, _ = encode(replace(source, frame=source.frame[rows]), schema, names)
    third = table.height // 3
    order = np.arange(table.height)
    parts = Parts(table.take(order[third:]), table.take(order[:third]), schema.target)
    train, known = parts.train, _known(parts.train, schema, subjects)
    population = engine.population(known, schema, randomness)
    method = suited(make_method(recipe.method, dict(recipe.parameters)), recipe.form)
    steps = decide_within(method, population, recipe.requirement, randomness, recipe.preferences)
    steps = formed(steps, recipe.form, population, recipe.requirement)
    plan = ReleasePlan(method.name, (), recipe.requirement, schema, train.height, steps)
    plan = engine.settle(plan, population)
    draft = engine.draft(plan, population, source.frame[rows[third:]], randomness)
    fed = feed_release(parts, plan, draft, source.frame[rows[:third]], Feeding(), _seed(randomness), recipe.method)
    majority = int(np.argmax(train[schema.target].counts))
    return Accuracy(
        before=_accuracy(*feed_unprotected(parts)),
        after=_accuracy(*fed),
        majority=float(np.mean(parts.test[schema.target].codes == majority)),
        train_rows=train.height,
        test_rows=parts.test.height,
    )


def _known(table: EncodedTable, schema: Schema, subjects: Sequence[str]) -> EncodedTable:
    """What a method may know of these rows: quasi-identifiers, target, columns of the requirement; no other value."""
    names = [*schema.quasi_identifiers, *([schema.target] if schema.target else []), *subjects]
    return without_unused(EncodedTable.of(table[name] for name in dict.fromkeys(names)))


def _seed(randomness: Randomness) -> int:
    return int(randomness.words(1)[0])


def _accuracy(train: Examples, test: Examples) -> float:
    scores = C45Learner().fit(train, 0).scores(test)
    return float(np.mean(predicted(scores) == test.classes))
