"""Mondrian: halve the widest attribute at its median as long as every half keeps k rows.

LeFevre, DeWitt, Ramakrishnan, "Mondrian Multidimensional K-Anonymity" (ICDE 2006), strict form: rows with the same
value of an attribute stay together when it is cut. No class is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.methods.method import Population
from incrowd.methods.partitioning.deciding import CutRule, Showing, decide_partition
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True)
class Mondrian:
    """Mondrian.

    Parameters
    ----------
    numeric
        How numbers are released. ``"interval"`` (default): as the label ``(30, 40]``; ``"bounds"``: as two columns,
        its two ends; ``"midpoint"``: as its middle; ``"mean"``: as the mean of the group.
    boxes
        ``"splits"`` (default): an interval ends where the table was cut, and is open where it was not.
        ``"extremes"``: it goes from the smallest to the largest number of the group, as in the paper; this gives
        away that somebody has exactly these numbers. Only with ``numeric="interval"``.

    Examples
    --------
    >>> Mondrian().name
    'mondrian'
    """

    numeric: str = "interval"
    boxes: str = "splits"

    name: ClassVar[str] = "mondrian"

    def __post_init__(self) -> None:
        Showing(self.numeric, self.boxes)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:  # noqa: ARG002
        """Cut while an allowable cut is left; nothing is left to chance."""
        return decide_partition(population, requirement, CutRule(by_class=False), Showing(self.numeric, self.boxes))
