"""One release, and what learners get right of it: fed as our comparisons feed them, or opened by its recipient."""

from __future__ import annotations

import hashlib
import json
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import incrowd
from experiments.recipients.cells import (
    ADULT,
    COMPARED,
    LAB,
    TESTED,
    UNPROTECTED,
    UNSHARED,
    Cell,
    Flags,
    Outcome,
    Outcomes,
    keep,
    waiting,
)
from incrowd.comparisons.choices import Choice
from incrowd.comparisons.datasets.catalog import find_dataset
from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Examples, predicted
from incrowd.comparisons.protocol import FixedSplit, KFold, RowSplit, seed_of
from incrowd.comparisons.releasing import release_rows
from incrowd.comparisons.subject import Subject, find_table, read_subject, understand_table
from incrowd.errors import IncrowdError
from incrowd.plan.plan_file import plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.tables.hierarchies.draft import draft_hierarchy
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.tables.options import Run
from incrowd.tables.recipe import Recipe
from incrowd.trees.compiled import one_thread
from incrowd.vocabulary.forms import OF_FORM
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Schema

SEED = 20_261_118
ADULT_ROWS, ADULT_TEST = 16_000, 10_000
"""Of the 45,222 complete rows, drawn at random; those to test on. All of them would take days for all cells."""
FEEDING = Feeding(sets="auto", intervals="middle", bins="category", hidden="missing")
"""What our comparisons did before recipients could open a release."""
LEARNERS = ("tree", "logistic", "boosting", "knn")


def estimators() -> dict[str, Any]:
    """The learners, by both ways."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    return {
        "tree": DecisionTreeClassifier(min_samples_leaf=5, random_state=1),
        "logistic": LogisticRegression(),
        "boosting": HistGradientBoostingClassifier(random_state=1),
        "knn": KNeighborsClassifier(),
    }


@dataclass(frozen=True, eq=False)
class Laid:
    """A table as its owner has it: numbers are numbers, anything else is text."""

    plain: Subject
    hierarchies: Mapping[str, Hierarchy]

    @classmethod
    def of(cls, subject: Subject, hierarchies: Mapping[str, Hierarchy] | None = None) -> Laid:
        """Without hierarchies, the program drafts some from the values of all rows; classes have no say."""
        known = subject.schema.quasi_identifiers
        made = hierarchies or {name: draft_hierarchy(subject.table[name]) for name in known}
        return cls(subject, {name: hierarchy for name, hierarchy in made.items() if name in known})

    @cached_property
    def with_hierarchies(self) -> Schema:
        """The schema that knows them."""
        columns = self.plain.schema.columns
        return Schema(tuple(replace(column, hierarchy=self.hierarchies.get(column.name)) for column in columns))

    @property
    def types(self) -> Recipe:
        """What the columns are, for a release of some of the rows, which might look like something else."""
        return Recipe(columns={column.name: {"type": column.type} for column in self.plain.schema.columns})


def lay(table: str, data: Path | None = None, rows: int | None = ADULT_ROWS) -> Laid:
    """A data set: all attributes are quasi-identifiers; of Adult the complete rows, or a draw of them."""
    dataset = find_dataset(table)
    read = read_subject(find_table(table, data, lambda _: None), quasi_identifiers=["all"], complete=table == ADULT)
    kinds = {column.name: pl.Float64 if column.type.is_numeric else pl.String for column in read.schema.columns}
    subject = understand_table(
        read.frame.cast(kinds),  # type: ignore[arg-type]
        target=dataset.target,
        quasi_identifiers=read.schema.quasi_identifiers,
        numeric=dataset.numeric,
        rows=rows if table == ADULT else None,
        seed=SEED,
        name=table,
    )
    return Laid.of(subject, adult_hierarchies() if table == ADULT else None)


@dataclass(frozen=True, eq=False)
class Bench:
    """The rows of one split."""

    laid: Laid
    repetition: int
    fold: int
    learners: Mapping[str, Any] = field(default_factory=estimators)

    @cached_property
    def split(self) -> RowSplit:
        """Two stratified halves; of Adult one draw, 6,000 rows to learn from."""
        classes = self.laid.plain.classes.codes.astype(np.int64)
        if self.laid.plain.name == ADULT:
            return FixedSplit(ADULT_TEST / ADULT_ROWS, stratified=True).splits(classes, SEED)[0]
        halves = KFold(2, repetitions=self.repetition + 1).splits(classes, SEED)
        return next(one for one in halves if (one.repetition, one.fold) == (self.repetition, self.fold))

    @cached_property
    def parts(self) -> Parts:
        """Both parts as codes."""
        return self.laid.plain.parts(self.split)

    @property
    def train(self) -> pl.DataFrame:
        """The rows to release."""
        return self.laid.plain.frame[self.split.train]

    @property
    def test(self) -> pl.DataFrame:
        """Raw rows to predict."""
        return self.laid.plain.frame[self.split.test]

    def fed(self, cell: Cell, feeding: Feeding = FEEDING) -> Outcome:
        """What the lab makes of it, with learners of its own; unless told, it sees test rows through the plan."""
        if cell.method == UNPROTECTED:
            plain = self._learned(*feed_unprotected(self.parts), "")
            tested = np.zeros(self.laid.plain.table.height, bool)
            tested[self.split.test] = True
            return Outcome({**plain.right, TESTED: tested})
        schema = self.laid.with_hierarchies if cell.hierarchies else self.laid.plain.schema
        choice = Choice.of(cell.method)
        parameters = {**dict(choice.parameters), "form": cell.form, **_parameters(cell)}
        try:
            made = release_rows(
                self.parts.train, self.train, schema, choice.method, parameters, KAnonymity(cell.k), release_seed(cell)
            )
        except IncrowdError as error:
            return Outcome(failed=dict.fromkeys(self.learners, _reason(error)))
        fed = feed_release(self.parts, made.plan, made.draft, self.test, feeding, feeding_seed(cell))
        return self._learned(*fed, digest_of(made.plan))

    def _learned(self, train: Examples, test: Examples, digest: str) -> Outcome:
        fitted = {name: find_learner(each).fit(train, 1) for name, each in self.learners.items()}
        right = {name: predicted(model.scores(test)) == test.classes for name, model in fitted.items()}
        return Outcome(right, digest)

    def opened(self, cell: Cell, *, shared: bool = True) -> Outcome:
        """What a recipient makes of it, who has the written release, its certificate and raw rows, and three lines.

        Hierarchies are in the certificate, unless their owner keeps them back.
        """
        with tempfile.TemporaryDirectory(prefix="incrowd-recipients-") as folder:
            path = Path(folder) / "release.csv"
            try:
                plan = self.write(cell, path, shared=shared)
                opened = incrowd.open_release(path)
            except IncrowdError as error:
                return Outcome(failed=dict.fromkeys(self.learners, _reason(error)))
            right, failed = {}, {}
            for name, estimator in self.learners.items():
                try:
                    with one_thread()(), warnings.catch_warnings(action="ignore"):
                        right[name] = self._right(opened.classifier(estimator, seed=feeding_seed(cell)))
                except Exception as error:
                    failed[name] = _reason(error)
        return Outcome(right, digest_of(plan), failed)

    def write(self, cell: Cell, path: Path, *, shared: bool = True) -> ReleasePlan:
        """Release the rows into a file with its certificate, verified as any release."""
        schema, choice = self.laid.plain.schema, Choice.of(cell.method)
        settings = dict(choice.parameters)
        counting = {name: settings.pop(name) for name in OF_FORM if name in settings}
        return incrowd.release(
            self.train,
            quasi_identifiers=schema.quasi_identifiers,
            target=schema.target,
            class_sensitive=False,
            despite_unchanged=True,  # where the class gives back so much of a cell that it would be refused
            k=cell.k,
            method=choice.method,
            parameters={**settings, **_parameters(cell)},
            form=cell.form,
            **counting,
            hierarchies=self.laid.hierarchies if cell.hierarchies else None,
            recipe=self.laid.types,
            to=path,
            run=Run(seed=release_seed(cell)),
            outputs=incrowd.Outputs(share_hierarchies=shared and cell.hierarchies),
        ).plan

    def _right(self, classifier: Any) -> Flags:
        target = self.laid.plain.target
        answers = np.asarray(classifier.predict(self.test.drop(target)))
        if answers.dtype == bool:  # a class of 0 and 1, or of no and yes, is opened as what it means
            return np.asarray(answers == self.parts.truth, bool)
        return np.asarray(answers.astype(str) == self.test[target].to_numpy().astype(str), bool)


def release_seed(cell: Cell) -> int:
    """The seed of a release, the same in every way."""
    return seed_of(SEED, "release", *map(str, vars(cell.origin).values()))


def feeding_seed(cell: Cell) -> int:
    """The seed of the deals, the same in every way: which cell a row is dealt makes no difference between them."""
    return seed_of(SEED, "feeding", *map(str, vars(cell.origin).values()))


def digest_of(plan: ReleasePlan) -> str:
    """What a release decided on, in few letters; the same plan and seed give the same release."""
    return hashlib.sha256(json.dumps(plan_to_json(plan)["steps"]).encode()).hexdigest()[:12]


def _parameters(cell: Cell) -> dict[str, str]:
    return {"numeric": cell.numeric} if cell.numeric else {}


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:200]


def try_all(
    every: Sequence[Cell],
    ways: Sequence[str],
    known: Outcomes,
    path: Path,
    data: Path | None,
    tell: Callable[[str], None],
    seconds: float = math.inf,
) -> None:
    """Measure the cells that have no outcome yet, in their order, and keep each outcome as it is known."""
    todo, end = waiting(every, ways, known), time.monotonic() + seconds
    laid: dict[str, Laid] = {}
    benches: dict[tuple[str, int, int], Bench] = {}
    for done, (cell, way) in enumerate(todo):
        if time.monotonic() > end:
            return tell(f"the time was up: {done:,} of {len(todo):,}")
        table, repetition, fold = cell.split
        if table not in laid:
            laid[table] = lay(table, data)
        bench = benches.setdefault(cell.split, Bench(laid[table], repetition, fold))
        keep(path, cell, way, _outcome(bench, cell, way))
        if not (done + 1) % 50:
            tell(f"{done + 1:,} of {len(todo):,}")
    return None


def _outcome(bench: Bench, cell: Cell, way: str) -> Outcome:
    if way in (LAB, COMPARED):
        return bench.fed(cell, FEEDING if way == LAB else Feeding())
    return bench.opened(cell, shared=way != UNSHARED)
