"""Rows that some columns do not tell apart, and rows alone at the end of one. Missing is a value like any other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import HeaderError
from incrowd.tables.reading.convert import parse_dates
from incrowd.tables.reading.source import distinct
from incrowd.vocabulary.schema import unknown_column

Whole = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_TABLE = 1 << 22
"""Up to so many possible keys are ranked by a table, beyond by sorting."""


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as codes from 0 to ``width`` - 1; the missing have a code of their own."""

    codes: Whole
    width: int


@dataclass(frozen=True, eq=False)
class Classes:
    """The classes of a table's rows. Where it is known whose rows they are, sizes count persons."""

    labels: Whole  # the class of each row, counted from 0
    row_counts: Whole  # the rows of each class; none is empty
    owners: Whole | None = None  # the person of each row, counted from 0; None if every row is a person

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def count(self) -> int:
        """Number of classes."""
        return len(self.row_counts)

    @cached_property
    def sizes(self) -> Whole:
        """The rows of each class, or the persons who have rows in it."""
        if self.owners is None:
            return self.row_counts
        persons = int(self.owners.max(initial=-1)) + 1
        cells = np.unique(self.labels * persons + self.owners)
        return np.bincount(cells // persons, minlength=self.count)

    @cached_property
    def alone(self) -> Mask:
        """For each class, whether all its rows are of one person."""
        if self.owners is None:
            return np.asarray(self.row_counts == 1)
        one = np.zeros(self.count, np.int64)
        one[self.labels] = self.owners
        others = self.labels[self.owners != one[self.labels]]
        return np.asarray(np.bincount(others, minlength=self.count) == 0)

    @cached_property
    def of_rows(self) -> Whole:
        """For each row, how many rows, or persons, its class has."""
        return self.sizes[self.labels]

    @cached_property
    def exposed(self) -> Whole:
        """For each person the size of the smallest class that has a row of it; for each row, if rows are persons."""
        if self.owners is None:
            return self.of_rows
        smallest = np.full(int(self.owners.max(initial=-1)) + 1, self.rows, np.int64)
        np.minimum.at(smallest, self.owners, self.of_rows)
        return smallest

    @cached_property
    def histogram(self) -> tuple[tuple[int, int], ...]:
        """How many classes there are of each size that occurs, ascending."""
        sizes, counts = np.unique(self.sizes, return_counts=True)
        return tuple(zip(sizes.tolist(), counts.tolist(), strict=True))

    def number_of(self, size: int) -> int:
        """How many classes have exactly that size."""
        return int((self.sizes == size).sum())


def classes_of(columns: Sequence[Coded], owners: Whole | None = None) -> Classes:
    """The classes of rows that agree in all the columns; with ``owners``, they count persons."""
    labels = columns[0].codes
    width = columns[0].width
    labels, width = _dense(labels, width)
    for column in columns[1:]:
        labels, width = _dense(labels * column.width + column.codes, width * column.width)
    return Classes(labels, np.bincount(labels, minlength=width), owners)


def refine(classes: Classes, column: Coded) -> Classes:
    """The classes of rows that agree in the given classes and in one more column."""
    return classes_of([Coded(classes.labels, classes.count), column], classes.owners)


def _dense(keys: Whole, width: int) -> tuple[Whole, int]:
    """Keys renumbered from 0 without gaps, in ascending order, and how many there are."""
    if width <= _TABLE:
        present = np.zeros(width, np.int64)
        present[keys] = 1
        ranks = np.cumsum(present) - 1
        return ranks[keys], int(ranks[-1]) + 1 if width else 0
    values, labels = np.unique(keys, return_inverse=True)
    return labels.astype(np.int64), len(values)


def coded(frame: pl.DataFrame, names: Iterable[str]) -> list[Coded]:
    """The named columns as codes. NaN is missing; -0.0 is 0.0."""
    wanted = list(names)
    for name in wanted:
        if name not in frame.columns:
            raise HeaderError(unknown_column(name, frame.columns))
    plain = frame.select(wanted).with_columns(pl.col(pl.Float32, pl.Float64).fill_nan(None) + 0.0)
    by_column = distinct(plain, wanted)
    return [Coded(by_column[name].codes.astype(np.int64), len(by_column[name].values) + 1) for name in wanted]


def matched(sample: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> tuple[Classes, Whole, Whole]:
    """The sample's classes, the rows of the population in each of them, and the sizes of all the population's classes.

    Values are compared as numbers where both tables hold numbers, as they are where the types agree, else as text.
    """
    for name in names:
        if name not in population.columns:
            raise HeaderError(f"The population table: {unknown_column(name, population.columns)}")
    pairs = [_alike(sample[name], population[name]) for name in names]
    both = pl.DataFrame([above.append(below).alias(f"{place}") for place, (above, below) in enumerate(pairs)])
    together = classes_of(coded(both, both.columns))
    upper, lower = together.labels[: sample.height], together.labels[sample.height :]
    rows = np.bincount(lower, minlength=together.count)
    labels, count = _dense(upper, together.count)
    of_class = np.zeros(count, np.int64)
    of_class[labels] = rows[upper]
    return Classes(labels, np.bincount(labels, minlength=count)), of_class, rows[rows > 0]


def _alike(one: pl.Series, other: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both columns in a type they share."""
    if one.dtype == other.dtype:
        return one.clone(), other
    if one.dtype.is_numeric() and other.dtype.is_numeric():
        shared = pl.Int64 if one.dtype.is_integer() and other.dtype.is_integer() else pl.Float64
        return one.cast(shared), other.cast(shared)
    return one.cast(pl.String), other.cast(pl.String)


@dataclass(frozen=True)
class NotMeasured:
    """A measure that could not be taken."""

    reason: str

    def __str__(self) -> str:
        return f"not estimated: {self.reason}"

    def to_json(self) -> dict[str, str]:
        """As data."""
        return {"not_estimated": self.reason}


@dataclass(frozen=True)
class Edge:
    """An end of a column of numbers or dates that one row alone reaches."""

    column: str
    end: str

    def __str__(self) -> str:
        return f"the {self.end} {self.column}"


@dataclass(frozen=True)
class Edges:
    """The ends that single out, and the columns that have ends at all."""

    alone: tuple[Edge, ...]
    columns: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """Columns only, no values."""
        alone = [{"column": edge.column, "end": edge.end} for edge in self.alone]
        return {"columns_with_ends": list(self.columns), "reached_by_one_row": alone}


def edges_of(frame: pl.DataFrame, names: tuple[str, ...]) -> Edges:
    """The smallest and the largest value of each column of numbers or dates, if a single row has it.

    Columns of sets, intervals and words have no ends. What a released interval gives away about the rows inside it
    needs the original and is in the attack lab.
    """
    alone, columns = [], []
    for name in names:
        numbers = numbers_of(frame[name])
        if numbers is None:
            continue
        columns.append(name)
        for end, value in (("smallest", numbers.min()), ("largest", numbers.max())):
            if int((numbers == value).sum()) == 1:
                alone.append(Edge(name, end))
    return Edges(tuple(alone), tuple(columns))


def numbers_of(series: pl.Series) -> pl.Series | None:
    """The column as numbers, dates as days; None if some of its values are neither."""
    known = series.drop_nulls()
    if series.dtype.is_numeric():
        numbers = known.cast(pl.Float64).fill_nan(None).drop_nulls()
        return series.cast(pl.Float64).fill_nan(None) if len(numbers) else None
    if series.dtype in (pl.Date, pl.Datetime):
        return series.cast(pl.Int64).cast(pl.Float64) if len(known) else None
    if series.dtype != pl.String or not len(known):
        return None
    numbers = series.str.strip_chars().cast(pl.Float64, strict=False)
    if numbers.null_count() == series.null_count():
        return numbers
    dates = parse_dates(series)
    settled = not dates.ambiguous and dates.values.null_count() == series.null_count()
    return dates.values.cast(pl.Int64).cast(pl.Float64) if settled else None
