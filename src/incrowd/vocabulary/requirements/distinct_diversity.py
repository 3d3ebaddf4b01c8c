"""Distinct l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.vocabulary.requirements.exact import Flags, Histograms
from incrowd.vocabulary.requirements.on_column import of_column
from incrowd.vocabulary.requirements.subject import Subject


@dataclass(frozen=True)
class DistinctDiversity:
    """Every group has at least l different values of the column.

    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam, "l-Diversity: Privacy Beyond k-Anonymity" (ICDE 2006; ACM TKDD
    2007), the plainest reading of its principle. It stops certainty, not a good guess.

    Examples
    --------
    >>> str(DistinctDiversity(3, "diagnosis"))
    'distinct 3-diversity of diagnosis'
    """

    l: int  # noqa: E741
    on: str | None = None

    monotone: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole = isinstance(self.l, int | np.integer) and not isinstance(self.l, bool)
        if not whole or self.l < 1:
            raise ParameterError("distinct-l must be a whole number of at least 1. Give for instance distinct-l=3.")
        object.__setattr__(self, "l", int(self.l))

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:  # noqa: ARG002, groups speak for themselves
        """Whether each group has l values; an empty one has nothing to hide."""
        found = np.count_nonzero(histograms, axis=1)
        return np.asarray((found >= self.l) | (found == 0))

    def check_possible(self, subject: Subject) -> None:
        """Raise if the column has fewer values."""
        if subject.values < self.l:
            raise RequirementError(
                f"distinct-l={self.l} on {subject.name!r} is impossible: the column has {subject.values} values. "
                f"Choose l of at most {subject.values}."
            )

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        return {"is": "distinct l-diversity", "l": self.l, "on": self.on}

    def __str__(self) -> str:
        return f"distinct {self.l}-diversity {of_column(self.on)}"
