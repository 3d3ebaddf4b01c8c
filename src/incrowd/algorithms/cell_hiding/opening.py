"""How every hider against naive Bayes begins: is the value predicted, the coin, the next best guess."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from incrowd.adversaries.naive_bayes import Belief, NaiveBayes, Scores, best
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.errors import ParameterError

COUNTED = NaiveBayes("counted")
SHARED = NaiveBayes("shared")


@dataclass(frozen=True)
class Opening:
    """Where a hider starts: the scores, and the value that is to overtake the true one."""

    scores: Scores
    guess: int


def check_degree(degree: int) -> None:
    """The degree of suppression: among how many values the next best guess is drawn, the true one included."""
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 2:
        raise ParameterError("The degree of suppression must be a whole number of at least 2. Use 2 or 3.")


def top(scores: Scores, degree: int) -> list[int]:
    """The values with the highest scores, ties in the order of the domain.

    Examples
    --------
    >>> top({1: Fraction(1, 4), 2: Fraction(1, 2), 3: Fraction(1, 4)}, 2)
    [2, 1]
    """
    return sorted(scores, key=lambda value: -scores[value])[:degree]


def next_guesses(scores: Scores, actual: int, degree: int) -> list[int]:
    """The values that may overtake the true one: among the top, below it, not impossible."""
    return [value for value in top(scores, degree) if value != actual and 0 < scores[value] < scores[actual]]


def nearest_guess(belief: Belief, actual: int) -> list[int]:
    """If all other values are impossible: the one with the fewest zero likelihoods, then the largest other product."""
    options = [value for value, prior in belief.prior.items() if value != actual and prior > 0]
    if not options:
        return []

    def nearness(value: int) -> tuple[int, Fraction]:
        product, zeros = belief.prior[value], 0
        for likelihood in belief.likelihood[value].values():
            zeros += likelihood == 0
            product *= likelihood or 1
        return zeros, -product

    return [min(options, key=nearness)]


def open_case(secret: Secret, bayes: NaiveBayes, degree: int, nearest: bool = False) -> Opening | Status:
    """The opening; or how it ended already. Without a next best guess the row has to go."""
    scores = bayes.scores(secret.published, secret.row, secret.attribute)
    if best(scores) != secret.actual:
        return Status.NOT_PREDICTED
    if secret.coin_says_stop():
        return Status.COIN
    options = next_guesses(scores, secret.actual, degree)
    if not options and nearest:
        options = nearest_guess(bayes.belief(secret.published, secret.row, secret.attribute), secret.actual)
    return Opening(scores, secret.chance.one_of(options)) if options else Status.DELETED


def is_predicted(secret: Secret, bayes: NaiveBayes) -> bool:
    """Whether naive Bayes still takes the cell for what it is."""
    return best(bayes.scores(secret.published, secret.row, secret.attribute)) == secret.actual


def is_ahead(secret: Secret, bayes: NaiveBayes, guess: int) -> bool:
    """Whether the true value still scores more than a guess."""
    scores = bayes.scores(secret.published, secret.row, secret.attribute, (secret.actual, guess))
    return scores[secret.actual] > scores[guess]


def closed(secret: Secret, bayes: NaiveBayes, mark: tuple[int, int]) -> Status:
    """How it ended: hidden; or still predicted, then everything since the mark is taken back and the row deleted."""
    if not is_predicted(secret, bayes):
        return Status.HIDDEN
    secret.back(mark)
    secret.delete_row()
    return Status.DELETED


def or_delete(secret: Secret, ended: Status) -> Status:
    """Delete the row if nothing worked."""
    if not ended.success:
        secret.delete_row()
    return ended
