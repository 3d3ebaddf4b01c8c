"""Hiders against naive Bayes: what all have in common, and DROPP, which changes the row itself.

If the true value is predicted, another value is drawn that shall overtake it. DECP and INCP then change other rows
(:mod:`incrowd.hiding.other_rows`), DROPP the row itself; e-DROPP takes several cells of one row.

The generalizing forms (names with ``-g``) show a cell one level up at a time instead of blanking it, first of all the
confidential one, and work against an adversary who shares hidden cells out along the taxonomy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from operator import attrgetter
from typing import ClassVar, TypeVar

from incrowd.errors import ParameterError
from incrowd.hiding.adversaries import BayesAdversary, Belief, Scores, best, without
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Chose, Figure, Secret, Status, hide_or_delete
from incrowd.hiding.taxonomy import HIDDEN

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
        belief = bayes.belief(secret.published, secret.row, secret.attribute)
        options = nearest_guess(belief, secret.actual, top(scores, degree))
    return Opening(scores, secret.chance.one_of(options)) if options else Status.DELETED


def top(scores: Scores, degree: int) -> list[int]:
    """The values with the highest scores, ties in the order of the domain."""
    return sorted(scores, key=lambda value: -scores[value])[:degree]


def nearest_guess(belief: Belief, actual: int, highest: Sequence[int]) -> list[int]:
    """If all others are impossible: of the highest values, that with the fewest zero likelihoods, then largest product.

    A value that no row has cannot overtake another one.
    """
    options = [value for value in highest if value != actual and belief.prior[value] > 0]

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
class GroupHider(AgainstBayes, ABC):
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


@dataclass(frozen=True)
class DropP(BayesHider):
    """Drop cells of the row itself that speak for the true value: DROPP, DROPP-G.

    The cell whose likelihood under the true value exceeds that under the next best guess by the largest ratio goes
    first. At most n - 1 cells change. Where DROPP succeeds, no smaller set of cells of the row would do for this guess.
    """

    nearest: bool = False  # where no other value is possible: guess the closest, instead of deleting the row
    kind = "dropp"

    def open(self, secret: Secret) -> Opening | Status:
        """The scores, and the value that is to overtake the true one."""
        return open_case(secret, self.bayes, self.degree, nearest=self.nearest)

    def press(self, secret: Secret, opening: Opening) -> None:
        """Withhold cells of the row until the true value scores no more than the guess, or none speaks for it."""
        for level, highs in ladder(secret.published, secret.known, generalize=self.generalize):
            while highs and is_ahead(secret, self.bayes, opening.guess):
                lifts = {name: Lift.of(secret, opening.guess, name, high, self.bayes) for name, high in highs.items()}
                telling = tuple(name for name, lift in lifts.items() if lift.ratio > 1)
                if not telling:
                    break
                chosen = max(telling, key=lambda name: lifts[name].ratio)
                secret.steps.append(Chose(chosen, telling, _figures(lifts, generalize=self.generalize), level))
                secret.show([secret.row], chosen, highs.pop(chosen))


def ladder(
    published: PublishedTable, start: Mapping[str, int], *, generalize: bool
) -> Iterator[tuple[int, dict[str, int]]]:
    """Level by level, what cells of a row may show next; where they are blanked, one step that is no level."""
    if not generalize:
        yield 0, dict.fromkeys(start, HIDDEN)
        return
    for level in range(1, levels(published, start) + 1):
        taxonomies = {name: published.taxonomy(name) for name in start}
        deep = (name for name, node in start.items() if level <= taxonomies[name].depth(node))
        yield level, {name: taxonomies[name].up(start[name], level) for name in deep}


@dataclass(frozen=True)
class Lift:
    """Raising a cell of the row: estimated rows that agree before and after, under the true value and the guess."""

    actual_low: Fraction
    actual_high: Fraction
    guess_low: Fraction
    guess_high: Fraction

    @classmethod
    def of(cls, secret: Secret, guess: int, name: str, high: int, bayes: BayesAdversary) -> Lift:
        """Raising the row's cell of an attribute to a node. At the root it says nothing: its likelihood is 1."""
        published, shown = secret.published, secret.shown(secret.attribute)
        classes = without(published.counts(secret.attribute), shown)
        joint, taxonomy = published.joint(secret.attribute, name), published.taxonomy(name)

        def agree(value: int, node: int) -> Fraction:
            if node == HIDDEN:
                return bayes.support(secret.taxonomy, classes, value, shown)
            return bayes.support(taxonomy, joint[value], node)

        low = secret.shown(name)
        return cls(agree(secret.actual, low), agree(secret.actual, high), agree(guess, low), agree(guess, high))

    @property
    def ratio(self) -> Fraction | float:
        """How much it helps the guess over the true value; infinite if it makes the guess possible."""
        if not self.actual_high or not self.actual_low or not self.guess_high:
            return Fraction(0)
        return self.guess_high * self.actual_low / (self.guess_low * self.actual_high) if self.guess_low else inf

    @property
    def odds(self) -> Fraction | float:
        """Rows that agree before: those with the true value over those with the guess; infinite if there are none."""
        return self.actual_low / self.guess_low if self.guess_low else inf


def _figures(lifts: Mapping[str, Lift], *, generalize: bool) -> dict[str, dict[str, Figure]]:
    if not generalize:
        return figures(lifts, actual=attrgetter("actual_low"), guess=attrgetter("guess_low"), ratios=attrgetter("odds"))
    parts = ("actual_low", "actual_high", "guess_low", "guess_high")
    return figures(lifts, **{part: attrgetter(part) for part in parts}, ratios=attrgetter("ratio"))


@dataclass(frozen=True)
class JointDropP(GroupHider):
    """Drop the cells of a row that speak most for the true values of several hidden ones, on average: e-DROPP(-G).

    Withholding a cell for one attribute can expose another one again, so all are checked until none is predicted.
    """

    kind = "e-dropp"

    def hide_all(self, secrets: Sequence[Secret]) -> list[Status]:
        """Hide blanked cells of one row; if one of them stays predicted, the row is deleted."""
        if len({secret.row for secret in secrets}) > 1:
            raise ParameterError("e-DROPP hides cells of one row at a time. Group the cells by row.")
        if not secrets:
            return []
        first, group, marks = secrets[0], SecretGroup(secrets, self), [secret.mark() for secret in secrets]
        confidential = {secret.attribute for secret in secrets}
        start = {name: node for name, node in first.known.items() if name not in confidential}
        for level in self.class_levels(secrets):
            if level:
                group.raise_to(level, secrets if level == 1 else list(group.exposed()))
            for rung, highs in ladder(first.published, start, generalize=self.generalize):
                while self._drop_one(group, highs, rung):
                    pass
            if not any(group.exposed()):
                return [group.end(secret) for secret in secrets]
        for secret, mark in zip(secrets, marks, strict=True):
            secret.back(mark)
        first.delete_row()
        return [Status.DELETED] * len(secrets)

    def _drop_one(self, group: SecretGroup, highs: dict[str, int], level: int) -> bool:
        """Withhold the cell that counts most, on average over the live attributes; False if none helps."""
        live, first = group.live(), group.secrets[0]
        impact: dict[str, Fraction | float] = {}
        for name, high in highs.items() if live else ():
            if first.published.taxonomy(name).below(first.shown(name), high):
                lifts = [Lift.of(one, group.guesses[one], name, high, self.bayes) for one in live]
                if any(lift.ratio > 1 for lift in lifts):
                    impact[name] = sum(lift.ratio if self.generalize else lift.odds for lift in lifts) / len(lifts)
        if not impact:
            return False
        chosen = max(impact, key=lambda name: impact[name])
        live[0].steps.append(Chose(chosen, tuple(impact), {"impact": impact}, level))
        live[0].show([first.row], chosen, highs.pop(chosen))
        return True
