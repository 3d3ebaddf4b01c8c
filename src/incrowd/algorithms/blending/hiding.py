"""Quasi-identifiers that tell nothing more: hiding them costs no accuracy, helps naive Bayes, and protects best.

One after the other, the attribute is given up without which cross-validated naive Bayes is right most often, as long as
that gains something. Naive Bayes does not see what attributes tell only together, so the guide has the last word: they
are hidden only if it, out of fold, loses next to nothing without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.blending.bayes import prior, told_by
from incrowd.algorithms.blending.guide import Guided
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Numbers = npt.NDArray[np.float64]
MOST_LOST = 0.0025
"""The share of rows that the guide may tell wrong for want of the hidden attributes."""

LARGEST, LEAST_GAIN, NOISE = 30_000, 0.001, 0.1


def given_up(columns: Sequence[EncodedColumn], target: EncodedColumn, order: npt.NDArray[np.intp]) -> list[str]:
    """The attributes naive Bayes does better without, the most harmful first; one at least is left.

    Parameters
    ----------
    columns, target
        The attributes, numbers as bins, and the class.
    order
        The rows in random order; the first of them are looked at.
    """
    rows = order[:LARGEST]
    labels = target.codes[rows]
    parts = [told_by(column.codes[rows], column.width, labels, target.width) for column in columns]
    left, whole = list(range(len(columns))), prior(labels, target.width) + sum(parts, np.zeros(1))
    least = max(LEAST_GAIN, NOISE / max(1, len(rows)) ** 0.5)
    right, gone = _right(whole, labels), list[str]()
    while len(left) > 1:
        without = [_right(whole - parts[a], labels) for a in left]
        best = int(np.argmax(without))
        if without[best] < right + least:
            break
        right, whole = without[best], whole - parts[left[best]]
        gone.append(columns[left.pop(best)].name)
    return gone


def hidden_names(
    names: Sequence[str], useless: Sequence[str], guide: Callable[[Sequence[str]], Guided], whole: Guided
) -> tuple[list[str], Guided]:
    """A beginning of the useless attributes that the guide can do without, and what it tells without them.

    ``whole`` is what it tells with all attributes. The list is halved until the guide agrees.
    """
    gone = list(useless)
    while gone:
        found = guide([name for name in names if name not in gone])
        if found.accuracy >= whole.accuracy - MOST_LOST:
            return gone, found
        gone = gone[: len(gone) // 2]
    return [], whole


def _right(scores: Numbers, labels: Codes) -> float:
    return float(np.mean(scores.argmax(axis=1) == labels))
