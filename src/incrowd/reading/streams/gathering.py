"""What one pass over a stream gathers of a column, and what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import ValuesError
from incrowd.reading.dictionary import Tally, as_coded
from incrowd.reading.encode import Settled
from incrowd.reading.missing import marker_spellings, spellings
from incrowd.reading.streams.distinct import growing
from incrowd.reading.streams.hashing import RawCodes
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.schema import Column, ColumnType

_ADVICE = {
    ColumnType.INTEGER: "Round it, or put its values into bins",
    ColumnType.REAL: "Round it, or put its values into bins",
    ColumnType.DATE: "Shorten it to months or years",
}


_OF_A_TEXT, _OF_A_NUMBER = 300, 64  # bytes; measured with a million distinct texts, and with as many numbers


@dataclass(frozen=True, eq=False)
class Found:
    """The distinct values of a column over all rows.

    Parameters
    ----------
    tally
        Values and rows, markers of missing values counted as null.
    kept
        Which of the gathered values, by raw code from 1 on, are in the tally; the others are markers.
    marked
        Cells per marker; empty for a column that is not text.
    """

    tally: Tally
    kept: npt.NDArray[np.bool_]
    marked: tuple[int, ...]

    def places(self, settled: Settled) -> Codes:
        """For each raw code the code of what it became."""
        places = np.full(len(self.kept) + 1, settled.places[-1], np.int32)
        places[1:][self.kept] = settled.places[:-1]
        return places


class Gathering:
    """A column whose values are gathered frame by frame.

    Parameters
    ----------
    column
        As the schema says.
    dtype
        The polars type of its frames.
    limit
        Most distinct values.

    Examples
    --------
    >>> column = Gathering(Column("job"), pl.String(), 10)
    >>> column.add(pl.Series(["nurse", "?", None])).tolist()
    [1, 2, 0]
    >>> found = column.found(["?"])
    >>> found.tally.values.to_list(), found.tally.counts.tolist(), found.marked
    (['nurse'], [1, 2], (1,))
    """

    def __init__(self, column: Column, dtype: pl.DataType, limit: int) -> None:
        self._column = column
        self._is_text = dtype == pl.String
        self._limit = limit
        self._known = growing(dtype)
        self._counts = np.zeros(1, np.int64)
        self._letters = 0.0

    @property
    def name(self) -> str:
        """The column."""
        return self._column.name

    @property
    def bytes(self) -> int:
        """What the values take, here and wherever they are held until the release is written, about."""
        return int(self._known.size * (_OF_A_TEXT + 2 * self._letters if self._is_text else _OF_A_NUMBER))

    def add(self, series: pl.Series) -> RawCodes:
        """Take in the rows of a frame; their raw codes. Too many distinct values are an error."""
        codes = self._known.codes(as_coded(series.to_frame()).to_series())
        if self._known.size > self._limit:
            raise self._too_many()
        if self._is_text:
            self._letters = max(self._letters, float(str(series.str.len_bytes().mean() or 0)))
        counts = np.bincount(codes, minlength=self._known.size + 1)
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        return codes

    def found(self, markers: Sequence[str]) -> Found:
        """The values of all rows, once they have passed."""
        whole = Tally(self._known.values, np.append(self._counts[1:], self._counts[:1]))
        if not self._is_text:
            return Found(whole, np.ones(len(whole.values), np.bool_), ())
        gone = whole.values.is_in(spellings(markers))
        marked = tuple(whole.rows(whole.values.is_in(marker_spellings(marker))) for marker in markers)
        kept = ~gone.to_numpy()
        counts = np.append(whole.counts[:-1][kept], whole.counts[-1] + whole.rows(gone))
        return Found(Tally(whole.values.filter(~gone), counts), kept, marked)

    def _too_many(self) -> ValuesError:
        advice = _ADVICE.get(self._column.type, "Shorten its values to fewer, or give it another role")
        return ValuesError(
            f"Column {self._column.name!r} has more than {self._limit:,} distinct values, too many to count with. "
            f"{advice}, or, if it numbers persons, call it an identifier."
        )
