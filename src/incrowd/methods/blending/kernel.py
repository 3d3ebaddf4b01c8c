"""Split rows in two, again and again, so that the features become as alike as possible within parts (Numba kernel).

A row's features are its score (some numbers) and a 0/1 column for each value of each attribute, scaled by
the attribute. A split of n rows into L and the rest takes n / (nL nR) |sum over L - nL/n sum over all|^2 off the sum of
squares within parts. In a large node, how often two values come together is counted once, and the sums over the left
side follow from it. In a small one the squares of the 0/1 columns are kept up to date while rows move to the left side
one by one, so a split costs no more than its rows, however many values there are.

A split is a row of four numbers: what it takes off (``GAIN``), its kind, its attribute (or class), and its limit::

    PREFIX   the first `limit` values of the attribute in the node's order go left
    SINGLE   the value at `limit` goes left
    SCORE    rows whose score of the class is at most `limit` go left

Where a person may have several rows, both parts must have k persons. Each node then has its rows in one more order, the
last: those of a person together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.methods.blending.row_table import Room, RowTable, make_room
from incrowd.methods.counting import count_alone, count_parts, count_spans
from incrowd.trees.compiled import compiled

GAIN, KIND, OF, LIMIT = range(4)
PREFIX, SINGLE, SCORE = range(3)
MOST_THRESHOLDS = 256  # splits of a node by a score, to bound time


@compiled
def _square(x: float) -> float:
    """As a product: a power may be rounded otherwise."""
    return x * x


@compiled
def _sum_up(rows: RowTable, node: Any, room: Room) -> float:
    """Count places and add up scores of a node; returns the square of its 0/1 columns' sums."""
    room.whole[:] = 0
    room.whole_score[:] = 0.0
    room.scores[:] = 0.0
    for i in node:
        for a in range(rows.square.size):
            place = rows.places[i, a]
            room.whole[place] += 1
            for c in range(room.whole_score.size):
                room.scores[place, c] += rows.score[i, c]
        for c in range(room.whole_score.size):
            room.whole_score[c] += rows.score[i, c]
    square = 0.0
    for a in range(rows.square.size):
        if rows.square[a] > 0.0:
            for place in range(rows.start[a], rows.start[a + 1]):
                square += rows.square[a] * _square(float(room.whole[place]))
    return square


@compiled
def _pair(rows: RowTable, node: Any, room: Room) -> bool:
    """Count how often two places come together in a node, if that is cheaper than moving its rows."""
    if room.pairs.size == 0 or node.size < 2 * rows.start[-1]:
        return False
    room.pairs[:] = 0
    for i in node:
        for a in range(rows.square.size):
            place = rows.places[i, a]
            for b in range(a + 1):
                room.pairs[place, rows.places[i, b]] += 1
    for place in range(rows.start[-1]):
        for other in range(place):
            room.pairs[other, place] = room.pairs[place, other]
    return True


@compiled
def _move_value(rows: RowTable, place: int, room: Room) -> tuple[float, float]:
    """Move all rows of a value to the left, as :func:`_move` does one by one; returns the products anew."""
    ll, lw = 0.0, 0.0
    for a in range(rows.square.size):
        own, both = 0.0, 0.0
        for other in range(rows.start[a], rows.start[a + 1]):
            room.left[other] += room.pairs[place, other]
            own += _square(float(room.left[other]))
            both += float(room.left[other]) * room.whole[other]
        ll += rows.square[a] * own
        lw += rows.square[a] * both
    for c in range(room.left_score.size):
        room.left_score[c] += room.scores[place, c]
    return ll, lw


@compiled
def _move(rows: RowTable, i: int, room: Room, ll: float, lw: float) -> tuple[float, float]:
    """Move a row to the left; the products of the left columns with themselves and with the whole, up to date."""
    for a in range(rows.square.size):
        place = rows.places[i, a]
        ll += rows.square[a] * (2 * room.left[place] + 1)
        lw += rows.square[a] * room.whole[place]
        room.left[place] += 1
    for c in range(room.left_score.size):
        room.left_score[c] += rows.score[i, c]
    return ll, lw


@compiled
def _gain(room: Room, n: int, left: int, ll: float, lw: float, ww: float) -> float:
    """What a split takes off the sum of squares within parts."""
    share = left / n
    apart = ll - 2.0 * share * lw + share * share * ww
    for c in range(room.left_score.size):
        apart += _square(room.left_score[c] - share * room.whole_score[c])
    return n / (left * (n - left)) * apart


@compiled
def _by_value(rows: RowTable, node: Any, a: int, room: Room) -> None:
    """The node's rows sorted by their value; ``room.begin`` says where each place's rows begin."""
    first, end = rows.start[a], rows.start[a + 1]
    room.begin[first] = 0
    for place in range(first, end):
        room.begin[place + 1] = room.begin[place] + room.whole[place]
    cursor = room.begin[first:end].copy()
    for i in node:
        place = rows.places[i, a] - first
        room.sorted[cursor[place]] = i
        cursor[place] += 1


@compiled
def _widest_class(rows: RowTable, node: Any, room: Room) -> int:
    """The class whose score varies most among the rows."""
    best, widest = 0, -1.0
    for c in range(room.whole_score.size):
        mean, spread = room.whole_score[c] / node.size, 0.0
        for i in node:
            spread += _square(rows.score[i, c] - mean)
        if spread > widest:
            best, widest = c, spread
    return best


@compiled
def _order_values(rows: RowTable, a: int, pivot: int, room: Room) -> Any:
    """The attribute's places that the node has, in their order, or by their mean score; ranks are noted."""
    first, end = rows.start[a], rows.start[a + 1]
    present = np.flatnonzero(room.whole[first:end]) + first
    if not rows.ordered[a]:
        means = np.zeros(present.size)
        for p in range(present.size):
            means[p] = room.scores[present[p], pivot] / room.whole[present[p]]
        present = present[np.argsort(means, kind="mergesort")]
    for p in range(present.size):
        room.rank[present[p]] = p
    return present


@compiled
def _move_all(rows: RowTable, place: int, paired: bool, room: Room, ll: float, lw: float) -> tuple[float, float]:
    """Move all rows of a value to the left."""
    if paired:
        return _move_value(rows, place, room)
    begin, size = room.begin[place], room.whole[place]
    for i in room.sorted[begin : begin + size]:
        ll, lw = _move(rows, i, room, ll, lw)
    return ll, lw


@compiled
def _empty(room: Room) -> None:
    """Take everything back from the left."""
    room.left[:] = 0
    room.left_score[:] = 0.0


@compiled
def _count_persons(rows: RowTable, node: Any, a: int, present: int, room: Room) -> None:
    """Count the persons of a node, in which those of a person are neighbours, by the ranks of their values."""
    owners, ranks = room.owners[: node.size], room.ranks[: node.size]
    for i in range(node.size):
        ranks[i] = room.rank[rows.places[node[i], a]]
    first, last = room.first[:present], room.last[:present]
    if not rows.ordered[a]:
        bearers, alone = room.bearers[:present], room.alone[:present]
        bearers[:] = 0
        alone[:] = 0
        count_parts(owners, ranks, bearers, last)
        count_alone(owners, ranks, alone)
    first[:] = 0
    last[:] = 0
    count_spans(owners, ranks, first, last)


@compiled
def _note_persons(rows: RowTable, node: Any, room: Room) -> int:
    """Note whose the rows of a node are, and how many of each; returns how many persons there are."""
    persons = 0
    for i in range(node.size):
        person = rows.owners[node[i]]
        room.owners[i] = person
        if i == 0 or person != room.owners[i - 1]:
            room.own[person] = 0
            persons += 1
        room.own[person] += 1
    return persons


@compiled
def _prefix_splits(
    rows: RowTable,
    n: int,
    k: int,
    persons: int,
    a: int,
    present: Any,
    paired: bool,
    room: Room,
    ww: float,
    splits: Any,
    listed: int,
) -> int:
    """Splits between neighbours in the order of the values."""
    ll, lw, left, left_size, right_size = 0.0, 0.0, 0, 0, persons if persons > 0 else n
    for p in range(present.size - 1):
        ll, lw = _move_all(rows, present[p], paired, room, ll, lw)
        left += room.whole[present[p]]
        left_size += room.first[p] if persons > 0 else room.whole[present[p]]
        right_size -= room.last[p] if persons > 0 else room.whole[present[p]]
        if right_size < k:
            break
        if left_size >= k:
            splits[listed, GAIN] = _gain(room, n, left, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = PREFIX, a, p + 1
            listed += 1
    _empty(room)
    return listed


@compiled
def _single_splits(
    rows: RowTable,
    n: int,
    k: int,
    persons: int,
    a: int,
    present: Any,
    paired: bool,
    room: Room,
    ww: float,
    splits: Any,
    listed: int,
) -> int:
    """Splits of one value from the rest; the first and the last of the order are prefixes already."""
    for p in range(1, present.size - 1):
        size = room.whole[present[p]]
        there = room.bearers[p] if persons > 0 else size
        others = persons - room.alone[p] if persons > 0 else n - size
        if there >= k and others >= k:
            ll, lw = _move_all(rows, present[p], paired, room, 0.0, 0.0)
            splits[listed, GAIN] = _gain(room, n, size, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = SINGLE, a, present[p]
            listed += 1
            _empty(room)
    return listed


@compiled
def _score_splits(
    rows: RowTable, node: Any, k: int, persons: int, c: int, room: Room, ww: float, splits: Any, listed: int
) -> int:
    """Splits between different scores of a class, by which the node is sorted; at most so many, evenly spread."""
    n, ll, lw, last = node.size, 0.0, 0.0, 0
    step = max(1, n // MOST_THRESHOLDS)
    left_size, right_size = 0, persons
    if persons > 0:
        for i in node:
            room.own_left[rows.owners[i]] = room.own[rows.owners[i]]
    for left in range(1, n - k + 1):
        ll, lw = _move(rows, node[left - 1], room, ll, lw)
        if persons > 0:
            person = rows.owners[node[left - 1]]
            left_size += int(room.own_left[person] == room.own[person])
            room.own_left[person] -= 1
            right_size -= int(room.own_left[person] == 0)
            if right_size < k:
                break
        low, high = rows.score[node[left - 1], c], rows.score[node[left], c]
        if (left_size if persons > 0 else left) >= k and left - last >= step and low < high:
            splits[listed, GAIN] = rows.score_worth * _gain(room, n, left, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = SCORE, c, low
            listed, last = listed + 1, left
    _empty(room)
    return listed


@compiled
def list_splits(rows: RowTable, orders: Any, begin: int, end: int, k: int, room: Room) -> Any:
    """All splits of a node whose parts both have at least k rows, or persons.

    ``orders`` has the rows once for each class, sorted by its score within each node, and last by person, if rows are
    not persons.
    """
    node = orders[0, begin:end]
    most = 2 * rows.start[-1] + rows.cut_scores * (2 * MOST_THRESHOLDS + 2)
    splits, listed, n, persons = np.empty((most, 4)), 0, end - begin, 0
    if n < 2 * k:
        return splits[:0]
    by_person = orders[orders.shape[0] - 1, begin:end]
    if rows.owners.size > 0:
        persons = _note_persons(rows, by_person, room)
    ww = _sum_up(rows, node, room)
    pivot = _widest_class(rows, node, room)
    paired = _pair(rows, node, room)
    for a in range(rows.square.size):
        present = _order_values(rows, a, pivot, room)
        if present.size > 1:
            if not paired:
                _by_value(rows, node, a, room)
            if persons > 0:
                _count_persons(rows, by_person, a, present.size, room)
            listed = _prefix_splits(rows, n, k, persons, a, present, paired, room, ww, splits, listed)
            if not rows.ordered[a]:
                listed = _single_splits(rows, n, k, persons, a, present, paired, room, ww, splits, listed)
    for c in range(rows.cut_scores):
        listed = _score_splits(rows, orders[c, begin:end], k, persons, c, room, ww, splits, listed)
    return splits[:listed]


@compiled
def _is_left(rows: RowTable, i: int, split: Any, room: Room) -> bool:
    of = int(split[OF])
    if split[KIND] == SCORE:
        return bool(rows.score[i, of] <= split[LIMIT])
    place = rows.places[i, of]
    return bool(place == split[LIMIT]) if split[KIND] == SINGLE else bool(room.rank[place] < split[LIMIT])


@compiled
def sides_of(rows: RowTable, node: Any, splits: Any, room: Room) -> Any:
    """For each split the side of each row, 0 or 1: splits x rows."""
    sides = np.empty((len(splits), node.size), np.int64)
    for s in range(len(splits)):
        for i in range(node.size):
            sides[s, i] = 0 if _is_left(rows, node[i], splits[s], room) else 1
    return sides


@compiled
def evidence_of(rows: RowTable, node: Any, splits: Any, room: Room, marks: Any, width: int) -> Any:
    """For each split the evidence of both sides, where rows are persons: splits x 2 x width."""
    evidence = np.zeros((len(splits), 2, width), np.int64)
    for s in range(len(splits)):
        for i in node:
            side = 0 if _is_left(rows, i, splits[s], room) else 1
            evidence[s, side, 0] += 1
            for m in range(marks.shape[1]):
                evidence[s, side, marks[i, m]] += 1
    return evidence


@compiled
def divide(rows: RowTable, orders: Any, begin: int, end: int, split: Any, room: Room, goes_left: Any) -> int:
    """Sort the node's rows by side, in every order, stably; returns where the right side begins."""
    middle = begin
    for i in orders[0, begin:end]:
        goes_left[i] = _is_left(rows, i, split, room)
        middle += int(goes_left[i])
    for c in range(orders.shape[0]):
        before = orders[c, begin:end].copy()
        left, right = begin, middle
        for i in before:
            if goes_left[i]:
                orders[c, left] = i
                left += 1
            else:
                orders[c, right] = i
                right += 1
    return middle


@compiled
def grow(rows: RowTable, orders: Any, begin: int, end: int, k: int, groups: Any, uses: Any) -> int:
    """Split while both parts have at least k rows, or persons; returns how many groups there are.

    They are numbered from 0. ``uses`` counts the splits of each attribute, and of scores last.
    """
    room, goes_left = make_room(rows, end - begin), np.zeros(rows.places.shape[0], np.bool_)
    waiting, count = [(begin, end)], 0
    while len(waiting) > 0:
        first, last = waiting.pop()
        splits = list_splits(rows, orders, first, last, k, room)
        if len(splits) == 0:
            for i in orders[0, first:last]:
                groups[i] = count
            count += 1
            continue
        best = splits[np.argmax(splits[:, GAIN])]
        middle = divide(rows, orders, first, last, best, room, goes_left)
        uses[uses.size - 1 if best[KIND] == SCORE else int(best[OF])] += 1
        waiting.append((first, middle))
        waiting.append((middle, last))
    return count
