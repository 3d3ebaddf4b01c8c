"""t-closeness with the three distances of its paper.

All three earth mover's distances are sums ``sum_j w_j |sum_(i in S_j) (q_i - p_i)|`` over fixed sets of values: single
values (equal distance, w = 1/2), the first j values (ordered, w = 1 / (m - 1) for m values), the values below a node of
the hierarchy (w = half of what the node lies below its parent, by height). So whole numbers decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.columns import RequirementSubject, of_column
from incrowd.vocabulary.requirements.exact import Flags, Histograms, at_most, shares, text, written

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness:
    """The column is distributed in every group nearly as in the whole table: their distance is at most t.

    Li, Li, Venkatasubramanian, "t-Closeness: Privacy Beyond k-Anonymity and l-Diversity" (ICDE 2007): the earth mover's
    distance between the shares q in a group and p in the table. ``"equal"``: all values lie 1 apart. ``"ordered"``:
    neighbours of m values lie 1 / (m - 1) apart, missing values after the last. ``"hierarchical"``: two values lie as
    far apart as their lowest common group is high, the root being 1; missing values are 1 from all others. None: by
    the hierarchy of the column if it has one, by its order if it has one, else equal. Monotone: the distance is convex.
    """

    t: Fraction
    on: str | None = None
    distance: str | None = None

    monotone: ClassVar[bool] = True

    def __init__(self, t: float | str | Fraction, on: str | None = None, distance: str | None = None) -> None:
        number = written(t, "t", "t=0.2")
        if not 0 <= number <= 1:
            raise ParameterError("t must be between 0 and 1: 1 asks for nothing. Give for instance t=0.2.")
        if distance is not None and distance not in DISTANCES:
            raise ParameterError(f"The distance of t must be one of {', '.join(DISTANCES)}.")
        object.__setattr__(self, "t", number)
        object.__setattr__(self, "on", on)
        object.__setattr__(self, "distance", distance)

    def distance_on(self, subject: RequirementSubject) -> str:
        """The distance that is used for a column."""
        if self.distance is not None:
            return self.distance
        return "hierarchical" if subject.hierarchy is not None else "ordered" if subject.has_order else "equal"

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether each group is near enough to the whole table."""
        flows = flows_of(subject, self.distance_on(subject))
        apart = shares(histograms) - shares(subject.counts[None, :])
        apart[histograms.sum(axis=1) == 0] = 0.0
        scores = np.abs(flows.sums(apart)) @ flows.weights.astype(np.float64) / float(flows.unit)
        return at_most(scores, self.t, lambda i: self._exactly(histograms[i], subject, flows))

    def _exactly(self, histogram: npt.NDArray[np.int64], subject: RequirementSubject, flows: Flows) -> bool:
        rows, whole = int(histogram.sum()), subject.rows
        if not rows:
            return True
        apart = histogram.astype(object) * whole - subject.counts.astype(object) * rows
        work = int((np.abs(flows.sums(apart[None, :])) @ flows.weights).item())
        return work * self.t.denominator <= self.t.numerator * flows.unit * rows * whole

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if the distance does not fit the column; any t is kept by one group of all rows."""
        used = self.distance_on(subject)
        if used == "hierarchical" and subject.hierarchy is None:
            raise RequirementError(
                f"t-hierarchical on {subject.name!r} needs the hierarchy of the column. Give one, or use t-equal."
            )
        if used == "ordered" and not subject.has_order:
            raise RequirementError(
                f"t-ordered on {subject.name!r} needs values with an order. Give the column the type ordered, integer, "
                "real or date, or use t-equal."
            )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "t-closeness", "t": text(self.t), "on": self.on, "distance": self.distance}

    def __str__(self) -> str:
        kind = "" if self.distance is None else f" ({self.distance} distance)"
        return f"{text(self.t)}-closeness {of_column(self.on)}{kind}"


@dataclass(frozen=True, eq=False)
class Flows:
    """Sets of values and their weights, in whole numbers: the weight of set j is ``weights[j] / unit``.

    ``members`` is codes x sets; None stands for all beginnings of the occurring codes.
    """

    weights: npt.NDArray[Any]
    unit: int
    members: npt.NDArray[np.int64] | None
    occurring: npt.NDArray[np.intp]

    def sums(self, apart: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sum over each set, for each group."""
        if self.members is None:
            return np.asarray(np.cumsum(apart[:, self.occurring[:-1]], axis=1))
        return np.asarray(apart @ self.members.astype(apart.dtype))


def flows_of(subject: RequirementSubject, distance: str) -> Flows:
    """The sets of values behind a distance."""
    occurring = subject.occurring
    if distance == "ordered":
        steps = max(0, len(occurring) - 1)
        return Flows(np.ones(steps, object), max(1, steps), None, occurring)
    if distance == "equal":
        members = np.zeros((subject.width, len(occurring)), np.int64)
        members[occurring, np.arange(len(occurring))] = 1
        return Flows(np.ones(len(occurring), object), 2, members, occurring)
    return _by_hierarchy(subject)


def _by_hierarchy(subject: RequirementSubject) -> Flows:
    hierarchy, leaves = subject.hierarchy, subject.leaves
    assert hierarchy is not None
    assert leaves is not None
    height = hierarchy.height - 1
    depths = hierarchy.depths.tolist()
    inner = set(hierarchy.parents)
    columns, weights = [(leaves == len(hierarchy.leaves)).astype(np.int64)], [Fraction(1, 2)]
    for node, parent in enumerate(hierarchy.parents[1:], start=1):
        own = hierarchy.height - depths[node] if node in inner else 0
        below = hierarchy.leaves_below(node)
        columns.append(((leaves >= below.start) & (leaves < below.stop)).astype(np.int64))
        weights.append(Fraction(hierarchy.height - depths[parent] - own, 2 * height))
    unit = lcm(*(weight.denominator for weight in weights))
    scaled = np.array([int(weight * unit) for weight in weights], object)
    return Flows(scaled, unit, np.stack(columns, axis=1), subject.occurring)
