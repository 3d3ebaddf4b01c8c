"""What unchanged columns tell of a hidden quasi-identifier: by value and by function, in whole numbers.

A column (or a pair of columns) X that is released as it is narrows what a released cell leaves open. *By value*: at one
value x, all people but a few have a value of the set T, and those outside T are at least twenty times rarer at x than
without x, at an upper bound of 95 %. *By function*: others with the same x predict a person's value with a twentieth
of the errors that are made without looking. A number for each row predicts nobody; noise predicts no better than the
table does. Exact and approximate dependencies: Kivinen, Mannila (1995); Huhtala, Kärkkäinen, Porkka, Toivonen (1999);
correction for chance: Mandros, Boley, Vreeken (2017).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.verification.open_cells import Bools, Codes, OpenCells, Sets, combinations

RARER = 20  # nearly exact: what is excluded is this many times rarer
FEWEST = 60  # people a rule for one value needs: RARER times the upper bound of no exception, which is 3
_CHUNK = 1 << 20  # cells that are looked at together
_SLACK = 1e-6  # floats only screen, with room for rounding


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a column's values: how many have each value of the quasi-identifier.

    ``of`` is the place of each x in ``counts``; None if all have the same, which is everybody.
    """

    counts: Codes
    of: Codes | None = None

    def at(self, xs: Codes) -> Codes:
        """For each x a row with the people it is compared with."""
        return (
            np.broadcast_to(self.counts, (len(xs), self.counts.shape[1]))
            if self.of is None
            else self.counts[self.of[xs]]
        )


@dataclass(frozen=True, eq=False)
class GiveBackRules:
    """What one column or pair can tell of a quasi-identifier, before it is asked about cells.

    Parameters
    ----------
    decided
        For each x the value that it decides by function, -1 for none; None if X decides nothing.
    place
        For each x its row in ``counts``, -1 where no rule for x is possible.
    counts
        For each such x, how many people have each value.
    crowds
        For each R, the people it is compared with, a row for each such x.
    """

    decided: Codes | None
    place: Codes
    counts: Codes
    crowds: tuple[Codes, ...]

    @property
    def possible(self) -> Bools:
        """Whether anything can be told at each x."""
        return self.place >= 0 if self.decided is None else (self.place >= 0) | (self.decided >= 0)

    def narrowed(self, xs: Codes, cells: OpenCells, rows: Codes, knows: bool) -> Iterator[tuple[Codes, Codes]]:
        """For rows whose x is given: some of them (by their place), and the numbers of their sets T.

        A set without the person's own value misleads and is left out; ``knows`` False: nobody knows the own value.
        """
        if self.decided is not None:
            decided = self.decided[xs]
            told = np.flatnonzero(decided >= 0)
            if knows:
                told = told[decided[told] == cells.values[rows[told]]]
            if len(told):
                singles = cells.sets.add_all(np.eye(cells.width, dtype=np.bool_))
                yield told, singles[decided[told]]
        place = self.place[xs]
        likely = np.flatnonzero(place >= 0)
        if len(likely):
            yield from self._by_value(place[likely], likely, cells, rows[likely], knows)

    def _by_value(
        self, xs: Codes, likely: Codes, cells: OpenCells, rows: Codes, knows: bool
    ) -> Iterator[tuple[Codes, Codes]]:
        meetings, place = combinations(xs, cells.allowed[rows])
        at, allowed = (np.array(part, np.int64) for part in zip(*meetings, strict=True))
        numbers = np.full(len(meetings), -1, np.int64)
        lists = np.zeros((len(meetings), cells.width), np.bool_)
        for chunk, members in self._shortest(at, allowed, cells.allows):
            lists[chunk] = members
            numbers[chunk] = cells.sets.add_all(members)
        kept = numbers[place] >= 0
        if knows:
            kept &= lists[place, cells.values[rows]]
        yield likely[kept], numbers[place][kept]

    def _shortest(self, at: Codes, allowed: Codes, allows: Bools) -> Iterator[tuple[Codes, Bools]]:
        """The meetings of an x and a set S that have a T, and its members."""
        order = np.argsort(-self.counts, axis=1, kind="stable")
        ranked = [np.take_along_axis(part, order, 1) for part in (self.counts, *self.crowds)]
        step = max(1, _CHUNK // allows.shape[1])
        for start in range(0, len(at), step):
            some = np.arange(start, min(start + step, len(at)))
            some = some[self._screen(at[some], allows[allowed[some]])]
            inside = np.take_along_axis(allows[allowed[some]], order[at[some]], 1)
            holds = prefixes_that_hold(*(part[at[some]] * inside for part in ranked))
            first = holds.argmax(axis=1)
            hit = np.flatnonzero(holds[np.arange(len(some)), first])
            prefix = inside[hit] & (np.arange(inside.shape[1]) <= first[hit, None])
            members = np.zeros_like(prefix)
            np.put_along_axis(members, order[at[some[hit]]], prefix, 1)
            yield some[hit], members

    def _screen(self, at: Codes, inside: Bools) -> Codes:
        """Meetings that may have a T: enough people, and a chi-square that no T comes without."""
        counts = self.counts[at] * inside
        m = counts.sum(axis=1)
        likely = m >= FEWEST
        for crowd in self.crowds:
            people = crowd[at] * inside
            with np.errstate(divide="ignore", invalid="ignore"):
                squares = np.where(people > 0, counts.astype(np.float64) ** 2 / people, 0.0).sum(axis=1)
            likely &= squares * people.sum(axis=1) >= (m.astype(np.float64) ** 2 + 0.9 * FEWEST * m) * (1 - _SLACK)
        return np.flatnonzero(likely)


def prefixes_that_hold(counts: Codes, *crowds: Codes) -> Bools:
    """For values in the order of falling counts, whether those up to each of them are a T.

    Examples
    --------
    >>> prefixes_that_hold(np.array([[150, 0]]), np.array([[240, 160]])).tolist()
    [[True, False]]
    """
    top = np.cumsum(counts, axis=1)
    m = top[:, -1:]
    outside = m - top + np.cumsum(counts == 1, axis=1)
    bound = outside + 3 + 2 * np.ceil(np.sqrt(outside)).astype(np.int64)
    holds = np.ones(counts.shape, np.bool_)
    for crowd in crowds:
        mass = np.cumsum(crowd, axis=1)
        holds &= RARER * bound * mass[:, -1:] <= m * (mass[:, -1:] - mass)
    return holds


def rules_of(keys: Codes, width: int, cells: OpenCells, members: Sequence[Crowd] = ()) -> GiveBackRules | None:
    """What a column or a pair can tell of a quasi-identifier; None if nothing.

    Parameters
    ----------
    keys
        For each person the code of X times the number of values of the quasi-identifier, plus its value.
    width
        The number of codes of X.
    members
        For a pair, the people of the values of its two members.
    """
    if width * cells.width <= 4 * len(keys) + _CHUNK // 16:
        table = np.bincount(keys, minlength=width * cells.width).reshape(width, cells.width)
        sizes, xs = table.sum(axis=1), np.arange(width)
        decided = _decided(sizes, cells, members, xs, table)
    else:
        x = keys // cells.width
        sizes = np.bincount(x, minlength=width)
        xs, table = _frequent(x, keys, sizes, cells)
        decided = _decided(sizes, cells, members, xs, table, lambda: _rare_peaks(x, keys, sizes, cells))
    crowds = (Crowd(cells.people[None, :]), *members)
    frequent = np.flatnonzero(sizes[xs] >= FEWEST)
    kept, counts = xs[frequent], table[frequent]
    for crowd in reversed(crowds):
        if len(kept):
            likely = may_exclude(counts, crowd.at(kept))
            kept, counts = kept[likely], counts[likely]
    if decided is None and not len(kept):
        return None
    place = np.full(width, -1, np.int64)
    place[kept] = np.arange(len(kept))
    return GiveBackRules(decided, place, counts, tuple(crowd.at(kept) for crowd in crowds))


def _frequent(x: Codes, keys: Codes, sizes: Codes, cells: OpenCells) -> tuple[Codes, Codes]:
    """The x with enough people for a rule, and how many people have each value there."""
    xs = np.flatnonzero(sizes >= FEWEST)
    place = np.full(len(sizes), -1, np.int64)
    place[xs] = np.arange(len(xs))
    rows = np.flatnonzero(place[x] >= 0)
    table = np.bincount(keys[rows] + (place[x[rows]] - x[rows]) * cells.width, minlength=len(xs) * cells.width)
    return xs, table.reshape(len(xs), cells.width)


@dataclass(frozen=True, eq=False)
class Peaks:
    """For some x: how many people have it, its most frequent value, how many have that, and how many the second."""

    xs: Codes
    sizes: Codes
    best: Codes
    top: Codes
    second: Codes

    @property
    def hits(self) -> Codes:
        """Whom others predict: those with the most frequent value, where it leads by two at least."""
        return np.where(self.top - self.second >= 2, self.top, 0)


def _decided(
    sizes: Codes,
    cells: OpenCells,
    members: Sequence[Crowd],
    xs: Codes,
    table: Codes,
    others: Callable[[], Peaks] | None = None,
) -> Codes | None:
    """For each x the value it decides, -1 for none; None if X decides nothing. ``others`` are x without a row."""
    n, shared = cells.rows, int(sizes[sizes > 1].sum())
    most = min([cells.errors, *(int(n - member.counts.max(axis=1).sum()) for member in members)])

    def decides(right: int) -> bool:
        return RARER * (shared - right + 1) * n <= (shared + 2) * most

    if not decides(shared):
        return None
    rare = None if others is None else others()
    right = int(table.max(axis=1, initial=0)[sizes[xs] > 1].sum()) + (0 if rare is None else int(rare.top.sum()))
    if not decides(right):
        return None
    peaks = [_peaks(xs, sizes, table), *([] if rare is None else [rare])]
    if not decides(sum(int(part.hits[part.sizes > 1].sum()) for part in peaks)):
        return None
    decided = np.full(len(sizes), -1, np.int64)
    for part in peaks:
        exact = RARER * (part.sizes - part.top) * n <= part.sizes * cells.errors
        decided[part.xs] = np.where((part.hits > 0) & exact, part.best, -1)
    return decided


def _peaks(xs: Codes, sizes: Codes, table: Codes) -> Peaks:
    best = table.argmax(axis=1)
    rows = np.arange(len(xs))
    others = table.copy()
    others[rows, best] = 0
    return Peaks(xs, sizes[xs], best, table[rows, best], others.max(axis=1, initial=0))


def _rare_peaks(x: Codes, keys: Codes, sizes: Codes, cells: OpenCells) -> Peaks:
    """The peaks of all x that several people have, but not enough for a rule."""
    rows = np.flatnonzero((sizes[x] > 1) & (sizes[x] < FEWEST))
    if not len(rows):
        nothing = np.empty(0, np.int64)
        return Peaks(nothing, nothing, nothing, nothing, nothing)
    keys = np.sort(keys[rows])
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    runs, keys = np.diff(starts, append=len(rows)), keys[starts]
    at = keys // cells.width
    first = np.flatnonzero(np.diff(at, prepend=-1))
    top = np.maximum.reduceat(runs, first)
    leading = np.flatnonzero(runs == np.repeat(top, np.diff(first, append=len(runs))))
    leading = leading[np.diff(at[leading], prepend=-1) != 0]
    rest = runs.copy()
    rest[leading] = 0
    return Peaks(at[first], sizes[at[first]], keys[leading] % cells.width, top, np.maximum.reduceat(rest, first))


def may_exclude(counts: Codes, crowd: Codes) -> Codes:
    """The x at which some values may be twenty times rarer than in the crowd; no rule is lost.

    A rule excludes values W of a set S, with ``counts(W) + 3 <= r * crowd(W) / 20``, where r is the share of S that is
    at x. So the positive parts of ``r * crowd / 20 - counts`` add up to 3. T, the rest of S, has 57 people at least, of
    a share of 19 r / 20 or more; a share above t adds positive parts of ``counts - t * crowd``, which bounds r.
    """
    share = counts.sum(axis=1, keepdims=True) / np.maximum(crowd.sum(axis=1, keepdims=True), 1)
    most = np.ones(len(counts))
    for times in (2, 4, 8):
        level = times * share
        above = np.maximum(counts - level * crowd, 0).sum(axis=1) / (0.95 * FEWEST)
        with np.errstate(divide="ignore"):
            bound = np.where(above < 1, level[:, 0] / np.maximum(1 - above, 1e-9) / 0.95, 1.0)
        most = np.minimum(most, bound)
    rest = np.maximum(most[:, None] * crowd / RARER - counts, 0).sum(axis=1)
    return np.flatnonzero(rest >= 3 * (1 - _SLACK))


def joined(parts: Iterator[tuple[Codes, Codes]], start: Codes, sets: Sets) -> Codes:
    """For each row, what its set has in common with all sets that are given for it."""
    found = start.copy()
    for rows, numbers in parts:
        found[rows] = sets.both(found[rows], numbers)
    return found
