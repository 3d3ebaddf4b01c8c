"""The method of a release, chosen by a short comparison on the table itself: ``--method auto``.

::

    candidates -> one repetition of three folds for all -> the best three again, on other folds -> the best on average

How many rows and folds there are follows from the table, not from the clock, and splits from a seed, so that the same
request has the same choice; the clock can only end it early, which is said.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from time import monotonic
from typing import Any

import numpy as np

from incrowd.comparisons.choices import UNPROTECTED, Choice, learner_names, own_learners
from incrowd.comparisons.protocol import KFold, seed_of
from incrowd.comparisons.recommend import by_mean, name_of
from incrowd.comparisons.scores import Measure, find_measure
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.summary import Summary
from incrowd.comparisons.trial import DONE, Laboratory, Result, Setup, Trial
from incrowd.drawing.wording import counted, listed
from incrowd.errors import RequirementError
from incrowd.methods.automatic import Auto
from incrowd.tables.recipe import Recipe

MOST_ROWS = 20_000
FOLDS, FINALISTS = 3, 3
TESTED, MOST_REPETITIONS = 10_000, 5
"""The best few are tried again until so many rows are tested, and no more often than this."""


@dataclass(frozen=True)
class MethodChoice:
    """What was asked and chosen, among what, and why. ``reached`` has those tried to the end, the best first."""

    recipe: Recipe
    choice: Choice
    among: tuple[str, ...]
    untried: tuple[str, ...]
    reached: tuple[tuple[str, float], ...]
    unprotected: float | None
    learners: tuple[str, ...]
    measure: Measure
    rows: int
    splits: int
    cut_short: bool

    def __str__(self) -> str:
        measure, (best, value) = self.measure, self.reached[0]
        whom = listed([name_of(one) for one in self.learners])
        words = (
            f"auto took {best}: {measure.words} {measure.shown(value)} for {whom}, {counted(self.splits, 'split')} of "
            f"{counted(self.rows, 'row')}, {counted(len(self.among) - len(self.untried), 'candidate')}"
        )
        if self.unprotected is not None:
            words += f"; the table itself {measure.shown(self.unprotected)}"
        if len(self.reached) > 1:
            second, other = self.reached[1]
            less = measure.difference(value - other)
            words += f"; the second best, {second}, would cost {less} more"
        if self.untried:
            words += f"; time ran out before {listed(self.untried)} could be tried"
        elif self.cut_short:
            words += "; time ran out before all splits were tried, so another run may choose otherwise"
        return f"{words}."

    def to_json(self) -> dict[str, Any]:
        """What a certificate says of it: how it was made, and no figure of the table."""
        return {
            "by": Auto.name,
            "among": list(self.among),
            "learners": list(self.learners),
            "measure": self.measure.name,
        }


def choose(
    subject: Subject,
    candidates: Sequence[Choice],
    recipe: Recipe,
    auto: Auto,
    seed: int,
    tell: Callable[[str], None] = lambda _: None,
) -> MethodChoice:
    """The candidate that the learners learn most from on average, on rows that were not released.

    Raises
    ------
    RequirementError
        If no candidate can release the parts of the table that are learned from.
    """
    search = _Search.of(subject, recipe, auto, seed, tell)
    search.run((Choice.of(UNPROTECTED), *candidates), repetition=0)
    for repetition in range(1, search.repetitions):
        names = [name for name, _ in search.reached()[:FINALISTS]]
        finalists = [one for one in candidates if str(one) in names]
        if len(finalists) < 2:
            break
        search.run((Choice.of(UNPROTECTED), *finalists), repetition)
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

    @property
    def repetitions(self) -> int:
        """How often the best may be tried."""
        return self.laboratory.setup.protocol.repetitions

    def run(self, candidates: Sequence[Choice], repetition: int) -> None:
        """Try each on the folds of a repetition; what cannot be done once is not tried again.

        A fold counts if all were tried on it; of the very first, those that were.
        """
        for _, fold in [split for split in self.laboratory.splits if split[0] == repetition]:
            of_fold: list[Result] = []
            for choice in candidates:
                if monotonic() > self.until and any(one.method != UNPROTECTED for one in (*self.results, *of_fold)):
                    self.cut_short = True
                    self.results = self.results or of_fold
                    return
                if any(one.method == str(choice) and one.status != DONE for one in self.results):
                    continue
                self.tell(f"trying {choice}")
                k = 1 if choice.is_standard else self.k
                of_fold += self.laboratory.run(Trial(choice, k, repetition, fold, self.learners))
            self.results += of_fold

    def reached(self) -> list[tuple[str, float]]:
        """Those that were tried on every fold, with what they reach on average over folds and learners, best first."""
        splits = self._splits()
        most = max((len(own) for own in splits.values()), default=0)
        tried = [one for one in self.results if len(splits.get(one.method, ())) == most]
        return by_mean(Summary.of(tried, self.measure), [(learner, self.k) for learner in self.learners])

    def _splits(self) -> dict[str, set[tuple[int, int]]]:
        """The folds that each candidate was tried on; those that failed have none."""
        failed = {one.method for one in self.results if one.status != DONE}
        splits: dict[str, set[tuple[int, int]]] = {}
        for one in self.results:
            if one.method not in (UNPROTECTED, *failed):
                splits.setdefault(one.method, set()).add((one.repetition, one.fold))
        return splits

    def answer(self, candidates: Sequence[Choice]) -> MethodChoice:
        """The best of them, and what is known of it."""
        reached, tried = self.reached(), {one.method for one in self.results}
        if not reached:
            why = next((one.status for one in self.results if one.status != DONE), "no learner learned from any")
            raise RequirementError(
                f"auto: no candidate can release a part of the table: {why.removeprefix('impossible: ')} Name a method."
            )
        whole = Summary.of([one for one in self.results if one.method == UNPROTECTED], self.measure)
        cells = [cell for learner in self.learners if (cell := whole.unprotected(learner)) is not None]
        return MethodChoice(
            recipe=self.laboratory.setup.recipe,
            choice=next(one for one in candidates if str(one) == reached[0][0]),
            among=tuple(map(str, candidates)),
            untried=tuple(str(one) for one in candidates if str(one) not in tried),
            reached=tuple(reached),
            unprotected=fmean(cell.value for cell in cells) if len(cells) == len(self.learners) else None,
            learners=self.learners,
            measure=self.measure,
            rows=self.laboratory.subject.table.height,
            splits=len(self._splits()[reached[0][0]]),
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
