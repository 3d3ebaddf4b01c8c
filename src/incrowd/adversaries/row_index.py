"""Rows by what their cells show, sorted once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.intp]
CHUNK = 256


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
