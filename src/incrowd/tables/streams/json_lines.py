"""JSON Lines: a flat object on every line, read in pieces; its names are the columns."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import FileFormatError, ValuesError
from incrowd.tables.reading.frames import from_typed
from incrowd.tables.reading.layout import undecodable
from incrowd.tables.reading.source import MISSING_MARKERS, Compression, Origin, Source, decompress
from incrowd.tables.streams.body import Stamp, changed

MARKED_ROWS = 1 << 14
"""After so many rows a place is noted from which the file can be read again."""
MOST_LINE_BYTES = 16_000_000  # what the verification reads at most
_MARK = b"\xef\xbb\xbf"
_WHOLE = range(-(2**63), 2**63)
_MOST_BITS = 1023  # beyond it a whole number may be too large to be a number with decimals
_BIG = "a whole number beyond 64 bits"
_TYPES: dict[frozenset[Any], pl.DataType] = {
    frozenset(): pl.Null(),
    frozenset({bool}): pl.Boolean(),
    frozenset({int}): pl.Int64(),
    frozenset({str}): pl.String(),
    frozenset({float}): pl.Float64(),
    frozenset({int, float}): pl.Float64(),
    frozenset({_BIG}): pl.String(),
    frozenset({_BIG, int}): pl.String(),
    frozenset({_BIG, float}): pl.Float64(),
    frozenset({_BIG, int, float}): pl.Float64(),
}


@dataclass(frozen=True, eq=False)
class JsonLinesBody:
    """A file whose lines were found sound: its columns and rows, and every so many rows the place of a line."""

    stamp: Stamp
    schema: dict[str, pl.DataType]
    rows: int
    marks: tuple[int, ...]
    compression: Compression | None = None

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows of the named columns."""
        return self._from(0, min(rows, MARKED_ROWS), names)

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        mark, skipped = divmod(start, MARKED_ROWS)
        return next(self._from(mark, skipped + rows, names)).slice(skipped)

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        self.stamp.check()

    def _from(self, mark: int, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Frames of so many rows, from a noted place on."""
        records = (record for _, record in _records(self.stamp.path, self.marks[mark], self.compression))
        try:
            while some := list(islice(records, rows)):
                yield pl.DataFrame([_column(name, self.schema[name], some) for name in names])
        except (FileFormatError, TypeError, pl.exceptions.PolarsError):
            raise changed(self.stamp.path) from None


def read_json_lines(
    path: Path, *, compression: Compression | None = None, missing: tuple[str, ...] = MISSING_MARKERS
) -> Source:
    """Read the whole file, perhaps packed, with its types."""
    body = open_json_lines(path, compression)
    frames = body.pieces(MARKED_ROWS, list(body.schema)) if body.schema else iter([pl.DataFrame()])
    table = pl.concat(frames, rechunk=True)
    body.check()
    return from_typed(table, Origin("jsonl", str(path), compression=compression, missing=missing))


def open_json_lines(path: Path, compression: Compression | None = None) -> JsonLinesBody:
    """Read the file once, to know its columns; what is no flat object is refused with its line.

    A name that a line lacks is a missing value of it. Whole numbers beyond 64 bits are read as text.
    """
    stamp = Stamp.of(path)
    kinds: dict[str, set[Any]] = {}
    marks, rows = [], 0
    for place, record in _records(path, 0, compression):
        if rows % MARKED_ROWS == 0:
            marks.append(place)
        rows += 1
        for name, value in record.items():
            kinds.setdefault(name, set()).add(int if type(value) is int and value in _WHOLE else _kind(name, value))
    schema = {name: _type(name, seen - {type(None)}) for name, seen in kinds.items()}
    stamp.check()
    return JsonLinesBody(stamp, schema, rows, tuple(marks), compression)


def _kind(name: str, value: Any) -> Any:
    if isinstance(value, list | dict):
        raise ValuesError(f"Column {name!r} is nested. Spread it over plain columns, or drop it.")
    if type(value) is not int:
        return type(value)
    if value.bit_length() > _MOST_BITS:
        raise ValuesError(f"Column {name!r} has whole numbers of more than {_MOST_BITS} bits. Write them as text.")
    return _BIG


def _type(name: str, kinds: set[Any]) -> pl.DataType:
    dtype = _TYPES.get(frozenset(kinds))
    if dtype is None:
        raise ValuesError(f"Column {name!r} mixes text, numbers or truth values. Give it one type.")
    return dtype


def _column(name: str, dtype: pl.DataType, records: Sequence[dict[str, Any]]) -> pl.Series:
    cells = [record.get(name) for record in records]
    if dtype == pl.Float64:
        cells = [None if cell is None else float(cell) for cell in cells]
    elif dtype == pl.String:
        cells = [str(cell) if isinstance(cell, int) else cell for cell in cells]
    return pl.Series(name, cells, dtype)


def _records(path: Path, start: int, compression: Compression | None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of all lines from a place on, each with its own place; blank lines are passed over."""
    with path.open("rb") if compression is None else io.BytesIO(decompress(path, compression)) as file:
        place, number = file.seek(start), 0
        while line := file.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise FileFormatError(f"Line {number} is longer than {MOST_LINE_BYTES:,} bytes. Shorten it.")
            content = line.removeprefix(_MARK) if place == 0 else line
            if content.strip():
                yield place, _record(content, number)
            place += len(line)


def _record(line: bytes, number: int) -> dict[str, Any]:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        raise undecodable("utf-8", number) from None
    try:
        record = _DECODER.decode(text)
        if type(record) is dict and "\r" not in text.rstrip():
            if "\\u" in text:
                _check_letters(record)
            return record
    except (ValueError, RecursionError):
        pass
    raise FileFormatError(f"Line {number} is no object of JSON, or has a name twice, or a value that is none. Mend it.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise ValueError("a name stands there twice")
    return record


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError("a number that is too large")
    return value


def _check_letters(record: dict[str, Any]) -> None:
    """Refuse half of a letter, which is no text, and NUL."""
    for text in (*record, *(value for value in record.values() if isinstance(value, str))):
        if b"\0" in text.encode():
            raise ValueError("a NUL character")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_finite, parse_float=_finite)
