"""The quiet hider: what it hides says nothing about the value.

All other hiders act only if the true value is predicted. Whoever knows the method and sees that cells were hidden can
turn this around (see :mod:`incrowd.algorithms.cell_hiding.pattern_attack`). The quiet hider never looks at the true
value: it blanks cells of the row until every adversary says of it what it would say of a blank row. An adversary is
then right only where the value is the one it takes everybody for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from incrowd.adversaries.adversary import Adversary, Student
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.generic import evidence
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status
from incrowd.errors import ParameterError


@dataclass(frozen=True)
class Quiet:
    """Blank cells of the row until no adversary makes anything of it, whatever the true value is.

    Parameters
    ----------
    adversaries
        All of them must be left with what they would say of a blank row.

    Examples
    --------
    >>> from incrowd.adversaries.naive_bayes import NaiveBayes
    >>> Quiet((NaiveBayes(),)).name
    'quiet'
    """

    adversaries: tuple[Adversary, ...]
    name = "quiet"

    def __post_init__(self) -> None:
        if not self.adversaries:
            raise ParameterError("The quiet hider needs at least one adversary. Name some, for instance nb and id3.")

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell."""
        shown = secret.shown(secret.attribute)
        students = [adversary.study(secret.published, secret.attribute, shown) for adversary in self.adversaries]
        return self.hide_from(secret, students)

    def hide_from(self, secret: Secret, students: Sequence[Student]) -> Status:
        """Hide a blanked cell from adversaries that have learnt already."""
        calm = blank_guesses(secret, students)
        start = {name: secret.shown(name) for name in secret.known}
        mark, names = secret.published.mark(), []
        while misled := _deviating(secret, students, calm):
            weights = {name: abs(evidence(secret, name, misled) - 1) for name in secret.known}
            names.append(max(weights, key=lambda name: weights[name]))
            secret.published.show([secret.row], names[-1], HIDDEN)
        for name in reversed(names[:]):
            secret.published.show([secret.row], name, start[name])
            if _deviating(secret, students, calm):
                secret.published.show([secret.row], name, HIDDEN)
            else:
                names.remove(name)
        secret.published.back(mark)
        for name in names:
            secret.steps.append(Chose(name, tuple(start), {}))
            secret.show([secret.row], name, HIDDEN)
        if not names:
            return Status.NOT_PREDICTED
        blank = all(secret.shown(name) == HIDDEN for name in secret.published.attributes)
        return Status.DELETED if blank else Status.HIDDEN


def blank_guesses(secret: Secret, students: Sequence[Student]) -> list[int | None]:
    """What adversaries would say if the whole row were blank."""
    mark = secret.published.mark()
    for name in secret.known:
        secret.published.show([secret.row], name, HIDDEN)
    calm = [student.guess(secret.row) for student in students]
    secret.published.back(mark)
    return calm


def _deviating(secret: Secret, students: Sequence[Student], calm: Sequence[int | None]) -> int | None:
    """The value an adversary takes the cell for because of the row; None if none makes anything of it."""
    for student, usual in zip(students, calm, strict=True):
        guess = student.guess(secret.row)
        if guess != usual:
            return guess or usual
    return None
