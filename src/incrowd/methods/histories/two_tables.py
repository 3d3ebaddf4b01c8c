"""Two tables and a key: one with a row for each person, the other with their events; what is known of both counts.

A history is what is shown of the person and the multiset of its events, perhaps none. Compare Nergiz, Clifton, Nergiz,
"Multirelational k-Anonymity" (IEEE TKDE 2009).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.known_rows import KnownRows, Refined, SupportRefinement, check_k_alone, kept_rows
from incrowd.methods.histories.rows_of_persons import (
    Grouping,
    Histories,
    Ints,
    common_forms,
    commonest,
    group_persons,
    levels,
    summaries,
)
from incrowd.methods.histories.whole_histories import (
    Beyond,
    HistoryRows,
    ShownHistories,
    WholeHistories,
    by_summaries,
    rows_by_person,
)
from incrowd.methods.judging import Judge
from incrowd.methods.method import Method, Population
from incrowd.plan.steps import Group, Seat, Show, Step
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KAnonymity, Requirement, Together, check_persons
from incrowd.vocabulary.schema import Schema

Both = tuple[tuple[Step, ...], tuple[Step, ...]]
"""The steps of the table of persons, and those of the events."""


def decide_both(
    method: Method, persons: Population, events: Population, requirement: Requirement, randomness: Randomness
) -> Both:
    """What is shown of persons and of their events; ``events.owners`` has the row of each event's person."""
    check_sized(requirement)
    check_persons(requirement, persons.rows)
    if isinstance(method, WholeHistories):
        return _whole(method, persons, events, requirement, randomness)
    if isinstance(method, KnownRows):
        return _known(method, persons, events, check_k_alone(requirement), randomness)
    raise ParameterError(f"{method.name} does not release two tables. Name no method.")


def check_sized(requirement: Requirement) -> None:
    """Raise if anything but k of all quasi-identifiers, and what is required of columns, is asked for."""
    if not isinstance(requirement.parts[0], KAnonymity):
        raise RequirementError("Of two tables all quasi-identifiers are known together. Ask for one k.")


def required_of(requirement: Requirement, columns: Collection[str], target: str | None) -> KAnonymity | Together:
    """What is required of one of two tables: k, and what is required of its columns; the class is the target.

    Examples
    --------
    >>> from incrowd.vocabulary.requirements.words import asked_for
    >>> both = asked_for("distinct-l=2 on ward, t=0.3 on income", KAnonymity(5))
    >>> print(required_of(both, ["ward", "day"], None))
    5-anonymity; distinct 2-diversity of ward
    """
    size = KAnonymity(requirement.smallest_group)
    parts = [part for part in requirement.on_columns if (part.on or target) in columns]
    return Together((size, *parts)) if parts else size


def _histories(persons: Population, events: Population, randomness: Randomness) -> Histories:
    assert events.owners is not None
    table = events.sample()
    columns = [table[name] for name in events.schema.quasi_identifiers]
    return Histories.of(events.owners, persons.rows, columns, table.columns.get(ORDER), randomness)


def _whole(
    method: WholeHistories, persons: Population, events: Population, requirement: Requirement, randomness: Randomness
) -> Both:
    """Groups of persons by what does not change, and by summaries of their events."""
    histories = _histories(persons, events, randomness)
    kept = levels(histories.lengths, requirement.smallest_group, randomness)
    both = _BothBeyond(events.sample(), events.schema, histories, requirement, method.boxes, persons)
    if isinstance(requirement, KAnonymity):
        grouping = by_summaries(*_joined(persons, events.sample(), events.schema, histories), kept, requirement.k)
        shown = both.shown(grouping, histories.lengths)
    else:
        shown = both.settled(kept)
    sizes = np.bincount(shown.groups).tolist()
    looks = tuple(Group(rows, look) for rows, look in zip(sizes, shown.beside, strict=True))
    show = Show(persons.schema.quasi_identifiers, looks)
    return (Seat(tuple(sizes), shown.groups.astype(np.int32)), show), shown.steps(events.schema)


@dataclass(frozen=True, eq=False)
class _BothBeyond(Beyond):
    """Groups of persons with a table of their own, where more than k may be required of columns of both tables."""

    persons: Population

    def shown(self, grouping: Grouping, kept: Ints) -> ShownHistories:
        """What is shown of groups, in both tables."""
        shown, k = super().shown(grouping, kept), self.requirement.smallest_group
        table, schema, count = self.persons.sample(), self.persons.schema, int(shown.groups.max()) + 1
        everybody = np.arange(self.persons.rows)
        forms = [
            common_forms(table[name], schema[name], everybody, shown.groups, count, k=k, boxes=self.boxes)
            for name in schema.quasi_identifiers
        ]
        return replace(shown, beside=tuple(zip(*forms, strict=True)))

    def failing(self, shown: ShownHistories) -> Ints:
        """The groups that do not keep what is required of a column of either table."""
        of_events = required_of(self.requirement, self.table.columns, self.schema.target)
        failing = shown.failing(self.table, self.schema, of_events)
        judge, marks = self._of_persons()
        if judge.counts_only:
            return failing
        of_person = shown.history_of_group[shown.groups]
        holds = judge.holds(judge.tally(marks, of_person, int(of_person.max()) + 1))
        return np.union1d(failing, shown.groups[~holds[of_person]])

    def _of_persons(self) -> tuple[Judge, Ints]:
        """What is required of columns of the persons, and the marks of these."""
        table, schema = self.persons.sample(), self.persons.schema
        judge = Judge.of(required_of(self.requirement, table.columns, schema.target), self.persons)
        return judge, judge.of_rows(table)

    def grouped(self, kept: Ints) -> Grouping:
        """By events kept, then by summaries, while every group keeps what is required; of who has no events less is."""
        rows = np.flatnonzero(self.histories.kept(kept))
        owners, idle = self.histories.owners[rows], np.flatnonzero(kept == 0)
        own, described, events = self.persons.sample(), self.persons.schema, self.table.take(rows)
        columns = {name: column.take(owners) for name, column in own.columns.items()} | dict(events.columns)
        known = {column.name: column for column in (*described.columns, *self.schema.columns) if column.name in columns}
        joined = EncodedTable.of(columns.values())
        alone, whose = self._of_persons(), np.append(owners, idle)
        alone = alone[0], alone[1][whose]
        active = alone
        if len(rows):
            both = HistoryRows(joined, Schema(tuple(known.values())), owners.astype(np.int32)).as_population
            judge = Judge.of(self.requirement, both)
            active = judge, judge.of_rows(joined, owners.astype(np.int32))
        summed, schema = _joined(self.persons, self.table, self.schema, self.histories)
        rows_of = rows_by_person(whose, self.histories.persons)
        return group_persons(summed.take(whose), schema, kept, lambda length: active if length else alone, rows_of)


def _joined(
    persons: Population, events: EncodedTable, schema: Schema, histories: Histories
) -> tuple[EncodedTable, Schema]:
    """What is known of each person, its events summed up; the class is the person's, or what most events have."""
    own, described = persons.sample(), persons.schema
    summed, of_events = summaries(events, schema, histories.owners, histories.persons)
    columns = [described[name] for name in described.encoded]
    columns += [column for column in of_events.columns if described.target is None or column.name != of_events.target]
    encoded = {name: own[name] for name in described.encoded} | dict(summed.columns)
    return EncodedTable.of(encoded[column.name] for column in columns), Schema(tuple(columns))


def _classes(
    persons: Population, events: Population, histories: Histories
) -> tuple[EncodedColumn, EncodedColumn] | tuple[None, None]:
    """The class of each person and of each event, whichever table has it: an event has its person's, or most events."""
    if (name := persons.schema.target) is not None:
        target = persons.sample()[name]
        return target, target.take(histories.owners)
    if (name := events.schema.target) is not None:
        target = events.sample()[name]
        return commonest(target, histories.owners, histories.persons), target
    return None, None


def _known(method: KnownRows, persons: Population, events: Population, k: int, randomness: Randomness) -> Both:
    """One recoding for all rows of both tables."""
    histories = _histories(persons, events, randomness)
    lengths, kept = method.cut(histories, k, randomness)
    rows = np.flatnonzero(kept)
    own, table = persons.sample(), events.sample().take(rows)
    of_persons, of_events = _classes(persons, events, histories)
    of_kept = None if of_events is None else of_events.take(rows)
    refinement = SupportRefinement(
        [Refined.of(table[name], events.schema, of_kept) for name in events.schema.quasi_identifiers],
        histories.owners[rows],
        histories.persons,
        of_persons=[Refined.of(own[name], persons.schema, of_persons) for name in persons.schema.quasi_identifiers],
        static=lengths if method.count else np.zeros(histories.persons, np.int64),
        known=method.rows,
        k=k,
    ).run()
    return refinement.steps(of_persons=True), (kept_rows(kept), *refinement.steps())
