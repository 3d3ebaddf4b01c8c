"""How a delimited text is laid out: delimiter, line ends and column names, found from its beginning."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from incrowd.errors import FileFormatError, Notice, ParameterError
from incrowd.tables.reading.headers import check_headers, without_pandas_index

# Guess encoding, line ends and delimiter of a text file from its first bytes.
DELIMITERS = (",", ";", "\t", "|")
SAMPLE_BYTES = 1 << 16  # of the start of a file, by which its layout is told
_SAMPLE_RECORDS = 50  # records of it that are counted: a delimiter shows in the first ones
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def sniff_encoding(head: bytes, declared: str | None) -> str:
    r"""The declared encoding, else the one a byte order mark tells, else UTF-8.

    Examples
    --------
    >>> sniff_encoding(b"\xff\xfea\x00", None)
    'utf-16'
    """
    if declared is not None:
        return _known_encoding(declared)
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def _known_encoding(name: str) -> str:
    """The canonical name of a text encoding; anything else is an error."""
    try:
        known = codecs.lookup(name).name
        "".encode(known)
    except (LookupError, TypeError):
        raise ParameterError(
            f"Unknown encoding {name!r}. Give a name such as utf-8, latin-1, cp1252 or utf-16."
        ) from None
    return "utf-8" if known == "utf-8-sig" else known


def sniff_line_end(head: bytes) -> str:
    r"""Carriage return where no line feed occurs, else line feed (which covers both together).

    Examples
    --------
    >>> sniff_line_end(b"a,b\r1,2\r"), sniff_line_end(b"a,b\r\n1,2\r\n")
    ('\r', '\n')
    """
    return "\r" if b"\r" in head and b"\n" not in head else "\n"


def sniff_delimiter(head: str, line_end: str) -> str:
    r"""The delimiter under which the first records have the header's number of fields, quotes respected.

    Examples
    --------
    >>> sniff_delimiter('a;b\n1,5;"x,y;z"\n', "\n")
    ';'
    """
    scores = {}
    for delimiter in DELIMITERS:
        counts = list(_field_counts(head, delimiter, line_end))
        header = counts[0] if counts else 1
        fitting = sum(count == header for count in counts)
        scores[delimiter] = (header > 1, fitting == len(counts), fitting, header)
    return max(DELIMITERS, key=lambda delimiter: scores[delimiter])


def check_delimiter(delimiter: str) -> str:
    """The delimiter, if it can be one: a single ASCII character that is not a quote, letter or digit.

    Examples
    --------
    >>> check_delimiter(";")
    ';'
    """
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter.isalnum() or delimiter in '"\r\n\0':
        raise ParameterError(
            "A delimiter is one ASCII character other than a letter, a digit, a quote or a line end. "
            "Leave it out to have it found."
        )
    return delimiter


def _field_counts(head: str, delimiter: str, line_end: str) -> Iterator[int]:
    """Fields of each complete record of the sample, blank lines left out."""
    quoted, fields, records, length = False, 1, 0, 0
    for character in head:
        if character == '"':
            quoted = not quoted
        elif quoted:
            pass
        elif character == delimiter:
            fields += 1
        elif character == line_end:
            if length:
                yield fields
                records += 1
            fields, length = 1, -1
            if records == _SAMPLE_RECORDS:
                return
        if character != "\r":
            length += 1
    if length and not records:
        yield fields


def header_end(data: bytes, line_end: str) -> int:
    r"""Where the first record ends; line ends inside quotes do not count.

    Examples
    --------
    >>> header_end(b'"a\nb",c\n1,2\n', "\n")
    7
    """
    at = data.find(line_end.encode())
    while at >= 0 and data[:at].count(b'"') % 2:
        at = data.find(line_end.encode(), at + 1)
    return at if at >= 0 else len(data)


def undecodable(encoding: str, line: int) -> FileFormatError:
    """The error for bytes that are not text in the expected encoding."""
    return FileFormatError(
        f"Line {line} is not valid {encoding}. If the file was written in another encoding, name it, "
        "for instance encoding='latin-1' or 'cp1252'."
    )


@dataclass(frozen=True)
class Layout:
    """Where the fields of a delimited text are, and what they are called.

    Parameters
    ----------
    names
        All columns of the file.
    kept
        Those that are data: all but a stored pandas index.
    delimiter, line_end
        One character each.
    notices
        What is odd about the header.
    """

    names: tuple[str, ...]
    kept: tuple[str, ...]
    delimiter: str
    line_end: str
    notices: tuple[Notice, ...] = ()


def find_layout(head: bytes, encoding: str, delimiter: str | None = None) -> Layout:
    r"""The layout of a text by its first bytes, which hold the whole header.

    Examples
    --------
    >>> find_layout(b"age;zip\n39;01234\n", "utf-8").names
    ('age', 'zip')
    """
    sample = head[:SAMPLE_BYTES]
    line_end = sniff_line_end(sample)
    if delimiter is None:
        delimiter = sniff_delimiter(sample.decode("utf-8", "replace"), line_end)
    else:
        check_delimiter(delimiter)
    names = _header(head, encoding, delimiter, line_end)
    notices = check_headers(names)
    kept, dropped = without_pandas_index(names)
    return Layout(tuple(names), kept, delimiter, line_end, (*notices, *dropped, *_wrong_delimiter(names, delimiter)))


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[str]:
    r"""The text piece by piece; bytes that are not text in this encoding are an error with their line.

    Examples
    --------
    >>> "".join(decoded([b"caf\xc3", b"\xa9"], "utf-8")) == "caf\u00e9"
    True
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = 1
    for data, final in _with_end(pieces):
        piece: str | None = None
        try:
            piece = decoder.decode(data, final=final)
        except UnicodeDecodeError as failure:
            lines += line_ends(failure.object[: failure.start].decode(encoding, "replace"))
        except UnicodeError:
            pass  # UTF-16 without its mark: the first line is already wrong
        if piece is None:
            raise undecodable(encoding, lines)
        lines += line_ends(piece)
        yield piece


def line_ends(text: str) -> int:
    r"""Number of line ends: line feeds, or carriage returns where there are none.

    Examples
    --------
    >>> line_ends("a\r\nb\r\n"), line_ends("a\rb\rc")
    (2, 2)
    """
    return text.count("\n") or text.count("\r")


def _with_end(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True


def _header(head: bytes, encoding: str, delimiter: str, line_end: str) -> list[str]:
    """The column names, quotes undone."""
    line = head[: header_end(head, line_end)].removeprefix(codecs.BOM_UTF8).removesuffix(b"\r")
    text: str | None = None
    with suppress(UnicodeDecodeError):
        text = line.decode("utf-8")
    if text is None:
        raise undecodable(encoding, 1)
    if "\0" in text:
        raise FileFormatError("Line 1 has a NUL byte. Is this a text file, or UTF-16 without a mark?")
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [""])
    except csv.Error:
        raise FileFormatError("The header line cannot be parsed. Check its quotes.") from None


def _wrong_delimiter(names: list[str], delimiter: str) -> tuple[Notice, ...]:
    """A single column whose name holds another delimiter was probably read with the wrong one."""
    others = [other for other in DELIMITERS if other != delimiter and other in names[0]]
    if len(names) > 1 or not others:
        return ()
    message = f"The table has one column, and its name contains {others[0]!r}: is that the delimiter?"
    return (Notice("wrong-delimiter", "", message),)
