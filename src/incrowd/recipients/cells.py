"""Cells as the room takes them: a column as its distinct values and a code for each row, whatever frame it came in.

And how the numbers of a column lie, as far as a release shows it: the mass between all published ends.
"""

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


_ROUNDS = 20  # of expectation and maximisation; the shape of Adult's columns moves by less than 0.001 after ten
_INFLATED = 5.0  # times denser than the next: a first piece from 0 on is mostly the number 0 itself, as of amounts that
# few people have; a first piece that falls off smoothly is two or three times denser


@dataclass(frozen=True, eq=False)
class Shape:
    """The share of rows up to each published end, ascending; between two ends it rises evenly.

    The first end may be 0 twice: as many rows as lie between the two are 0 themselves.
    """

    ends: Numbers
    share: Numbers
    whole: bool  # numbers are whole, or days

    @classmethod
    def of(cls, pieces: Sequence[Piece], rows: Numbers, *, whole: bool) -> Shape:
        """The likeliest shape: rows of a wide interval lie where narrower ones show others to lie."""
        finite = sorted({end for piece in pieces for end in piece if math.isfinite(end)})
        listed, low, high = _with_tails(finite, pieces)
        ends = np.array(listed)
        if len(ends) < 2:
            return cls(np.repeat(ends, 2), np.array([0.0, 1.0]), whole)
        first = np.searchsorted(ends, [max(low, ends[0]) for low, _ in pieces])
        last = np.searchsorted(ends, [min(high, ends[-1]) for _, high in pieces])
        exact = first == last  # a number itself: the mass is in the step that ends there
        first = np.where(exact, np.maximum(first - 1, 0), first)
        last = np.maximum(last, first + 1)
        mass = np.diff(ends) / (ends[-1] - ends[0])
        for _ in range(_ROUNDS):
            sums = np.concatenate([[0.0], np.cumsum(mass)])
            pull = np.zeros(len(ends))
            weights = rows / np.maximum(sums[last] - sums[first], 1e-300)
            np.add.at(pull, first, weights)
            np.add.at(pull, last, -weights)
            mass = np.maximum(mass * np.cumsum(pull)[:-1], 1e-12)
            mass /= mass.sum()
        share = np.concatenate([[0.0], np.cumsum(mass)])
        settled = _settled(ends, mass, low, high)
        if low and settled[0] == 0.0 and len(mass) > 1:
            beside = mass[1] / (ends[2] - ends[1]) * settled[1]  # rows of the first piece, were it as dense as the next
            if mass[0] > _INFLATED * beside:
                settled, share = np.insert(settled, 0, 0.0), np.insert(share, 1, mass[0] - beside)
        return cls(settled, share, whole)

    def mass(self, piece: Piece) -> float:
        """The share of rows in a piece."""
        low, high = np.interp(piece, self.ends, self.share)
        return float(high - low)

    def drawn(self, piece: Piece, chance: Numbers) -> Numbers:
        """A number of the piece for each chance from 0 to 1, rising with it."""
        low, high = piece
        if not low < high:  # a number, or nothing
            return np.full(len(chance), low)
        start, stop = np.interp([low, high], self.ends, self.share)
        drawn = np.interp(start + (stop - start) * chance, self.share, self.ends)
        if self.whole:
            drawn = np.ceil(drawn)
        lowest = np.floor(low) + 1 if self.whole else np.nextafter(low, np.inf)
        return np.clip(drawn, lowest, high)


def _with_tails(finite: list[float], pieces: Sequence[Piece]) -> tuple[list[float], bool, bool]:
    """The published ends, and one more where a piece is open; how far that is, is settled later."""
    if not finite:
        return [0.0, 1.0], False, False
    width = (finite[-1] - finite[0]) / max(len(finite) - 1, 1) or abs(finite[0]) or 1.0
    low = any(low < finite[0] for low, _ in pieces) or all(low == high for low, high in pieces)
    high = any(high > finite[-1] for _, high in pieces)
    ends = [*([finite[0] - width] if low else []), *finite, *([finite[-1] + width] if high else [])]
    return ends, low, high


def _settled(ends: Numbers, mass: Numbers, low: bool, high: bool) -> Numbers:
    """The ends, with those of open pieces as far away as the rows take that are as dense as their neighbours.

    At most as far as the published ends reach, and not across 0 if none of those does.
    """
    settled, inner = ends.copy(), ends[int(low) : len(ends) - int(high)]
    most = max(inner[-1] - inner[0], abs(inner[0] if len(inner) == 1 else 0.0)) or 1.0
    if low:
        width = min(_width(mass[0], mass[1:2], np.diff(ends)[1:2], most), most)
        settled[0] = max(inner[0] - width, 0.0) if inner[0] >= 0 else inner[0] - width
    if high:
        width = min(_width(mass[-1], mass[-2:-1], np.diff(ends)[-2:-1], most), most)
        settled[-1] = min(inner[-1] + width, 0.0) if inner[-1] <= 0 else inner[-1] + width
    return settled


def _width(rows: float, beside: Numbers, width: Numbers, most: float) -> float:
    """How wide a piece is that is as dense as the one beside it; the most, if there is none."""
    return float(rows * width[0] / beside[0]) if len(beside) and beside[0] > 0 else most
