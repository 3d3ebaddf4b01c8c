"""The groups: rows are split in two while both parts may be released, where the features become most alike.

The features of a row are its score, its class and its attributes, the latter as a 0/1 column for each value: see
:class:`Worth`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.judging import Judge
from incrowd.trees.compiled import THREADS
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn

Numbers = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
AT_ONCE, PIECES, SMALL = 64, 16, 4096


@dataclass(frozen=True, eq=False)
class RowFeatures:
    """What groups are made alike in."""

    columns: Sequence[EncodedColumn]  # the attributes, numbers as the bins they lie in
    ordered: Sequence[bool]  # which of them are cut between neighbours; a missing value comes last
    weights: Numbers  # how much each counts, in all 1
    score: Numbers  # class probabilities, rows x classes
    labels: Codes  # the class of each row

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


def split_rows(features: RowFeatures, judge: Judge, marks: Counts, worth: Worth) -> Grouping:
    """Split all rows while a split is left whose parts may both be released.

    ``marks`` are :meth:`Judge.of_rows` of the rows.
    """
    rows = _kernel_rows(features, worth)
    orders = np.argsort(rows.score, axis=0, kind="stable").T[: max(1, rows.cut_scores)].copy()
    growing = _Growing(rows, orders, judge, marks)
    count = growing.by_size() if judge.by_size else growing.asking()
    return Grouping(growing.groups, count, growing.uses)


def _kernel_rows(features: RowFeatures, worth: Worth) -> Any:
    """The features as the kernel takes them; of two classes the score of one says all."""
    from incrowd.methods.blending.kernel import RowTable

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
    scores = [_scaled(features.score, 1.0), _scaled(np.eye(classes)[features.labels], worth.labels)]
    cut = 0 if worth.scores == 0 else 1 if classes == 2 else classes
    ordered, squares = np.array(features.ordered, np.bool_), np.array(square, np.float64)
    return RowTable(
        places=places,
        start=start,
        ordered=ordered,
        square=squares,
        score=np.hstack(scores),
        cut_scores=cut,
        score_worth=float(worth.scores),
    )


def _scaled(numbers: Numbers, variance: float) -> Numbers:
    """The columns with mean 0 and, all together, this variance."""
    numbers = numbers - numbers.mean(axis=0)
    total = float(numbers.var(axis=0).sum())
    return numbers * np.sqrt(variance / total) if total > 0 else np.zeros_like(numbers)


def _spread(counts: Counts) -> float:
    """The variance of the 0/1 columns of an attribute, in all: one minus the chance that two rows agree."""
    shares = counts / max(1, counts.sum())
    return float(1.0 - (shares**2).sum())


class _Growing:
    """Groups while they grow: ``orders`` has the rows of every node side by side."""

    def __init__(self, rows: Any, orders: Any, judge: Judge, marks: Counts) -> None:
        from incrowd.methods.blending import kernel

        self.kernel, self.rows, self.orders = kernel, rows, orders
        self.judge, self.marks, self.k = judge, marks, max(1, judge.k)
        self.height = orders.shape[1]
        self.room = kernel.make_room(rows, self.height)
        self.groups = np.zeros(self.height, np.int32)
        self.uses = np.zeros(rows.square.size + 1, np.int64)

    def by_size(self) -> int:
        """Both parts of every split have at least k rows: large nodes one by one, then their parts side by side."""
        enough = max(SMALL, self.height // PIECES)
        parts = list(self._parted(lambda splits, _: splits[np.argmax(splits[:, self.kernel.GAIN])], enough))
        uses = [np.zeros_like(self.uses) for _ in parts]
        with ThreadPoolExecutor(THREADS) as pool:
            counts = list(pool.map(self._grown, parts, uses))
        self.uses += sum(uses)
        for (first, last), before in zip(parts, np.cumsum([0, *counts]), strict=False):
            self.groups[self.orders[0, first:last]] += before
        return sum(counts)

    def _grown(self, part: tuple[int, int], uses: Counts) -> int:
        return int(self.kernel.grow(self.rows, self.orders, *part, self.k, self.groups, uses))

    def asking(self) -> int:
        """The judge is asked about the splits of every node, the best first."""
        made = 0
        for first, last in self._parted(self._best_allowed, 0):
            self.groups[self.orders[0, first:last]] = made
            made += 1
        return made

    def _parted(self, choose: Callable[[Numbers, Any], Numbers | None], enough: int) -> Iterator[tuple[int, int]]:
        """The nodes that are not split any more: none of their splits is chosen, or they are small enough."""
        goes_left, waiting = np.zeros(self.height, np.bool_), [(0, self.height)]
        while waiting:
            first, last = waiting.pop()
            best = None
            if last - first > enough:
                splits = self.kernel.list_splits(self.rows, self.orders, first, last, self.k, self.room)
                best = choose(splits, self.orders[0, first:last]) if len(splits) else None
            if best is None:
                yield first, last
                continue
            middle = self.kernel.divide(self.rows, self.orders, first, last, best, self.room, goes_left)
            self.uses[-1 if best[self.kernel.KIND] == self.kernel.SCORE else int(best[self.kernel.OF])] += 1
            waiting += [(first, middle), (middle, last)]

    def _best_allowed(self, splits: Numbers, node: Any) -> Numbers | None:
        """The split that makes parts most alike, of those whose parts may be released."""
        splits = splits[np.argsort(-splits[:, self.kernel.GAIN], kind="stable")]
        for first in range(0, len(splits), AT_ONCE):
            some = splits[first : first + AT_ONCE]
            evidence = self.kernel.evidence_of(self.rows, node, some, self.room, self.marks, self.judge.width)
            allowed = self.judge.holds(evidence.reshape(-1, self.judge.width)).reshape(-1, 2).all(axis=1)
            if allowed.any():
                return np.asarray(some[np.argmax(allowed)])
        return None
