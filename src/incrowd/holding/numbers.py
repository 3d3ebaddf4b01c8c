"""Text columns that hold numbers throughout, written as numbers where the format has types."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.schema import ColumnType

_TYPES: dict[ColumnType, pl.DataType] = {ColumnType.INTEGER: pl.Int64(), ColumnType.REAL: pl.Float64()}
_DIGITS = 17  # a 64-bit number is told apart from all others by so many


def numeric(plan: ReleasePlan) -> dict[str, pl.DataType]:
    """The written columns that come from columns of numbers, and the types numbers have."""
    found = {written.name: _TYPES.get(plan.schema[written.source].type) for written in plan.written}
    return {name: kind for name, kind in found.items() if kind is not None}


def castable(column: pl.Series, kind: pl.DataType) -> bool:
    """Whether every cell of a text column is such a number, or missing, and the number holds all that the cell says.

    Zeros before a number, more digits than a number has, and numbers beyond its range stay text.

    Examples
    --------
    >>> castable(pl.Series(["39", None]), pl.Int64()), castable(pl.Series(["39", "(1, 2]"]), pl.Int64())
    (True, False)
    >>> castable(pl.Series(["39", "07"]), pl.Int64()), castable(pl.Series(["1e400"]), pl.Float64())
    (False, False)
    """
    numbers = column.cast(kind, strict=False)
    if numbers.null_count() != column.null_count():
        return False
    if kind == pl.Int64():
        return not column.str.contains(r"^[+-]?0[0-9]").any()
    beyond = column.filter(numbers.is_infinite()).str.contains("^[+-]?[0-9.]").any()
    long = column.filter(column.str.len_bytes() > _DIGITS)
    digits = long.str.replace("[eE].*$", "").str.replace_all("[^0-9]", "").str.strip_chars_start("0")
    return not beyond and not (digits.str.len_bytes() > _DIGITS).any()


def with_numbers(frame: pl.DataFrame, types: dict[str, pl.DataType]) -> pl.DataFrame:
    """The frame with these columns as numbers, those of them that are text."""
    return frame.with_columns(
        pl.col(name).cast(kind) for name, kind in types.items() if frame.schema.get(name) == pl.String
    )


def as_numbers(table: Any, types: dict[str, pl.DataType]) -> Any:
    """The same for a PyArrow table."""
    for name, kind in types.items():
        column = pl.Series(table[name]).cast(kind).to_arrow()
        table = table.set_column(table.column_names.index(name), name, column)
    return table
