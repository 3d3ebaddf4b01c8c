"""Faults of encoding: integer codes do not stand for the values that the rows have."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import numpy as np
import polars as pl

from faults.planting import BLOCKS, MEMORY, SPARK, plant

SETTLE = "incrowd.tables.reading.encode:settle"
EVERYWHERE = (MEMORY, BLOCKS, SPARK)


@plant(SETTLE, EVERYWHERE)
def two_codes_are_exchanged(original, tally, column, missing):
    """The codes of two values are exchanged: rows with the one are worked on as if they had the other."""
    settled = original(tally, column, missing)
    if column.name != "job":
        return settled
    places = np.where(settled.places == 0, 1, np.where(settled.places == 1, 0, settled.places)).astype(np.int32)
    return replace(settled, places=places)


@plant(SETTLE, (MEMORY,))
def all_codes_are_permuted(original, tally, column, missing):
    """Every value of a number gets the code of another."""
    settled = original(tally, column, missing)
    if column.name != "age":
        return settled
    return replace(settled, places=np.append(np.roll(settled.places[:-1], 3), settled.places[-1:]))


@plant(SETTLE, EVERYWHERE)
def missing_gets_the_code_of_a_value(original, tally, column, missing):
    """A missing value gets the code of the first value."""
    settled = original(tally, column, missing)
    if column.name != "job":
        return settled
    return replace(settled, places=np.where(settled.places == len(settled.dictionary), 0, settled.places))


@plant(SETTLE, (MEMORY,))
def two_values_share_a_code(original, tally, column, missing):
    """A value is given the code of its neighbour, as if both were one."""
    settled = original(tally, column, missing)
    if column.name != "job":
        return settled
    return replace(settled, places=np.where(settled.places == 1, 0, settled.places).astype(np.int32))


@plant(SETTLE, (MEMORY,))
def numbers_are_off_by_one(original, tally, column, missing):
    """The dictionary of a number holds numbers that are one too large."""
    settled = original(tally, column, missing)
    return replace(settled, dictionary=settled.dictionary + 1) if column.name == "age" else settled


@plant(SETTLE, (MEMORY,))
def dates_are_off_by_a_day(original, tally, column, missing):
    """Dates are understood as the day after."""
    settled = original(tally, column, missing)
    if column.name != "born":
        return settled
    return replace(settled, dictionary=settled.dictionary + pl.Series([dt.timedelta(days=1)]))


@plant(SETTLE, (MEMORY,))
def texts_of_the_dictionary_are_cut(original, tally, column, missing):
    """The dictionary keeps the first two letters of a text."""
    settled = original(tally, column, missing)
    return replace(settled, dictionary=settled.dictionary.str.slice(0, 2)) if column.name == "job" else settled


@plant("incrowd.tables.streams.encode:BlockFile.write", (BLOCKS,))
def codes_of_a_block_are_reversed(original, cls, path, codes):
    """The codes of a column are written to their block from the last row to the first."""
    return original(cls, path, {name: each[::-1] if name == "age" else each for name, each in codes.items()})
