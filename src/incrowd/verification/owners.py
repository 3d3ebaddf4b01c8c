"""Whose rows they are, read again from the input: the person column as numbers, by the verification's own road.

A person is the exact text in the column, or what is left of it without what people write differently, if the user says
so. Which released row is whose follows from the input row it was made from; the release is not asked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.coded import CodedCells
from incrowd.verification.input_table import TABLE, InputTable
from incrowd.verification.meaning import CellMeaning, decide, spellings
from incrowd.verification.opening import column
from incrowd.verification.verdict import Check
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.schema import ColumnType

Numbers = npt.NDArray[np.int64]
OWNED = "owned"
"""The table of released rows with the number of the ``person`` of each; columns by position, as in ``released``."""
_BATCH = 250_000  # rows
_NOBODY = -1
_IGNORABLE = [  # control characters that are no spaces, and what Unicode calls ignorable by default
    *((0x00, 0x08), (0x0E, 0x1B), (0x7F, 0x84), (0x86, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C)),
    *((0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3)),
    *((0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
]
_WITHOUT_IGNORABLE = {point: None for first, last in _IGNORABLE for point in range(first, last + 1)}
_SPACES = "".join(map(chr, [*range(9, 14), *range(28, 33)]))  # what Python strips of ASCII


@dataclass(frozen=True, eq=False)
class Owners:
    """The persons of a table.

    Parameters
    ----------
    persons
        What the user said of them.
    words, of_words
        The different texts of the column, a PyArrow array, and the number of the person that each means.
    codes
        For each input row the number of its person; -1 if it has none.
    alike
        How many texts look like another without being it.
    origin
        The input row of each released row.
    strangers
        For each person whether another table, which has all of them, does not have it.
    dates
        For each input row the day that puts it in order, where the release shows days since the first; NaN if missing.
    """

    persons: Persons
    words: Any
    of_words: Numbers
    codes: Numbers
    alike: int = 0
    origin: npt.NDArray[np.intp] | None = None
    strangers: npt.NDArray[np.bool_] | None = None
    dates: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(cls, table: InputTable, persons: Persons) -> Owners:
        """Read the person column of all rows."""
        cells = _cells(table, persons.column)
        plain = normalised_words(cells.words) if persons.ids != "exact" else cells.words
        same = CodedCells.of(plain)
        alike = len(cells.words) - len(same.words)
        of_words = same.codes.astype(np.int64) if persons.ids == "normalised" else np.arange(len(cells.words))
        everybody = int(of_words.max(initial=-1)) + 1
        nobody = everybody if persons.missing == "together" else _NOBODY
        codes = np.append(of_words, nobody)[cells.codes]
        return cls(persons, cells.words, of_words, codes, alike if persons.ids is None else 0)

    def released_as(self, origin: npt.NDArray[np.intp], strangers: npt.NDArray[np.bool_] | None = None) -> Owners:
        """The same, of a release whose rows were made from these input rows."""
        return replace(self, origin=origin, strangers=strangers)

    @cached_property
    def released(self) -> Numbers:
        """The person of each released row."""
        assert self.origin is not None
        return self.codes[self.origin]

    @cached_property
    def everybody(self) -> int:
        """How many persons have a row in the input."""
        return _different(self.codes)

    @cached_property
    def lost(self) -> int:
        """How many persons have no released row."""
        return self.everybody - _different(self.released)

    @property
    def without(self) -> int:
        """How many input rows have no person."""
        return int(np.count_nonzero(self.codes == _NOBODY))

    @property
    def nobodys(self) -> int:
        """How many input rows are not released because they have no person, or none of the other table."""
        if self.strangers is None:
            return self.without
        return self.without + int(np.count_nonzero(np.append(self.strangers, False)[self.codes]))

    @property
    def losers(self) -> int:
        """How many persons have an input row that was not released."""
        assert self.origin is not None
        kept = np.zeros(len(self.codes), np.bool_)
        kept[self.origin] = True
        return _different(self.codes[~kept])

    def rows_to_lose(self, may_lose: int, rows: int, *, by_method: bool) -> int:
        """How many of the rows may be left out where a person may have several.

        Those without a person, if they are dropped; any, where persons keep as many rows as others; where a method may
        leave out fewer than k rows, all rows of fewer than k persons.
        """
        if self.persons.linked:
            return rows
        if by_method and may_lose and self.losers <= may_lose:
            return rows
        return may_lose + self.nobodys

    def check(self) -> Check:
        """Every released row has a person, and the persons are those the user means."""
        missing = self.without
        strangers = int(np.count_nonzero(self.released == _NOBODY))
        faults = []
        if missing and self.persons.missing == "refuse":
            faults.append(f"{missing:,} input rows have no person")
        if strangers:
            faults.append(f"{strangers:,} released rows have no person")
        if self.alike:
            faults.append(f"{self.alike:,} persons are spelled like another")
        there = self.everybody - self.lost
        finding = f"{len(self.released):,} rows of {there:,} persons; {self.lost:,} persons have no row"
        return Check("persons", not faults, "; ".join(faults) or finding)

    def register(self, connection: Any, *, copy: bool) -> int:
        """Make the view of released rows with their persons, whose numbers are copied if so; how many rows it has."""
        import pyarrow as pa

        connection.register("owner_numbers", pa.table({"person": self.released}))
        connection.execute(f"CREATE OR REPLACE TEMP {'TABLE' if copy else 'VIEW'} owners AS FROM owner_numbers")
        connection.execute(
            f"CREATE OR REPLACE TEMP VIEW {OWNED} AS SELECT r.*, o.person FROM released AS r "
            "POSITIONAL JOIN owners AS o"
        )
        [(rows,)] = connection.execute("SELECT count(*) FROM released").fetchall()
        return int(rows)

    @cached_property
    def keys(self) -> list[str]:
        """The persons by their numbers, as they are told apart; without one who has no key."""
        plain = normalised_words(self.words) if self.persons.ids == "normalised" else self.words
        first = np.unique(self.of_words, return_index=True)[1]
        return [str(key) for key in plain.take(first).to_pylist()]

    def spelled_in_order(self) -> dict[str, str]:
        """The persons in the order of their first rows, and how each is spelled."""
        people, first = np.unique(self.codes[self.codes >= 0], return_index=True)
        words, spelled = self.words.to_pylist(), np.unique(self.of_words, return_index=True)[1]
        return {self.keys[person]: words[spelled[person]] for person in people[np.argsort(first)].tolist()}

    def spelled(self) -> Any:
        """A PyArrow table of the texts, and the person that each means."""
        import pyarrow as pa

        return pa.table({"person": self.of_words, "word": self.words})


def _different(codes: Numbers) -> int:
    there = codes[codes >= 0]
    return int(np.count_nonzero(np.bincount(there))) if len(there) else 0


def _cells(table: InputTable, name: str) -> CodedCells:
    """The texts of a column, each once, and which of them each row has; none of a cell that means missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cell, kind = table.at(name), table.kind(name)
    number = f"CASE WHEN NOT isnan({cell}) THEN ({cell} + 0)::VARCHAR END"  # negative zero is zero
    word = number if kind in ("FLOAT", "DOUBLE") else f"{cell}::VARCHAR"
    coded = [batch.column(0).cast(pa.large_string()).dictionary_encode() for batch in _batches(table, word)]
    cells = CodedCells.of(pa.chunked_array(coded, pa.dictionary(pa.int32(), pa.large_string())))
    means = ~np.asarray(pc.is_in(cells.words, pa.array(spellings(table.missing), pa.large_string())))
    place = np.append(np.where(means, np.cumsum(means) - 1, means.sum()), means.sum())
    return CodedCells(cells.words.filter(pa.array(means)), place[cells.codes])


def normalised_words(words: Any) -> Any:
    """Texts without what people write differently.

    That is the form of letters, spaces around, characters that nobody sees, case, zeros before a number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pc.all(pc.string_is_ascii(words)).as_py():
        return pa.array([_plain(word) for word in words.to_pylist()], pa.large_string())
    seen = pc.replace_substring_regex(words, r"[\x00-\x08\x0e-\x1b\x7f]", "")
    bare = pc.ascii_lower(pc.ascii_trim(seen, _SPACES))
    short = pc.replace_substring_regex(bare, r"(^|\D)0+(\d)", r"\1\2")
    return pc.replace_substring_regex(short, r"(?s)^0+(.)", r"\1")


def _plain(word: str) -> str:
    bare = unicodedata.normalize("NFKC", word.translate(_WITHOUT_IGNORABLE)).strip().casefold()
    short = re.sub("[0-9]+", lambda number: number[0].lstrip("0") or "0", bare)
    return short.lstrip("0") or short[-1:]


def with_rows_of(table: InputTable, persons: Persons, spelled: Mapping[str, str]) -> InputTable:
    """The input with one more row, without values, for each of these persons that has none."""
    import pyarrow as pa

    there, before = set(Owners.of(table, persons).keys), f"{TABLE}_without_some"
    words = [word for key, word in spelled.items() if key not in there]
    if not words:
        return table
    kind = table.kind(persons.column)
    cell = "word" if kind.startswith("ENUM") else f"word::{kind}"
    table.connection.execute(f"ALTER {'TABLE' if table.copied else 'VIEW'} {TABLE} RENAME TO {before}")
    table.connection.register("added_words", pa.table({"word": pa.array(words, pa.string())}))
    listed = ", ".join(cell if name == persons.column else "NULL" for name in table.names)
    table.connection.execute(
        f"CREATE TEMP TABLE {TABLE} AS SELECT * FROM {before} UNION ALL SELECT {listed} FROM added_words"
    )
    if table.copied:
        table.connection.execute(f"DROP TABLE {before}")
    return replace(table, rows=table.rows + len(words), copied=True)


# Dates of a person's rows, as days since the first of them.


def with_days(table: InputTable, owners: Owners, name: str) -> tuple[InputTable, Owners]:
    """The input with days since the person's first row in a column of dates; itself if its cells are no dates.

    A row without a date, or without a person, has no days. The dates themselves are kept with the persons.
    """
    import pyarrow as pa

    days = _days(table, name)
    if days is None:
        return table, owners
    since, whose = days.copy(), owners.codes
    dated = np.isfinite(days) & (whose >= 0)
    first = np.full(int(whose.max(initial=0)) + 1, np.inf)
    np.minimum.at(first, whose[dated], days[dated])
    since[dated] -= first[whose[dated]]
    what, before = "TABLE" if table.copied else "VIEW", f"{TABLE}_with_dates"
    table.connection.execute(f"ALTER {what} {TABLE} RENAME TO {before}")
    cells = pa.array(np.where(dated, since, 0).astype(np.int64), mask=~dated)
    table.connection.register("days_since", pa.table({"days": cells}))
    listed = (f"days AS {column(place)}" if known == name else column(place) for place, known in enumerate(table.names))
    table.connection.execute(
        f"CREATE TEMP {what} {TABLE} AS SELECT {', '.join(listed)} FROM {before} POSITIONAL JOIN days_since"
    )
    if table.copied:
        table.connection.execute(f"DROP TABLE {before}")
    return replace(table), replace(owners, dates=days)


def _days(table: InputTable, name: str) -> npt.NDArray[np.float64] | None:
    """The day of each cell, counted from 1970-01-01, NaN where it is missing; None if some cells are no dates."""
    cell, kind = table.at(name), table.kind(name)
    is_date = kind == "DATE" or kind.startswith("TIMESTAMP")
    if not is_date and not kind.startswith(("VARCHAR", "ENUM")):
        return None
    meaning = CellMeaning(ColumnType.DATE, kind, table.missing)
    meaning = meaning if is_date else decide(table.connection, TABLE, cell, meaning)
    day = f"{cell}::DATE" if is_date else meaning.value(cell)
    strange = "false" if is_date else meaning.is_strange(cell)
    batches = _batches(table, f"datediff('day', DATE '1970-01-01', {day})::DOUBLE AS day, {strange} AS strange")
    columns = [(np.asarray(batch.column(0), np.float64), np.asarray(batch.column(1), np.bool_)) for batch in batches]
    if not columns or any(strange.any() for _, strange in columns):
        return None
    return np.concatenate([days for days, _ in columns])


def _batches(table: InputTable, cells: str) -> Iterator[Any]:
    yield from table.connection.sql(f"SELECT {cells} FROM {TABLE}").to_arrow_reader(_BATCH)
