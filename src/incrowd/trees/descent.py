"""The routing kernel: follows each row from the root to the node where it rests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.trees.compiled import compiled

Ints = npt.NDArray[np.int32]


@compiled
def descend(
    codes: Ints, column: Ints, dense: npt.NDArray[np.bool_], begin: Ints, start: Ints, child: Ints, rest: Ints
) -> None:
    """Write the resting node of each row; the arrays are those of :class:`incrowd.trees.ranges.Ranges`."""
    for row in range(len(rest)):
        node = 0
        while column[node] >= 0:
            code = codes[row, column[node]]
            lo, hi = begin[node], begin[node + 1]
            if dense[node]:
                lo += code
            else:
                while hi - lo > 1:
                    middle = (lo + hi) // 2
                    if start[middle] <= code:
                        lo = middle
                    else:
                        hi = middle
            if child[lo] < 0:
                break
            node = child[lo]
        rest[row] = node
