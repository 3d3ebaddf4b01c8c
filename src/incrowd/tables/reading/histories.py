"""The rows of a person in order: dates as days since the first of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.errors import HeaderError, Notice, SchemaError
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.persons import owners_of
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.persons import DAYS, Persons
from incrowd.vocabulary.schema import NOT_RELEASED, ColumnType, Role, Schema, unknown_column


def in_order(source: Source, schema: Schema, persons: Persons) -> tuple[Source, Schema]:
    """The table with dates that order the rows of a person as whole days since the first row of that person.

    The first date itself is then in no row: whoever knows it finds nobody by it. Another order stays as it is.

    Examples
    --------
    >>> from incrowd.tables.reading.read import read
    >>> from incrowd.vocabulary.schema import Column
    >>> visits = read(pl.DataFrame({"id": ["a", "b", "a"], "day": ["2024-03-01", "2024-05-05", "2024-02-28"]}))
    >>> schema = Schema((Column("id", Role.PERSON), Column("day", Role.QUASI_IDENTIFIER, ColumnType.DATE)))
    >>> in_order(visits, schema, Persons("id", linked=True, order="day"))[0].frame["day"].to_list()
    [2, 0, 0]
    """
    name = str(persons.order)
    if name not in schema:
        raise HeaderError(unknown_column(name, schema.names))
    column = schema[name]
    if column.role not in (Role.QUASI_IDENTIFIER, *NOT_RELEASED):
        raise SchemaError(
            f"Column {name!r} puts the rows of a person in order, so it tells persons apart. Make it a "
            "quasi-identifier, or drop it."
        )
    if column.role is not Role.QUASI_IDENTIFIER or column.type is not ColumnType.DATE:
        return source, schema
    days = since_first(source, schema, persons)
    settled = Schema(tuple(replace(one, type=ColumnType.INTEGER) if one is column else one for one in schema.columns))
    declared = tuple(one for one in source.declared if one.name != name)
    told = Notice(DAYS, name, "released as days since the person's first row, not as dates.")
    frame, notices = source.frame.with_columns(days), (*source.notices, told)
    return replace(source, frame=frame, declared=declared, notices=notices), settled


def since_first(source: Source, schema: Schema, persons: Persons) -> pl.Series:
    """For each row the days since the first row of its person; null where the date is missing."""
    name = str(persons.order)
    dates = encode(source, schema, (name,))[0][name]
    owners = owners_of(source, persons)
    rows = np.arange(source.frame.height) if owners.kept is None else owners.kept
    known = dates.codes[rows] != dates.missing_code
    rows, people = rows[known], owners.codes[known]
    numbers = dates.numbers[dates.codes[rows]].astype(np.int64)
    first = np.full(owners.persons, np.iinfo(np.int64).max)
    np.minimum.at(first, people, numbers)
    days = pl.Series(name, [None] * source.frame.height, pl.Int64)
    return days.scatter(rows, numbers - first[people])
