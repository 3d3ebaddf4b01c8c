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
from incrowd.rows.spark.store import OWNED, OWNER, STORED, Listed, Store, as_words
from incrowd.testing.tables import BlockedEngine
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True)
class SparkEngine(BlockedEngine):
    """Cuts a table into blocks of so many rows; executors of Spark work on each by itself."""

    session: Any = None

    def population(
        self, table: EncodedTable, schema: Schema, randomness: Randomness, owners: Codes | None = None
    ) -> BlockedPopulation:
        """The rows, as algorithms know them; ``owners`` has the person of each, if rows are not persons."""
        from pyspark import cloudpickle

        cloudpickle.register_pickle_by_value(sys.modules[__name__])  # type: ignore[no-untyped-call]
        meanings = {name: _meaning(column) for name, column in table.columns.items()}
        blocks = SparkBlocks.of(distributed(table, self.session, self.block_rows, owners), meanings)
        return BlockedPopulation.of(blocks, schema, randomness, self.largest_sample, owned=owners is not None)


def distributed(table: EncodedTable, session: Any, block_rows: int, owners: Codes | None = None) -> Store:
    """An encoded table in blocks that Spark has; persons are known by words that are no numbers from 0 on."""
    starts = range(0, max(table.height, 1), block_rows)
    words = None if owners is None else (owners.astype(np.int64) + 1) * -(2**40)
    rows = [_stored(table, place, start, block_rows, words) for place, start in enumerate(starts)]
    listed = tuple(Listed(row[0], row[1], row[2], row[3]) for row in rows)
    frame = session.createDataFrame(rows, STORED).repartition(2)
    return Store(frame, listed, {name: column.dictionary.dtype for name, column in table.columns.items()}, ())


def _stored(
    table: EncodedTable, place: int, start: int, block_rows: int, words: np.ndarray[Any, Any] | None
) -> tuple[Any, ...]:
    rows = np.arange(start, min(start + block_rows, table.height))
    block = table.take(rows)
    codes, values = {}, []
    for at, (name, column) in enumerate(block.columns.items()):
        raw = (column.codes + 1) % column.width  # missing comes first
        codes[name] = raw.astype(np.uint32)
        values.append(as_words(at, column.dictionary, np.bincount(raw, minlength=column.width)))
    if words is not None:
        known, raw = np.unique(words[rows], return_inverse=True)
        codes[OWNED] = (raw + 1).astype(np.uint32)
        values.append(as_words(OWNER, pl.Series(known), np.bincount(raw + 1, minlength=len(known) + 1)))
    whole = pl.concat(values) if values else pl.DataFrame()
    return 0, place, block.height, os.urandom(16), packed(pl.DataFrame(codes)), packed(whole), b""


def _meaning(column: EncodedColumn) -> Meaning:
    places = np.arange(column.width, dtype=np.int32)
    return Meaning(column.type, column.dictionary, column.dictionary, places, column.counts)
