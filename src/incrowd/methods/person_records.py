"""Who is in which record, where a person may have several rows: all that sizes and evidence of groups are counted from.

A record is a combination of values. Its *entries* are the persons who have a row of it, each beside what a requirement
must know of the row. A person in several records of a group counts once there, so nothing of it is a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.counting import sorted_by_person
from incrowd.methods.judging import LARGEST, Counts, Flags, Judge
from incrowd.methods.method import Population, Presence
from incrowd.trees.compiled import compiled


@compiled
def persons_in(groups: Any, persons: Any, count: int) -> Any:
    """How many persons each group has; entries are in the order of their persons, and -1 is in no group."""
    sizes = np.zeros(count, np.int64)
    last = np.full(count, -1, np.int64)
    for entry in range(groups.size):
        group = groups[entry]
        if group >= 0 and last[group] != persons[entry]:
            last[group] = persons[entry]
            sizes[group] += 1
    return sizes


def distinct_persons(cells: npt.NDArray[np.integer], persons: npt.NDArray[np.integer], count: int) -> Counts:
    """How many persons are in each cell, from a cell and a person a row.

    Examples
    --------
    >>> distinct_persons(np.array([1, 0, 1, 1]), np.array([4, 4, 4, 2]), 3).tolist()
    [1, 2, 0]
    """
    order = sorted_by_person(persons, int(persons.max(initial=-1)) + 1)
    return np.asarray(persons_in(cells[order], persons[order], count), np.int64)


@compiled
def _each_once(order: Any, cells: Any, persons: Any, count: int) -> Any:
    """Of rows in the order of their persons the first of each person in each cell."""
    last = np.full(count, -1, np.int64)
    first = np.empty(order.size, np.int64)
    used = 0
    for at in range(order.size):
        row = order[at]
        if last[cells[row]] != persons[row]:
            last[cells[row]] = persons[row]
            first[used] = row
            used += 1
    return first[:used]


@dataclass(frozen=True, eq=False)
class PersonRecords:
    """The entries of records, each once, in the order of their persons.

    ``codes``: the codes of each column that the requirement is about.
    """

    judge: Judge
    record: Counts
    person: Counts
    codes: tuple[Counts, ...]

    @classmethod
    def of(cls, judge: Judge, population: Population, names: Sequence[str]) -> PersonRecords:
        """The records are the combinations of these attributes, as ``population.combinations`` numbers them."""
        return cls.among(judge, population.presence(names, judge.names))

    @classmethod
    def among(cls, judge: Judge, presence: Presence) -> PersonRecords:
        """The entries of the cells of a presence."""
        cells, persons = presence.cells, presence.persons
        for codes, width in zip(presence.codes, judge.widths, strict=True):
            cells = np.unique(cells.astype(np.int64) * width + codes, return_inverse=True)[1]
        order = sorted_by_person(persons, int(persons.max(initial=-1)) + 1)
        first = _each_once(order, cells, persons, int(cells.max(initial=-1)) + 1)
        some = tuple(each[first].astype(np.int64) for each in presence.codes)
        return cls(judge, presence.cells[first].astype(np.int64), persons[first].astype(np.int64), some)

    def sizes(self, group: Counts, count: int) -> Counts:
        """How many persons each group of records has; ``group`` has the group of each record, -1 for none."""
        return np.asarray(persons_in(group[self.record], self.person, count), np.int64)

    def holds(self, group: Counts, count: int) -> Flags:
        """Whether each group of records may be released; the group of each, -1 for none."""
        if self.judge.counts_only:
            sizes = self.sizes(group, count)
            return np.asarray((sizes >= self.judge.k) | (sizes == 0))
        return self.holds_entries(np.arange(len(self.record)), group[self.record], count)

    def holds_entries(self, entries: Counts, group: Counts, count: int) -> Flags:
        """Whether each group of entries may be released."""
        allowed = np.ones(count, np.bool_)
        for first, evidence in self._evidence(entries, group, count):
            allowed[first : first + len(evidence)] = self.judge.holds(evidence)
        return allowed

    def _evidence(self, entries: Counts, group: Counts, count: int) -> Iterator[tuple[int, Counts]]:
        """The evidence of groups of entries, in stretches that fit into memory: the first group, and the evidence."""
        step = max(1, LARGEST // self.judge.width)
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group, np.arange(0, count + step, step), sorter=order)
        for number, first in enumerate(range(0, count, step)):
            mine = order[starts[number] : starts[number + 1]]
            some, last = entries[mine], min(first + step, count)
            there = Presence(group[mine] - first, self.person[some], tuple(codes[some] for codes in self.codes))
            yield first, self.judge.counted(there, last - first)
