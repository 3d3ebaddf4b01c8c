"""Split leaf partitions and count what their rows would show next (Numba kernels).

A leaf partition is a stretch of records: those that look alike. They lie side by side, which makes them fast to read,
and are moved when their leaf is split. For each attribute the leaves that show the same id are chained (``following``);
when a leaf is split, its first part keeps its number, so that the chains of the other attributes need nothing but the
new leaves put behind it. For each set of attributes that are known together, leaves that look alike on the set form a
group, named by one of its leaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.trees.compiled import compiled


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
    order = np.argsort(keys)
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
