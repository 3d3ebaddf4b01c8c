"""How much more a group may tell than the table: t-closeness, beta-likeness, delta-disclosure, a cap on the confidence.

t-closeness has the three earth mover's distances of its paper, sums ``sum_j w_j |sum_(i in S_j) (q_i - p_i)|`` over
fixed sets of values: single values (equal distance, w = 1/2), the first j values (ordered, w = 1 / (m - 1) for m
values), the values below a node of the hierarchy (w = half of what the node lies below its parent, by height). So whole
numbers decide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import OnColumn, OnShares
from incrowd.vocabulary.requirements.columns import (
    Flags,
    Histograms,
    RequirementSubject,
    at_most,
    is_positive,
    of_column,
    rounded,
    shares,
    text,
    times,
    written,
)

DISTANCES = ("equal", "ordered", "hierarchical")


@dataclass(frozen=True)
class TCloseness(OnColumn):
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

    by_main: ClassVar[bool] = False

    def __init__(self, t: float | str | Fraction, on: str | None = None, distance: str | None = None) -> None:
        number = written(t, "t", "t=0.2")
        if not 0 <= number <= 1:
            raise ParameterError("t must be between 0 and 1: 1 asks for nothing. Give for instance t=0.2.")
        if distance is not None and distance not in DISTANCES:
            raise ParameterError(f"The distance of t must be one of {', '.join(DISTANCES)}.")
        vars(self).update(t=number, on=on, distance=distance)

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

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        by = f", by the {self.distance} distance" if self.distance else ""
        values = f"the values {of_column(self.on)}"
        return f"In every group {values} are spread as in the whole table, up to {text(self.t)}{by}."

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


# beta-likeness, basic and enhanced.
@dataclass(frozen=True)
class BetaLikeness(OnShares):
    """No value of the column is much more frequent in a group than in the whole table, in proportion.

    Cao, Karras, "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012): for every value with a share q in
    the group above its share p in the table, ``(q - p) / p <= beta``; ``enhanced``: at most ``min(beta, -ln p)``, which
    also protects frequent values. Monotone: the share in a union lies between those in its parts.
    """

    beta: Fraction
    on: str | None
    enhanced: bool

    def __init__(self, beta: float | str | Fraction, on: str | None = None, enhanced: bool = False) -> None:
        number = written(beta, "beta", "beta=1")
        if number <= 0:
            raise ParameterError("beta must be above 0. Give for instance beta=1: no share more than doubles.")
        vars(self).update(beta=number, on=on, enhanced=bool(enhanced))

    def holds_shares(self, bearers: Histograms, sizes: Histograms, subject: RequirementSubject) -> Flags:
        """Whether no share of each group grows too much."""
        whole, limit = subject.shares, float(self.beta)
        most = whole * (1 + (np.minimum(limit, -np.log(whole)) if self.enhanced else limit))
        over = (shares(bearers, sizes)[:, subject.occurring] - most).max(axis=1, initial=-np.inf)
        over[sizes == 0] = -np.inf
        return at_most(over, Fraction(0), lambda i: self._exactly(bearers[i], int(sizes[i]), subject))

    def _exactly(self, bearers: Any, size: int, subject: RequirementSubject) -> bool:
        return all(self._bears(ratio - 1, code, subject) for code, ratio in _ratios(bearers, size, subject))

    def _bears(self, growth: Fraction, code: int, subject: RequirementSubject) -> bool:
        if growth > self.beta:
            return False
        return not self.enhanced or growth <= 0 or below_log(growth, Fraction(subject.rows, int(subject.counts[code])))

    def check_possible(self, subject: RequirementSubject) -> None:
        """All rows together are as the whole table: always possible."""

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        more = "; for frequent values by less" if self.enhanced else ""
        return (
            f"In every group the share of any value {of_column(self.on)} exceeds its share in the whole table by at "
            f"most {text(self.beta)} times the latter{more}."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "beta-likeness", "beta": text(self.beta), "enhanced": self.enhanced, "on": self.on}

    def __str__(self) -> str:
        return f"{'enhanced ' if self.enhanced else ''}{text(self.beta)}-likeness {of_column(self.on)}"


def _ratios(bearers: Any, size: int, subject: RequirementSubject) -> Iterator[tuple[int, Fraction]]:
    """For each code that occurs, its share in a group over its share in the table."""
    for code in subject.occurring.tolist():
        yield code, Fraction(int(bearers[code]) * subject.rows, int(subject.counts[code]) * size)


def below_log(number: Fraction, of: Fraction) -> bool:
    """Whether a positive fraction is below ``ln of``, for a fraction of at least 1; they are never equal.

    The logarithm of a fraction other than 1 is no fraction (Lindemann), so some precision decides.
    """
    return is_positive(
        lambda c: [
            c.ln(Decimal(of.numerator)),
            c.minus(c.ln(Decimal(of.denominator))),
            c.minus(c.divide(Decimal(number.numerator), Decimal(number.denominator))),
        ]
    )


# delta-disclosure privacy.
@dataclass(frozen=True)
class DeltaDisclosure(OnShares):
    """Every value of the column is about as frequent in a group as in the whole table, by the logarithm of the ratio.

    Brickell, Shmatikov, "The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data Publishing" (KDD
    2008): ``|log2(q / p)| < delta`` for every value of the table, with its share q in the group and p in the table. A
    group without a value breaks it. Monotone: the share in a union lies between those in its parts.
    """

    delta: Fraction
    on: str | None = None

    def __init__(self, delta: float | str | Fraction, on: str | None = None) -> None:
        number = written(delta, "delta", "delta-disclosure=1")
        if number <= 0:
            raise ParameterError("delta-disclosure must be above 0. Give for instance delta-disclosure=1.")
        vars(self).update(delta=number, on=on)

    def holds_shares(self, bearers: Histograms, sizes: Histograms, subject: RequirementSubject) -> Flags:
        """Whether every value of each group keeps near its share in the table."""
        with np.errstate(divide="ignore"):  # a value that a group lacks is infinitely far from its share
            logs = np.abs(np.log2(shares(bearers, sizes)[:, subject.occurring] / subject.shares))
        logs[sizes == 0] = -np.inf
        furthest = logs.max(axis=1, initial=-np.inf)
        return at_most(furthest, self.delta, lambda i: self._exactly(bearers[i], int(sizes[i]), subject))

    def _exactly(self, bearers: Any, size: int, subject: RequirementSubject) -> bool:
        ratios = _ratios(bearers, size, subject)
        return all(below_power_of_two(max(ratio, 1 / ratio), self.delta) for _, ratio in ratios)

    def check_possible(self, subject: RequirementSubject) -> None:
        """All rows together are as the whole table: always possible."""

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return (
            f"In every group the share of every value {of_column(self.on)} differs from that in the whole table by a "
            f"factor below 2 to the power of {text(self.delta)}."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "delta-disclosure privacy", "delta": text(self.delta), "on": self.on}

    def __str__(self) -> str:
        return f"{text(self.delta)}-disclosure privacy {of_column(self.on)}"


def below_power_of_two(ratio: Fraction, power: Fraction) -> bool:
    """Whether a fraction of at least 1 is below ``2^power``.

    A fraction is a power of two with a fraction as exponent only if that is whole: then the exponents decide; else they
    are never equal, and some precision decides.
    """
    exponent = ratio.numerator.bit_length() - 1
    if ratio == 2**exponent:
        return exponent < power
    return is_positive(
        lambda c: [
            c.multiply(c.ln(Decimal(2)), c.divide(Decimal(power.numerator), Decimal(power.denominator))),
            c.minus(c.ln(Decimal(ratio.numerator))),
            c.ln(Decimal(ratio.denominator)),
        ]
    )


# A cap on the confidence: the alpha of (alpha, k)-anonymity.
@dataclass(frozen=True)
class ConfidenceCap(OnShares):
    """No value of the column has a larger share in any group: nobody guesses it with more confidence.

    Wong, Li, Fu, Wang, "(alpha, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data Publishing"
    (KDD 2006), for every value of the column; its k is asked for beside it. Monotone: the share in a union lies between
    those in its parts.
    """

    share: Fraction
    on: str | None = None

    def __init__(self, share: float | str | Fraction, on: str | None = None) -> None:
        number = written(share, "alpha or max_confidence", "alpha=0.5")
        if not 0 < number <= 1:
            raise ParameterError("alpha or max_confidence must be above 0 and at most 1. Give for instance 0.85.")
        vars(self).update(share=number, on=on)

    def holds_shares(self, bearers: Histograms, sizes: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the most frequent value of each group is not too frequent."""
        most = bearers.max(axis=1, initial=0)
        return np.asarray(times(most, self.share.denominator) <= times(sizes, self.share.numerator), np.bool_)

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if a value is too frequent in the whole table."""
        if not self.holds_shares(subject.counts[None, :], np.array([subject.rows]), subject)[0]:
            least = rounded(Fraction(int(subject.counts.max()), subject.rows), up=True)
            raise RequirementError(
                f"alpha={text(self.share)} on {subject.name!r} is impossible: the most frequent value has a share of "
                f"{least} in the whole table, and in any grouping one group has no less. Choose alpha of at "
                f"least {least}."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return f"In every group any one value {of_column(self.on)} has at most {text(self.share)} of the rows."

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "confidence cap", "alpha": text(self.share), "on": self.on}

    def __str__(self) -> str:
        return f"confidence in any value {of_column(self.on)} of at most {text(self.share)}"
