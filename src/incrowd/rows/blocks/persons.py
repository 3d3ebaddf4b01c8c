"""Whose rows blocks have: persons are drawn, and who is where is put together from what blocks tell.

A person may have rows in any block: it has one number in all of them, so blocks need not be cut along persons.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from incrowd.methods.method import Presence
from incrowd.vocabulary.encoded_table import EncodedTable, OwnedTable
from incrowd.vocabulary.randomness import KeyedRandomness, distinct

if TYPE_CHECKING:
    from incrowd.rows.blocks.population import BlockStore

_BITS = 16  # so many of the mark of a person name its bin: at most a thousandth of a large sample is in one
_HEAVY = 0.25  # of a sample: somebody who has more rows than that is drawn row by row
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of SplitMix64


def persons_of(block: EncodedTable) -> npt.NDArray[np.int64]:
    """The person of each row of a block, by what it is known by in all blocks."""
    assert isinstance(block, OwnedTable)
    return block.persons.astype(np.int64)


def drawn_persons(blocks: BlockStore, wanted: int, key: bytes) -> Callable[[EncodedTable, int], npt.NDArray[np.intp]]:
    """What gives the rows of a block that are drawn: at most so many in all, a person with all rows or with none.

    A mark, made with a secret key, puts each person into a bin; bins are taken in order while there is room. Whoever
    has a large part of all rows is drawn row by row, or heuristics would see little else, or nothing of it.
    """
    secret = np.frombuffer(key[:8], np.uint64)[0]
    bins = np.zeros(1 << _BITS, np.int64)
    for some in blocks.each(lambda block, _: np.bincount(_bins(block, secret), minlength=1 << _BITS)):
        bins += some
    rows = int(bins.sum())
    share = wanted / rows
    heavy = np.asarray(bins > _HEAVY * wanted)
    room, taken = int(wanted * (1 - bins[heavy].sum() / rows)), np.zeros(1 << _BITS, np.bool_)
    for number in np.flatnonzero((bins > 0) & ~heavy):
        if bins[number] <= room:
            taken[number] = True
            room -= int(bins[number])

    def drawn(block: EncodedTable, place: int) -> npt.NDArray[np.intp]:
        mine = _bins(block, secret)
        large = np.flatnonzero(heavy[mine])
        some = distinct(len(large), int(len(large) * share), KeyedRandomness(key + place.to_bytes(8, "little")))
        return np.sort(np.concatenate([np.flatnonzero(taken[mine]), large[some]]))

    return drawn


def marks_of(block: EncodedTable, key: bytes) -> npt.NDArray[np.uint64]:
    """A number for each row, the same in all rows of a person, which looks random to who has no key."""
    return _marks(block, np.frombuffer(key[:8], np.uint64)[0])


def _bins(block: EncodedTable, secret: np.uint64) -> npt.NDArray[np.intp]:
    """The bin of each row's person."""
    return (_marks(block, secret) >> np.uint64(64 - _BITS)).astype(np.intp)


def _marks(block: EncodedTable, secret: np.uint64) -> npt.NDArray[np.uint64]:
    marks = persons_of(block).view(np.uint64) ^ secret
    for shift, factor in zip((30, 27), _MIX, strict=True):
        marks = (marks ^ (marks >> np.uint64(shift))) * factor
    return marks


def named(presence: Presence, block: EncodedTable) -> Presence:
    """Who is where in a block, with the numbers that persons have in all blocks; small types on their way."""
    assert isinstance(block, OwnedTable)
    persons = presence.persons if block.words is None else block.words[presence.persons]
    cells, *codes = (column.astype(np.int32) for column in (presence.cells, *presence.codes))
    return Presence(cells, persons.astype(np.int32 if block.words is None else np.int64), tuple(codes))


def joined(parts: Sequence[Presence]) -> Presence:
    """What all blocks tell; persons that are known by words are numbered."""
    persons = np.concatenate([part.persons for part in parts])
    if persons.dtype == np.int64:
        persons = np.unique(persons, return_inverse=True)[1]
    codes = (np.concatenate(columns) for columns in zip(*(part.codes for part in parts), strict=True))
    return Presence(np.concatenate([part.cells for part in parts]), persons, tuple(codes))
