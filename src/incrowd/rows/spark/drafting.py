"""A plan applied where the rows are, and the rows dealt to pieces at random: each piece becomes a file of the release.

Every order of the rows is equally likely: it is the order of two random numbers for each row, the first of which names
its piece. Both come from secret keys, so that a task that is run again does the same again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import OutputError
from incrowd.methods.method import applied
from incrowd.rows.blocks.drafting import ORIGIN, OWN, Drafting
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.spark.blocks import SparkBlocks
from incrowd.rows.spark.session import (
    ONE_BLOCK_AT_A_TIME,
    cells,
    errors_translated,
    mapped,
    packed,
    set_for_a_while,
    unpacked,
)
from incrowd.rows.spark.store import Store, forget, kept
from incrowd.verification.request import Original
from incrowd.vocabulary.randomness import KeyedRandomness, Randomness, keys_of, permutation

KEY, BLOCK = "key", "block"
Parts = Sequence[tuple[int, Any]]
"""The rows of a piece, packed, with the numbers of the blocks they come from."""

_DEALT = f"{KEY} int, {BLOCK} int, origins binary, rows binary"


@dataclass(frozen=True, eq=False)
class Pieces:
    """The rows of a release on their way: what each shows, what it has, and where it comes from."""

    frame: Any  # for each piece and each block a row of a Spark frame, kept by Spark; a piece is a partition
    drafting: Drafting  # makes a released table of such rows
    keys: tuple[int, ...]  # for each piece the number by which Spark finds its partition
    secrets: tuple[bytes, ...]  # the keys of chance for the order within each piece

    @property
    def mixing(self) -> Mixing:
        """What puts a piece together, in the executors."""
        return Mixing(self.drafting, dict(zip(self.keys, self.secrets, strict=True)))

    def forget(self) -> None:
        """Let Spark free what it keeps of the pieces."""
        forget(self.frame)


def deal(store: Store, drafting: Drafting, randomness: Randomness, piece_rows: int) -> Pieces:
    """Apply a plan to the blocks of a store and deal their rows to pieces of about so many rows."""
    blocks = drafting.population.blocks
    assert isinstance(blocks, SparkBlocks)
    count = max(1, -(-drafting.population.rows // piece_rows))
    keys = partition_keys(store.session, count)
    after = applied(drafting.plan.steps, drafting.population)
    assert isinstance(after, BlockedPopulation)
    dealing = PartitionDealing(drafting, after, blocks, keys, keys_of(randomness, len(store.listed)))
    with errors_translated(), set_for_a_while(store.session, ONE_BLOCK_AT_A_TIME):
        dealt = mapped(store.frame, dealing, _DEALT).repartition(count, KEY)
        return Pieces(kept(dealt), drafting, keys, keys_of(randomness, count))


@dataclass(frozen=True, eq=False)
class PartitionDealing:
    """Applies a plan to the blocks of a partition, and deals their rows."""

    drafting: Drafting
    after: BlockedPopulation
    blocks: SparkBlocks
    keys: tuple[int, ...]
    secrets: tuple[bytes, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """For each block and each piece the rows that go there."""
        import pyarrow as pa

        for row in cells(batches):
            number = self.blocks.number(row)
            block, beside = self.blocks.block(row), unpacked(row["beside"])
            marked = self.drafting.marked(self.after, block, number)
            kept = marked[ORIGIN].to_numpy()
            marked = marked.hstack(self.drafting.own(block, kept))
            whole = marked.hstack(beside[kept]) if beside.width else marked
            places = (KeyedRandomness(self.secrets[number]).words(whole.height) % np.uint64(len(self.keys))).astype(
                np.intp
            )
            whole = whole[np.argsort(places, kind="stable")]
            ends = np.cumsum(np.bincount(places, minlength=len(self.keys))).tolist()
            parts = [whole.slice(start, end - start) for start, end in zip([0, *ends], ends, strict=False)]
            some = [place for place, part in enumerate(parts) if part.height]
            yield pa.record_batch(
                {
                    KEY: pa.array([self.keys[place] for place in some], pa.int32()),
                    BLOCK: pa.array([number] * len(some), pa.int32()),
                    "origins": [parts[place][ORIGIN].to_numpy().astype(np.uint32).tobytes() for place in some],
                    "rows": [packed(parts[place]) for place in some],
                }
            )


def left_out(store: Store, drafting: Drafting, look: Callable[[Any], Any]) -> list[Any]:
    """What is seen in the rows of each block that a plan leaves out; ``look`` gets what the input held in them."""
    blocks = drafting.population.blocks
    assert isinstance(blocks, SparkBlocks)
    after = applied(drafting.plan.steps, drafting.population)
    assert isinstance(after, BlockedPopulation)
    with errors_translated(), set_for_a_while(store.session, ONE_BLOCK_AT_A_TIME):
        answers = mapped(store.frame, Leaving(drafting, after, blocks, look), "answer binary").collect()
    return [pickle.loads(row.answer) for row in answers]


@dataclass(frozen=True, eq=False)
class Leaving:
    """Looks at the rows of the blocks of a partition that are left out."""

    drafting: Drafting
    after: BlockedPopulation
    blocks: SparkBlocks
    look: Callable[[Any], Any]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """What is seen, block by block."""
        import pyarrow as pa

        for row in cells(batches):
            block = self.blocks.block(row)
            kept = self.after.seen(block, self.blocks.number(row)).kept
            rows = np.setdiff1d(np.arange(block.height), kept)
            own, beside = self.drafting.own(block, rows), unpacked(row["beside"])
            lost = own.hstack(beside[rows]) if beside.width else own
            yield pa.record_batch({"answer": [pickle.dumps(self.look(self.drafting.originals(lost)))]})


@dataclass(frozen=True, eq=False)
class Mixing:
    """Puts the parts of a piece together, in random order; the same each time."""

    drafting: Drafting
    secrets: dict[int, bytes]

    def released(self, key: int, parts: Parts) -> Any:
        """The released rows of a piece as a PyArrow table, given its parts and the blocks they come from."""
        rows = self._mixed(key, parts, without=OWN)
        return self.drafting.released(rows, self.drafting.shown(rows))

    def original(self, key: int, parts: Parts) -> Original:
        """What the input held in the rows of a piece, in the same order."""
        rows = self._mixed(key, parts)
        claims = self.drafting.claims(self.drafting.shown(rows))
        return Original(self.drafting.originals(rows), rows[ORIGIN].to_numpy(), self.drafting.population.rows, claims)

    def _mixed(self, key: int, parts: Parts, without: str | None = None) -> pl.DataFrame:
        starts = np.cumsum([0, *self.drafting.population.blocks.rows])
        rows = pl.concat(
            unpacked(data, without).with_columns(pl.col(ORIGIN) + starts[block])
            for block, data in sorted(parts, key=lambda part: part[0])
        )
        return rows[permutation(rows.height, KeyedRandomness(self.secrets[key]))]


def partition_keys(session: Any, count: int) -> tuple[int, ...]:
    """For each of so many partitions a number that Spark sends there."""
    from pyspark.sql import functions as sql

    numbers = session.range(64 * count).select(sql.col("id").cast("int").alias("number"))
    place = sql.pmod(sql.hash("number"), sql.lit(count)).alias("place")
    rows = numbers.groupBy(place).agg(sql.min("number")).collect()
    keys = {row[0]: row[1] for row in rows}
    if len(keys) < count:
        raise OutputError("Spark deals rows to partitions in a way that is not known. Nothing was released.")
    return tuple(keys[number] for number in range(count))


def by_piece(rows: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Parts]]:
    """The parts of the pieces in a partition; usually there is one piece."""
    parts: dict[int, list[tuple[int, Any]]] = {}
    for row in rows:
        parts.setdefault(row[KEY], []).append((row[BLOCK], row["rows"]))
    yield from sorted(parts.items())
