"""What unchanged columns tell of a hidden quasi-identifier: by value and by function, in whole numbers.

A column (or a pair of columns) X that is released as it is narrows what a released cell leaves open. *By value*: at one
value x, all people but a few have a value of the set T, and those outside T are at least twenty times rarer at x than
without x, at an upper bound of 95 %. *By function*: others with the same x predict a person's value with a twentieth
of the errors that are made without looking. A number for each row predicts nobody; noise predicts no better than the
table does. Exact and approximate dependencies: Kivinen, Mannila (1995); Huhtala, Kärkkäinen, Porkka, Toivonen (1999);
correction for chance: Mandros, Boley, Vreeken (2017).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from incrowd.verification.open_cells import Bools, Codes, Numbers, OpenCells, Sets, combinations, tally

RARER = 20  # nearly exact: what is excluded is this many times rarer
FEWEST = 60  # people a rule for one value needs: RARER times the upper bound of no exception, which is 3
CHUNK = 1_000_000  # cells that are looked at together


@dataclass(frozen=True, eq=False)
class Crowd:
    """The people of a column's values: how many have each value of the quasi-identifier.

    ``step`` is the distance of two x with neighbouring values of the column.
    """

    counts: Codes
    step: int = 1

    @property
    def errors(self) -> int:
        """How many are guessed wrong by the most frequent value of each place."""
        return int((self.counts.sum(axis=1) - self.counts.max(axis=1)).sum())

    def at(self, xs: Codes) -> Codes:
        """For each x a row with the people it is compared with."""
        return self.counts[xs // self.step % len(self.counts)]


@dataclass(frozen=True, eq=False)
class GiveBackRules:
    """What one column or pair can tell of a quasi-identifier, before it is asked about cells.

    Parameters
    ----------
    decided
        For each x the value that it decides by function; a number that is no value if there is none.
    place
        For each x its row in ``counts``; behind the last one where no rule for x is possible.
    counts
        For each such x, how many people have each value.
    crowds
        For each R, the people it is compared with, a row for each such x.
    """

    decided: Codes
    place: Codes
    counts: Codes
    crowds: tuple[Codes, ...]

    def narrowed(self, xs: Codes, cells: OpenCells, rows: Codes) -> Iterator[tuple[Codes, Numbers]]:
        """For rows whose x is given: some of them (by their place), and the numbers of their sets T.

        A set without the person's own value misleads and is left out.
        """
        own = cells.values[rows]
        certain = np.flatnonzero(self.decided[xs] == own)
        yield certain, own[certain]
        likely = np.flatnonzero(self.place[xs] < len(self.counts))
        xs, others, meeting = combinations(self.place[xs[likely]], cells.allowed[rows[likely]], len(cells.allows))
        lists = np.zeros((len(xs), cells.width), np.bool_)
        for some in np.array_split(np.arange(len(xs)), 1 + lists.size // CHUNK):
            lists[some] = self._shortest(xs[some], cells.allows[others[some]])
        numbers = np.zeros(len(xs), np.int64)
        filled = lists.any(axis=1)
        numbers[filled] = cells.sets.add_all(lists[filled])
        kept = lists[meeting, own[likely]]
        yield likely[kept], numbers[meeting[kept]]

    def _shortest(self, xs: Codes, inside: Bools) -> Bools:
        """The members of T for each meeting of an x and a set S; none where there is no T."""
        order = np.argsort(-self.counts, axis=1, kind="stable")
        ranked = np.take_along_axis(inside, order[xs], 1)
        holds = prefixes_that_hold(
            *(np.where(ranked, np.take_along_axis(part, order, 1)[xs], 0) for part in (self.counts, *self.crowds))
        )
        until = np.argsort(order, axis=1)[xs] <= holds.argmax(axis=1, keepdims=True)
        return np.asarray(inside & until & holds.any(axis=1, keepdims=True))


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
    pairs, counts = tally(keys)
    x, values = np.divmod(pairs, cells.width)
    sizes = np.bincount(x, counts, width).astype(np.int64)
    crowds = (Crowd(cells.people[None, :]), *members)
    certain = _decided(x, counts, sizes, min(crowd.errors for crowd in crowds), cells)
    kept = np.flatnonzero(sizes >= FEWEST)
    at = _places(kept, width)[x]
    known = np.flatnonzero(at < len(kept))
    table = np.zeros((len(kept), cells.width), np.int64)
    table[at[known], values[known]] = counts[known]
    for crowd in reversed(crowds):
        if len(kept):
            likely = may_exclude(table, crowd.at(kept))
            kept, table = kept[likely], table[likely]
    if not len(certain) and not len(kept):
        return None
    decided = np.full(width, cells.width, np.int64)
    decided[x[certain]] = values[certain]
    place = _places(kept, width)
    return GiveBackRules(decided, place, table, tuple(crowd.at(kept) for crowd in crowds))


@dataclass(frozen=True, eq=False)
class ManyColumns:
    """Columns that are asked together: for each row their codes, those of each column from its start on."""

    codes: Codes
    starts: Codes
    width: int

    @classmethod
    def of(cls, codes: Sequence[Codes], widths: Sequence[int]) -> ManyColumns:
        """Columns, and how many codes each has."""
        starts = np.cumsum([0, *widths[:-1]])
        return cls(np.column_stack(codes) + starts, starts, sum(widths))

    def may_tell(self, cells: OpenCells) -> Bools:
        """Of each whether it may tell something of a quasi-identifier; of all others no rule is lost.

        As in :func:`rules_of`: a value is decided where it leads by two and nearly nobody at x has another; a rule for
        x needs so many people there, among whom some value is twenty times rarer than among all.
        """
        places = self.codes * cells.width + cells.values[:, None]
        counts = np.bincount(places.ravel(), minlength=self.width * cells.width).reshape(-1, cells.width)
        sizes, top = counts.sum(axis=1), counts.max(axis=1)
        rare = (sizes >= FEWEST) & (RARER * counts < cells.people).any(axis=1)
        leads = (top > 1) & (np.count_nonzero(counts >= top[:, None] - 1, axis=1) == 1)
        decides = leads & (RARER * (sizes - top) * cells.rows <= sizes * cells.errors)
        return np.asarray(np.logical_or.reduceat(rare | decides, self.starts))


def _places(chosen: Codes, width: int) -> Codes:
    """For each number its place among those that are chosen; that behind the last one for the others."""
    places = np.full(width, len(chosen), np.int64)
    places[chosen] = np.arange(len(chosen))
    return places


def _decided(x: Codes, counts: Codes, sizes: Codes, errors: int, cells: OpenCells) -> Codes:
    """Which x and value are such that X decides the value there.

    Others predict whoever has the most frequent value of x, where it leads by two at least.
    """
    top = np.zeros(len(sizes), np.int64)
    np.maximum.at(top, x, counts)
    near = np.flatnonzero(counts >= top[x] - 1)
    leads = (top > 1) & (np.bincount(x[near], minlength=len(sizes)) == 1)
    shared = int(sizes[sizes > 1].sum())
    if RARER * (shared - int(top[leads].sum()) + 1) * cells.rows > (shared + 2) * errors:
        return np.empty(0, np.int64)
    exact = leads & (RARER * (sizes - top) * cells.rows <= sizes * cells.errors)
    return np.asarray(near[exact[x[near]]])


def may_exclude(counts: Codes, crowd: Codes) -> Codes:
    """The x at which some values may be twenty times rarer than in the crowd; no rule is lost.

    A rule excludes values W of a set S, with ``20 * (counts(W) + 3) <= r * crowd(W)``, where r is the share of S that
    is at x. T, the rest of S, has 60 people at x or more, and a share of r or more. So r is at most 60 of the fewest
    of the crowd among whom 60 are at x: those with the values of the largest shares.
    """
    rows = np.arange(len(counts))
    order = np.argsort(-counts / np.maximum(crowd, 1), axis=1)
    people_at_x = np.cumsum(counts[rows[:, None], order], axis=1)
    among = np.cumsum(crowd[rows[:, None], order], axis=1)
    last = (people_at_x >= FEWEST).argmax(axis=1)
    value = order[rows, last]
    fewest = among[rows, last] + (FEWEST - people_at_x[rows, last]) * crowd[rows, value] // counts[rows, value]
    rest = np.maximum(3 * crowd - fewest[:, None] * counts, 0).sum(axis=1)
    return np.flatnonzero(rest >= 3 * fewest)


def joined(parts: Iterator[tuple[Codes, Numbers]], start: Numbers, sets: Sets) -> Numbers:
    """For each row, what its set has in common with all sets that are given for it."""
    shared = start.copy()
    for rows, numbers in parts:
        shared[rows] = sets.both(shared[rows], numbers)
    return shared
