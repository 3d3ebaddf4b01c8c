"""One trial: release the rows to learn from, feed every learner with them, test on unseen rows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from incrowd.comparisons.choices import KADET, MAJORITY, UNPROTECTED, Choice
from incrowd.comparisons.examples import Examples, discretize
from incrowd.comparisons.feeding import Feeding, Parts, feed_release, feed_unprotected
from incrowd.comparisons.learners.catalog import find_learner
from incrowd.comparisons.protocol import Protocol, RowSplit, seed_of
from incrowd.comparisons.releasing import ReleaseRisk, publish_and_score, release_rows, risk_of
from incrowd.comparisons.scores import quality
from incrowd.comparisons.subject import Subject
from incrowd.errors import IncrowdError, ParameterError, VerificationError
from incrowd.recipients.matrix import Codes, Numbers
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.requirement import KAnonymity

DISCRETIZE = (None, "train", "before")
DONE = "done"


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
    preferences: Preferences = INDIFFERENT  # weights and limits of all releases

    def __post_init__(self) -> None:
        if self.discretize not in DISCRETIZE:
            raise ParameterError("discretize must be train or before, or be left out.")


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
        classes = self.subject.classes.codes.astype(np.int64)
        splits = self.setup.protocol.splits(classes, self.setup.seed)
        return {(split.repetition, split.fold): split for split in splits}

    def run(self, trial: Trial) -> list[Result]:
        """The results of a trial, one for each learner; what cannot be done is said, not raised."""
        split = self.splits[trial.repetition, trial.fold]
        parts = self.subject.parts(split)
        blank = Result(*trial.name, "", train_rows=len(split.train), test_rows=len(split.test))
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
            yield _judged(replace(blank, learner=MAJORITY), _majority(parts), parts.truth)
        elif trial.choice.method == KADET:
            scores, risk = publish_and_score(parts, self.subject.schema, trial.k, dict(trial.choice.parameters))
            spent = time.process_time() - begun
            known = _with_risk(replace(blank, learner=KADET, release_seconds=spent), risk)
            yield _judged(known, scores, parts.truth)
        else:
            train, test, known = self._fed(trial, split, parts, blank)
            for learner in trial.learners:
                yield self._learned(learner, trial, train, test, known)

    def _fed(self, trial: Trial, split: RowSplit, parts: Parts, blank: Result) -> tuple[Examples, Examples, Result]:
        """The rows as the learners get them, and what is known of the release."""
        schema, begun = self.subject.schema, time.process_time()
        if trial.choice.method == UNPROTECTED:
            codes = {name: parts.train[name].codes for name in schema.quasi_identifiers}
            known = _with_risk(blank, risk_of(pl.DataFrame(codes), parts.train[parts.target]))
            known = replace(known, released_rows=parts.train.height, cells_kept=1.0)
            train, test = feed_unprotected(parts)
        else:
            made = release_rows(
                parts.train,
                self.subject.frame[split.train],
                schema,
                trial.choice.method,
                dict(trial.choice.parameters),
                KAnonymity(trial.k),
                self._seed("release", trial),
                preferences=self.setup.preferences,
            )
            spent = time.process_time() - begun
            known = replace(
                _with_risk(blank, made.risk),
                released_rows=made.draft.frame.height,
                cells_kept=made.plan.share_of_cells_shown,
                release_seconds=spent,
            )
            unseen, seed = self.subject.frame[split.test], self._seed("feeding", trial)
            train, test = feed_release(parts, made.plan, made.draft, unseen, self.setup.feeding, seed)
        if self.setup.discretize == "train":
            train, test = discretize(train, test)
        return train, test, known

    def _learned(self, name: str, trial: Trial, train: Examples, test: Examples, known: Result) -> Result:
        """What one learner makes of it. The message of one that fails may quote values and is not told."""
        known = replace(known, learner=name)
        learner, begun = find_learner(name), time.process_time()
        seed = seed_of(self.setup.seed, "learner", name, trial.repetition, trial.fold) % 2**31
        try:
            scores = learner.fit(train, seed).scores(test)
        except IncrowdError as error:
            return replace(known, status=f"impossible: {error}")
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            return replace(known, status=f"failed: {name} raised {type(error).__name__}")
        spent = time.process_time() - begun
        return replace(_judged(known, scores, test.classes), learn_seconds=spent)

    def _seed(self, purpose: str, trial: Trial) -> int:
        return seed_of(self.setup.seed, purpose, *trial.name)


def learners_of(trial: Trial) -> Sequence[str]:
    """The learners a trial has results for."""
    return (trial.choice.own_learner,) if trial.choice.own_learner else trial.learners


def _majority(parts: Parts) -> Numbers:
    counts = parts.train[parts.target].counts
    return np.tile(counts / counts.sum(), (parts.test.height, 1))


def _judged(result: Result, scores: Numbers, truth: Codes) -> Result:
    figures = asdict(quality(scores, truth))
    known: dict[str, Any] = {name: None if math.isnan(value) else value for name, value in figures.items()}
    return replace(result, **known)


def _with_risk(result: Result, risk: ReleaseRisk) -> Result:
    return replace(
        result,
        groups=risk.groups,
        smallest_group=risk.smallest,
        average_risk=risk.average,
        largest_risk=risk.largest,
        pure_rows=risk.pure,
    )
