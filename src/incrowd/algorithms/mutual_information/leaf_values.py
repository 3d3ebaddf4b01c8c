"""The values that the leaves of a hierarchy stand for, as the column writes them."""

from __future__ import annotations

from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.leaf_interval import parse_day, parse_number
from incrowd.vocabulary.released_value import Value
from incrowd.vocabulary.schema import ColumnType


def values_of(column: EncodedColumn) -> list[Value]:
    """The dictionary as plain values; dates are day numbers.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> values_of(EncodedColumn("sex", ColumnType.TEXT, np.array([0], np.int32), pl.Series(["f"])))
    ['f']
    """
    values: list[Value] = column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()
    return values


def leaf_values(column: EncodedColumn, hierarchy: Hierarchy) -> list[Value | None]:
    """For each leaf of a hierarchy of values the value that it covers, also if no row has it; None if there is none.

    In a column of numbers a leaf covers the number it writes. Of two leaves that write the same number the first does.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> grade = EncodedColumn("grade", ColumnType.INTEGER, np.array([0], np.int32), pl.Series([1]))
    >>> leaf_values(grade, Hierarchy("grade", ("*", "1", "2", "2.0", "none"), (-1, 0, 0, 0, 0)))
    [1, 2, None, None]
    """
    labels = [hierarchy.labels[leaf] for leaf in hierarchy.leaves]
    if column.type is ColumnType.DATE:
        return [parse_day(label) for label in labels]
    if not column.type.is_numeric:
        return list(labels)
    numbers = [parse_number(label) for label in labels]
    return [
        None if number is None or hierarchy.leaf_of(number) != place else _as_in(column, number)
        for place, number in enumerate(numbers)
    ]


def _as_in(column: EncodedColumn, number: float) -> Value:
    """A number as a column of its type holds it; one that it cannot hold stays as it is."""
    if column.type is ColumnType.REAL:
        return float(number)
    return int(number) if number == int(number) else number
