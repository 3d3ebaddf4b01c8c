"""One trial: release the rows to learn from, feed every learner with them, test on unseen rows."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from incrowd.comparisons.choices import KADET, MAJORITY, UNPROTECTED, Choice
from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.learners.learner import Examples, Learner, discretize, predicted
from incrowd.comparisons.persons import person_quality, person_words
from incrowd.comparisons.protocol import Protocol, RowSplit, seed_of
from incrowd.comparisons.releasing import Made, ReleaseRisk, publish_and_score, release_rows, risk_of
from incrowd.comparisons.scores import quality
from incrowd.comparisons.subject import Subject
from incrowd.errors import CannotRunError, IncrowdError, ParameterError, VerificationError
from incrowd.recipients.matrix import Codes, Numbers
from incrowd.risk.boxes import advantage_of, guess_from_release, read_released
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.forms import BY_CLASS, REDRAW
from incrowd.vocabulary.requirement import KAnonymity, Requirement

DISCRETIZE = (None, "train", "before")
DONE = "done"
ATTACKED = 2000
"""People of the release, and others, whose class is guessed: enough to know a share to about a point."""


@dataclass(frozen=True)
class Trial:
    """A method at one k, on one split, for some learners."""

    choice: Choice
    k: int
    repetition: int
    fold: int
    learners: tuple[str, ...]

    @property
    def name(self) -> tuple[str, int, int, int]:
        """What tells it from other trials of a comparison, but for the learners."""
        return str(self.choice), self.k, self.repetition, self.fold


@dataclass(frozen=True)
class Setup:
    """What all trials of a comparison share, besides the table."""

    protocol: Protocol  # how rows are split
    feeding: Feeding = field(default_factory=Feeding)  # how learners take released cells
    seed: int = 1  # of everything that is drawn
    discretize: str | None = None  # MDL cuts: "train" after the release, "before" on all rows, before the splits
    recipe: Recipe = field(default_factory=Recipe)  # what all releases keep beside k, weights and limits among it
    own: tuple[Learner, ...] = ()  # learners that are passed, and not found by their names
    attacked: bool = True  # whether it is measured how well the class of members is guessed
    by_rows: bool = False  # rows are split although they are not persons: wrong, to see how wrong

    def __post_init__(self) -> None:
        if self.discretize not in DISCRETIZE:
            raise ParameterError("discretize must be train or before, or be left out.")

    def requirement(self, k: int) -> Requirement:
        """What a release keeps, at this k."""
        return replace(self.recipe, k=k).requirement

    def stated(self) -> dict[str, Any]:
        """What is asked of all releases beside k, in words and numbers."""
        recipe, size = self.recipe, KAnonymity(self.recipe.k)
        kept = [] if recipe.requirement == size else [one for one in recipe.requirement.promises if one != str(size)]
        stated = {"require": kept, "rarest": recipe.rarest, "form": recipe.form}
        redraw = {} if recipe.redraw == REDRAW else {"redraw": recipe.redraw}
        bins = {} if recipe.bins == BY_CLASS else {"bins": recipe.bins}
        return recipe.preferences.stated() | {name: one for name, one in stated.items() if one} | redraw | bins


@dataclass(frozen=True)
class Result:
    """One learner's part of a trial; ``status`` says why there are no figures, if there are none."""

    method: str
    k: int
    repetition: int
    fold: int
    learner: str
    status: str = DONE
    accuracy: float | None = None
    balanced_accuracy: float | None = None
    auc: float | None = None
    log_loss: float | None = None
    train_rows: int = 0
    test_rows: int = 0
    released_rows: int | None = None
    groups: int | None = None
    smallest_group: int | None = None
    cells_kept: float | None = None
    average_risk: float | None = None
    largest_risk: float | None = None
    pure_rows: float | None = None
    purity: float | None = None
    class_advantage: float | None = None
    person_accuracy: float | None = None
    accuracy_error: float | None = None
    person_accuracy_error: float | None = None
    train_persons: int | None = None
    test_persons: int | None = None
    release_seconds: float = 0.0
    learn_seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Laboratory:
    """A table and how it is split: runs trials."""

    subject: Subject
    setup: Setup

    @cached_property
    def splits(self) -> dict[tuple[int, int], RowSplit]:
        """The splits by repetition and fold."""
        classes, seed = self.subject.classes.codes.astype(np.int64), self.setup.seed
        by, persons = self.subject.split_by, None if self.setup.by_rows else self.subject.persons
        if persons is not None and by is None:
            splits = persons.splits(self.setup.protocol, classes, seed)
        else:
            splits = self.setup.protocol.splits(classes, seed, None if by is None else by.codes)
        if persons is not None:
            persons.check_apart(splits, self.splitting)
        return {(split.repetition, split.fold): split for split in splits}

    @cached_property
    def split_marks(self) -> dict[tuple[int, int], str]:
        """What tells a split from others: its rows, hashed."""
        return {
            name: hashlib.sha256(split.train.tobytes() + b"|" + split.test.tobytes()).hexdigest()
            for name, split in self.splits.items()
        }

    @property
    def splitting(self) -> str:
        """How rows are split, in words."""
        by, persons = self.subject.split_by, self.subject.persons
        if persons is None:
            return str(self.setup.protocol) if by is None else f"{self.setup.protocol}; {by}"
        if self.setup.by_rows:
            return f"{self.setup.protocol}, by rows: persons are in both parts, which is wrong"
        whole = f"persons of {persons.name} stay in one part"
        return (
            f"{person_words(self.setup.protocol)}; {whole}" if by is None else f"{self.setup.protocol}; {by}; {whole}"
        )

    def run(self, trial: Trial) -> list[Result]:
        """The results of a trial, one for each learner; what cannot be done is said, not raised."""
        split = self.splits[trial.repetition, trial.fold]
        parts = self.subject.parts(split)
        blank = Result(*trial.name, "", train_rows=len(split.train), test_rows=len(split.test))
        if self.subject.persons is not None:
            learned, tested = (self.subject.persons.take(rows).count for rows in (split.train, split.test))
            blank = replace(blank, train_persons=learned, test_persons=tested)
        try:
            return list(self._results(trial, split, parts, blank))
        except VerificationError:
            raise
        except IncrowdError as error:
            status = f"impossible: {error}"
            return [replace(blank, learner=learner, status=status) for learner in learners_of(trial)]

    def _results(self, trial: Trial, split: RowSplit, parts: Parts, blank: Result) -> Iterator[Result]:
        begun = time.process_time()
        if trial.choice.method == MAJORITY:
            yield self._judged(replace(blank, learner=MAJORITY), _majority(parts), parts.truth, split)
        elif trial.choice.method == KADET:
            owners = self.subject.owners(split.train)
            scores, risk = publish_and_score(parts, self.subject.schema, trial.k, dict(trial.choice.parameters), owners)
            spent = time.process_time() - begun
            known = _with_risk(replace(blank, learner=KADET, release_seconds=spent), risk)
            yield self._judged(known, scores, parts.truth, split)
        else:
            train, test, known = self._fed(trial, split, parts, blank)
            for learner in trial.learners:
                yield self._learned(learner, trial, train, test, known, split)

    def _fed(self, trial: Trial, split: RowSplit, parts: Parts, blank: Result) -> tuple[Examples, Examples, Result]:
        """The rows as the learners get them, and what is known of the release."""
        schema, begun = self.subject.schema, time.process_time()
        if trial.choice.method == UNPROTECTED:
            codes = {name: parts.train[name].codes for name in schema.quasi_identifiers}
            owners = self.subject.owners(split.train)
            known = _with_risk(blank, risk_of(pl.DataFrame(codes), parts.train[parts.target], owners))
            known = replace(known, released_rows=parts.train.height, cells_kept=1.0)
            train, test = feed_unprotected(parts)
        else:
            release = release_rows(
                parts.train,
                self.subject.frame[split.train],
                schema,
                trial.choice.entry or trial.choice.method,
                {"redraw": self.setup.recipe.redraw, "bins": self.setup.recipe.bins, **dict(trial.choice.parameters)},
                self.setup.requirement(trial.k),
                self._seed("release", trial),
                self.subject.people,
                self.setup.recipe.preferences,
                owners=self.subject.owners(split.train),
                rarest=self.setup.recipe.rarest,
                order=self.subject.order and self.subject.order.take(split.train),
            )
            spent = time.process_time() - begun
            known = replace(
                _with_risk(blank, release.risk),
                released_rows=release.draft.frame.height,
                cells_kept=release.plan.share_of_cells_shown,
                release_seconds=spent,
                class_advantage=self._advantage(release, split, trial),
            )
            unseen, seed = self.subject.frame[split.test], self._seed("feeding", trial)
            plan, draft, feeding = release.plan, release.draft, self.setup.feeding
            train, test = feed_release(parts, plan, draft, unseen, feeding, seed, trial.choice.entry)
        if self.setup.discretize == "train":
            train, test = discretize(train, test)
        return train, test, known

    def _advantage(self, release: Made, split: RowSplit, trial: Trial) -> float | None:
        """By how much the class of people of the release is guessed better than that of others; None if unknown."""
        if not self.setup.attacked:
            return None
        chance = np.random.default_rng(self._seed("people", trial))
        rows = (chance.permutation(part)[:ATTACKED] for part in (split.train, split.test))
        members, others = (self.subject.table.take(some) for some in rows)
        state = self._seed("forest", trial) % 2**31
        try:
            released = read_released(release.draft.frame, self.subject.table, self.subject.schema)
            return advantage_of(*guess_from_release(released, members, others, self.subject.target, state))
        except CannotRunError:
            return None

    def _learned(
        self, name: str, trial: Trial, train: Examples, test: Examples, known: Result, split: RowSplit
    ) -> Result:
        """What one learner makes of it. The message of one that fails may quote values and is not told."""
        known = replace(known, learner=name)
        learner = next((own for own in self.setup.own if own.name == name), None) or find_learner(name)
        begun = time.process_time()
        seed = seed_of(self.setup.seed, "learner", name, trial.repetition, trial.fold) % 2**31
        try:
            scores = np.asarray(learner.fit(train, seed).scores(test), np.float64)
        except IncrowdError as error:
            return replace(known, status=f"impossible: {error}")
        except Exception as error:  # of a library, or of a learner from elsewhere
            return replace(known, status=f"failed: {name} raised {type(error).__name__}")
        if scores.shape != (test.height, len(test.labels)):
            return replace(known, status=f"failed: {name} gave no score for each row and class")
        spent = time.process_time() - begun
        return replace(self._judged(known, scores, test.classes, split), learn_seconds=spent)

    def _judged(self, result: Result, scores: Numbers, truth: Codes, split: RowSplit) -> Result:
        """The result with all measures; those of persons where rows are not persons."""
        figures = asdict(quality(scores, truth))
        if (persons := self.subject.persons) is not None:
            seed = seed_of(self.setup.seed, "persons", split.repetition, split.fold)
            figures |= asdict(person_quality(predicted(scores) == truth, persons.codes[split.test], seed))
        known: dict[str, Any] = {name: None if math.isnan(value) else value for name, value in figures.items()}
        return replace(result, **known)

    def _seed(self, purpose: str, trial: Trial) -> int:
        return seed_of(self.setup.seed, purpose, *trial.name)


def learners_of(trial: Trial) -> Sequence[str]:
    """The learners a trial has results for."""
    return (trial.choice.own_learner,) if trial.choice.own_learner else trial.learners


def _majority(parts: Parts) -> Numbers:
    counts = parts.train[parts.target].counts
    return np.tile(counts / counts.sum(), (parts.test.height, 1))


def _with_risk(result: Result, risk: ReleaseRisk) -> Result:
    return replace(
        result,
        groups=risk.groups,
        smallest_group=risk.smallest,
        average_risk=risk.average,
        largest_risk=risk.largest,
        pure_rows=risk.pure,
        purity=risk.purity,
    )
