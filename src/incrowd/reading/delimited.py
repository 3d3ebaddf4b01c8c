"""Delimited text: read as text, checked byte by byte."""

from __future__ import annotations

import codecs
import csv
import io
import mmap
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.errors import FileFormatError, Notice
from incrowd.reading.decompress import decompress
from incrowd.reading.headers import check_headers, without_pandas_index
from incrowd.reading.sniff import (
    DELIMITERS,
    SAMPLE_BYTES,
    check_delimiter,
    header_end,
    sniff_delimiter,
    sniff_encoding,
    sniff_line_end,
    undecodable,
)
from incrowd.reading.source import MISSING_MARKERS, Compression, Origin, Source

_STEP = 1 << 22


@dataclass(frozen=True)
class _Text:
    """UTF-8 text to parse: mapped from a file that polars may open itself, or unpacked into memory."""

    data: mmap.mmap | bytes
    path: Path | None
    encoding: str


def read_delimited(
    path: Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    compression: Compression | None = None,
    missing: tuple[str, ...] = MISSING_MARKERS,
) -> Source:
    r"""Read a delimited text file; every column stays text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_text("age;zip\n39;01234\n")
    ...     source = read_delimited(file)
    >>> source.frame.rows(), source.origin.delimiter
    ([('39', '01234')], ';')
    """
    text = _text(path, encoding, compression)
    head = text.data[:SAMPLE_BYTES]
    line_end = sniff_line_end(head)
    if delimiter is None:
        delimiter = sniff_delimiter(head.decode("utf-8", "replace"), line_end)
    else:
        check_delimiter(delimiter)
    names = _header(text, delimiter, line_end)
    notices = check_headers(names)
    frame = _parse(text, names, delimiter, line_end)
    kept, dropped = without_pandas_index(names)
    origin = Origin("csv", str(path), delimiter, text.encoding, compression, missing)
    del text  # gives its memory back before the columns are coded
    return Source.of(frame.select(kept), origin, (*notices, *dropped, *_wrong_delimiter(names, delimiter)))


def _text(path: Path, declared: str | None, compression: Compression | None) -> _Text:
    """The file's content as UTF-8."""
    data: mmap.mmap | bytes
    if compression is not None:
        data = decompress(path, compression)
        if not data:
            raise FileFormatError("The file is empty. Give a table with a header line and at least one row.")
    else:
        with path.open("rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    encoding = sniff_encoding(data[:4], declared)
    if encoding == "utf-8":
        return _Text(data, path if compression is None else None, encoding)
    return _Text(b"".join(piece.encode() for piece in _decoded(data, encoding)), None, encoding)


def _decoded(data: mmap.mmap | bytes, encoding: str) -> Iterator[str]:
    """The text piece by piece; bytes that are not text in this encoding are an error with their line."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    for start in range(0, len(data), _STEP):
        piece: str | None = None
        try:
            piece = decoder.decode(data[start : start + _STEP], final=start + _STEP >= len(data))
        except UnicodeDecodeError as failure:
            lines += _line_ends(failure.object[: failure.start].decode(encoding, "replace"))
        except UnicodeError:
            pass  # UTF-16 without its mark: the first line is already wrong
        if piece is None:
            raise undecodable(encoding, lines)
        lines += _line_ends(piece)
        yield piece


def _line_ends(text: str) -> int:
    return text.count("\n") or text.count("\r")


def _header(text: _Text, delimiter: str, line_end: str) -> list[str]:
    """The column names, quotes undone."""
    head = text.data[: text.data.find(line_end.encode(), SAMPLE_BYTES) + 1 or len(text.data)]
    line = head[: header_end(head, line_end)].removeprefix(codecs.BOM_UTF8).removesuffix(b"\r")
    decoded: str | None = None
    with suppress(UnicodeDecodeError):
        decoded = line.decode("utf-8")
    if decoded is None:
        raise undecodable(text.encoding, 1)
    if "\0" in decoded:
        raise FileFormatError("Line 1 has a NUL byte. Is this a text file, or UTF-16 without a mark?")
    try:
        return next(csv.reader(io.StringIO(decoded, newline=""), delimiter=delimiter), [""])
    except csv.Error:
        raise FileFormatError("The header line cannot be parsed. Check its quotes.") from None


def _parse(text: _Text, names: list[str], delimiter: str, line_end: str) -> pl.DataFrame:
    """The records as text, after the scanner has found nothing wrong with them."""
    from incrowd.reading.scanner import scan

    data = np.frombuffer(text.data, np.uint8)
    with ThreadPoolExecutor(1) as beside:
        scanning = beside.submit(scan, data, delimiter, line_end)
        frame = _polars(text, names, delimiter, line_end)
        structure = scanning.result()
    structure.check(delimiter)
    if structure.records == 0:
        raise FileFormatError("The file has a header but no rows. Give a table with at least one row.")
    if frame is None:
        raise _refused(text)
    if frame.height != structure.records + structure.blank_end:
        raise FileFormatError("The file changed while it was read, or its quotes are ambiguous. Read it again.")
    return frame.head(structure.records)


def _polars(text: _Text, names: list[str], delimiter: str, line_end: str) -> pl.DataFrame | None:
    """What polars reads, or None where it gives up; its own messages quote cells, so none gets out."""
    try:
        return pl.read_csv(
            text.path or bytes(text.data),
            has_header=False,
            skip_rows=1,
            schema=dict.fromkeys(names, pl.String),
            separator=delimiter,
            eol_char=line_end,
            glob=False,
        )
    except pl.exceptions.PolarsError:
        return None


def _refused(text: _Text) -> FileFormatError:
    """The error for text that polars refuses although its structure is sound: mostly, it is not UTF-8."""
    deque(_decoded(text.data, "utf-8"), maxlen=0)
    return FileFormatError("The file cannot be parsed as delimited text. Check its delimiter and quotes.")


def _wrong_delimiter(names: list[str], delimiter: str) -> tuple[Notice, ...]:
    """A single column whose name holds another delimiter was probably read with the wrong one."""
    others = [other for other in DELIMITERS if other != delimiter and other in names[0]]
    if len(names) > 1 or not others:
        return ()
    message = f"The table has one column, and its name contains {others[0]!r}: is that the delimiter?"
    return (Notice("wrong-delimiter", "", message),)
