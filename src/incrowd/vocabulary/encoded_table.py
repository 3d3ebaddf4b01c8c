"""A table as integer codes: what algorithms and kernels see.

Each column is an ``int32`` array of codes into a dictionary of its distinct values, kept in the order of its
type (numbers and dates ascending, ordered categories as declared, text by code point). A missing value has a
code of its own, one past the last value, so that it falls into its own place in every histogram.

Who has which value of a column, where a person may have several rows: persons of several values do not add up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import HeaderError
from incrowd.vocabulary.schema import ColumnType, unknown_column

if TYPE_CHECKING:
    import polars as pl


Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class EncodedColumn:
    """Codes and dictionary of one column."""

    # name, type: As in the schema
    name: str
    type: ColumnType
    codes: Codes  # one code per row; ``missing_code`` where the value is missing
    # The distinct values, in the order of the type, none of them null. Integers are ``Int64``, reals ``Float64``,
    # dates ``Date``, everything else ``String``.
    dictionary: pl.Series

    @property
    def missing_code(self) -> int:
        """The code of a missing value: one past the last dictionary value."""
        return len(self.dictionary)

    @property
    def width(self) -> int:
        """Number of codes, the missing one included."""
        return len(self.dictionary) + 1

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows per code; the last entry counts the missing."""
        return np.bincount(self.codes, minlength=self.width)

    @cached_property
    def numbers(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """The dictionary of a numeric column as numbers (dates as days since 1970-01-01)."""
        import polars as pl

        physical = self.dictionary.to_physical()
        return physical.cast(pl.Float64 if self.type is ColumnType.REAL else pl.Int64).to_numpy()

    @cached_property
    def values(self) -> list[Any]:
        """The dictionary as plain values; dates are day numbers."""
        return self.numbers.tolist() if self.type.is_numeric else self.dictionary.to_list()

    def take(self, rows: npt.NDArray[np.intp]) -> EncodedColumn:
        """The same column for the given rows, with the same dictionary."""
        return EncodedColumn(self.name, self.type, self.codes[rows], self.dictionary)


@dataclass(frozen=True, eq=False)
class WholeColumn(EncodedColumn):
    """A column over all blocks: type, dictionary and counts. If its codes are in the blocks, ``codes`` is empty."""

    # Rows per code over all blocks; the last entry counts the missing
    total: npt.NDArray[np.int64] = field(kw_only=True)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """Rows per code over all blocks; the last entry counts the missing."""
        return self.total


class LazyColumns(Mapping[str, EncodedColumn]):
    """Columns that are made when they are first asked for.

    Examples
    --------
    >>> import polars as pl
    >>> column = EncodedColumn("sex", ColumnType.TEXT, np.array([0], np.int32), pl.Series(["f"]))
    >>> LazyColumns({"sex": lambda: column})["sex"].name
    'sex'
    """

    def __init__(self, makers: Mapping[str, Callable[[], EncodedColumn]]) -> None:
        self._makers, self._made = makers, dict[str, EncodedColumn]()

    def __getitem__(self, name: str) -> EncodedColumn:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """Encoded columns of equal length."""

    columns: Mapping[str, EncodedColumn]
    height: int

    @classmethod
    def of(cls, columns: Iterable[EncodedColumn]) -> EncodedTable:
        """A table of the given columns."""
        by_name = {column.name: column for column in columns}
        heights = {len(column.codes) for column in by_name.values()}
        if len(heights) > 1:
            raise ValueError(f"columns of different length: {sorted(heights)}")
        return cls(by_name, heights.pop() if heights else 0)

    def __getitem__(self, name: str) -> EncodedColumn:
        try:
            return self.columns[name]
        except KeyError:
            raise HeaderError(unknown_column(name, self.columns)) from None

    def take(self, rows: npt.NDArray[np.intp]) -> EncodedTable:
        """The given rows, all columns."""
        return EncodedTable({name: column.take(rows) for name, column in self.columns.items()}, len(rows))


@dataclass(frozen=True, eq=False)
class OwnedTable(EncodedTable):
    """An encoded table, and the person of each row, where a person may have several rows.

    ``words`` has for each number of a person what it is known by in other tables, where numbers are those of this one.
    """

    owners: Codes
    words: npt.NDArray[np.int64] | None = None

    @property
    def persons(self) -> npt.NDArray[np.integer]:
        """The person of each row, by what it is known by in other tables."""
        return self.owners if self.words is None else self.words[self.owners]

    def take(self, rows: npt.NDArray[np.intp]) -> OwnedTable:
        """The given rows, all columns."""
        some = super().take(rows)
        return OwnedTable(some.columns, some.height, self.owners[rows], self.words)


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
