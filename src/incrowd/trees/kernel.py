"""The induction kernel: finds the best split of every node of a level, on codes sorted by node.

A row is ``stride`` codes: its class, one code for each attribute (its bin; the last one is missing), and
padding. The rows of a node lie side by side. For each attribute the kernel lists the *cells* of the node: the
occurring pairs of code and class with their number of rows, by ascending code. Large nodes get them from one
histogram pass over all attributes, small ones by sorting, so that a small node stays cheap however many codes
an attribute has. All scores are computed from cells.

Counts are whole numbers unless rows carry weights; both use the same code, compiled twice.

Functions that call each other are in one file on purpose: Numba's cache on disk notices a change only in the
file of the function that is called from outside.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled
from incrowd.trees.packing import Columns, PackedCells, Rules, Split, Workspace

Array = npt.NDArray[Any]

EPSILON = 1e-9  # a smaller difference is rounding
LARGEST_SIDE = 25.0  # rows: no more are demanded of a side of a threshold, as in C4.5 release 8
TABLE = 1 << 14  # numbers whose logarithm is looked up: 128 KB


def xlogx_table(rows: int) -> npt.NDArray[np.float64]:
    """``x log2 x`` of small whole numbers, up to so many rows."""
    counts = np.arange(1, min(rows + 1, TABLE), dtype=np.float64)
    return np.concatenate([[0.0], counts * np.log2(counts)])


@compiled
def xlogx(count: Any, table: npt.NDArray[np.float64]) -> float:
    """``x log2 x``, from the table where possible; 0 at 0."""
    whole = int(count)
    if 0 <= whole < table.size and whole == count:
        return float(table[np.uint64(whole)])
    return count * np.log2(count) if count > 0 else 0.0


@compiled
def fill_histogram(
    rows: Array, weights: Any, lo: int, hi: int, used: npt.NDArray[np.int64], columns: Columns, histogram: Array
) -> None:
    """Add the rows of a node to the histograms of the used attributes."""
    stride = np.uint64(columns.stride)
    classes = np.uint64(columns.classes)
    offset = columns.offset[used].astype(np.uint64)
    place = (used + 1).astype(np.uint64)
    base = np.uint64(lo) * stride
    for row in range(lo, hi):
        label = np.uint64(rows[base])
        for j in range(len(used)):
            cell = offset[j] + np.uint64(rows[base + place[j]]) * classes + label
            if weights is None:
                histogram[cell] += 1
            else:
                histogram[cell] += weights[row]
        base += stride


@compiled
def cells_from_histogram(histogram: Array, offset: int, width: int, classes: int, cells: PackedCells) -> int:
    """List the non-empty cells of one attribute; returns how many."""
    listed = 0
    place = offset
    for code in range(width):
        for label in range(classes):
            if histogram[place] > 0:
                cells.code[listed] = code
                cells.label[listed] = label
                cells.amount[listed] = histogram[place]
                listed += 1
            place += 1
    return listed


@compiled
def cells_from_rows(
    rows: Array, weights: Any, lo: int, hi: int, place: int, columns: Columns, cells: PackedCells
) -> int:
    """List the non-empty cells of one attribute by sorting its codes; returns how many."""
    keys = np.empty(hi - lo, np.int64)
    for i in range(hi - lo):
        base = (lo + i) * columns.stride
        keys[i] = np.int64(rows[base + place]) * columns.classes + np.int64(rows[base])
    if weights is None:
        keys.sort()
        order = keys
    else:
        order = np.argsort(keys, kind="mergesort")
        keys = keys[order]
    last = -1
    for i in range(hi - lo):
        if i == 0 or keys[i] != keys[i - 1]:
            last += 1
            cells.code[last] = keys[i] // columns.classes
            cells.label[last] = keys[i] % columns.classes
            cells.amount[last] = 0
        if weights is None:
            cells.amount[last] += 1
        else:
            cells.amount[last] += weights[lo + order[i]]
    return last + 1


@compiled
def take_missing(cells: PackedCells, listed: int, missing: int, known: Array) -> int:
    """Subtract the cells of the missing code from a class histogram; returns how many cells remain."""
    while listed > 0 and cells.code[listed - 1] == missing:
        listed -= 1
        known[cells.label[listed]] -= cells.amount[listed]
    return listed


@compiled
def spread(histogram: Array, table: npt.NDArray[np.float64]) -> float:
    """Rows times entropy of a class histogram."""
    total = 0.0 * histogram[0]
    parts = 0.0
    for count in histogram:
        total += count
        parts += xlogx(count, table)
    return xlogx(total, table) - parts


@compiled
def score_values(
    cells: PackedCells, listed: int, missing: int, histogram: Array, rules: Rules, table: npt.NDArray[np.float64]
) -> Split:
    """Score the split into one branch for each value."""
    total = histogram.sum()
    known = histogram.copy()
    if not rules.branch:
        listed = take_missing(cells, listed, missing, known)
    after, information, large, i = 0.0, 0.0, 0, 0
    while i < listed:
        code = cells.code[i]
        size = cells.amount[i] - cells.amount[i]
        parts = 0.0
        while i < listed and cells.code[i] == code:
            size += cells.amount[i]
            parts += xlogx(cells.amount[i], table)
            i += 1
        after += xlogx(size, table) - parts
        information -= xlogx(size, table)
        large += size >= rules.min_branch - EPSILON
    if large < 2:
        return Split(0.0, 0.0, 0, 0)
    information += xlogx(total, table) - xlogx(total - known.sum(), table)
    gain = spread(known, table) - after
    return Split(gain / total, gain / information, 0, 0)


@compiled
def score_thresholds(
    cells: PackedCells, listed: int, missing: int, histogram: Array, rules: Rules, table: npt.NDArray[np.float64]
) -> Split:
    """Score the best split into values up to a threshold and values above it."""
    total = histogram.sum()
    right = histogram.copy()
    listed = take_missing(cells, listed, missing, right)
    above = right.sum()
    before = spread(right, table)
    if rules.branch:
        before = spread(histogram, table) - spread(histogram - right, table)
    side = max(rules.min_branch, min(rules.side_share * above / len(histogram), LARGEST_SIDE)) - EPSILON
    left = np.zeros_like(right)
    below = above - above
    left_parts = 0.0
    right_parts = xlogx(above, table) - spread(right, table)
    best, best_below, low, high, candidates, i = np.inf, below, 0, 0, 0, 0
    while i < listed:
        code = cells.code[i]
        while i < listed and cells.code[i] == code:
            label, count = cells.label[i], cells.amount[i]
            left_parts -= xlogx(left[label], table)
            right_parts -= xlogx(right[label], table)
            left[label] += count
            right[label] -= count
            left_parts += xlogx(left[label], table)
            right_parts += xlogx(right[label], table)
            below += count
            above -= count
            i += 1
        if i == listed or above < side:
            break
        if below >= side:
            candidates += 1
            after = xlogx(below, table) - left_parts + xlogx(above, table) - right_parts
            if after < best - EPSILON * total:
                best, best_below, low, high = after, below, code, cells.code[i]
    if candidates == 0:
        return Split(0.0, 0.0, 0, 0)
    known = below + above
    gain = before - best - (np.log2(candidates) if rules.mdl else 0.0)
    information = xlogx(total, table) - xlogx(best_below, table)
    information -= xlogx(known - best_below, table) + xlogx(total - known, table)
    return Split(gain / total, gain / information, low, high)


@compiled
def choose(splits_gain: Array, splits_ratio: Array, columns: Columns, rules: Rules) -> int:
    """The attribute to split by, or -1; ties go to the earlier one."""
    total, positive = 0.0, 0
    for a in range(len(splits_gain)):
        if splits_gain[a] > EPSILON and columns.averaged[a]:
            total += splits_gain[a] * columns.weight[a]
            positive += 1
    if rules.ratio and positive == 0:
        return -1
    enough = total / positive - 1e-3 if rules.ratio else EPSILON
    best, chosen = EPSILON, -1
    for a in range(len(splits_gain)):
        weight = columns.weight[a]
        score = weight * (splits_ratio[a] if rules.ratio else splits_gain[a])
        if splits_gain[a] > EPSILON and weight * splits_gain[a] >= enough and score > best + EPSILON:
            best, chosen = score, a
    return chosen


@compiled
def is_settled(cells: PackedCells, listed: int, missing: int, ordered: bool, rules: Rules) -> bool:
    """True if no node below can be split by the attribute, since it has at most one known value here."""
    if listed == 0 or cells.code[0] == cells.code[listed - 1]:
        return True
    if rules.branch and not ordered:
        return False
    while cells.code[listed - 1] == missing:
        listed -= 1
    return bool(cells.code[0] == cells.code[listed - 1])


@compiled
def list_children(
    cells: PackedCells, listed: int, missing: int, ordered: bool, low: int, rules: Rules, codes: Array, counts: Array
) -> int:
    """Write the code and the class histogram of each branch; returns how many.

    The branches of a threshold have the codes 0 (up to it), 1 (above it) and 2 (missing).
    """
    children = 0
    for i in range(listed):
        code = cells.code[i]
        if code == missing and not rules.branch:
            break
        if ordered:
            code = 2 if code == missing else np.int64(code > low)
        if children == 0 or codes[children - 1] != code:
            codes[children] = code
            counts[children] = 0
            children += 1
        counts[children - 1, cells.label[i]] += cells.amount[i]
    return children


@compiled
def workspace(starts: npt.NDArray[np.int64], columns: Columns, counts: Array) -> Workspace:
    """Buffers for the nodes that start at these rows; counts like those given."""
    sizes = columns.width * columns.classes
    held = (sizes * (columns.offset >= 0)).sum()
    largest = min((starts[1:] - starts[:-1]).max(), sizes.max())
    cells = PackedCells(np.empty(largest, np.int64), np.empty(largest, np.int64), np.empty(largest, counts.dtype))
    attributes = len(sizes)
    return Workspace(
        np.zeros(held, counts.dtype),
        cells,
        np.empty(attributes, np.float64),
        np.empty(attributes, np.float64),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
    )


@compiled
def list_cells(
    rows: Array, weights: Any, lo: int, hi: int, a: int, counted: bool, columns: Columns, work: Workspace
) -> int:
    """List the cells of an attribute, from the histogram if it was counted there; returns how many."""
    if counted:
        return cells_from_histogram(work.histogram, columns.offset[a], columns.width[a], columns.classes, work.cells)
    return cells_from_rows(rows, weights, lo, hi, a + 1, columns, work.cells)


@compiled
def score_node(
    rows: Array,
    weights: Any,
    lo: int,
    hi: int,
    counted: npt.NDArray[np.bool_],
    histogram: Array,
    active: npt.NDArray[np.bool_],
    columns: Columns,
    rules: Rules,
    table: npt.NDArray[np.float64],
    work: Workspace,
) -> int:
    """Score all active attributes of one node and choose one, or -1; settled attributes become inactive."""
    work.gain[:] = 0.0
    for a in range(len(active)):
        if not active[a]:
            continue
        listed = list_cells(rows, weights, lo, hi, a, counted[a], columns, work)
        missing = columns.width[a] - 1
        if is_settled(work.cells, listed, missing, columns.ordered[a], rules):
            active[a] = False
        elif columns.ordered[a]:
            split = score_thresholds(work.cells, listed, missing, histogram, rules, table)
            work.gain[a], work.ratio[a], work.low[a], work.high[a] = split
        else:
            split = score_values(work.cells, listed, missing, histogram, rules, table)
            work.gain[a], work.ratio[a], work.low[a], work.high[a] = split
    return choose(work.gain, work.ratio, columns, rules)


@compiled
def score_nodes(
    rows: Array,
    weights: Any,
    starts: npt.NDArray[np.int64],
    histograms: Array,
    active: npt.NDArray[np.bool_],
    columns: Columns,
    rules: Rules,
    table: npt.NDArray[np.float64],
) -> tuple[Array, Array, Array]:
    """Find the best split of each node.

    Returns for each node its attribute (-1: a leaf), the two codes around its threshold and its number of
    branches; and for each branch its code and its class histogram.
    """
    work = workspace(starts, columns, histograms)
    splits = np.zeros((len(starts) - 1, 4), np.int32)
    codes, counts = np.empty(64, np.int32), np.empty((64, columns.classes), histograms.dtype)
    used = 0
    for node in range(len(splits)):
        lo, hi = starts[node], starts[node + 1]
        counted = active[node] & (columns.offset >= 0) & (columns.width * columns.classes <= 8 * (hi - lo))
        fill_histogram(rows, weights, lo, hi, np.flatnonzero(counted), columns, work.histogram)
        a = score_node(rows, weights, lo, hi, counted, histograms[node], active[node], columns, rules, table, work)
        splits[node, 0] = a
        if a >= 0:
            listed = list_cells(rows, weights, lo, hi, a, counted[a], columns, work)
            if used + listed + 1 > len(codes):
                more = used + listed
                codes = np.concatenate((codes, np.empty(more, np.int32)))
                counts = np.concatenate((counts, np.empty((more, columns.classes), histograms.dtype)))
            splits[node, 1], splits[node, 2] = work.low[a], work.high[a]
            splits[node, 3] = list_children(
                work.cells,
                listed,
                columns.width[a] - 1,
                columns.ordered[a],
                work.low[a],
                rules,
                codes[used:],
                counts[used:],
            )
            used += splits[node, 3]
        for b in np.flatnonzero(counted):
            work.histogram[columns.offset[b] : columns.offset[b] + columns.width[b] * columns.classes] = 0
    return splits, codes[:used], counts[:used]
