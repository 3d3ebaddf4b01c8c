"""A release of counts, read: its groups, the values of each with their counts, and the public bins of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import FileFormatError, HeaderError, ValuesError
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read, read_release
from incrowd.vocabulary.counts_text import HIDDEN, Counted, read_counts
from incrowd.vocabulary.released_value import Interval, parse_day, parse_interval, render
from incrowd.vocabulary.schema import ColumnType, unknown_column

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountedColumn:
    """One attribute: the values that occur (None is missing) and how many rows of each group have them.

    ``counts`` is groups x values; a group that hides the attribute has zeros.
    """

    name: str
    values: tuple[str | None, ...]
    counts: Counts

    @property
    def hidden(self) -> npt.NDArray[np.bool_]:
        """The groups that hide the attribute."""
        return np.asarray(self.counts.sum(axis=1) == 0)


@dataclass(frozen=True, eq=False)
class CountedTable:
    """A release of counts."""

    groups: npt.NDArray[np.int64]  # the number of each row's group
    columns: Mapping[str, CountedColumn]  # the attributes that are published as counts
    beside: pl.DataFrame  # all other columns
    order: tuple[str, ...]  # the names of all columns, as they stood

    @property
    def sizes(self) -> Counts:
        """Rows of each group."""
        return np.bincount(self.groups).astype(np.int64)

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Iterable[str] | None = None) -> CountedTable:
        """Read a release; the columns of counts are found by themselves if they are not named.

        Rows that carry the same counts are a group, and there must be as many of them as the counts say.
        """
        names = _named(frame, columns) if columns is not None else find_counts(frame)
        if not names:
            raise FileFormatError("This table has no column of counts like value:rows|value:rows. Is it a release?")
        looks = frame.select(pl.col(names).cast(pl.String).fill_null(HIDDEN))
        firsts = looks.unique(maintain_order=True).with_row_index("\x1fgroup")
        numbers = looks.join(firsts, on=names, how="left", maintain_order="left")["\x1fgroup"].to_numpy()
        groups = numbers.astype(np.int64)
        counted = {
            name: counted_column(name, [_members(name, text) for text in firsts[name].to_list()]) for name in names
        }
        table = cls(groups, counted, frame.drop(names), tuple(frame.columns))
        table._check_whole()
        return table

    @classmethod
    def of_pair(cls, rows: pl.DataFrame, groups: pl.DataFrame) -> CountedTable:
        """Read a release of two tables: rows, and ``group, attribute, value, count``.

        An attribute that no group counts is not known here. Attributes come before the other columns.
        """
        if groups.width != 4 or groups.columns[0] not in rows.columns:
            raise FileFormatError("The table of groups has the columns group, attribute, value and count.")
        key, attribute, value, count = groups.columns
        names = rows[key].cast(pl.String).unique(maintain_order=True)
        place = {name: number for number, name in enumerate(names.to_list())}
        members: dict[str, list[list[Counted]]] = {}
        cast = groups.select(pl.col(key, attribute, value).cast(pl.String), pl.col(count).cast(pl.Int64))
        for group, name, cell, many in cast.iter_rows():
            if group not in place:
                raise FileFormatError("The table of groups tells of a group that has no row. Read both files whole.")
            if name not in members:
                members[name] = [[] for _ in place]
            members[name][place[group]].append((cell, many))
        numbers = rows[key].cast(pl.String).replace_strict(place, return_dtype=pl.Int64).to_numpy()
        columns = {name: counted_column(name, cells) for name, cells in members.items()}
        beside = rows.drop(key)
        table = cls(numbers, columns, beside, (*columns, *beside.columns))
        table._check_whole()
        return table

    def _check_whole(self) -> None:
        sizes = self.sizes
        for name, column in self.columns.items():
            shown = column.counts.sum(axis=1)
            wrong = int(np.count_nonzero((shown != sizes) & ~column.hidden))
            if wrong:
                raise FileFormatError(
                    f"{name}: in {wrong:,} groups there are not as many rows as their counts say. Read the whole "
                    "release, before rows are chosen from it, with all of its columns of counts."
                )


def find_counts(frame: pl.DataFrame) -> list[str]:
    """The columns of a frame that hold counts: every text reads as counts, in a multiple of the rows it speaks of."""
    texts = {name: frame[name] for name, kind in frame.schema.items() if kind == pl.String}
    numbers = {name: number for name, column in texts.items() if (number := _different_counts(column)) is not None}
    if not any(numbers.values()):
        return []
    nulls = [name for name in frame.columns if frame[name].null_count() == frame.height]  # ``*`` was read as missing
    return [name for name in frame.columns if name in numbers or (name in nulls and name in texts)]


def _different_counts(column: pl.Series) -> int | None:
    """How many different counts a column holds, hidden ones apart; None if some text is something else."""
    distinct = 0
    for text, rows in column.fill_null(HIDDEN).value_counts().iter_rows():
        members = read_counts(text)
        if members is None or (members and rows % sum(count for _, count in members)):
            return None
        distinct += bool(members)
    return distinct


def _named(frame: pl.DataFrame, columns: Iterable[str]) -> list[str]:
    names = list(columns)
    for name in names:
        if name not in frame.columns:
            raise HeaderError(unknown_column(name, frame.columns))
    return names


def _members(name: str, text: str) -> tuple[Counted, ...]:
    members = read_counts(text)
    if members is None:
        raise FileFormatError(f"{name}: a cell does not hold counts like value:rows|value:rows.")
    return members


def counted_column(name: str, groups: Sequence[Sequence[Counted]]) -> CountedColumn:
    """The attribute of groups whose values and counts are given."""
    place: dict[str | None, int] = {}
    for value in _in_order({value for members in groups for value, _ in members}):
        place[value] = len(place)
    counts = np.zeros((len(groups), len(place)), np.int64)
    for number, members in enumerate(groups):
        for value, rows in members:
            counts[number, place[value]] += rows
    return CountedColumn(name, tuple(place), counts)


def _in_order(values: Iterable[str | None]) -> list[str | None]:
    """Intervals ascending, other texts by letter, missing last."""

    def key(value: str | None) -> tuple[Any, ...]:
        interval = None if value is None else interval_of(value)
        if interval is not None:
            return 0, -np.inf if interval.low is None else interval.low, ""
        return (2, 0, "") if value is None else (1, 0, value)

    return sorted(values, key=key)


def interval_of(text: str) -> Interval | None:
    """The interval of numbers, or of days since 1970, that a text writes; None if it is none."""
    if not text.startswith("("):
        return None
    return parse_interval(text) or parse_interval(text, dates=True)


Bins = Mapping[str, Sequence[float | str]]
"""For each number its cuts, ascending; those of dates as texts YYYY-MM-DD."""


def public_bins(release: Any, columns: Iterable[str] | None = None) -> dict[str, tuple[float | str, ...]]:
    """The cuts between which the numbers of a release were counted, by column; those of dates as YYYY-MM-DD.

    Examples
    --------
    >>> public_bins(pl.DataFrame({"age": ["(-inf, 30]:1|(30, inf):2"] * 3}))
    {'age': (30,)}
    """
    table = CountedTable.of(read_release(release, missing=[]).frame, columns)
    by_column = {name: cuts_of(column) for name, column in table.columns.items()}
    return {name: cuts for name, cuts in by_column.items() if cuts is not None}


def cuts_of(column: CountedColumn) -> tuple[float | str, ...] | None:
    """The ends of the bins of an attribute, ascending; None if its values are no bins.

    Of dates, which are written year first, the order of letters is that of days.
    """
    values = [value for value in column.values if value is not None]
    if not values or any(interval_of(value) is None for value in values):
        return None
    ends = {end for value in values for end in value[1:-1].split(", ")} - {"-inf", "inf"}
    if any(parse_day(end) is not None for end in ends):
        return tuple(sorted(ends))
    numbers = {float(end) for end in ends}
    return tuple(int(end) if end.is_integer() else end for end in sorted(numbers))


def binned(rows: Any, bins: Bins) -> Any:
    """New rows with their numbers written as the bin they lie in, as a decoded release has them.

    Parameters
    ----------
    rows
        A path or a pandas, polars or PyArrow table; columns that are not in the bins stay as they are.
    bins
        The cuts of each number, see :func:`public_bins`.

    Examples
    --------
    >>> binned(pl.DataFrame({"age": [25, 31, None]}), {"age": (30,)})["age"].to_list()
    ['(-inf, 30]', '(30, inf)', None]
    """
    source = read(rows)
    for name in bins:
        if name not in source.frame.columns:
            raise HeaderError(unknown_column(name, source.frame.columns))
    made = [bin_texts(source.frame[name], cuts) for name, cuts in bins.items()]
    return to_frame_like(source.frame.with_columns(made), source.origin)


def bin_texts(column: pl.Series, cuts: Sequence[float | str]) -> pl.Series:
    """A column of numbers, or of dates, as the texts of its bins."""
    days = [parse_day(cut) for cut in cuts if isinstance(cut, str)]
    dates = bool(days)
    places: list[float] = [day for day in days if day is not None] if dates else [float(cut) for cut in cuts]
    numbers = _numbers(column, dates)
    ends: list[float | None] = [None, *places, None]
    kind = ColumnType.DATE if dates else ColumnType.REAL
    texts = [str(render(Interval(ends[i], ends[i + 1]), kind)) for i in range(len(places) + 1)]
    numbered = np.searchsorted(np.asarray(places), numbers, side="left")
    return pl.Series(
        column.name,
        [None if np.isnan(number) else texts[i] for number, i in zip(numbers, numbered, strict=True)],
        pl.String,
    )


def _numbers(column: pl.Series, dates: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The numbers of a column, or its days since 1970; NaN for missing."""
    wanted = pl.Date() if dates else pl.Float64()
    made = column.str.to_date("%Y-%m-%d", strict=False) if dates and column.dtype == pl.String else column
    made = made.cast(wanted, strict=False)
    if made.null_count() > column.null_count():
        kind = "dates" if dates else "numbers"
        raise ValuesError(f"{column.name}: {made.null_count() - column.null_count():,} cells are no {kind}.")
    return np.asarray(made.to_physical().cast(pl.Float64).fill_null(np.nan).to_numpy())
