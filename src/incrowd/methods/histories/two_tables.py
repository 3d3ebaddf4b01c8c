"""Two tables and a key: one with a row for each person, the other with their events; what is known of both counts.

A history is what is shown of the person and the multiset of its events, perhaps none. Compare Nergiz, Clifton, Nergiz,
"Multirelational k-Anonymity" (IEEE TKDE 2009).
"""

from __future__ import annotations

import numpy as np

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.common_forms import common_forms
from incrowd.methods.histories.grouping import group_persons
from incrowd.methods.histories.known_rows import KnownRows, Refined, SupportRefinement, kept_rows
from incrowd.methods.histories.rows_of_persons import Histories, levels
from incrowd.methods.histories.summaries import commonest, summaries
from incrowd.methods.histories.whole_histories import ShownHistories, WholeHistories
from incrowd.methods.judging import Judge
from incrowd.methods.method import Method, Population
from incrowd.plan.steps import Group, Seat, Show, Step
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import KAnonymity, Requirement, check_persons
from incrowd.vocabulary.schema import Schema

Both = tuple[tuple[Step, ...], tuple[Step, ...]]
"""The steps of the table of persons, and those of the events."""


def decide_both(
    method: Method, persons: Population, events: Population, requirement: Requirement, randomness: Randomness
) -> Both:
    """What is shown of persons and of their events; ``events.owners`` has the row of each event's person."""
    k = check_alone(requirement)
    check_persons(requirement, persons.rows)
    if isinstance(method, WholeHistories):
        return _whole(method, persons, events, k, randomness)
    if isinstance(method, KnownRows):
        return _known(method, persons, events, k, randomness)
    raise ParameterError(f"{method.name} does not release two tables. Name no method.")


def check_alone(requirement: Requirement) -> int:
    """k; raises if anything is required beside it."""
    if not isinstance(requirement, KAnonymity):
        raise RequirementError(
            "Of two tables k is promised, and nothing beyond it yet. Leave the other requirements out."
        )
    return requirement.k


def _histories(persons: Population, events: Population, randomness: Randomness) -> Histories:
    assert events.owners is not None
    table = events.sample()
    columns = [table[name] for name in events.schema.quasi_identifiers]
    return Histories.of(events.owners, persons.rows, columns, table.columns.get(ORDER), randomness)


def _whole(method: WholeHistories, persons: Population, events: Population, k: int, randomness: Randomness) -> Both:
    """Groups of persons by what does not change, and by summaries of their events."""
    histories = _histories(persons, events, randomness)
    table, schema = _joined(persons, events, histories)
    judge = Judge(KAnonymity(k))
    kept = levels(histories.lengths, k, randomness)
    grouping = group_persons(table, schema, kept, judge, judge.of_rows(table))
    shown = ShownHistories.of(histories, grouping, events.schema, k, method.boxes)
    groups, count = grouping.groups
    own, names, everybody = persons.sample(), persons.schema.quasi_identifiers, np.arange(persons.rows)
    forms = [
        common_forms(own[name], persons.schema[name], everybody, groups, count, k=k, boxes=method.boxes)
        for name in names
    ]
    sizes = np.bincount(groups, minlength=count).tolist()
    show = Show(names, tuple(Group(rows, look) for rows, look in zip(sizes, zip(*forms, strict=True), strict=True)))
    return (Seat(tuple(sizes), groups.astype(np.int32)), show), shown.steps(events.schema)


def _joined(persons: Population, events: Population, histories: Histories) -> tuple[EncodedTable, Schema]:
    """What is known of each person, its events summed up; the class is the person's, or what most events have."""
    own, described = persons.sample(), persons.schema
    summed, of_events = summaries(events.sample(), events.schema, histories.owners, histories.persons)
    columns = [described[name] for name in described.encoded]
    columns += [column for column in of_events.columns if described.target is None or column.name != of_events.target]
    made = {name: own[name] for name in described.encoded} | dict(summed.columns)
    return EncodedTable.of(made[column.name] for column in columns), Schema(tuple(columns))


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
