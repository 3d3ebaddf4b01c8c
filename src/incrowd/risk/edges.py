"""Ends of number lines: whoever is the only oldest person is singled out without any class."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from incrowd.tables.reading.dates import parse_dates


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
