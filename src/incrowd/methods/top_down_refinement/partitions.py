"""The rows of the table by what they show, and how large groups would be after each refinement.

This is the TIPS of the paper (leaf partitions and their links) with its QITS (counts per set of attributes) in one.
Only :meth:`Partitions.split` reads records, and only those that show what is refined.

Why minima are enough. A refinement changes the groups that show the refined id, and every leaf of such a group shows
it; so all rows of a new group have just been read, and what it would be split into is known. Groups only ever fall
apart. So the smallest group a candidate would leave never grows: it is the smaller of what it was and of what the new
groups would leave.

A leaf partition is a stretch of records: those that look alike. They lie side by side, which makes them fast to read,
and are moved when their leaf is split. For each attribute the leaves that show the same id are chained (``following``);
when a leaf is split, its first part keeps its number, so that the chains of the other attributes need nothing but the
new leaves put behind it. For each set of attributes that are known together, leaves that look alike on the set form a
group, named by one of its leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Records
from incrowd.methods.method import Combinations
from incrowd.methods.top_down_refinement.attribute import AttributeState
from incrowd.trees.compiled import compiled
from incrowd.vocabulary.encoded_table import Codes


class LeafRecords(NamedTuple):
    """Codes (records x attributes) and rows each record stands for, leaf by leaf; and the same again, for sorting."""

    codes: Any
    weights: Any
    spare_codes: Any
    spare_weights: Any


class LeafTable(NamedTuple):
    """Where each leaf begins and ends, the next leaf of each chain, and the group in each set."""

    begin: Any
    end: Any
    following: Any
    group: Any


class PartTally(NamedTuple):
    """For each changed leaf its part and rows, and, from ``starts`` on, the ids it would show next and their rows."""

    leaves: Any
    part: Any
    rows: Any
    starts: Any
    ids: Any
    counts: Any


class CodeMeaning(NamedTuple):
    """For each id its attribute, its candidate, and whether that takes it out of the hidden ones."""

    attribute: Any
    decides: Any
    one_by_one: Any


@compiled
def split(
    records: Any, leaves: Any, number: int, attribute: int, head: int, position: Any, parts: int
) -> tuple[Any, Any, Any, int]:
    """Split the leaves of a chain by the parts of their records; empty parts are discarded.

    Returns
    -------
    The leaves there are now, the part of each, the heads of the parts' chains, and the number of all leaves.
    """
    room = 0
    leaf = head
    while leaf >= 0:
        room += min(parts, leaves.end[leaf] - leaves.begin[leaf])
        leaf = leaves.following[leaf, attribute]
    changed = np.empty(room, np.int64)
    part_of = np.empty(room, np.int64)
    heads = np.full(parts, -1, np.int64)
    sizes = np.empty(parts, np.int64)
    count = 0
    leaf = head
    while leaf >= 0:
        after = leaves.following[leaf, attribute]
        begin = leaves.begin[leaf]
        _sort(records, begin, leaves.end[leaf], attribute, position, sizes)
        keeper = leaf
        for part in range(parts):
            if sizes[part] == 0:
                continue
            if begin > leaves.begin[keeper]:
                leaf = number
                number += 1
                _follow(leaves, leaf, keeper, attribute)
            leaves.begin[leaf] = begin
            begin += sizes[part]
            leaves.end[leaf] = begin
            leaves.following[leaf, attribute] = heads[part]
            heads[part] = leaf
            changed[count] = leaf
            part_of[count] = part
            count += 1
        leaf = after
    return changed[:count], part_of[:count], heads, number


@compiled
def _sort(records: Any, begin: int, end: int, attribute: int, position: Any, sizes: Any) -> None:
    """Sort the records of a stretch by their part; sizes receives the records of each."""
    sizes[:] = 0
    for i in range(begin, end):
        sizes[position[records.codes[i, attribute]]] += 1
    if sizes.max() == end - begin:
        return
    places = np.empty(sizes.size, np.int64)
    place = begin
    for part in range(sizes.size):
        places[part] = place
        place += sizes[part]
    for i in range(begin, end):
        part = position[records.codes[i, attribute]]
        place = places[part]
        for each in range(records.codes.shape[1]):
            records.spare_codes[place, each] = records.codes[i, each]
        records.spare_weights[place] = records.weights[i]
        places[part] += 1
    records.codes[begin:end] = records.spare_codes[begin:end]
    records.weights[begin:end] = records.spare_weights[begin:end]


@compiled
def _follow(leaves: Any, leaf: int, keeper: int, split_by: int) -> None:
    """A new leaf behind the one it was split from, in every other chain, and in the same groups."""
    for attribute in range(leaves.following.shape[1]):
        if attribute != split_by:
            leaves.following[leaf, attribute] = leaves.following[keeper, attribute]
            leaves.following[keeper, attribute] = leaf
    for known in range(leaves.group.shape[0]):
        leaves.group[known, leaf] = leaves.group[known, keeper]


@compiled
def tally(
    records: Any, leaves: Any, changed: Any, part_of: Any, watched: Any, offsets: Any, upcoming: Any, scratch: Any
) -> Any:
    """Read the records of the changed leaves: rows, and rows per id they would show next in the watched attributes.

    ``upcoming`` has the next id of each code, from ``offsets`` on for each attribute; ``scratch`` a zero for each id.
    """
    rows = np.zeros(changed.size, np.int64)
    starts = np.zeros(changed.size + 1, np.int64)
    ids = np.empty(0, np.int64)
    counts = np.empty(0, np.int64)
    used = 0
    for i in range(changed.size):
        begin, end = leaves.begin[changed[i]], leaves.end[changed[i]]
        room = used + min((end - begin) * watched.size, scratch.size)
        if room > ids.size:
            ids = np.concatenate((ids[:used], np.empty(room, np.int64)))
            counts = np.concatenate((counts[:used], np.empty(room, np.int64)))
        rows[i] = records.weights[begin:end].sum()
        count = _read(
            records.codes[begin:end], records.weights[begin:end], watched, offsets, upcoming, scratch, ids[used:]
        )
        for at in range(used, used + count):
            counts[at] = scratch[ids[at]]
            scratch[ids[at]] = 0
        used += count
        starts[i + 1] = used
    return PartTally(changed, part_of, rows, starts, ids[:used], counts[:used])


@compiled
def _read(codes: Any, weights: Any, watched: Any, offsets: Any, upcoming: Any, scratch: Any, ids: Any) -> int:
    """Add the rows of each id to scratch; ids receives those that occur, and their number is returned."""
    count = 0
    for record in range(weights.size):
        weight = weights[record]
        for w in range(watched.size):
            attribute = watched[w]
            number = upcoming[offsets[attribute] + codes[record, attribute]]
            if number >= 0:
                if scratch[number] == 0:
                    ids[count] = number
                    count += 1
                scratch[number] += weight
    return count


@compiled
def lower(
    leaves: Any, known: int, members: Any, counted: Any, parts: int, meaning: Any, scratch: Any, smallest: Any
) -> int:
    """Form the new groups of a set, and lower the smallest group each candidate would leave.

    ``members`` says which attributes belong to the set. Returns the size of the smallest new group.
    """
    keys = leaves.group[known][counted.leaves] * parts + counted.part
    order = np.argsort(keys, kind="mergesort")
    touched = np.empty(counted.ids.size, np.int64)
    least = np.iinfo(np.int64).max
    i = 0
    while i < order.size:
        key, name = keys[order[i]], counted.leaves[order[i]]
        rows, count = 0, 0
        while i < order.size and keys[order[i]] == key:
            leaf = order[i]
            leaves.group[known, counted.leaves[leaf]] = name
            rows += counted.rows[leaf]
            for at in range(counted.starts[leaf], counted.starts[leaf + 1]):
                number = counted.ids[at]
                if members[meaning.attribute[number]]:
                    if scratch[number] == 0:
                        touched[count] = number
                        count += 1
                    scratch[number] += counted.counts[at]
            i += 1
        least = min(least, rows)
        _lower_group(rows, touched[:count], meaning, scratch, smallest)
    return int(least)


@compiled
def _lower_group(rows: int, touched: Any, meaning: Any, scratch: Any, smallest: Any) -> None:
    """The smallest parts the candidates would leave in one group."""
    for number in touched:
        size = scratch[number]
        scratch[number] = 0
        if meaning.one_by_one[number] and 0 < rows - size < size:
            size = rows - size
        candidate = meaning.decides[number]
        smallest[candidate] = min(smallest[candidate], size)


_NONE = np.iinfo(np.int64).max


def numbered(codes: Codes) -> Codes:
    """Records with their number as one more column: they are moved about, and take it along."""
    return np.concatenate([codes, np.arange(len(codes), dtype=np.int32)[:, None]], axis=1)


class Partitions:
    """Leaf partitions of records, and the groups they form in each set of attributes known together.

    ``held``: the combinations of values that occur: a record for each, that stands for so many rows. ``attributes``:
    the state of each attribute. ``sets``: for each set whether each attribute belongs to it: sets x attributes.
    ``evidence``: what else must be known of the records' rows to judge a group; None if sizes decide.

    ``anonymity``: the smallest group of each set. ``smallest``: for each set and candidate, the smallest part the
    candidate would leave of the groups it touches. ``broken``: whether a candidate would leave a part that may not be
    released for another reason than its size. ``reads``: records read by the last split.
    """

    def __init__(
        self,
        held: Combinations,
        attributes: Sequence[AttributeState],
        sets: npt.NDArray[np.bool_],
        evidence: Records | None = None,
    ) -> None:
        self._evidence = evidence
        codes, rows = np.array(held.codes, order="C"), held.sizes
        self._begin(numbered(codes) if evidence is not None else codes, rows, attributes, sets)

    def _begin(
        self,
        codes: Codes,
        rows: npt.NDArray[np.int64],
        attributes: Sequence[AttributeState],
        sets: npt.NDArray[np.bool_],
    ) -> None:
        """All records in one leaf, and counted."""
        height, width = len(rows), len(attributes)
        self._attributes = attributes
        self._sets = sets
        self.first = np.cumsum([0, *(len(attribute.open) for attribute in attributes)])
        self._records = LeafRecords(codes, rows, np.empty_like(codes), np.empty_like(rows))
        self._leaves = LeafTable(
            np.empty(height, np.int64),
            np.empty(height, np.int64),
            np.empty((height, width), np.int32),
            np.empty((len(sets), height), np.int64),
        )
        self._number = 1
        self._leaves.begin[0], self._leaves.end[0] = 0, height
        self._leaves.following[0], self._leaves.group[:, 0] = -1, 0
        self._heads = np.zeros(self.first[-1], np.int64)
        self._offsets = np.cumsum([0, *(len(attribute.next) for attribute in attributes)])
        self._upcoming = np.empty(self._offsets[-1], np.int64)
        self._meaning = CodeMeaning(
            np.repeat(np.arange(width), np.diff(self.first)),
            np.arange(self.first[-1]),
            np.repeat([attribute.one_by_one for attribute in attributes], np.diff(self.first)),
        )
        self._scratch = np.zeros(self.first[-1], np.int64)
        self.anonymity = np.full(len(sets), _NONE)
        self.smallest = np.full((len(sets), self.first[-1]), _NONE)
        self.broken = np.zeros(self.first[-1], np.bool_)
        for attribute in range(width):
            self.refresh(attribute)
        self._count(np.zeros(1, np.int64), np.zeros(1, np.int64), 1, np.ones(len(sets), np.bool_))

    def refresh(self, attribute: int) -> None:
        """Take over which ids the codes of an attribute would show next."""
        state = self._attributes[attribute]
        first = self.first[attribute]
        upcoming = self._upcoming[self._offsets[attribute] : self._offsets[attribute + 1]]
        upcoming[:] = np.where(state.next < 0, -1, state.next + first)
        self._meaning.decides[first : self.first[attribute + 1]] = state.decides + first

    def split(self, attribute: int, shown: int, into: Sequence[int], position: Codes) -> None:
        """Split the leaves that show an id of an attribute.

        ``shown``: the id. ``into``: the ids that follow it. ``position``: for each code the position of its id among
        these.
        """
        first = self.first[attribute]
        changed, part_of, heads, self._number = split(
            self._records, self._leaves, self._number, attribute, int(self._heads[first + shown]), position, len(into)
        )
        self._heads[first + np.array(into)] = heads
        self._count(changed, part_of, len(into), self._sets[:, attribute])

    def allows(self, attribute: int, candidate: int) -> bool:  # noqa: ARG002, what it leaves is judged beforehand
        """Whether what a candidate would leave, beside its size, may be released, if that was not judged beforehand."""
        return True

    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows of each leaf partition."""
        leaves = zip(self._leaves.begin[: self._number], self._leaves.end[: self._number], strict=True)
        return np.array([self._records.weights[begin:end].sum() for begin, end in leaves])

    def _count(
        self, changed: npt.NDArray[np.int64], part_of: npt.NDArray[np.int64], parts: int, sets: npt.NDArray[np.bool_]
    ) -> None:
        """Read the changed leaves, and lower the minima of the sets that are concerned."""
        concerned = np.logical_or.reduce(self._sets[sets], axis=0)
        watched = [i for i, state in enumerate(self._attributes) if concerned[i] and state.open.any()]
        counted = tally(
            self._records,
            self._leaves,
            changed,
            part_of,
            np.array(watched, np.int64),
            self._offsets,
            self._upcoming,
            self._scratch,
        )
        self.reads = int((self._leaves.end[changed] - self._leaves.begin[changed]).sum())
        for known in np.flatnonzero(sets).tolist():
            least = lower(
                self._leaves,
                known,
                self._sets[known],
                counted,
                parts,
                self._meaning,
                self._scratch,
                self.smallest[known],
            )
            self.anonymity[known] = min(int(self.anonymity[known]), least)
            if self._evidence is not None:
                self._judge(self._evidence, changed, known, [a for a in watched if self._sets[known, a]])

    def _inside(self, leaves: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the records of some leaves lie, leaf by leaf, and how many each has."""
        begin, lengths = self._leaves.begin[leaves], self._leaves.end[leaves] - self._leaves.begin[leaves]
        return np.repeat(begin - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum()), lengths

    def _judge(self, evidence: Records, changed: npt.NDArray[np.int64], known: int, watched: Sequence[int]) -> None:
        """Mark the candidates that would leave, of a group just formed, a part that may not be released."""
        at, lengths = self._inside(changed)
        _, group = np.unique(np.repeat(self._leaves.group[known][changed], lengths), return_inverse=True)
        records, rows = self._records.codes[at, -1].astype(np.int64), self._records.weights[at]
        ids = int(self.first[-1])
        for attribute in watched:
            upcoming = self._upcoming[self._offsets[attribute] : self._offsets[attribute + 1]]
            shown = upcoming[self._records.codes[at, attribute]]
            concerned = shown >= 0
            pairs, part = np.unique(group[concerned] * ids + shown[concerned], return_inverse=True)
            sizes = np.bincount(part, rows[concerned], len(pairs)).astype(np.int64)
            candidate = self._meaning.decides[pairs % ids]
            alone = self._attributes[attribute].one_by_one
            groups = _whole(evidence, records, group, rows) if alone and len(pairs) else None
            for first, parts in evidence.evidence(records[concerned], part, sizes):
                here = slice(first, first + len(parts))
                fails = ~evidence.judge.holds(parts)
                if groups is not None:
                    fails |= ~evidence.judge.holds(groups[pairs[here] // ids] - parts)
                self.broken[candidate[here][fails]] = True


def _whole(
    evidence: Records, records: npt.NDArray[np.int64], group: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The evidence of each group."""
    sizes = np.bincount(group, rows).astype(np.int64)
    return np.concatenate([part for _, part in evidence.evidence(records, group, sizes)])
