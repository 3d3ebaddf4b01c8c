"""People whose combination of unchanged columns nobody else has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from incrowd.verification.open_cells import compact, distinct, histories, tally
from incrowd.verification.unchanged_counts import Alone, SinglingSet

Codes = npt.NDArray[np.int64]
SETS_AT_MOST = 400_000_000  # people times sets, up to which all sets of a size are looked at
MOST_SETS = 200_000  # to look at a set takes a moment, however few people there are
_SIZES = (1, 2, 3)
_SORTING = 20  # so much longer it takes to compare all rows of persons with each other


class OpenColumn(Protocol):
    """A column that is released as it came."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def codes(self) -> Codes:
        """Its values as codes."""
        ...

    @property
    def role(self) -> str:
        """What the user called it."""
        ...


def count_alone(
    columns: Sequence[OpenColumn],
    rows: int,
    people_times_sets: int = SETS_AT_MOST,
    owners: Codes | None = None,
    *,
    linked: bool = False,
) -> Alone:
    """Who is alone by unchanged columns, and by which of them most; ``owners`` has the person of each row.

    Where recipients can follow persons (``linked``), one is alone if nobody else has the same combinations, as often.

    Sets of one, two and three columns are compared one by one as long as the sets, and people times sets, stay below
    their bounds; else the best set grows by the column that adds most. By a pseudonym nobody is found: it is new, and
    known to nobody.
    """
    coded = [_Column(at, column) for at, column in enumerate(columns) if column.role != "pseudonym"]
    plain = [one for one in coded if one.role != "target"]
    known = [one for one in plain if one.role != "private"]
    free = [one for one in known if one.role != "sensitive"]
    people = _Rows(rows, owners, linked and owners is not None)
    everybody = _alone(plain, people)
    best = tuple(_best_sets(plain, people, people_times_sets))
    return Alone(
        without_class=everybody,
        with_class=_alone(coded, people),
        not_private=_alone(known, people),
        not_called_private=_alone(free, people),
        best=tuple(one.named for one in best),
        telling=_telling(best, everybody, plain, people).named if everybody and best else None,
        roles={column.name: column.role for column in columns},
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows: how many there are, and whose each is, if somebody may have several."""

    number: int
    owners: Codes | None = None
    linked: bool = False

    def alone(self, keys: Codes) -> int:
        """How many people have a key that nobody else has, or all their keys together, if they are linked."""
        if self.owners is None:
            return int((tally(keys)[1] == 1).sum())
        different, numbers = compact(keys)
        if self.linked and len(different) > 1:  # one key for all is no column, or tells nothing
            different, numbers = compact(histories(numbers, self.owners))
        somebody = np.empty(len(different), np.int64)
        somebody[numbers] = self.owners
        lonely = np.ones(len(different), np.bool_)
        lonely[numbers[somebody[numbers] != self.owners]] = False
        return distinct(somebody[lonely])


class _Column:
    """A column with what is asked of it again and again."""

    def __init__(self, place: int, column: OpenColumn) -> None:
        self.place, self.name, self.codes, self.role = place, column.name, column.codes, column.role
        people = np.bincount(column.codes)
        self.width, self.different = len(people), int(np.count_nonzero(people))


@dataclass(frozen=True)
class _ColumnSet:
    """A set of columns, how many people are alone by it, and whether all sets of its size were compared."""

    columns: tuple[_Column, ...]
    people: int
    exact: bool

    @property
    def named(self) -> SinglingSet:
        """The same by the names of the columns."""
        return SinglingSet(tuple(one.name for one in self.columns), self.people, self.exact)


def _alone(columns: Sequence[_Column], rows: _Rows) -> int:
    """How many people are alone with their combination of these columns."""
    keys, width = np.zeros(rows.number, np.int64), 1
    for one in columns:
        if width * one.width > np.iinfo(np.int64).max:
            keys, width = compact(keys)[1], rows.number
        keys, width = keys * one.width + one.codes, width * one.width
    return rows.alone(keys)


def _best_sets(columns: Sequence[_Column], rows: _Rows, limit: int) -> Iterator[_ColumnSet]:
    """For one, two and three columns the set by which most people are alone."""
    best: tuple[_Column, ...] = ()
    for size in _SIZES[: len(columns)]:
        sets = comb(len(columns), size)
        exact = sets <= MOST_SETS and rows.number * sets * (_SORTING if rows.linked else 1) <= limit
        best_set = _best(combinations(columns, size) if exact else _grown(best, columns), rows, exact)
        best = best_set.columns
        yield best_set


def _grown(before: tuple[_Column, ...], columns: Sequence[_Column]) -> Iterator[tuple[_Column, ...]]:
    """The set with one more column, in the order of the columns."""
    for one in columns:
        if one not in before:
            yield tuple(sorted((*before, one), key=lambda each: each.place))


def _best(sets: Iterator[tuple[_Column, ...]], rows: _Rows, exact: bool) -> _ColumnSet:
    """The first of the sets by which most people are alone; no more can be than the columns have combinations."""
    first = next(sets)
    best = _ColumnSet(first, _alone(first, rows), exact)
    for chosen in sets:
        if rows.linked or prod(one.different for one in chosen) > best.people:
            people = _alone(chosen, rows)
            best = _ColumnSet(chosen, people, exact) if people > best.people else best
    return best


def _telling(best: Sequence[_ColumnSet], everybody: int, columns: Sequence[_Column], rows: _Rows) -> _ColumnSet:
    """The smallest set by which half of the people are alone who are by all; beyond three columns it grows."""
    chosen = next((one for one in best if 2 * one.people >= everybody), best[-1])
    while 2 * chosen.people < everybody:
        chosen = _best(_grown(chosen.columns, columns), rows, exact=False)
    return chosen
