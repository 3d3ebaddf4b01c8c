"""The groups of a refinement where a person may have several rows: persons are counted, each once in a group.

A record is an entry: what a person's rows show, with what a requirement must know of them. Entries begin in the order
of their persons, and leaves are split stably, so in every leaf a person's entries lie side by side: whoever counts
persons has to remember the last one only. Where a group is several leaves, its entries are put in that order first.

Persons of parts do not add up. Where a value is disclosed, those who are left hidden are all but the persons who have
no other value there. What is required beyond k may hold for two groups and not for both together, or the other way
round, so it is judged when a refinement is about to be made, of exactly the groups that it leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.methods.method import Combinations
from incrowd.methods.person_records import PersonRecords, distinct_persons
from incrowd.methods.top_down_refinement.attribute import AttributeState
from incrowd.methods.top_down_refinement.partitions import Partitions
from incrowd.trees.compiled import compiled

Ints = npt.NDArray[np.int64]
_NOBODY, _SEVERAL, _NOTHING = -1, -2, -3


class PersonTally(NamedTuple):
    """For each id: the persons who would show it, those who would show nothing else there, and who was met last."""

    having: Any
    only: Any
    last: Any


class Watched(NamedTuple):
    """Attributes with candidates: which, whether each discloses its values one by one, and the next id of each code.

    ``upcoming`` has the ids, from ``offsets`` on for each attribute.
    """

    attributes: Any
    alone: Any
    offsets: Any
    upcoming: Any


@compiled
def laid_out(codes: Any, records: Any, persons: Any) -> Any:
    """The codes of entries, each with its person and its number as two more columns."""
    width = codes.shape[1]
    entries = np.empty((records.size, width + 2), np.int32)
    for entry in range(records.size):
        for attribute in range(width):
            entries[entry, attribute] = codes[records[entry], attribute]
        entries[entry, width] = persons[entry]
        entries[entry, width + 1] = entry
    return entries


@compiled
def lower_by_persons(codes: Any, order: Any, starts: Any, watched: Any, meaning: Any, tally: Any, smallest: Any) -> int:
    """Lower the smallest group that each candidate would leave of new groups; returns the smallest of these.

    ``order``: the records of the groups, from ``starts`` on for each, in the order of their persons.
    """
    touched = np.empty(tally.having.size, np.int64)
    single = np.full(watched.attributes.size, _NOTHING, np.int64)
    least = np.iinfo(np.int64).max
    of = codes.shape[1] - 2
    for group in range(starts.size - 1):
        count, size, at, end = 0, 0, starts[group], starts[group + 1]
        while at < end:
            person, first = codes[order[at], of], at
            at += 1
            while at < end and codes[order[at], of] == person:
                at += 1
            size += 1
            if at == first + 1:
                count = _meet_once(codes, order[first], watched, tally, touched, count)
            else:
                for each in range(first, at):
                    count = _meet(codes, order[each], person, watched, tally, single, touched, count)
                _leave(single, tally.only)
        least = min(least, size)
        _lower(size, touched[:count], meaning, tally, smallest)
    return int(least)


@compiled
def _meet_once(codes: Any, record: int, watched: Any, tally: Any, touched: Any, count: int) -> int:
    """Count a person with one record under the ids that it would show next; touched receives new ones."""
    for w in range(watched.attributes.size):
        attribute = watched.attributes[w]
        number = watched.upcoming[watched.offsets[attribute] + codes[record, attribute]]
        if number >= 0:
            if tally.having[number] == 0:
                touched[count] = number
                count += 1
            tally.having[number] += 1
            tally.only[number] += 1
    return count


@compiled
def _meet(codes: Any, record: int, person: int, watched: Any, tally: Any, single: Any, touched: Any, count: int) -> int:
    """Count a person with several records, read one by one."""
    for w in range(watched.attributes.size):
        attribute = watched.attributes[w]
        number = watched.upcoming[watched.offsets[attribute] + codes[record, attribute]]
        if watched.alone[w] and single[w] != number:
            single[w] = number if single[w] == _NOTHING else _SEVERAL
        if number >= 0 and tally.last[number] != person:
            if tally.having[number] == 0:
                touched[count] = number
                count += 1
            tally.having[number] += 1
            tally.last[number] = person
    return count


@compiled
def _leave(single: Any, only: Any) -> None:
    """All records of a person are read: count it where it would show one value of an attribute, and no other."""
    for w in range(single.size):
        if single[w] >= 0:
            only[single[w]] += 1
        single[w] = _NOTHING


@compiled
def _lower(size: int, touched: Any, meaning: Any, tally: Any, smallest: Any) -> None:
    """The smallest parts the candidates would leave in one group of so many persons."""
    for number in touched:
        part, left = tally.having[number], size - tally.only[number]
        if meaning.one_by_one[number] and 0 < left < part:
            part = left
        candidate = meaning.decides[number]
        smallest[candidate] = min(smallest[candidate], part)
        tally.having[number], tally.only[number], tally.last[number] = 0, 0, _NOBODY


class PersonPartitions(Partitions):
    """Leaf partitions of entries; sizes are numbers of persons.

    ``held``: the combinations of values that occur. ``entries``: who is in which of them, and the judge.
    """

    def __init__(
        self,
        held: Combinations,
        attributes: Sequence[AttributeState],
        sets: npt.NDArray[np.bool_],
        entries: PersonRecords,
    ) -> None:
        self._entries, self._evidence = entries, None
        ids = sum(len(attribute.open) for attribute in attributes)
        self._persons = PersonTally(np.zeros(ids, np.int64), np.zeros(ids, np.int64), np.full(ids, _NOBODY))
        codes = laid_out(held.codes, entries.record, entries.person)
        self._begin(codes, np.ones(len(codes), np.int64), attributes, sets)

    def sizes(self) -> Ints:
        """Persons of each leaf partition."""
        at, lengths = self._inside(np.arange(self._number))
        leaf = np.repeat(np.arange(self._number), lengths)
        return distinct_persons(leaf, self._records.codes[at, -2], self._number)

    def allows(self, attribute: int, candidate: int) -> bool:
        """Whether every group that the candidate would leave keeps what is required beyond k."""
        if self._entries.judge.counts_only:
            return True
        state = self._attributes[attribute]
        leaves = self._showing(attribute, state.refines(candidate))
        at, lengths = self._inside(leaves)
        next_ids = state.next[self._records.codes[at, attribute]]
        part = (next_ids == candidate).astype(np.int64) if state.one_by_one else next_ids
        entries = self._records.codes[at, -1].astype(np.int64)
        for known in np.flatnonzero(self._sets[:, attribute]).tolist():
            groups = np.repeat(self._leaves.group[known][leaves], lengths) * self.first[-1] + part
            numbers, group = np.unique(groups, return_inverse=True)
            if not self._entries.holds_entries(entries, group, len(numbers)).all():
                return False
        return True

    def _showing(self, attribute: int, shown: int) -> Ints:
        """The leaves that show an id of an attribute."""
        leaves, leaf = [], int(self._heads[self.first[attribute] + shown])
        while leaf >= 0:
            leaves.append(leaf)
            leaf = int(self._leaves.following[leaf, attribute])
        return np.array(leaves, np.int64)

    def _count(self, changed: Ints, part_of: Ints, parts: int, sets: npt.NDArray[np.bool_]) -> None:
        """Read the changed leaves, and lower the minima of the sets that are concerned."""
        at, lengths = self._inside(changed)
        self.reads = len(at)
        for known in np.flatnonzero(sets).tolist():
            members = self._sets[known]
            watched = [i for i, state in enumerate(self._attributes) if members[i] and state.open.any()]
            order, starts = self._grouped(known, changed, part_of, parts, at, lengths)
            least = lower_by_persons(
                self._records.codes,
                order,
                starts,
                Watched(
                    np.array(watched, np.int64),
                    np.array([self._attributes[i].one_by_one for i in watched], np.bool_),
                    self._offsets,
                    self._upcoming,
                ),
                self._meaning,
                self._persons,
                self.smallest[known],
            )
            self.anonymity[known] = min(int(self.anonymity[known]), least)

    def _grouped(
        self, known: int, changed: Ints, part_of: Ints, parts: int, at: Ints, lengths: Ints
    ) -> tuple[Ints, Ints]:
        """The records of each new group of a set, in the order of their persons, and where each group begins."""
        if self._sets[known].all():  # then every leaf looks different
            self._leaves.group[known, changed] = changed
            return at, np.concatenate([[0], np.cumsum(lengths)])
        keys = self._leaves.group[known, changed] * parts + part_of
        _, first, group = np.unique(keys, return_index=True, return_inverse=True)
        self._leaves.group[known, changed] = changed[first[group]]
        of = np.repeat(group, lengths)
        order = np.lexsort((self._records.codes[at, -2], of))
        return at[order], np.searchsorted(of[order], np.arange(len(first) + 1))
