"""beta-likeness, basic and enhanced."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import ParameterError
from incrowd.vocabulary.requirements.exact import MARGIN, Flags, Histograms, shares, text, written
from incrowd.vocabulary.requirements.on_column import of_column
from incrowd.vocabulary.requirements.subject import Subject


@dataclass(frozen=True)
class BetaLikeness:
    """No value of the column is much more frequent in a group than in the whole table, in proportion.

    Cao, Karras, "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012): for every value with a share q in
    the group above its share p in the table, ``(q - p) / p <= beta``; ``enhanced``: at most ``min(beta, -ln p)``, which
    also protects frequent values. Monotone: the share in a union lies between those in its parts.

    Examples
    --------
    >>> str(BetaLikeness(2, "diagnosis"))
    '2-likeness of diagnosis'
    """

    beta: Fraction
    on: str | None = None
    enhanced: bool = False

    monotone: ClassVar[bool] = True

    def __init__(self, beta: float | str | Fraction, on: str | None = None, enhanced: bool = False) -> None:
        number = written(beta, "beta", "beta=1")
        if number <= 0:
            raise ParameterError("beta must be above 0. Give for instance beta=1: no share more than doubles.")
        object.__setattr__(self, "beta", number)
        object.__setattr__(self, "on", on)
        object.__setattr__(self, "enhanced", bool(enhanced))

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:
        """Whether no share of each group grows too much."""
        seen = subject.occurring
        whole = shares(subject.counts[None, :])[0, seen]
        limit = np.full(len(seen), float(self.beta))
        if self.enhanced:
            limit = np.minimum(limit, -np.log(whole))
        over = shares(histograms)[:, seen] / whole - 1 - limit
        found = np.asarray((over <= 0).all(axis=1))
        near = (np.abs(over) <= MARGIN * np.maximum(1.0, 1 / whole)).any(axis=1)
        for i in np.flatnonzero(near).tolist():
            found[i] = self._exactly(histograms[i], subject)
        found[histograms.sum(axis=1) == 0] = True
        return found

    def _exactly(self, histogram: Any, subject: Subject) -> bool:
        rows, whole = int(histogram.sum()), subject.rows
        return all(
            self._bears(Fraction(int(histogram[code]) * whole, int(subject.counts[code]) * rows) - 1, code, subject)
            for code in subject.occurring.tolist()
        )

    def _bears(self, growth: Fraction, code: int, subject: Subject) -> bool:
        if growth > self.beta:
            return False
        return not self.enhanced or growth <= 0 or below_log(growth, Fraction(subject.rows, int(subject.counts[code])))

    def check_possible(self, subject: Subject) -> None:
        """All rows together are as the whole table: always possible."""

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "beta-likeness", "beta": text(self.beta), "enhanced": self.enhanced, "on": self.on}

    def __str__(self) -> str:
        return f"{'enhanced ' if self.enhanced else ''}{text(self.beta)}-likeness {of_column(self.on)}"


def below_log(number: Fraction, of: Fraction) -> bool:
    """Whether a positive fraction is below ``ln of``, for a fraction of at least 1; they are never equal.

    The logarithm of a fraction other than 1 is no fraction (Lindemann), so some precision decides.

    Examples
    --------
    >>> below_log(Fraction(1, 2), Fraction(2)), below_log(Fraction(7, 10), Fraction(2))
    (True, False)
    """
    if of == 1:
        return False
    digits = 40
    while True:
        context = Context(prec=digits)
        log = context.subtract(context.ln(Decimal(of.numerator)), context.ln(Decimal(of.denominator)))
        apart = context.subtract(log, context.divide(Decimal(number.numerator), Decimal(number.denominator)))
        size = context.ln(Decimal(of.numerator)) + abs(log) + 1
        if abs(apart) > size * Decimal(10) ** (3 - digits):
            return apart > 0
        digits *= 2
