"""The method of a release, chosen by a short comparison on the table itself: ``--method auto``.

::

    candidates, the usual first -> all on the same splits -> the first, unless another is clearly better

*Clearly* is by more than one standard error of the mean difference on the same splits, averaged over learners. Of a few
hundred rows the best on average is the best by chance; there the order decides, which is fixed (:data:`PREFERRED`).

How many rows and splits there are follows from the table, not from the clock, and splits from a seed, so that the same
request has the same choice; the clock can only end it early, which is said.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import fmean
from time import monotonic
from typing import Any

import numpy as np

from incrowd.comparisons.choices import UNPROTECTED, Choice, default_methods, learner_names, own_learners
from incrowd.comparisons.protocol import KFold, seed_of
from incrowd.comparisons.recommend import name_of
from incrowd.comparisons.scores import Measure, find_measure
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.summary import corrected_error
from incrowd.comparisons.trial import DONE, Laboratory, Result, Setup, Trial
from incrowd.drawing.wording import counted, listed
from incrowd.errors import RequirementError
from incrowd.methods.automatic import Auto
from incrowd.tables.recipe import Recipe
from incrowd.vocabulary.forms import STRICT
from incrowd.vocabulary.schema import Schema

PLAIN_BLEND = "blend(form='strict')"
PREFERRED = (
    PLAIN_BLEND, "kactus-plus", "blend", "kactus-plus(form='counts')", "infogain-mondrian",
    "infogain-mondrian(form='counts')", "kactus", "kactus(form='counts')", "mondrian(form='counts')", "tdr", "mondrian",
)  # fmt: skip
"""The order of candidates, by mean ranks on Adult, tic-tac-toe and breast cancer: ``python -m experiments auto``."""
MOST_ROWS = 20_000
FOLDS = 3
TESTED, MOST_REPETITIONS = 10_000, 5
"""Candidates are tried until so many rows are tested, and no more often than this."""


@dataclass(frozen=True)
class Lead:
    """By how much a candidate is better than the first, on average over splits, and the standard error of that."""

    method: str
    value: float
    error: float

    @property
    def is_clear(self) -> bool:
        """Whether it is more than one standard error, and more than the last digit of a float."""
        return self.value > self.error + 1e-9


def best_lead(values: Mapping[str, Sequence[float]], test_by_train: float) -> Lead | None:
    """The largest clear lead over the first candidate, else the largest; None if there is no other.

    Parameters
    ----------
    values
        What each candidate reaches on the same splits, more is better; the first in order is the usual choice.
    test_by_train
        Test rows by training rows of a split.

    Examples
    --------
    >>> best_lead({"usual": [0.5, 0.6, 0.7], "other": [0.7, 0.8, 0.9]}, 0.5).is_clear
    True
    >>> best_lead({"usual": [0.5, 0.6, 0.7], "other": [0.9, 0.4, 0.8]}, 0.5).is_clear
    False
    """
    (_, usual), *others = values.items()
    leads = []
    for method, own in others:
        differences = [one - first for one, first in zip(own, usual, strict=True)]
        error = corrected_error(differences, test_by_train) if len(differences) > 1 else math.inf
        leads.append(Lead(method, fmean(differences), error))
    return max(leads, key=lambda lead: (lead.is_clear, lead.value), default=None)


@dataclass(frozen=True)
class MethodChoice:
    """What was asked and chosen, among what, and why: what the choice reached, and the best lead over ``usual``."""

    recipe: Recipe
    choice: Choice
    among: tuple[str, ...]
    untried: tuple[str, ...]
    usual: str
    reached: float
    lead: Lead | None
    unprotected: float | None
    learners: tuple[str, ...]
    measure: Measure
    rows: int
    splits: int
    cut_short: bool

    def __str__(self) -> str:
        whom, shown = listed([name_of(one) for one in self.learners]), self.measure.shown
        words = (
            f"auto took {self.choice}: {self.measure.words} {shown(self.reached)} for {whom}, "
            f"{counted(self.splits, 'split')} of {counted(self.rows, 'row')}, "
            f"{counted(len(self.among) - len(self.untried), 'candidate')}"
        )
        if self.unprotected is not None:
            words += f"; the table itself {shown(self.unprotected)}"
        if self.lead is not None:
            words += f"; {self._against(self.lead)}"
        if self.untried:
            words += f"; time ran out before {listed(self.untried)} could be tried"
        elif self.cut_short:
            words += "; time ran out before all splits were tried, so another run may choose otherwise"
        return f"{words}."

    def _against(self, lead: Lead) -> str:
        """How the best rival of the usual choice compares with it."""
        points = self.measure.difference
        chance = f" (one standard error is {points(lead.error)})" if math.isfinite(lead.error) else ""
        if lead.is_clear:
            return f"{self.usual}, the usual choice, would cost {points(lead.value)} more{chance}"
        if lead.value > 0:
            return f"it is the usual choice, and the lead of {lead.method}, {points(lead.value)}, may be chance{chance}"
        return f"the second best, {lead.method}, would cost {points(lead.value)} more"

    def to_json(self) -> dict[str, Any]:
        """What a certificate says of it: how it was made, and no figure of the table."""
        return {
            "by": Auto.name,
            "among": list(self.among),
            "learners": list(self.learners),
            "measure": self.measure.name,
        }


def usual_candidates(schema: Schema, form: str | None = None) -> tuple[Choice, ...]:
    """What is compared where nobody says what, and Blend in plain values; the usual first, what has no place last."""
    beside = (PLAIN_BLEND,) if form is None else ()
    every = (Choice.of(name).in_form(form) for name in (*default_methods(schema, form=form), *beside))
    places = [_known(Choice.of(name)) for name in PREFERRED]
    return tuple(sorted(every, key=lambda one: places.index(_known(one)) if _known(one) in places else len(places)))


def _known(choice: Choice) -> tuple[str, bool]:
    """What the order tells apart: a pair of tables is counts written otherwise."""
    return choice.method, choice.form == STRICT


def choose(
    subject: Subject,
    candidates: Sequence[Choice],
    recipe: Recipe,
    auto: Auto,
    seed: int,
    tell: Callable[[str], None] = lambda _: None,
) -> MethodChoice:
    """The first candidate, unless learners learn clearly more from another, on rows that were not released.

    Raises
    ------
    RequirementError
        If no candidate can release the parts of the table that are learned from.
    """
    search = _Search.of(subject, recipe, auto, seed, tell)
    search.run(candidates)
    return search.answer(candidates)


@dataclass(eq=False)
class _Search:
    """The trials so far."""

    laboratory: Laboratory
    k: int
    learners: tuple[str, ...]
    measure: Measure
    until: float
    tell: Callable[[str], None]
    results: list[Result]
    cut_short: bool = False

    @classmethod
    def of(cls, subject: Subject, recipe: Recipe, auto: Auto, seed: int, tell: Callable[[str], None]) -> _Search:
        measure, learners = find_measure(auto.measure), learner_names(auto.learners)
        subject = _drawn(subject, seed)
        repetitions = min(MOST_REPETITIONS, max(1, -(-TESTED // subject.table.height)))
        protocol = KFold(FOLDS, stratified=True, repetitions=repetitions)
        setup = Setup(protocol, seed=seed, recipe=recipe, own=own_learners(auto.learners), attacked=False)
        until = monotonic() + auto.seconds
        return cls(Laboratory(subject, setup), recipe.k, learners, measure, until, tell, [])

    def run(self, candidates: Sequence[Choice]) -> None:
        """Try each on every split; what cannot be done once is not tried again.

        A split counts if all were tried on it; of the very first, those that were.
        """
        for split in self.laboratory.splits:
            of_split: list[Result] = []
            for choice in (Choice.of(UNPROTECTED), *candidates):
                if monotonic() > self.until and any(one.method != UNPROTECTED for one in (*self.results, *of_split)):
                    self.cut_short = True
                    self.results = self.results or of_split
                    return
                if any(one.method == str(choice) and one.status != DONE for one in self.results):
                    continue
                self.tell(f"trying {choice}")
                k = 1 if choice.is_standard else self.k
                of_split += self.laboratory.run(Trial(choice, k, *split, self.learners))
            self.results += of_split

    def values(self) -> dict[str, list[float]]:
        """What each that never failed reaches on every split: the mean over learners.

        Splits on which the measure is not known of all are left out.
        """
        failed = {one.method for one in self.results if one.status != DONE}
        splits: dict[tuple[int, int], dict[str, list[float]]] = {}
        for one in self.results:
            if one.method not in failed:
                own = splits.setdefault((one.repetition, one.fold), {}).setdefault(one.method, [])
                value = getattr(one, self.measure.column)
                own.append(math.nan if value is None else value)
        known = [split for split in splits.values() if not any(map(math.isnan, chain.from_iterable(split.values())))]
        return {method: [fmean(split[method]) for split in known] for method in (known[0] if known else ())}

    def answer(self, candidates: Sequence[Choice]) -> MethodChoice:
        """The choice, and what is known of it."""
        values, tried = self.values(), {one.method for one in self.results}
        unprotected = values.pop(UNPROTECTED, None)
        if not values:
            why = next((one.status for one in self.results if one.status != DONE), "no learner learned from any")
            raise RequirementError(
                f"auto: no candidate can release a part of the table: {why.removeprefix('impossible: ')} Name a method."
            )
        usual, sign = next(iter(values)), self.measure.sign
        lead = best_lead({method: [sign * one for one in own] for method, own in values.items()}, 1 / (FOLDS - 1))
        chosen = lead.method if lead is not None and lead.is_clear else usual
        return MethodChoice(
            recipe=self.laboratory.setup.recipe,
            choice=next(one for one in candidates if str(one) == chosen),
            among=tuple(map(str, candidates)),
            untried=tuple(str(one) for one in candidates if str(one) not in tried),
            usual=usual,
            reached=fmean(values[chosen]),
            lead=lead,
            unprotected=None if unprotected is None else fmean(unprotected),
            learners=self.learners,
            measure=self.measure,
            rows=self.laboratory.subject.table.height,
            splits=len(values[chosen]),
            cut_short=self.cut_short,
        )


def _drawn(subject: Subject, seed: int) -> Subject:
    """The table, or some of its rows drawn at random; where rows are not persons, persons are drawn."""
    height, persons = subject.table.height, subject.persons
    if height <= MOST_ROWS:
        return subject
    chance = np.random.Generator(np.random.Philox(seed_of(seed, "rows")))
    rows = np.sort(chance.permutation(height)[:MOST_ROWS]) if persons is None else persons.drawn(MOST_ROWS, chance)
    return subject.take(rows)
