"""Cells as the room takes them: a column as its distinct values and a code for each row, whatever frame it came in."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from incrowd.errors import HeaderError, InputError
from incrowd.vocabulary.released_value import Interval, day_number, parse_day, parse_interval, parse_number, render
from incrowd.vocabulary.schema import ColumnType, unknown_column

Codes = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
NOTHING = -1  # the code of a missing or suppressed cell
_RANGE = re.compile(r"^\[(\S+), (\S+)\]$")


@dataclass(frozen=True, eq=False)
class Cells:
    """A column: its distinct values, none of them missing, and the place of each row's; -1 is missing."""

    values: tuple[Any, ...]
    codes: Codes

    @classmethod
    def of(cls, column: pa.ChunkedArray) -> Cells:
        """The cells of a column; a number that is none (NaN) is missing."""
        whole = column.combine_chunks()
        whole = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
        values = whole.dictionary.to_pylist()
        codes = whole.indices.fill_null(NOTHING).to_numpy(zero_copy_only=False).astype(np.int64)
        known = [value is not None and value == value for value in values]
        if all(known):
            return cls(tuple(values), codes)
        places = np.append(np.where(known, np.cumsum(known) - 1, NOTHING), NOTHING)
        return cls(tuple(value for value, is_known in zip(values, known, strict=True) if is_known), places[codes])

    @property
    def rows(self) -> Numbers:
        """How many rows have each value."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values)).astype(np.float64)


Counted = Mapping[str | None, float]
"""Words that a cell may stand for, with their rows; None is the missing value."""


def without_redrawn(members: Mapping[Any, Counted], cells: Cells, redraw: int) -> Mapping[Any, Counted]:
    """Drawn counts, of a group's n rows and ``redraw`` that have any value of the release: what they tell of the n.

    A value that n of the group's rows have on average ``m`` times is drawn ``(m + redraw * share) n / (n + redraw)``
    times on average, where ``share`` is that of the value in the release. This takes the average of the others off, and
    nothing is less often than never.

    Examples
    --------
    >>> cells = Cells(("first", "second"), np.repeat([0, 1], 10))
    >>> without_redrawn({"first": {"a": 9.0, "b": 1.0}, "second": {"a": 1.0, "b": 9.0}}, cells, 2)["first"]
    {'a': 9.8, 'b': 0.2}
    """
    whole: dict[str | None, float] = {}
    for value, rows in zip(cells.values, cells.rows, strict=True):
        many = sum(members[value].values())
        for word, count in members[value].items():
            whole[word] = whole.get(word, 0.0) + float(rows) * count / many
    total = sum(whole.values())
    known = {}
    for value, counts in members.items():
        grown = 1 + redraw / (sum(counts.values()) or 1)
        left = {word: grown * count - redraw * whole[word] / total for word, count in counts.items()}
        known[value] = {word: round(count, 9) for word, count in left.items() if count > 0}
    return known


def as_table(rows: Any) -> pa.Table:
    """Rows as a table of PyArrow: a pandas, polars or PyArrow frame, a list of dictionaries, or columns by name."""
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    home = type(rows).__module__.partition(".")[0]
    try:
        if home == "pandas":
            return pa.Table.from_pandas(rows, preserve_index=False)
        if home == "polars":
            return rows.to_arrow()
        if isinstance(rows, Mapping):
            return pa.table(dict(rows))
        if isinstance(rows, Sequence) and rows and all(isinstance(row, Mapping) for row in rows):
            names = list(dict.fromkeys(name for row in rows for name in row))
            return pa.table({name: pa.array([row.get(name) for row in rows], from_pandas=True) for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError("A column of these rows has values of several kinds. Make each column of one kind.") from error
    raise InputError("Rows must be a pandas, polars or PyArrow table, or a list of dictionaries.")


def column_of(table: pa.Table, name: str) -> Cells:
    """The cells of a column by its name."""
    if name not in table.column_names:
        raise HeaderError(unknown_column(name, table.column_names))
    return Cells.of(table.column(name))


def word_of(value: Any) -> str:
    """A value as a word of the release: whole numbers without a point, truth values and days as files write them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return _day(value).isoformat() if isinstance(value, datetime.date) else str(value)


def number_of(value: Any, kind: ColumnType) -> float:
    """A plain value as a number, or as days since 1970; NaN for what is none."""
    if isinstance(value, datetime.date):
        return float(day_number(_day(value)))
    if isinstance(value, str):
        number = parse_day(value[:10]) if kind is ColumnType.DATE else parse_number(value.strip())
        return math.nan if number is None else float(number)
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _day(value: datetime.date) -> datetime.date:
    return value.date() if isinstance(value, datetime.datetime) else value


Piece = tuple[float, float]
"""Above the first and at most the second; a number itself if both are the same."""


def pieces_of(value: Any, kind: ColumnType) -> tuple[Piece, ...]:
    """Where the number of a released cell lies; nowhere if the cell does not say it by numbers."""
    if not isinstance(value, str):
        number = number_of(value, kind)
        return () if math.isnan(number) else ((number, number),)
    pieces = [_piece(member, kind) for member in value.split("|")]
    return tuple(piece for piece in pieces if piece is not None) if all(pieces) else ()


def _piece(text: str, kind: ColumnType) -> Piece | None:
    number = number_of(text, kind)
    if not math.isnan(number):
        return number, number
    if closed := _RANGE.match(text):
        low, high = (number_of(end, kind) for end in closed.groups())
        return None if math.isnan(low + high) else (math.nextafter(low, -math.inf) if low < high else low, high)
    interval = parse_interval(text, dates=kind is ColumnType.DATE)
    return None if interval is None else ends_of(interval)


def ends_of(interval: Interval) -> Piece:
    """The ends of an interval; an open one is infinite."""
    low = -math.inf if interval.low is None else float(interval.low)
    return low, math.inf if interval.high is None else float(interval.high)


def middle(low: float, high: float) -> float:
    """The middle of an interval; of an open one the number just inside its only end."""
    if math.isinf(low):
        return math.nan if math.isinf(high) else high
    return math.nextafter(low, math.inf) if math.isinf(high) else low / 2 + high / 2


def bin_names(cuts: Numbers, kind: ColumnType) -> tuple[str, ...]:
    """The texts of the bins between public cuts, ascending.

    Examples
    --------
    >>> bin_names(np.array([30.0, 50.0]), ColumnType.INTEGER)
    ('(-inf, 30]', '(30, 50]', '(50, inf)')
    """
    ends = [None, *cuts.tolist(), None]
    return tuple(str(render(Interval(*pair), kind)) for pair in pairwise(ends))


def members_of(text: str) -> tuple[str, ...]:
    """The values of a set."""
    return tuple(member.replace("%7C", "|").replace("%25", "%") for member in text.split("|"))
