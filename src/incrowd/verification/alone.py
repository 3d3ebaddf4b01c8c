"""People whose combination of unchanged columns nobody else has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

from incrowd.verification.open_cells import compact, tally
from incrowd.verification.unchanged_counts import Alone, SinglingSet

Codes = npt.NDArray[np.int64]
SETS_AT_MOST = 400_000_000  # people times sets, up to which all sets of a size are looked at
_SIZES = (1, 2, 3)


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


def count_alone(columns: Sequence[OpenColumn], rows: int, people_times_sets: int = SETS_AT_MOST) -> Alone:
    """Who is alone by unchanged columns, and by which of them most.

    Sets of one, two and three columns are compared one by one as long as people times sets stay below the bound; else
    the best set grows by the column that adds most. By a pseudonym nobody is found: it is new, and known to nobody.
    """
    coded = [_Column(at, column) for at, column in enumerate(columns) if column.role != "pseudonym"]
    plain = [one for one in coded if one.role != "target"]
    known = [one for one in plain if one.role != "private"]
    free = [one for one in known if one.role != "sensitive"]
    everybody = _alone(plain, rows)
    best = tuple(_best_sets(plain, rows, people_times_sets))
    return Alone(
        without_class=everybody,
        with_class=_alone(coded, rows),
        not_private=_alone(known, rows),
        not_called_private=_alone(free, rows),
        best=tuple(one.named for one in best),
        telling=_telling(best, everybody, plain, rows).named if everybody and best else None,
        roles={column.name: column.role for column in columns},
    )


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


def _alone(columns: Sequence[_Column], rows: int) -> int:
    """How many people are alone with their combination of these columns."""
    keys, width = np.zeros(rows, np.int64), 1
    for one in columns:
        if width * one.width > np.iinfo(np.int64).max:
            keys, width = compact(keys)[1], rows
        keys, width = keys * one.width + one.codes, width * one.width
    return int((tally(keys)[1] == 1).sum())


def _best_sets(columns: Sequence[_Column], rows: int, limit: int) -> Iterator[_ColumnSet]:
    """For one, two and three columns the set by which most people are alone."""
    best: tuple[_Column, ...] = ()
    for size in _SIZES[: len(columns)]:
        exact = rows * comb(len(columns), size) <= limit
        best_set = _best(combinations(columns, size) if exact else _grown(best, columns), rows, exact)
        best = best_set.columns
        yield best_set


def _grown(before: tuple[_Column, ...], columns: Sequence[_Column]) -> Iterator[tuple[_Column, ...]]:
    """The set with one more column, in the order of the columns."""
    for one in columns:
        if one not in before:
            yield tuple(sorted((*before, one), key=lambda each: each.place))


def _best(sets: Iterator[tuple[_Column, ...]], rows: int, exact: bool) -> _ColumnSet:
    """The first of the sets by which most people are alone; no more can be than the columns have combinations."""
    first = next(sets)
    best = _ColumnSet(first, _alone(first, rows), exact)
    for chosen in sets:
        if prod(one.different for one in chosen) > best.people:
            people = _alone(chosen, rows)
            best = _ColumnSet(chosen, people, exact) if people > best.people else best
    return best


def _telling(best: Sequence[_ColumnSet], everybody: int, columns: Sequence[_Column], rows: int) -> _ColumnSet:
    """The smallest set by which half of the people are alone who are by all; beyond three columns it grows."""
    chosen = next((one for one in best if 2 * one.people >= everybody), best[-1])
    while 2 * chosen.people < everybody:
        chosen = _best(_grown(chosen.columns, columns), rows, exact=False)
    return chosen
