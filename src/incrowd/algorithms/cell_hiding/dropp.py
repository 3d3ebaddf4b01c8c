"""DROPP: hide the cells of the row itself that speak most for the true value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.opening import COUNTED, check_degree, closed, is_ahead, open_case, or_delete
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
    while is_ahead(secret, COUNTED, guess):
        counts = {name: agreeing(secret, guess, name) for name in secret.known}
        telling = tuple(name for name in counts if speaks(secret, guess, counts[name]))
        if not telling:
            return
        chosen = max(telling, key=lambda name: ratio(counts[name]))
        secret.steps.append(Chose(chosen, telling, _figures(counts)))
        secret.show([secret.row], chosen, HIDDEN)


def speaks(secret: Secret, guess: int, counts: tuple[int, int]) -> bool:
    """Whether rows that agree are a larger share of those with the true value than of those with the guess."""
    sizes = secret.published.counts(secret.attribute)
    return counts[0] * int(sizes[guess]) > counts[1] * int(sizes[secret.actual])


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
