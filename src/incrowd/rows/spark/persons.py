"""Whose rows a block of Spark has: persons as words that are the same in every executor.

A word is 64 bits of a digest of the spelling, made with a secret that goes to the executors and is new each time. Two
persons with the same word would count as one, which is safe. The driver learns how many persons there are, how many
rows one of them has at most, and of cells that are asked about some words: never who they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice
from incrowd.rows.spark.session import ONE_BLOCK_AT_A_TIME, cells, errors_translated, mapped, set_for_a_while, unpacked
from incrowd.rows.spark.store import COLUMN, OWNER, PLAIN, ROWS, WORD, Store, as_words
from incrowd.tables.reading.persons import heavy_person, nobodys_rows, refuse_alike
from incrowd.tables.reading.source import spellings, without_markers
from incrowd.tables.streams.persons import plain_texts, texts_of
from incrowd.vocabulary.persons import Persons


@dataclass(frozen=True, eq=False)
class PersonWords:
    """Makes words of the persons in a column; run by the executors."""

    persons: Persons
    secret: bytes
    markers: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The person column."""
        return self.persons.column

    def coded(self, column: pl.Series) -> tuple[npt.NDArray[np.uint32], list[pl.DataFrame]]:
        """The code of each row's person within a block, 0 for none, and the words behind codes and plain spellings."""
        texts = texts_of(self._unmarked(column))
        distinct = texts.drop_nulls().unique()
        plain = plain_texts(distinct) if self.persons.ids != "exact" else distinct
        words = self._words(plain if self.persons.ids == "normalised" else distinct)
        known, places = np.unique(words, return_inverse=True)
        numbers = pl.Series(places.astype(np.uint32) + 1)
        codes = texts.replace_strict(distinct, numbers, default=0, return_dtype=pl.UInt32).to_numpy()
        values = [as_words(OWNER, pl.Series(known), np.bincount(codes, minlength=len(known) + 1))]
        if self.persons.ids is None:
            alike = np.unique(self._words(plain))
            values.append(as_words(PLAIN, pl.Series(alike), np.zeros(len(alike) + 1, np.int64)))
        return codes, values

    def _unmarked(self, column: pl.Series) -> pl.Series:
        if column.dtype != pl.String:
            return column
        return column.to_frame("").select(without_markers([""], spellings(self.markers))).to_series()

    def _words(self, texts: pl.Series) -> npt.NDArray[np.int64]:
        keyed = (hashlib.blake2b(text.encode(), digest_size=8, key=self.secret).digest() for text in texts.to_list())
        return np.frombuffer(b"".join(keyed), np.int64)


def person_notices(store: Store, persons: Persons) -> tuple[Notice, ...]:
    """What should be known of the persons of a table, counted by Spark; raises if they are not told apart."""
    from pyspark.sql import functions as sql

    parts = mapped(store.frame.select("values"), each_word, f"{COLUMN} int, {WORD} long, {ROWS} long")
    rows = parts.groupBy(COLUMN, WORD).agg(sql.sum(ROWS).alias(ROWS))
    there = sql.col(WORD).isNotNull()
    missing, most = sql.sum(sql.when(~there, sql.col(ROWS))), sql.max(sql.when(there, sql.col(ROWS)))
    counted = rows.groupBy(COLUMN).agg(sql.count(WORD).alias("persons"), missing.alias("missing"), most.alias("most"))
    with errors_translated(), set_for_a_while(store.session, ONE_BLOCK_AT_A_TIME):
        facts = {row[COLUMN]: row for row in counted.collect()}
    owners = facts[OWNER]
    if persons.ids is None:
        refuse_alike(persons.column, owners.persons - facts[PLAIN].persons)
    nobodys = int(owners.missing or 0)
    together = nobodys if persons.missing == "together" else 0
    whole = sum(block.rows for block in store.listed)
    heaviest = max(int(owners.most or 0), together)
    return (*nobodys_rows(persons, nobodys), *heavy_person(persons.column, heaviest, whole))


def each_word(batches: Iterable[Any]) -> Iterator[Any]:
    """The words of the persons of all blocks, with their rows."""
    import pyarrow as pa

    kinds = pa.schema([(COLUMN, pa.int32()), (WORD, pa.int64()), (ROWS, pa.int64())])
    for row in cells(batches):
        words = unpacked(row["values"]).filter(pl.col(COLUMN) < 0).select(COLUMN, WORD, ROWS)
        yield from words.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(kinds).to_batches(max_chunksize=1 << 16)
