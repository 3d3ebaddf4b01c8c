"""Entropy, how much an attribute tells of the class, and what suppression changes of it.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011), sections 3.1 and 4. A contingency has a row per value of the attribute A and a column per class C; all answers
are in bits. The printed formulas lack a joint weight in H(C|A) and a sign in H(A'); both are put right here.

Where to cut a number so that the pieces tell the class apart, and when to stop.

Fayyad and Irani, "Multi-Interval Discretization of Continuous-Valued Attributes for Classification Learning"
(IJCAI 1993).

How much two attributes tell of each other within cells, beyond what few rows tell by chance: I(A; B | cell), summed
over rows, less what it would be on average were the values of B dealt at random over the rows of each cell. It is the
adjustment of Vinh, Epps and Bailey, "Information theoretic measures for clusterings comparison" (JMLR 2010), cell by
cell. Without it small cells would seem to be full of information.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import ValueOwners

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def xlogx(counts: Counts | Floats) -> Floats:
    """``x log2 x`` of each count; 0 below 1."""
    return np.asarray(counts * np.log2(np.maximum(counts, 1)), np.float64)


def bits(histograms: Counts | Floats) -> Floats:
    """Rows times entropy of each histogram (the last axis), in bits."""
    return np.asarray(xlogx(histograms.sum(axis=-1)) - xlogx(histograms).sum(axis=-1), np.float64)


def entropy(histogram: npt.ArrayLike) -> float:
    """Entropy of a histogram in bits: ``-sum p log2 p`` (Shannon 1948, section 6)."""
    counts = np.asarray(histogram, dtype=np.float64)
    counts = counts[counts > 0]
    total = counts.sum()
    if len(counts) < 2:
        return 0.0
    shares = counts / total
    return float(-(shares * np.log2(shares)).sum())


def class_entropy(contingency: npt.ArrayLike) -> float:
    """H(C): entropy of the classes."""
    return entropy(np.sum(contingency, axis=0))


def value_entropy(contingency: npt.ArrayLike) -> float:
    """H(A): entropy of the attribute's values."""
    return entropy(np.sum(contingency, axis=1))


def conditional_entropy(contingency: npt.ArrayLike) -> float:
    """H(C|A) = -sum f(a, c) log f(c|a): what is left to know of the class once the value is known (section 3.1)."""
    counts = np.asarray(contingency, np.float64)
    sizes = counts.sum(axis=1)
    total = float(sizes.sum())
    return float(xlogx(sizes).sum() - xlogx(counts).sum()) / total if total else 0.0


def mutual_information(contingency: npt.ArrayLike) -> float:
    """I(A; C) = H(C) - H(C|A) (section 3.1); never below 0."""
    return max(0.0, class_entropy(contingency) - conditional_entropy(contingency))


def normalized_information(contingency: npt.ArrayLike) -> float:
    """I_N(A; C) = I(A; C) / H(A) (section 3.1); 0 if the attribute has one value only, or no row."""
    spread = value_entropy(contingency)
    return mutual_information(contingency) / spread if spread > 0 else 0.0


def divergence(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """D(A'||A'') = sum f'(a) log(f'(a) / f''(a)), both over all rows (section 4).

    ``before``: rows of each value after generalization. ``after``: rows that still show it after suppression. What is
    suppressed has no row before and adds nothing; a value that is suppressed everywhere makes the divergence infinite.
    """
    old, new = np.asarray(before, np.float64), np.asarray(after, np.float64)
    present = old > 0
    old, new = old[present], new[present]
    if not len(old):
        return 0.0
    if not new.all():
        return math.inf
    return max(0.0, float((old * np.log2(old / new)).sum() / old.sum()))


def divergence_room(before: npt.ArrayLike) -> float:
    """D(A'||A*) if one row of every value were kept: log n - H(A')."""
    total = float(np.sum(before))
    return max(0.0, math.log2(total) - entropy(before)) if total else 0.0


def ratio(part: float, whole: float) -> float:
    """One number over another; nothing over nothing is 0, something over nothing is infinite."""
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else 0.0


MAX_FLOAT = 1.7e308  # two floats may differ by more than the largest, which would be infinite


def even_cuts(
    rows: npt.NDArray[np.int64],
    smallest: int,
    owners: ValueOwners | None = None,
    persons: int = 1,
    first: int = 0,
    last: int | None = None,
) -> list[int]:
    """Cuts as soon as a piece has enough rows; the rest below that joins the last piece.

    ``owners``, ``persons``: who has which value, and how many of them each piece has at least, if rows are not persons.
    ``first``, ``last``: only the values from the first to the one before the last are cut.

    Examples
    --------
    >>> even_cuts(np.array([5, 1, 9, 4, 2]), 5)
    [1, 3]
    """
    places: list[int] = []
    last = len(rows) if last is None else last
    size, left = 0, int(rows[first:last].sum())
    for place, here in enumerate(rows[first:last].tolist(), start=first + 1):
        size, left = size + here, left - here
        begin = places[-1] if places else first
        if size >= smallest and left >= smallest and _enough(owners, persons, begin, place, last):
            places.append(place)
            size = 0
    return places


def _enough(owners: ValueOwners | None, persons: int, begin: int, place: int, end: int) -> bool:
    """Whether so many persons are on both sides of a place."""
    sides = (range(begin, place), range(place, end))
    return owners is None or all(owners.among(side) >= persons for side in sides)


def roundest(low: float, high: float, whole: bool) -> float:
    """The number at or above ``low`` and below ``high`` with the fewest digits; of several, the one in the middle.

    Examples
    --------
    >>> roundest(59_000, 9_001_337, True), roundest(30, 41, True), roundest(37, 38, True)
    (5000000, 40, 37)
    >>> roundest(0.1234, 0.1391, False)
    0.13
    """
    middle = (Fraction(low) + Fraction(high)) / 2
    for exponent in range(math.floor(math.log10(min(high - low, MAX_FLOAT))) + 1, -18, -1):
        step = Fraction(10) ** exponent
        for multiple in (round(middle / step), math.ceil(Fraction(low) / step)):
            cut = int(multiple * step) if whole else float(multiple * step)
            if low <= cut < high:
                return cut
    return low


def outer_ends(
    numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    k: int,
    whole: bool,
    owners: ValueOwners | None = None,
) -> tuple[float, float]:
    """Round numbers near the two ends of a column, with at least k rows beyond each: they tell of no single row.

    ``numbers``, ``rows``: the distinct numbers, ascending, and how many rows have each. ``whole``: whether the ends
    shall be whole numbers. ``owners``: who has which number, if rows are not persons: k persons are then beyond.

    Examples
    --------
    >>> outer_ends(np.arange(17, 91), np.ones(74, np.int64), 5, True)
    (21, 85)
    """
    last = len(numbers) - 1
    if last < 1:
        only = numbers[0].item() if len(numbers) else 0
        return only, only
    up, down = (rows, rows) if owners is None else owners.met(0, len(numbers))
    low = min(int(np.searchsorted(np.cumsum(up), k)), last - 1)
    high = max(last - int(np.searchsorted(np.cumsum(down[::-1]), k)), 1)
    low_end = roundest(numbers[low].item(), numbers[low + 1].item(), whole)
    return low_end, max(low_end, roundest(numbers[high - 1].item(), numbers[high].item(), whole))


def mdl_cuts(counts: Counts, smallest: int = 1, owners: ValueOwners | None = None) -> list[int]:
    """The places to cut, each the number of values below it, ascending.

    The best cut (smallest weighted class entropy) of a piece is accepted if its gain pays for describing it:
    gain > (log2(n - 1) + log2(3^c - 2) - c·H + c1·H1 + c2·H2) / n, with n rows and c, c1, c2 classes present in
    the piece and its two parts. Accepted parts are cut again.

    ``counts``: rows per value (ascending) and class. ``smallest``: every piece keeps at least that many rows; persons,
    if ``owners`` says who has which value.

    Examples
    --------
    >>> mdl_cuts(np.array([[20, 0], [20, 0], [0, 20], [0, 20]]))
    [2]
    >>> mdl_cuts(np.array([[5, 5], [5, 5]]))
    []
    """
    below = np.concatenate([np.zeros((1, counts.shape[1]), np.int64), np.cumsum(counts, axis=0)])
    cuts: list[int] = []
    pieces = [(0, len(counts))]
    while pieces:
        first, last = pieces.pop()
        cut = _best_cut(below, first, last, smallest, owners)
        if cut is not None:
            cuts.append(cut)
            pieces += [(first, cut), (cut, last)]
    return sorted(cuts)


def _best_cut(below: Counts, first: int, last: int, smallest: int, owners: ValueOwners | None) -> int | None:
    """The accepted cut of the values first to last - 1, or None."""
    whole = below[last] - below[first]
    rows = int(whole.sum())
    if last - first < 2 or rows < max(2, 2 * smallest if owners is None else smallest):
        return None
    left = below[first + 1 : last] - below[first]
    right = whole - left
    sizes = (left.sum(axis=1), right.sum(axis=1)) if owners is None else owners.sides(first, last)
    large = (sizes[0] >= smallest) & (sizes[1] >= smallest)
    if not large.any():
        return None
    inner = np.where(large, bits(left) + bits(right), np.inf)
    best = int(np.argmin(inner))
    inside = float(bits(whole[None])[0])
    gain = (inside - float(inner[best])) / rows
    sides = np.stack([left[best], right[best]])
    present = (sides > 0).sum(axis=1)
    classes = int((whole > 0).sum())
    weights = sides.sum(axis=1)
    entropies = bits(sides) / np.maximum(weights, 1)
    delta = np.log2(3.0**classes - 2) - (classes * inside / rows - float((present * entropies).sum()))
    return first + 1 + best if gain > (np.log2(rows - 1) + delta) / rows else None


@dataclass(frozen=True)
class Interaction:
    """What two attributes tell of each other: ``bits`` beyond chance, over all rows; ``noise``, about how far off."""

    bits: float
    noise: float


def interaction(cells: Counts, a: Counts, b: Counts) -> Interaction:
    """The information that two attributes have of each other within cells, adjusted for chance.

    ``noise`` is the standard deviation of the information of independent attributes in large cells: half of a
    chi-squared variable with as many degrees of freedom as the tables of the cells have together.

    Examples
    --------
    >>> rows = np.arange(400)
    >>> both = interaction(rows // 100, rows % 2, rows % 2)
    >>> round(both.bits), both.bits > 3 * both.noise
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


def expected_xlogx(rows: Counts, x: Counts, y: Counts) -> Floats:
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


def _numbered(codes: Counts) -> tuple[Counts, int]:
    known, numbers = np.unique(codes, return_inverse=True)
    return numbers.astype(np.int64), len(known)


def _margins(of_cell: Counts, codes: Counts) -> tuple[Counts, Counts]:
    """The rows of each value in each cell, and the cell."""
    numbers, width = _numbered(codes)
    pairs, rows = np.unique(of_cell * width + numbers, return_counts=True)
    return rows.astype(np.int64), pairs // max(1, width)


def _pairs(cell_a: Counts, cell_b: Counts, cells: int) -> tuple[Counts, Counts]:
    """All pairs of an entry of the one and an entry of the other that are of the same cell; both ascend."""
    many = np.bincount(cell_b, minlength=cells)
    starts = np.cumsum(many) - many
    times = many[cell_a]
    first = np.repeat(np.arange(len(cell_a)), times)
    within = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times)
    return first, starts[cell_a[first]] + within
