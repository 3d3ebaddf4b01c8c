"""Recursive (c, l)-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.exact import Flags, Histograms, rounded, text, written
from incrowd.vocabulary.requirements.on_column import of_column
from incrowd.vocabulary.requirements.subject import Subject

_ROOM = 2**62


@dataclass(frozen=True)
class RecursiveDiversity:
    """In every group the most frequent value is not too frequent, and the rare ones are not too rare.

    Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity" (ICDE 2006; ACM TKDD 2007), definition 4.2: with
    counts ``r1 >= r2 >= ...`` in a group, ``r1 < c (r_l + r_(l+1) + ...)``. An attacker who can rule out l - 2 values
    is still not sure. Monotone: the sum of the largest l - 1 counts of a union is at most that of its parts.

    Examples
    --------
    >>> str(RecursiveDiversity(2, 3, "diagnosis"))
    'recursive (2, 3)-diversity of diagnosis'
    """

    c: Fraction
    l: int  # noqa: E741
    on: str | None = None

    monotone: ClassVar[bool] = True

    def __init__(self, c: float | str | Fraction, l: int, on: str | None = None) -> None:  # noqa: E741
        number = written(c, "c", "recursive-l=3 c=2")
        if number <= 0:
            raise ParameterError("c of recursive-l must be above 0. Give for instance recursive-l=3 c=2.")
        if not isinstance(l, int | np.integer) or isinstance(l, bool) or l < 1:
            raise ParameterError(
                "recursive-l must be a whole number of at least 1. Give for instance recursive-l=3 c=2."
            )
        object.__setattr__(self, "c", number)
        object.__setattr__(self, "l", int(l))
        object.__setattr__(self, "on", on)

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether the most frequent value of each group is rarer than c times the tail."""
        first, tail = _first_and_tail(histograms, self.l)
        if (
            int(first.max(initial=0)) * self.c.denominator >= _ROOM
            or int(tail.max(initial=0)) * self.c.numerator >= _ROOM
        ):
            first, tail = first.astype(object), tail.astype(object)
        return np.asarray((first * self.c.denominator < tail * self.c.numerator) | (first == 0), np.bool_)

    def check_possible(self, subject: Subject) -> None:
        """Raise if all rows together do not keep it."""
        if self.holds_each(subject.counts[None, :], subject)[0]:
            return
        first, tail = (int(part[0]) for part in _first_and_tail(subject.counts[None, :], self.l))
        asked = f"recursive-l={self.l} c={text(self.c)} on {subject.name!r} is impossible"
        if not tail:
            raise RequirementError(
                f"{asked}: the column has {subject.values} values. Choose l of at most {subject.values}."
            )
        least = rounded(Fraction(first, tail), up=True)
        raise RequirementError(
            f"{asked}: for all rows together c must be above {least}. Choose a larger c, or a smaller l."
        )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "recursive (c,l)-diversity", "c": text(self.c), "l": self.l, "on": self.on}

    def __str__(self) -> str:
        return f"recursive ({text(self.c)}, {self.l})-diversity {of_column(self.on)}"


def _first_and_tail(histograms: Histograms, l: int) -> tuple[Any, Any]:  # noqa: E741
    """The largest count of each group, and the sum of all from the l-th on."""
    largest = -np.sort(-histograms, axis=1)
    return largest[:, 0] if largest.shape[1] else largest.sum(axis=1), largest[:, l - 1 :].sum(axis=1)
