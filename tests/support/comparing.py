"""Two small tables compared cell by cell, as they are or in pieces."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa

from incrowd.verification.comparison import CellComparison
from incrowd.verification.opening import connect, register
from incrowd.verification.request import Expected, Original


def compared(shown, own, cuts=(), *, keys=None, escapes=False, pair=None, claims=None, may_lose=0, **asked):
    """How many cells of each column are wrong, and what each piece has told; pieces end at the cuts."""
    released, original = pa.table(shown), pa.table(own)
    names, rows = released.column_names, released.num_rows
    wanted = Expected([], names, names if keys is None else keys, may_lose, **asked)
    with connect(threads=1) as connection:
        comparison = CellComparison(connection, wanted, escapes=escapes, **({} if pair is None else {"pair": pair}))
        pieces = []
        for start, end in pairwise([0, *cuts, rows]):
            register(connection, released.slice(start, end - start), "released")
            claimed = {name: (low[start:end], high[start:end]) for name, (low, high) in (claims or {}).items()}
            part = Original(original.slice(start, end - start), np.arange(start, end), rows, claimed)
            pieces.append(comparison.piece(part))
        return comparison.added(pieces).wrong, pieces


def wrong(shown, own, cuts=(), **asked):
    """How many cells of the one column are wrong."""
    found, _ = compared({"x": cells(shown)}, {"x": cells(own)}, cuts, **asked)
    return found["x"]


def wrong_of_all(cases, cuts=(), **asked):
    """The same for many columns at once, each a case: what is shown, and the own values. Further rows are empty."""
    rows = max(len(own) for _, own, *_ in cases.values())
    shown, given = ({name: cells(case[place], rows) for name, case in cases.items()} for place in (0, 1))
    return compared(shown, given, cuts, **asked)[0]


def expected(cases):
    """How many cells of each case are wrong."""
    return {name: case[2] for name, case in cases.items()}


def cells(values, rows=0):
    """The cells of a column, with empty ones up to the number of rows; of text if all are."""
    found = values if isinstance(values, pa.Array) else pa.array(values)
    kind = pa.string() if found.type == pa.null() else found.type
    return pa.array(found.to_pylist() + [None] * (rows - len(found)), kind)
