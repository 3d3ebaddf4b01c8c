"""The splits of regrowing, group by group (Numba kernel); see :mod:`incrowd.methods.tree_suppression.regrow`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.methods.counting import bits_of, count_parts, count_spans, order_by_class, with_room
from incrowd.trees.compiled import compiled

HIDDEN, PARTLY, EXACT = 0, 1, 2
LEAF, CUT, VALUES = 0, 1, 2
KIND, ATTRIBUTE, LAST, FIRST, MISSING, BEGIN, END = range(7)
_NO_GAIN = 1e-9  # bits: a smaller difference is rounding


@compiled
def _tally(rows: Any, attribute: int, width: int, classes: int, hist: Any, present: Any) -> int:
    """Class counts of the codes present among the rows; returns how many codes are present, ascending."""
    size, label = rows.shape[0], rows.shape[1] - 1
    if size * 4 < width:
        keys = np.empty(size, np.int64)
        for i in range(size):
            keys[i] = rows[i, attribute]
        keys.sort()
        count = 0
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[i - 1]:
                present[count] = keys[i]
                count += 1
                hist[keys[i], :] = 0
        for i in range(size):
            hist[rows[i, attribute], rows[i, label]] += 1
        return count
    hist[:width, :] = 0
    for i in range(size):
        hist[rows[i, attribute], rows[i, label]] += 1
    count = 0
    for code in range(width):
        for c in range(classes):
            if hist[code, c] > 0:
                present[count] = code
                count += 1
                break
    return count


class Owned(NamedTuple):
    """Whose the rows are (empty if rows are persons), ranks of a node's codes; persons by rank, and scratch."""

    owners: Any
    ranks: Any
    first: Any
    last: Any


@compiled
def _make_room(owners: Any, widest: int) -> Owned:
    """Scratch space for all nodes."""
    return Owned(owners, np.zeros(owners.size, np.int64), np.zeros(widest, np.int64), np.zeros(widest, np.int64))


@compiled
def _rank(rows: Any, a: int, sequence: Any, missing: int, rank: Any, owned: Owned) -> None:
    """The rank of each row's code in a sequence; -1 for a missing one."""
    for i in range(sequence.size):
        rank[sequence[i]] = i
    rank[missing] = -1
    for i in range(rows.shape[0]):
        owned.ranks[i] = rank[rows[i, a]]
    owned.first[: sequence.size] = 0
    owned.last[: sequence.size] = 0


@compiled
def _best_cut(hist: Any, order: Any, count: int, known: Any, classes: int, k: int, owned: Owned) -> tuple[float, int]:
    """Best place to cut the ordered codes in two parts of at least k: left information + right, place."""
    left, right = np.zeros(classes, np.int64), known.copy()
    best, place = np.inf, -1
    persons = owned.owners.size > 0
    left_size, right_size = 0, owned.first[:count].sum() if persons else known.sum()
    for i in range(count - 1):
        rows = 0
        for c in range(classes):
            moved = hist[order[i], c]
            left[c] += moved
            right[c] -= moved
            rows += moved
        left_size += owned.first[i] if persons else rows
        right_size -= owned.last[i] if persons else rows
        if left_size >= k and right_size >= k:
            bits = bits_of(left) + bits_of(right)
            if bits < best - _NO_GAIN:
                best, place = bits, i
    return best, place


@compiled
def _score(
    rows: Any,
    a: int,
    hist: Any,
    present: Any,
    count: int,
    classes: int,
    k: int,
    missing: int,
    ordered: bool,
    status: int,
    rank: Any,
    owned: Owned,
) -> tuple[float, int, int, int, Any]:
    """The best split on one tallied attribute: (gain, reveal, kind, place, codes in order); reveal < 0: none.

    ``place`` is the last code of the first part, or ``count`` for one part per value.
    """
    nothing = (0.0, -1, LEAF, -1, present[:0])
    persons, without = owned.owners.size > 0, 0
    if count > 0 and present[count - 1] == missing:
        count -= 1
        without += hist[missing].sum()
    if count == 0 or 0 < without < k:
        return nothing
    sequence = present[:count].copy()
    if count == 1 and without == 0:
        return (np.inf, 4, VALUES, 1, sequence) if status == HIDDEN else nothing
    if persons:
        _rank(rows, a, sequence, missing, rank, owned)
        if 0 < count_parts(owned.owners, owned.ranks, owned.first[:count], owned.last[:count]) < k:
            return nothing
    known = np.zeros(classes, np.int64)
    smallest, separate = -1, 0.0
    for i in range(count):
        known += hist[sequence[i]]
        size = owned.first[i] if persons else hist[sequence[i]].sum()
        if smallest < 0 or size < smallest:
            smallest = size
        separate += bits_of(hist[sequence[i]])
    if not ordered and smallest >= k:
        after, place, kind, reveal = separate, count, VALUES, 3
    else:
        if not ordered:
            sequence = order_by_class(hist, sequence, count)
        if persons:
            _rank(rows, a, sequence, missing, rank, owned)
            count_spans(owned.owners, owned.ranks, owned.first[:count], owned.last[:count])
        after, place = _best_cut(hist, sequence, count, known, classes, k, owned)
        kind = CUT if ordered else VALUES
        reveal = (2 if ordered else 1) if status == HIDDEN else 0
    if place < 0:
        return nothing
    rest = 0.0
    if without > 0:
        rest = bits_of(hist[missing])
        known += hist[missing]
    gain = bits_of(known) - after - rest
    if gain < _NO_GAIN:
        return (0.0, reveal, kind, place, sequence) if reveal > 0 else nothing
    return gain, reveal, kind, place, sequence


@compiled
def _choose(
    rows: Any,
    shown: Any,
    ordered: Any,
    widths: Any,
    weights: Any,
    classes: int,
    k: int,
    hist: Any,
    present: Any,
    rank: Any,
    owned: Owned,
) -> tuple[int, int, int, Any]:
    """The split of a node: (attribute, kind, place, codes in order); attribute < 0: none."""
    best_gain, best_reveal, best_attribute, best_kind, best_place = -1.0, -1.0, -1, LEAF, -1
    best_sequence = present[:0]
    for a in range(widths.size):
        if shown[a] == EXACT or (shown[a] == PARTLY and rows.shape[0] < 2 * k):
            continue
        count = _tally(rows, a, widths[a], classes, hist, present)
        missing = widths[a] - 1
        gain, reveal, kind, place, sequence = _score(
            rows, a, hist, present, count, classes, k, missing, ordered[a], shown[a], rank, owned
        )
        gain, revealed = gain * weights[a], reveal * weights[a]
        if reveal >= 0 and (gain > best_gain or (gain == best_gain and revealed > best_reveal)):
            best_gain, best_reveal, best_attribute, best_kind = gain, revealed, a, kind
            best_place, best_sequence = place, sequence
        if best_gain == np.inf:
            break
    return best_attribute, best_kind, best_place, best_sequence


@compiled
def _scatter(rows: Any, owners: Any, a: int, part: Any, parts: int) -> Any:
    """Sort the rows, and whose they are, by part, in place and stably; returns where each part begins and ends."""
    offsets = np.zeros(parts + 1, np.int64)
    before, whose = rows.copy(), owners.copy()
    for i in range(rows.shape[0]):
        offsets[part[rows[i, a]] + 1] += 1
    cursor = np.zeros(parts, np.int64)
    for p in range(parts):
        offsets[p + 1] += offsets[p]
        cursor[p] = offsets[p]
    for i in range(before.shape[0]):
        p = part[before[i, a]]
        for column in range(before.shape[1]):
            rows[cursor[p], column] = before[i, column]
        if whose.size > 0:
            owners[cursor[p]] = whose[i]
        cursor[p] += 1
    return offsets


@compiled
def _deal_parts(sequence: Any, place: int, part: Any) -> Any:
    """Note the part of every code of a cut, each its own if none is joined; how many codes each part has."""
    separate = place == sequence.size
    members = np.zeros(sequence.size if separate else 2, np.int64)
    for i in range(sequence.size):
        p = i if separate else int(i > place)
        part[sequence[i]] = p
        members[p] += 1
    return members


@compiled
def regrow(
    records: Any,
    owners: Any,
    starts: Any,
    status: Any,
    ordered: Any,
    widths: Any,
    weights: Any,
    classes: int,
    k: int,
) -> Any:
    """Grow every group; returns a forest whose first nodes are the groups.

    ``records`` are the codes of each row and its class, sorted by group, the rows of a person together; they are
    permuted in place, with ``owners``, which is empty if rows are persons. ``starts`` has one entry more than there are
    groups; ``status`` is groups x attributes. The last code of an attribute is the missing one.

    Returns
    -------
    nodes
        One row per node: kind, attribute, last code of the first part, first child, child of the missing
        (or 0), begin and end of its rows in ``records``. A CUT node has two children, one after the other.
    branches
        (node, code, child) for every value of a VALUES node.
    """
    groups = starts.size - 1
    nodes = np.zeros((2 * groups + 16, 7), np.int64)
    shown = np.zeros((2 * groups + 16, widths.size), np.int8)
    branches = np.zeros((64, 3), np.int64)
    for g in range(groups):
        nodes[g, BEGIN], nodes[g, END] = starts[g], starts[g + 1]
        shown[g] = status[g]
    widest = widths.max()
    hist = np.zeros((widest, classes), np.int64)
    present = np.zeros(widest, np.int64)
    part = np.zeros(widest, np.int64)
    scratch = _make_room(owners, widest)
    node, count, listed = 0, groups, 0
    while node < count:
        rows, whose = records[nodes[node, BEGIN] : nodes[node, END]], owners[nodes[node, BEGIN] : nodes[node, END]]
        owned = Owned(whose, scratch.ranks, scratch.first, scratch.last)
        a, kind, place, sequence = _choose(
            rows, shown[node], ordered, widths, weights, classes, k, hist, present, part, owned
        )
        if a >= 0:
            members = _deal_parts(sequence, place, part)
            children = members.size
            part[widths[a] - 1] = children
            offsets = _scatter(rows, whose, a, part, children + 1)
            missing = offsets[children + 1] > offsets[children]
            parts = children + int(missing)
            nodes = with_room(nodes, count + parts)
            shown = with_room(shown, count + parts)
            nodes[node, KIND], nodes[node, ATTRIBUTE], nodes[node, FIRST] = kind, a, count
            nodes[node, LAST] = sequence[place] if kind == CUT else -1
            nodes[node, MISSING] = count + children if missing else 0
            for p in range(parts):
                nodes[count + p, BEGIN] = nodes[node, BEGIN] + offsets[p]
                nodes[count + p, END] = nodes[node, BEGIN] + offsets[p + 1]
                shown[count + p] = shown[node]
                exact = p >= children or (kind == VALUES and members[p] == 1)
                shown[count + p, a] = EXACT if exact else PARTLY
            if kind == VALUES:
                branches = with_room(branches, listed + sequence.size)
                for i in range(sequence.size):
                    branches[listed, 0], branches[listed, 1] = node, sequence[i]
                    branches[listed, 2] = count + part[sequence[i]]
                    listed += 1
            count += parts
        node += 1
    return nodes[:count], branches[:listed]
