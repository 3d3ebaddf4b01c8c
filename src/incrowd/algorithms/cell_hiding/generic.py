"""The generic hider: against any adversaries at once, by blanking cells of the row.

Cells are blanked in the order of the evidence they give for the true value, until none of the adversaries predicts it;
then every blanked cell that is not needed is shown again. No other row changes, so the adversaries learn once. The
thesis leaves adversaries other than naive Bayes and ID3 open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from incrowd.adversaries.adversary import Adversary, Student
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status
from incrowd.errors import ParameterError


@dataclass(frozen=True)
class Generic:
    """Hide a cell from every adversary of a list.

    Parameters
    ----------
    adversaries
        All of them must fail.

    Examples
    --------
    >>> from incrowd.adversaries.naive_bayes import NaiveBayes
    >>> Generic((NaiveBayes(),)).name
    'generic'
    """

    adversaries: tuple[Adversary, ...]
    name = "generic"

    def __post_init__(self) -> None:
        if not self.adversaries:
            raise ParameterError("The generic hider needs at least one adversary. Name some, for instance nb and id3.")

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell."""
        shown = secret.shown(secret.attribute)
        students = [adversary.study(secret.published, secret.attribute, shown) for adversary in self.adversaries]
        return self.hide_from(secret, students)

    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already; if that is impossible, delete the row."""
        if not right(secret, students):
            return Status.NOT_PREDICTED
        if secret.coin_says_stop():
            return Status.COIN
        weights = {name: evidence(secret, name, secret.actual) for name in secret.known}
        names = _by_evidence(secret, students, weights) or _by_trial(secret, students, weights)
        if names is None:
            secret.delete_row()
            return Status.DELETED
        for name in _needed(secret, students, names):
            secret.steps.append(Chose(name, tuple(weights), {"evidence": weights}))
            secret.show([secret.row], name, HIDDEN)
        return Status.HIDDEN


def right(secret: Secret, students: Sequence[Student]) -> int:
    """How many adversaries take the cell for what it is."""
    return sum(student.guess(secret.row) == secret.actual for student in students)


def evidence(secret: Secret, name: str, value: int) -> Fraction:
    """How much more common what the row shows is among rows with a value than among those with another one.

    A ratio of frequencies, each with half a row added for and against, so that it is never without bound.
    """
    published = secret.published
    others = [leaf for leaf in secret.taxonomy.leaves if leaf != value]
    classes = published.counts(secret.attribute)
    cells = published.joint(secret.attribute, name)[:, secret.shown(name)]
    among_same = Fraction(2 * int(cells[value]) + 1, 2 * int(classes[value]) + 2)
    among_others = Fraction(2 * int(cells[others].sum()) + 1, 2 * int(classes[others].sum()) + 2)
    return among_same / among_others


def _by_evidence(secret: Secret, students: Sequence[Student], weights: dict[str, Fraction]) -> list[str] | None:
    """Blank the strongest evidence first; the cells it took, or None. The row is left as it was."""
    mark, blanked = secret.published.mark(), []
    for name in sorted(weights, key=lambda name: -weights[name]):
        secret.published.show([secret.row], name, HIDDEN)
        blanked.append(name)
        if not right(secret, students):
            break
    fooled = not right(secret, students)
    secret.published.back(mark)
    return blanked if fooled else None


def _by_trial(secret: Secret, students: Sequence[Student], weights: dict[str, Fraction]) -> list[str] | None:
    """Blank the cell after which the fewest adversaries are right, again and again; as above."""
    mark, blanked, left = secret.published.mark(), [], dict(weights)

    def outcome(name: str) -> tuple[int, Fraction]:
        here = secret.published.mark()
        secret.published.show([secret.row], name, HIDDEN)
        count = right(secret, students)
        secret.published.back(here)
        return count, -left[name]

    while left and right(secret, students):
        chosen = min(left, key=outcome)
        del left[chosen]
        secret.published.show([secret.row], chosen, HIDDEN)
        blanked.append(chosen)
    fooled = not right(secret, students)
    secret.published.back(mark)
    return blanked if fooled else None


def _needed(secret: Secret, students: Sequence[Student], names: list[str]) -> list[str]:
    """Show blanked cells again, the weakest evidence first, as long as all adversaries still fail."""
    mark, kept = secret.published.mark(), list(names)
    before = {name: secret.shown(name) for name in names}
    for name in names:
        secret.published.show([secret.row], name, HIDDEN)
    for name in reversed(names):
        secret.published.show([secret.row], name, before[name])
        if right(secret, students):
            secret.published.show([secret.row], name, HIDDEN)
        else:
            kept.remove(name)
    secret.published.back(mark)
    return kept
