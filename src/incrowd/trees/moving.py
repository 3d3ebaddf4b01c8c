"""Sorts the rows of a level by child, so that the rows of a node lie side by side again."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled
from incrowd.trees.records import Columns

Array = npt.NDArray[Any]


@compiled
def move_rows(
    rows: Array,
    words: npt.NDArray[np.uint64],
    starts: npt.NDArray[np.int64],
    splits: Array,
    first: npt.NDArray[np.int64],
    codes: Array,
    place: npt.NDArray[np.int64],
    columns: Columns,
    target: npt.NDArray[np.uint64],
) -> None:
    """Copy the rows of each node to the places of its children, in their order.

    ``first`` is the first child of each node and ``place`` the row where a child begins in the target, or
    -1 if it will not be split. ``words`` and ``target`` are rows seen as 64-bit words.
    """
    child_of = np.empty(columns.width.max(), np.int64)
    length = len(words) // (len(rows) // columns.stride)
    for node in range(len(splits)):
        a = splits[node, 0]
        if a < 0:
            continue
        point_codes(child_of, splits[node], first[node], codes, columns)
        for row in range(starts[node], starts[node + 1]):
            child = child_of[np.uint64(rows[np.uint64(row * columns.stride + a + 1)])]
            if child < 0 or place[child] < 0:
                continue
            to = place[child] * length
            place[child] += 1
            for word in range(length):
                target[np.uint64(to + word)] = words[np.uint64(row * length + word)]


@compiled
def point_codes(child_of: Array, split: Array, first: int, codes: Array, columns: Columns) -> None:
    """Write for every code of the split attribute the child its rows go to, or -1."""
    width = columns.width[split[0]]
    child_of[:width] = -1
    for child in range(first, first + split[3]):
        if not columns.ordered[split[0]]:
            child_of[codes[child]] = child
        elif codes[child] == 0:
            child_of[: split[1] + 1] = child
        elif codes[child] == 1:
            child_of[split[1] + 1 : width - 1] = child
        else:
            child_of[width - 1] = child
