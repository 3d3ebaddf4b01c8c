"""Keyed marks: by them the book knows a person again, and nobody does who has no key.

A mark is the beginning of an HMAC-SHA-256 over what cells say, each with its length before it.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.ledger.cells import Cells

Marks: TypeAlias = npt.NDArray[np.uint64]
"""A mark in every row: 16 bytes as two numbers, the high one first."""

MARK_BYTES = 16
PERSON, ROW = "person", "row"
_BLOCK, _INNER, _OUTER = 64, 0x36, 0x5C
_LARGEST = 2**62


def subkey(key: bytes, purpose: str) -> bytes:
    """The key for one purpose.

    Examples
    --------
    >>> subkey(bytes(32), "person") == subkey(bytes(32), "row")
    False
    """
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
    >>> column = Cells(np.array([0, 1, 0]), (b"n7", b"m"))
    >>> made = Marker(bytes(range(32))).marks([column], PERSON)
    >>> made[0].astype(">u8").tobytes().hex(), bool((made[0] == made[2]).all())
    ('e2af5b64c3116f6f1ab0b34b7b551518', True)
    """

    key: bytes

    def marks(self, columns: Sequence[Cells], purpose: str) -> Marks:
        """The marks of rows with these cells; equal rows are marked once."""
        first, same = distinct_rows([column.codes for column in columns], [len(column.contents) for column in columns])
        made = self._made([column.take(first) for column in columns], purpose)
        return made[same]

    def _made(self, columns: Sequence[Cells], purpose: str) -> Marks:
        sign = _signing(self._persons if purpose == PERSON else self._rows)
        made = b"".join(map(sign, _messages(columns)))
        return np.frombuffer(made, ">u8").astype(np.uint64).reshape(-1, 2)

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
            found, keys = np.unique(keys, return_inverse=True)
            total = len(found)
        keys, total = keys * width + column, total * width
    _, first, same = np.unique(keys, return_index=True, return_inverse=True)
    return first, same


def _messages(columns: Sequence[Cells]) -> list[bytes]:
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
    """How many marks both have, as multisets.

    Examples
    --------
    >>> shared(np.array([[1, 1], [1, 1], [2, 2]], np.uint64), np.array([[1, 1], [3, 3]], np.uint64))
    1
    """
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
