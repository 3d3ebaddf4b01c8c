"""How a table is read: what may be said of it, declared once (see :mod:`incrowd.vocabulary.option`), or is guessed.

Of a text that is its encoding, whether it has a header, and how numbers and dates are written.
"""

# Annotations of options are read when the class is made, so they are not postponed.

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

from incrowd.errors import ParameterError
from incrowd.vocabulary.option import Kind, Option

if TYPE_CHECKING:
    import polars as pl

GUESSED = "reading-guessed"
"""The code of the notice that a file was read by a guess."""
_UTF_8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_ENOUGH = 16  # bytes beyond ASCII: of fewer any encoding makes some text
_LETTERS_GUESSED_FROM = 1 << 16  # bytes of lines with letters beyond ASCII: more change no guess


class Reading(TypedDict, total=False):
    """How a file is read that does not say it all."""

    delimiter: Annotated[
        str | None, Option("The field separator, if it is not found by itself.", recipe="reading", example=";")
    ]
    encoding: Annotated[
        str | None, Option("The text encoding, if it is not UTF-8 or UTF-16.", recipe="reading", example="latin-1")
    ]
    missing: Annotated[Sequence[str] | None, Option("A text that means missing.", Kind.TEXTS, "NA", recipe="reading")]
    header: Annotated[
        bool | None,
        Option(
            "Whether the first line or row has the names of the columns; else they are c1, c2 and so on.",
            Kind.SWITCH,
            recipe="reading",
        ),
    ]
    names: Annotated[
        Iterable[str] | None,
        Option("The names of the columns of a file without a header.", Kind.NAMES, "age,sex", recipe="reading"),
    ]
    decimal: Annotated[
        str | None,
        Option(
            "Comma or point: what parts the decimals of numbers; the other parts thousands.",
            Kind.CHOICE,
            "comma|point",
            recipe="reading",
        ),
    ]
    dates: Annotated[
        str | None, Option("The order of day, month and year in dates.", Kind.CHOICE, "dmy|mdy|ymd", recipe="reading")
    ]
    sheet: Annotated[
        str | None, Option("The sheet of a workbook, if it is not the first.", recipe="reading", example="NAME")
    ]
    header_row: Annotated[
        int | None,
        Option(
            "The row of a sheet that has the names of the columns, if titles stand above it.",
            Kind.WHOLE,
            "3",
            recipe="reading",
        ),
    ]
    coarsen: Annotated[
        Mapping[str, str] | None,
        Option(
            "A column that is made coarser as it is read, and its rule: year, year-from-1936, top-90, zip3, none.",
            Kind.RENAMED,
            "age=top-90",
            more="The verification applies the rule to the input by itself; see docs/presets.md.",
            recipe="reading",
        ),
    ]


@dataclass(frozen=True)
class Dialect:
    """What is said of a text file; None where it is to be found out."""

    # the field separator, the text encoding
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None  # whether the first line has the names of the columns
    names: Iterable[str] | None = None  # their names, where it has not
    decimal: str | None = None  # ``comma`` or ``point``: what parts the decimals of numbers; the other parts thousands
    dates: str | None = None  # the order of day, month and year: ``dmy``, ``mdy`` or ``ymd``

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", (self.names,) if isinstance(self.names, str) else tuple(self.names))
        if self.decimal not in (None, *_NUMBERS):
            raise ParameterError(f"decimal is one of {', '.join(_NUMBERS)}.")
        if self.dates not in (None, *_DATES):
            raise ParameterError(f"dates is one of {', '.join(_DATES)}.")
        if self.names is not None and self.header:
            raise ParameterError("Names are given for a file without a header, and this one is said to have one.")

    @property
    def headless(self) -> bool:
        """Whether the first line is a row."""
        return self.header is False or self.names is not None


_SPACES = " \t\n\r\f\v"
_NUMBERS = {
    "comma": (r"^([+-]?(?:[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]+),[0-9]+|[+-]?[0-9]{1,3}(?:\.[0-9]{3})+)$", ".", ","),
    "point": (r"^([+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?)$", ",", "."),
}
"""Numbers with marks for thousands or a decimal comma: their shape, the mark of thousands, that of decimals."""
_DATES = {
    "dmy": (r"^(0?[1-9]|[12][0-9]|3[01])[./-](0?[1-9]|1[0-2])[./-]([0-9]{4})$", (3, 2, 1)),
    "mdy": (r"^(0?[1-9]|1[0-2])[./-](0?[1-9]|[12][0-9]|3[01])[./-]([0-9]{4})$", (3, 1, 2)),
    "ymd": (r"^([0-9]{4})[./](0?[1-9]|1[0-2])[./](0?[1-9]|[12][0-9]|3[01])$", (1, 2, 3)),
}
"""Dates: their shape, and where year, month and day are in it."""


def plain_cells(frame: "pl.DataFrame", decimal: str | None, dates: str | None) -> "pl.DataFrame":
    """Text cells with numbers and dates written plainly: 1254.62 for 1.254,62 and 2020-03-01 for 01.03.2020.

    Examples
    --------
    >>> import polars as pl
    >>> plain_cells(pl.DataFrame({"a": ["1.254,62", "1.3.2020", "x"]}), "comma", "dmy")["a"].to_list()
    ['1254.62', '2020-03-01', 'x']
    """
    import polars as pl

    if decimal is None and dates is None:
        return frame
    return frame.select(_plain_cell(pl.col(name), decimal, dates).alias(name) for name in frame.columns)


def _plain_cell(cell: "pl.Expr", decimal: str | None, dates: str | None) -> "pl.Expr":
    import polars as pl

    plain, bare = cell, cell.str.strip_chars(_SPACES)
    if dates is not None:
        shape, places = _DATES[dates]
        year, month, day = (bare.str.extract(shape, place) for place in places)
        iso = pl.concat_str(year, month.str.zfill(2), day.str.zfill(2), separator="-")
        plain = pl.when(bare.str.contains(shape)).then(iso).otherwise(plain)
    if decimal is not None:
        shape, thousands, mark = _NUMBERS[decimal]
        number = bare.str.replace_all(thousands, "", literal=True).str.replace(mark, ".", literal=True)
        plain = pl.when(bare.str.contains(shape)).then(number).otherwise(plain)
    return plain


def known_encoding(name: str) -> str:
    """The canonical name of a text encoding; anything else is an error."""
    try:
        known = codecs.lookup(name).name
        "".encode(known)
    except (LookupError, TypeError):
        raise ParameterError(
            f"Unknown encoding {name!r}. Give a name such as utf-8, latin-1, cp1252 or utf-16."
        ) from None
    return "utf-8" if known == "utf-8-sig" else known


def guess_encoding(data: bytes) -> str | None:
    """The likeliest encoding of text that is not UTF-8, or None."""
    from charset_normalizer import from_bytes

    lines = b"".join(line for line in data.splitlines(keepends=True) if not line.isascii())[:_LETTERS_GUESSED_FROM]
    beyond = sum(byte > 127 for byte in lines)
    if 2 * sum(map(len, _UTF_8.findall(lines))) > beyond:
        return None  # UTF-8 that is damaged
    latin = next((encoding for encoding in ("cp1252", "cp1250", "cp850") if _has_words(lines, encoding)), None)
    if latin is not None:
        return latin
    best = from_bytes(lines).best() if beyond >= _ENOUGH else None
    return None if best is None else known_encoding(best.encoding)


_SIGNS = (
    "\u00a7\u00b0\u20ac\u00a3\u00a9\u00ae\u2122\u00b1\u00d7\u2030\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e\u2018\u2019\u201a"
    "\u00b4\u2026\u2013\u2014\u2022\u00b7\u00a0\u00ad"
)
"""Signs that stand beside words: quotes, dashes, degrees, money."""
_BEFORE, _AFTER = f"{_SIGNS}\u00bf\u00a1", f"{_SIGNS}\u00b2\u00b3\u00b9\u00aa\u00ba\u00bc\u00bd\u00be"
"""Those and the signs that only begin a word, or end one: what stands between letters is a letter in some encoding."""


def _has_words(data: bytes, encoding: str) -> bool:
    """Whether accents are letters in an encoding, and the lesser part of the words they are in; signs stand beside."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return False
    bare = (word.lstrip(_BEFORE).rstrip(_AFTER) for word in re.split(r"[\x00-\x40\x5b-\x60\x7b-\x7f]+", text))
    words = [word for word in bare if not word.isascii()]
    letters = "".join(words)
    return letters.isalpha() and 2 * sum(not letter.isascii() for letter in letters) < len(letters)
