"""Codes for 64-bit numbers in the order in which they first occur."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

Words = npt.NDArray[np.uint64]
RawCodes = npt.NDArray[np.uint32]

_FIRST_BITS = 10


class NumberCodes:
    """A growing dictionary of 64-bit words: the first has code 1, the next 2, and so on.

    Examples
    --------
    >>> known = NumberCodes()
    >>> known.codes(np.array([7, 9, 7], np.uint64), np.array([True, True, True])).tolist()
    [1, 2, 1]
    >>> known.codes(np.array([3, 9], np.uint64), np.array([True, False])).tolist()
    [3, 0]
    >>> known.words.tolist()
    [7, 9, 3]
    """

    def __init__(self) -> None:
        self._bits = _FIRST_BITS
        self._slots = np.zeros(1 << self._bits, np.uint32)
        self._words = np.zeros(1 << (self._bits - 1), np.uint64)
        self._size = 0

    @property
    def words(self) -> Words:
        """The words that occurred, by code."""
        return self._words[: self._size]

    def codes(self, words: Words, present: npt.NDArray[np.bool_]) -> RawCodes:
        """The code of each word, new words added; 0 where it is not present."""
        codes = np.zeros(len(words), np.uint32)
        done, self._size = _code(words, present, 0, codes, self._slots, self._words, self._size, self._bits)
        while done < len(words):
            self._grow()
            done, self._size = _code(words, present, done, codes, self._slots, self._words, self._size, self._bits)
        return codes

    def _grow(self) -> None:
        """Four times the room: at most half of the slots are ever taken."""
        known = self.words
        self._bits += 2
        self._slots = np.zeros(1 << self._bits, np.uint32)
        self._words = np.zeros(1 << (self._bits - 1), np.uint64)
        everything = np.ones(len(known), np.bool_)
        unused = np.zeros(len(known), np.uint32)
        _code(known, everything, 0, unused, self._slots, self._words, 0, self._bits)


@njit(cache=True, nogil=True)
def _code(
    words: Words,
    present: npt.NDArray[np.bool_],
    start: int,
    codes: RawCodes,
    slots: RawCodes,
    known: Words,
    size: int,
    bits: int,
) -> tuple[int, int]:
    """Fill in codes from ``start`` on; stops where there is no room for a new word: (position, size)."""
    mask = np.uint64(len(slots) - 1)
    shift = np.uint64(64 - bits)
    for i in range(start, len(words)):
        if not present[i]:
            continue
        word = words[i]
        place = (word * np.uint64(0x9E3779B97F4A7C15)) >> shift
        code = slots[place]
        while code != 0 and known[code - 1] != word:
            place = (place + np.uint64(1)) & mask
            code = slots[place]
        if code == 0:
            if size == len(known):
                return i, size
            known[size] = word
            size += 1
            code = np.uint32(size)
            slots[place] = code
        codes[i] = code
    return len(words), size
