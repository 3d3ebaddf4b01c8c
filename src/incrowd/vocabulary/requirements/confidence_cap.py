"""A cap on the confidence: the alpha of (alpha, k)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.exact import Flags, Histograms, rounded, text, written
from incrowd.vocabulary.requirements.on_column import holds, of_column
from incrowd.vocabulary.requirements.subject import Subject

_ROOM = 2**62


@dataclass(frozen=True)
class ConfidenceCap:
    """No value of the column has a larger share in any group: nobody guesses it with more confidence.

    Wong, Li, Fu, Wang, "(alpha, k)-Anonymity: An Enhanced k-Anonymity Model for Privacy Preserving Data Publishing"
    (KDD 2006), for every value of the column; its k is asked for beside it. Monotone: the share in a union lies between
    those in its parts.

    Examples
    --------
    >>> ConfidenceCap(0.85).holds([17, 3]), ConfidenceCap(0.85).holds([18, 3]), str(ConfidenceCap(0.5, "ill"))
    (True, False, 'confidence in any value of ill of at most 0.5')
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

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the most frequent value of each group is not too frequent."""
        most: Any = histograms.max(axis=1, initial=0)
        rows: Any = histograms.sum(axis=1)
        if int(rows.max(initial=0)) * self.share.denominator >= _ROOM:
            most, rows = most.astype(object), rows.astype(object)
        return np.asarray(most * self.share.denominator <= rows * self.share.numerator, np.bool_)

    def check_possible(self, subject: Subject) -> None:
        """Raise if a value is too frequent in the whole table."""
        if not self.holds_each(subject.counts[None, :], subject)[0]:
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
