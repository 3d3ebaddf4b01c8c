"""Counts of a node's rows, of which its cuts are made: class by class, and person by person (Numba kernels)."""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.methods.partitioning.dimensions import TREE, Dims, Placed, Scratch
from incrowd.methods.person_counts import count_parts, count_spans
from incrowd.trees.compiled import compiled


@compiled
def _plogp(x: float) -> float:
    return x * np.log2(x) if x > 0.0 else 0.0


@compiled
def bits_of(counts: Any) -> float:
    """n * H(class) of a histogram."""
    total, inner = 0.0, 0.0
    for c in range(counts.size):
        total += counts[c]
        inner += _plogp(counts[c])
    return _plogp(total) - inner


@compiled
def tally_places(table: Placed, rows: Any, a: int, width: int, room: Scratch) -> int:
    """Class counts of the places present among the rows; returns how many are present, ascending."""
    hist, present, count = room.hist, room.present, 0
    if rows.size * 4 < width:
        keys = np.empty(rows.size, np.int64)
        for i in range(rows.size):
            keys[i] = table.places[rows[i], a]
        keys.sort()
        for i in range(keys.size):
            if i == 0 or keys[i] != keys[i - 1]:
                present[count] = keys[i]
                count += 1
                hist[keys[i], :] = 0
        for i in range(rows.size):
            hist[table.places[rows[i], a], table.labels[rows[i]]] += 1
        return count
    hist[:width, :] = 0
    for i in range(rows.size):
        hist[table.places[rows[i], a], table.labels[rows[i]]] += 1
    for place in range(width):
        for c in range(table.classes):
            if hist[place, c] > 0:
                present[count] = place
                count += 1
                break
    return count


@compiled
def sum_places(hist: Any, places: Any, count: int) -> Any:
    """Class counts of several places together."""
    counts = np.zeros(hist.shape[1], np.int64)
    for i in range(count):
        for c in range(counts.size):
            counts[c] += hist[places[i], c]
    return counts


@compiled
def order_by_class(hist: Any, present: Any, count: int) -> Any:
    """The present places by their share of the rows' second largest class (for two classes: by P)."""
    known = sum_places(hist, present, count)
    major, pivot = 0, 0
    for c in range(1, known.size):
        if known[c] > known[major]:
            major = c
    for c in range(known.size):
        if c != major and (pivot == major or known[c] > known[pivot]):
            pivot = c
    keys = np.empty(count, np.int64)
    for i in range(count):
        keys[i] = (hist[present[i], pivot] << 30) // hist[present[i]].sum() << 32 | i
    keys.sort()
    ordered = np.empty(count, np.int64)
    for i in range(count):
        ordered[i] = present[keys[i] & 0xFFFFFFFF]
    return ordered


@compiled
def note_persons(table: Placed, rows: Any, room: Scratch) -> None:
    """Note whose the rows of a node are, if rows are not persons."""
    if table.owners.size > 0:
        for i in range(rows.size):
            room.owners[i] = table.owners[rows[i]]


@compiled
def count_persons(table: Placed, dims: Dims, rows: Any, a: int, at: int, order: Any, count: int, room: Scratch) -> int:
    """Count persons by the first and the last of their places in an order, or by the groups below the current one.

    Returns those with a missing value.
    """
    groups, owners, i = 0, room.owners[: rows.size], 0
    if dims.kind[a] == TREE:
        groups = dims.begin[at + 1] - dims.begin[at]
        for number in range(groups):
            while i < count and room.present[i] < dims.end[dims.children[dims.begin[at] + number]]:
                room.part[room.present[i]] = number
                i += 1
    else:
        for i in range(count):
            room.part[order[i]] = i
    room.part[dims.width[a] - 1] = -1
    for i in range(rows.size):
        room.ranks[i] = room.part[table.places[rows[i], a]]
    room.first[: max(groups, count)] = 0
    room.last[: max(groups, count)] = 0
    if dims.kind[a] == TREE:
        return count_parts(owners, room.ranks, room.first[:groups], room.last[:groups])
    return count_spans(owners, room.ranks, room.first[:count], room.last[:count])
