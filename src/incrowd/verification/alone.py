"""People whose combination of unchanged columns nobody else has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, prod
from typing import Protocol

import numpy as np
import numpy.typing as npt

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
    the best set grows by the column that adds most.
    """
    plain = [column for column in columns if column.role != "target"]
    free = [column for column in plain if column.role not in ("private", "sensitive")]
    counting = _Counting(plain, rows, people_times_sets)
    everybody = counting.alone(range(len(plain)))
    best = tuple(counting.best_sets())
    return Alone(
        without_class=everybody,
        with_class=_Counting(columns, rows, 0).alone(range(len(columns))),
        not_called_private=everybody if len(free) == len(plain) else _Counting(free, rows, 0).alone(range(len(free))),
        best=best,
        telling=counting.telling(best, everybody),
        roles={column.name: column.role for column in columns},
    )


class _Counting:
    def __init__(self, columns: Sequence[OpenColumn], rows: int, people_times_sets: int) -> None:
        self._names = [column.name for column in columns]
        self._codes = [column.codes for column in columns]
        self._rows, self._limit = rows, people_times_sets
        sizes = [np.bincount(codes) for codes in self._codes]
        self._widths = [len(size) for size in sizes]
        self._different = [int(np.count_nonzero(size)) for size in sizes]
        self._shared = [(size > 1)[codes] for size, codes in zip(sizes, self._codes, strict=True)]

    def alone(self, chosen: Sequence[int]) -> int:
        """How many people are alone with their combination of these columns."""
        left = np.ones(self._rows, np.bool_)
        for at in chosen:
            left &= self._shared[at]  # whoever is alone by one column is alone, and nobody else's twin
        rows = np.flatnonzero(left)
        return self._rows - len(rows) + (_singles(self._keys(chosen, rows)) if len(rows) else 0)

    def _keys(self, chosen: Sequence[int], rows: Codes) -> Codes:
        keys, width = np.zeros(len(rows), np.int64), 1
        for at in chosen:
            if width * self._widths[at] >= 2**62:
                keys = np.unique(keys, return_inverse=True)[1].ravel()
                width = len(rows)
            keys, width = keys * self._widths[at] + self._codes[at][rows], width * self._widths[at]
        return keys

    def best_sets(self) -> Iterator[SinglingSet]:
        """For one, two and three columns the set by which most people are alone."""
        before: tuple[int, ...] = ()
        for size in _SIZES[: len(self._codes)]:
            exact = self._rows * comb(len(self._codes), size) <= self._limit
            sets = combinations(range(len(self._codes)), size) if exact else self._grown(before)
            before, people = self._best(list(sets))
            yield SinglingSet(tuple(self._names[at] for at in before), people, exact)

    def _grown(self, before: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        for at in range(len(self._codes)):
            if at not in before:
                yield tuple(sorted((*before, at)))

    def _best(self, sets: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], int]:
        """The first of the sets by which most people are alone; no more can be than the columns have combinations."""
        bound = [min(self._rows, prod(self._different[at] for at in chosen)) for chosen in sets]
        best, people = 0, -1
        for number in sorted(range(len(sets)), key=lambda number: (-bound[number], number)):
            if bound[number] <= people:
                break
            alone = self.alone(sets[number])
            if (alone, -number) > (people, -best):
                best, people = number, alone
        return sets[best], people

    def telling(self, best: Sequence[SinglingSet], everybody: int) -> SinglingSet | None:
        """The smallest set by which half of the people are alone who are by all; beyond three columns it grows."""
        if not everybody:
            return None
        for one in best:
            if 2 * one.people >= everybody:
                return one
        chosen = tuple(self._names.index(name) for name in best[-1].columns)
        while True:
            chosen, people = self._best(list(self._grown(chosen)))
            if 2 * people >= everybody:
                return SinglingSet(tuple(self._names[at] for at in chosen), people, exact=False)


def _singles(keys: Codes) -> int:
    """How many keys are there once."""
    most = int(keys.max())
    if most <= 4 * len(keys):
        return int((np.bincount(keys) == 1).sum())
    keys = np.sort(keys)
    new = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:-1])
    return int((new[1:] & new[:-1]).sum())
