"""What a released cell names, and how many people of the table it is true of.

A value, each member of a set or of counts, a bin, an interval and a group of a hierarchy are names; so are the two ends
of a range, which are numbers that somebody has, and a number that equals one of the table's, whatever it is meant to
be. In counts the missing value is named, too. Nothing, and a cell that says no more than that its value is missing,
name nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, ValueOwners
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Form,
    Interval,
    Level,
    Mean,
    Member,
    Midpoint,
    Range,
    Shown,
    Value,
    ValueSet,
    parse_day,
    parse_interval,
    parse_number,
)
from incrowd.vocabulary.schema import ColumnType

Name = Member | Category


def check_rarest(people: object) -> None:
    """Refuse what is no number of people."""
    if not isinstance(people, int) or isinstance(people, bool) or people < 1:
        raise ParameterError("rarest is a whole number of people, at least 1: what fewer have is not named.")


@dataclass(frozen=True, eq=False)
class Naming:
    """Counts the people that the names in the cells of one column are true of."""

    column: EncodedColumn  # the column of the table, with the rows of each of its values
    hierarchy: Hierarchy | None = None  # what groups of values are called, if they have names
    owners: Codes | None = None  # the person of each row of the column, if somebody may have several
    _known: dict[Name, int] = field(default_factory=dict, init=False, repr=False)

    def fewest(self, form: Form) -> int | None:
        """How many people the name is true of that is true of the fewest; None if nothing is named."""
        return min((self.people(name) for name in self.names(form)), default=None)

    def names(self, form: Form) -> Iterator[Name]:
        """What a cell of this form names."""
        match form:
            case Shown(value):
                yield value
            case ValueSet(values):
                yield from values
            case Counts(members):
                yield from (member for member, _ in members or ())
            case Range(low, high):
                yield from (end for end in (low, high) if end is not None)
            case Interval() | Category():
                yield form
            case Level(low, high, value) | Midpoint(low, high, value):
                yield Interval(low, high)
                yield from self._own_number(value)
            case Mean(value):
                yield from self._own_number(value)

    def people(self, name: Name) -> int:
        """The people of the table a name is true of."""
        if name not in self._known:
            self._known[name] = self._count(name)
        return self._known[name]

    def _count(self, name: Name) -> int:
        if name is None:
            return self._have(range(self.column.width - 1, self.column.width))
        if isinstance(name, Category):
            return self._below.get(name.label, 0)
        if not self.column.type.is_numeric:
            return self._by_value.get(str(name), 0)
        read = self._read(name) if isinstance(name, str) else name
        if read is None:
            return 0
        return self._inside(read) if isinstance(read, Interval) else self._equal(read)

    def _read(self, text: str) -> Interval | float | None:
        """The bin or the number that a text writes."""
        dates = self.column.type is ColumnType.DATE
        number = parse_day(text) if dates else parse_number(text)
        return parse_interval(text, dates=dates) if number is None else number

    def _own_number(self, value: float | None) -> Iterator[Value]:
        """A number as it is written, if somebody has it."""
        if value is not None:
            written = math.floor(value) if self.column.type is ColumnType.DATE else value
            yield from (written,) if self._equal(written) else ()

    def _equal(self, number: float) -> int:
        first, last = (np.searchsorted(self.column.numbers, number, side) for side in ("left", "right"))
        return self._have(range(int(first), int(last)))

    def _inside(self, interval: Interval) -> int:
        numbers = self.column.numbers
        first = 0 if interval.low is None else np.searchsorted(numbers, interval.low, "right")
        last = len(numbers) if interval.high is None else np.searchsorted(numbers, interval.high, "right")
        return self._have(range(int(first), int(last)))

    def _have(self, codes: range) -> int:
        """How many people have one of these values."""
        if self._who is not None:
            return self._who.among(codes)
        return int(self._up_to[codes.stop] - self._up_to[codes.start])

    @cached_property
    def _who(self) -> ValueOwners | None:
        return None if self.owners is None else ValueOwners.of(self.column, self.owners)

    @cached_property
    def _up_to(self) -> npt.NDArray[np.int64]:
        """How many rows have one of the first so many values, the missing one last."""
        return np.concatenate([[0], np.cumsum(self.column.counts)])

    @cached_property
    def _by_value(self) -> dict[str, int]:
        each = self.column.counts if self._who is None else self._who.each()
        return dict(zip(self.column.dictionary.to_list(), each[:-1].tolist(), strict=True))

    @cached_property
    def _below(self) -> dict[str, int]:
        """The people below each group of the hierarchy."""
        if self.hierarchy is None:
            return {}
        places, leaves = self.hierarchy.find(self.column)[:-1], len(self.hierarchy.leaves)
        below = {label: self.hierarchy.leaves_below(node) for node, label in enumerate(self.hierarchy.labels)}
        if self._who is not None:
            return {
                label: self._who.among(np.flatnonzero((places >= b.start) & (places < b.stop)))
                for label, b in below.items()
            }
        known = places >= 0
        people = np.bincount(places[known], self.column.counts[:-1][known], leaves)
        up_to = np.concatenate([[0], np.cumsum(people)]).astype(np.int64)
        return {label: int(up_to[b.stop] - up_to[b.start]) for label, b in below.items()}
