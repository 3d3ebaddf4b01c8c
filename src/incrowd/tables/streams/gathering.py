"""What one pass over a stream gathers of a column, and what becomes of it.

Each value gets a raw code when it first occurs, and keeps it; null has the raw code 0.

Whose row each row is, told frame by frame: persons as numbers over a whole stream, in bounded memory.

A person is known by 64 bits of its spelling, made with a secret that is new each time. Two persons with the same bits
would count as one, so nobody is counted twice: that is safe, and happens with a chance of one in 10^5 for ten million
persons. The verification tells persons apart by themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice, ValuesError
from incrowd.tables.reading.convert import as_text
from incrowd.tables.reading.encode import Settled
from incrowd.tables.reading.persons import heavy_person, nobodys_rows, normalised, refuse_alike
from incrowd.tables.reading.source import Tally, as_coded, marker_spellings, spellings, texts_of
from incrowd.trees.compiled import compiled
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.randomness import SystemRandomness
from incrowd.vocabulary.schema import Column, ColumnType

# Codes for 64-bit numbers in the order in which they first occur.
Words = npt.NDArray[np.uint64]
RawCodes = npt.NDArray[np.uint32]

_TABLE = 1 << 20  # whole numbers this far apart are looked up, not hashed
_FIRST_BITS = 10  # 1,024 slots to begin with; they grow as they fill


class NumberCodes:
    """A growing dictionary of 64-bit words: the first has code 1, the next 2, and so on."""

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


@compiled
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


class Texts:
    """Texts, coded by a categorical type of polars that belongs to this column alone."""

    def __init__(self) -> None:
        self._type = pl.Categorical(pl.Categories.random())
        self._in_use = pl.Series([], dtype=self._type)  # the texts live as long as a column of their type
        self.size = 0

    @property
    def values(self) -> pl.Series:
        """The texts, by raw code from 1 on."""
        return texts_of(self.size, self._type)

    def codes(self, series: pl.Series) -> RawCodes:
        """The raw codes of the rows of a frame, new texts added; of categories only those that occur are looked at."""
        if isinstance(series.dtype, pl.Categorical):
            kind, places = series.dtype, series.to_physical()
            return _by_table(places, lambda some: self.codes(some.cast(pl.UInt32).cat.to(kind).cast(pl.String)))
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
        if not series.dtype.is_float():
            whole = series.to_physical().cast(pl.Int64)
            low, high = whole.min(), whole.max()
            if isinstance(low, int) and isinstance(high, int) and high - low < _TABLE:
                return _by_table(whole - low, lambda some: self._coded(some.cast(pl.Int64) + low))
        return self._coded(series)

    def _coded(self, series: pl.Series) -> RawCodes:
        return self._known.codes(_words(series), series.is_not_null().to_numpy())


def _by_table(places: pl.Series, code: Callable[[pl.Series], RawCodes]) -> RawCodes:
    """The codes of rows that are known by small numbers: those that occur are coded once; null has the code 0."""
    highest = places.max()
    nothing = 0 if highest is None else int(str(highest)) + 1
    rows = places.fill_null(nothing).to_numpy()
    occurs = np.zeros(nothing + 1, np.bool_)
    occurs[rows] = True
    occurring = np.flatnonzero(occurs[:nothing])
    known = np.zeros(nothing + 1, np.uint32)
    known[occurring] = code(pl.Series(occurring))
    codes: RawCodes = known[rows]
    return codes


def growing(dtype: pl.DataType) -> Texts | Numbers:
    """An empty dictionary for a column of the given type."""
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


_ADVICE = {
    ColumnType.INTEGER: "Round it, or put its values into bins",
    ColumnType.REAL: "Round it, or put its values into bins",
    ColumnType.DATE: "Shorten it to months or years",
}


_OF_A_TEXT, _OF_A_NUMBER = 300, 64  # bytes; measured with a million distinct texts, and with as many numbers


@dataclass(frozen=True, eq=False)
class GatheredColumn:
    """The distinct values of a column over all rows."""

    tally: Tally  # values and rows, markers of missing values counted as null
    # which of the gathered values, by raw code from 1 on, are in the tally; the others are markers
    kept: npt.NDArray[np.bool_]
    marked: tuple[int, ...]  # cells per marker; empty for a column that is not text

    def places(self, settled: Settled) -> Codes:
        """For each raw code the code of what it became."""
        places = np.full(len(self.kept) + 1, settled.places[-1], np.int32)
        places[1:][self.kept] = settled.places[:-1]
        return places


class Gathering:
    """A column whose values are gathered frame by frame.

    Examples
    --------
    >>> column = Gathering(Column("job"), pl.String(), 10)
    >>> column.add(pl.Series(["nurse", "?", None])).tolist()
    [1, 2, 0]
    >>> gathered = column.finish(["?"])
    >>> gathered.tally.values.to_list(), gathered.tally.counts.tolist(), gathered.marked
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
        categories = self._is_text and isinstance(series.dtype, pl.Categorical)
        cells = series if categories else as_coded(series.to_frame()).to_series()
        codes = self._known.codes(cells)
        if self._known.size > self._limit:
            raise self._too_many()
        if self._is_text:
            lengths = (cells.cat if categories else cells.str).len_bytes()
            self._letters = max(self._letters, float(str(lengths.mean() or 0)))
        counts = np.bincount(codes, minlength=self._known.size + 1)
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        return codes

    def finish(self, markers: Sequence[str]) -> GatheredColumn:
        """The values of all rows, once they have passed."""
        whole = Tally(self._known.values, np.append(self._counts[1:], self._counts[:1]))
        if not self._is_text:
            return GatheredColumn(whole, np.ones(len(whole.values), np.bool_), ())
        gone = whole.values.is_in(spellings(markers))
        marked = tuple(whole.rows(whole.values.is_in(marker_spellings(marker))) for marker in markers)
        kept = ~gone.to_numpy()
        counts = np.append(whole.counts[:-1][kept], whole.counts[-1] + whole.rows(gone))
        return GatheredColumn(Tally(whole.values.filter(~gone), counts), kept, marked)

    def _too_many(self) -> ValuesError:
        advice = _ADVICE.get(self._column.type, "Shorten its values to fewer, or give it another role")
        return ValuesError(
            f"Column {self._column.name!r} has more than {self._limit:,} distinct values, too many to count with. "
            f"{advice}, or, if it numbers persons, call it an identifier."
        )


_OF_A_PERSON = 64  # bytes: slots and words of a dictionary that grows fourfold, its rows, its plain spelling
_SPACES = " \t\n\v\f\r\x1c\x1d\x1e\x1f"  # what Python strips of plain text
_UNSEEN = r"[\x00-\x08\x0e-\x1b\x7f]"  # control characters of plain text
_ZEROS = "(^|[^0-9])0+([0-9])"  # that begin a number, with what is beside them
_FIRST_ZEROS = "(?s)^0+(.)"


class PersonNumbers:
    """The persons of a stream, numbered from 1 on in the order in which they first occur; 0 is nobody.

    Examples
    --------
    >>> numbers = PersonNumbers(Persons("patient", missing="together"))
    >>> numbers.add(pl.Series(["b", "a", None])).tolist(), numbers.add(pl.Series(["c", "b"])).tolist()
    ([1, 2, 0], [3, 1])
    """

    def __init__(self, persons: Persons) -> None:
        self.persons = persons
        self._secret = int(SystemRandomness().words(1)[0])
        self._known = NumberCodes()
        self._rows = np.zeros(1, np.int64)
        self._plain: list[npt.NDArray[np.uint64]] = []  # of each person, without what people write differently

    @property
    def name(self) -> str:
        """The person column."""
        return self.persons.column

    @property
    def bytes(self) -> int:
        """What is held of the persons, about."""
        return _OF_A_PERSON * len(self._known.words)

    def add(self, cells: pl.Series) -> RawCodes:
        """The numbers of the persons of a frame's rows, new persons added."""
        texts = person_texts(cells)
        if self.persons.ids == "normalised":
            texts = plain_texts(texts)
        before = len(self._known.words)
        codes = self._known.codes(self._words(texts), texts.is_not_null().to_numpy())
        rows = np.bincount(codes, minlength=len(self._known.words) + 1)
        rows[: len(self._rows)] += self._rows
        self._rows = rows
        if self.persons.ids is None:
            new = np.flatnonzero(codes > before)
            first = new[np.unique(codes[new], return_index=True)[1]]
            self._plain.append(self._words(plain_texts(texts.gather(first))))
        return codes

    def finish(self) -> tuple[Notice, ...]:
        """What should be known of the persons, once all rows have passed; raises if they are not told apart."""
        if self._plain:
            refuse_alike(self.name, len(self._known.words) - len(np.unique(np.concatenate(self._plain))))
            self._plain = []
        return tuple(self._notices())

    def _notices(self) -> Iterator[Notice]:
        yield from nobodys_rows(self.persons, int(self._rows[0]))
        rows = self._rows[1:] if self.persons.missing == "drop" else self._rows
        yield from heavy_person(self.name, int(rows.max(initial=0)), int(rows.sum()))

    def _words(self, texts: pl.Series) -> npt.NDArray[np.uint64]:
        return texts.hash(self._secret).to_numpy()


def person_texts(cells: pl.Series) -> pl.Series:
    """The persons as they are spelled; a cell without one is null."""
    return as_text(cells.fill_nan(None) if cells.dtype.is_float() else cells)


def plain_texts(texts: pl.Series) -> pl.Series:
    """Persons without what people write differently, as :func:`~incrowd.tables.reading.persons.normalised` says.

    Examples
    --------
    >>> plain_texts(pl.Series([" 007a ", "P00025", "00", "", "ﬁ", None])).to_list()
    ['7a', 'p25', '0', '', 'fi', None]
    """
    stripped = texts.str.replace_all(_UNSEEN, "").str.strip_chars(_SPACES).str.to_lowercase()
    plain = stripped.str.replace_all(_ZEROS, "${1}${2}").str.replace(_FIRST_ZEROS, "${1}")
    strange = (texts.str.len_bytes() != texts.str.len_chars()).fill_null(False)
    if not strange.any():
        return plain
    others = texts.filter(strange).unique()
    known = pl.Series([normalised(text) for text in others.to_list()], dtype=pl.String)
    meant = texts.replace_strict(others, known, default=None, return_dtype=pl.String)
    return pl.select(pl.when(strange).then(meant).otherwise(plain)).to_series()
