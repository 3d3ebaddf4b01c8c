"""What a cell says, however it is written: ``007``, ``7`` and ``7.0`` are one number, ``Ä`` and ``ä `` one text."""

from __future__ import annotations

import datetime
import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.reading.dates import parse_dates
from incrowd.reading.dictionary import Distinct

MISSING = b"m"
_LOOK = 50
_DECIMAL = re.compile(r"([+-]?)0*(\d*)(?:\.(\d*?)0*)?", re.ASCII)
_WHOLE = re.compile(rb"n(-?\d+)")


@dataclass(frozen=True, eq=False)
class Cells:
    """A column as codes into what its cells say; the last of ``contents`` is missing.

    Examples
    --------
    >>> column = cells_of(Distinct(np.array([0, 1, 2]), pl.Series(["007", "7.0"])))
    >>> [column.contents[code] for code in column.codes]
    [b'n7', b'n7', b'm']
    """

    codes: npt.NDArray[Any]
    contents: tuple[bytes, ...]

    def is_whole(self) -> bool:
        """Whether it holds whole numbers and nothing else, some of them."""
        known = self.contents[:-1]
        return bool(known) and all(_WHOLE.fullmatch(one) for one in known)

    def shifted(self, by: int) -> Cells:
        """The same column of whole numbers, each larger by so much."""
        return Cells(self.codes, (*(b"n%d" % (int(one[1:]) + by) for one in self.contents[:-1]), MISSING))

    def take(self, rows: npt.NDArray[np.intp]) -> Cells:
        """The same column for these rows; of few rows only what they say."""
        codes = self.codes[rows]
        if len(codes) >= len(self.contents):
            return Cells(codes, self.contents)
        used, places = np.unique(codes, return_inverse=True)
        known = [self.contents[code] for code in used]
        return Cells(places, tuple(known) if known[-1:] == [MISSING] else (*known, MISSING))

    def ranks(self) -> npt.NDArray[np.int64]:
        """For each row a number; equal numbers say the same, and the order is that of what is said."""
        places = {one: place for place, one in enumerate(sorted(set(self.contents)))}
        numbers: npt.NDArray[np.int64] = np.array([places[one] for one in self.contents], np.int64)[self.codes]
        return numbers


def cells_of(column: Distinct) -> Cells:
    """What the cells of a column say; texts that are all dates in one style say the dates."""
    values = column.values
    if values.dtype == pl.String and _are_dates(values.head(_LOOK)) and _are_dates(values):
        values = parse_dates(values).values
    return Cells(column.codes, (*_contents(values), MISSING))


def _are_dates(texts: pl.Series) -> bool:
    dates = parse_dates(texts)
    return not texts.is_empty() and not dates.ambiguous and not dates.has_times and dates.values.null_count() == 0


def _contents(values: pl.Series) -> list[bytes]:
    if values.dtype.is_integer():
        return [b"n%d" % value for value in values.to_list()]
    if values.dtype.is_float():
        return [_real(text) for text in values.cast(pl.String).to_list()]
    if isinstance(values.dtype, pl.Datetime):
        return [_moment(value) for value in values.to_list()]
    return [canonical(text) for text in values.cast(pl.String).to_list()]


def canonical(text: str) -> bytes:
    """What a text says: a plain decimal in its shortest form, else the text whatever its form, spaces and case.

    Examples
    --------
    >>> canonical("-07.50"), canonical(" State-gov "), canonical("31."), canonical("1e5")
    (b'n-7.5', b'tstate-gov', b'n31', b't1e5')
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    plain = " ".join(plain.split()).casefold()
    number = _DECIMAL.fullmatch(plain)
    if number is None or plain.strip("+-.") == "":
        return b"t" + plain.encode(errors="surrogatepass")
    sign, whole, part = number[1], number[2] or "0", number[3]
    shortest = f"{whole}.{part}" if part else whole
    return f"n{'-' if sign == '-' and shortest != '0' else ''}{shortest}".encode()


def _real(text: str) -> bytes:
    """A float, which may be written with an exponent; not a number is missing."""
    number = Decimal(text)
    if number.is_nan():
        return MISSING
    return canonical(format(number, "f")) if number.is_finite() else canonical(text)


def _moment(value: datetime.datetime) -> bytes:
    """A moment; at midnight it is a date."""
    midnight = value.time() == datetime.time(0)
    return canonical(value.date().isoformat() if midnight else value.isoformat())
