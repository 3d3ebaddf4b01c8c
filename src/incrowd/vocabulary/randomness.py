"""Where chance comes from: the operating system's cryptographic source, unless a test injects a seed.

An attacker who knows the program, the seed and all rows but one could re-run a release and recognise the
last row. So there is no seed by default, and a seed is never written anywhere.

Build columns from fresh memory.

A value replaced by null often stays in the buffer behind the null, and a column of strings keeps the buffer
of the column it was taken from. Both end up in Arrow, Feather and pickle files. What is released is rebuilt.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from incrowd.errors import ParameterError

if TYPE_CHECKING:
    import polars as pl


def fresh_series(series: pl.Series) -> pl.Series:
    """The same values in buffers that hold nothing else; categories become plain text."""
    import polars as pl

    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype == pl.Null:
        return pl.Series(series.name, [None] * len(series), pl.Null)
    present = series.is_not_null()
    blank = pl.lit("" if series.dtype == pl.String else 0).cast(series.dtype)
    filled = pl.select(pl.lit(series).fill_null(blank)).to_series()
    copied = _copied(filled)
    if not present.all():
        copied = pl.select(pl.when(present).then(copied)).to_series()
    return copied.alias(series.name)


def _copied(series: pl.Series) -> pl.Series:
    """Text is written anew where nothing is appended to it; everything else is, by taking every row."""
    import polars as pl

    if series.dtype != pl.String:
        return series.gather(np.arange(len(series)))
    return pl.select(pl.concat_str(pl.lit(series), pl.lit(""))).to_series()


def fresh_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same table in fresh buffers."""
    import polars as pl

    return pl.DataFrame([fresh_series(series) for series in frame.iter_columns()])


_SPARSE = 200  # times as many numbers as are drawn: marking them all would take more than sorting those few


class Randomness(Protocol):
    """A source of independent, uniform 64-bit numbers."""

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """That many uniform 64-bit numbers."""


class SystemRandomness:
    """The operating system's cryptographic generator; cannot be seeded, and that is the point."""

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """That many uniform 64-bit numbers."""
        return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class SeededRandomness:
    """A reproducible source for tests and experiments. Never use it for a real release."""

    def __init__(self, seed: int) -> None:
        if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
            raise ParameterError("A seed must be a whole number of at least 0.")
        self._generator = np.random.Generator(np.random.Philox(seed))

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """That many uniform 64-bit numbers."""
        return self._generator.integers(0, 2**64, size=count, dtype=np.uint64)


class KeyedRandomness:
    """A stream that is fixed by a secret key (SHAKE-256): without the key it cannot be told from chance.

    For draws that are made again, or elsewhere, and must come out the same. A key is never published; only a ledger
    keeps it.

    Examples
    --------
    >>> KeyedRandomness(b"secret").words(2).tolist() == KeyedRandomness(b"secret").words(2).tolist()
    True
    """

    def __init__(self, key: bytes) -> None:
        self._key, self._calls = key, 0

    def words(self, count: int) -> npt.NDArray[np.uint64]:
        """That many uniform 64-bit numbers."""
        self._calls += 1
        stream = hashlib.shake_256(self._key + self._calls.to_bytes(8, "little"))
        return np.frombuffer(stream.digest(8 * count), dtype=np.uint64)


def seeded_key(seed: int) -> bytes:
    """What fixes the draws of counts in an experiment, whatever else is drawn in it."""
    return hashlib.sha256(f"incrowd counts {seed}".encode()).digest()


def keys_of(randomness: Randomness, count: int) -> tuple[bytes, ...]:
    """That many secret keys of 32 bytes."""
    return tuple(row.tobytes() for row in randomness.words(4 * count).reshape(count, 4))


def permutation(count: int, randomness: Randomness) -> npt.NDArray[np.intp]:
    """A uniformly random order of ``count`` things."""
    return np.argsort(randomness.words(count))


def distinct(total: int, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
    """``count`` different numbers below ``total``, every such set equally likely, ascending.

    Draws and rejects duplicates, so the cost follows ``count``, not ``total``.
    """
    if count > total:
        raise ValueError("more distinct numbers asked for than exist")
    if 2 * count > total:
        kept = np.ones(total, bool)
        kept[distinct(total, total - count, randomness)] = False
        return np.flatnonzero(kept)
    if total > _SPARSE * count:
        return _sparse(total, count, randomness)
    taken, lacking = np.zeros(total, bool), count
    while lacking:
        taken[_below(total, lacking, randomness)] = True
        lacking = count - int(np.count_nonzero(taken))
    return np.flatnonzero(taken)


def _sparse(total: int, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
    """The same where a mark for each of all the numbers would take more than the few that are drawn."""
    chosen: npt.NDArray[np.int64] = np.empty(0, np.int64)
    while len(chosen) < count:
        fresh = _below(total, count - len(chosen), randomness)
        chosen = np.unique(np.concatenate([chosen, fresh]))
    return chosen


def _below(total: int, count: int, randomness: Randomness) -> npt.NDArray[np.int64]:
    """At most ``count`` unbiased numbers below ``total`` (words in the uneven tail are rejected)."""
    limit = np.uint64((2**64 // total) * total - 1)
    words = randomness.words(count)
    return (words[words <= limit] % np.uint64(total)).astype(np.int64)
