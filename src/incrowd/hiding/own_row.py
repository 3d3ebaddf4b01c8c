"""Hiders against naive Bayes that change the row itself: DROPP, and e-DROPP for several attributes of one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from operator import attrgetter

from incrowd.errors import ParameterError
from incrowd.hiding.bayes_hiders import (
    BayesHider,
    JointBayesHider,
    Opening,
    SecretGroup,
    figures,
    is_ahead,
    levels,
    open_case,
)
from incrowd.hiding.naive_bayes import BayesAdversary, without
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.secret import Chose, Figure, Secret, Status
from incrowd.hiding.taxonomy import HIDDEN


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
class JointDropP(JointBayesHider):
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
