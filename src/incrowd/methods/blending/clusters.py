"""Groups as clusters: exactly k rows that are most alike, wherever they lie (Domingo-Ferrer and Mateo-Sanz 2002, MDAV).

The row that is farthest from the mean of all and its nearest make a group, then the row that is farthest from that one
and its nearest, until fewer than two groups are left. Then rows change groups, alone or two for each other, as long as
groups become more alike. Whoever may be a group is for the judge to say: where the nearest rows may not, the farthest
of their most frequent kind give way to rows of another kind; groups that still may not are joined with the nearest.

What a row costs is all others, so this is for small tables: see :data:`LARGEST`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.methods.blending.row_table import RowTable
from incrowd.methods.judging import Judge
from incrowd.vocabulary.encoded_table import Codes

Numbers = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
LARGEST = 3000  # rows: time grows with their square (3 seconds, up to 15 where a judge is asked), as do distances kept
PASSES = 3  # over all rows; later ones change little
TRIED = 8  # exchanges of a row that the judge is asked about
LEAST = 1e-9  # what an exchange must gain: no row goes to and fro


@dataclass(frozen=True, eq=False)
class Features:
    """The features of all rows, and squared distances in them."""

    rows: RowTable
    squares: Numbers  # of each place, the squared scale of its attribute

    @classmethod
    def of(cls, rows: RowTable) -> Features:
        """As the kernel takes them."""
        return cls(rows, np.repeat(rows.square, np.diff(rows.start)))

    def mean(self, some: Rows) -> tuple[Numbers, Numbers]:
        """The shares of places among some rows, and their mean score."""
        shares = np.bincount(self.rows.places[some].ravel(), minlength=len(self.squares)) / len(some)
        return shares, self.rows.score[some].mean(axis=0)

    def apart(self, some: Rows, mean: tuple[Numbers, Numbers]) -> Numbers:
        """The squared distance of some rows from a mean."""
        shares, score = mean
        whole = self.rows.square.sum() + (self.squares * shares**2).sum()
        places = (2.0 * self.squares * shares)[self.rows.places[some]].sum(axis=1)
        distances: Numbers = whole - places + ((self.rows.score[some] - score) ** 2).sum(axis=1)
        return distances

    def unlike(self, group_of: Codes) -> float:
        """The sum of squares within groups."""
        members = (np.flatnonzero(group_of == group) for group in range(int(group_of.max()) + 1))
        return sum(float(self.apart(some, self.mean(some)).sum()) for some in members)


def cluster_rows(features: Features, judge: Judge, marks: npt.NDArray[np.int64]) -> Codes:
    """The group of every row; ``marks`` are :meth:`Judge.of_rows` of the rows."""
    groups = _joined(_nearest(features, judge, marks), features, judge, marks)
    group_of = np.empty(len(marks), np.int32)
    for number, members in enumerate(groups):
        group_of[members] = number
    return _Exchange(features, judge, marks, group_of).run()


def _nearest(features: Features, judge: Judge, marks: Any) -> list[Rows]:
    """Groups of the nearest; the last are what is left."""
    left, groups = np.arange(len(marks)), list[Rows]()
    while len(left) >= 2 * max(1, judge.k):
        outmost = left[np.argmax(features.apart(left, features.mean(left)))]
        across = left[np.argmax(features.apart(left, features.mean(outmost[None])))]
        for seed in (outmost, across):
            if seed in left:
                near = left[np.argsort(features.apart(left, features.mean(seed[None])), kind="stable")]
                groups.append(_allowed(near, judge, marks))
                left = np.setdiff1d(left, groups[-1], assume_unique=True)
    return [*groups, left] if len(left) else groups


def _allowed(near: Rows, judge: Judge, marks: Any) -> Rows:
    """The nearest rows that may be a group, and leave a rest that may; if there are none, k of them."""
    size = max(1, judge.k)
    if judge.persons:
        first = np.sort(np.unique(marks[near, 0], return_index=True)[1])
        size = int(first[size - 1]) + 1 if len(first) >= size else len(near)
    nearest, beyond = near[:size], near[size:]
    if judge.counts_only or not len(beyond):
        return nearest
    kinds = marks[:, 1:] if judge.persons else marks
    each, times = np.unique(kinds[nearest], axis=0, return_counts=True)
    often = (kinds == each[np.argmax(times)]).all(axis=1)
    others, giving_way = beyond[~often[beyond]], nearest[often[nearest]][::-1]
    options = [nearest]
    for many in range(1, min(len(others), len(giving_way)) + 1):
        options.append(np.concatenate([np.setdiff1d(nearest, giving_way[:many]), others[:many]]))
    options += [near[:more] for more in range(size + 1, min(2 * size, len(near)) + 1)]
    for at in np.flatnonzero(_hold(options, judge, marks)):
        rest = np.setdiff1d(near, options[at])
        if not len(rest) or _hold([rest], judge, marks)[0]:  # what is needed is not used up
            return options[at]
    return nearest


def _hold(options: list[Rows], judge: Judge, marks: Any) -> npt.NDArray[np.bool_]:
    """Whether each may be a group."""
    parts = np.repeat(np.arange(len(options)), [len(option) for option in options])
    return judge.holds(judge.tally(marks[np.concatenate(options)], parts, len(options)))


def _joined(groups: list[Rows], features: Features, judge: Judge, marks: Any) -> list[Rows]:
    """The groups that may be released, each of the others joined with the nearest with which it may, or the nearest."""
    holds = _hold(groups, judge, marks)
    good = [group for group, may in zip(groups, holds, strict=True) if may]
    for group in (group for group, may in zip(groups, holds, strict=True) if not may):
        mine, may = group, False
        while good and not may:
            mean = features.mean(mine)
            distances = np.array([features.apart(other, mean).mean() for other in good])
            together = _hold([np.concatenate([mine, other]) for other in good], judge, marks)
            may = bool(together.any())
            nearest = int(np.argmin(np.where(together, distances, np.inf) if may else distances))
            mine = np.concatenate([mine, good.pop(nearest)])
        good.append(mine)
    return good


class _Exchange:
    """Rows change groups, alone or two for each other, while that makes groups more alike."""

    def __init__(self, features: Features, judge: Judge, marks: Any, group_of: Codes) -> None:
        self.features, self.judge, self.marks, self.group_of = features, judge, marks, group_of
        self.every = np.arange(len(group_of))
        self.sizes = np.bincount(group_of).astype(np.float64)
        self.apart = np.empty((len(group_of), len(self.sizes)))
        for group in range(len(self.sizes)):
            self._measure(group)

    def _measure(self, group: int) -> None:
        """The distances of all rows from the mean of a group."""
        mean = self.features.mean(np.flatnonzero(self.group_of == group))
        self.apart[:, group] = self.features.apart(self.every, mean)

    def run(self) -> Codes:
        """The groups after all changes."""
        for _ in range(PASSES if len(self.sizes) > 1 else 0):
            if not sum(self._change(row) for row in self.every.tolist()):
                break
        return self.group_of

    def _change(self, row: int) -> bool:
        """Make the best change of a row that is allowed; whether there was one."""
        mine = int(self.group_of[row])
        for gain, other, group in sorted([*self._moves(row), *self._swaps(row)], reverse=True):
            if gain > LEAST and self._may(row, other, group):
                self.group_of[row] = group
                if other < 0:
                    self.sizes[[mine, group]] += -1, 1
                else:
                    self.group_of[other] = mine
                self._measure(mine)
                self._measure(group)
                return True
        return False

    def _moves(self, row: int) -> list[tuple[float, int, int]]:
        """What it gains to move a row to another group, for the best of them."""
        mine, sizes = int(self.group_of[row]), self.sizes
        if sizes[mine] <= max(1, self.judge.k):
            return []
        without = sizes[mine] / (sizes[mine] - 1) * self.apart[row, mine]
        gains = without - sizes / (sizes + 1) * self.apart[row]
        gains[mine] = 0.0
        best = np.argsort(-gains, kind="stable")[:TRIED]
        return [(float(gains[group]), -1, int(group)) for group in best]

    def _swaps(self, row: int) -> list[tuple[float, int, int]]:
        """What it gains to exchange two rows, for the best of them."""
        groups, mine = self.group_of, int(self.group_of[row])
        own = self.apart[self.every, groups]
        gains = self.apart[row, mine] - self.apart[:, mine] + own - self.apart[row, groups]
        mean = self.features.mean(np.array([row]))
        near = np.argsort(-gains, kind="stable")[: 8 * TRIED]  # but for the distance of the two, which is to add
        near = near[groups[near] != mine]
        closer = self.features.apart(near, mean) * (1 / self.sizes[mine] + 1 / self.sizes[groups[near]])
        total = gains[near] + closer
        best = np.argsort(-total, kind="stable")[:TRIED]
        return [(float(total[at]), int(near[at]), int(groups[near[at]])) for at in best]

    def _may(self, row: int, other: int, group: int) -> bool:
        """Whether both groups may be released after a change."""
        if self.judge.by_size:
            return True
        mine = np.flatnonzero(self.group_of == self.group_of[row])
        theirs = np.flatnonzero(self.group_of == group)
        mine, theirs = mine[mine != row], np.append(theirs[theirs != other], row)
        if other >= 0:
            mine = np.append(mine, other)
        return bool(_hold([mine, theirs], self.judge, self.marks).all())
