"""What invented people have in common, whatever table they are in: drawn values, names, places, gaps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl

Numbers = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]
Words = npt.NDArray[np.str_]


def choose(weights: Mapping[str, float], rows: int, chance: np.random.Generator) -> Words:
    """Words, drawn in proportion to their weights."""
    return np.asarray(np.array(list(weights))[places(list(weights.values()), rows, chance)])


def places(weights: npt.ArrayLike, rows: int, chance: np.random.Generator) -> Whole:
    """Places in a list of weights, drawn in proportion to them."""
    steps = np.cumsum(weights)
    return np.asarray(np.searchsorted(steps, chance.random(rows) * steps[-1], side="right"), np.int64)


def identifiers(rows: int, chance: np.random.Generator) -> Words:
    """A different text for every patient, in no order that tells anything."""
    numbers = chance.permutation(rows) + 10 ** max(6, len(str(rows)))
    return np.char.add("P", numbers.astype(str))


def postcodes(rows: int, chance: np.random.Generator, areas: int) -> Words:
    """Five digits, four in ten with a leading zero; a few areas hold most people, many hold a handful."""
    area = np.arange(areas)
    names = np.char.zfill(np.where(area % 5 < 2, 1000 + 37 * area, 10_000 + 331 * area).astype(str), 5)
    return np.asarray(names[places(1.0 / (1 + area) ** 1.15, rows, chance)])


def with_gaps(column: pl.Series, share: float, chance: np.random.Generator) -> pl.Series:
    """The column with a share of its values missing."""
    known = pl.Series(chance.random(len(column)) >= share)
    return pl.select(pl.when(known).then(column).alias(column.name)).to_series()
