"""Persons as rows: what does not change, and what sums up what does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from incrowd.methods.histories.rows_of_persons import Ints
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema


def is_static(column: EncodedColumn, owners: Ints, persons: int) -> bool:
    """Whether no person has two values; missing is one.

    Examples
    --------
    >>> sex = EncodedColumn("sex", ColumnType.TEXT, np.array([0, 0, 1], np.int32), pl.Series(["f", "m"]))
    >>> is_static(sex, np.array([0, 0, 1]), 2), is_static(sex, np.array([0, 1, 1]), 2)
    (True, False)
    """
    first = np.zeros(persons, np.int64)
    first[owners] = column.codes
    return bool((first[owners] == column.codes).all())


def summaries(table: EncodedTable, schema: Schema, owners: Ints, persons: int) -> tuple[EncodedTable, Schema]:
    """A table with a row for each person, and its columns.

    A quasi-identifier that never changes is as it is; of the others there is the commonest value, or the smallest,
    largest and mean number. The class is the commonest one.
    """
    columns: list[EncodedColumn] = []
    described: list[Column] = []
    for name in schema.quasi_identifiers:
        column, known = table[name], schema[name]
        if column.type.is_numeric and not is_static(column, owners, persons):
            parts = list(_of_numbers(column, owners, persons))
            columns += parts
            described += [Column(part.name, Role.QUASI_IDENTIFIER, part.type) for part in parts]
        else:
            columns.append(commonest(column, owners, persons))
            described.append(known)
    if schema.target is not None:
        columns.append(commonest(table[schema.target], owners, persons))
        described.append(schema[schema.target])
    return EncodedTable.of(columns), Schema(tuple(described))


def commonest(column: EncodedColumn, owners: Ints, persons: int) -> EncodedColumn:
    """The value that most rows of each person have, the first of several; missing where there is no row."""
    cells, rows = np.unique(owners * column.width + column.codes, return_counts=True)
    order = np.lexsort((cells % column.width, -rows, cells // column.width))
    people, first = np.unique(cells[order] // column.width, return_index=True)
    codes = np.full(persons, column.missing_code, np.int32)
    codes[people] = (cells[order] % column.width)[first]
    return EncodedColumn(column.name, column.type, codes, column.dictionary)


def _of_numbers(column: EncodedColumn, owners: Ints, persons: int) -> Iterator[EncodedColumn]:
    """The smallest, largest and mean number of each person; missing where there is none."""
    rows = column.codes != column.missing_code
    codes, people = column.codes[rows], owners[rows]
    least = np.full(persons, column.missing_code, np.int32)
    np.minimum.at(least, people, codes)
    most = np.full(persons, -1, np.int32)
    np.maximum.at(most, people, codes)
    most[most < 0] = column.missing_code
    yield EncodedColumn(f"{column.name} #least", column.type, least, column.dictionary)
    yield EncodedColumn(f"{column.name} #most", column.type, most, column.dictionary)
    numbers = column.numbers.astype(np.float64)[codes]
    count = np.bincount(people, minlength=persons)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        means = np.bincount(people, numbers, persons) / count
    known = np.isfinite(means)
    values, places = np.unique(means[known], return_inverse=True)
    of_mean = np.full(persons, len(values), np.int32)
    of_mean[known] = places
    yield EncodedColumn(f"{column.name} #mean", ColumnType.REAL, of_mean, pl.Series(values, dtype=pl.Float64))
