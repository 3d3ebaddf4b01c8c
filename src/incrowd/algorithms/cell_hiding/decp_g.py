"""DECP-G: as DECP, with cells of other rows generalized instead of blanked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.adversaries.taxonomy import Taxonomy
from incrowd.algorithms.cell_hiding.generalizing import level_by_level
from incrowd.algorithms.cell_hiding.opening import SHARED, check_degree, is_predicted, open_case, or_delete
from incrowd.algorithms.cell_hiding.secret import Secret
from incrowd.algorithms.cell_hiding.steps import Chose, Figure, Status


@dataclass(frozen=True)
class Climb:
    """Raising cells of one attribute by one level, among rows with the true value.

    ``here`` cells show the lower node, ``beneath`` lie below it, and ``within`` lie below the upper node.
    """

    low: int
    high: int
    here: int
    within: int
    beneath: int

    @classmethod
    def of(cls, taxonomy: Taxonomy, cells: npt.NDArray[np.int64], low: int) -> Climb:
        """Count the cells of a climb from a node to its parent."""
        high = taxonomy.parents[low]
        beneath = int(cells[low + 1 : taxonomy.ends[low]].sum())
        return cls(low, high, int(cells[low]), int(cells[high + 1 : taxonomy.ends[high]].sum()), beneath)

    @property
    def possible(self) -> bool:
        """Whether there is a cell to raise and another one that stays."""
        return self.here >= 1 and self.here + self.beneath >= 2

    @property
    def ratio(self) -> Fraction:
        """The factor on the score of the true value when one cell is raised; at most 1."""
        kept = self.here + self.beneath
        return Fraction((kept - 1) * self.within, kept * (self.within - 1))


@dataclass(frozen=True)
class DecPG:
    """Decrease the probability of the true value by generalizing cells of other rows.

    Needs hierarchies; an attribute without one has the root as its only group. At most (n - 1)(N - 1) cells change, for
    n attributes and N other rows with the true value; the row keeps all of its other cells.

    Parameters
    ----------
    degree
        The next best guess is drawn from so many most likely values, the true one included.
    """

    degree: int = 2
    name = "decp-g"

    def __post_init__(self) -> None:
        check_degree(self.degree)

    def hide(self, secret: Secret) -> Status:
        """Hide a blanked cell from naive Bayes that shares hidden cells out."""
        return or_delete(secret, level_by_level(secret, self.attempt))

    def attempt(self, secret: Secret) -> Status:
        """One round at the class level that is shown."""
        opening = open_case(secret, SHARED, self.degree)
        if isinstance(opening, Status):
            return opening
        push_down_by_levels(secret, opening.guess)
        return Status.DELETED if is_predicted(secret, SHARED) else Status.HIDDEN


def push_down_by_levels(secret: Secret, guess: int) -> None:
    """Raise supporting cells level by level until the true value scores no more than the guess."""
    scores = SHARED.scores(secret.published, secret.row, secret.attribute, (secret.actual, guess))
    score, goal = scores[secret.actual], scores[guess]
    level = 1
    while score > goal and level <= max((depth(secret, name) for name in secret.known), default=0):
        climbs = dict(possible_climbs(secret, level))
        if not climbs:
            level += 1
            continue
        chosen = min(climbs, key=lambda name: climbs[name].ratio)
        secret.steps.append(Chose(chosen, tuple(climbs), figures(climbs), level))
        score = _raise_cells(secret, chosen, climbs[chosen], score, goal)


def _raise_cells(secret: Secret, name: str, climb: Climb, score: Fraction, goal: Fraction) -> Fraction:
    """Raise cells of an attribute, first rows first, while that is needed and possible; the score that is left."""
    for row in secret.published.rows_with((secret.attribute, secret.actual), (name, climb.low)):
        if score <= goal or not climb.possible:
            break
        secret.show([row], name, climb.high, [climb.ratio])
        score *= climb.ratio
        climb = Climb(climb.low, climb.high, climb.here - 1, climb.within - 1, climb.beneath)
    return score


def depth(secret: Secret, name: str) -> int:
    """How far what the row shows of an attribute can be raised."""
    return secret.published.taxonomy(name).depth(secret.shown(name))


def possible_climbs(secret: Secret, level: int) -> Iterator[tuple[str, Climb]]:
    """The climbs at a level above what the row shows, for each attribute that has one."""
    for name in secret.known:
        if level <= depth(secret, name):
            taxonomy = secret.published.taxonomy(name)
            cells = secret.published.joint(secret.attribute, name)[secret.actual]
            climb = Climb.of(taxonomy, cells, taxonomy.up(secret.shown(name), level - 1))
            if climb.possible:
                yield name, climb


def figures(climbs: dict[str, Climb]) -> dict[str, dict[str, Figure]]:
    """The counts and ratios of climbs, by their names in the thesis."""
    return {
        "F1": {name: climb.here for name, climb in climbs.items()},
        "F2": {name: climb.within for name, climb in climbs.items()},
        "F3": {name: climb.beneath for name, climb in climbs.items()},
        "ratios": {name: climb.ratio for name, climb in climbs.items()},
    }
