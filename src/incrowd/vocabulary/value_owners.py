"""Who has which value of a column, where a person may have several rows: persons of several values do not add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueOwners:
    """The persons of each code of a column, code by code, each once; ``begin`` says where those of a code begin.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> age = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1, 1, 2], np.int32), pl.Series([30, 40, 50]))
    >>> owners = ValueOwners.of(age, np.array([7, 7, 8, 8], np.int32))
    >>> owners.among(range(0, 2)), owners.each().tolist()
    (2, [1, 2, 1, 0])
    >>> owners.sides(0, 3)[0].tolist(), owners.sides(0, 3)[1].tolist()
    ([1, 2], [2, 1])
    """

    begin: Ints
    persons: Ints

    @classmethod
    def of(cls, column: EncodedColumn, owners: Codes) -> ValueOwners:
        """From the person of each row."""
        most = int(owners.max(initial=-1)) + 1
        pairs = np.sort(column.codes.astype(np.int64) * most + owners)  # and then each once: faster than np.unique
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        begin = np.searchsorted(pairs, np.arange(column.width + 1, dtype=np.int64) * most)
        return cls(begin, pairs % max(most, 1))

    def each(self) -> Ints:
        """How many persons have each value, the missing one last."""
        return np.diff(self.begin)

    def among(self, codes: range | Sequence[int] | npt.NDArray[np.integer]) -> int:
        """How many persons have one of these values."""
        if isinstance(codes, range):
            return len(np.unique(self._between(codes.start, codes.stop)))
        some = [self._between(code, code + 1) for code in codes]
        return len(np.unique(np.concatenate(some))) if some else 0

    def sides(self, first: int, last: int) -> tuple[Ints, Ints]:
        """For each cut between the values first to last - 1: the persons before it, and those after it."""
        up, down = self.met(first, last)
        return np.cumsum(up)[:-1], np.cumsum(down[::-1])[::-1][1:]

    def met(self, first: int, last: int) -> tuple[Ints, Ints]:
        """For each of the values first to last - 1 the persons whose lowest of these it is, and whose highest."""
        persons, latest = self._between(first, last), self._latest
        codes = np.repeat(np.arange(last - first), np.diff(self.begin[first : last + 1]))
        latest[persons] = codes  # of several codes of a person the last one stays
        highest = codes[latest[persons] == codes]
        latest[persons[::-1]] = codes[::-1]
        lowest = codes[latest[persons] == codes]
        return np.bincount(lowest, minlength=last - first), np.bincount(highest, minlength=last - first)

    @cached_property
    def _latest(self) -> Ints:
        """Scratch space: a number for each person."""
        return np.zeros(int(self.persons.max(initial=-1)) + 1, np.int64)

    def _between(self, first: int, last: int) -> Ints:
        return self.persons[self.begin[first] : self.begin[last]]
