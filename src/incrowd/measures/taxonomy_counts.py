"""Counts of values that are partly hidden: a cell that shows a group is shared out among the values below it.

Zhang and Honavar (2003). Nodes of a taxonomy are numbered depth first from the root, 0; ``ends[x]`` is the first node
that is not below ``x``. ``own[x]`` counts the cells that show exactly the node ``x``; a hidden cell shows the root.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Own = npt.NDArray[np.int64]


def aggregated(own: Own, ends: Sequence[int], node: int) -> int:
    """Cells that show a node or something below it."""
    return int(own[node : ends[node]].sum())


def estimated(own: Own, parents: Sequence[int], ends: Sequence[int], node: int, top: int = 0) -> Fraction:
    """Cells of a node, with its share of those that show a node above it, up to ``top``.

    On the way down from ``top`` a node receives what its parent holds in proportion to the aggregated counts of the
    children; children without any cell share equally.
    """
    way = [node]
    while way[-1] != top:
        way.append(parents[way[-1]])
    cells = own.tolist()
    held, of = sum(cells[top : ends[top]]), 1
    for child in reversed(way[:-1]):
        parent = parents[child]
        below = sum(cells[parent + 1 : ends[parent]])
        held *= sum(cells[child : ends[child]]) if below else 1
        of *= below or sum(other == parent for other in parents)
    return Fraction(held, of)
