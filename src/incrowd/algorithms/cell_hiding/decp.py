"""DECP: hide cells of other rows that speak for the true value, until another value is at least as likely."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.opening import COUNTED, check_degree, closed, open_case, or_delete
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Status


@dataclass(frozen=True)
class DecP:
    """Decrease the probability of the true value.

    Other rows with the true value lose cells in which they agree with the row in question, the rarest agreement first;
    one row that agrees stays for each attribute. The row itself keeps all of its other cells. At most (n - 1)(N - 1)
    cells change, for n attributes and N other rows with the true value.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "decp"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes."""
        opening = open_case(secret, COUNTED, self.degree)
        mark = secret.mark()
        if isinstance(opening, Status):
            return or_delete(secret, opening)
        push_down(secret, opening.guess)
        return closed(secret, COUNTED, mark)


def push_down(secret: Secret, guess: int) -> None:
    """Hide supporting cells until the true value scores no more than the guess, or one supporter each is left."""
    scores = COUNTED.scores(secret.published, secret.row, secret.attribute, (secret.actual, guess))
    score, goal = scores[secret.actual], scores[guess]
    while score > goal:
        counts = supporters(secret)
        possible = {name: count for name, count in counts.items() if count > 1}
        if not possible:
            return
        chosen = min(possible, key=lambda name: possible[name])
        secret.steps.append(Chose(chosen, tuple(possible), {"counts": counts}))
        count = counts[chosen]
        fewer = hides_needed(count, score, goal)
        pair = ((secret.attribute, secret.actual), (chosen, secret.shown(chosen)))
        rows = list(islice(secret.published.rows_with(*pair), fewer))
        factors = [Fraction(left - 1, left) for left in range(count, count - fewer, -1)]
        secret.show(rows, chosen, HIDDEN, factors)
        score *= Fraction(count - fewer, count)


def supporters(secret: Secret) -> dict[str, int]:
    """For each known predictor, the rows with the true value that agree with the row in question."""
    return {
        name: int(secret.published.joint(secret.attribute, name)[secret.actual, secret.shown(name)])
        for name in secret.known
    }


def hides_needed(count: int, score: Fraction, goal: Fraction) -> int:
    """How many of so many supporters to hide until the score is at most the goal, one of them left at least.

    Examples
    --------
    >>> hides_needed(4, Fraction(1, 2), Fraction(1, 4)), hides_needed(4, Fraction(1, 2), Fraction(0))
    (2, 3)
    """
    return min(count - 1, count - int(count * goal / score))
