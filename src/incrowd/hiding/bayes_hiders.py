"""What all hiders against naive Bayes have in common: the opening, levels, and several cells at once.

If the true value is predicted, another value is drawn that shall overtake it. DECP and INCP then change other rows
(:mod:`incrowd.hiding.other_rows`), DROPP the row itself (:mod:`incrowd.hiding.own_row`).

The generalizing forms (names with ``-g``) show a cell one level up at a time instead of blanking it, first of all the
confidential one, and work against an adversary who shares hidden cells out along the taxonomy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeVar

from incrowd.errors import ParameterError
from incrowd.hiding.naive_bayes import BayesAdversary, Belief, Scores, best
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Figure, Secret, Status, hide_or_delete

COUNTED = BayesAdversary("counted")
SHARED = BayesAdversary("shared")
T = TypeVar("T")


def check_degree(degree: int) -> None:
    """The degree of suppression: among how many values the next best guess is drawn, the true one included."""
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 2:
        raise ParameterError("The degree of suppression must be a whole number of at least 2. Use 2 or 3.")


@dataclass(frozen=True)
class Opening:
    """Where a hider starts: the scores, and the value that is to overtake the true one."""

    scores: Scores
    guess: int


def open_case(secret: Secret, bayes: BayesAdversary, degree: int, *, nearest: bool = False) -> Opening | Status:
    """The opening; or how it ended already. Without a next best guess the row has to go."""
    scores = bayes.scores(secret.published, secret.row, secret.attribute)
    if best(scores) != secret.actual:
        return Status.NOT_PREDICTED
    if secret.coin_says_stop():
        return Status.COIN
    options = [v for v in top(scores, degree) if v != secret.actual and 0 < scores[v] < scores[secret.actual]]
    if not options and nearest:
        options = nearest_guess(bayes.belief(secret.published, secret.row, secret.attribute), secret.actual)
    return Opening(scores, secret.chance.one_of(options)) if options else Status.DELETED


def top(scores: Scores, degree: int) -> list[int]:
    """The values with the highest scores, ties in the order of the domain."""
    return sorted(scores, key=lambda value: -scores[value])[:degree]


def nearest_guess(belief: Belief, actual: int) -> list[int]:
    """If all other values are impossible: the one with the fewest zero likelihoods, then the largest other product."""
    options = [value for value, prior in belief.prior.items() if value != actual and prior > 0]

    def nearness(value: int) -> tuple[int, Fraction]:
        product, zeros = belief.prior[value], 0
        for likelihood in belief.likelihood[value].values():
            zeros += likelihood == 0
            product *= likelihood or 1
        return zeros, -product

    return [min(options, key=nearness)] if options else []


def is_predicted(secret: Secret, bayes: BayesAdversary) -> bool:
    """Whether naive Bayes still takes the cell for what it is."""
    return best(bayes.scores(secret.published, secret.row, secret.attribute)) == secret.actual


def is_ahead(secret: Secret, bayes: BayesAdversary, guess: int) -> bool:
    """Whether the true value still scores more than a guess."""
    score, goal = duel(secret, bayes, guess)
    return score > goal


def duel(secret: Secret, bayes: BayesAdversary, guess: int) -> tuple[Fraction, Fraction]:
    """The scores of the true value and of a guess."""
    scores = bayes.scores(secret.published, secret.row, secret.attribute, (secret.actual, guess))
    return scores[secret.actual], scores[guess]


@dataclass(frozen=True)
class AgainstBayes:
    """The switches of all hiders against naive Bayes."""

    degree: int = 2  # the next best guess is drawn from so many most likely values, the true one included
    generalize: bool = False
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        check_degree(self.degree)

    @property
    def name(self) -> str:
        """Its name in the list of methods."""
        return f"{self.kind}-g" if self.generalize else self.kind

    @property
    def bayes(self) -> BayesAdversary:
        """The adversary it works against."""
        return SHARED if self.generalize else COUNTED


@dataclass(frozen=True)
class BayesHider(AgainstBayes, ABC):
    """Hides one cell."""

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes; if that is impossible, delete the row."""
        return hide_or_delete(secret, self.attempt, generalize=self.generalize)

    def attempt(self, secret: Secret) -> Status:
        """One round with the confidential cell as it is shown; ``DELETED`` and nothing changed if it fails."""
        opening = self.open(secret)
        if isinstance(opening, Status):
            return opening
        mark = secret.mark()
        self.press(secret, opening)
        if not is_predicted(secret, self.bayes):
            return Status.HIDDEN
        secret.back(mark)
        return Status.DELETED

    def open(self, secret: Secret) -> Opening | Status:
        """The scores, and the value that is to overtake the true one."""
        return open_case(secret, self.bayes, self.degree)

    @abstractmethod
    def press(self, secret: Secret, opening: Opening) -> None:
        """Change cells until another value scores as much as the true one, as far as that is possible."""


@dataclass(frozen=True)
class JointBayesHider(AgainstBayes, ABC):
    """Hides several cells at once; steps are noted with the first of those that need them."""

    @abstractmethod
    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells; how each of them ended."""

    def class_levels(self, secrets: Sequence[Secret]) -> Sequence[int]:
        """The levels above their true values at which confidential cells are shown; 0 stands for blank."""
        if not self.generalize:
            return (0,)
        return range(1, max((secret.taxonomy.depth(secret.actual) for secret in secrets), default=0) + 1)


@dataclass
class SecretGroup:
    """Confidential cells that are hidden together: their next best guesses, and which of them are out.

    ``coin`` are those the coin left as they are, ``pressed`` those that had to be hidden.
    """

    secrets: Sequence[Secret]
    hider: AgainstBayes
    guesses: dict[Secret, int] = field(default_factory=dict)
    coin: set[Secret] = field(default_factory=set)
    pressed: set[Secret] = field(default_factory=set)

    def exposed(self) -> Iterator[Secret]:
        """The cells that are predicted, each looked at when it is its turn."""
        return (one for one in self.secrets if one not in self.coin and is_predicted(one, self.hider.bayes))

    def raise_to(self, level: int, secrets: Iterable[Secret]) -> None:
        """Show cells so many levels above their true values; they need new guesses."""
        for secret in secrets:
            secret.raise_to(level)
            self.guesses.pop(secret, None)

    def live(self, among: Iterable[Secret] | None = None) -> list[Secret]:
        """The cells that are not behind their guess; one that is predicted and has none draws one."""
        return [secret for secret in (self.secrets if among is None else among) if self._is_live(secret)]

    def _is_live(self, secret: Secret) -> bool:
        if secret in self.coin:
            return False
        if secret in self.guesses:
            return is_ahead(secret, self.hider.bayes, self.guesses[secret])
        opening = open_case(secret, self.hider.bayes, self.hider.degree)
        if opening is Status.COIN:
            self.coin.add(secret)
        if isinstance(opening, Opening):
            self.guesses[secret] = opening.guess
        if isinstance(opening, Opening) or (opening is Status.DELETED and not self.hider.generalize):
            self.pressed.add(secret)
        return isinstance(opening, Opening)

    def end(self, secret: Secret) -> Status:
        """How a cell ended that is no longer predicted, or that the coin left."""
        if secret in self.coin:
            return Status.COIN
        return Status.HIDDEN if secret in self.pressed else Status.NOT_PREDICTED


def levels(published: PublishedTable, shown: Mapping[str, int]) -> int:
    """How far the deepest of what a row shows can be raised."""
    return max((published.taxonomy(name).depth(node) for name, node in shown.items()), default=0)


def figures(parts: Mapping[str, T], **each: Callable[[T], Figure]) -> dict[str, dict[str, Figure]]:
    """Figures of candidates, by their name and the candidate."""
    return {name: {which: figure(part) for which, part in parts.items()} for name, figure in each.items()}
