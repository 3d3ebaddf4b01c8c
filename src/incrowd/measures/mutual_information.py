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
    """H(C): entropy of the classes.

    Examples
    --------
    >>> class_entropy([[2, 0], [1, 3]])
    1.0
    """
    return entropy(np.sum(contingency, axis=0))


def value_entropy(contingency: npt.ArrayLike) -> float:
    """H(A): entropy of the attribute's values.

    Examples
    --------
    >>> value_entropy([[2, 2], [1, 3]])
    1.0
    """
    return entropy(np.sum(contingency, axis=1))


def conditional_entropy(contingency: npt.ArrayLike) -> float:
    """H(C|A) = -sum f(a, c) log f(c|a): what is left to know of the class once the value is known (section 3.1).

    Examples
    --------
    >>> conditional_entropy([[2, 0], [1, 1]])
    0.5
    """
    counts = np.asarray(contingency, np.float64)
    sizes = counts.sum(axis=1)
    total = float(sizes.sum())
    return float(_xlogx(sizes).sum() - _xlogx(counts).sum()) / total if total else 0.0


def mutual_information(contingency: npt.ArrayLike) -> float:
    """I(A; C) = H(C) - H(C|A) (section 3.1); never below 0.

    Examples
    --------
    >>> mutual_information([[2, 0], [0, 2]])
    1.0
    """
    return max(0.0, class_entropy(contingency) - conditional_entropy(contingency))


def normalized_information(contingency: npt.ArrayLike) -> float:
    """I_N(A; C) = I(A; C) / H(A) (section 3.1); 0 if the attribute has one value only, or no row.

    Examples
    --------
    >>> normalized_information([[1, 0], [1, 0], [0, 1], [0, 1]]), normalized_information([[2, 2]])
    (0.5, 0.0)
    """
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

    Examples
    --------
    >>> round(divergence([4, 4], [3, 4]), 4), divergence([4, 4], [0, 4])
    (0.2075, inf)
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
    """D_N(A'||A'') = D(A'||A'') / H(A') (section 4); with H(A') = 0 it is 0 if nothing was suppressed, else infinite.

    Examples
    --------
    >>> [round(normalized_divergence(*pair), 4) for pair in (([4, 4], [3, 4]), ([8], [7]), ([8], [8]))]
    [0.2075, inf, 0.0]
    """
    return ratio(divergence(before, after), entropy(before))


def divergence_scale(before: npt.ArrayLike) -> float:
    """The suggested scale of D_N: its value if one row of every value were kept (section 4), (log n - H(A')) / H(A').

    Examples
    --------
    >>> round(divergence_scale([4, 4]), 4) == round(normalized_divergence([4, 4], [1, 1]), 4)
    True
    """
    return ratio(divergence_room(before), entropy(before))


def divergence_room(before: npt.ArrayLike) -> float:
    """D(A'||A*) if one row of every value were kept: log n - H(A').

    Examples
    --------
    >>> divergence_room([4, 4])
    2.0
    """
    total = float(np.sum(before))
    return max(0.0, math.log2(total) - entropy(before)) if total else 0.0


def information_scale(contingency: npt.ArrayLike) -> float:
    """The suggested scale of a change of I_N: H(C) / H(A') (section 4).

    Examples
    --------
    >>> information_scale([[2, 2], [2, 2]])
    1.0
    """
    return ratio(class_entropy(contingency), value_entropy(contingency))


def ratio(part: float, whole: float) -> float:
    """One number over another; nothing over nothing is 0, something over nothing is infinite.

    Examples
    --------
    >>> ratio(1, 2), ratio(0, 0), ratio(1, 0)
    (0.5, 0.0, inf)
    """
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else 0.0


def _xlogx(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(numbers * np.log2(np.maximum(numbers, 1.0)), np.float64)
