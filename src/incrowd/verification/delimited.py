"""The structure of delimited text, told by its bytes alone: header, rows, quotes.

DuckDB reads the cells; this counts the rows another way, so that a line which DuckDB would pass over does not go
unnoticed. What is no plain table is refused: a quote inside a field, a blank line between rows, rows of other lengths.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import FileFormatError
from incrowd.vocabulary.forms import FileForm

LONGEST_LINE = 16_000_000  # bytes; a line is held until it ends, and a quote that never ends must not fill the memory
_QUOTE, _FEED, _RETURN = (ord(mark) for mark in '"\n\r')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

STEP = 4_000_000
"""How many bytes are read at once."""

UNREADABLE = (OSError, EOFError, UnicodeDecodeError, zlib.error)
"""What reading damaged or packed text raises."""

Places = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Structure:
    """The names of the columns, the number of rows, and whether the letters ``NaN`` occur anywhere."""

    names: list[str]
    rows: int
    names_nan: bool


def examine(path: Path, form: FileForm) -> Structure:
    r"""The structure of a file of delimited text in UTF-8.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.csv")
    ...     _ = file.write_bytes(b'age,job\n39,"a\nb"\n# 50,c\n')
    ...     examine(file, FileForm("csv"))
    Structure(names=['age', 'job'], rows=2, names_nan=False)
    """
    try:
        with unpacked(path, form.compression) as stream:
            return _scanned(stream, path.name, form.delimiter)
    except UNREADABLE as error:
        raise _refused(path.name, f"its bytes cannot be read as text ({type(error).__name__})") from None


def _scanned(stream: IO[bytes], name: str, delimiter: str) -> Structure:
    scan: _Scan | None = None
    rest = b""
    while block := stream.read(STEP):
        data = rest + block
        scan = scan or _Scan(name, delimiter, line_end(data))
        end = data.rfind(scan.line_end) + 1
        scan.feed(data[:end])
        rest = data[end:]
        if len(rest) > LONGEST_LINE:
            raise _refused(name, f"a line is longer than {LONGEST_LINE:,} bytes")
    if scan is None:
        raise _refused(name, "it is empty")
    if rest:
        scan.feed(rest + scan.line_end)
    return scan.structure()


def unpacked(path: Path, compression: str | None) -> IO[bytes]:
    """The bytes of a text file, unpacked as they are read."""
    if compression is None:
        return path.open("rb")
    if compression == "gzip":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    import pyarrow

    return io.BufferedReader(pyarrow.input_stream(str(path), compression=compression))  # it has lines, too


def line_end(data: bytes) -> bytes:
    r"""Carriage return where no line feed occurs, else line feed, perhaps after a carriage return.

    Examples
    --------
    >>> line_end(b"a,b\r1,2\r")
    b'\r'
    """
    return b"\r" if b"\r" in data and b"\n" not in data else b"\n"


class _Scan:
    """Counts the rows of text that comes in pieces, each of whole lines."""

    def __init__(self, file: str, delimiter: str, end: bytes) -> None:
        self.line_end = end
        self._file, self._delimiter = file, delimiter.encode()
        self._head = b""
        self._names: list[str] = []
        self._rows = self._delimiters = 0
        self._quoted = self._blanks = self._names_nan = False

    def feed(self, data: bytes) -> None:
        if b"\0" in data:
            raise _refused(self._file, "it has NUL bytes")
        if not data.isascii():
            data.decode("utf-8")  # DuckDB looks at the columns alone that are counted
        self._names_nan |= b"NaN" in data
        if not self._names:
            data = self._after_header(data)
        if not self._quoted and b'"' not in data and not self._has_blanks(data):
            self._add(np.zeros(data.count(self.line_end), np.bool_))
            self._delimiters += data.count(self._delimiter)
        else:
            self._count_with_care(data)

    def structure(self) -> Structure:
        if self._quoted or not self._names:
            raise _refused(self._file, "a quote is not closed")
        if self._delimiters != self._rows * (len(self._names) - 1):
            raise _refused(self._file, "its rows do not all have as many fields as its header")
        return Structure(self._names, self._rows, self._names_nan)

    def _after_header(self, data: bytes) -> bytes:
        """Read the names, once the first record is there whole; what comes after it."""
        self._head += data
        first = re.match(rb'(?:[^"%b]|"[^"]*")*+%b' % (self.line_end, self.line_end), self._head)
        if first is None:
            return b""
        record = first[0].removeprefix(_BYTE_ORDER_MARK).decode("utf-8")
        try:
            self._names = next(csv.reader([record.rstrip("\r\n")], delimiter=self._delimiter.decode(), strict=True), [])
        except csv.Error:
            raise _refused(self._file, "its header cannot be parted into names") from None
        if not self._names:
            raise _refused(self._file, "its first line is blank")
        return self._head[first.end() :]

    def _has_blanks(self, data: bytes) -> bool:
        begins = data.startswith((self.line_end, b"\r\n"))
        return begins or self.line_end * 2 in data or (b"\r" in data and b"\n\r\n" in data)

    def _count_with_care(self, data: bytes) -> None:
        """Rows of a piece that has quotes or blank lines."""
        letters = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(letters == _QUOTE)
        self._refuse_stray_quotes(letters, quotes)
        ends = self._outside(quotes, np.flatnonzero(letters == ord(self.line_end)))
        self._delimiters += self._number_outside(quotes, letters == ord(self._delimiter))
        self._quoted ^= bool(len(quotes) % 2)
        self._add(self._blank(letters, ends))

    def _add(self, blank: npt.NDArray[np.bool_]) -> None:
        """Count lines that are rows; none may come after a blank one."""
        blanks = np.append(self._blanks, blank)
        if (blanks[:-1] > blanks[1:]).any():
            raise _refused(self._file, "there is a blank line between its rows")
        self._rows += int(np.count_nonzero(~blank))
        self._blanks = bool(blanks[-1])

    def _blank(self, letters: npt.NDArray[np.uint8], ends: Places) -> npt.NDArray[np.bool_]:
        """Of each line, whether nothing is in it."""
        if len(self._names) == 1:  # an empty line is a row with an empty cell
            return np.zeros(len(ends), np.bool_)
        starts = np.concatenate([[0], ends + 1])[:-1]
        return np.asarray((ends == starts) | ((ends == starts + 1) & (letters[starts] == _RETURN)))

    def _outside(self, quotes: Places, places: Places) -> Places:
        """Those places that are not between quotes."""
        outside: Places = places[np.searchsorted(quotes, places) % 2 == self._quoted]
        return outside

    def _number_outside(self, quotes: Places, marks: npt.NDArray[np.bool_]) -> int:
        """How many of the marked places, none of which has a quote, are not between quotes."""
        before = np.cumsum(marks, dtype=np.int32)
        between = np.diff(before[quotes], prepend=0, append=before[-1:])
        return int(between[self._quoted :: 2].sum())

    def _refuse_stray_quotes(self, letters: npt.NDArray[np.uint8], quotes: Places) -> None:
        """Quotes open at the start of a field and close at its end; two of them inside stand for one."""
        edges = np.array([ord(self._delimiter), _FEED, _RETURN, _QUOTE], np.uint8)
        opening = np.arange(len(quotes)) % 2 == self._quoted
        beside = np.append(quotes[opening] - 1, quotes[~opening] + 1)  # before the first letter: the last, a line end
        if not np.isin(letters[beside], edges).all():
            raise _refused(self._file, "a quote stands inside a field")


def _refused(name: str, why: str) -> FileFormatError:
    return FileFormatError(f"{name} could not be verified: {why}.")


def check_count(name: str, counted: Any, expected: int) -> None:
    """Raise unless DuckDB has read as many rows as the file has."""
    if counted != expected:
        raise _refused(name, f"DuckDB reads {counted:,} rows, the file has {expected:,}")
