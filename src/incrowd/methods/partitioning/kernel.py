"""Cut rows into parts while an allowable cut is left (Numba kernel).

A cut is a row of six numbers. The first five are the preference, smallest first: for Mondrian 0 for the median and 1
for the cut below it, for its class-aware form the class entropy that remains; minus the width; the dimension; how
uneven the parts are; the last place of the first part. The sixth is the first place of the second part. Entropies and
widths are compared in steps of 2^-30, so that equal ones are equal however they were summed up, and preference is an
order: the compiled loop and a loop that asks a requirement for each cut choose alike. The weight of a dimension is a
factor of its width, and of the bits that its cuts gain. A cut that must be made comes before all others.

Where a person may have several rows, the persons of both parts decide whether a cut is allowable, and the rows of a
person are neighbours in every node: the first node has them so, and cutting keeps the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.methods.counting import bits_of, order_by_class, sum_places, with_room
from incrowd.methods.partitioning.dimensions import (
    ATTRIBUTE,
    BEGIN,
    CHILD,
    CUT,
    DIMENSION,
    END,
    FIRST,
    FROM,
    KIND,
    LAST,
    MISSING,
    NEXT,
    PARTS,
    RANGE,
    SET,
    THEN,
    TO,
    TREE,
    WIDTH,
    CutRules,
    Dims,
    GrownCuts,
    Placed,
    Scratch,
    count_persons,
    note_persons,
    tally_places,
)
from incrowd.trees.compiled import compiled

_STEPS = 2.0**30  # figures are compared in whole steps of this size, so that rounding decides nothing
_AT_ONCE = -(2**60)  # comes before all preferences
_NO_GAIN = 1e-9  # bits: a smaller difference is rounding


@compiled
def _step(x: float) -> int:
    return int(np.floor(x * _STEPS + 0.5))


@compiled
def _weighed(bits: float, before: float, weight: float) -> float:
    """What remains of the bits before a cut if what it gains counts so many times."""
    return bits - (weight - 1.0) * (before - bits)


@compiled
def _write(cuts: Any, listed: int, first: int, wide: int, a: int, then: int, last: int, after: int) -> int:
    cuts[listed, FIRST], cuts[listed, WIDTH], cuts[listed, DIMENSION] = first, -wide, a
    cuts[listed, THEN], cuts[listed, LAST], cuts[listed, NEXT] = then, last, after
    return listed + 1


@compiled
def _median_cuts(
    rule: CutRules, room: Scratch, count: int, a: int, wide: int, persons: bool, cuts: Any, listed: int
) -> int:
    """The cut above the lower median, and the one below it; if neither is allowable, the one nearest to them.

    Where rows are persons there is none then; persons may be spread unlike their rows.
    """
    present, median = room.present, 0
    known = sum_places(room.hist, present, count).sum()
    upto = room.hist[present[0]].sum()
    while upto <= (known - 1) // 2:
        median += 1
        upto += room.hist[present[median]].sum()
    before, nearest = listed, -1
    left, right = 0, room.first[:count].sum() if persons else known
    for i in range(count - 1):
        left += room.first[i] if persons else room.hist[present[i]].sum()
        right -= room.last[i] if persons else room.hist[present[i]].sum()
        if left >= rule.smallest and right >= rule.smallest:
            if median - 1 <= i <= median:
                listed = _write(cuts, listed, median - i, wide, a, 0, present[i], present[i + 1])
            elif nearest < 0 or i < median:
                nearest = i
    if listed == before and nearest >= 0:
        listed = _write(cuts, listed, 2, wide, a, 0, present[nearest], present[nearest + 1])
    return listed


@compiled
def _class_cuts(
    rule: CutRules,
    room: Scratch,
    count: int,
    a: int,
    wide: int,
    weight: float,
    order: Any,
    by_share: bool,
    persons: bool,
    gone: Any,
    cuts: Any,
    listed: int,
) -> int:
    """Every cut between neighbours with enough rows, or persons, on both sides, by the class entropy it leaves."""
    right = sum_places(room.hist, order, count)
    left = np.zeros(right.size, np.int64)
    left_rows, right_rows = 0, right.sum()
    left_size, right_size = 0, room.first[:count].sum() if persons else right_rows
    rows = right_rows + gone.sum()
    before, rest = bits_of(right + gone), bits_of(gone)
    for i in range(count - 1):
        for c in range(left.size):
            moved = room.hist[order[i], c]
            left[c] += moved
            right[c] -= moved
            left_rows += moved
            right_rows -= moved
        left_size = left_size + room.first[i] if persons else left_rows
        right_size = right_size - room.last[i] if persons else right_rows
        if left_size >= rule.smallest and right_size >= rule.smallest:
            bits = bits_of(left) + bits_of(right) + rest
            if (before - bits) / rows >= rule.min_gain - _NO_GAIN:
                last, after = (i, i + 1) if by_share else (order[i], order[i + 1])
                left_over = _step(_weighed(bits, before, weight) / rows)
                listed = _write(cuts, listed, left_over, wide, a, abs(left_rows - right_rows), last, after)
    return listed


@compiled
def _tree_cut(
    dims: Dims,
    rule: CutRules,
    room: Scratch,
    count: int,
    a: int,
    at: int,
    persons: bool,
    gone: Any,
    cuts: Any,
    listed: int,
) -> int:
    """The cut into the groups below the current one, if each that is not empty has enough rows, or persons."""
    after, i = bits_of(gone), 0
    counts = np.zeros(gone.size, np.int64)
    for number in range(dims.begin[at], dims.begin[at + 1]):
        counts[:] = 0
        while i < count and room.present[i] < dims.end[dims.children[number]]:
            counts += room.hist[room.present[i]]
            i += 1
        size = room.first[number - dims.begin[at]] if persons else counts.sum()
        if 0 < size < rule.smallest:
            return listed
        after += bits_of(counts)
    wide = _step(dims.weight[a] * (dims.end[at] - dims.first[at]) / dims.leaves[a])
    if dims.must[a] == at:
        return _write(cuts, listed, _AT_ONCE, wide, a, 0, 0, 0)
    if not rule.by_class:
        return _write(cuts, listed, 0, wide, a, 0, 0, 0)
    everything = sum_places(room.hist, room.present, count) + gone
    rows = everything.sum()
    before = bits_of(everything)
    if (before - after) / rows < rule.min_gain - _NO_GAIN:
        return listed
    return _write(cuts, listed, _step(_weighed(after, before, dims.weight[a]) / rows), wide, a, 0, 0, 0)


@compiled
def _cuts_of(
    table: Placed, dims: Dims, rule: CutRules, rows: Any, a: int, at: int, room: Scratch, cuts: Any, listed: int
) -> int:
    """Append the cuts of one dimension whose parts all have enough rows, or persons."""
    kind, width, persons = dims.kind[a], dims.width[a], table.owners.size > 0
    hopeless = dims.begin[at] == dims.begin[at + 1] if kind == TREE else rows.size < 2 * rule.smallest
    if hopeless:
        return listed
    count = tally_places(table, rows, a, width, room)
    gone = np.zeros(table.classes, np.int64)
    if count > 0 and room.present[count - 1] == width - 1:
        count -= 1
        gone += room.hist[width - 1]
    if count == 0 or 0 < gone.sum() < rule.smallest or (kind != TREE and count < 2):
        return listed
    order = order_by_class(room.hist, room.present, count) if kind == SET else room.present
    if persons and 0 < count_persons(table, dims, rows, a, at, order, count, room) < rule.smallest:
        return listed
    if kind == TREE:
        return _tree_cut(dims, rule, room, count, a, at, persons, gone, cuts, listed)
    start = dims.offset[a]
    wide = count / (width - 1)
    if not dims.counted[a]:
        wide = dims.position[start + room.present[count - 1]] - dims.position[start + room.present[0]]
    wide *= dims.weight[a]
    if rule.by_class:
        return _class_cuts(
            rule, room, count, a, _step(wide), dims.weight[a], order, kind == SET, persons, gone, cuts, listed
        )
    return _median_cuts(rule, room, count, a, _step(wide), persons, cuts, listed)


@compiled
def list_cuts(table: Placed, dims: Dims, rule: CutRules, rows: Any, at: Any, room: Scratch) -> Any:
    """All cuts of some rows whose parts have enough rows, or persons, dimension by dimension."""
    note_persons(table, rows, room)
    most = 0
    for a in range(dims.kind.size):
        most += min(dims.width[a], rows.size) + 1
    cuts, listed = np.empty((most, 6), np.int64), 0
    for a in range(dims.kind.size):
        listed = _cuts_of(table, dims, rule, rows, a, at[a], room, cuts, listed)
    return cuts[:listed]


@compiled
def _prefer(one: Any, other: Any) -> bool:
    """Whether the first cut comes before the second."""
    for i in range(NEXT):
        if one[i] != other[i]:
            return bool(one[i] < other[i])
    return False


@compiled
def _best_cut(table: Placed, dims: Dims, rule: CutRules, rows: Any, at: Any, room: Scratch, cuts: Any) -> Any:
    """The preferred cut; its dimension is -1 if there is none."""
    best = np.full(6, -1, np.int64)
    note_persons(table, rows, room)
    for a in range(dims.kind.size):
        listed = _cuts_of(table, dims, rule, rows, a, at[a], room, cuts, 0)
        for i in range(listed):
            if best[DIMENSION] < 0 or _prefer(cuts[i], best):
                best[:] = cuts[i]
    return best


@compiled
def mark(table: Placed, dims: Dims, rows: Any, at: int, room: Scratch, cut: Any) -> Any:
    """Say in ``room.part`` which place goes to which part.

    Returns how many parts there are, whether the last one is that of the missing, and (place or group, part) where a
    threshold does not say it.
    """
    a = cut[DIMENSION]
    count = tally_places(table, rows, a, dims.width[a], room)
    missing = room.present[count - 1] == dims.width[a] - 1
    count -= int(missing)
    parts = 2
    marks = np.empty((0, 2), np.int64)
    if dims.kind[a] == RANGE:
        for i in range(count):
            room.part[room.present[i]] = int(room.present[i] > cut[LAST])
    elif dims.kind[a] == SET:
        order = order_by_class(room.hist, room.present, count)
        marks = np.empty((count, 2), np.int64)
        for i in range(count):
            room.part[order[i]] = int(i > cut[LAST])
            marks[i, 0], marks[i, 1] = order[i], room.part[order[i]]
    else:
        parts, i = 0, 0
        marks = np.empty((dims.begin[at + 1] - dims.begin[at], 2), np.int64)
        for number in range(dims.begin[at], dims.begin[at + 1]):
            before = i
            while i < count and room.present[i] < dims.end[dims.children[number]]:
                room.part[room.present[i]] = parts
                i += 1
            if i > before:
                marks[parts, 0], marks[parts, 1] = dims.children[number], parts
                parts += 1
        marks = marks[:parts]
    room.part[dims.width[a] - 1] = parts
    return parts + int(missing), missing, marks


@compiled
def parts_of(table: Placed, dims: Dims, rows: Any, at: Any, room: Scratch, cut: Any) -> tuple[Any, int]:
    """The part of each row that a cut would make, and how many parts there are."""
    a = cut[DIMENSION]
    parts, _, _ = mark(table, dims, rows, at[a], room, cut)
    part_of = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        part_of[i] = room.part[table.places[rows[i], a]]
    return part_of, parts


@compiled
def _scatter(table: Placed, rows: Any, a: int, part: Any, parts: int) -> Any:
    """Sort the rows by part, in place and stably; returns where each part begins and ends."""
    offsets = np.zeros(parts + 1, np.int64)
    before = rows.copy()
    for i in range(rows.size):
        offsets[part[table.places[rows[i], a]] + 1] += 1
    cursor = np.zeros(parts, np.int64)
    for p in range(parts):
        offsets[p + 1] += offsets[p]
        cursor[p] = offsets[p]
    for i in range(before.size):
        p = part[table.places[before[i], a]]
        rows[cursor[p]] = before[i]
        cursor[p] += 1
    return offsets


@compiled
def divide(table: Placed, dims: Dims, grown: GrownCuts, order: Any, room: Scratch, node: int, cut: Any) -> GrownCuts:
    """Make a cut: sort the node's rows by part and enter its children."""
    a, count, listed = cut[DIMENSION], grown.used[0], grown.used[1]
    begin, end = grown.nodes[node, BEGIN], grown.nodes[node, END]
    rows = order[begin:end]
    parts, missing, marks = mark(table, dims, rows, grown.at[node, a], room, cut)
    offsets = _scatter(table, rows, a, room.part, parts)
    nodes = with_room(grown.nodes, count + parts)
    at = with_room(grown.at, count + parts)
    entered = with_room(grown.marks, listed + len(marks))
    nodes[node, KIND], nodes[node, ATTRIBUTE], nodes[node, CHILD] = CUT, a, count
    nodes[node, FROM], nodes[node, TO] = cut[LAST], cut[NEXT]
    nodes[node, PARTS], nodes[node, MISSING] = parts, int(missing)
    for p in range(parts):
        nodes[count + p, BEGIN], nodes[count + p, END] = begin + offsets[p], begin + offsets[p + 1]
        at[count + p] = at[node]
        if dims.kind[a] == TREE and p < parts - int(missing):
            at[count + p, a] = marks[p, 0]
    for i in range(len(marks)):
        entered[listed + i, 0], entered[listed + i, 1], entered[listed + i, 2] = node, marks[i, 0], marks[i, 1]
    grown.used[0], grown.used[1] = count + parts, listed + len(marks)
    return GrownCuts(nodes, at, entered, grown.used)


@compiled
def start(table: Placed, dims: Dims, roots: Any) -> tuple[GrownCuts, Scratch]:
    """One node with all rows, and scratch space."""
    widest, owned = dims.width.max(), table.owners.size
    room = Scratch(
        np.zeros((widest, table.classes), np.int64),
        np.zeros(widest, np.int64),
        np.zeros(widest, np.int64),
        np.zeros(owned, np.int64),
        np.zeros(owned, np.int64),
        np.zeros(widest, np.int64),
        np.zeros(widest, np.int64),
    )
    nodes, at = np.zeros((64, 9), np.int64), np.zeros((64, roots.size), np.int64)
    nodes[0, END] = table.labels.size
    at[0] = roots
    return GrownCuts(nodes, at, np.zeros((64, 3), np.int64), np.array([1, 0], np.int64)), room


@compiled
def grow(table: Placed, dims: Dims, rule: CutRules, roots: Any, order: Any) -> GrownCuts:
    """Cut while a cut is left whose parts all have enough rows, or persons.

    ``order`` is the rows, sorted by node in the end; those of a person are neighbours.
    """
    grown, room = start(table, dims, roots)
    cuts = np.empty((dims.width.max() + 1, 6), np.int64)
    waiting, left = np.zeros((64, 1), np.int64), 1
    while left > 0:
        left -= 1
        node = waiting[left, 0]
        rows = order[grown.nodes[node, BEGIN] : grown.nodes[node, END]]
        cut = _best_cut(table, dims, rule, rows, grown.at[node], room, cuts)
        if cut[DIMENSION] >= 0:
            first = grown.used[0]
            grown = divide(table, dims, grown, order, room, node, cut)
            waiting = with_room(waiting, left + grown.used[0] - first)
            for child in range(first, grown.used[0]):
                waiting[left, 0] = child
                left += 1
    return grown
