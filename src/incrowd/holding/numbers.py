"""Text columns that hold numbers throughout, written as numbers where the format has types."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.schema import ColumnType

_TYPES: dict[ColumnType, pl.DataType] = {ColumnType.INTEGER: pl.Int64(), ColumnType.REAL: pl.Float64()}


def numeric(plan: ReleasePlan) -> dict[str, pl.DataType]:
    """The written columns that come from columns of numbers, and the types numbers have."""
    found = {written.name: _TYPES.get(plan.schema[written.source].type) for written in plan.written}
    return {name: kind for name, kind in found.items() if kind is not None}


def castable(column: pl.Series, kind: pl.DataType) -> bool:
    """Whether every cell of a text column is such a number, or missing.

    Examples
    --------
    >>> castable(pl.Series(["39", None]), pl.Int64()), castable(pl.Series(["39", "(1, 2]"]), pl.Int64())
    (True, False)
    """
    return column.cast(kind, strict=False).null_count() == column.null_count()


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
