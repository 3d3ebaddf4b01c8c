"""What hiding changed of every attribute (section 4 of the paper): its information on the class, its distribution.

A' is the attribute after generalization, A'' after hiding. Rows hidden in the attribute, or left out, count as
suppressed; a missing value that was not hidden is a value like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.mutual_information.generalizing import Generalized
from incrowd.measures import mutual_information as measures


@dataclass(frozen=True)
class Change:
    """One attribute before and after.

    Parameters
    ----------
    entropy
        H(A').
    class_entropy
        H(C) over all rows.
    before, after
        I_N(A'; C) and I_N(A''; C).
    divergence
        D(A'||A'').
    room
        The largest divergence that keeps every value: log n - H(A').
    """

    entropy: float
    class_entropy: float
    before: float
    after: float
    divergence: float
    room: float

    @property
    def information(self) -> float:
        """The change of the normalized mutual information."""
        return abs(self.after - self.before)

    @property
    def normalized_divergence(self) -> float:
        """D_N(A'||A'')."""
        return measures.ratio(self.divergence, self.entropy)

    @property
    def information_scale(self) -> float:
        """The paper's scale for a change of I_N: H(C) / H(A')."""
        return measures.ratio(self.class_entropy, self.entropy)

    @property
    def divergence_scale(self) -> float:
        """The paper's scale for D_N: (log n - H(A')) / H(A')."""
        return measures.ratio(self.room, self.entropy)

    @property
    def information_share(self) -> float:
        """The change of I_N as a share of its scale."""
        return measures.ratio(self.information * self.entropy, self.class_entropy)

    @property
    def divergence_share(self) -> float:
        """D_N as a share of its scale; H(A') cancels out, so an attribute of one value has a share as well."""
        return measures.ratio(self.divergence, self.room)


def changes_of(generalized: Generalized, hidden: npt.NDArray[np.bool_]) -> tuple[Change, ...]:
    """The change of each attribute if these combinations are hidden in these attributes."""
    shown = generalized.still_shown(hidden)
    return tuple(_change(choice.counts, after) for choice, after in zip(generalized.choices, shown, strict=True))


def _change(before: measures.Counts, after: measures.Counts) -> Change:
    rows = before.sum(axis=1)
    return Change(
        entropy=measures.value_entropy(before),
        class_entropy=measures.class_entropy(before),
        before=measures.normalized_information(before),
        after=measures.normalized_information(after),
        divergence=measures.divergence(rows, after.sum(axis=1)),
        room=measures.divergence_room(rows),
    )


def alpha(changes: Sequence[Change]) -> float:
    """The largest change of normalized mutual information (Algorithm 1, line 9).

    Examples
    --------
    >>> alpha([Change(1, 1, 0.5, 0.25, 0, 1), Change(1, 1, 0.5, 0.625, 0, 1)])
    0.25
    """
    return max((change.information for change in changes), default=0.0)


def beta(changes: Sequence[Change]) -> float:
    """The largest normalized divergence (Algorithm 1, line 10).

    Examples
    --------
    >>> beta([Change(2, 1, 0, 0, 1, 1), Change(1, 1, 0, 0, 0.25, 1)])
    0.5
    """
    return max((change.normalized_divergence for change in changes), default=0.0)
