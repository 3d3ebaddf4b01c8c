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
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from incrowd.trees.compiled import compiled

GAIN, KIND, OF, LIMIT = range(4)
PREFIX, SINGLE, SCORE = range(3)
MOST_THRESHOLDS, MOST_PAIRS = 256, 1024  # splits of a node by a score, to bound time; values counted in pairs: 4 MB


class RowTable(NamedTuple):
    """The features of all rows.

    ``places`` is rows x attributes: each value has a place of its own among those of all attributes; ``start`` says
    where an attribute's places begin. ``ordered`` attributes are cut between neighbours. ``square`` is the squared
    scale of each attribute. ``score`` has the scaled scores, rows x numbers; the first ``cut_scores`` of them may be
    cut, and what such a cut takes off counts ``score_worth`` times.
    """

    places: Any
    start: Any
    ordered: Any
    square: Any
    score: Any
    cut_scores: int
    score_worth: float


class Room(NamedTuple):
    """Scratch space.

    Rows of each place, in all and on the left; ranks of places; sums of scores, in all, on the left, and of the rows of
    each place; rows sorted by value, and where those of a place begin; how often two places come together.
    """

    whole: Any
    left: Any
    rank: Any
    whole_score: Any
    left_score: Any
    scores: Any
    sorted: Any
    begin: Any
    pairs: Any


@compiled
def _square(x: float) -> float:
    """As a product: a power may be rounded otherwise."""
    return x * x


@compiled
def make_room(rows: RowTable, most: int) -> Room:
    """Scratch space for nodes of at most so many rows."""
    places, classes = rows.start[-1], rows.score.shape[1]
    paired = places if places <= min(MOST_PAIRS, most) else 0
    return Room(
        np.zeros(places, np.int64),
        np.zeros(places, np.int64),
        np.zeros(places, np.int64),
        np.zeros(classes),
        np.zeros(classes),
        np.zeros((places, classes)),
        np.zeros(most, np.int64),
        np.zeros(places + 1, np.int64),
        np.zeros((paired, paired), np.int32),
    )


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
def _prefix_splits(
    rows: RowTable, n: int, k: int, a: int, present: Any, paired: bool, room: Room, ww: float, splits: Any, listed: int
) -> int:
    """Splits between neighbours in the order of the values."""
    ll, lw, left = 0.0, 0.0, 0
    for p in range(present.size - 1):
        ll, lw = _move_all(rows, present[p], paired, room, ll, lw)
        left += room.whole[present[p]]
        if left > n - k:
            break
        if left >= k:
            splits[listed, GAIN] = _gain(room, n, left, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = PREFIX, a, p + 1
            listed += 1
    _empty(room)
    return listed


@compiled
def _single_splits(
    rows: RowTable, n: int, k: int, a: int, present: Any, paired: bool, room: Room, ww: float, splits: Any, listed: int
) -> int:
    """Splits of one value from the rest; the first and the last of the order are prefixes already."""
    for p in range(1, present.size - 1):
        size = room.whole[present[p]]
        if k <= size <= n - k:
            ll, lw = _move_all(rows, present[p], paired, room, 0.0, 0.0)
            splits[listed, GAIN] = _gain(room, n, size, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = SINGLE, a, present[p]
            listed += 1
            _empty(room)
    return listed


@compiled
def _score_splits(rows: RowTable, node: Any, k: int, c: int, room: Room, ww: float, splits: Any, listed: int) -> int:
    """Splits between different scores of a class, by which the node is sorted; at most so many, evenly spread."""
    n, ll, lw, last = node.size, 0.0, 0.0, 0
    step = max(1, n // MOST_THRESHOLDS)
    for left in range(1, n - k + 1):
        ll, lw = _move(rows, node[left - 1], room, ll, lw)
        low, high = rows.score[node[left - 1], c], rows.score[node[left], c]
        if left >= k and left - last >= step and low < high:
            splits[listed, GAIN] = rows.score_worth * _gain(room, n, left, ll, lw, ww)
            splits[listed, KIND], splits[listed, OF], splits[listed, LIMIT] = SCORE, c, low
            listed, last = listed + 1, left
    _empty(room)
    return listed


@compiled
def list_splits(rows: RowTable, orders: Any, begin: int, end: int, k: int, room: Room) -> Any:
    """All splits of a node whose parts both have at least k rows.

    ``orders`` has the rows once for each class, sorted by its score within each node.
    """
    node = orders[0, begin:end]
    most = 2 * rows.start[-1] + rows.cut_scores * (2 * MOST_THRESHOLDS + 2)
    splits, listed, n = np.empty((most, 4)), 0, end - begin
    if n < 2 * k:
        return splits[:0]
    ww = _sum_up(rows, node, room)
    pivot = _widest_class(rows, node, room)
    paired = _pair(rows, node, room)
    for a in range(rows.square.size):
        present = _order_values(rows, a, pivot, room)
        if present.size > 1:
            if not paired:
                _by_value(rows, node, a, room)
            listed = _prefix_splits(rows, n, k, a, present, paired, room, ww, splits, listed)
            if not rows.ordered[a]:
                listed = _single_splits(rows, n, k, a, present, paired, room, ww, splits, listed)
    for c in range(rows.cut_scores):
        listed = _score_splits(rows, orders[c, begin:end], k, c, room, ww, splits, listed)
    return splits[:listed]


@compiled
def _is_left(rows: RowTable, i: int, split: Any, room: Room) -> bool:
    of = int(split[OF])
    if split[KIND] == SCORE:
        return bool(rows.score[i, of] <= split[LIMIT])
    place = rows.places[i, of]
    return bool(place == split[LIMIT]) if split[KIND] == SINGLE else bool(room.rank[place] < split[LIMIT])


@compiled
def evidence_of(rows: RowTable, node: Any, splits: Any, room: Room, marks: Any, width: int) -> Any:
    """For each split the evidence of both sides: splits x 2 x width; see ``methods/judging``."""
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
    """Split while both parts have at least k rows; numbers the groups from 0 and returns how many there are.

    ``uses`` counts the splits of each attribute, and of scores last.
    """
    room, goes_left = make_room(rows, end - begin), np.zeros(rows.places.shape[0], np.bool_)
    waiting, made = [(begin, end)], 0
    while len(waiting) > 0:
        first, last = waiting.pop()
        splits = list_splits(rows, orders, first, last, k, room)
        if len(splits) == 0:
            for i in orders[0, first:last]:
                groups[i] = made
            made += 1
            continue
        best = splits[np.argmax(splits[:, GAIN])]
        middle = divide(rows, orders, first, last, best, room, goes_left)
        uses[uses.size - 1 if best[KIND] == SCORE else int(best[OF])] += 1
        waiting.append((first, middle))
        waiting.append((middle, last))
    return made
