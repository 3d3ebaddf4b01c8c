"""Split finished groups further while every part keeps at least k rows (Numba kernel).

Candidates at a node, for each attribute that is not shown exactly yet: a threshold (numeric and ordered
attributes), one part per value, or two sets of values (values ordered by their class mix). Rows with a missing
value form a part of their own. Every part must reach k. The best information gain wins; without gain, the
candidate that reveals most. Attributes that are constant in a node are revealed at no cost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled

HIDDEN, PARTLY, EXACT = 0, 1, 2
LEAF, CUT, VALUES = 0, 1, 2
KIND, ATTRIBUTE, LAST, FIRST, MISSING, BEGIN, END = range(7)
_NO_GAIN = 1e-9  # bits: a smaller difference is rounding

Ints = npt.NDArray[np.int64]


@compiled
def _plogp(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@compiled
def _tally(
    codes: Any, labels: Any, rows: Any, attribute: int, width: int, classes: int, hist: Any, present: Any
) -> int:
    """Class counts of the codes present among the rows; returns how many codes are present, ascending."""
    if rows.size * 4 < width:
        keys = np.empty(rows.size, np.int64)
        for i in range(rows.size):
            keys[i] = codes[rows[i], attribute]
        keys.sort()
        count = 0
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[i - 1]:
                present[count] = keys[i]
                count += 1
                for c in range(classes):
                    hist[keys[i], c] = 0
        for i in range(rows.size):
            hist[codes[rows[i], attribute], labels[rows[i]]] += 1
        return count
    for code in range(width):
        for c in range(classes):
            hist[code, c] = 0
    for i in range(rows.size):
        hist[codes[rows[i], attribute], labels[rows[i]]] += 1
    count = 0
    for code in range(width):
        for c in range(classes):
            if hist[code, c] > 0:
                present[count] = code
                count += 1
                break
    return count


@compiled
def _information(counts: Any, classes: int) -> float:
    """n * H(class) of a histogram, in bits."""
    total = 0.0
    inner = 0.0
    for c in range(classes):
        total += counts[c]
        inner += _plogp(counts[c])
    return _plogp(total) - inner


@compiled
def _best_cut(hist: Any, order: Any, count: int, known: Any, classes: int, k: int) -> tuple[float, int]:
    """Best place to cut the ordered codes in two parts of at least k rows: left information + right, place."""
    left = np.zeros(classes, np.int64)
    right = np.zeros(classes, np.int64)
    best, place = np.inf, -1
    left_rows, right_rows = 0, 0
    for c in range(classes):
        right[c] = known[c]
        right_rows += known[c]
    for i in range(count - 1):
        for c in range(classes):
            moved = hist[order[i], c]
            left[c] += moved
            right[c] -= moved
            left_rows += moved
            right_rows -= moved
        if left_rows >= k and right_rows >= k:
            bits = _information(left, classes) + _information(right, classes)
            if bits < best - _NO_GAIN:
                best, place = bits, i
    return best, place


@compiled
def _order_by_class(hist: Any, present: Any, count: int, known: Any, classes: int) -> Any:
    """The present codes ordered by their share of the node's second largest class (for two classes: by P)."""
    major, pivot = 0, 0
    for c in range(1, classes):
        if known[c] > known[major]:
            major = c
    for c in range(classes):
        if c != major and (pivot == major or known[c] > known[pivot]):
            pivot = c
    keys = np.empty(count, np.int64)
    for i in range(count):
        total = 0
        for c in range(classes):
            total += hist[present[i], c]
        keys[i] = (hist[present[i], pivot] << 30) // total << 32 | i
    keys.sort()
    ordered = np.empty(count, np.int64)
    for i in range(count):
        ordered[i] = present[keys[i] & 0xFFFFFFFF]
    return ordered


@compiled
def _score(
    hist: Any, present: Any, count: int, classes: int, k: int, missing: int, ordered: bool, status: int
) -> tuple[float, int, int, int, Any]:
    """The best split on one tallied attribute: (gain, reveal, kind, place, codes in order); reveal < 0: none.

    ``place`` is the last code of the first part, or ``count`` for one part per value.
    """
    nothing = (0.0, -1, LEAF, -1, present[:0])
    missing_rows = 0
    if count > 0 and present[count - 1] == missing:
        count -= 1
        for c in range(classes):
            missing_rows += hist[missing, c]
    if count == 0 or 0 < missing_rows < k:
        return nothing
    sequence = np.empty(count, np.int64)
    for i in range(count):
        sequence[i] = present[i]
    if count == 1 and missing_rows == 0:
        return (np.inf, 4, VALUES, 1, sequence) if status == HIDDEN else nothing
    known = np.zeros(classes, np.int64)
    smallest = -1
    separate = 0.0
    for i in range(count):
        rows = 0
        for c in range(classes):
            known[c] += hist[sequence[i], c]
            rows += hist[sequence[i], c]
        if smallest < 0 or rows < smallest:
            smallest = rows
        separate += _information(hist[sequence[i]], classes)
    if not ordered and smallest >= k:
        after, place, kind, reveal = separate, count, VALUES, 3
    else:
        if not ordered:
            sequence = _order_by_class(hist, sequence, count, known, classes)
        after, place = _best_cut(hist, sequence, count, known, classes, k)
        kind = CUT if ordered else VALUES
        reveal = (2 if ordered else 1) if status == HIDDEN else 0
    if place < 0:
        return nothing
    rest = 0.0
    if missing_rows > 0:
        rest = _information(hist[missing], classes)
        for c in range(classes):
            known[c] += hist[missing, c]
    gain = _information(known, classes) - after - rest
    if gain < _NO_GAIN:
        return (0.0, reveal, kind, place, sequence) if reveal > 0 else nothing
    return gain, reveal, kind, place, sequence


@compiled
def _choose(
    codes: Any,
    labels: Any,
    rows: Any,
    shown: Any,
    ordered: Any,
    widths: Any,
    classes: int,
    k: int,
    hist: Any,
    present: Any,
) -> tuple[int, int, int, Any]:
    """The split of a node: (attribute, kind, place, codes in order); attribute < 0: none."""
    best_gain, best_reveal, best_attribute, best_kind, best_place = -1.0, -1, -1, LEAF, -1
    best_sequence = present[:0]
    for a in range(widths.size):
        if shown[a] == EXACT or (shown[a] == PARTLY and rows.size < 2 * k):
            continue
        count = _tally(codes, labels, rows, a, widths[a], classes, hist, present)
        gain, reveal, kind, place, sequence = _score(
            hist, present, count, classes, k, widths[a] - 1, ordered[a], shown[a]
        )
        if reveal >= 0 and (gain > best_gain or (gain == best_gain and reveal > best_reveal)):
            best_gain, best_reveal, best_attribute, best_kind = gain, reveal, a, kind
            best_place, best_sequence = place, sequence
        if best_gain == np.inf:
            break
    return best_attribute, best_kind, best_place, best_sequence


@compiled
def _scatter(codes: Any, rows: Any, a: int, part: Any, parts: int) -> Any:
    """Sort the rows by part, in place and stably; returns where each part begins and ends."""
    offsets = np.zeros(parts + 1, np.int64)
    before = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        before[i] = rows[i]
        offsets[part[codes[rows[i], a]] + 1] += 1
    cursor = np.zeros(parts, np.int64)
    for p in range(parts):
        offsets[p + 1] += offsets[p]
        cursor[p] = offsets[p]
    for i in range(before.size):
        p = part[codes[before[i], a]]
        rows[cursor[p]] = before[i]
        cursor[p] += 1
    return offsets


@compiled
def _with_room(array: Any, needed: int) -> Any:
    """The array, or a copy with at least the needed rows."""
    if needed <= array.shape[0]:
        return array
    larger = np.zeros((max(needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(array.shape[0]):
        for j in range(array.shape[1]):
            larger[i, j] = array[i, j]
    return larger


@compiled
def regrow(
    codes: Any,
    labels: Any,
    order: Any,
    starts: Any,
    status: Any,
    ordered: Any,
    widths: Any,
    classes: int,
    k: int,
) -> Any:
    """Grow every group; returns a forest whose first nodes are the groups.

    ``order`` holds the rows sorted by group and is permuted in place; ``starts`` has one entry more than there
    are groups; ``status`` is groups x attributes. The last code of an attribute is the missing one.

    Returns
    -------
    nodes
        One row per node: kind, attribute, last code of the first part, first child, child of the missing
        (or 0), begin and end of its rows in ``order``. A CUT node has two children, one after the other.
    branches
        (node, code, child) for every value of a VALUES node.
    """
    groups = starts.size - 1
    nodes = np.zeros((2 * groups + 16, 7), np.int64)
    shown = np.zeros((2 * groups + 16, widths.size), np.int8)
    branches = np.zeros((64, 3), np.int64)
    for g in range(groups):
        nodes[g, BEGIN], nodes[g, END] = starts[g], starts[g + 1]
        for a in range(widths.size):
            shown[g, a] = status[g, a]
    widest = 1
    for a in range(widths.size):
        widest = max(widest, widths[a])
    hist = np.zeros((widest, classes), np.int64)
    present = np.zeros(widest, np.int64)
    part = np.zeros(widest, np.int64)
    node, count, listed = 0, groups, 0
    while node < count:
        rows = order[nodes[node, BEGIN] : nodes[node, END]]
        a, kind, place, sequence = _choose(codes, labels, rows, shown[node], ordered, widths, classes, k, hist, present)
        if a >= 0:
            separate = place == sequence.size
            children = sequence.size if separate else 2
            members = np.zeros(children, np.int64)
            for i in range(sequence.size):
                p = i if separate else int(i > place)
                part[sequence[i]] = p
                members[p] += 1
            part[widths[a] - 1] = children
            offsets = _scatter(codes, rows, a, part, children + 1)
            missing = offsets[children + 1] > offsets[children]
            parts = children + int(missing)
            nodes = _with_room(nodes, count + parts)
            shown = _with_room(shown, count + parts)
            nodes[node, KIND], nodes[node, ATTRIBUTE], nodes[node, FIRST] = kind, a, count
            nodes[node, LAST] = sequence[place] if kind == CUT else -1
            nodes[node, MISSING] = count + children if missing else 0
            for p in range(parts):
                nodes[count + p, BEGIN] = nodes[node, BEGIN] + offsets[p]
                nodes[count + p, END] = nodes[node, BEGIN] + offsets[p + 1]
                for b in range(widths.size):
                    shown[count + p, b] = shown[node, b]
                exact = p >= children or (kind == VALUES and members[p] == 1)
                shown[count + p, a] = EXACT if exact else PARTLY
            if kind == VALUES:
                branches = _with_room(branches, listed + sequence.size)
                for i in range(sequence.size):
                    branches[listed, 0], branches[listed, 1] = node, sequence[i]
                    branches[listed, 2] = count + part[sequence[i]]
                    listed += 1
            count += parts
        node += 1
    return nodes[:count], branches[:listed]
