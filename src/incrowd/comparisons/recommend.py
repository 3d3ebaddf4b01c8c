"""What to use, in words: for each learner and k the best method, what it costs, and which others are as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from incrowd.comparisons.summary import Summary, SummaryCell, noise
from incrowd.drawing.wording import listed

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
            words += f"; not clearly worse: {listed([_with_value(cell) for cell in self.unclear])}"
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
    """All advice, and one method for everything if there is such a one."""

    advice: tuple[Advice, ...]
    overall: str

    def __str__(self) -> str:
        return "\n".join([*([self.overall] if self.overall else []), *map(str, self.advice)])


def recommend(summary: Summary) -> Recommendation:
    """What the results say."""
    every = [_advise(summary, learner, k) for learner in summary.learners for k in summary.ks]
    advice = tuple(one for one in every if one is not None)
    return Recommendation(advice, _overall(advice))


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
        learner,
        k,
        best,
        equals,
        tuple(other for other in close if SMALL <= best.better_than(other) < LARGE),
        median(chances[other] for other in equals) if equals else 0.0,
        standard,
        majority,
        majority is None or best.better_than(majority) > noise(best, majority),
        summary.tree(k),
    )


def _overall(advice: Sequence[Advice]) -> str:
    """The method that is best, or as good as the best, most often."""
    useful = [one for one in advice if one.beats_majority]
    if len(useful) < 2:
        return ""
    counts: dict[str, int] = {}
    for one in useful:
        for method in (one.best.method, *(cell.method for cell in one.equals)):
            counts[method] = counts.get(method, 0) + 1
    method, cases = max(counts.items(), key=lambda pair: pair[1])
    everywhere = "both" if cases == 2 else f"all {cases}"
    where = everywhere if cases == len(useful) else f"{cases} of {len(useful)}"
    return f"If you want one method: {method} is best, or as good as the best, in {where} cases below."


def _against(best: SummaryCell, unprotected: SummaryCell) -> str:
    difference = best.measure.difference(best.value - unprotected.value)
    if not any(digit in difference for digit in "123456789"):
        return "as much as the unprotected table"
    return f"{difference} {'below' if best.value < unprotected.value else 'above'} the unprotected table"


def _sure(cell: SummaryCell) -> str:
    """The value with half the width of its interval."""
    half = cell.half_width
    return cell.measure.shown(cell.value) + ("" if half is None else f" ±{cell.measure.number(half)}")


def _with_value(cell: SummaryCell) -> str:
    return f"{cell.method} ({cell.measure.shown(cell.value)})"


def _published(tree: SummaryCell | None) -> str:
    """What a tree is worth that is published instead of a table."""
    return "" if tree is None else f" A published tree ({tree.method}) reaches {_sure(tree)}."
