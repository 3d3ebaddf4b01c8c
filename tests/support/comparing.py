"""Two small tables compared cell by cell, as they are or in pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from incrowd.verification.comparison import CellComparison
from incrowd.verification.opening import connect, register
from incrowd.verification.request import Expected, Original


def compared(shown, own, cuts=(), *, keys=None, escapes=False, pair=False, claims=None, may_lose=0, **asked):
    """How many cells of each column are wrong, and what each piece has told; pieces end at the cuts."""
    released, original = pa.table(shown), pa.table(own)
    names, rows = released.column_names, released.num_rows
    wanted = Expected([], names, names if keys is None else keys, may_lose, **asked)
    with connect(threads=1) as connection:
        comparison = CellComparison(connection, wanted, escapes=escapes, pair=pair)
        pieces = []
        for start, end in pairwise([0, *cuts, rows]):
            register(connection, released.slice(start, end - start), "released")
            claimed = {name: (low[start:end], high[start:end]) for name, (low, high) in (claims or {}).items()}
            part = Original(original.slice(start, end - start), np.arange(start, end), rows, claimed)
            pieces.append(comparison.piece(part))
        return comparison.added(pieces), pieces


def wrong(shown, own, cuts=(), **asked):
    """How many cells of the one column are wrong."""
    found, _ = compared({"x": texts(shown)}, {"x": texts(own)}, cuts, **asked)
    return found["x"]


def texts(cells):
    """The cells of a column; of text if they are all missing."""
    return pa.array(cells, pa.string()) if all(cell is None for cell in cells) else cells
