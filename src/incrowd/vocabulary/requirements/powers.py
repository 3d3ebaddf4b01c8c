"""A bound on powers of shares: what other packages make requirements of that incrowd does not have.

Whoever has another measure of how evenly the values of a column are spread over a group states it as data: a polynomial
in the share of a value, summed over the values. The verification counts it like any other, and needs nothing of the
package that stated it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirement import OnColumn
from incrowd.vocabulary.requirements.columns import (
    Flags,
    Histograms,
    RequirementSubject,
    at_most,
    holds,
    of_column,
    rounded,
    shares,
    text,
    whole_numbers,
    written,
)

HIGHEST = 8
"""The highest power: of higher ones nothing but the largest share is left, which a confidence cap bounds."""


@dataclass(frozen=True, init=False)
class PowerBound(OnColumn):
    """In every group, powers of the shares of a column's values, weighed and summed over the values, have a limit.

    ``PowerBound({2: 1}, "1/3")`` bounds the chance that two people of a group share their value (Simpson's index; a
    limit of 1/l is the l-diversity of Rényi's entropy of order 2). Monotone: weights are not negative, so the sum is a
    convex function of the shares, and the shares of a union lie between those of its parts.

    Examples
    --------
    >>> str(PowerBound({2: 1}, "0.4", "income"))
    'share^2 summed over the values of income of at most 0.4'
    >>> holds(PowerBound({2: 1}, "0.5"), [3, 3]), holds(PowerBound({2: 1}, "0.5"), [4, 2])
    (True, False)
    """

    powers: tuple[tuple[int, Fraction], ...]
    limit: Fraction
    on: str | None = None

    def __init__(self, powers: Mapping[int, Any], limit: float | str | Fraction, on: str | None = None) -> None:
        if not powers or any(type(power) is not int or not 1 < power <= HIGHEST for power in powers):
            raise ParameterError(f"powers are whole numbers from 2 to {HIGHEST}, each with its weight, as in {{2: 1}}.")
        weights = {power: written(weight, "The weight of a power", "{2: 1}") for power, weight in powers.items()}
        if any(weight <= 0 for weight in weights.values()):
            raise ParameterError("The weight of a power must be above 0.")
        number = written(limit, "limit", "0.5")
        if number <= 0:
            raise ParameterError("limit must be above 0. Give for instance 0.5.")
        object.__setattr__(self, "powers", tuple(sorted(weights.items())))
        object.__setattr__(self, "limit", number)
        object.__setattr__(self, "on", on)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the sum of each group keeps to the limit."""
        parts = shares(histograms)
        scores = np.sum([float(weight) * (parts**power).sum(axis=1) for power, weight in self.powers], axis=0)
        return at_most(scores, self.limit, lambda group: self._score(histograms[group]) <= self.limit)

    def _score(self, histogram: Any) -> Fraction:
        counts = whole_numbers(histogram)
        rows = max(sum(counts), 1)
        return sum(
            (weight * Fraction(sum(count**power for count in counts), rows**power) for power, weight in self.powers),
            Fraction(),
        )

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if not even all rows together keep to the limit."""
        if not holds(self, subject.counts):
            least = rounded(self._score(subject.counts), up=True)
            raise RequirementError(
                f"{self} is impossible: in the whole table the sum is {least}, and of any groups one has no less. "
                f"Choose a limit of at least {least}."
            )

    @property
    def meaning(self) -> str:
        """What it promises, in a sentence."""
        return (
            f"In every group {self._terms}, summed over the values {of_column(self.on)}, is at most {text(self.limit)}."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        powers = [[power, text(weight)] for power, weight in self.powers]
        return {"is": "bound on powers of shares", "powers": powers, "limit": text(self.limit), "on": self.on}

    @property
    def _terms(self) -> str:
        return " + ".join(f"{'' if weight == 1 else text(weight) + ' '}share^{power}" for power, weight in self.powers)

    def __str__(self) -> str:
        return f"{self._terms} summed over the values {of_column(self.on)} of at most {text(self.limit)}"


def powers_in(terms: str) -> dict[int, str]:
    """The powers and weights of the words of a promise.

    Examples
    --------
    >>> powers_in("share^2 + 1/2 share^3")
    {2: '1', 3: '1/2'}
    """
    read = (term.rpartition("share^") for term in terms.split(" + "))
    return {int(power): weight.strip() or "1" for weight, _, power in read}
