"""The counting behind kADET: which splits a territory forbids, what a split is worth, and how rows are sorted by it.

Rows lie in an order of their own, those of a node or of a span side by side. Everything is computed from *cells*: the
codes that occur in a stretch of rows, ascending, each with its class histogram.

Functions that call each other are in one file on purpose: Numba's cache on disk notices a change only in the
file of the function that is called from outside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled

Array = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

EPSILON = 1e-12  # bits: a smaller difference is rounding
DENSE = 4  # codes for each row up to which counting all of them is cheaper than sorting the rows


class Inputs(NamedTuple):
    """The training table; attributes by number."""

    codes: npt.NDArray[np.int32]  # attributes x rows
    labels: npt.NDArray[np.int32]  # the class of each row
    classes: int
    width: Ints  # number of codes
    threshold: npt.NDArray[np.bool_]  # split in two by a threshold; else by the parts of a level
    public: npt.NDArray[np.bool_]
    levels: Ints  # number of levels, the finest first
    parts: Ints  # attributes x levels: number of parts
    groups: npt.NDArray[np.int32]  # the part of each code, level after level, attribute after attribute
    group_at: Ints  # where the groups of an attribute begin
    slot: Ints  # where the marks of an attribute begin: one for each level, or one for each cut


def xlogx_table(rows: int) -> npt.NDArray[np.float64]:
    """``x log2 x`` of small whole numbers."""
    counts = np.arange(1, min(rows, 1 << 16) + 1, dtype=np.float64)
    return np.concatenate([[0.0], counts * np.log2(counts)])


@compiled
def xlogx(count: int, table: npt.NDArray[np.float64]) -> float:
    """``x log2 x``, from the table where possible."""
    return float(table[count]) if count < len(table) else count * np.log2(count)


@compiled
def cells_of(a: int, inputs: Inputs, order: Array, lo: int, hi: int) -> tuple[Array, Array]:
    """The codes of an attribute that occur in a stretch of rows, ascending, and the class histogram of each."""
    column, labels, classes = inputs.codes[a], inputs.labels, inputs.classes
    if (hi - lo) * DENSE >= inputs.width[a]:
        counts = np.zeros((inputs.width[a], classes), np.int64)
        seen = np.zeros(inputs.width[a], np.bool_)
        for place in range(lo, hi):
            row = order[place]
            counts[column[row], labels[row]] += 1
            seen[column[row]] = True
        codes = np.flatnonzero(seen)
        return codes, counts[codes]
    keys = np.empty(hi - lo, np.int64)
    for i in range(hi - lo):
        row = order[lo + i]
        keys[i] = np.int64(column[row]) * classes + labels[row]
    keys.sort()
    codes = np.empty(hi - lo, np.int64)
    counts = np.zeros((hi - lo, classes), np.int64)
    count = 0
    for key in keys:
        if count == 0 or codes[count - 1] != key // classes:
            codes[count] = key // classes
            count += 1
        counts[count - 1, key % classes] += 1
    return codes[:count], counts[:count]


@compiled
def folded(a: int, level: int, inputs: Inputs, codes: Array, counts: Array) -> Array:
    """The class histograms of the parts of a level; at the finest, those of the cells."""
    if level == 0:
        return counts
    groups = inputs.group_at[a] + level * inputs.width[a]
    parts = np.zeros((inputs.parts[a, level], inputs.classes), np.int64)
    for i in range(len(codes)):
        parts[inputs.groups[groups + codes[i]]] += counts[i]
    return parts


@compiled
def forbid_levels(a: int, inputs: Inputs, codes: Array, counts: Array, k: int, bad: Array) -> bool:
    """Mark the levels at which a span has a part that is not empty and below k; whether all are marked."""
    slot, marked = inputs.slot[a], 0
    for level in range(inputs.levels[a]):
        if not bad[slot + level]:
            parts = folded(a, level, inputs, codes, counts)
            for i in range(len(parts)):
                if 0 < parts[i].sum() < k:
                    bad[slot + level] = True
                    break
        marked += bad[slot + level]
    return bool(marked == inputs.levels[a])


@compiled
def forbid_cuts(a: int, inputs: Inputs, codes: Array, counts: Array, k: int, bad: Array) -> None:
    """Mark the cuts that leave a span with a side that is not empty and below k."""
    slot = inputs.slot[a]
    right, left = counts.sum(), 0
    for i in range(len(codes) - 1):
        rows = counts[i].sum()
        left += rows
        right -= rows
        if left < k or right < k:
            bad[slot + codes[i] : slot + codes[i + 1]] = True


@compiled
def forbid(
    first: int, last: int, inputs: Inputs, order: Array, end: Array, lows: Array, highs: Array, k: int, bad: Array
) -> None:
    """Mark what the spans of a territory forbid, for the public attributes from ``first`` up to ``last``.

    ``end`` holds for the first row of each span the row after its last. Marks are only ever added.
    """
    for a in range(first, last):
        if not inputs.public[a]:
            continue
        done = False
        for i in range(len(lows)):
            lo = lows[i]
            while lo < highs[i] and not done:
                codes, counts = cells_of(a, inputs, order, lo, end[lo])
                if inputs.threshold[a]:
                    forbid_cuts(a, inputs, codes, counts, k, bad)
                else:
                    done = forbid_levels(a, inputs, codes, counts, k, bad)
                lo = end[lo]


@compiled
def spread(histogram: Array, table: npt.NDArray[np.float64]) -> float:
    """Rows times entropy of a class histogram."""
    parts = 0.0
    for count in histogram:
        parts += xlogx(count, table)
    return xlogx(histogram.sum(), table) - parts


@compiled
def score_parts(parts: Array, whole: Array, table: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Gain and gain ratio of a split into parts."""
    rows = whole.sum()
    gain = spread(whole, table)
    information = xlogx(rows, table)
    for i in range(len(parts)):
        gain -= spread(parts[i], table)
        information -= xlogx(parts[i].sum(), table)
    if information <= EPSILON * rows:
        return 0.0, 0.0
    return gain / rows, gain / information


@compiled
def first_allowed(bad: Array, first: int, last: int) -> tuple[int, int]:
    """The first run of cuts that are not marked, ends included; its start is ``last`` if there is none."""
    while first < last and bad[first]:
        first += 1
    stop = first
    while stop < last and not bad[stop]:
        stop += 1
    return first, stop - 1


@compiled
def score_cuts(
    codes: Array, counts: Array, bad: Array, table: npt.NDArray[np.float64]
) -> tuple[float, float, int, int]:
    """Gain and gain ratio of the cut with the best gain that is not marked, and the run of cuts that do the same."""
    whole = counts.sum(axis=0)
    rows = whole.sum()
    before, right, left = spread(whole, table), whole.copy(), np.zeros_like(whole)
    best, below, low, high = EPSILON, 0, -1, -1
    for i in range(len(codes) - 1):
        left += counts[i]
        right -= counts[i]
        first, last = first_allowed(bad, codes[i], codes[i + 1])
        if first == codes[i + 1]:
            continue
        gain = (before - spread(left, table) - spread(right, table)) / rows
        if gain > best + EPSILON:
            best, below, low, high = gain, left.sum(), first, last
    if low < 0:
        return 0.0, 0.0, -1, -1
    information = xlogx(rows, table) - xlogx(below, table) - xlogx(rows - below, table)
    return best, best * rows / information, low, high


@compiled
def score(
    first: int,
    last: int,
    inputs: Inputs,
    order: Array,
    lo: int,
    hi: int,
    usable: Array,
    bad: Array,
    table: npt.NDArray[np.float64],
) -> tuple[Array, Array, Array]:
    """What splitting a node is worth, for the usable attributes from ``first`` up to ``last``.

    Returns gain and gain ratio by attribute and level, and the cuts of each attribute that is split by a threshold.
    """
    gain = np.zeros((len(usable), inputs.parts.shape[1]))
    ratio = np.zeros_like(gain)
    cuts = np.full((len(usable), 2), -1, np.int64)
    for a in range(first, last):
        if not usable[a]:
            continue
        codes, counts = cells_of(a, inputs, order, lo, hi)
        if len(codes) < 2:
            continue
        if inputs.threshold[a]:
            marks = bad[inputs.slot[a] : inputs.slot[a] + inputs.width[a]]
            gain[a, 0], ratio[a, 0], cuts[a, 0], cuts[a, 1] = score_cuts(codes, counts, marks, table)
            continue
        whole = counts.sum(axis=0)
        for level in range(inputs.levels[a]):
            parts = folded(a, level, inputs, codes, counts)
            gain[a, level], ratio[a, level] = score_parts(parts, whole, table)
    return gain, ratio, cuts


@compiled
def sort_rows(order: Array, lo: int, hi: int, column: Array, part_of: Array, parts: int) -> Array:
    """Sort a stretch of rows by their part, rows of a part in their old order; where each part starts, and the end."""
    starts = np.zeros(parts + 1, np.int64)
    for place in range(lo, hi):
        starts[part_of[column[order[place]]] + 1] += 1
    starts[0] = lo
    for part in range(parts):
        starts[part + 1] += starts[part]
    rows, free = order[lo:hi].copy(), starts.copy()
    for row in rows:
        part = part_of[column[row]]
        order[free[part]] = row
        free[part] += 1
    return starts


@compiled
def sort_spans(
    order: Array, end: Array, lows: Array, highs: Array, column: Array, part_of: Array, parts: int
) -> tuple[Array, int]:
    """Split every span of a territory by parts; the new spans (part, start, end), and how many there were before."""
    spans = np.empty((64, 3), np.int64)
    used, before = 0, 0
    for i in range(len(lows)):
        lo = lows[i]
        while lo < highs[i]:
            hi = end[lo]
            before += 1
            starts = sort_rows(order, lo, hi, column, part_of, parts)
            if used + parts > len(spans):
                spans = np.concatenate((spans, np.empty((len(spans) + parts, 3), np.int64)))
            for part in range(parts):
                if starts[part] < starts[part + 1]:
                    spans[used, 0], spans[used, 1], spans[used, 2] = part, starts[part], starts[part + 1]
                    end[starts[part]] = starts[part + 1]
                    used += 1
            lo = hi
    return spans[:used], before
