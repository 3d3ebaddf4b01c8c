"""How many rows show which form while they have which value: all that means and ends are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Tally:
    """Pairs of a form and a value's code that occur, each once and in order, with their rows.

    Rows that show nothing, and missing values, are not counted.
    """

    forms: Counts
    codes: Counts
    rows: Counts

    @classmethod
    def of(cls, column: EncodedColumn, shown: Codes, forms: int) -> Tally:
        """Counted over the rows; ``shown`` is the position of the form each row shows, -1 for nothing.

        Examples
        --------
        >>> import polars as pl
        >>> from incrowd.vocabulary.schema import ColumnType
        >>> ages = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1, 1, 2], np.int32), pl.Series([30, 41]))
        >>> found = Tally.of(ages, np.array([0, 0, 0, 0], np.int32), 1)
        >>> found.codes.tolist(), found.rows.tolist()
        ([0, 1], [1, 2])
        """
        width = max(1, len(column.dictionary))
        known = (column.codes != column.missing_code) & (shown >= 0)
        keys = shown[known].astype(np.int64) * width + column.codes[known]
        if forms * width <= 4 * len(keys):
            counts = np.bincount(keys, minlength=forms * width)
            found = np.flatnonzero(counts)
            return cls(found // width, found % width, counts[found])
        found, counts = np.unique(keys, return_counts=True)
        return cls(found // width, found % width, counts)

    @staticmethod
    def sum(parts: Sequence[Tally]) -> Tally:
        """The tally of all rows of several tables with the same dictionaries."""
        forms, codes = (np.concatenate([getattr(part, name) for part in parts]) for name in ("forms", "codes"))
        rows = np.concatenate([part.rows for part in parts])
        width = int(codes.max(initial=0)) + 1
        found, places = np.unique(forms * width + codes, return_inverse=True)
        return Tally(found // width, found % width, np.bincount(places, rows, len(found)).astype(np.int64))
