"""Combinations of codes, numbered: which rows are equal in several columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import EncodedColumn

Numbers = npt.NDArray[np.int64]
_SMALL_TABLE = 1 << 20


def combine(columns: Sequence[EncodedColumn], height: int) -> tuple[Numbers, int]:
    """The number of each row's combination, and how many there are; numbers follow the lexical order of the codes.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = [np.array([1, 0, 1], np.int32), np.array([0, 0, 0], np.int32)]
    >>> columns = [EncodedColumn("x", ColumnType.TEXT, c, pl.Series(["a", "b"])) for c in codes]
    >>> combine(columns, 3)[0].tolist()
    [1, 0, 1]
    """
    numbers, count = np.zeros(height, np.int64), min(height, 1)
    for column in columns:
        numbers, count = _without_gaps(numbers * column.width + column.codes, count * column.width)
    return numbers, count


def first_rows(numbers: Numbers, count: int) -> Numbers:
    """The first row of each combination."""
    first = np.empty(count, np.int64)
    first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return first


def _without_gaps(keys: Numbers, bound: int) -> tuple[Numbers, int]:
    """Keys below a bound, renumbered in their order without gaps."""
    if bound <= max(_SMALL_TABLE, 4 * len(keys)):
        present = np.zeros(bound, bool)
        present[keys] = True
        places = np.cumsum(present, dtype=np.int64)
        return places[keys] - 1, int(places[-1]) if bound else 0
    values, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64), len(values)
