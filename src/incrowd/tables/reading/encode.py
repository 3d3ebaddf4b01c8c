"""From a source and its schema to integer codes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError, Notice, SchemaError
from incrowd.tables.reading.convert import convert
from incrowd.tables.reading.source import Distinct, Source, Tally, ordered
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import fresh_series
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema, unknown_column


def encode(source: Source, schema: Schema, names: Sequence[str]) -> tuple[EncodedTable, tuple[Notice, ...]]:
    """Encode the named columns as the schema types them.

    A missing value has its own code. What was unified or looks odd comes back as notices; a value that does
    not have its column's type is an error.
    """
    columns = named_columns(schema, source.frame.columns, names)
    distinct = source.distinct(names)
    with ThreadPoolExecutor(pl.thread_pool_size()) as beside:
        jobs = [beside.submit(_encode, distinct[name], columns[name], source.origin.missing) for name in distinct]
        done = [job.result() for job in jobs]
    return EncodedTable.of(column for column, _ in done), tuple(notice for _, notices in done for notice in notices)


def decode(column: EncodedColumn, codes: Codes) -> pl.Series:
    """The values of the given codes, null for the missing code, in memory that holds nothing else."""
    places = pl.Series(np.asarray(codes, np.int64))
    places = pl.select(pl.when(places != column.missing_code).then(places)).to_series()
    return fresh_series(column.dictionary.gather(places).alias(column.name))


def named_columns(schema: Schema, present: Sequence[str], names: Sequence[str]) -> dict[str, Column]:
    """The columns of a schema by name, once all the given names are in it and in the table."""
    columns = {column.name: column for column in schema.columns}
    for known in (columns, dict.fromkeys(present)):
        unknown = next((name for name in names if name not in known), None)
        if unknown is not None:
            raise HeaderError(unknown_column(unknown, known))
    return columns


@dataclass(frozen=True, eq=False)
class Settled:
    """What the distinct values of a column become."""

    type: ColumnType  # the type they have
    dictionary: pl.Series  # the typed values, each once, in the order of the type
    places: Codes  # for every distinct value the code of what it became; the last entry is the missing code, for null
    counts: npt.NDArray[np.int64]  # rows per code; the last entry counts the missing
    notices: tuple[Notice, ...]  # what was unified or looks odd


def settle(tally: Tally, column: Column, missing: tuple[str, ...]) -> Settled:
    """Type, clean and order the distinct values of a column as the schema says.

    Examples
    --------
    >>> tally = Tally(pl.Series(["39", "7"]), np.array([1, 1, 1]))
    >>> settled = settle(tally, Column("age", type=ColumnType.INTEGER), ())
    >>> settled.dictionary.to_list(), settled.places.tolist(), settled.counts.tolist()
    ([7, 39], [1, 0, 2], [1, 1, 1])
    """
    typed = convert(tally, column, missing)
    if typed.type is ColumnType.ORDERED:
        dictionary, places = _in_declared_order(typed.values, column.order)
    else:
        dictionary, places = ordered(typed.values)
    dictionary = fresh_series(dictionary.alias(column.name))
    places = np.append(places, np.int32(len(dictionary)))
    counts = np.zeros(len(dictionary) + 1, np.int64)
    np.add.at(counts, places, tally.counts)
    notices = (*_nan_and_null(column.name, tally), *typed.notices, *_structure(column, counts))
    return Settled(typed.type, dictionary, places, counts, notices)


def _encode(distinct: Distinct, column: Column, missing: tuple[str, ...]) -> tuple[EncodedColumn, tuple[Notice, ...]]:
    settled = settle(distinct.tally, column, missing)
    codes = np.take(settled.places, distinct.codes)
    return EncodedColumn(column.name, settled.type, codes, settled.dictionary), settled.notices


def _in_declared_order(values: pl.Series, order: Sequence[str]) -> tuple[pl.Series, Codes]:
    present = set(values.to_list())
    dictionary = [value for value in order if value in present]
    place = {value: code for code, value in enumerate(dictionary)}
    places = np.array([place.get(value, len(dictionary)) for value in values.to_list()], np.int32)
    return pl.Series(dictionary, dtype=pl.String), places


def _nan_and_null(name: str, tally: Tally) -> Iterator[Notice]:
    if not tally.values.dtype.is_float():
        return
    nan = tally.rows(tally.values.is_nan())
    if nan and tally.counts[-1]:
        both = f"{counted(nan, 'NaN')} and {counted(int(tally.counts[-1]), 'null')}"
        message = f"{both}: both are missing, and one value."
        yield Notice("nan-is-missing", name, message)


def _structure(column: Column, counts: npt.NDArray[np.int64]) -> Iterator[Notice]:
    """What the number of values and of missing ones tells about the use of a column."""
    rows, values, missing = int(counts.sum()), len(counts) - 1, int(counts[-1])
    if column.role is Role.TARGET:
        yield from _target(column.name, values, missing)
    if missing == rows:
        yield Notice("all-missing", column.name, "all values are missing.")
    elif values == 1 and not missing and rows > 1:
        yield Notice("constant", column.name, "all rows have the same value.")
    elif column.role is Role.QUASI_IDENTIFIER and values == rows > 1:
        message = "has a different value in every row: is it an identifier, to be dropped?"
        yield Notice("unique-per-row", column.name, message)


def _target(name: str, values: int, missing: int) -> Iterator[Notice]:
    if values + (missing > 0) < 2:
        raise SchemaError(f"The target {name!r} has only one class: nothing can be learned. Choose another.")
    if missing:
        message = f"{counted(missing, 'row')} without a class, counted as a class of their own."
        yield Notice("missing-class", name, message)
