"""What to use, in words: for each learner and k the best method, what it costs, and which others are as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from incrowd.compare.summary import Summary, SummaryCell, noise
from incrowd.drawing.wording import listed

SMALL, LARGE = 0.01, 0.03
"""Of differences that may be chance: below the first, methods are as good; from the second on, they are not named."""
NAMES = {"c45": "C4.5", "nb": "naive Bayes", "logistic": "logistic regression"}


@dataclass(frozen=True)
class Advice:
    """The best method for one learner at one k.

    ``equals`` are within ``noise`` of it and less than a point worse; ``unclear`` are worse by more than a point, but
    results vary so much from split to split that it may be chance. ``tree`` is what kADET's published tree is worth.
    """

    learner: str
    k: int
    best: SummaryCell
    equals: tuple[SummaryCell, ...]
    unclear: tuple[SummaryCell, ...]
    noise: float
    below_unprotected: float | None
    beats_majority: bool
    tree: SummaryCell | None = None

    def __str__(self) -> str:
        words = f"For {name_of(self.learner)} at k={self.k}"
        if not self.beats_majority:
            words += " no release is shown to be better than always predicting the most frequent class: the best, "
            words += f"{self.best.method}, has an accuracy of {_percent(self.best.accuracy)}"
            return f"{words}.{_published(self.tree)}"
        words += f" use {self.best.method}: {_percent(self.best.accuracy)}"
        if self.below_unprotected is not None:
            words += f", {_against(self.below_unprotected)}"
        if self.equals:
            verb = "is" if len(self.equals) == 1 else "are"
            words += f"; differences under {100 * self.noise:.1f} points are noise here: "
            words += f"{listed([cell.method for cell in self.equals])} {verb} as good"
        if self.unclear:
            words += f"; not clearly worse: {listed([_with_accuracy(cell) for cell in self.unclear])}"
        return f"{words}.{_published(self.tree)}"


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
    close = [other for other, chance in chances.items() if best.accuracy - other.accuracy <= chance]
    equals = tuple(other for other in close if best.accuracy - other.accuracy < SMALL)
    standard, majority = summary.unprotected(learner), summary.majority
    return Advice(
        learner,
        k,
        best,
        equals,
        tuple(other for other in close if SMALL <= best.accuracy - other.accuracy < LARGE),
        median(chances[other] for other in equals) if equals else 0.0,
        None if standard is None else standard.accuracy - best.accuracy,
        majority is None or best.accuracy - majority.accuracy > noise(best, majority),
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
    how = "in all" if cases == len(useful) else f"in {cases} of"
    return f"If you want one method: {method} is best, or as good as the best, {how} {len(useful)} cases below."


def _against(below: float) -> str:
    points = 100 * below
    if abs(points) < 0.05:
        return "as much as the unprotected table"
    return f"{abs(points):.1f} points {'below' if points > 0 else 'above'} the unprotected table"


def _with_accuracy(cell: SummaryCell) -> str:
    return f"{cell.method} ({_percent(cell.accuracy)})"


def _published(tree: SummaryCell | None) -> str:
    """What a tree is worth that is published instead of a table."""
    return "" if tree is None else f" A published tree ({tree.method}) gets {_percent(tree.accuracy)}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
