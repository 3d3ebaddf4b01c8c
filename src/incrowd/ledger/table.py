"""A table as the book sees it: marks of its people, over whichever columns an entry has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.ledger.cells import MISSING, Cells, cells_of
from incrowd.ledger.entry import People
from incrowd.ledger.marks import PERSON, ROW, Marker, Marks, are_unique, distinct_rows
from incrowd.reading.source import Source
from incrowd.vocabulary.randomness import SystemRandomness, permutation
from incrowd.vocabulary.schema import Schema

SKETCH = 4096
"""How many marks are kept of rows without one column, and of a column's values."""


@dataclass(frozen=True, eq=False)
class Table:
    """The people of a table.

    Parameters
    ----------
    source, schema
        Cells as they were read, and what the columns are.
    marker
        Makes marks with the key of the book.
    same_columns
        What a column of this table was called in earlier ones.
    """

    source: Source
    schema: Schema
    marker: Marker
    same_columns: Mapping[str, str] = field(default_factory=dict)
    _cells: dict[str, Cells] = field(default_factory=dict, init=False)
    _rows: dict[tuple[str, ...], Marks] = field(default_factory=dict, init=False)

    @property
    def people(self) -> int:
        """Number of rows."""
        return self.source.frame.height

    def cells(self, name: str) -> Cells:
        """What the cells of a column say."""
        if name not in self._cells:
            self._cells[name] = cells_of(self.source.distinct([name])[name])
        return self._cells[name]

    @cached_property
    def persons(self) -> dict[str, Marks]:
        """Marks of every identifier that numbers persons: it is nowhere missing, and there is none twice."""
        found = {}
        for name in self.schema.identifiers:
            column = self.cells(name)
            if len(column.contents) <= self.people or MISSING in column.contents[:-1]:
                continue
            marks = self.marker.marks([column], PERSON)
            if are_unique(marks):
                found[name] = marks
        return found

    def known_as(self, name: str) -> str | None:
        """How this table calls a column of an entry; None if it has no such column."""
        renamed = {old: new for new, old in self.same_columns.items()}
        called = renamed.get(name, name if name not in self.same_columns else None)
        return called if called in self.source.frame.columns else None

    def columns(self, names: Sequence[str]) -> list[Cells]:
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
        return self.marker.marks([Cells(np.arange(len(contents) - 1), contents)], ROW)

    def people_of(self, classes: npt.NDArray[np.int32], names: Sequence[str] = ()) -> People:
        """What an entry with these quasi-identifiers, else the table's, keeps of it.

        The rows and values of which some marks are kept are drawn by chance.
        """
        names = names or self.schema.quasi_identifiers
        values = {name: _some(self.values(self.known_as(name) or name)) for name in names}
        alike = {name: self._without(name, names) for name in names if len(names) > 1}
        return People(tuple(self.persons.values()), self.rows(names), classes, alike, values)

    def _without(self, name: str, names: Sequence[str]) -> Marks:
        """Marks of some rows, drawn by chance, over all quasi-identifiers but one."""
        columns = self.columns([one for one in names if one != name])
        first, _ = distinct_rows([one.codes for one in columns], [len(one.contents) for one in columns])
        drawn = first[permutation(len(first), SystemRandomness())[:SKETCH]]
        return _some(self.marker.marks([one.take(drawn) for one in columns], ROW))

    def order(self, by: Marks, ties: Sequence[str]) -> npt.NDArray[np.intp]:
        """The rows in the order of their marks; where those are equal, by what these columns say."""
        beside = [self.cells(name).ranks() for name in sorted(ties, reverse=True)]
        return np.lexsort((*beside, by[:, 1], by[:, 0]))


def _some(marks: Marks) -> Marks:
    """At most :data:`SKETCH` of the distinct marks, drawn by chance, in their order."""
    found = np.unique(marks, axis=0)
    drawn = permutation(len(found), SystemRandomness())[:SKETCH]
    return found[np.sort(drawn)]
