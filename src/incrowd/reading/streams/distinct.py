"""The distinct values of a column that comes in frames, gathered as they pass.

Each value gets a raw code when it first occurs, and keeps it; null has the raw code 0.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.reading.dictionary import as_coded, texts_of
from incrowd.reading.streams.hashing import NumberCodes, RawCodes


class Growing(Protocol):
    """A dictionary that grows."""

    @property
    def size(self) -> int:
        """Number of values so far."""
        ...

    @property
    def values(self) -> pl.Series:
        """The values, by raw code from 1 on."""
        ...

    def codes(self, series: pl.Series) -> RawCodes:
        """The raw codes of the rows of a frame, new values added."""
        ...


class Texts:
    """Texts, coded by a categorical type of polars that belongs to this column alone.

    Examples
    --------
    >>> texts = Texts()
    >>> texts.codes(pl.Series(["m", None, "f"])).tolist(), texts.codes(pl.Series(["f"])).tolist()
    ([1, 0, 2], [2])
    >>> texts.values.to_list()
    ['m', 'f']
    """

    def __init__(self) -> None:
        self._type = pl.Categorical(pl.Categories.random())
        self._in_use = pl.Series([], dtype=self._type)  # the texts live as long as a column of their type
        self.size = 0

    @property
    def values(self) -> pl.Series:
        """The texts, by raw code from 1 on."""
        return texts_of(self.size, self._type)

    def codes(self, series: pl.Series) -> RawCodes:
        """The raw codes of the rows of a frame, new texts added."""
        physical = series.cast(self._type).to_physical()
        codes: RawCodes = (physical + 1).fill_null(0).to_numpy().astype(np.uint32, copy=False)
        self.size = max(self.size, int(codes.max(initial=0)))
        return codes


class Numbers:
    """Numbers, truths, dates and times by their 64 bits; NaN is one value, and negative zero is zero.

    Examples
    --------
    >>> numbers = Numbers(pl.Float32())
    >>> numbers.codes(pl.Series([0.5, None, -0.0, 0.0], dtype=pl.Float32)).tolist()
    [1, 0, 2, 2]
    >>> numbers.values.to_list()
    [0.5, 0.0]
    """

    def __init__(self, dtype: pl.DataType) -> None:
        self._type = dtype
        self._known = NumberCodes()

    @property
    def size(self) -> int:
        """Number of values so far."""
        return len(self._known.words)

    @property
    def values(self) -> pl.Series:
        """The values, by raw code from 1 on."""
        words = self._known.words
        if self._type.is_float():
            return pl.Series(words.view(np.float64)).cast(self._type)
        physical = pl.Series([], dtype=self._type).to_physical().dtype
        return pl.Series(words.view(np.int64)).cast(physical).cast(self._type)

    def codes(self, series: pl.Series) -> RawCodes:
        """The raw codes of the rows of a frame, new values added."""
        present = series.is_not_null().to_numpy()
        return self._known.codes(_words(series), present)


def growing(dtype: pl.DataType) -> Growing:
    """An empty dictionary for a column of the given type.

    Examples
    --------
    >>> isinstance(growing(pl.UInt64()), Texts), isinstance(growing(pl.Int64()), Numbers)
    (True, True)
    """
    coded = as_coded(pl.DataFrame({"": pl.Series([], dtype=dtype)})).to_series().dtype
    return Texts() if coded == pl.String else Numbers(coded)


def _words(series: pl.Series) -> npt.NDArray[np.uint64]:
    """The values as 64 bits, equal ones as equal bits."""
    if series.dtype.is_float():
        floats = series.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
        floats[np.isnan(floats)] = np.nan
        return floats.view(np.uint64)
    whole = series.to_physical().cast(pl.Int64)
    return whole.fill_null(0).to_numpy().view(np.uint64)
