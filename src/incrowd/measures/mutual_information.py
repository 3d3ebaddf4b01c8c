"""How much an attribute tells of the class, and what suppression changes of it.

Li, Liu, Baig, Wong, "Information based data anonymization for classification utility" (Data & Knowledge Engineering
2011), sections 3.1 and 4. A contingency has a row per value of the attribute A and a column per class C; all answers
are in bits. The printed formulas lack a joint weight in H(C|A) and a sign in H(A'); both are put right here.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from incrowd.measures.entropy import entropy

Counts = npt.NDArray[np.int64]


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
    return float(_xlogx(sizes).sum() - _xlogx(counts).sum()) / total if total else 0.0


def mutual_information(contingency: npt.ArrayLike) -> float:
    """I(A; C) = H(C) - H(C|A) (section 3.1); never below 0."""
    return max(0.0, class_entropy(contingency) - conditional_entropy(contingency))


def normalized_information(contingency: npt.ArrayLike) -> float:
    """I_N(A; C) = I(A; C) / H(A) (section 3.1); 0 if the attribute has one value only, or no row."""
    spread = value_entropy(contingency)
    return mutual_information(contingency) / spread if spread > 0 else 0.0


def divergence(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """D(A'||A'') = sum f'(a) log(f'(a) / f''(a)), both over all rows (section 4).

    Parameters
    ----------
    before
        Rows of each value after generalization.
    after
        Rows that still show it after suppression. What is suppressed has no row before and adds nothing; a value
        that is suppressed everywhere makes the divergence infinite.
    """
    old, new = np.asarray(before, np.float64), np.asarray(after, np.float64)
    present = old > 0
    old, new = old[present], new[present]
    if not len(old):
        return 0.0
    if not new.all():
        return math.inf
    return max(0.0, float((old * np.log2(old / new)).sum() / old.sum()))


def normalized_divergence(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """D(A'||A'') / H(A') (section 4); with H(A') = 0 it is 0 if nothing was suppressed, else infinite."""
    return ratio(divergence(before, after), entropy(before))


def divergence_scale(before: npt.ArrayLike) -> float:
    """The scale of D_N: its value if one row of every value were kept (section 4), (log n - H(A')) / H(A')."""
    return ratio(divergence_room(before), entropy(before))


def divergence_room(before: npt.ArrayLike) -> float:
    """D(A'||A*) if one row of every value were kept: log n - H(A')."""
    total = float(np.sum(before))
    return max(0.0, math.log2(total) - entropy(before)) if total else 0.0


def information_scale(contingency: npt.ArrayLike) -> float:
    """The suggested scale of a change of I_N: H(C) / H(A') (section 4)."""
    return ratio(class_entropy(contingency), value_entropy(contingency))


def ratio(part: float, whole: float) -> float:
    """One number over another; nothing over nothing is 0, something over nothing is infinite."""
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else 0.0


def _xlogx(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(numbers * np.log2(np.maximum(numbers, 1.0)), np.float64)
