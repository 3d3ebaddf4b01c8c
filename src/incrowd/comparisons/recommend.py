"""What to use, in words: for each learner and k the best method, what it costs, and which others are as good.

How wrong a split by rows is where persons have several rows: who is in both parts of a split is known again by what
does not change, and what a learner remembers of persons looks like what it has learned. So a comparison by persons also
runs once by rows, for the table itself and for one method, and says by how much that is too good.

The method of a release, chosen by a short comparison on the table itself (``--method auto``)::

    candidates -> one repetition of three folds for all -> the best three again, on other folds -> the best on average

How many rows and folds there are follows from the table, not from the clock, and splits from a seed, so that the same
request has the same choice; the clock can only end it early, which is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean, median
from time import monotonic
from typing import Any

import numpy as np

from incrowd.comparisons.choices import MAJORITY, UNPROTECTED, Choice, learner_names, own_learners
from incrowd.comparisons.learners.catalog import parsed
from incrowd.comparisons.persons import row_protocol
from incrowd.comparisons.protocol import KFold, seed_of
from incrowd.comparisons.scores import Measure, find_measure
from incrowd.comparisons.subject import Subject
from incrowd.comparisons.summary import Summary, SummaryCell, noise
from incrowd.comparisons.trial import DONE, Laboratory, Result, Setup, Trial
from incrowd.drawing.wording import counted, listed
from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.automatic import Auto
from incrowd.tables.recipe import Recipe

SMALL, LARGE = 0.01, 0.03
"""Of differences that may be chance: below the first, methods are as good; from the second on, they are not named."""
NAMES = {"c45": "C4.5", "nb": "naive Bayes", "logistic": "logistic regression"}


@dataclass(frozen=True)
class Advice:
    """The best method for one learner at one k.

    ``equals`` are within ``noise`` of it and less than a point worse; ``unclear`` are worse by more than a point, but
    results vary so much from split to split that it may be chance. ``majority`` is the baseline, ``tree`` what kADET's
    published tree is worth.
    """

    learner: str
    k: int
    best: SummaryCell
    equals: tuple[SummaryCell, ...]
    unclear: tuple[SummaryCell, ...]
    noise: float
    unprotected: SummaryCell | None
    majority: SummaryCell | None
    beats_majority: bool
    tree: SummaryCell | None = None

    def __str__(self) -> str:
        best, measure = self.best, self.best.measure
        words = f"For {name_of(self.learner)} at k={self.k}"
        if not self.beats_majority:
            return f"{words} {self._not_shown()}{_published(self.tree)}"
        words += f" use {best.method}: {measure.words} {_sure(best)}"
        if self.majority is not None:
            words += f" (baseline {measure.shown(self.majority.value)})"
        if self.unprotected is not None:
            words += f", {_against(best, self.unprotected)}"
        if self.equals:
            words += f"; differences under {measure.difference(self.noise)} may be chance: "
            words += f"{listed([cell.method for cell in self.equals])} cannot be distinguished from it"
        if self.unclear:
            named = [f"{cell.method} ({measure.shown(cell.value)})" for cell in self.unclear]
            words += f"; not clearly worse: {listed(named)}"
        return f"{words}.{_published(self.tree)}"

    def _not_shown(self) -> str:
        """That nothing is shown to be better than the baseline, which does not show that nothing is."""
        measure = self.best.measure
        assert self.majority is not None
        return (
            f"no release is shown to be better than the baseline, {measure.baseline} ({measure.words} "
            f"{measure.shown(self.majority.value)}): the best, {self.best.method}, reaches {_sure(self.best)}. More "
            "rows or repetitions may show a difference."
        )


@dataclass(frozen=True)
class Recommendation:
    """All advice; where there is more than one, which method to take for all of it, and why.

    ``method`` is that method, None if no release is shown to be better than the baseline.
    """

    advice: tuple[Advice, ...]
    overall: str
    method: str | None = None

    def __str__(self) -> str:
        return "\n".join([*([self.overall] if self.overall else []), *map(str, self.advice)])


def recommend(summary: Summary) -> Recommendation:
    """What the results say."""
    every = [_advise(summary, learner, k) for learner in summary.learners for k in summary.ks]
    advice = tuple(one for one in every if one is not None)
    useful = [(one.learner, one.k) for one in advice if one.beats_majority]
    method = next((name for name, _ in by_mean(summary, useful)), None) if useful else None
    return Recommendation(advice, _overall(summary, advice, method) if len(advice) > 1 else "", method)


def name_of(learner: str) -> str:
    """What people call a learner."""
    return NAMES.get(learner, learner)


def _advise(summary: Summary, learner: str, k: int) -> Advice | None:
    rivals = summary.rivals(learner, k)
    if not rivals:
        return None
    best, others = rivals[0], rivals[1:]
    chances = {other: noise(best, other) for other in others}
    close = [other for other, chance in chances.items() if best.better_than(other) <= chance]
    equals = tuple(other for other in close if best.better_than(other) < SMALL)
    standard, majority = summary.unprotected(learner), summary.majority
    return Advice(
        learner=learner,
        k=k,
        best=best,
        equals=equals,
        unclear=tuple(other for other in close if SMALL <= best.better_than(other) < LARGE),
        noise=median(chances[other] for other in equals) if equals else 0.0,
        unprotected=standard,
        majority=majority,
        beats_majority=majority is None or best.better_than(majority) > noise(best, majority),
        tree=summary.tree(k),
    )


def by_mean(summary: Summary, cases: Sequence[tuple[str, int]]) -> list[tuple[str, float]]:
    """Methods with the mean of the measure over cases, learners and k, in all of which they are known; best first."""
    means, wanted = [], {learner for learner, _ in cases}
    for method in summary.methods:
        cells = [summary.find(method, k, learner) for learner, k in cases]
        known = [cell.value for cell in cells if cell is not None and cell.is_known and cell.learner in wanted]
        if cells and len(known) == len(cells):
            means.append((method, fmean(known)))
    return sorted(means, key=lambda one: -summary.measure.sign * one[1])


def _overall(summary: Summary, advice: Sequence[Advice], method: str | None) -> str:
    """The one method for all cases, how often it wins and what it costs; or that there is none."""
    useful = [one for one in advice if one.beats_majority]
    if method is None:
        return "No method is recommended: nowhere below is a release shown to be better than the baseline."
    cases = sum(method in [cell.method for cell in (one.best, *one.equals)] for one in useful)
    everywhere = {1: "the one", 2: "both"}.get(cases, f"all {cases}")
    where = everywhere if cases == len(useful) else f"{cases} of {len(useful)}"
    noun = "case" if len(useful) == 1 else "cases"
    clear = " where a release beats the baseline" if len(useful) < len(advice) else ""
    words = f"If you want one method: {method} is best, or as good as the best, in {where} {noun} below{clear}"
    return f"{words}{_cost_of(summary, useful, method)}.{_in_a_release(method)}"


def _in_a_release(method: str) -> str:
    """How a release asks for a form, which a comparison writes as a parameter of the method."""
    with suppress(ParameterError):  # parameters of a method that was passed as an object may not be plain values
        name, parameters = parsed(method)
        if "form" in parameters:
            return f" In a release: method {name}, form {parameters['form']}."
    return ""


def _cost_of(summary: Summary, useful: Sequence[Advice], method: str) -> str:
    """What a method loses against the unprotected table."""
    cells = [(summary.find(method, one.k, one.learner), one.unprotected) for one in useful]
    losses = [own.better_than(cell) for cell, own in cells if cell is not None and cell.is_known and own is not None]
    if not losses:
        return ""
    worst = summary.measure.difference(max(0.0, *losses, 0.0))
    if not _differs(worst):
        return "; it is nowhere below the unprotected table"
    mean = summary.measure.difference(max(0.0, fmean(losses)))
    return f"; against the unprotected table it loses {mean} on average and {worst} at most"


def _against(best: SummaryCell, unprotected: SummaryCell) -> str:
    difference = best.measure.difference(best.value - unprotected.value)
    if not _differs(difference):
        return "as much as the unprotected table"
    return f"{difference} {'below' if best.value < unprotected.value else 'above'} the unprotected table"


def _differs(difference: str) -> bool:
    """Whether a difference in words is more than nothing."""
    return any(digit in difference for digit in "123456789")


def _sure(cell: SummaryCell) -> str:
    """The value with half the width of its interval."""
    half = cell.half_width
    return cell.measure.shown(cell.value) + ("" if half is None else f" ±{cell.measure.number(half)}")


def _published(tree: SummaryCell | None) -> str:
    """What a tree is worth that is published instead of a table."""
    return "" if tree is None else f" A published tree ({tree.method}) reaches {_sure(tree)}."


@dataclass(frozen=True)
class RowSplitError:
    """What a learner seems to reach if rows are split, beside what it reaches if persons are."""

    by_persons: SummaryCell
    by_rows: SummaryCell

    @property
    def too_good(self) -> float:
        """By how much the split by rows looks better than the learner is."""
        return self.by_rows.better_than(self.by_persons)


def laboratory_by_rows(laboratory: Laboratory) -> Laboratory:
    """The same table, split by rows: wrong, to see how wrong."""
    setup = replace(laboratory.setup, protocol=row_protocol(laboratory.setup.protocol), by_rows=True)
    return Laboratory(replace(laboratory.subject, split_by=None), setup)


def trials_by_rows(
    laboratory: Laboratory, trials: Iterable[Trial], recommendation: Recommendation
) -> tuple[Trial, ...]:
    """The table itself, and the recommended method at its smallest k; where none is, the best of the first advice."""
    method = recommendation.method or next((one.best.method for one in recommendation.advice), None)
    chosen: dict[str, Trial] = {}
    for trial in sorted(trials, key=lambda trial: trial.k):
        if str(trial.choice) in (UNPROTECTED, method):
            chosen.setdefault(str(trial.choice), trial)
    return tuple(
        replace(trial, repetition=repetition, fold=fold)
        for repetition, fold in laboratory.splits
        for trial in chosen.values()
    )


def row_split_errors(summary: Summary, runs: Sequence[Result]) -> tuple[RowSplitError, ...]:
    """Both figures, learner by learner, the table itself first; only where both are known."""
    by_rows = Summary.of(runs, summary.measure)
    cells = [cell for cell in by_rows.cells if cell.is_known and cell.method != MAJORITY]
    pairs = [(_same(summary, cell), cell) for cell in cells]
    return tuple(RowSplitError(own, wrong) for own, wrong in pairs if own is not None and own.is_known)


def _same(summary: Summary, cell: SummaryCell) -> SummaryCell | None:
    key = (cell.method, cell.k, cell.learner)
    return next((one for one in summary.cells if (one.method, one.k, one.learner) == key), None)


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
