"""Who of a table is in an entry: known by an identifier, else by the original quasi-identifiers, else not known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.releases.ledger.entry import BOUND, LedgerEntry, MarkedPeople, Recorded
from incrowd.releases.ledger.marks import (
    MISSING,
    PERSON,
    ROW,
    CellContents,
    Marker,
    Marks,
    are_unique,
    as_frame,
    cells_of,
    distinct_rows,
    shared,
)
from incrowd.tables.reading.source import Source, distinct
from incrowd.vocabulary.randomness import SystemRandomness, permutation
from incrowd.vocabulary.schema import Schema

# A table as the book sees it: marks of its people, over whichever columns an entry has.
SKETCH = 4096
"""How many marks are kept of rows without one column, and of a column's values."""


@dataclass(frozen=True, eq=False)
class MarkedTable:
    """The people of a table; ``same_columns`` says what a column of it was called in earlier ones."""

    source: Source
    schema: Schema
    marker: Marker
    same_columns: Mapping[str, str] = field(default_factory=dict)
    _cells: dict[str, CellContents] = field(default_factory=dict, init=False)
    _rows: dict[tuple[str, ...], Marks] = field(default_factory=dict, init=False)

    @property
    def people(self) -> int:
        """Number of rows."""
        return self.source.frame.height

    @cached_property
    def owners(self) -> Marks | None:
        """The mark of the person of each row, where a column names them: a person may have several rows."""
        return None if self.schema.person is None else self.marker.marks([self.cells(self.schema.person)], PERSON)

    @cached_property
    def who(self) -> npt.NDArray[np.int64] | None:
        """The number of the person of each row; None if every row is one."""
        return None if self.owners is None else np.unique(self.owners, axis=0, return_inverse=True)[1].ravel()

    @property
    def everybody(self) -> int:
        """Number of persons."""
        return self.people if self.who is None else int(self.who.max(initial=-1)) + 1

    def cells(self, name: str) -> CellContents:
        """What the cells of a column say; of one that was coarsened or made with a key, what they said before."""
        if name not in self._cells:
            finer = self.source.finer
            known = self.source.distinct([name]) if finer is None or name not in finer else distinct(finer, [name])
            self._cells[name] = cells_of(known[name])
        return self._cells[name]

    @cached_property
    def persons(self) -> dict[str, Marks]:
        """Marks of every dropped column, or pseudonym, that numbers persons: nowhere missing, none of them twice."""
        by_name = {}
        for name in (*self.schema.dropped, *self.schema.pseudonyms):
            if name == self.schema.person:
                continue
            column = self.cells(name)
            if len(column.contents) <= self.people or MISSING in column.contents[:-1]:
                continue
            marks = self.marker.marks([column], PERSON)
            if are_unique(marks):
                by_name[name] = marks
        return by_name

    def known_as(self, name: str) -> str | None:
        """How this table calls a column of an entry; None if it has no such column."""
        renamed = {old: new for new, old in self.same_columns.items()}
        called = renamed.get(name, name if name not in self.same_columns else None)
        return called if called in self.source.frame.columns else None

    def columns(self, names: Sequence[str]) -> list[CellContents]:
        """The columns that an entry calls so, by sorted name."""
        return [self.cells(self.known_as(name) or name) for name in sorted(names)]

    def rows(self, names: Sequence[str], shift: tuple[str, int] | None = None) -> Marks:
        """Marks of the rows over the columns of an entry; with a shift one of whole numbers is moved."""
        if shift is None:
            key = tuple(sorted(names))
            if key not in self._rows:
                self._rows[key] = self.marker.marks(self.columns(names), ROW)
            return self._rows[key]
        columns, place = self.columns(names), sorted(names).index(shift[0])
        columns[place] = columns[place].shifted(shift[1])
        return self.marker.marks(columns, ROW)

    def values(self, name: str) -> Marks:
        """Marks of the distinct values of a column of this table."""
        contents = self.cells(name).contents
        return self.marker.marks([CellContents(np.arange(len(contents) - 1), contents)], ROW)

    def people_of(self, classes: npt.NDArray[np.int32], names: Sequence[str] = ()) -> MarkedPeople:
        """What an entry with these quasi-identifiers, else the table's, keeps of it.

        The rows and values of which some marks are kept are drawn by chance.
        """
        names = names or self.schema.quasi_identifiers
        values = {name: _some(self.values(self.known_as(name) or name)) for name in names}
        alike = {name: self._without(name, names) for name in names if len(names) > 1}
        return MarkedPeople(tuple(self.persons.values()), self.rows(names), classes, alike, values, self.owners)

    def _without(self, name: str, names: Sequence[str]) -> Marks:
        """Marks of some rows, drawn by chance, over all quasi-identifiers but one."""
        columns = self.columns([one for one in names if one != name])
        first, _ = distinct_rows([one.codes for one in columns], [len(one.contents) for one in columns])
        drawn = first[permutation(len(first), SystemRandomness())[:SKETCH]]
        return _some(self.marker.marks([one.take(drawn) for one in columns], ROW))

    def order(self, by: Marks, ties: Sequence[str]) -> npt.NDArray[np.intp]:
        """The rows in the order of their marks; where those are equal, by what these columns say, then by person."""
        beside = [self.cells(name).ranks() for name in sorted(ties, reverse=True)]
        owners = [] if self.owners is None else [self.owners[:, 1], self.owners[:, 0]]
        return np.lexsort((*owners, *beside, by[:, 1], by[:, 0]))


def _some(marks: Marks) -> Marks:
    """At most :data:`SKETCH` of the distinct marks, drawn by chance, in their order."""
    distinct = np.unique(marks, axis=0)
    drawn = permutation(len(distinct), SystemRandomness())[:SKETCH]
    return distinct[np.sort(drawn)]


NONE, PARTIAL, COMPLETE, UNKNOWN, OTHERS = "none", "partial", "complete", "unknown", "other people"
IDENTIFIER, COLUMNS, WORD, PERSONS = "identifier", "quasi-identifiers", "your word", "persons"
OWNERS = -1  # in place of the number of an identifier: the persons that a column names
NUMBERED, ALIKE, GONE = "identifiers differ, quasi-identifiers agree", "alike in all but one", "cannot be compared"
NO_GROUPS, NOBODY, OLD = "groups not known", "people not known", "version 1"
FURTHEST = 10
"""By how much whole numbers are tried to be moved: ages of ten years later."""

_LARGE, _CLEAR, _HALF = 50_000, 40, 0.5
Shift = tuple[str, int] | None


@dataclass(frozen=True, eq=False)
class Overlap:
    """What a table and an entry have in common."""

    number: int  # of the entry
    # by what people were compared, and what came of it
    by: str
    relation: str
    # who is in both, and how many people the table and the entry have; None if it cannot be told
    shared: int | None = None
    now: int | None = None
    then: int | None = None
    # the marks of the table that were compared, and with which of the entry: those of an identifier, or of rows
    marks: Marks | None = None
    side: int | None = None
    unique: bool = False  # whether no mark is there twice
    rows: Marks | None = (
        None  # marks of the rows of the table, where somebody may have several and persons were compared
    )
    hint: str = ""  # what would help to tell, if it cannot be told

    @property
    def counts(self) -> bool:
        """Whether some people, or all, are in both."""
        return self.relation in (PARTIAL, COMPLETE)

    def of(self, people: MarkedPeople) -> Marks:
        """The marks of the entry that were compared."""
        if self.side == OWNERS:
            assert people.owners is not None
            return people.owners
        return people.rows if self.side is None else people.persons[self.side]


def compare(table: MarkedTable, one: Recorded) -> Overlap:
    """Who of the table is in the entry."""
    people = one.people
    if people is None:
        return Overlap(one.number, OLD if one.entry.kind == BOUND else NOBODY, UNKNOWN)
    overlap = _by_person(table, one, people) if table.owners is not None or people.owners is not None else None
    if overlap is None:
        overlap = _by_identifier(table, one.number, people)
    if overlap is None or overlap.shared == 0:
        overlap = _by_rows(table, one, people, overlap)
    if overlap.counts and not one.entry.groups:
        return Overlap(one.number, NO_GROUPS, UNKNOWN, hint="It is not known who is in which group of it.")
    return overlap


def _by_person(table: MarkedTable, one: Recorded, people: MarkedPeople) -> Overlap | None:
    """By the person of each row, where a column names them on one side; None if nothing names them on the other."""
    now = list(table.persons.values()) if table.owners is None else [table.owners]
    then = [(OWNERS, people.owners)] if people.owners is not None else list(enumerate(people.persons))
    pairs = [(shared(np.unique(a, axis=0), np.unique(b, axis=0)), a, side) for side, b in then for a in now]
    if not pairs:
        return None
    most, marks, side = max(pairs, key=lambda pair: pair[0])
    names = one.entry.quasi_identifiers
    known = all(table.known_as(name) is not None for name in names)
    rows = table.rows(names) if known else np.zeros_like(marks)
    overlap = _overlap(one.number, PERSONS, most, marks, people, side, rows)
    whole = overlap.counts and overlap.now == overlap.then and _same_rows(overlap, people)
    return replace(overlap, relation=COMPLETE if whole else PARTIAL if overlap.counts else NONE)


def _same_rows(overlap: Overlap, people: MarkedPeople) -> bool:
    """Whether all rows of both are the same rows of the same persons."""
    assert overlap.marks is not None
    assert overlap.rows is not None
    sides = ((overlap.marks, overlap.rows), (overlap.of(people), people.rows))
    now, then = (np.concatenate(marks, axis=1) for marks in sides)
    return bool(np.array_equal(now[np.lexsort(now.T)], then[np.lexsort(then.T)]))


def _by_identifier(table: MarkedTable, number: int, people: MarkedPeople) -> Overlap | None:
    """By the two columns that share most; None if one side has no identifier."""
    pairs = [
        (shared(now, then), now, side) for side, then in enumerate(people.persons) for now in table.persons.values()
    ]
    if not pairs:
        return None
    most, now, side = max(pairs, key=lambda pair: pair[0])
    return _overlap(number, IDENTIFIER, most, now, people, side)


def _by_rows(table: MarkedTable, one: Recorded, people: MarkedPeople, numbered: Overlap | None) -> Overlap:
    """By quasi-identifiers; ``numbered`` is what the identifiers say, if both sides have them: nobody is shared."""
    gone = [name for name in one.entry.quasi_identifiers if table.known_as(name) is None]
    if gone:
        return Overlap(one.number, GONE, UNKNOWN, hint=_proposed(table, people, gone))
    marks = table.rows(one.entry.quasi_identifiers)
    most, shift = shared(marks, people.rows), None
    if numbered is not None:
        smaller = min(len(marks), len(people.rows))
        if most <= _HALF * smaller:
            return numbered
        return Overlap(one.number, NUMBERED, UNKNOWN, hint="Were the same people numbered anew?")
    if most < min(len(marks), len(people.rows)):
        most, shift = max(
            [(most, None), *_shifted(table, one.entry, people, most)], key=lambda fit: (fit[0], fit[1] is None)
        )
    if most == 0 and (column := _alike(table, one.entry, people)):
        return Overlap(one.number, ALIKE, UNKNOWN, hint=f"Somebody is alike in all quasi-identifiers but {column}.")
    if shift is None:
        return _overlap(one.number, COLUMNS, most, marks, people)
    name, moved = shift
    marks = table.rows(one.entry.quasi_identifiers, (name, moved))
    return _overlap(one.number, f"{COLUMNS}, {name} {-moved:+d}", most, marks, people)


def _overlap(
    number: int,
    by: str,
    most: int,
    now: Marks,
    people: MarkedPeople,
    side: int | None = None,
    rows: Marks | None = None,
) -> Overlap:
    whole = most == len(now) == len(people.rows)
    relation = NONE if most == 0 else COMPLETE if whole else PARTIAL
    unique = side is not None or (are_unique(now) and are_unique(people.rows))
    return Overlap(
        number=number,
        by=by,
        relation=relation,
        shared=most,
        now=len(now),
        then=len(people.rows),
        marks=now,
        side=side,
        unique=unique,
        rows=rows,
    )


def _shifted(table: MarkedTable, entry: LedgerEntry, people: MarkedPeople, unmoved: int) -> Iterator[tuple[int, Shift]]:
    """How many are shared if a column of whole numbers is moved.

    In a large table a sample may point out one shift that shares far more than all others, and no shift: then only that
    one is counted. Where it does not, all are.
    """
    shifts = list(_shifts(table, entry))
    if table.people > _LARGE and shifts:
        shifts = _hurried(table, entry, people, shifts, unmoved)
    for shift in shifts:
        yield shared(table.rows(entry.quasi_identifiers, shift), people.rows), shift


def _shifts(table: MarkedTable, entry: LedgerEntry) -> Iterator[tuple[str, int]]:
    for name, column in zip(sorted(entry.quasi_identifiers), table.columns(entry.quasi_identifiers), strict=True):
        if column.is_whole():
            yield from ((name, by) for far in range(1, FURTHEST + 1) for by in (-far, far))


def _hurried(
    table: MarkedTable, entry: LedgerEntry, people: MarkedPeople, shifts: list[tuple[str, int]], unmoved: int
) -> list[tuple[str, int]]:
    """The one shift that is clearly the best, or all."""
    names = sorted(entry.quasi_identifiers)
    rows = permutation(table.people, SystemRandomness())[:SKETCH]
    columns = [column.take(rows) for column in table.columns(names)]
    known = as_frame(people.rows).unique()

    def hits(shift: tuple[str, int]) -> int:
        moved = [c.shifted(shift[1]) if name == shift[0] else c for name, c in zip(names, columns, strict=True)]
        return as_frame(table.marker.marks(moved, ROW)).join(known, on=["high", "low"], how="semi").height

    by_hits = sorted(((hits(shift), shift) for shift in shifts), reverse=True)
    others = max([hits_ for hits_, _ in by_hits[1:]], default=0)
    others = max(others, round(unmoved / table.people * len(rows)))
    clear = by_hits[0][0] >= _CLEAR and by_hits[0][0] >= 2 * others
    return [by_hits[0][1]] if clear else shifts


def _alike(table: MarkedTable, entry: LedgerEntry, people: MarkedPeople) -> str:
    """A quasi-identifier without which somebody of the table is like somebody of the entry."""
    for name, kept in people.alike.items():
        columns = table.columns([one for one in entry.quasi_identifiers if one != name])
        if _any_of(table, columns, kept):
            return name
    return ""


def _any_of(table: MarkedTable, columns: Sequence[CellContents], kept: Marks) -> bool:
    first, _ = distinct_rows([one.codes for one in columns], [len(one.contents) for one in columns])
    marks = table.marker.marks([one.take(first) for one in columns], ROW)
    return not as_frame(marks).join(as_frame(kept), on=["high", "low"], how="semi").is_empty()


def _proposed(table: MarkedTable, people: MarkedPeople, gone: Sequence[str]) -> str:
    """Which columns of the table have the values of those that are gone."""
    hints = []
    for name in gone:
        kept = people.values.get(name, np.empty((0, 2), np.uint64))
        shares = {
            column: as_frame(kept).join(as_frame(table.values(column)), on=["high", "low"], how="semi").height
            for column in table.source.frame.columns
            if column not in people.values and column not in table.schema.dropped
        }
        best = max(shares, key=lambda column: shares[column], default="")
        if best and shares[best] > _HALF * len(kept):
            hints.append(f"{best} has the values of {name}: is it that column? Then use same-column {best}={name}.")
        else:
            hints.append(f"The column {name} is gone; if it has another name now, use same-column NEW={name}.")
    return " ".join(hints)
