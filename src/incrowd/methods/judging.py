"""May these groups be released? A requirement, bound to the table it is asked of.

What a judge must know of a group is its *evidence*: its size, and how many of it have which value of each column the
requirement is about, side by side in one row of numbers.

Where every row is a person, the evidence of a union of groups is the sum of theirs. Where a person may have several
rows, persons are counted, and one of them may be in several groups: the evidence of a union is counted anew from who
is where (:class:`Presence`). Of each column there are then two blocks of numbers: the persons who have each value
(bearers), and each person once, under the value of its own that most persons of the group have (main values).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.counting import count_below, count_together, sorted_by_person
from incrowd.methods.method import Combinations, Population, Presence
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.requirement import (
    Columnwise,
    KAnonymity,
    KnownTogether,
    OnShares,
    Requirement,
    Together,
    check_persons,
    subject_names,
)

if TYPE_CHECKING:
    from incrowd.vocabulary.requirements.columns import RequirementSubject

Counts = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
LARGEST = 1 << 22  # numbers of evidence that are made at once: 32 MB


@dataclass(frozen=True, eq=False)
class JudgedPart:
    """A requirement on a column, the column as it is in the whole table, and where its numbers begin in evidence."""

    requirement: Columnwise
    subject: RequirementSubject
    start: int

    def holds(self, evidence: Counts) -> Flags:
        """Whether each group keeps it."""
        counts = evidence[:, self.start : self.start + self.subject.width]
        if isinstance(self.requirement, OnShares):
            return self.requirement.holds_shares(counts, evidence[:, 0], self.subject)
        return self.requirement.holds_each(counts, self.subject)


@dataclass(frozen=True, eq=False)
class Judge:
    """A requirement and the columns it is about.

    ``names`` are these columns, ``widths`` how many codes each has; ``persons`` whether persons are counted, who may
    have several rows; ``own`` whether the requirement is somebody's own: then it is asked about each group's class
    histogram.
    """

    requirement: Requirement
    parts: tuple[JudgedPart, ...] = ()
    names: tuple[str, ...] = ()
    widths: tuple[int, ...] = ()
    persons: bool = False
    own: bool = False

    @classmethod
    def of(cls, requirement: Requirement, population: Population) -> Judge:
        """Bind a requirement to a table; raises if not even all rows together keep it."""
        persons = has_several_rows(population)
        check_size(requirement, population)
        if isinstance(requirement, KAnonymity | KnownTogether):
            return cls(requirement, persons=persons)
        from incrowd.vocabulary.requirements.columns import RequirementSubject

        schema, table = population.schema, population.sample()
        names = subject_names(requirement, schema.target)
        widths = tuple(table[name].width for name in names)
        judge = cls(requirement, (), names, widths, persons, not isinstance(requirement, Together))
        whole = judge.whole(population)
        parts = []
        for part in requirement.on_columns if isinstance(requirement, Together) else ():
            place = names.index(part.on or schema.target or "")
            start = judge.starts[place] + (widths[place] if persons and part.by_main else 0)
            counts = whole[start : start + widths[place]]
            size = int(whole[0]) if persons and isinstance(part, OnShares) else None
            subject = RequirementSubject.of(table[names[place]], counts, schema[names[place]].hierarchy, size)
            _check_part(part, subject, int(whole[0]) if persons else None)
            parts.append(JudgedPart(part, subject, start))
        parted = cls(requirement, tuple(parts), names, widths, persons, judge.own)
        parted.check(whole)
        return parted

    def whole(self, population: Population) -> Counts:
        """The evidence of all rows together."""
        if self.persons:
            return np.asarray(self.counted(population.presence((), self.names), 1)[0])
        columns = [population.contingency(name).sum(axis=1) for name in self.names]
        return np.concatenate([[population.rows], *columns]).astype(np.int64)

    def check(self, whole: Counts) -> None:
        """Raise if not even all rows together keep the requirement, or if no method can keep it."""
        if not getattr(self.requirement, "monotone", True):
            raise ParameterError(
                "This requirement may hold for two groups and not for both together. No method can keep it."
            )
        if self.own and not self.holds(whole[None, :])[0]:
            raise RequirementError(
                f"Even the {whole[0]} {'persons' if self.persons else 'rows'} of the whole table together do not "
                f"satisfy {self.requirement}. Ask for less, or add {'persons' if self.persons else 'rows'}."
            )

    @property
    def by_size(self) -> bool:
        """Whether numbers of rows decide."""
        return self.counts_only and not self.persons

    @property
    def counts_only(self) -> bool:
        """Whether the size of a group decides, of rows or of persons."""
        return not self.parts and not self.own

    @property
    def k(self) -> int:
        """No group may be smaller."""
        return self.requirement.smallest_group

    @cached_property
    def starts(self) -> list[int]:
        """Where the evidence of each column begins; the last is the width of all."""
        blocks = 2 if self.persons else 1
        return [1, *(1 + blocks * np.cumsum(self.widths, dtype=np.int64)).tolist()]

    @property
    def width(self) -> int:
        """How many numbers the evidence of a group has."""
        return self.starts[-1]

    def holds(self, evidence: Counts) -> Flags:
        """Whether each group may be released: groups x evidence. An empty group may."""
        allowed: Flags = (evidence[:, 0] >= self.k) | (evidence[:, 0] == 0)
        for part in self.parts:
            left = np.flatnonzero(allowed)
            allowed[left] = part.holds(evidence[left])
        if self.own:
            start = self.starts[0] + (self.widths[0] if self.names and self.persons else 0)  # of persons, each once
            classes = evidence[:, start : start + self.widths[0]] if self.names else evidence[:, :1]
            allowed &= np.array([not each.any() or self.requirement.holds(each) for each in classes], np.bool_)
        return allowed

    def resting(self, population: Population, tree: Tree, cell_of: Sequence[int] | None = None) -> Evidence:
        """The evidence of the rows that come to rest at each node of a tree, over all rows.

        ``cell_of`` has the cell of each node, if several are one.
        """
        cells = np.arange(len(tree.nodes)) if cell_of is None else np.asarray(cell_of)
        count = int(cells.max()) + 1
        rows = np.zeros(count, np.int64)
        np.add.at(rows, cells, population.count(tree).sum(axis=1))
        if self.persons:
            presence = population.presence(tree, self.names, self.k if self.counts_only else None)
            return PersonEvidence(rows, self, replace(presence, cells=cells[presence.cells]))
        each = np.zeros((count, self.width), np.int64)
        each[:, 0] = rows
        for name, first, last in zip(self.names, self.starts, self.starts[1:], strict=False):
            np.add.at(each[:, first:last], cells, population.histograms(tree, name))
        return RowEvidence(rows, each)

    def of_rows(self, table: EncodedTable, owners: Codes | None = None) -> Counts:
        """What :meth:`tally` must know of each row of a table: whose it is, if rows are not persons, and its codes.

        Rows x columns the requirement is about; where rows are persons, a code is its place in the evidence.
        """
        starts = [0] * len(self.names) if self.persons else self.starts
        codes = [table[name].codes.astype(np.int64) + start for name, start in zip(self.names, starts, strict=False)]
        if self.persons and owners is not None:
            codes.insert(0, owners.astype(np.int64))
        return np.stack(codes, axis=1) if codes else np.empty((table.height, 0), np.int64)

    def tally(self, marks: Counts, parts: npt.NDArray[np.integer], count: int) -> Counts:
        """The evidence of each part, from the marks (:meth:`of_rows`) of some rows and the part of each."""
        if self.persons:
            return self.counted(Presence(parts, marks[:, 0], tuple(marks[:, 1:].T)), count)
        first = np.bincount(parts, minlength=count)[:, None]
        keys = (parts.astype(np.int64)[:, None] * self.width + marks).ravel()
        evidence = np.bincount(keys, minlength=count * self.width).reshape(count, self.width)
        evidence[:, :1] = first
        return evidence

    def counted(self, presence: Presence, count: int) -> Counts:
        """The evidence of so many cells, from who is where: each person counts once in a cell."""
        evidence = np.zeros((count, self.width), np.int64)
        most = int(presence.persons.max(initial=-1)) + 1
        pairs, pair_of = np.unique(presence.cells.astype(np.int64) * most + presence.persons, return_inverse=True)
        cell_of = pairs // max(most, 1)
        evidence[:, 0] = np.bincount(cell_of, minlength=count)
        for codes, width, start in zip(presence.codes, self.widths, self.starts, strict=False):
            facts = np.unique(pair_of * width + codes)
            pair, code = facts // width, facts % width
            places = cell_of[pair] * width + code
            bearers = np.bincount(places, minlength=count * width)
            evidence[:, start : start + width] = bearers.reshape(count, width)
            if not self.persons:
                continue
            order = np.lexsort((code, -bearers[places], pair))
            main = places[order[np.unique(pair[order], return_index=True)[1]]]
            block = np.bincount(main, minlength=count * width).reshape(count, width)
            evidence[:, start + width : start + 2 * width] = block
        return evidence

    def records(self, population: Population, names: Sequence[str]) -> Records:
        """The evidence of each combination of these attributes, in the order of ``population.combinations``."""
        records, columns, rows = [], [], []
        for name, start in zip(self.names, self.starts, strict=False):
            beside = population.combinations((*names, name))
            records.append(_numbered(beside))
            columns.append(beside.codes[:, -1].astype(np.int64) + start)
            rows.append(beside.sizes)
        arrays = [np.concatenate([np.empty(0, np.int64), *each]) for each in (records, columns, rows)]
        order = np.argsort(arrays[0], kind="stable")
        return Records(self, *(each[order] for each in arrays))


@dataclass(frozen=True, eq=False)
class Evidence(ABC):
    """What must be known of cells, the nodes of a tree, to judge unions of them; and the rows of each."""

    rows: Counts

    @abstractmethod
    def of(self, cells: Sequence[int]) -> Counts:
        """The evidence of some cells together: a row of numbers."""

    @abstractmethod
    def rolled_up(self, parents: Sequence[int] | Counts) -> Counts:
        """The evidence of each node with all nodes below it; a parent has a lower number than its children."""


@dataclass(frozen=True, eq=False)
class RowEvidence(Evidence):
    """Where every row is a person: numbers that add up, ``each`` those of a cell."""

    each: Counts

    def of(self, cells: Sequence[int]) -> Counts:
        """The sum."""
        return np.asarray(self.each[list(cells)].sum(axis=0), np.int64)

    def rolled_up(self, parents: Sequence[int] | Counts) -> Counts:
        """Sums from the last node to the first."""
        return summed_up(self.each, parents)


@dataclass(frozen=True, eq=False)
class PersonEvidence(Evidence):
    """Where a person may have several rows: who is in which cell."""

    judge: Judge
    presence: Presence

    @cached_property
    def _sorted(self) -> tuple[Presence, Counts]:
        """Who is where, sorted by cell, and where each cell begins."""
        order = np.argsort(self.presence.cells, kind="stable")
        there = _taken(self.presence, order)
        return there, np.searchsorted(there.cells, np.arange(len(self.rows) + 1))

    @cached_property
    def _met(self) -> tuple[Counts, Iterator[int]]:
        """For each person the number of the last question in which it was met, and the numbers of further ones."""
        return np.zeros(int(self.presence.persons.max(initial=-1)) + 1, np.int64), count(1)

    def of(self, cells: Sequence[int]) -> Counts:
        """Counted anew."""
        there, begin = self._sorted
        if self.judge.counts_only:
            met, numbers = self._met
            return np.array([count_together(there.persons, begin, np.array(cells, np.int64), met, next(numbers))])
        rows = np.concatenate([np.arange(begin[cell], begin[cell + 1]) for cell in cells] or [np.empty(0, np.int64)])
        some = _taken(there, rows)
        together = Presence(np.zeros(len(rows), np.int64), some.persons, some.codes)
        return np.asarray(self.judge.counted(together, 1)[0])

    def rolled_up(self, parents: Sequence[int] | Counts) -> Counts:
        """Counted anew for the nodes of each depth: whoever is below a node is there."""
        if self.judge.counts_only:
            cells, owners = self.presence.cells, self.presence.persons
            order = sorted_by_person(owners, int(owners.max(initial=-1)) + 1)
            return np.asarray(count_below(cells, owners, order, np.asarray(parents, np.int64)))[:, None]
        above, depths = np.asarray(parents), _depths(parents)
        totals, at = np.zeros((len(self.rows), self.judge.width), np.int64), self.presence.cells.astype(np.int64)
        for depth in range(int(depths.max(initial=0)), -1, -1):
            here = depths[at] == depth
            nodes, places = np.unique(at[here], return_inverse=True)
            some = _taken(self.presence, np.flatnonzero(here))
            totals[nodes] = self.judge.counted(Presence(places, some.persons, some.codes), len(nodes))
            at = np.where(here, above[at], at)
        return totals


def _check_part(part: Columnwise, subject: RequirementSubject, persons: int | None) -> None:
    """Raise if all rows together do not keep a requirement; of so many persons parts might, for they may share some."""
    from incrowd.vocabulary.requirements.closeness import TCloseness

    try:
        part.check_possible(subject)
    except RequirementError:
        if persons is None or isinstance(part, TCloseness):  # which all rows keep: its distance does not fit the column
            raise
        raise RequirementError(
            f"{part} is impossible for all {persons} persons of the table together, which is what is left if nothing "
            "may be shown. Parts of the table might keep it. Ask for less, or release these by themselves."
        ) from None


def has_several_rows(population: Population) -> bool:
    """Whether persons are counted: somebody has several rows, or may have, where not all rows are seen."""
    owners = population.owners
    return owners is not None and (len(owners) < population.rows or int(np.bincount(owners).max(initial=0)) > 1)


def check_size(requirement: Requirement, population: Population) -> None:
    """Raise if the table has fewer rows, or persons, than a group must have."""
    if population.owners is None:
        requirement.check_possible(population.rows)
    else:
        there = population.presence((), (), requirement.smallest_group)
        check_persons(requirement, int(np.count_nonzero(np.bincount(there.persons))))


def summed_up(numbers: Counts, parents: Sequence[int] | Counts) -> Counts:
    """The numbers of each node with those of all nodes below it."""
    totals, above, depths = numbers.copy(), np.asarray(parents), _depths(parents)
    for depth in range(int(depths.max(initial=0)), 0, -1):
        there = np.flatnonzero(depths == depth)
        np.add.at(totals, above[there], totals[there])
    return totals


def _taken(presence: Presence, rows: npt.NDArray[np.integer]) -> Presence:
    return Presence(presence.cells[rows], presence.persons[rows], tuple(codes[rows] for codes in presence.codes))


def _depths(parents: Sequence[int] | Counts) -> Counts:
    """How deep each node lies; the root, whose parent is negative, at 0."""
    depths = np.zeros(len(parents), np.int64)
    for node, parent in enumerate(np.asarray(parents).tolist()):
        if parent >= 0:
            depths[node] = depths[parent] + 1
    return depths


@dataclass(frozen=True, eq=False)
class Records:
    """The evidence of records, number by number: so many ``rows`` of a ``record`` at a ``place`` of its evidence."""

    judge: Judge
    record: Counts
    place: Counts
    rows: Counts

    @cached_property
    def _begin(self) -> Counts:
        """Where the numbers of each record begin; they are sorted by record."""
        return np.searchsorted(self.record, np.arange(int(self.record.max(initial=-1)) + 2))

    def holds(self, records: Counts, group: Counts, sizes: Counts) -> Flags:
        """Whether each group may be released; see :meth:`evidence`."""
        allowed = np.ones(len(sizes), np.bool_)
        for first, evidence in self.evidence(records, group, sizes):
            allowed[first : first + len(evidence)] = self.judge.holds(evidence)
        return allowed

    def evidence(self, records: Counts, group: Counts, sizes: Counts) -> Iterator[tuple[int, Counts]]:
        """The evidence of groups of records, in stretches that fit into memory: the first group, and the evidence.

        ``records``, ``group``: some records, and the group of each; -1 for none. ``sizes``: rows of each group.
        """
        lengths = self._begin[records + 1] - self._begin[records]
        at = np.repeat(self._begin[records] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        of, width = np.repeat(group, lengths), self.judge.width
        step = max(1, LARGEST // width)
        order = np.argsort(of, kind="stable")
        starts = np.searchsorted(of, np.arange(0, len(sizes) + step, step), sorter=order)
        for number, first in enumerate(range(0, len(sizes), step)):
            mine, last = order[starts[number] : starts[number + 1]], min(first + step, len(sizes))
            keys = (of[mine] - first) * width + self.place[at[mine]]
            evidence = np.bincount(keys, self.rows[at[mine]], (last - first) * width).astype(np.int64)
            evidence = evidence.reshape(last - first, width)
            evidence[:, 0] = sizes[first:last]
            yield first, evidence


def _numbered(beside: Combinations) -> Counts:
    """The number of each row's combination of all attributes but the last; rows are in lexical order."""
    codes = beside.codes[:, :-1]
    new = np.ones(len(codes), np.bool_)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    return np.cumsum(new) - 1
