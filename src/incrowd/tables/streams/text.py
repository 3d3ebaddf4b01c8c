"""Delimited text, read in pieces that end where a record ends."""

from __future__ import annotations

import codecs
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, chain
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import polars as pl

from incrowd.errors import EncodingError, FileFormatError
from incrowd.tables.reading.delimited import CHANGED, EMPTY, NO_ROWS, REFUSED, Scanner, parse_records
from incrowd.tables.reading.dialect import Dialect, guess_encoding, plain_cells
from incrowd.tables.reading.layout import (
    SAMPLE_BYTES,
    Layout,
    decoded,
    find_layout,
    line_ends,
    names_line,
    sniff_encoding,
    sniff_line_end,
    undecodable,
)
from incrowd.tables.reading.source import Compression, unpacked
from incrowd.tables.streams.body import Stamp, changed, exact, scratch_full

SCANNED_BYTES = 1 << 20
"""How much text is scanned at a time: a piece that can be entered at its start."""
PARSED_BYTES = 32 << 20
"""How much text is parsed at a time: pieces that follow each other."""
MOST_RECORD_BYTES = 256 << 20
"""Longest accepted record."""
_STEP = 1 << 22  # bytes that are recoded at once: a text is never held whole


class PlainFile:
    """A file that is UTF-8 text already, read from any place."""

    def __init__(self, path: Path) -> None:
        self._stamp = Stamp.of(path)
        self.size = self._stamp.size

    def read(self, start: int, size: int) -> bytes:
        """So many bytes from a place; fewer only at the end."""
        try:
            with self._stamp.path.open("rb") as file:
                file.seek(start)
                return file.read(size)
        except OSError:
            raise changed(self._stamp.path) from None

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        self._stamp.check()


class Unpacked(PlainFile):
    """Text that was unpacked or recoded into a file without a name, which ends with the process at the latest."""

    def __init__(self, path: Path, pieces: Iterable[bytes], folder: Path | None) -> None:
        super().__init__(path)
        self._lock = threading.Lock()
        with _scratch_errors():
            self._file = TemporaryFile(dir=folder)  # noqa: SIM115 (closed by the finalizer)
        weakref.finalize(self, self._file.close)
        self.size = 0
        for piece in pieces:
            with _scratch_errors():
                self.size += self._file.write(piece)

    def read(self, start: int, size: int) -> bytes:
        """So many bytes from a place; fewer only at the end."""
        with self._lock:
            self._file.seek(start)
            return self._file.read(size)


@contextmanager
def _scratch_errors() -> Iterator[None]:
    try:
        yield
    except OSError:
        raise scratch_full() from None


@dataclass(frozen=True)
class Piece:
    """A run of whole records: its place in the text, its records, and blank lines at its end."""

    start: int
    size: int
    records: int
    blank_end: int

    def and_next(self, piece: Piece) -> Piece:
        """This piece and the one that follows it as one."""
        records, blank_end = self.records + piece.records, self.blank_end + piece.blank_end
        return Piece(self.start, self.size + piece.size, records, blank_end)


@dataclass(frozen=True, eq=False)
class TextBody:
    """A delimited text whose structure was found sound, with the places where pieces of it start."""

    data: PlainFile
    layout: Layout
    encoding: str
    parts: tuple[Piece, ...]

    @property
    def rows(self) -> int:
        """Number of records below the header."""
        return sum(piece.records for piece in self.parts)

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows of the named columns."""
        size = min(PARSED_BYTES, rows * self.data.size // max(1, self.rows))
        return (self._parse(piece, names) for piece in _joined(self.parts, size) if piece.records)

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        firsts = list(accumulate((piece.records for piece in self.parts), initial=0))
        first, last = bisect_right(firsts, start) - 1, bisect_left(firsts, start + rows)
        pieces = _joined(self.parts[first:last], PARSED_BYTES)
        return pl.concat([self._parse(piece, names) for piece in pieces]).slice(start - firsts[first], rows)

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        self.data.check()

    def _parse(self, piece: Piece, names: Sequence[str]) -> pl.DataFrame:
        """The records of a piece. A first line is skipped: the header, or one that stands for it."""
        records = self.data.read(piece.start, piece.size)
        if piece.start:
            records = b"x" + self.layout.line_end.encode() + records
        frame = parse_records(records, self.layout, tuple(names))
        if frame is None or frame.height != piece.records + piece.blank_end:
            self.data.check()
            raise FileFormatError(REFUSED if frame is None else CHANGED)
        plain = plain_cells(frame.head(piece.records), self.layout.decimal, self.layout.dates)
        return exact(plain, names)


def open_text(path: Path, dialect: Dialect, *, compression: Compression | None, folder: Path | None) -> TextBody:
    """Look at every byte of a delimited text and refuse what the reader of small files refuses."""
    try:
        return _open(path, dialect, dialect.encoding, compression, folder)
    except EncodingError as failure:
        guess = None if dialect.encoding else guess_encoding(_beginning(path, compression))
        if guess is None:
            raise failure from None
    return _open(path, dialect, guess, compression, folder)


def _open(
    path: Path, dialect: Dialect, encoding: str | None, compression: Compression | None, folder: Path | None
) -> TextBody:
    data, known = _utf8(path, encoding, compression, folder)
    if dialect.headless:
        line = names_line(_head(data), known, dialect)
        data = Unpacked(path, chain([line], _without_mark(data)), folder)
    layout = find_layout(_head(data), known, dialect)
    body = TextBody(data, layout, known, tuple(_scanned(data, layout, known)))
    if body.rows == 0:
        raise FileFormatError(NO_ROWS)
    data.check()
    return body


def _utf8(
    path: Path, declared: str | None, compression: Compression | None, folder: Path | None
) -> tuple[PlainFile, str]:
    """The text as UTF-8, and the encoding it had."""
    data = PlainFile(path)
    if compression is not None:
        data = Unpacked(path, unpacked(path, compression), folder)
        if not data.size:
            raise FileFormatError(EMPTY)
    encoding = sniff_encoding(data.read(0, 4), declared)
    if encoding == "utf-8":
        return data, encoding
    pieces = (data.read(start, _STEP) for start in range(0, data.size, _STEP))
    return Unpacked(path, (text.encode() for text in decoded(pieces, encoding)), folder), encoding


def _without_mark(data: PlainFile) -> Iterator[bytes]:
    """The text without a byte order mark."""
    for start in range(0, data.size, _STEP):
        piece = data.read(start, _STEP)
        yield piece if start else piece.removeprefix(codecs.BOM_UTF8)


def _beginning(path: Path, compression: Compression | None) -> bytes:
    """What an encoding is guessed from."""
    if compression is None:
        return PlainFile(path).read(0, _STEP)
    return next(iter(unpacked(path, compression)), b"")


def _head(data: PlainFile) -> bytes:
    """The sample to look at, up to the end of a line."""
    head = data.read(0, SAMPLE_BYTES)
    line_end = sniff_line_end(head).encode()
    while len(head) < min(data.size, MOST_RECORD_BYTES):
        more = data.read(len(head), _STEP)
        at = more.find(line_end)
        head += more[: at + 1 or len(more)]
        if at >= 0 or not more:
            break
    return head


def _scanned(data: PlainFile, layout: Layout, encoding: str) -> Iterator[Piece]:
    """The pieces of a text, once nothing is wrong with its structure and its encoding."""
    scanner = Scanner(layout.delimiter, layout.line_end, headless=layout.headless)
    start, size, undecoded = 0, SCANNED_BYTES, 0
    records = blank_end = 0
    while start < data.size:
        piece = data.read(start, size)
        line = scanner.line
        consumed = scanner.feed(np.frombuffer(piece, np.uint8), final=start + len(piece) >= data.size)
        structure = scanner.structure
        structure.check(layout.delimiter)
        if not consumed:
            data.check()
            size = _longer(size, len(piece), line)
            continue
        undecoded = undecoded or _undecodable_line(piece[:consumed], line)
        yield Piece(start, consumed, structure.records - records, structure.blank_end - blank_end)
        records, blank_end = structure.records, structure.blank_end
        start, size = start + consumed, SCANNED_BYTES
    if undecoded:
        raise undecodable(encoding, undecoded)


def _joined(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces that follow each other as one, up to about a given size."""
    waiting: Piece | None = None
    for piece in pieces:
        waiting = piece if waiting is None else waiting.and_next(piece)
        if waiting.size >= size:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _longer(size: int, available: int, line: int) -> int:
    """A larger piece for a record that does not fit into this one."""
    if available < size or size >= MOST_RECORD_BYTES:
        raise FileFormatError(
            f"Line {line} starts a record of more than {available >> 20} MB. Close its quote, if one is open, or "
            "shorten it."
        )
    return 2 * size


def _undecodable_line(piece: bytes, line: int) -> int:
    """The line of the first bytes that are not UTF-8; 0 if there are none."""
    if piece.isascii():
        return 0
    try:
        piece.decode("utf-8")
    except UnicodeDecodeError as failure:
        return line + line_ends(piece[: failure.start].decode("utf-8", "replace"))
    return 0
