"""DROPP-G: as DROPP, with cells of the row generalized instead of blanked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf

from incrowd.adversaries.naive_bayes import without
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.generalizing import level_by_level
from incrowd.algorithms.cell_hiding.opening import SHARED, check_degree, is_ahead, is_predicted, open_case, or_delete
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Figure, Status


@dataclass(frozen=True)
class DropPG:
    """Generalize what speaks for the true value; no other row changes.

    Parameters
    ----------
    degree, nearest
        As in :class:`incrowd.algorithms.cell_hiding.dropp.DropP`.
    """

    degree: int = 2
    nearest: bool = False
    name = "dropp-g"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes that shares hidden cells out."""
        return or_delete(secret, level_by_level(secret, self.attempt))

    def attempt(self, secret: Secret) -> Status:
        """One round at the class level that is shown."""
        opening = open_case(secret, SHARED, self.degree, self.nearest)
        if isinstance(opening, Status):
            return opening
        drop_by_levels(secret, opening.guess)
        return Status.DELETED if is_predicted(secret, SHARED) else Status.HIDDEN


@dataclass(frozen=True)
class Lift:
    """Raising a cell of the row: estimated rows that agree before and after, under the true value and the guess."""

    actual_low: Fraction
    actual_high: Fraction
    guess_low: Fraction
    guess_high: Fraction

    @property
    def ratio(self) -> Fraction | float:
        """How much it helps the guess over the true value; infinite if it makes the guess possible."""
        if not self.actual_high or not self.actual_low or not self.guess_high:
            return Fraction(0)
        return self.guess_high * self.actual_low / (self.guess_low * self.actual_high) if self.guess_low else inf


def lift(secret: Secret, guess: int, name: str, high: int) -> Lift:
    """Raising the row's cell of an attribute to a node. At the root it says nothing: its likelihood is 1."""
    published, shown = secret.published, secret.shown(secret.attribute)
    classes = without(published.counts(secret.attribute), shown)
    joint, taxonomy = published.joint(secret.attribute, name), published.taxonomy(name)

    def agree(value: int, node: int) -> Fraction:
        if node == HIDDEN:
            return secret.taxonomy.estimate(classes, value, shown)
        return taxonomy.estimate(joint[value], node)

    low = secret.shown(name)
    return Lift(agree(secret.actual, low), agree(secret.actual, high), agree(guess, low), agree(guess, high))


def drop_by_levels(secret: Secret, guess: int) -> None:
    """Raise cells of the row level by level until the true value scores no more than the guess."""
    start = {name: secret.shown(name) for name in secret.known}
    taxonomies = {name: secret.published.taxonomy(name) for name in start}
    depths = {name: taxonomies[name].depth(node) for name, node in start.items()}
    for level in range(1, max(depths.values(), default=0) + 1):
        highs = {name: taxonomies[name].up(node, level) for name, node in start.items() if level <= depths[name]}
        while highs and is_ahead(secret, SHARED, guess):
            lifts = {name: lift(secret, guess, name, high) for name, high in highs.items()}
            telling = tuple(name for name in lifts if lifts[name].ratio > 1)
            if not telling:
                break
            chosen = max(telling, key=lambda name: lifts[name].ratio)
            secret.steps.append(Chose(chosen, telling, _figures(lifts), level))
            secret.show([secret.row], chosen, highs.pop(chosen))


def _figures(lifts: dict[str, Lift]) -> dict[str, dict[str, Figure]]:
    return {
        "actual_low": {name: lift.actual_low for name, lift in lifts.items()},
        "actual_high": {name: lift.actual_high for name, lift in lifts.items()},
        "guess_low": {name: lift.guess_low for name, lift in lifts.items()},
        "guess_high": {name: lift.guess_high for name, lift in lifts.items()},
        "ratios": {name: lift.ratio for name, lift in lifts.items()},
    }
