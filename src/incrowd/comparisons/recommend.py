"""What to use, in words: for each learner and k the best method, what it costs, and which others are as good.

How wrong a split by rows is where persons have several rows: who is in both parts of a split is known again by what
does not change, and what a learner remembers of persons looks like what it has learned. So a comparison by persons also
runs once by rows, for the table itself and for one method, and says by how much that is too good.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from statistics import fmean, median

from incrowd.comparisons.choices import MAJORITY, UNPROTECTED
from incrowd.comparisons.learners.catalog import parsed
from incrowd.comparisons.persons import row_protocol
from incrowd.comparisons.summary import Summary, SummaryCell, noise
from incrowd.comparisons.trial import Laboratory, Result, Trial
from incrowd.drawing.wording import listed
from incrowd.errors import ParameterError

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
