"""Delimited text: read as text, checked byte by byte."""

from __future__ import annotations

import codecs
import mmap
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.errors import EncodingError, FileFormatError
from incrowd.tables.reading.decompress import decompress
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
from incrowd.tables.reading.source import MISSING_MARKERS, Compression, Origin, Source

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
        "csv", str(path), layout.delimiter, encoding, compression, missing, names, layout.decimal, layout.dates
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
    from incrowd.tables.reading.scanner import scan

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
