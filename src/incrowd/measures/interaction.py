"""How much two attributes tell of each other within cells, beyond what few rows tell by chance.

I(A; B | cell), summed over rows, less what it would be on average were the values of B dealt at random over the rows of
each cell: the adjustment of Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison" (JMLR
2010), cell by cell. Without it small cells would seem to be full of information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from incrowd.measures.information import xlogx

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Interaction:
    """What two attributes tell of each other: ``bits`` beyond chance, over all rows; ``noise``, about how far off."""

    bits: float
    noise: float


def interaction(cells: Ints, a: Ints, b: Ints) -> Interaction:
    """The information that two attributes have of each other within cells, adjusted for chance.

    ``noise`` is the standard deviation of the information of independent attributes in large cells: half of a
    chi-squared variable with as many degrees of freedom as the tables of the cells have together.

    Examples
    --------
    >>> rows = np.arange(400)
    >>> told = interaction(rows // 100, rows % 2, rows % 2)
    >>> round(told.bits), told.bits > 3 * told.noise
    (397, True)
    """
    of_cell, in_cells = _numbered(cells)
    rows_a, cell_a = _margins(of_cell, a)
    rows_b, cell_b = _margins(of_cell, b)
    (codes_a, _), (codes_b, width) = _numbered(a), _numbered(b)
    of_pair = _numbered(of_cell * (int(codes_a.max(initial=0)) + 1) + codes_a)[0]
    both = np.unique(of_pair * width + codes_b, return_counts=True)[1]
    first, second = _pairs(cell_a, cell_b, in_cells)
    rows, x, y = np.bincount(of_cell, minlength=in_cells)[cell_a[first]], rows_a[first], rows_b[second]
    most = int(rows.max(initial=0)) + 1
    triples, often = np.unique((rows * most + x) * most + y, return_counts=True)
    expected = float((expected_xlogx(triples // most**2, triples // most % most, triples % most) * often).sum())
    tables = (np.bincount(cell_a, minlength=in_cells) - 1) * (np.bincount(cell_b, minlength=in_cells) - 1)
    return Interaction(float(xlogx(both).sum()) - expected, float(np.sqrt(tables.sum() / 2) / np.log(2)))


def expected_xlogx(rows: Ints, x: Ints, y: Ints) -> Floats:
    """E[n log2 n] of the n rows that have two values which x and y of so many rows have, dealt independently.

    n is hypergeometric.

    Examples
    --------
    >>> expected_xlogx(np.array([4]), np.array([2]), np.array([2])).round(4).tolist()
    [0.3333]
    """
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, int(rows.max(initial=0)) + 1)))])
    fixed = sum(factorials[part] for part in (x, y, rows - x, rows - y)) - factorials[rows]
    expected = np.zeros(len(rows))
    least, most = np.maximum(x + y - rows, 0), np.minimum(x, y)
    for n in range(2, int(most.max(initial=0)) + 1):
        here = np.flatnonzero((least <= n) & (n <= most))
        left = (factorials[part[here] - n] for part in (x, y))
        other = factorials[(rows - x - y)[here] + n]
        log = fixed[here] - factorials[n] - sum(left) - other
        expected[here] += np.exp(log) * n * np.log2(n)
    return expected


def _numbered(codes: Ints) -> tuple[Ints, int]:
    known, numbers = np.unique(codes, return_inverse=True)
    return numbers.astype(np.int64), len(known)


def _margins(of_cell: Ints, codes: Ints) -> tuple[Ints, Ints]:
    """The rows of each value in each cell, and the cell."""
    numbers, width = _numbered(codes)
    pairs, rows = np.unique(of_cell * width + numbers, return_counts=True)
    return rows.astype(np.int64), pairs // max(1, width)


def _pairs(cell_a: Ints, cell_b: Ints, cells: int) -> tuple[Ints, Ints]:
    """All pairs of an entry of the one and an entry of the other that are of the same cell; both ascend."""
    many = np.bincount(cell_b, minlength=cells)
    starts = np.cumsum(many) - many
    times = many[cell_a]
    first = np.repeat(np.arange(len(cell_a)), times)
    within = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times)
    return first, starts[cell_a[first]] + within
