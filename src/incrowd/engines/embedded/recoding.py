"""Values seen as the parts they belong to."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.plan.steps import Recode, Recoding
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Interval, Value
from incrowd.vocabulary.schema import ColumnType


def recode_table(table: EncodedTable, step: Recode) -> EncodedTable:
    """The table with the step's attributes as positions of parts; what belongs to no part is missing."""
    columns = dict(table.columns)
    for recoding in step.columns:
        columns[recoding.name] = recode_column(columns[recoding.name], recoding)
    return EncodedTable.of(columns.values())


def recode_column(column: EncodedColumn, recoding: Recoding) -> EncodedColumn:
    """One column as positions of parts.

    Examples
    --------
    >>> from incrowd.plan.steps import Part
    >>> from incrowd.vocabulary.released_value import Shown
    >>> sex = EncodedColumn("sex", ColumnType.CATEGORICAL, np.array([0, 1, 2], np.int32), pl.Series(["f", "m"]))
    >>> recode_column(sex, Recoding("sex", (Part(("m",), Shown("m"), 1),))).codes.tolist()
    [1, 0, 1]
    """
    names = pl.int_range(len(recoding.parts), eager=True).cast(pl.String).alias(column.name)
    return EncodedColumn(column.name, ColumnType.CATEGORICAL, part_of_code(column, recoding)[column.codes], names)


def part_of_code(column: EncodedColumn, recoding: Recoding) -> Codes:
    """For each code of a column the position of its part; one past the last for none, and for missing."""
    nothing = len(recoding.parts)
    found = np.full(column.width, nothing, np.int32)
    if column.type.is_numeric:
        for position, part in enumerate(recoding.parts):
            if isinstance(part.members, Interval):
                found[_between(column, part.members)] = position
    by_value: dict[Value, int] = {
        value: position
        for position, part in enumerate(recoding.parts)
        if not isinstance(part.members, Interval)
        for value in part.members
    }
    if by_value:
        values = column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()
        for code, value in enumerate(values):
            found[code] = by_value.get(value, found[code])
    return found


def _between(column: EncodedColumn, interval: Interval) -> slice:
    """The codes whose numbers lie in an interval."""
    low = 0 if interval.low is None else int(np.searchsorted(column.numbers, interval.low, side="right"))
    high = (
        len(column.numbers)
        if interval.high is None
        else int(np.searchsorted(column.numbers, interval.high, side="right"))
    )
    return slice(low, high)
