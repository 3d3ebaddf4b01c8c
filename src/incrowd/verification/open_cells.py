"""Released cells that leave values open: what people have, and which values their cells allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.integer[Any]]
"""Codes of rows, in as few bytes as they need."""
Bools = npt.NDArray[np.bool_]

MANY_OWN_VALUES, BLOCKS_OF_OWN = 256, 128  # a quasi-identifier of more values is counted in so many blocks
LONGEST_LIST = 1_000_000  # numbers up to it are counted in a list, others are sorted


@dataclass(frozen=True, eq=False)
class QuasiIdentifier:
    """A quasi-identifier of a release, beside the input.

    Parameters
    ----------
    name
        The column.
    values
        For each released row the own value of its person, as a code; codes follow the order of the values.
    labels
        For each row what its released cell shows, as a code.
    allows
        For each label the codes of the values it allows; None for all.
    missing
        The code of a missing value, if there is one.
    drawn
        Whether what cells show is drawn: then their rows have further values, which it does not rule out.
    """

    name: str
    values: Numbers
    labels: Numbers
    allows: Sequence[Codes | range | None]
    missing: int | None = None
    drawn: bool = False


@dataclass(frozen=True, eq=False)
class OpenCells:
    """A quasi-identifier as it is counted: what people have, and which values their released cells allow.

    Parameters
    ----------
    name
        The column.
    values
        The value of each person, as a code in the order of the values; blocks if there are many values.
    people
        How many people have each value.
    sets
        All sets of values that come up.
    allowed
        The number of the set that each row's cell allows.
    allows
        For each of these sets, and each value, whether the set has it.
    """

    name: str
    values: Numbers
    people: Codes
    sets: Sets
    allowed: Numbers
    allows: Bools

    @property
    def width(self) -> int:
        """How many values there are."""
        return len(self.people)

    @property
    def rows(self) -> int:
        """How many people there are."""
        return len(self.values)

    @cached_property
    def open(self) -> Bools:
        """The rows whose cell leaves more than one value open."""
        return self.allowed >= self.width

    @property
    def errors(self) -> int:
        """How many are guessed wrong without looking: all but those with the most frequent value."""
        return int(self.rows - self.people.max())


def own_cells(column: QuasiIdentifier) -> OpenCells:
    """A quasi-identifier as it is counted: the values that people have, in blocks if there are many.

    A cell that does not allow the own value of all its rows allows all; one that is drawn, these values too.
    """
    people = np.bincount(column.values)
    there = people > 0
    blocks = np.arange(len(people))
    if np.count_nonzero(there) > MANY_OWN_VALUES:
        blocks = _blocks(people, column.missing, -(-len(column.values) // BLOCKS_OF_OWN))
    place = np.zeros(len(there), np.int32)
    place[there] = compact(blocks[there])[1]
    values, people = place[column.values], np.bincount(place, people).astype(np.int64)
    members = np.array([_members(allowed, there, place, len(people)) for allowed in column.allows])
    labels, own = np.divmod(tally(paired(column.labels, values, len(people)))[0], len(people))
    if column.drawn:
        members[labels, own] = True
    members[labels[~members[labels, own]]] = True
    sets = Sets(people)
    allowed = sets.add_all(members).astype(np.int32)[column.labels]
    return OpenCells(column.name, values, people, sets=sets, allowed=allowed, allows=sets.members())


def _members(allowed: Codes | range | None, there: Bools, place: Numbers, width: int) -> Bools:
    """For each value, whether a cell allows it; codes that nobody has are nowhere."""
    if allowed is None:
        return np.ones(width, np.bool_)
    members = np.zeros(width, np.bool_)
    codes = np.asarray(allowed, np.int64)
    codes = codes[codes < len(place)]
    members[place[codes[there[codes]]]] = True
    return members


class Sets:
    """Sets of values of one quasi-identifier, each kept once and known by a number: that of one value is the value."""

    def __init__(self, people: Codes) -> None:
        self._people = people
        self._numbers: dict[bytes, int] = {}
        self._members: list[Bools] = []
        self._masses: list[int] = []
        self.add_all(np.eye(len(people), dtype=np.bool_))

    def __len__(self) -> int:
        return len(self._members)

    def members(self) -> Bools:
        """For each set a row that says of each value whether the set has it."""
        return np.array(self._members)

    def add_all(self, members: Iterable[Bools]) -> Codes:
        """The numbers of sets, of each its members."""
        return np.array([self._number(one) for one in members], np.int64)

    def _number(self, members: Bools) -> int:
        number = self._numbers.setdefault(members.tobytes(), len(self))
        if number == len(self):
            self._members.append(members.copy())
            self._masses.append(int(self._people[members].sum()))
        return number

    def both(self, ones: Numbers, others: Numbers) -> Codes:
        """For each row, the number of what its two sets have in common."""
        ones, others, place = combinations(ones, others, len(self))
        return self.add_all(map(self._common, ones.tolist(), others.tolist()))[place]

    def _common(self, one: int, other: int) -> Bools:
        return self._members[one] & self._members[other]

    def given_back(self, narrow: Numbers, wide: Numbers) -> Bools:
        """For each row, whether a narrower set is one value, or leaves at most half of the people of the wide one."""
        back = np.asarray(narrow != wide)
        narrow, wide, masses = narrow[back], wide[back], np.array(self._masses)
        back[back] = (narrow < len(self._people)) | (2 * masses[narrow] <= masses[wide])
        return back


def combinations(ones: Numbers, others: Numbers, width: int) -> tuple[Codes, Codes, Codes]:
    """The different pairs of two columns of numbers, the second below a width, and which of them each row has.

    Examples
    --------
    >>> [part.tolist() for part in combinations(np.array([7, 3, 7]), np.array([0, 5, 0]), 6)]
    [[3, 7], [5, 0], [1, 0, 1]]
    """
    keys, place = compact(paired(ones, others, width))
    return (*np.divmod(keys, width), place)


def paired(ones: Numbers, others: Numbers, width: int) -> Codes:
    """One number for each pair of two columns of numbers, the second below a width; no more memory than it needs.

    Examples
    --------
    >>> paired(np.array([7, 3]), np.array([0, 5]), 6).tolist()
    [42, 23]
    """
    keys = ones.astype(np.int64)
    keys *= width
    keys += others
    return keys


def compact(keys: Numbers) -> tuple[Codes, Codes]:
    """The different keys in their order, and the place of each row's key among them.

    Examples
    --------
    >>> [part.tolist() for part in compact(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    if _are_far_apart(keys):
        return np.unique(keys, return_inverse=True)
    there = np.bincount(keys) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def tally(keys: Numbers) -> tuple[Codes, Codes]:
    """The different keys in their order, and how often each is there.

    Examples
    --------
    >>> [part.tolist() for part in tally(np.array([7, 3, 7]))]
    [[3, 7], [1, 2]]
    """
    if _are_far_apart(keys):
        return np.unique(keys, return_counts=True)
    counts = np.bincount(keys)
    present = np.flatnonzero(counts)
    return present, counts[present]


def _are_far_apart(keys: Numbers) -> bool:
    """Whether a list with a place for every number up to the largest key would be too long."""
    return len(keys) > 0 and int(keys.max()) > LONGEST_LIST


def in_blocks(codes: Numbers, missing: int | None, size: int) -> Codes:
    """Neighbouring values together: for each row the people with a smaller value over the size; missing is apart.

    Examples
    --------
    >>> in_blocks(np.array([0, 1, 1, 2, 3]), 3, 2).tolist()
    [0, 0, 0, 1, 3]
    """
    return _blocks(np.bincount(codes), missing, size)[codes]


def _blocks(people: Codes, missing: int | None, size: int) -> Codes:
    """The same for each value, of which so many people have it."""
    is_missing = np.arange(len(people)) == missing
    known = np.where(is_missing, 0, people)
    blocks = (np.cumsum(known) - known) // size
    return np.where(is_missing, blocks.max() + 1, blocks)


def distinct(codes: Numbers) -> int:
    """How many different codes there are."""
    return int(np.count_nonzero(np.bincount(codes)))


def histories(classes: Codes, owners: Codes) -> Codes:
    """For each row the number of what its person has: its classes, in their order and as often as it has them.

    Examples
    --------
    >>> histories(np.array([5, 5, 7, 5, 7]), np.array([0, 1, 1, 2, 2])).tolist()
    [0, 1, 1, 1, 1]
    """
    order = np.lexsort((classes, owners))
    rows = np.bincount(owners)
    begin, width = np.cumsum(rows) - rows, int(classes.max(initial=0)) + 1
    numbers = rows.astype(np.int64)  # who has another number of rows has another history
    for place in range(int(rows.max(initial=0))):
        there = np.flatnonzero(rows > place)
        before = compact(numbers[there] * width + classes[order[begin[there] + place]])[1]
        numbers[there] = before
    return compact((rows * (int(numbers.max(initial=0)) + 1) + numbers)[owners])[1]  # who has no row has no history
