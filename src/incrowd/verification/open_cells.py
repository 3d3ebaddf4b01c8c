"""Released cells that leave values open: what people have, and which values their cells allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MANY_OWN_VALUES, BLOCKS_OF_OWN = 256, 128  # a quasi-identifier of more values is counted in so many blocks


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
        The code of a missing value, -1 if there is none.
    """

    name: str
    values: Codes
    labels: Codes
    allows: Sequence[Codes | range | None]
    missing: int = -1


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
    values: Codes
    people: Codes
    sets: Sets
    allowed: Codes
    allows: Bools

    @property
    def width(self) -> int:
        """How many values there are."""
        return len(self.people)

    @property
    def rows(self) -> int:
        """How many people there are."""
        return len(self.values)

    @property
    def open(self) -> Bools:
        """The rows whose cell leaves more than one value open."""
        return np.asarray((self.allows.sum(axis=1) > 1)[self.allowed])

    @property
    def errors(self) -> int:
        """How many are guessed wrong without looking: all but those with the most frequent value."""
        return int(self.people.sum() - self.people.max(initial=0))


def own_cells(column: QuasiIdentifier) -> OpenCells:
    """A quasi-identifier as it is counted: the values that people have, in blocks if there are many."""
    there = np.bincount(column.values) > 0
    place = np.where(there, np.cumsum(there) - 1, -1)
    if there.sum() > MANY_OWN_VALUES:
        place = _block_of_value(column.values, column.missing)
    values = place[column.values]
    cells = _cells(column, values, place, int(place.max()) + 1)
    wrong = np.unique(cells.allowed[~cells.allows[cells.allowed, values]])
    if not len(wrong):
        return cells
    lost = frozenset(np.unique(column.labels[np.isin(cells.allowed, wrong)]).tolist())
    allows = [None if label in lost else codes for label, codes in enumerate(column.allows)]
    return own_cells(QuasiIdentifier(column.name, column.values, column.labels, allows, column.missing))


def shown_cells(column: QuasiIdentifier) -> OpenCells:
    """A quasi-identifier as far as rows show it: the values of rows whose cell allows one alone."""
    codes = [np.asarray(allowed, np.int64) for allowed in column.allows if allowed is not None]
    width = max([int(one.max(initial=-1)) + 1 for one in codes], default=0)
    used = np.bincount(np.concatenate([*codes, np.empty(0, np.int64)]), minlength=width) > 0
    place = np.where(used, np.cumsum(used) - 1, -1)
    one = np.array([-1 if a is None or len(a) != 1 else int(a[0]) for a in column.allows], np.int64)
    shown = one[column.labels]
    return _cells(column, place[shown[shown >= 0]], place, int(used.sum()))


def _block_of_value(values: Codes, missing: int) -> Codes:
    """For each code the number of its block, -1 for a code that nobody has."""
    blocks = in_blocks(values, missing, -(-len(values) // BLOCKS_OF_OWN))
    _, blocks = compact(blocks)
    place = np.full(int(values.max()) + 1, -1, np.int64)
    place[values] = blocks
    return place


def _cells(column: QuasiIdentifier, values: Codes, place: Codes, width: int) -> OpenCells:
    """With the sets that cells allow, each once."""
    people = np.bincount(values, minlength=width)
    sets = Sets(people)
    labels, rows = compact(column.labels)
    numbers = []
    for label in labels.tolist():
        allowed = column.allows[label]
        members = np.full(width, allowed is None)
        if allowed is not None:
            codes = np.asarray(allowed, np.int64)
            held = place[codes[codes < len(place)]]
            members[held[held >= 0]] = True
        numbers.append(sets.add(members))
    allows = np.array([sets.members(number) for number in range(len(sets))])
    return OpenCells(column.name, values, people, sets, np.array(numbers, np.int64)[rows], allows)


class Sets:
    """Sets of values of one quasi-identifier, each kept once and known by a number."""

    def __init__(self, people: Codes) -> None:
        self._people, self._width = people, len(people)
        self._numbers: dict[int, int] = {}
        self._bits: list[int] = []
        self._sizes: list[int] = []
        self._masses: list[int] = []
        self._meets: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self._bits)

    def add(self, members: Bools) -> int:
        """The number of the set with these members."""
        return self._number(int.from_bytes(np.packbits(members, bitorder="little").tobytes(), "little"))

    def add_all(self, members: Bools) -> Codes:
        """The numbers of many sets, a row each."""
        packed = np.packbits(members, axis=1, bitorder="little")
        return np.array([self._number(int.from_bytes(row.tobytes(), "little")) for row in packed], np.int64)

    def _number(self, bits: int) -> int:
        number = self._numbers.setdefault(bits, len(self._bits))
        if number == len(self._bits):
            self._bits.append(bits)
            self._sizes.append(bits.bit_count())
            self._masses.append(int(self._people[self.members(number)].sum()))
        return number

    def members(self, number: int) -> Bools:
        """For each value, whether the set has it."""
        raw = np.frombuffer(self._bits[number].to_bytes((self._width + 7) // 8, "little"), np.uint8)
        return np.unpackbits(raw, count=self._width, bitorder="little").astype(np.bool_)

    def size(self, number: int) -> int:
        """How many values the set has."""
        return self._sizes[number]

    def _both(self, one: int, other: int) -> int:
        if (one, other) not in self._meets:
            self._meets[one, other] = self._number(self._bits[one] & self._bits[other])
        return self._meets[one, other]

    def both(self, ones: Codes, others: Codes) -> Codes:
        """For each row, the number of what its two sets have in common."""
        pairs, place = combinations(ones, others)
        return np.array([self._both(*pair) for pair in pairs], np.int64)[place]

    def given_back(self, narrow: Codes, wide: Codes) -> Bools:
        """For each row, whether the narrow set is one value, or leaves at most half of the people of the wide one."""
        pairs, place = combinations(narrow, wide)
        return np.array([self._tells(*pair) for pair in pairs], np.bool_)[place]

    def _tells(self, narrow: int, wide: int) -> bool:
        if narrow == wide or not self._sizes[narrow]:
            return False
        return self._sizes[narrow] == 1 or 2 * self._masses[narrow] <= self._masses[wide]


def combinations(ones: Codes, others: Codes) -> tuple[list[tuple[int, int]], Codes]:
    """The different pairs of two columns of numbers, and which of them each row has.

    Examples
    --------
    >>> pairs, place = combinations(np.array([7, 3, 7]), np.array([0, 5, 0]))
    >>> pairs, place.tolist()
    ([(3, 5), (7, 0)], [1, 0, 1])
    """
    width = int(others.max(initial=0)) + 1
    if (int(ones.max(initial=0)) + 1) * width <= 8 * len(ones):
        keys, place = compact(ones * width + others)
        return [divmod(key, width) for key in keys.tolist()], place
    (first, ones), (second, others) = compact(ones), compact(others)
    keys, place = compact(ones * len(second) + others)
    pairs = zip(first[keys // max(1, len(second))].tolist(), second[keys % max(1, len(second))].tolist(), strict=True)
    return list(pairs), place


def compact(keys: Codes) -> tuple[Codes, Codes]:
    """The different keys in their order, and the place of each row's key among them.

    Examples
    --------
    >>> [part.tolist() for part in compact(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    most = int(keys.max(initial=0))
    if most > 8 * len(keys) + 1024:
        different, place = np.unique(keys, return_inverse=True)
        return different, place.ravel()
    there = np.zeros(most + 1, np.bool_)
    there[keys] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[keys]


def in_blocks(codes: Codes, missing: int, size: int) -> Codes:
    """Neighbouring values together: for each row the people with a smaller value over the size; missing is apart.

    Examples
    --------
    >>> in_blocks(np.array([0, 1, 1, 2, 3]), 3, 2).tolist()
    [0, 0, 0, 1, 2]
    """
    counts = np.bincount(codes)
    known = counts.copy()
    if 0 <= missing < len(known):
        known[missing] = 0
    blocks = (np.cumsum(known) - known) // size
    if 0 <= missing < len(known):
        blocks[missing] = 0
        blocks[missing] = int(blocks.max()) + 1
    return np.asarray(blocks[codes])


def distinct(codes: Codes) -> int:
    """How many different codes there are."""
    return int(np.count_nonzero(np.bincount(codes)))
