"""New rows, seen through a plan that was made for others."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from incrowd.errors import HeaderError, SchemaError, guarded
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine, check_for_others
from incrowd.tables.reading.draft import draft_schema
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column


@guarded
def show_new_rows(plan: ReleasePlan, source: Source) -> pl.DataFrame:
    """Each row as the plan shows rows like it, in the order given; identifiers are dropped, and what a key makes.

    Unseen categories, numbers out of range and missing values are allowed; the target need not be there. No promise
    is counted: the plan's promise is about the rows it was made for.
    """
    for name in plan.names:
        if name not in source.frame.columns:
            raise HeaderError(unknown_column(name, source.frame.columns))
    check_for_others(plan)
    _check_days(plan, source)
    known = [column for column in plan.schema.columns if column.name in source.frame.columns]
    table, _ = encode(source, Schema(tuple(_loosened(column) for column in known)), plan.names)
    return EmbeddedEngine().transform(plan, table, source.frame.drop(plan.schema.keyed, strict=False))


def _check_days(plan: ReleasePlan, source: Source) -> None:
    """Refuse dates where the plan has days since the first row of a person, who is not known here."""
    days = [name for name in plan.names if plan.schema[name].type is ColumnType.INTEGER]
    if plan.link is None or not days:
        return
    drafted = draft_schema(replace(source, frame=source.frame.select(days)))
    for name in days:
        if drafted[name].type is ColumnType.DATE:
            raise SchemaError(
                f"Column {name!r} has dates, and the plan shows whole days since the first row of a person. Reckon "
                "these for the new rows, and put them in the column."
            )


def _loosened(column: Column) -> Column:
    """New rows may hold fractions where the plan's held whole numbers; their class is of no concern."""
    kind = ColumnType.REAL if column.type is ColumnType.INTEGER else column.type
    return replace(column, type=kind, role=Role.OTHER if column.role is Role.TARGET else column.role)
