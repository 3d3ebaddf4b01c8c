"""The groups: rows are split in two while both parts may be released, where the features become most alike.

The features of a row are its score, its class and its attributes, the latter as a 0/1 column for each value: see
:class:`Worth`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.algorithms.judging import Judge
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class Features:
    """What groups are made alike in.

    Parameters
    ----------
    columns
        The attributes, numbers as the bins they lie in.
    ordered
        Which of them are cut between neighbours; a missing value comes last.
    weights
        How much each counts, in all 1.
    score
        Class probabilities, rows x classes.
    labels
        The class of each row.
    """

    columns: Sequence[EncodedColumn]
    ordered: Sequence[bool]
    weights: Numbers
    score: Numbers
    labels: Codes

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.score)


@dataclass(frozen=True)
class Worth:
    """What counts how much, beside 1 for the variance of the score.

    ``attributes`` and ``labels`` are the variances of all attributes together and of the class itself; what a split by
    score takes off counts ``scores`` times, 0: rows are not split by score.
    """

    attributes: float = 1.0
    labels: float = 1.0
    scores: float = 1.0


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of every row, how many there are, and how often each attribute, and last the score, was split."""

    groups: Codes
    count: int
    uses: Counts


def split_rows(features: Features, judge: Judge, marks: Counts, worth: Worth) -> Grouping:
    """Split all rows while a split is left whose parts may both be released.

    ``marks`` are :meth:`Judge.of_rows` of the rows.
    """
    from incrowd.algorithms.blending import kernel

    rows = _kernel_rows(features, worth)
    orders = np.argsort(rows.score, axis=0, kind="stable").T[: max(1, rows.cut_scores)].copy()
    groups, uses = np.zeros(features.height, np.int32), np.zeros(len(features.columns) + 1, np.int64)
    if judge.by_size:
        count = kernel.grow(rows, orders, 0, features.height, max(1, judge.k), groups, uses)
    else:
        count = _grow_asking(rows, orders, judge, marks, groups, uses)
    return Grouping(groups, int(count), uses)


def _kernel_rows(features: Features, worth: Worth) -> Any:
    """The features as the kernel takes them; of two classes the score of one says all."""
    from incrowd.algorithms.blending.kernel import Rows

    widths = [column.width for column in features.columns]
    start = np.cumsum([0, *widths]).astype(np.int64)
    places = np.empty((features.height, len(widths)), np.int32)
    for a, column in enumerate(features.columns):
        places[:, a] = column.codes + start[a]
    square = [
        worth.attributes * weight / spread if (spread := _spread(column.counts)) > 0 else 0.0
        for column, weight in zip(features.columns, features.weights, strict=True)
    ]
    classes = features.score.shape[1]
    told = [_scaled(features.score, 1.0), _scaled(np.eye(classes)[features.labels], worth.labels)]
    cut = 0 if worth.scores == 0 else 1 if classes == 2 else classes
    ordered, squares = np.array(features.ordered, np.bool_), np.array(square, np.float64)
    return Rows(places, start, ordered, squares, np.hstack(told), cut, float(worth.scores))


def _scaled(numbers: Numbers, variance: float) -> Numbers:
    """The columns with mean 0 and, all together, this variance."""
    numbers = numbers - numbers.mean(axis=0)
    total = float(numbers.var(axis=0).sum())
    return numbers * np.sqrt(variance / total) if total > 0 else np.zeros_like(numbers)


def _spread(counts: Counts) -> float:
    """The variance of the 0/1 columns of an attribute, in all: one minus the chance that two rows agree."""
    shares = counts / max(1, counts.sum())
    return float(1.0 - (shares**2).sum())


def _grow_asking(rows: Any, orders: Any, judge: Judge, marks: Counts, groups: Codes, uses: Counts) -> int:
    """The loop of the kernel, with the judge asked about the splits, the best first."""
    from incrowd.algorithms.blending import kernel

    room, goes_left = kernel.make_room(rows, len(groups)), np.zeros(len(groups), np.bool_)
    waiting, made = [(0, len(groups))], 0
    while waiting:
        first, last = waiting.pop()
        splits = kernel.list_splits(rows, orders, first, last, max(1, judge.k), room)
        best = _best_allowed(rows, orders[0, first:last], splits, room, judge, marks)
        if best is None:
            groups[orders[0, first:last]] = made
            made += 1
            continue
        middle = kernel.divide(rows, orders, first, last, best, room, goes_left)
        uses[-1 if best[kernel.KIND] == kernel.SCORE else int(best[kernel.OF])] += 1
        waiting += [(first, middle), (middle, last)]
    return made


def _best_allowed(rows: Any, node: Any, splits: Numbers, room: Any, judge: Judge, marks: Counts) -> Numbers | None:
    """The split that makes parts most alike, of those whose parts may be released."""
    from incrowd.algorithms.blending import kernel

    splits = splits[np.argsort(-splits[:, kernel.GAIN], kind="stable")]
    for first in range(0, len(splits), AT_ONCE):
        some = splits[first : first + AT_ONCE]
        evidence = kernel.evidence_of(rows, node, some, room, marks, judge.width)
        allowed = judge.holds(evidence.reshape(-1, judge.width)).reshape(-1, 2).all(axis=1)
        if allowed.any():
            return np.asarray(some[np.argmax(allowed)])
    return None
