"""Rows by what their cells show, sorted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
Keys = npt.NDArray[np.int64]
CHUNK = 256
_FIRST, _LARGEST = 1 << 14, 1 << 22


class RowIndex:
    """The rows of each key, ascending; keys are whole numbers below ``size``.

    Examples
    --------
    >>> index = RowIndex(np.array([1, 0, 1]), 2)
    >>> index.rows(1).tolist(), [chunk.tolist() for chunk in index.chunks(0)]
    ([0, 2], [[1]])
    """

    def __init__(self, keys: npt.NDArray[np.int64], size: int) -> None:
        self._order = np.argsort(keys, kind="stable").astype(np.uint32)
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(keys, minlength=size))])

    def rows(self, key: int) -> Rows:
        """All rows of a key."""
        return self._order[self._starts[key] : self._starts[key + 1]].astype(np.intp)

    def chunks(self, key: int) -> Iterator[Rows]:
        """The rows of a key, a few at a time, twice as many each time."""
        first, last, size = int(self._starts[key]), int(self._starts[key + 1]), CHUNK
        while first < last:
            yield self._order[first : min(first + size, last)].astype(np.intp)
            first, size = first + size, 2 * size


class ScannedRows:
    """The same for tables on disk: nothing is sorted, rows are looked for when they are asked for.

    Parameters
    ----------
    keys
        The keys of the rows from one row up to another.
    height
        Number of rows.

    Examples
    --------
    >>> keys = np.array([1, 0, 1])
    >>> scanned = ScannedRows(lambda start, stop: keys[start:stop], 3)
    >>> scanned.rows(1).tolist(), [chunk.tolist() for chunk in scanned.chunks(0)]
    ([0, 2], [[1]])
    """

    def __init__(self, keys: Callable[[int, int], Keys], height: int) -> None:
        self._keys, self._height = keys, height

    def rows(self, key: int) -> Rows:
        """All rows of a key."""
        return np.concatenate([np.empty(0, np.intp), *self.chunks(key)])

    def chunks(self, key: int) -> Iterator[Rows]:
        """The rows of a key, a few at a time."""
        start, size = 0, _FIRST
        while start < self._height:
            stop = min(start + size, self._height)
            found = np.flatnonzero(self._keys(start, stop) == key)
            if len(found):
                yield found + start
            start, size = stop, min(2 * size, _LARGEST)
