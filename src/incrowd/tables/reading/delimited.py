"""Delimited text: its structure is checked byte by byte before anyone trusts a parser's reading of it.

Fast CSV parsers are lenient: they pad short records, keep stray quotes and let a missing closing quote
swallow the rest of the file. A padded record is a person with invented values, so each of these is a fault.
"""

from __future__ import annotations

import codecs
import mmap
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import EncodingError, FileFormatError, reading_option
from incrowd.tables.reading.dialect import Dialect, guess_encoding, plain_cells
from incrowd.tables.reading.layout import (
    SAMPLE_BYTES,
    Layout,
    decoded,
    find_layout,
    guess_notice,
    names_line,
    sniff_encoding,
    sniff_line_end,
)
from incrowd.tables.reading.source import MISSING_MARKERS, Compression, Origin, Source, decompress
from incrowd.trees.compiled import compiled

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.int64]

_TITLES = 20  # lines of titles that people put above a table
_ORDINARY, _DELIMITER, _LINE_END, _QUOTE, _NUL, _RETURN = range(6)


class Fault(IntEnum):
    """What can be wrong with the structure."""

    NONE = 0
    NUL = 1
    RAGGED = 2
    UNCLOSED_QUOTE = 3
    STRAY_QUOTE = 4
    BARE_RETURN = 5


@dataclass(frozen=True)
class TextStructure:
    """What a scan found."""

    records: int  # records below the header, blank lines at the end not counted
    blank_end: int  # blank lines at the end of a table of two or more columns
    fields: int  # fields of the header
    # the first fault, the line it starts in (the header starts in line 1), and for a ragged record the number of its
    # fields
    fault: Fault
    line: int
    width: int

    def check(self, delimiter: str) -> None:
        """Raise if there is a fault, naming its line."""
        match self.fault:
            case Fault.NUL:
                utf_16 = reading_option(encoding="utf-16")
                trouble = f"has a NUL byte. Is this a text file, or UTF-16 without a mark ({utf_16})?"
            case Fault.RAGGED:
                trouble = (
                    f"has {self.width} fields where the header has {self.fields}. "
                    f"Mend it, or name another delimiter than {delimiter!r}."
                )
                if self.width > self.fields and self.line <= _TITLES:
                    trouble += f" If line {self.line} has the names of the columns, take out the lines above it."
            case Fault.UNCLOSED_QUOTE:
                trouble = "opens a quote that is never closed. Close it; double those that are part of the text."
            case Fault.STRAY_QUOTE:
                trouble = "has a quote inside a field. Put the whole field in quotes and double the inner ones."
            case Fault.BARE_RETURN:
                trouble = "has a carriage return outside quotes, while lines end in a line feed. Use one of them."
            case Fault.NONE:
                return
        raise FileFormatError(f"Line {self.line} {trouble}")


def scan(data: Bytes, delimiter: str, line_end: str, *, headless: bool = False) -> TextStructure:
    """Find the first structural fault of delimited text, and count its records."""
    scanner = Scanner(delimiter, line_end, headless=headless)
    scanner.feed(data, final=True)
    return scanner.structure


class Scanner:
    r"""Scan delimited text that comes in pieces; ``headless``: a line that is not counted was put before it.

    Examples
    --------
    >>> scanner = Scanner(",", "\n")
    >>> scanner.feed(np.frombuffer(b"a,b\n1,2\n3", np.uint8), final=False)
    8
    >>> scanner.feed(np.frombuffer(b"3,4\n", np.uint8), final=True)
    4
    >>> scanner.structure.records
    2
    """

    def __init__(self, delimiter: str, line_end: str, *, headless: bool = False) -> None:
        self._kinds = np.zeros(256, np.int64)
        self._kinds[ord(delimiter)] = _DELIMITER
        self._kinds[ord('"')] = _QUOTE
        self._kinds[0] = _NUL
        if line_end == "\n":
            self._kinds[ord("\r")] = _RETURN
        self._kinds[ord(line_end)] = _LINE_END
        self._state = np.array([0, 0, 0, 0, 0 if headless else 1], np.int64)
        self._fault = (Fault.NONE.value, 0, 0)

    def feed(self, data: Bytes, *, final: bool) -> int:
        """Scan whole records from the start of ``data``; returns how many bytes they take.

        What is left, if this is not the end of the text, is the start of a record: it comes again with the next
        piece. After a fault nothing more is to be fed.
        """
        consumed, fault, line, width = _scan(data, self._kinds, self._state, final)
        self._fault = (int(fault), int(line), int(width))
        return int(consumed)

    @property
    def line(self) -> int:
        """The line in which the next record starts."""
        return int(self._state[4])

    @property
    def structure(self) -> TextStructure:
        """What was found so far."""
        records, blank_end, _, fields, _ = (int(number) for number in self._state)
        fault, line, width = self._fault
        return TextStructure(records, blank_end, fields, fault=Fault(fault), line=line, width=width)


@compiled
def _scan(data: Bytes, kinds: Numbers, state: Numbers, final: bool) -> tuple[int, int, int, int]:
    """Header and records in one pass: (bytes of whole records, fault, line, found).

    ``state`` is (records, blank lines at the end, line of the first of them, fields, line of the next record).
    """
    records, blanks, first_blank, expected, line = state
    size = len(data)
    bom = expected == 0 and size >= 3 and data[0] == 0xEF and data[1] == 0xBB and data[2] == 0xBF
    i = start = 3 if bom else 0
    fault, width, fault_line, fields, record_line = Fault.NONE.value, 0, 0, 1, line
    last = size if final else size - 1
    while i <= last:
        kind = kinds[data[i]] if i < size else _LINE_END
        if kind <= _DELIMITER:
            fields += kind
        elif kind == _QUOTE:
            if i > start and kinds[data[i - 1]] != _DELIMITER:
                fault, fault_line = Fault.STRAY_QUOTE.value, line
                break
            i, line, fault = _quoted(data, kinds, i + 1, line)
            if fault:
                fault_line = record_line if fault == Fault.UNCLOSED_QUOTE.value else line
                break
            continue
        elif kind == _NUL:
            fault, fault_line = Fault.NUL.value, line
            break
        elif kind == _RETURN:
            if i + 1 == size or kinds[data[i + 1]] != _LINE_END:
                fault, fault_line = Fault.BARE_RETURN.value, line
                break
        else:
            length = i - start - (i > start and kinds[data[i - 1]] == _RETURN)
            if i == size and length == 0:
                start = size
                break
            if expected == 0:
                expected = fields
            elif length == 0 and expected > 1:
                first_blank = first_blank if blanks else record_line
                blanks += 1
            elif blanks or fields != expected:
                fault, fault_line = Fault.RAGGED.value, first_blank if blanks else record_line
                width = 1 if blanks else fields
                break
            else:
                records += 1
            fields = 1
            line += 1
            record_line = line
            start = min(i + 1, size)
        i += 1
    if not final and (fault == Fault.UNCLOSED_QUOTE.value or (fault == Fault.BARE_RETURN.value and i + 1 == size)):
        fault = Fault.NONE.value
    state[:] = (records, blanks, first_blank, expected, record_line)
    if not final and expected == 0:
        start = 0  # a byte order mark belongs to the header
    return start, fault, fault_line, width


@compiled
def _quoted(data: Bytes, kinds: Numbers, i: int, line: int) -> tuple[int, int, int]:
    """From just after an opening quote to just after the closing one: (position, line, fault)."""
    size = len(data)
    while i < size:
        kind = kinds[data[i]]
        if kind == _LINE_END:
            line += 1
        elif kind == _NUL:
            return i, line, Fault.NUL.value
        elif kind == _QUOTE:
            after = kinds[data[i + 1]] if i + 1 < size else _LINE_END
            if after in (_DELIMITER, _LINE_END, _RETURN):
                return i + 1, line, Fault.NONE.value
            if after != _QUOTE:
                return i, line, Fault.STRAY_QUOTE.value
            i += 1
        i += 1
    return i, line, Fault.UNCLOSED_QUOTE.value


_STEP = 1 << 22  # bytes that are decoded at once: a text is held as bytes, never whole as letters
_GUESSED_FROM = 1 << 22  # bytes in which an encoding shows itself, if it does at all
EMPTY = "The file is empty. Give a table with a header line and at least one row."
NO_ROWS = "The file has a header but no rows. Give a table with at least one row."
CHANGED = "The file changed while it was read, or its quotes are ambiguous. Read it again."
REFUSED = "The file cannot be parsed as delimited text. Check its delimiter and quotes."


@dataclass(frozen=True)
class _Text:
    """UTF-8 text to parse: mapped from a file that polars may open itself, or unpacked into memory."""

    data: mmap.mmap | bytes
    path: Path | None
    encoding: str


def read_delimited(
    path: Path,
    dialect: Dialect | None = None,
    *,
    compression: Compression | None = None,
    missing: tuple[str, ...] = MISSING_MARKERS,
) -> Source:
    """Read a delimited text file; every column stays text."""
    known = dialect or Dialect()
    try:
        return _read(path, known, known.encoding, compression, missing)
    except EncodingError:
        guess = guess_encoding(_sample(path, compression)) if known.encoding is None else None
        if guess is None:
            raise
    return _read(path, known, guess, compression, missing)


def _read(
    path: Path, dialect: Dialect, encoding: str | None, compression: Compression | None, missing: tuple[str, ...]
) -> Source:
    text = _text(path, encoding, compression)
    if dialect.headless:
        line = names_line(_head(text.data), text.encoding, dialect)
        text = _Text(line + bytes(text.data).removeprefix(codecs.BOM_UTF8), None, text.encoding)
    layout = find_layout(_head(text.data), text.encoding, dialect)
    frame = plain_cells(_parse(text, layout), layout.decimal, layout.dates)
    origin = origin_of(path, layout, text.encoding, compression, missing)
    guesses = guess_notice(layout, text.encoding, dialect)
    del text  # gives its memory back before the columns are coded
    return Source.of(frame.select(layout.kept), origin, (*layout.notices, *guesses))


def origin_of(
    path: Path, layout: Layout, encoding: str, compression: Compression | None, missing: tuple[str, ...]
) -> Origin:
    """Where a text came from, and how it is read."""
    names = layout.names if layout.headless else ()
    return Origin(
        form="csv",
        path=str(path),
        delimiter=layout.delimiter,
        encoding=encoding,
        compression=compression,
        missing=missing,
        names=names,
        decimal=layout.decimal,
        dates=layout.dates,
    )


def _sample(path: Path, compression: Compression | None) -> bytes:
    """What an encoding is guessed from: as much as holds letters beyond ASCII in most files."""
    if compression is not None:
        return decompress(path, compression)[:_GUESSED_FROM]
    with path.open("rb") as file:
        return file.read(_GUESSED_FROM)


def parse_records(source: Path | bytes, layout: Layout, names: tuple[str, ...] | None = None) -> pl.DataFrame | None:
    """What polars reads below a first line, or None where it gives up; its messages quote cells, so none gets out.

    ``names`` chooses columns; all if it is not given.
    """
    wanted = None if names is None else [place for place, name in enumerate(layout.names) if name in names]
    try:
        return pl.read_csv(
            source,
            has_header=False,
            skip_rows=1,
            schema=dict.fromkeys(layout.names, pl.String),
            columns=wanted,
            separator=layout.delimiter,
            eol_char=layout.line_end,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None


def _text(path: Path, declared: str | None, compression: Compression | None) -> _Text:
    """The file's content as UTF-8."""
    data: mmap.mmap | bytes
    if compression is not None:
        data = decompress(path, compression)
        if not data:
            raise FileFormatError(EMPTY)
    else:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    encoding = sniff_encoding(data[:4], declared)
    if encoding == "utf-8":
        return _Text(data, path if compression is None else None, encoding)
    return _Text(b"".join(piece.encode() for piece in decoded(_steps(data), encoding)), None, encoding)


def _steps(data: mmap.mmap | bytes) -> Iterator[bytes]:
    return (data[start : start + _STEP] for start in range(0, len(data), _STEP))


def _head(data: mmap.mmap | bytes) -> bytes:
    """The sample to look at, up to the end of its last line."""
    line_end = sniff_line_end(data[:SAMPLE_BYTES]).encode()
    return data[: data.find(line_end, SAMPLE_BYTES) + 1 or len(data)]


def _parse(text: _Text, layout: Layout) -> pl.DataFrame:
    """The records as text, after the scanner has found nothing wrong with them."""

    data = np.frombuffer(text.data, np.uint8)
    with ThreadPoolExecutor(1) as beside:
        scanning = beside.submit(scan, data, layout.delimiter, layout.line_end, headless=layout.headless)
        frame = parse_records(text.path or bytes(text.data), layout)
        structure = scanning.result()
    structure.check(layout.delimiter)
    if structure.records == 0:
        raise FileFormatError(NO_ROWS)
    if frame is None:
        raise _refused(text, layout)
    if frame.height != structure.records + structure.blank_end:
        raise FileFormatError(CHANGED)
    return frame.head(structure.records)


def _refused(text: _Text, layout: Layout) -> FileFormatError:
    """The error for text that polars refuses although its structure is sound: mostly, it is not UTF-8."""
    deque(decoded(_steps(text.data), "utf-8", first=0 if layout.headless else 1), maxlen=0)
    return FileFormatError(REFUSED)
