"""Two tables and a key: persons, one row for each, and their events, released under the same pseudonyms.

Each table is judged by itself. Here what both tell together is counted: a history is the tuple of a person in the one
and the multiset of its tuples in the other, which may be empty. Persons are the same in both if their keys are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.verification.beside import most_cells, most_pairs
from incrowd.verification.coded import ask
from incrowd.verification.histories import BESIDE, make_histories, number_classes, same
from incrowd.verification.opening import column
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.request import Expected, Request
from incrowd.verification.requirements import Further, recount_in_histories, value_table
from incrowd.verification.together import CodedTable, count_together
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Check
from incrowd.vocabulary.schema import Role

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PersonsTable:
    """The released table of persons, for what it tells together with their events.

    Parameters
    ----------
    keys
        The key of each person, by its number.
    rows
        A PyArrow table: of every released row the ``person``, the number ``st`` of its tuple and its ``pseudonym``.
    repeated
        How many rows of the input are of a person that has another one.
    valued
        What is required of its columns, each with a PyArrow table of the value ``v`` of each ``person``.
    coded
        The table as codes, with what unchanged columns undo of it; None if it is too large.
    """

    keys: Sequence[str]
    rows: Any
    repeated: int
    valued: Sequence[tuple[Further, Any]]
    coded: CodedTable | None = None

    @classmethod
    def of(cls, connection: Any, expected: Expected, coded: CodedTable | None) -> PersonsTable:
        """The table that is open as ``owned``."""
        assert expected.owners is not None
        assert expected.pseudonym is not None
        names, owners = list(expected.columns), expected.owners
        positions = [names.index(name) for name in expected.quasi_identifiers]
        number_classes(connection, OWNED, positions)
        cell = f"{column(names.index(expected.pseudonym))}::VARCHAR"
        rows = connection.sql(
            f"SELECT person, g AS st, {cell} AS pseudonym FROM {OWNED} JOIN numbered ON {same(positions, OWNED)}"
        ).to_arrow_table()
        valued = []
        for one in expected.further:
            value_table(connection, names.index(one.name), one, OWNED)
            valued.append((one, connection.sql("SELECT person, v FROM valued").to_arrow_table()))
        repeated = int(np.count_nonzero(owners.codes >= 0)) - owners.everybody
        return cls(owners.keys, rows, repeated, valued, coded)

    def numbered_as(self, owners: Owners) -> Numbers:
        """For each person its number among those who have events; others have numbers beyond these."""
        known = {key: number for number, key in enumerate(owners.keys)}
        return np.array([known.get(key, len(known) + place) for place, key in enumerate(self.keys)], np.int64)

    def strangers(self, owners: Owners) -> npt.NDArray[np.bool_]:
        """For each person who has events whether it has no row here."""
        there = set(self.keys)
        return np.array([key not in there for key in owners.keys], np.bool_)

    def register(self, connection: Any, owners: Owners) -> None:
        """Make the table :data:`BESIDE`, with the numbers of the persons who have events."""
        numbers = self.numbered_as(owners)
        connection.register("beside_rows", self.rows.set_column(0, "person", [numbers[self.rows["person"].to_numpy()]]))
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {BESIDE} AS FROM beside_rows")

    def unchanged_counts(
        self, events: CodedTable | None, request: Request, owners: Owners
    ) -> tuple[UnchangedCounts, UnchangedCounts] | None:
        """What unchanged columns undo of both tables together, told of each; None if they are too large."""
        if events is None or self.coded is None:
            return None
        persons = replace(self.coded, owners=self.numbered_as(owners)[self.coded.owners])
        rows = len(events.owners) + len(persons.owners)
        columns = [*persons.quasi_identifiers, *persons.unchanged, *events.quasi_identifiers, *events.unchanged]
        if rows * len(columns) > most_cells(request):
            return None
        assert request.persons is not None
        everybody = len(owners.keys) + len(self.keys)
        counts = np.bincount(owners.codes[owners.codes >= 0], minlength=everybody)
        known = request.persons.known_rows is None or request.persons.count_known
        [one] = request.requirement.sets(request.role(Role.QUASI_IDENTIFIER))
        return count_together(persons, events, one.k, pair_tests=most_pairs(rows), before=counts if known else None)

    def checks(self, connection: Any, expected: Expected, *, refuses_orphans: bool) -> Iterator[Check]:
        """What both tables must keep together, beside k; ``named`` has the pseudonyms of the persons with events.

        ``refuses_orphans``: whether nobody may have events in the input and no row here; else nobody in the release.
        """
        owners = expected.owners
        assert owners is not None
        there = owners.codes[owners.codes >= 0] if refuses_orphans else owners.released
        strange = int(np.count_nonzero(self.strangers(owners)[np.unique(there)])) if len(there) else 0
        [(persons, idle)] = ask(
            connection,
            f"SELECT count(*), count(*) FILTER (person NOT IN (SELECT person FROM named)) FROM {BESIDE}",
        )
        faults = [f"{strange:,} persons with events have no row"] if strange else []
        faults += [f"{self.repeated:,} rows repeat a person"] if self.repeated else []
        finding = f"{persons:,} persons, {idle:,} of them without events"
        yield Check("table of persons", not faults, "; ".join(faults) or finding)
        [(pairs, pseudonyms, together)] = ask(
            connection,
            "SELECT count(*), count(DISTINCT pseudonym), count(DISTINCT person) FROM "
            f"(SELECT pseudonym, person FROM named UNION SELECT pseudonym, person FROM {BESIDE})",
        )
        consistent = pairs == pseudonyms == together
        finding = f"{pseudonyms:,} pseudonyms of {together:,} persons in both tables"
        yield Check("same pseudonyms", consistent, finding)
        yield from self._requirements(connection, expected, owners)

    def _requirements(self, connection: Any, expected: Expected, owners: Owners) -> Iterator[Check]:
        """What is required of columns of this table, of all persons with one history in both."""
        numbers = self.numbered_as(owners)
        for one, values in self.valued:
            held = values.set_column(0, "person", [numbers[values["person"].to_numpy()]])
            connection.register("beside_values", held)
            connection.execute("CREATE OR REPLACE TEMP TABLE valued AS FROM beside_values")
            sets = [[list(expected.columns).index(name) for name in known] for _, known, _ in expected.promises]
            yield recount_in_histories(connection, one, self._histories(connection, sets, owners))

    def _histories(self, connection: Any, sets: Sequence[Sequence[int]], owners: Owners) -> Iterator[None]:
        """Make the histories of each set of columns, one after the other."""
        for positions in sets:
            make_histories(connection, positions, owners)
            yield
