"""DROPP: hide the cells of the row itself that speak most for the true value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from incrowd.adversaries.naive_bayes import Belief
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.opening import COUNTED, check_degree, closed, open_case, or_delete
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Figure, Status


@dataclass(frozen=True)
class DropP:
    """Drop what speaks for the true value; no other row changes.

    The cell whose likelihood under the true value exceeds that under the next best guess by the largest ratio goes
    first. At most n - 1 cells change. Where it succeeds, no smaller set of cells of the row would do for this guess.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    nearest
        If every other value is impossible: True takes the one closest to being possible as the guess, False deletes
        the row.
    """

    degree: int = 2
    nearest: bool = False
    name = "dropp"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes."""
        opening = open_case(secret, COUNTED, self.degree, self.nearest)
        mark = secret.mark()
        if isinstance(opening, Status):
            return or_delete(secret, opening)
        drop(secret, opening.guess)
        return closed(secret, COUNTED, mark)


def drop(secret: Secret, guess: int) -> None:
    """Hide cells of the row until the true value scores no more than the guess, or none speaks for it any more."""
    while True:
        belief = COUNTED.belief(secret.published, secret.row, secret.attribute)
        if belief.scores[secret.actual] <= belief.scores[guess]:
            return
        telling = [name for name in secret.known if speaks(belief, secret.actual, guess, name)]
        if not telling:
            return
        counts = {name: agreeing(secret, guess, name) for name in secret.known}
        chosen = max(telling, key=lambda name: ratio(counts[name]))
        secret.steps.append(Chose(chosen, tuple(telling), _figures(counts)))
        secret.show([secret.row], chosen, HIDDEN)


def speaks(belief: Belief, actual: int, guess: int, name: str) -> bool:
    """Whether a cell is more likely under the true value than under the guess."""
    return belief.likelihood[actual][name] > belief.likelihood[guess][name]


def agreeing(secret: Secret, guess: int, name: str) -> tuple[int, int]:
    """Rows that agree with the row in an attribute: those with the true value and those with the guess."""
    counts = secret.published.joint(secret.attribute, name)[:, secret.shown(name)]
    return int(counts[secret.actual]), int(counts[guess])


def ratio(counts: tuple[int, int]) -> Fraction | float:
    """Rows with the true value over rows with the guess; infinite if the latter are none.

    Examples
    --------
    >>> ratio((3, 2)), ratio((1, 0))
    (Fraction(3, 2), inf)
    """
    return Fraction(*counts) if counts[1] else inf


def _figures(counts: dict[str, tuple[int, int]]) -> dict[str, dict[str, Figure]]:
    return {
        "actual": {name: pair[0] for name, pair in counts.items()},
        "guess": {name: pair[1] for name, pair in counts.items()},
        "ratios": {name: ratio(pair) for name, pair in counts.items()},
    }
