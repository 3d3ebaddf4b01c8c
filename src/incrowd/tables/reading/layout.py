"""How a delimited text is laid out: delimiter, line ends and column names, found from its beginning.

Column names: refuse those that cannot be told apart, warn of those that are hard to.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from incrowd.errors import EncodingError, FileFormatError, HeaderError, Notice, ParameterError, reading_option
from incrowd.tables.reading.dialect import GUESSED, Dialect, known_encoding

PANDAS_INDEX = "__index_level_"
_SHOWN = 10  # positions in a message; it stays readable where thousands of columns have no name
# Cyrillic and Greek letters that look like a Latin one.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁԛԝһΑΒΕΖΗΙΚΜΝΟΡΤΥΧονικαρυχ",
    "ABESIJKMHOPCTYXaesijopcyxdqwhABEZHIKMNOPTYXovikapyx",
)


def check_headers(names: Sequence[str]) -> tuple[Notice, ...]:
    """Refuse empty, duplicate and indistinguishable names; warn of look-alike letters.

    Examples
    --------
    >>> check_headers(["age", "zip code", "height (cm)"])
    ()
    >>> check_headers(["age", "age"])
    Traceback (most recent call last):
    ...
    incrowd.errors.HeaderError: Columns 1 and 2 ('age' and 'age') have the same name. Rename one.
    """
    _refuse_empty(names)
    _refuse_nul(names)
    _refuse_twins(names, lambda name: name, "have the same name")
    _refuse_twins(names, _compact, "have names that differ only by spaces")
    _refuse_twins(names, _canonical, "have names that look the same but are spelled with different code points")
    return tuple(_look_alikes(names))


def without_pandas_index(names: Iterable[str]) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """The names that are not a stored pandas index, and a notice for each that is."""
    listed = tuple(names)
    kept = tuple(name for name in listed if not name.startswith(PANDAS_INDEX))
    dropped = tuple(name for name in listed if name.startswith(PANDAS_INDEX))
    message = "is the row index of another program, which links rows to their source; it was dropped."
    return kept, tuple(Notice("index-dropped", name, message) for name in dropped)


def _refuse_empty(names: Sequence[str]) -> None:
    empty = [position for position, name in enumerate(names, 1) if not _canonical(name)]
    if not empty:
        return
    trailing = " The header ends with a delimiter." if empty == [len(names)] and len(names) > 1 else ""
    raise HeaderError(f"{_columns(empty)} no name.{trailing} Give every column a name.")


def _refuse_nul(names: Sequence[str]) -> None:
    """A NUL ends a name for some programs and not for others."""
    places = [position for position, name in enumerate(names, 1) if "\0" in name]
    if places:
        raise HeaderError(f"{_columns(places)} a NUL character in the name. Rename it.")


def _columns(positions: Sequence[int]) -> str:
    if len(positions) == 1:
        return f"Column {positions[0]} has"
    more = f" and {len(positions) - _SHOWN} more" if len(positions) > _SHOWN else ""
    return f"Columns {', '.join(map(str, positions[:_SHOWN]))}{more} have"


def _refuse_twins(names: Sequence[str], key: Callable[[str], str], trouble: str) -> None:
    first: dict[str, int] = {}
    for position, name in enumerate(names, 1):
        earlier = first.setdefault(key(name), position)
        if earlier != position:
            both = f"{names[earlier - 1]!r} and {name!r}"
            raise HeaderError(f"Columns {earlier} and {position} ({both}) {trouble}. Rename one.")


def _compact(name: str) -> str:
    return "".join(name.split())


def _canonical(name: str) -> str:
    """Composed, without spaces and invisible characters."""
    composed = unicodedata.normalize("NFC", name)
    return "".join(c for c in composed if not c.isspace() and unicodedata.category(c) not in ("Cf", "Cc"))


def _look_alikes(names: Sequence[str]) -> Iterable[Notice]:
    """Names that mix alphabets into a Latin-looking word, or that equal another name to the eye."""
    seen: dict[str, str] = {}
    for name in names:
        shape = _canonical(name).translate(_LOOK_ALIKES)
        twin = seen.setdefault(shape, name)
        if twin != name:
            yield Notice("confusable-header", name, f"looks like the column {twin!r}; the letters differ.")
        elif shape != _canonical(name) and any("a" <= c.lower() <= "z" for c in _canonical(name)):
            yield Notice("confusable-header", name, "mixes letters of two alphabets that look alike.")


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
    """The declared encoding, else the one a byte order mark tells, else UTF-8."""
    if declared is not None:
        return known_encoding(declared)
    return next((name for mark, name in _MARKS if head.startswith(mark)), "utf-8")


def sniff_line_end(head: bytes) -> str:
    """Carriage return where no line feed occurs, else line feed (which covers both together)."""
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
    """The delimiter, if it can be one: a single ASCII character that is not a quote, letter or digit."""
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
    return EncodingError(
        f"Line {line} is not valid {encoding}. If the file was written in another encoding, name it, for instance "
        f"{reading_option(encoding='latin-1')}."
    )


@dataclass(frozen=True)
class Layout:
    """Where the fields of a delimited text are, and what they are called."""

    names: tuple[str, ...]  # all columns of the file
    kept: tuple[str, ...]  # those that are data: all but a stored pandas index
    # one character each
    delimiter: str
    line_end: str
    notices: tuple[Notice, ...] = ()  # what is odd about the header
    # how numbers and dates are written, as in :class:`Dialect`; None if plainly
    decimal: str | None = None
    dates: str | None = None
    headless: bool = False  # whether the names were put before the text, which has none


def find_layout(head: bytes, encoding: str, dialect: Dialect | None = None) -> Layout:
    """The layout of a text by its first bytes, which hold the whole header."""
    dialect = dialect or Dialect()
    sample = head[:SAMPLE_BYTES]
    line_end, delimiter = _marks(sample, dialect)
    names = _fields(head[: header_end(head, line_end)], encoding, delimiter)
    rows = _sampled(sample, delimiter, line_end)
    if dialect.header is None and not dialect.headless and is_a_row(names, rows):
        raise HeaderError(looks_like_a_row("line", "file"))
    notices = _sound(names, sample, delimiter)
    kept, dropped = without_pandas_index(names)
    decimal = dialect.decimal or _decimal_comma(rows, delimiter)
    return Layout(
        names=tuple(names),
        kept=kept,
        delimiter=delimiter,
        line_end=line_end,
        notices=(*notices, *dropped, *_wrong_delimiter(names, delimiter)),
        decimal=decimal,
        dates=dialect.dates,
        headless=dialect.headless,
    )


def _sound(names: list[str], sample: bytes, delimiter: str) -> tuple[Notice, ...]:
    """What is odd about the names; if some are lacking, say which line may have them: titles may stand above it."""
    try:
        return check_headers(names)
    except HeaderError as error:
        reader = csv.reader(io.StringIO(sample.decode("utf-8", "replace"), newline=""), delimiter=delimiter)
        with suppress(csv.Error):
            row = next((row for row in reader if len(row) == len(names) > 1 and all(row)), [])
            if not all(names) and row and not any(map(_is_number, row)):
                later = f"If line {reader.line_num} has the names of the columns, take out the lines above it."
                raise HeaderError(f"Line 1 does not name all columns. {later}") from error
        raise


def names_line(head: bytes, encoding: str, dialect: Dialect) -> bytes:
    r"""A first line with names for a text that has none.

    Examples
    --------
    >>> names_line(b"39;cook\n", "utf-8", Dialect(header=False))
    b'c1;c2\n'
    """
    line_end, delimiter = _marks(head[:SAMPLE_BYTES], dialect)
    fields = len(_fields(head[: header_end(head, line_end)], encoding, delimiter))
    names = [f"c{place}" for place in range(1, fields + 1)] if dialect.names is None else list(dialect.names)
    if len(names) != fields:
        raise HeaderError(f"The first row has {fields} fields, and {len(names)} names are given. Give one for each.")
    line = io.StringIO(newline="")
    csv.writer(line, delimiter=delimiter, lineterminator=line_end).writerow(names)
    return line.getvalue().encode()


def _marks(sample: bytes, dialect: Dialect) -> tuple[str, str]:
    """Line end and delimiter."""
    line_end = sniff_line_end(sample)
    if dialect.delimiter is None:
        return line_end, sniff_delimiter(sample.decode("utf-8", "replace"), line_end)
    return line_end, check_delimiter(dialect.delimiter)


def _sampled(sample: bytes, delimiter: str, line_end: str) -> list[list[str]]:
    """The first rows below the first line, as far as they can be told; those of its length."""
    text = sample.decode("utf-8", "replace").removeprefix("\ufeff")
    if line_end == "\r":
        text = text.replace("\r", "\n")
    rows: list[list[str]] = []
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            rows.append(row)
            if len(rows) > _SAMPLE_RECORDS:
                break
    return [row for row in rows[1:] if len(row) == len(rows[0])]


def looks_like_a_row(first: str, where: str) -> str:
    """The sentence for a first line that may be a person, with both ways out."""
    return (
        f"The first {first} looks like a row, not like names of columns: it has numbers where the rows have them, or "
        f"values that occur again. If the {where} has no header, say {reading_option(header=False)}, or give names: "
        f"{reading_option(names=['a', 'b', 'c'])}. If it has one, say {reading_option(header=True)}."
    )


def is_a_row(names: list[str], rows: list[list[str]]) -> bool:
    """Whether what should be names is like the rows below it.

    Where columns of numbers have numbers for names throughout, or half of the columns, and two at least, have a name
    that occurs among their own values, the first line is a row. A number above text is no sign: people name columns by
    years.
    """
    if len(rows) < 2:
        return False
    columns = [[row[place].strip() for row in rows if row[place].strip()] for place in range(len(names))]
    named = [(name.strip(), cells) for name, cells in zip(names, columns, strict=True) if cells]
    numeric = [name for name, cells in named if all(map(_is_number, cells))]
    if numeric and all(_is_number(name) or not name for name in numeric) and any(numeric):
        return True
    repeated = [name in cells for name, cells in named if name and not all(map(_is_number, cells))]
    return not numeric and 2 * sum(repeated) >= len(repeated) and sum(repeated) > 1


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None


def _decimal_comma(rows: list[list[str]], delimiter: str) -> str | None:
    """``comma`` if a number has points for thousands and a decimal comma; nothing else can be meant."""
    grouped = any(_GROUPED.match(cell.strip()) for row in rows for cell in row)
    return "comma" if grouped and delimiter != "," else None


_NUMBER = re.compile(
    r"^[+-]?(?:[0-9]+(?:[.,][0-9]+)*|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?$|^[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]{1,4}$"
)
_GROUPED = re.compile(r"^[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+$")


def guess_notice(layout: Layout, encoding: str, dialect: Dialect) -> Iterator[Notice]:
    """One sentence on what was guessed of a file, and how to settle it.

    A delimiter is no guess: under it all rows have as many fields as the header, else the file is refused.
    """
    guesses = {"encoding": encoding} if dialect.encoding is None and encoding not in _TOLD_BY_MARK else {}
    guesses |= {"decimal": layout.decimal} if dialect.decimal is None and layout.decimal else {}
    if guesses:
        words = ", ".join(f"{name} {value!r}" for name, value in guesses.items())
        settled = reading_option(**guesses)
        yield Notice(GUESSED, "", f"The file was read with {words}: guesses. To settle them: {settled}")


_TOLD_BY_MARK = ("utf-8", *(name for _, name in _MARKS))


def decoded(pieces: Iterable[bytes], encoding: str, first: int = 1) -> Iterator[str]:
    """The text piece by piece; bytes that are not text in this encoding are an error with their line."""
    decoder = codecs.getincrementaldecoder(encoding)()
    lines = first
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
    """Number of line ends: line feeds, or carriage returns where there are none."""
    return text.count("\n") or text.count("\r")


def _with_end(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True


def _fields(line: bytes, encoding: str, delimiter: str) -> list[str]:
    """The fields of the first line, quotes undone."""
    line = line.removeprefix(codecs.BOM_UTF8).removesuffix(b"\r")
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
