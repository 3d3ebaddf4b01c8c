"""How much more a group may tell than the table: beta-likeness, delta-disclosure, a cap on the confidence."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.columns import RequirementSubject, holds, of_column
from incrowd.vocabulary.requirements.exact import (
    Flags,
    Histograms,
    at_most,
    is_positive,
    rounded,
    shares,
    text,
    times,
    written,
)


# beta-likeness, basic and enhanced.
@dataclass(frozen=True)
class BetaLikeness:
    """No value of the column is much more frequent in a group than in the whole table, in proportion.

    Cao, Karras, "Publishing Microdata with a Robust Privacy Guarantee" (PVLDB 2012): for every value with a share q in
    the group above its share p in the table, ``(q - p) / p <= beta``; ``enhanced``: at most ``min(beta, -ln p)``, which
    also protects frequent values. Monotone: the share in a union lies between those in its parts.
    """

    beta: Fraction
    on: str | None
    enhanced: bool

    monotone: ClassVar[bool] = True

    def __init__(self, beta: float | str | Fraction, on: str | None = None, enhanced: bool = False) -> None:
        number = written(beta, "beta", "beta=1")
        if number <= 0:
            raise ParameterError("beta must be above 0. Give for instance beta=1: no share more than doubles.")
        object.__setattr__(self, "beta", number)
        object.__setattr__(self, "on", on)
        object.__setattr__(self, "enhanced", bool(enhanced))

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether no share of each group grows too much."""
        whole, limit = subject.shares, float(self.beta)
        most = whole * (1 + (np.minimum(limit, -np.log(whole)) if self.enhanced else limit))
        over = (shares(histograms)[:, subject.occurring] - most).max(axis=1, initial=-np.inf)
        over[histograms.sum(axis=1) == 0] = -np.inf
        return at_most(over, Fraction(0), lambda i: self._exactly(histograms[i], subject))

    def _exactly(self, histogram: Any, subject: RequirementSubject) -> bool:
        rows, whole = int(histogram.sum()), subject.rows
        return all(
            self._bears(Fraction(int(histogram[code]) * whole, int(subject.counts[code]) * rows) - 1, code, subject)
            for code in subject.occurring.tolist()
        )

    def _bears(self, growth: Fraction, code: int, subject: RequirementSubject) -> bool:
        if growth > self.beta:
            return False
        return not self.enhanced or growth <= 0 or below_log(growth, Fraction(subject.rows, int(subject.counts[code])))

    def check_possible(self, subject: RequirementSubject) -> None:
        """All rows together are as the whole table: always possible."""

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "beta-likeness", "beta": text(self.beta), "enhanced": self.enhanced, "on": self.on}

    def __str__(self) -> str:
        return f"{'enhanced ' if self.enhanced else ''}{text(self.beta)}-likeness {of_column(self.on)}"


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
class DeltaDisclosure:
    """Every value of the column is about as frequent in a group as in the whole table, by the logarithm of the ratio.

    Brickell, Shmatikov, "The Cost of Privacy: Destruction of Data-Mining Utility in Anonymized Data Publishing" (KDD
    2008): ``|log2(q / p)| < delta`` for every value of the table, with its share q in the group and p in the table. A
    group without a value breaks it. Monotone: the share in a union lies between those in its parts.
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

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether every value of each group keeps near its share in the table."""
        with np.errstate(divide="ignore"):  # a value that a group lacks is infinitely far from its share
            logs = np.abs(np.log2(shares(histograms)[:, subject.occurring] / subject.shares))
        logs[histograms.sum(axis=1) == 0] = -np.inf
        return at_most(logs.max(axis=1, initial=-np.inf), self.delta, lambda i: self._exactly(histograms[i], subject))

    def _exactly(self, histogram: Any, subject: RequirementSubject) -> bool:
        rows, whole = int(histogram.sum()), subject.rows
        ratios = (
            Fraction(int(histogram[code]) * whole, int(subject.counts[code]) * rows)
            for code in subject.occurring.tolist()
        )
        return all(below_power_of_two(max(ratio, 1 / ratio), self.delta) for ratio in ratios)

    def check_possible(self, subject: RequirementSubject) -> None:
        """All rows together are as the whole table: always possible."""

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
class ConfidenceCap:
    """No value of the column has a larger share in any group: nobody guesses it with more confidence.

    Wong, Li, Fu, Wang, "(alpha, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data Publishing"
    (KDD 2006), for every value of the column; its k is asked for beside it. Monotone: the share in a union lies between
    those in its parts.
    """

    share: Fraction
    on: str | None = None

    monotone: ClassVar[bool] = True

    def __init__(self, share: float | str | Fraction, on: str | None = None) -> None:
        number = written(share, "alpha or max_confidence", "alpha=0.5")
        if not 0 < number <= 1:
            raise ParameterError("alpha or max_confidence must be above 0 and at most 1. Give for instance 0.85.")
        object.__setattr__(self, "share", number)
        object.__setattr__(self, "on", on)

    def holds(self, histogram: npt.ArrayLike) -> bool:
        """Whether one group with these counts keeps it."""
        return holds(self, histogram)

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the most frequent value of each group is not too frequent."""
        most, rows = histograms.max(axis=1), histograms.sum(axis=1)
        return np.asarray(times(most, self.share.denominator) <= times(rows, self.share.numerator), np.bool_)

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if a value is too frequent in the whole table."""
        if not self.holds(subject.counts):
            least = rounded(Fraction(int(subject.counts.max()), subject.rows), up=True)
            raise RequirementError(
                f"alpha={text(self.share)} on {subject.name!r} is impossible: the most frequent value has a share of "
                f"{least} in the whole table, and of any groups one has no less. Choose alpha of at least {least}."
            )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "confidence cap", "alpha": text(self.share), "on": self.on}

    def __str__(self) -> str:
        return f"confidence in any value {of_column(self.on)} of at most {text(self.share)}"
