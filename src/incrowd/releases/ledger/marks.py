"""Keyed marks: by them the book knows a person again, and nobody does who has no key.

A mark is the beginning of an HMAC-SHA-256 over what cells say, each with its length before it.
"""

from __future__ import annotations

import datetime
import hmac
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.tables.reading.convert import parse_dates
from incrowd.tables.reading.source import Distinct

# What a cell says, however it is written: ``007``, ``7`` and ``7.0`` are one number, ``Ä`` and ``ä `` one text.
MISSING = b"m"
_LOOK = 50  # values that are tried as dates before all are
_DECIMAL = re.compile(r"([+-]?)0*(\d*)(?:\.(\d*?)0*)?", re.ASCII)
_WHOLE = re.compile(rb"n(-?\d+)")


@dataclass(frozen=True, eq=False)
class CellContents:
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

    def shifted(self, by: int) -> CellContents:
        """The same column of whole numbers, each larger by so much."""
        return CellContents(self.codes, (*(b"n%d" % (int(one[1:]) + by) for one in self.contents[:-1]), MISSING))

    def take(self, rows: npt.NDArray[np.intp]) -> CellContents:
        """The same column for these rows; of few rows only what they say."""
        codes = self.codes[rows]
        if len(codes) >= len(self.contents):
            return CellContents(codes, self.contents)
        used, places = np.unique(codes, return_inverse=True)
        known = [self.contents[code] for code in used]
        return CellContents(places, tuple(known) if known[-1:] == [MISSING] else (*known, MISSING))

    def ranks(self) -> npt.NDArray[np.int64]:
        """For each row a number; equal numbers say the same, and the order is that of what is said."""
        places = {one: place for place, one in enumerate(sorted(set(self.contents)))}
        numbers: npt.NDArray[np.int64] = np.array([places[one] for one in self.contents], np.int64)[self.codes]
        return numbers


def cells_of(column: Distinct) -> CellContents:
    """What the cells of a column say; texts that are all dates in one style say the dates."""
    values = column.values
    if values.dtype == pl.String and _are_dates(values.head(_LOOK)) and _are_dates(values):
        values = parse_dates(values).values
    return CellContents(column.codes, (*_contents(values), MISSING))


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


Marks: TypeAlias = npt.NDArray[np.uint64]
"""A mark in every row: 16 bytes as two numbers, the high one first."""

MARK_BYTES = 16
PERSON, ROW = "person", "row"
_BLOCK, _INNER, _OUTER = 64, 0x36, 0x5C  # HMAC's block of SHA-256, and its pads (RFC 2104)
_LARGEST = 2**62  # keys beyond do not fit in 64 bits with a sign


def subkey(key: bytes, purpose: str) -> bytes:
    """The key for one purpose."""
    return hmac.digest(key, f"incrowd ledger 2 {purpose}".encode(), "sha256")


def key_name(key: bytes) -> str:
    """What entries call the key they were made with.

    Examples
    --------
    >>> key_name(bytes(range(32)))
    '6cec8e9aa277f4d4'
    """
    return subkey(key, "name").hex()[:MARK_BYTES]


@dataclass(frozen=True)
class Marker:
    """Makes marks with the key of a book.

    Examples
    --------
    >>> column = CellContents(np.array([0, 1, 0]), (b"n7", b"m"))
    >>> made = Marker(bytes(range(32))).marks([column], PERSON)
    >>> made[0].astype(">u8").tobytes().hex(), bool((made[0] == made[2]).all())
    ('e2af5b64c3116f6f1ab0b34b7b551518', True)
    """

    key: bytes

    def marks(self, columns: Sequence[CellContents], purpose: str) -> Marks:
        """The marks of rows with these cells; equal rows are marked once."""
        first, same = distinct_rows([column.codes for column in columns], [len(column.contents) for column in columns])
        digests = self._made([column.take(first) for column in columns], purpose)
        return digests[same]

    def _made(self, columns: Sequence[CellContents], purpose: str) -> Marks:
        sign = _signing(self._persons if purpose == PERSON else self._rows)
        digests = b"".join(map(sign, _messages(columns)))
        return np.frombuffer(digests, ">u8").astype(np.uint64).reshape(-1, 2)

    @cached_property
    def _persons(self) -> bytes:
        return subkey(self.key, PERSON)

    @cached_property
    def _rows(self) -> bytes:
        return subkey(self.key, ROW)


def distinct_rows(
    codes: Sequence[npt.NDArray[Any]], widths: Sequence[int]
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """A row for every combination of codes that occurs, and for every row the place of its combination.

    Examples
    --------
    >>> first, same = distinct_rows([np.array([1, 0, 1]), np.array([2, 2, 2])], [2, 3])
    >>> first.tolist(), same.tolist()
    ([1, 0], [1, 0, 1])
    """
    keys, total = np.zeros(len(codes[0]), np.int64), 1
    for column, width in zip(codes, widths, strict=True):
        if total * width >= _LARGEST:
            distinct, keys = np.unique(keys, return_inverse=True)
            total = len(distinct)
        keys, total = keys * width + column, total * width
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    return first, same


def _messages(columns: Sequence[CellContents]) -> list[bytes]:
    """For every row its cells, each with its length in four bytes before it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [
        pa.array([len(one).to_bytes(4, "big") + one for one in column.contents], pa.binary()).take(
            pa.array(column.codes)
        )
        for column in columns
    ]
    joined = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, b"")
    listed: list[bytes] = joined.to_pylist()
    return listed


def _signing(key: bytes) -> Callable[[bytes], bytes]:
    """HMAC-SHA-256 with one key, cut to the length of a mark: its two beginnings are hashed once, not for each mark."""
    from hashlib import sha256

    padded = key.ljust(_BLOCK, b"\0")
    inner, outer = (sha256(bytes(byte ^ pad for byte in padded)) for pad in (_INNER, _OUTER))

    def sign(message: bytes) -> bytes:
        inside, outside = inner.copy(), outer.copy()
        inside.update(message)
        outside.update(inside.digest())
        return outside.digest()[:MARK_BYTES]

    return sign


def as_frame(marks: Marks) -> pl.DataFrame:
    """Marks as a frame of two columns, ``high`` and ``low``."""
    return pl.DataFrame({"high": marks[:, 0], "low": marks[:, 1]})


def shared(one: Marks, other: Marks) -> int:
    """How many marks both have, as multisets."""
    sizes = [as_frame(marks).group_by("high", "low").len() for marks in (one, other)]
    both = sizes[0].join(sizes[1], on=["high", "low"])
    return int(both.select(pl.min_horizontal("len", "len_right").sum()).item() or 0)


def are_unique(marks: Marks) -> bool:
    """Whether no mark is there twice."""
    return as_frame(marks).n_unique() == len(marks)


def to_binary(marks: Marks) -> Any:
    """Marks as a PyArrow array of 16 bytes each."""
    import pyarrow as pa

    data = np.ascontiguousarray(marks).astype(">u8").tobytes()
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(MARK_BYTES), len(marks), [None, pa.py_buffer(data)])


def from_bytes(data: bytes) -> Marks:
    """Marks from their bytes, one after the other."""
    return np.frombuffer(data, ">u8").astype(np.uint64).reshape(-1, 2)


def to_bytes(marks: Marks) -> bytes:
    """The bytes of marks, one after the other."""
    return np.ascontiguousarray(marks).astype(">u8").tobytes()
