"""What the compiled loops of several methods count: different persons among rows, and classes (Numba kernels).

Rows of a person that are neighbours are counted in one pass, without a set of whom was met before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from incrowd.trees.compiled import compiled


@compiled
def sorted_by_person(owners: Any, persons: int) -> Any:
    """The rows, those of a person together, in their order."""
    begin, order = np.zeros(persons + 1, np.int64), np.empty(owners.size, np.int64)
    for row in range(owners.size):
        begin[owners[row] + 1] += 1
    for person in range(persons):
        begin[person + 1] += begin[person]
    for row in range(owners.size):
        order[begin[owners[row]]] = row
        begin[owners[row]] += 1
    return order


@compiled
def count_spans(owners: Any, ranks: Any, first: Any, last: Any) -> int:
    """Count persons by the lowest and by the highest rank of their rows, which are neighbours.

    So many persons have a row up to a rank as begin there or before it, and so many have one beyond it as do not end
    there or before it. Returns the persons with a row of rank -1, which counts for nothing else.
    """
    row, beside = 0, 0
    while row < owners.size:
        person, low, high, without = owners[row], first.size, -1, 0
        while row < owners.size and owners[row] == person:
            rank = ranks[row]
            if rank < 0:
                without = 1
            else:
                low, high = min(low, rank), max(high, rank)
            row += 1
        beside += without
        if high >= 0:
            first[low] += 1
            last[high] += 1
    return beside


@compiled
def count_parts(owners: Any, parts: Any, counts: Any, met: Any) -> int:
    """Count the persons of each part, whose rows are neighbours; returns those with a row of part -1.

    ``met`` is scratch space, one number for each part.
    """
    met[:] = -1
    beside, latest = 0, -1
    for row in range(owners.size):
        person, part = owners[row], parts[row]
        if part < 0:
            beside += int(latest != person)
            latest = person
        elif met[part] != person:
            met[part] = person
            counts[part] += 1
    return beside


@compiled
def count_alone(owners: Any, ranks: Any, counts: Any) -> None:
    """Count by rank the persons all of whose rows, which are neighbours, have this rank."""
    row = 0
    while row < owners.size:
        person, rank, alone = owners[row], ranks[row], 1
        while row < owners.size and owners[row] == person:
            alone *= int(ranks[row] == rank)
            row += 1
        counts[rank] += alone


@compiled
def count_below(cells: Any, owners: Any, order: Any, parents: Any) -> Any:
    """The persons at each node of a tree or below it, from where their rows rest.

    ``order`` has the rows of a person together; a root has a negative parent.
    """
    counts, met = np.zeros(parents.size, np.int64), np.full(parents.size, -1, np.int64)
    for row in order:
        node = cells[row]
        while node >= 0 and met[node] != owners[row]:
            met[node] = owners[row]
            counts[node] += 1
            node = parents[node]
    return counts


@compiled
def count_together(owners: Any, begin: Any, cells: Any, met: Any, mark: int) -> int:
    """The persons of some cells together; ``owners`` are sorted by cell, ``begin`` says where each begins.

    ``met`` has a number for each person, and no person has the mark yet.
    """
    count = 0
    for cell in cells:
        for row in range(begin[cell], begin[cell + 1]):
            count += int(met[owners[row]] != mark)
            met[owners[row]] = mark
    return count


@compiled
def some_of_each(cells: Any, persons: Any, cell_count: int, person_count: int, most: int) -> Any:
    """Cells and persons, each pair once, cell by cell, and of each cell at most so many: entries x 2."""
    begin, order = np.zeros(cell_count + 1, np.int64), np.empty(cells.size, np.int64)
    for row in range(cells.size):
        begin[cells[row] + 1] += 1
    for cell in range(cell_count):
        begin[cell + 1] += begin[cell]
    for row in range(cells.size):
        order[begin[cells[row]]] = row
        begin[cells[row]] += 1
    met, entries = np.full(person_count, -1, np.int64), np.empty((cells.size, 2), np.int32)
    count, row = 0, 0
    for cell in range(cell_count):  # by now a cell begins where the next one did
        taken = 0
        while row < begin[cell]:
            person = persons[order[row]]
            if taken < most and met[person] != cell:
                met[person] = cell
                entries[count, 0], entries[count, 1] = cell, person
                count += 1
                taken += 1
            row += 1
    return entries[:count]


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
def with_room(array: Any, needed: int) -> Any:
    """The array, or a copy with at least the needed rows."""
    if needed <= array.shape[0]:
        return array
    larger = np.zeros((max(needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    larger[: array.shape[0]] = array
    return larger
