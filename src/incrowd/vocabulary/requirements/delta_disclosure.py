"""delta-disclosure privacy."""

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
class DeltaDisclosure:
    """Every value of the column is about as frequent in a group as in the whole table, by the logarithm of the ratio.

    Brickell, Shmatikov, "The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data Publishing" (KDD
    2008): ``|log2(q / p)| < delta`` for every value of the table, with its share q in the group and p in the table. A
    group without a value breaks it. Monotone: the share in a union lies between those in its parts.

    Examples
    --------
    >>> str(DeltaDisclosure(1, "diagnosis"))
    '1-disclosure privacy of diagnosis'
    """

    delta: Fraction
    on: str | None = None

    monotone: ClassVar[bool] = True

    def __init__(self, delta: float | str | Fraction, on: str | None = None) -> None:
        number = written(delta, "delta", "delta-disclosure=1")
        if number <= 0:
            raise ParameterError("delta-disclosure must be above 0. Give for instance delta-disclosure=1.")
        object.__setattr__(self, "delta", number)
        object.__setattr__(self, "on", on)

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:
        """Whether every value of each group keeps near its share in the table."""
        seen = subject.occurring
        ratio = shares(histograms)[:, seen] / shares(subject.counts[None, :])[0, seen]
        logs = np.abs(np.log2(ratio, out=np.full_like(ratio, np.inf), where=ratio > 0))
        found = np.asarray((logs < float(self.delta)).all(axis=1))
        near = np.abs(logs - float(self.delta)) <= MARGIN * max(1.0, float(self.delta))
        for i in np.flatnonzero(near.any(axis=1)).tolist():
            found[i] = self._exactly(histograms[i], subject)
        found[histograms.sum(axis=1) == 0] = True
        return found

    def _exactly(self, histogram: Any, subject: Subject) -> bool:
        rows, whole = int(histogram.sum()), subject.rows
        for code in subject.occurring.tolist():
            if not histogram[code]:
                return False
            ratio = Fraction(int(histogram[code]) * whole, int(subject.counts[code]) * rows)
            if not below_power_of_two(max(ratio, 1 / ratio), self.delta):
                return False
        return True

    def check_possible(self, subject: Subject) -> None:
        """All rows together are as the whole table: always possible."""

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "delta-disclosure privacy", "delta": text(self.delta), "on": self.on}

    def __str__(self) -> str:
        return f"{text(self.delta)}-disclosure privacy {of_column(self.on)}"


def below_power_of_two(ratio: Fraction, power: Fraction) -> bool:
    """Whether a fraction of at least 1 is below ``2^power``.

    A fraction is a power of two with a fraction as exponent only if that is whole: then whole numbers decide; else they
    are never equal, and some precision decides.

    Examples
    --------
    >>> below_power_of_two(Fraction(2), Fraction(1)), below_power_of_two(Fraction(7, 5), Fraction(1, 2))
    (False, True)
    """
    if power.denominator == 1 and power.numerator < 10_000:
        return ratio < Fraction(2) ** power.numerator
    if ratio == 1:
        return True
    digits = 40
    while True:
        context = Context(prec=digits)
        log = context.subtract(context.ln(Decimal(ratio.numerator)), context.ln(Decimal(ratio.denominator)))
        exponent = context.divide(Decimal(power.numerator), Decimal(power.denominator))
        limit = context.multiply(context.ln(Decimal(2)), exponent)
        size = context.ln(Decimal(max(2, ratio.numerator))) + limit + 1
        if abs(context.subtract(limit, log)) > size * Decimal(10) ** (3 - digits):
            return limit > log
        digits *= 2
