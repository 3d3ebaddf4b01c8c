"""Codes whose first characters say most, such as postal or diagnosis codes: ``42119``, ``4211*``, … ``4****``."""

from __future__ import annotations

from collections.abc import Sequence

from incrowd.errors import ParameterError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import ROOT, Hierarchy


def prefixes(column: EncodedColumn, keep: Sequence[int] | None = None) -> Hierarchy:
    """Hide characters from the right.

    Parameters
    ----------
    column
        The codes. A code that is no longer than what a level keeps stays itself there.
    keep
        How many characters each level keeps, descending; by default one less on each level, down to one.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> codes = pl.Series(["42119", "42301"])
    >>> zips = EncodedColumn("zip", ColumnType.CATEGORICAL, np.array([0, 1], np.int32), codes)
    >>> prefixes(zips, keep=[3, 2]).labels
    ('*', '42***', '421**', '42119', '423**', '42301')
    """
    values = [str(value) for value in column.dictionary.to_list()]
    if not values:
        raise ParameterError(f"Column {column.name!r} has no values to build prefixes from.")
    starred = sum(ROOT in value for value in values)
    if starred:
        raise ParameterError(f"Column {column.name!r}: {starred} values contain '*', the sign for a hidden character.")
    longest = max(map(len, values))
    lengths = list(range(longest - 1, 0, -1)) if keep is None else list(keep)
    if any(length < 1 for length in lengths) or lengths != sorted(set(lengths), reverse=True):
        raise ParameterError("keep lists how many characters each level keeps: descending, at least 1, none twice.")
    paths = [[value, *(_hidden(value, length) for length in lengths), ROOT] for value in values]
    return Hierarchy.from_paths(column.name, paths)


def _hidden(value: str, length: int) -> str:
    return value[:length] + ROOT * (len(value) - length)
