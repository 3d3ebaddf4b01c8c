"""What unchanged columns of two tables undo together: a table of persons and their events, joined by the pseudonym.

Rows are the events, each with what the other table has of its person, and persons without events. A column of the one
table may give back a quasi-identifier of the other, or how many events a person has, where some are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from incrowd.verification.alone import count_alone
from incrowd.verification.open_cells import Codes, QuasiIdentifier, own_cells
from incrowd.verification.unchanged import Counting, UnchangedColumn
from incrowd.verification.unchanged_counts import GiveBack, UnchangedCounts
from incrowd.vocabulary.requirement import KnownSet

NUMBER = "the number of rows"
_OTHER = "{} (table of persons)"
_COUNTS = ("without_class", "with_class", "not_private", "not_called_private")


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A table as codes: its quasi-identifiers, its unchanged columns, the person of each row, and what they undo."""

    quasi_identifiers: Sequence[QuasiIdentifier]
    unchanged: Sequence[UnchangedColumn]
    owners: Codes
    counts: UnchangedCounts
    facts: Sequence[QuasiIdentifier] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of all columns, and of what is known beside them."""
        quasi = (*self.quasi_identifiers, *self.facts)
        return frozenset([*(one.name for one in quasi), *(one.name for one in self.unchanged)])

    def beside(self, other: CodedTable) -> CodedTable:
        """The same, with other names for columns that another table has, too."""

        def free(name: str) -> str:
            return _OTHER.format(name) if name in other.names else name

        quasi = [replace(one, name=free(one.name)) for one in self.quasi_identifiers]
        unchanged = [replace(one, name=free(one.name)) for one in self.unchanged]
        return replace(self, quasi_identifiers=quasi, unchanged=unchanged)


def number_of_rows(before: Codes, left: Codes, owners: Codes) -> QuasiIdentifier:
    """How many rows the person of each row has in the input and in the release, as a quasi-identifier.

    ``before`` and ``left`` have the rows of each person. Who has some in the release may have had more, unless nobody
    lost one.
    """
    most = int(before.max(initial=0)) + 1
    nobody_lost = bool((left == before[: len(left)]).all())
    allows = [range(rows, rows + 1 if nobody_lost else most) for rows in range(most)]
    return QuasiIdentifier(NUMBER, before[owners], left[owners], allows)


@dataclass(frozen=True, eq=False)
class _Joined:
    """Two tables joined: for each row of both its row in each of them, -1 for none, and its person."""

    persons: CodedTable
    events: CodedTable
    own: Codes
    event: Codes
    owners: Codes

    @classmethod
    def of(cls, persons: CodedTable, events: CodedTable) -> _Joined:
        everybody = 1 + int(max(persons.owners.max(initial=-1), events.owners.max(initial=-1)))
        place = np.full(everybody, -1, np.int64)
        place[persons.owners] = np.arange(len(persons.owners))
        active = np.bincount(events.owners, minlength=everybody) > 0
        idle = np.flatnonzero(~active[persons.owners])
        return cls(
            persons.beside(events),
            events,
            own=np.concatenate([place[events.owners], idle]),
            event=np.concatenate([np.arange(len(events.owners)), np.full(len(idle), -1, np.int64)]),
            owners=np.concatenate([events.owners, persons.owners[idle]]),
        )

    @property
    def quasi_identifiers(self) -> list[QuasiIdentifier]:
        """Those of both tables, and what is known of events beside them."""
        first = [_quasi_at(one, self.own) for one in self.persons.quasi_identifiers]
        events = (*self.events.quasi_identifiers, *self.events.facts)
        return [*first, *(_quasi_at(one, self.event) for one in events)]

    @property
    def unchanged(self) -> list[UnchangedColumn]:
        """Those of both tables."""
        first = [_unchanged_at(one, self.own) for one in self.persons.unchanged]
        return [*first, *(_unchanged_at(one, self.event) for one in self.events.unchanged)]

    def number(self, before: Codes) -> QuasiIdentifier:
        """How many events each row's person has, of which ``before`` has the number in the input."""
        return number_of_rows(before, np.bincount(self.events.owners, minlength=len(before)), self.owners)

    def alone(self, columns: Sequence[UnchangedColumn]) -> tuple[dict[str, int], dict[str, int]]:
        """Who is alone by both tables: of all persons, and of those with events, who are known to have some."""
        events = len(self.events.owners)
        counts = []
        for rows in (slice(None, events), slice(events, None)):
            some = [replace(one, codes=one.codes[rows]) for one in columns]
            alone = count_alone(some, len(self.owners[rows]), 0, self.owners[rows], linked=True)
            counts.append({name: getattr(alone, name) for name in _COUNTS})
        active, idle = counts
        return {name: active[name] + idle[name] for name in _COUNTS}, active


def count_together(
    persons: CodedTable, events: CodedTable, k: int, *, pair_tests: int, before: Codes | None
) -> tuple[UnchangedCounts, UnchangedCounts]:
    """What unchanged columns undo of two tables that are joined, told of each of them.

    Parameters
    ----------
    persons, events
        Both tables; their persons have the same numbers.
    k
        How many persons shall have the same history.
    pair_tests
        How many pairs of columns are asked at most.
    before
        How many events each person has in the input, by its number; None if nobody is taken to know.
    """
    joined = _Joined.of(persons, events)
    columns, quasi = joined.unchanged, joined.quasi_identifiers
    quasi += [] if before is None else [joined.number(before)]
    known = KnownSet(tuple(one.name for one in quasi), k)
    cells = [own_cells(one) for one in quasi]
    own, idle = joined.persons.names | {NUMBER}, joined.event < 0
    counting = Counting(cells, quasi, columns, (known,), pair_tests, joined.owners, True, of_persons=own, idle=idle)
    first = counting.count(())
    [left] = first.sets
    advice = counting.advice(first)

    def of(table: CodedTable, at: Codes, alone: dict[str, int]) -> UnchangedCounts:
        counts, own = table.counts, {one.name for one in table.unchanged}
        names = [one.name for one in table.quasi_identifiers]
        back = sum(len(np.unique(at[first.back[name] & (at >= 0)])) for name in names)
        alone_known = {*names, *(one.name for one in table.facts)}
        across = [one for one in first.by if one.quasi_identifier not in alone_known or not own.issuperset(one.columns)]
        sets = [
            replace(
                one,
                effective_k=min(one.effective_k, left.effective_k),
                people_below_k=max(one.people_below_k, left.people_below_k),
            )
            for one in counts.sets
        ]
        return replace(
            counts,
            sets=tuple(sets),
            people_below_k=max(counts.people_below_k, left.people_below_k),
            given_back=min(counts.hidden_cells, max(counts.given_back, back)),
            by=_falling([*counts.by, *across]),
            alone=replace(counts.alone, **{name: max(getattr(counts.alone, name), alone[name]) for name in _COUNTS}),
            not_counted=tuple(dict.fromkeys([*counts.not_counted, *first.not_counted])),
            advice=advice or counts.advice,
        )

    everybody, active = joined.alone(columns)
    return of(joined.persons, joined.own, everybody), of(events, joined.event, active)


def _falling(by: Sequence[GiveBack]) -> tuple[GiveBack, ...]:
    return tuple(sorted(by, key=lambda one: -one.cells))


def _quasi_at(column: QuasiIdentifier, rows: Codes) -> QuasiIdentifier:
    """A quasi-identifier in other rows; those that are none have a value of their own, which is shown."""
    none = 1 + max(int(column.values.max(initial=0)), -1 if column.missing is None else column.missing)
    allows = [range(none) if one is None else one for one in column.allows]
    values, labels = np.append(column.values, none)[rows], np.append(column.labels, len(allows))[rows]
    return replace(column, values=values, labels=labels, allows=[*allows, range(none, none + 1)])


def _unchanged_at(column: UnchangedColumn, rows: Codes) -> UnchangedColumn:
    """An unchanged column in other rows; those that are none have a value of their own."""
    none = 1 + max(int(column.codes.max(initial=0)), -1 if column.missing is None else column.missing)
    return replace(column, codes=np.append(column.codes, none)[rows])
