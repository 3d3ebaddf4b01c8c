"""The column a requirement is about, as it is in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy


@dataclass(frozen=True, eq=False)
class Subject:
    """How often each value of a column occurs in the table, and how far its values lie apart.

    Parameters
    ----------
    name
        The column.
    counts
        Rows per code, the missing ones last: missing is a value.
    has_order
        Whether its values can be compared.
    hierarchy, leaves
        The groups of its values, and the place of the leaf of each code; a missing value is a child of the root.

    Examples
    --------
    >>> Subject("ill", np.array([3, 5, 0])).rows
    8
    """

    name: str
    counts: npt.NDArray[np.int64]
    has_order: bool = False
    hierarchy: Hierarchy | None = None
    leaves: npt.NDArray[np.int64] | None = None

    @classmethod
    def of(cls, column: EncodedColumn, counts: npt.NDArray[np.int64], hierarchy: Hierarchy | None) -> Subject:
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

    @property
    def values(self) -> int:
        """Number of different values, missing included."""
        return len(self.occurring)
