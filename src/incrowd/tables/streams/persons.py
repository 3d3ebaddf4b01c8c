"""Whose row each row is, told frame by frame: persons as numbers over a whole stream, in bounded memory.

A person is known by 64 bits of its spelling, made with a secret that is new each time. Two persons with the same bits
would count as one, so nobody is counted twice: that is safe, and happens with a chance of one in 10^5 for ten million
persons. The verification tells persons apart by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice
from incrowd.tables.reading.convert import as_text
from incrowd.tables.reading.persons import heavy_person, nobodys_rows, normalised, refuse_alike
from incrowd.tables.streams.gathering import NumberCodes, RawCodes
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.randomness import SystemRandomness

_OF_A_PERSON = 64  # bytes: slots and words of a dictionary that grows fourfold, its rows, its plain spelling
_SPACES = " \t\n\v\f\r\x1c\x1d\x1e\x1f"  # what Python strips of plain text
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
        texts = texts_of(cells)
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


def texts_of(cells: pl.Series) -> pl.Series:
    """The persons as they are spelled; a cell without one is null."""
    return as_text(cells.fill_nan(None) if cells.dtype.is_float() else cells)


def plain_texts(texts: pl.Series) -> pl.Series:
    """Persons without what people write differently, as :func:`~incrowd.tables.reading.persons.normalised` says.

    Examples
    --------
    >>> plain_texts(pl.Series([" 007a ", "P00025", "00", "", "ﬁ", None])).to_list()
    ['7a', 'p25', '0', '', 'fi', None]
    """
    stripped = texts.str.strip_chars(_SPACES).str.to_lowercase()
    plain = stripped.str.replace_all(_ZEROS, "${1}${2}").str.replace(_FIRST_ZEROS, "${1}")
    strange = (texts.str.len_bytes() != texts.str.len_chars()).fill_null(False)
    if not strange.any():
        return plain
    others = texts.filter(strange).unique()
    known = pl.Series([normalised(text) for text in others.to_list()], dtype=pl.String)
    meant = texts.replace_strict(others, known, default=None, return_dtype=pl.String)
    return pl.select(pl.when(strange).then(meant).otherwise(plain)).to_series()
