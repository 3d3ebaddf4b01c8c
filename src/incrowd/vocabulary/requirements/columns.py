"""The column a requirement is about, as it is in the whole table, and what all such requirements have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirements.exact import Flags, Histograms


@dataclass(frozen=True, eq=False)
class RequirementSubject:
    """How often each value of a column occurs in the table, and how far its values lie apart."""

    name: str  # the column
    counts: npt.NDArray[np.int64]  # rows per code, the missing ones last: missing is a value
    has_order: bool = False  # whether its values can be compared
    # hierarchy, leaves: The groups of its values, and the place of the leaf of each code; a missing value is a child
    # of the root
    hierarchy: Hierarchy | None = None
    leaves: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls, column: EncodedColumn, counts: npt.NDArray[np.int64], hierarchy: Hierarchy | None
    ) -> RequirementSubject:
        """The subject of an encoded column; ``counts`` are those of all rows."""
        leaves = None if hierarchy is None else hierarchy.encode(column)
        return cls(column.name, counts, column.type.has_order, hierarchy, leaves)

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.counts.sum())

    @property
    def width(self) -> int:
        """Number of codes."""
        return len(self.counts)

    @cached_property
    def occurring(self) -> npt.NDArray[np.intp]:
        """The codes that occur."""
        return np.flatnonzero(self.counts)

    @cached_property
    def shares(self) -> npt.NDArray[np.float64]:
        """The share of each code that occurs."""
        return np.asarray(self.counts[self.occurring] / self.rows, np.float64)

    @property
    def values(self) -> int:
        """Number of different values, missing included."""
        return len(self.occurring)


# What all requirements on a column have in common.
class OnColumn(Protocol):
    """A promise about the values of one column in every group of rows that look alike.

    ``on`` names the column; None is the target. ``monotone``: a union of groups that keep it keeps it.
    """

    monotone: ClassVar[bool]

    @property
    def on(self) -> str | None:
        """The column; None is the target."""
        ...

    def holds_each(self, histograms: Histograms, subject: RequirementSubject) -> Flags:
        """Whether each group keeps it: groups x codes of the column. An empty group does."""
        ...

    def check_possible(self, subject: RequirementSubject) -> None:
        """Raise if not even all rows together keep it, and say what would be possible."""
        ...

    def to_json(self) -> dict[str, Any]:
        """The requirement as plain data."""
        ...


def holds(requirement: OnColumn, histogram: npt.ArrayLike, whole: npt.ArrayLike | None = None) -> bool:
    """Whether one group keeps a requirement, given its counts and those of the whole table."""
    group = np.asarray(histogram, np.int64)
    subject = RequirementSubject("", group if whole is None else np.asarray(whole, np.int64))
    return bool(requirement.holds_each(group[None, :], subject).item())


def of_column(on: str | None) -> str:
    """The end of a sentence about a column."""
    return "of the class" if on is None else f"of {on}"
