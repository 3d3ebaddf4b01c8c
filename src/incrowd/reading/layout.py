"""How a delimited text is laid out: delimiter, line ends and column names, found from its beginning."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from incrowd.errors import FileFormatError, Notice
from incrowd.reading.headers import check_headers, without_pandas_index
from incrowd.reading.sniff import (
    DELIMITERS,
    SAMPLE_BYTES,
    check_delimiter,
    header_end,
    sniff_delimiter,
    sniff_line_end,
    undecodable,
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
