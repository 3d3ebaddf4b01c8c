"""What a classifier still learns: a decision tree from the table and from its release, on the same unseen rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected, learnable
from incrowd.comparisons.learners.c45 import C45Learner
from incrowd.comparisons.learners.learner import Examples, predicted
from incrowd.comparisons.persons import Right, RowPersons, person_quality
from incrowd.comparisons.protocol import FixedSplit, Rows, RowSplit
from incrowd.comparisons.releasing import known_to_methods
from incrowd.methods.catalog import make_method
from incrowd.methods.release_forms import suited
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.pipeline import decided_steps
from incrowd.report.facts import Accuracy, PersonAccuracy
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import owners_of
from incrowd.tables.reading.source import Source
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, keys_of, permutation
from incrowd.vocabulary.requirement import subject_names
from incrowd.vocabulary.schema import Schema

LARGEST = 60_000
"""Rows on which accuracy is measured, drawn at random if there are more."""


def measure_accuracy(source: Source, schema: Schema, recipe: Recipe) -> Accuracy:
    """Release two thirds of the rows, learn from them before and after, test on the last third.

    The learner is C4.5 with missing values shared out over branches. How it takes cells that are no plain values is
    the usual :class:`~incrowd.comparisons.feeding.Feeding`. At most 60,000 rows, drawn at random, are used. Where a
    person may have several rows, persons are drawn and parted, and the same is done by rows, to say how wrong that is.
    """
    randomness = SystemRandomness()
    persons, rows = _persons(source, recipe), permutation(source.frame.height, randomness)[:LARGEST]
    if persons is not None:
        chance = np.random.default_rng(_seed(randomness))
        rows = chance.permutation(persons.drawn(LARGEST, chance))
        persons = persons.take(rows)
    trial = _Trial.of(source, schema, recipe, rows, persons, randomness)
    third, order = len(rows) // 3, np.arange(len(rows))
    by_rows = RowSplit(0, 0, order[third:], order[:third])
    if persons is None:
        return trial.accuracy(by_rows)
    classes = trial.table[trial.target].codes.astype(np.int64)
    (split,) = persons.splits(FixedSplit(), classes, _seed(randomness))
    persons.check_apart([split], "two thirds and one third")
    measured, wrong = trial.accuracy(split), trial.accuracy(by_rows)
    assert measured.persons is not None
    beside = replace(measured.persons, before_by_rows=wrong.before, after_by_rows=wrong.after)
    return replace(measured, persons=beside)


def _persons(source: Source, recipe: Recipe) -> RowPersons | None:
    if recipe.persons is None:
        return None
    return RowPersons(recipe.persons.column, owners_of(source, recipe.persons).codes)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Rows that a part of is released, and how."""

    frame: pl.DataFrame
    table: EncodedTable
    schema: Schema
    recipe: Recipe
    persons: RowPersons | None
    randomness: Randomness
    order: EncodedColumn | None = None  # what puts the rows of a person in order, if something does

    @classmethod
    def of(
        cls,
        source: Source,
        schema: Schema,
        recipe: Recipe,
        rows: Rows,
        persons: RowPersons | None,
        randomness: Randomness,
    ) -> _Trial:
        """Some rows of a table, encoded."""
        frame = source.frame[rows]
        names = dict.fromkeys([*learnable(schema), *subject_names(recipe.requirement, schema.target)])
        some = replace(source, frame=frame)
        table, _ = encode(some, schema, [*names])
        if recipe.persons is None or (named := recipe.persons.order) is None:
            return cls(frame, table, schema, recipe, persons, randomness)
        order = replace(encode(some, schema, [named])[0][named], name=ORDER)
        return cls(frame, table, schema, recipe, persons, randomness, order)

    @property
    def target(self) -> str:
        """The class."""
        assert self.schema.target is not None
        return self.schema.target

    def accuracy(self, split: RowSplit) -> Accuracy:
        """What is learned from the one part, and from a release of it, tested on the other."""
        parts = Parts(self.table.take(split.train), self.table.take(split.test), self.target)
        before, after = _right(*feed_unprotected(parts)), _right(*self._released(parts, split))
        majority = int(np.argmax(parts.train[self.target].counts))
        return Accuracy(
            before=float(np.mean(before)),
            after=float(np.mean(after)),
            majority=float(np.mean(parts.test[self.target].codes == majority)),
            train_rows=parts.train.height,
            test_rows=parts.test.height,
            persons=None if self.persons is None else _of_persons(self.persons, split, before, after),
        )

    def _released(self, parts: Parts, split: RowSplit) -> tuple[Examples, Examples]:
        """The rows to learn from as released by the recipe, and the test rows, as a learner takes them."""
        engine, recipe, randomness = EmbeddedEngine(), self.recipe, self.randomness
        order = None if self.order is None else self.order.take(split.train)
        known = known_to_methods(parts.train, self.schema, recipe.requirement, order)
        owners = None if self.persons is None else self.persons.take(split.train).codes
        population = engine.population(known, self.schema, randomness, owners)
        method = suited(make_method(recipe.method, dict(recipe.parameters)), recipe.form)
        steps = decided_steps(method, recipe, population, randomness, keys_of(randomness, 1)[0])
        plan = ReleasePlan(method.name, (), recipe.requirement, self.schema, parts.train.height, steps)
        plan = engine.settle(plan, population)
        draft = engine.draft(plan, population, self.frame[split.train], randomness)
        unseen = self.frame[split.test]
        return feed_release(parts, plan, draft, unseen, Feeding(), _seed(randomness), recipe.method)


def _of_persons(persons: RowPersons, split: RowSplit, before: Right, after: Right) -> PersonAccuracy:
    own = persons.codes[split.test]
    table, release = person_quality(before, own), person_quality(after, own)
    return PersonAccuracy(
        before=table.person_accuracy,
        after=release.person_accuracy,
        before_error=table.accuracy_error,
        after_error=release.accuracy_error,
        train_persons=persons.take(split.train).count,
        test_persons=release.test_persons,
    )


def _seed(randomness: Randomness) -> int:
    return int(randomness.words(1)[0])


def _right(train: Examples, test: Examples) -> Right:
    """Whether each test row is right."""
    scores = C45Learner().fit(train, 0).scores(test)
    return np.asarray(predicted(scores) == test.classes)
