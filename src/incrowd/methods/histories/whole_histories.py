"""Whole histories: persons are grouped, and all of a group show one history, which at least k of them share.

Each keeps as many rows as the shortest history of its group, and rows that stand at the same place show what they have
in common. Persons are grouped by how many rows they have, then by their summaries, as InfoGain Mondrian groups rows;
plain Mondrian without a class. Compare Tamersoy, Loukides, Nergiz, Saygin, Malin, "Anonymization of Longitudinal
Electronic Medical Records" (IEEE TITB 2012), which aligns sequences two by two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from incrowd.drawing.wording import counted
from incrowd.errors import RequirementError
from incrowd.methods.histories.rows_of_persons import (
    Grouping,
    Histories,
    Ints,
    common_forms,
    group_persons,
    levels,
    summaries,
)
from incrowd.methods.judging import Judge
from incrowd.methods.method import Population, Presence, check_choice
from incrowd.methods.partitioning.mondrian import BOXES
from incrowd.plan.steps import DROPPED, Group, Reasons, Seat, Show, Step
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.persons import ORDER
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.released_value import Form
from incrowd.vocabulary.requirement import KAnonymity, Requirement, check_persons
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True)
class WholeHistories:
    """Whole histories.

    Parameters
    ----------
    boxes
        ``"splits"`` (default): intervals end at round numbers with rows of k persons between them. ``"extremes"``: they
        go from the smallest to the largest number; this gives away that somebody has exactly these numbers.
    """

    boxes: str = "splits"

    name: ClassVar[str] = "whole-histories"

    def __post_init__(self) -> None:
        check_choice("boxes", self.boxes, BOXES)

    def parameters(self) -> dict[str, Any]:
        """The parameters as plain data."""
        return dict(vars(self))

    def decide(
        self,
        population: Population,
        requirement: Requirement,
        randomness: Randomness,
        preferences: Preferences = INDIFFERENT,  # noqa: ARG002, the catalog says that it has none
    ) -> tuple[Step, ...]:
        """Group persons, cut their histories to one length, and show what rows at the same place have in common."""
        table, schema = population.sample(), population.schema
        owners = np.arange(population.rows, dtype=np.int32) if population.owners is None else population.owners
        persons = int(owners.max(initial=-1)) + 1
        check_persons(requirement, persons)
        columns = [table[name] for name in schema.quasi_identifiers]
        histories = Histories.of(owners, persons, columns, table.columns.get(ORDER), randomness)
        judge = Judge.of(requirement, HistoryRows(table, schema, owners).as_population)
        kept = levels(histories.lengths, judge.k, randomness)
        if judge.counts_only:
            grouping = by_summaries(*summaries(table, schema, histories.owners, persons), kept, judge.k)
            return ShownHistories.of(histories, grouping, schema, judge.k, self.boxes).steps(schema)
        return Beyond(table, schema, histories, requirement, self.boxes).settled(kept).steps(schema)


@dataclass(frozen=True, eq=False)
class HistoryRows:
    """Some rows of persons, as a judge asks of them."""

    table: EncodedTable
    schema: Schema
    owners: Codes

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.table.height

    def sample(self) -> EncodedTable:
        """All of them."""
        return self.table

    def contingency(self, name: str) -> Ints:
        """The rows of each value, asked for where every person has one row."""
        return np.asarray(self.table[name].counts[:, None], np.int64)

    def presence(
        self,
        of: tuple[()],  # noqa: ARG002, all rows are together
        names: tuple[str, ...],
        most: int | None = None,  # noqa: ARG002, all persons are enough, too
    ) -> Presence:
        """Who has which values, all in one cell."""
        codes = tuple(self.table[name].codes for name in names)
        return Presence(np.zeros(self.rows, np.int64), self.owners, codes)

    @property
    def as_population(self) -> Population:
        """The same to who checks types: a judge asks nothing else."""
        return cast(Population, self)


def by_summaries(persons: EncodedTable, described: Schema, kept: Ints, k: int) -> Grouping:
    """By rows kept, then by summaries of persons, while every group has k of them."""
    judge = Judge(KAnonymity(k))
    marks = judge.of_rows(persons)
    return group_persons(persons, described, kept, lambda _: (judge, marks))


@dataclass(frozen=True, eq=False)
class Beyond:
    """Groups of persons where more than k is required: of each class with one history, and of each of its tuples."""

    table: EncodedTable
    schema: Schema
    histories: Histories
    requirement: Requirement
    boxes: str

    def settled(self, kept: Ints) -> ShownHistories:
        """Group while it holds; cuts that break it are taken back, and histories that do so uncut are shortened."""
        kept = self._shortened(kept)
        grouping = self.grouped(kept)
        while True:
            shown = self.shown(grouping, kept)
            failing = self.failing(shown)
            if not len(failing):
                return shown
            whole = grouping.roots(failing)
            if whole.any():
                kept = self._shortened(self._lower(kept, self._lengths(shown, failing[whole], kept)))
                grouping = self.grouped(kept)
            else:
                grouping = grouping.taken_back(failing)

    def shown(self, grouping: Grouping, kept: Ints) -> ShownHistories:
        """What is shown of groups whose persons keep at most so many rows."""
        k = self.requirement.smallest_group
        return ShownHistories.of(self.histories, grouping, self.schema, k, self.boxes, kept)

    def failing(self, shown: ShownHistories) -> Ints:
        """The groups that do not keep what is required."""
        return shown.failing(self.table, self.schema, self.requirement)

    def _shortened(self, kept: Ints) -> Ints:
        """Fewer rows for whom a history is too long: all who keep as many would not keep the requirement together.

        The more rows persons have, the more values: what all of them have is certain.
        """
        while True:
            places = np.unique(kept, return_inverse=True)[1].astype(np.int64)
            shown = self.shown(Grouping(np.full(len(kept), -1, np.int64), places), kept)
            failing = self.failing(shown)
            if not len(failing):
                return kept
            kept = self._lower(kept, self._lengths(shown, failing, kept))

    def _lengths(self, shown: ShownHistories, groups: Ints, kept: Ints) -> Ints:
        """How many rows persons of these groups keep."""
        return np.unique(kept[np.isin(shown.groups, groups)])

    def _lower(self, kept: Ints, failing: Ints) -> Ints:
        """With the longest of these histories as long as the next shorter; the next longer as long as the shortest."""
        lengths = np.unique(kept)
        if len(lengths) == 1:
            raise RequirementError(
                f"Even if all {len(kept):,} persons have one history, of {counted(int(lengths[0]), 'row')}, "
                f"they do not keep {self.requirement}. Groups of fewer persons might have. Ask for less."
            )
        place = max(1, int(np.searchsorted(lengths, failing.max())))
        return np.where(kept == lengths[place], lengths[place - 1], kept)

    def grouped(self, kept: Ints) -> Grouping:
        """By rows kept, then by summaries, while every group keeps what is required of persons with one history."""
        rows = np.flatnonzero(self.histories.kept(kept))
        owners = self.histories.owners[rows]
        released = self.table.take(rows)
        judge = Judge.of(self.requirement, HistoryRows(released, self.schema, owners.astype(np.int32)).as_population)
        persons, described = summaries(self.table, self.schema, self.histories.owners, self.histories.persons)
        marks = judge.of_rows(released, owners.astype(np.int32))
        rows_of = rows_by_person(owners, self.histories.persons)
        return group_persons(persons.take(owners), described, kept, lambda _: (judge, marks), rows_of)


def rows_by_person(owners: Ints, persons: int) -> list[Ints]:
    """The rows of each person."""
    order = np.argsort(owners, kind="stable")
    return np.split(order, np.cumsum(np.bincount(owners, minlength=persons))[:-1])


@dataclass(frozen=True, eq=False)
class ShownHistories:
    """What is shown of a grouping: the seat of each row, and the forms of each seat; the group of each seat.

    ``beside`` is what else is shown of the persons of each group, in a table of their own.
    """

    histories: Histories
    groups: Ints
    seats: Ints
    forms: list[tuple[Form, ...]]
    group_of: Ints
    beside: tuple[tuple[Form, ...], ...] = ()

    @classmethod
    def of(
        cls,
        histories: Histories,
        grouping: Grouping,
        schema: Schema,
        k: int,
        boxes: str,
        kept_at_most: Ints | None = None,
    ) -> ShownHistories:
        """Cut to the shortest history of each group, aligned, and shown; each person keeps at most so many rows."""
        groups, count = grouping.groups
        shortest = np.full(count, np.iinfo(np.int64).max)
        np.minimum.at(shortest, groups, histories.lengths if kept_at_most is None else kept_at_most)
        kept = histories.kept(shortest[groups])
        begin = np.cumsum([0, *shortest])
        seats = np.where(kept, begin[groups[histories.owners]] + histories.places(kept), DROPPED)
        total = int(begin[-1])
        columns = [
            common_forms(column, schema[column.name], histories.owners, seats, total, k=k, boxes=boxes)
            for column in histories.columns
        ]
        forms: list[tuple[Form, ...]] = list(zip(*columns, strict=True))
        return cls(histories, groups, seats, forms, np.repeat(np.arange(count), shortest))

    def failing(self, table: EncodedTable, schema: Schema, requirement: Requirement) -> Ints:
        """The groups whose history, or one of its tuples, does not keep what is required beyond k."""
        if not requirement.on_columns:
            return np.empty(0, np.int64)
        rows = np.flatnonzero(self.seats >= 0)
        if not len(rows):
            return np.empty(0, np.int64)
        owners, seats = self.histories.owners[rows].astype(np.int32), self.seats[rows]
        released = table.take(rows)
        judge = Judge.of(requirement, HistoryRows(released, schema, owners).as_population)
        codes = tuple(released[name].codes for name in judge.names)
        broken = np.zeros(len(self.forms), bool)
        for cells in (self.history_of_group[self.group_of], self._tuples):
            holds = judge.holds(judge.counted(Presence(cells[seats], owners, codes), int(cells.max()) + 1))
            broken |= ~holds[cells]
        return np.unique(self.group_of[broken])

    @cached_property
    def _looks(self) -> Ints:
        """For each seat the number of what it shows."""
        looks: dict[tuple[Form, ...], int] = {}
        return np.array([looks.setdefault(form, len(looks)) for form in self.forms], np.int64)

    @cached_property
    def history_of_group(self) -> Ints:
        """For each group the number of its history; groups that show the same have one."""
        of_group: list[list[int]] = [[] for _ in range(int(self.groups.max()) + 1)]
        for group, look in zip(self.group_of.tolist(), self._looks.tolist(), strict=True):
            of_group[group].append(look)
        beside = self.beside or ((),) * len(of_group)
        histories: dict[tuple[tuple[Form, ...], tuple[int, ...]], int] = {}
        shown = ((own, tuple(sorted(rows))) for own, rows in zip(beside, of_group, strict=True))
        return np.array([histories.setdefault(one, len(histories)) for one in shown], np.int64)

    @cached_property
    def _tuples(self) -> Ints:
        """For each seat the number of its tuple in its history."""
        keys = self.history_of_group[self.group_of] * (int(self._looks.max(initial=0)) + 1) + self._looks
        return np.asarray(np.unique(keys, return_inverse=True)[1], np.int64)

    def steps(self, schema: Schema) -> tuple[Step, ...]:
        """The steps, and what there is to say of them."""
        sizes = np.bincount(self.seats[self.seats >= 0], minlength=len(self.forms))
        left_out = int((self.seats < 0).sum())
        groups = tuple(Group(int(rows), forms) for rows, forms in zip(sizes.tolist(), self.forms, strict=True))
        seat = Seat(tuple(sizes.tolist()), self.seats.astype(np.int32), left_out)
        return seat, Show(schema.quasi_identifiers, groups), self._reasons(left_out)

    def _reasons(self, left_out: int) -> Reasons:
        """How many persons keep how many rows, in how many groups."""
        members = np.bincount(self.groups)
        kept = np.bincount(self.group_of, minlength=len(members))
        lines = tuple(
            (rows, int(members[kept == rows].sum()), int((kept == rows).sum())) for rows in np.unique(kept).tolist()
        )
        facts = (
            ("persons", self.histories.persons),
            ("groups of persons", len(members)),
            ("smallest group", int(members.min())),
            ("rows left out", left_out),
            ("persons left out", 0),
        )
        return Reasons("Histories", ("rows that a person keeps", "persons", "groups"), lines, facts)
