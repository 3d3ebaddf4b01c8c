"""Entropy, how much an attribute tells of the class, and what suppression changes of it.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011), sections 3.1 and 4. A contingency has a row per value of the attribute A and a column per class C; all answers
are in bits. The printed formulas lack a joint weight in H(C|A) and a sign in H(A'); both are put right here.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

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
