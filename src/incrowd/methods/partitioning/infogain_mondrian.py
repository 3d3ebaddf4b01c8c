"""InfoGain Mondrian: cut where the classes come apart best, as long as every part keeps k rows.

LeFevre, DeWitt, Ramakrishnan, "Workload-Aware Anonymization" (KDD 2006) and "Workload-Aware Anonymization Techniques
for Large-Scale Datasets" (ACM TODS 2008): of all attributes and thresholds, the allowable cut that leaves the smallest
weighted class entropy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from incrowd.errors import ParameterError
from incrowd.methods.catalog import target_of
from incrowd.methods.method import Population
from incrowd.methods.partitioning.deciding import CutRule, Showing, decide_partition
from incrowd.plan.steps import Step
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import Requirement


@dataclass(frozen=True)
class InfoGainMondrian:
    """InfoGain Mondrian.

    Parameters
    ----------
    numeric, boxes
        As in :class:`~incrowd.methods.partitioning.mondrian.Mondrian`.
    min_gain
        A cut must gain at least so many bits of class information per row. None (default): go on while an allowable
        cut is left, also if it gains nothing; smaller groups keep more of the other attributes.

    Examples
    --------
    >>> InfoGainMondrian(min_gain=0.01).parameters()["min_gain"]
    0.01
    """

    numeric: str = "interval"
    boxes: str = "splits"
    min_gain: float | None = None

    name: ClassVar[str] = "infogain-mondrian"

    def __post_init__(self) -> None:
        Showing(self.numeric, self.boxes)
        gain = self.min_gain
        is_number = isinstance(gain, int | float) and not isinstance(gain, bool)
        if gain is not None and not (is_number and math.isfinite(gain) and gain >= 0):
            raise ParameterError("min_gain must be a number of at least 0, in bits per row, or left out.")

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(self, population: Population, requirement: Requirement, randomness: Randomness) -> tuple[Step, ...]:  # noqa: ARG002
        """Cut while a wanted and allowable cut is left; nothing is left to chance."""
        target_of(population.schema, self.name)
        rule = CutRule(by_class=True, min_gain=self.min_gain)
        return decide_partition(population, requirement, rule, Showing(self.numeric, self.boxes))
