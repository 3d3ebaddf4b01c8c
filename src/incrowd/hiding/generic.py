"""Hiders against any adversaries at once, by blanking cells of the row: the generic and the quiet one.

No other row changes, so the adversaries learn once. The thesis leaves adversaries other than naive Bayes and ID3 open.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from incrowd.errors import ParameterError
from incrowd.hiding.adversaries import Adversary, Student
from incrowd.hiding.secret import Chose, Secret, Status
from incrowd.hiding.taxonomy import HIDDEN


@dataclass(frozen=True)
class RowBlanker(ABC):
    """Blanks cells of the row until all adversaries of a list fail."""

    adversaries: tuple[Adversary, ...]  # all of them must fail
    name: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.adversaries:
            raise ParameterError(
                f"The {self.name} hider needs at least one adversary. Name some, for instance nb and id3."
            )

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell."""
        shown = secret.shown(secret.attribute)
        students = [adversary.study(secret.published, secret.attribute, shown) for adversary in self.adversaries]
        return self.hide_from(secret, students)

    @abstractmethod
    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already."""


@dataclass(frozen=True)
class Generic(RowBlanker):
    """Hide a cell from every adversary of a list.

    Cells are blanked in the order of the evidence they give for the true value, until none of the adversaries predicts
    it; then every blanked cell that is not needed is shown again.
    """

    name = "generic"

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
        for name in _needed(secret, names, lambda: bool(right(secret, students))):
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


def _by_evidence(secret: Secret, students: Sequence[Student], weights: Mapping[str, Fraction]) -> list[str] | None:
    """Blank the strongest evidence first; the cells it took, or None. The row is left as it was."""
    blanked: list[str] = []
    with secret.published.trial():
        for name in sorted(weights, key=lambda name: -weights[name]):
            secret.published.show([secret.row], name, HIDDEN)
            blanked.append(name)
            if not right(secret, students):
                return blanked
    return None


def _by_trial(secret: Secret, students: Sequence[Student], weights: Mapping[str, Fraction]) -> list[str] | None:
    """Blank the cell after which the fewest adversaries are right, again and again; as above."""
    blanked, left = [], dict(weights)

    def outcome(name: str) -> tuple[int, Fraction]:
        with secret.published.trial():
            secret.published.show([secret.row], name, HIDDEN)
            return right(secret, students), -left[name]

    with secret.published.trial():
        while left and right(secret, students):
            chosen = min(left, key=outcome)
            del left[chosen]
            secret.published.show([secret.row], chosen, HIDDEN)
            blanked.append(chosen)
        return None if right(secret, students) else blanked


def _needed(secret: Secret, names: Sequence[str], exposed: Callable[[], bool]) -> list[str]:
    """Those of the cells to blank without which the secret is exposed, the last tried first; the row stays as it is."""
    kept, before = list(names), {name: secret.shown(name) for name in names}
    with secret.published.trial():
        for name in names:
            secret.published.show([secret.row], name, HIDDEN)
        for name in reversed(names):
            secret.published.show([secret.row], name, before[name])
            if exposed():
                secret.published.show([secret.row], name, HIDDEN)
            else:
                kept.remove(name)
    return kept


@dataclass(frozen=True)
class Quiet(RowBlanker):
    """Blank cells of the row until no adversary makes anything of it, whatever the true value is.

    All other hiders act only if the true value is predicted. Whoever knows the method and sees that cells were hidden
    can turn this around (see :func:`incrowd.hiding.evaluation.pattern_attack`). The quiet hider never looks at the true
    value: it blanks cells of the row until every adversary says of it what it would say of a blank row. An adversary is
    then right only where the value is the one it takes everybody for.
    """

    name = "quiet"

    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already."""
        calm = blank_guesses(secret, students)
        start, names = secret.known, []
        with secret.published.trial():
            while misled := _deviating(secret, students, calm):
                weights = {name: abs(evidence(secret, name, misled) - 1) for name in secret.known}
                names.append(max(weights, key=lambda name: weights[name]))
                secret.published.show([secret.row], names[-1], HIDDEN)
        names = _needed(secret, names, lambda: _deviating(secret, students, calm) is not None)
        for name in names:
            secret.steps.append(Chose(name, tuple(start), {}))
            secret.show([secret.row], name, HIDDEN)
        if not names:
            return Status.NOT_PREDICTED
        blank = all(secret.shown(name) == HIDDEN for name in secret.published.attributes)
        return Status.DELETED if blank else Status.HIDDEN


def blank_guesses(secret: Secret, students: Sequence[Student]) -> list[int | None]:
    """What adversaries would say if the whole row were blank."""
    with secret.published.trial():
        for name in secret.known:
            secret.published.show([secret.row], name, HIDDEN)
        return [student.guess(secret.row) for student in students]


def _deviating(secret: Secret, students: Sequence[Student], calm: Sequence[int | None]) -> int | None:
    """The value an adversary takes the cell for because of the row; None if none makes anything of it."""
    for student, usual in zip(students, calm, strict=True):
        guess = student.guess(secret.row)
        if guess != usual:
            return guess or usual
    return None
