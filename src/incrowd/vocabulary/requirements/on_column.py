"""What all requirements on a column have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.requirements.exact import Flags, Histograms
from incrowd.vocabulary.requirements.subject import Subject


class OnColumn(Protocol):
    """A promise about the values of one column in every group of rows that look alike.

    ``on`` names the column; None is the target. ``monotone``: a union of groups that keep it keeps it.
    """

    monotone: ClassVar[bool]

    @property
    def on(self) -> str | None:
        """The column; None is the target."""
        ...

    def holds_each(self, histograms: Histograms, subject: Subject) -> Flags:
        """Whether each group keeps it: groups x codes of the column. An empty group does."""
        ...

    def check_possible(self, subject: Subject) -> None:
        """Raise if not even all rows together keep it, and say what would be possible."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        ...


def holds(requirement: OnColumn, histogram: npt.ArrayLike, whole: npt.ArrayLike | None = None) -> bool:
    """Whether one group keeps a requirement, given its counts and those of the whole table.

    Examples
    --------
    >>> from incrowd.vocabulary.requirements.distinct_diversity import DistinctDiversity
    >>> holds(DistinctDiversity(2), [3, 1]), holds(DistinctDiversity(2), [3, 0])
    (True, False)
    """
    group = np.asarray(histogram, np.int64)
    subject = Subject("", group if whole is None else np.asarray(whole, np.int64))
    return bool(requirement.holds_each(group[None, :], subject)[0])


def of_column(on: str | None) -> str:
    """The end of a sentence about a column."""
    return "of the class" if on is None else f"of {on}"
