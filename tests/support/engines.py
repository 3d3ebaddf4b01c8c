"""Tables in memory, worked on in blocks by Spark: they show that where rows live changes nothing."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.spark.blocks import Meaning, SparkBlocks
from incrowd.rows.spark.session import packed
from incrowd.rows.spark.store import STORED, Listed, Store, as_words
from incrowd.testing.engines import BlockedEngine
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True)
class SparkEngine(BlockedEngine):
    """Cuts a table into blocks of so many rows; executors of Spark work on each by itself."""

    session: Any = None

    def population(self, table: EncodedTable, schema: Schema, randomness: Randomness) -> BlockedPopulation:
        """The rows, as algorithms know them."""
        from pyspark import cloudpickle

        cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
        meanings = {name: _meaning(column) for name, column in table.columns.items()}
        blocks = SparkBlocks.of(distributed(table, self.session, self.block_rows), meanings)
        return BlockedPopulation.of(blocks, schema, randomness, self.largest_sample)


def distributed(table: EncodedTable, session: Any, block_rows: int) -> Store:
    """An encoded table in blocks that Spark has."""
    starts = range(0, max(table.height, 1), block_rows)
    rows = [_stored(table, place, start, block_rows) for place, start in enumerate(starts)]
    listed = tuple(Listed(row[0], row[1], row[2], row[3]) for row in rows)
    frame = session.createDataFrame(rows, STORED).repartition(2)
    return Store(frame, listed, {name: column.dictionary.dtype for name, column in table.columns.items()}, ())


def _stored(table: EncodedTable, place: int, start: int, block_rows: int) -> tuple[Any, ...]:
    block = table.take(np.arange(start, min(start + block_rows, table.height)))
    codes, values = {}, []
    for at, (name, column) in enumerate(block.columns.items()):
        raw = (column.codes + 1) % column.width  # missing comes first
        codes[name] = raw.astype(np.uint32)
        values.append(as_words(at, column.dictionary, np.bincount(raw, minlength=column.width)))
    whole = pl.concat(values) if values else pl.DataFrame()
    return 0, place, block.height, os.urandom(16), packed(pl.DataFrame(codes)), packed(whole), b""


def _meaning(column: EncodedColumn) -> Meaning:
    places = np.arange(column.width, dtype=np.int32)
    return Meaning(column.type, column.dictionary, column.dictionary, places, column.counts)
