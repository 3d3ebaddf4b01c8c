"""The whole way through Spark: from a table that Spark knows to a verified folder of Parquet files.

What the driver sees of the rows: the distinct values of the quasi-identifiers and of the target with their counts,
counts that are asked for, and a sample of at most so many rows as codes. All else stays with the executors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.blocks.drafting import Drafting
from incrowd.rows.blocks.engine import settle_blocks
from incrowd.rows.blocks.population import LARGEST_SAMPLE, BlockedPopulation
from incrowd.rows.spark.blocks import Meaning, SparkBlocks
from incrowd.rows.spark.checking import (
    Compare,
    Reader,
    class_sizes,
    compared,
    rows_used,
    summed_up,
    written_columns,
)
from incrowd.rows.spark.pieces import Pieces, deal, left_out
from incrowd.rows.spark.session import EXACT, set_for_a_while
from incrowd.rows.spark.store import BLOCK_ROWS, Code, Gathered, Store, stored
from incrowd.rows.spark.table import SparkTable, open_table
from incrowd.rows.spark.writing import check_free, staged_folder, write_pieces
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True, eq=False)
class Recounted:
    """What was found in the written files.

    Parameters
    ----------
    columns
        The columns they have.
    sizes
        For each set of columns that was asked for: the sizes of classes, and how many there are of each.
    rows, different
        Rows that were released, and different rows of the input among them.
    pieces
        What the comparison found in each piece.
    input, lost
        What was read of the input, by Spark, and of the rows that were left out.
    """

    columns: Sequence[str]
    sizes: Sequence[Sequence[tuple[int, int]]]
    rows: int
    different: int
    pieces: Iterable[Any]
    input: Sequence[Any]
    lost: Sequence[Any]


@dataclass(frozen=True, eq=False)
class Checks:
    """What is looked at in a written release.

    Parameters
    ----------
    sets
        The sets of released columns by which classes are counted.
    compare
        What compares a written piece with what the input held.
    names, read
        The columns of the input that are read once more, and what is made of them.
    look
        What is seen in rows that are left out, given what the input held in them.
    """

    sets: Sequence[Sequence[str]]
    compare: Compare
    names: Sequence[str]
    read: Reader
    look: Callable[[Any], Any]


class Steps(Protocol):
    """What a release needs that is no engine's business: understanding a table, deciding, judging.

    ``code`` and ``clean`` are run by the executors, and so is what ``comparing`` gives.
    """

    @property
    def code(self) -> Code:
        """Gives the raw codes of a column and the values behind them."""
        ...

    @property
    def clean(self) -> Callable[[pl.DataFrame], pl.DataFrame]:
        """Makes null of markers of missing values in columns that are released as they are."""
        ...

    def schema(self, table: SparkTable) -> Schema:
        """Every column with its role and a first type."""
        ...

    def meanings(self, schema: Schema, found: Mapping[str, Gathered]) -> tuple[Schema, Mapping[str, Meaning]]:
        """What the distinct values become, and the schema with the types they have."""
        ...

    def plan(self, population: BlockedPopulation, columns: Mapping[str, Any]) -> ReleasePlan:
        """What is to be done; means need not be known yet."""
        ...

    def checks(self, columns: Sequence[str], rows: int) -> Checks:
        """What is to be looked at in a release with these columns and so many rows."""
        ...

    def judge(self, plan: ReleasePlan, found: Recounted) -> Any:
        """The verdict; raises unless everything holds."""
        ...


@dataclass(frozen=True, eq=False)
class SparkRelease:
    """A verified release: its plan, the verdict, and the folder it is in."""

    plan: ReleasePlan
    verdict: Any
    folder: str
    session: Any

    @property
    def frame(self) -> Any:
        """The release as a Spark frame."""
        return self.session.read.parquet(self.folder)


def run_spark_release(
    given: Any,
    folder: str,
    steps: Steps,
    *,
    session: Any,
    randomness: Randomness,
    block_rows: int = BLOCK_ROWS,
    largest_sample: int = LARGEST_SAMPLE,
    progress: Callable[[str], None] = lambda _stage: None,
) -> SparkRelease:
    """Release a table that Spark knows.

    Parameters
    ----------
    given
        A Spark frame, the path of Parquet files, or the name of a table.
    folder
        Where the release goes: a folder that does not exist yet, on any file system that Spark can write.
    steps
        How the table is understood, what is decided, and who judges.
    session
        The Spark session.
    randomness
        Where chance comes from.
    block_rows
        Most rows that a Python worker has in memory at once, and about the rows of a written file.
    largest_sample
        Most rows, as codes, that come to the driver for heuristics.
    progress
        Told the name of each stage as it begins.
    """
    with set_for_a_while(session, EXACT):
        check_free(session, folder)
        progress("reading")
        table = open_table(given, session)
        schema = steps.schema(table)
        progress("encoding")
        store = stored(table, schema.encoded, schema.untouched, steps.code, steps.clean, block_rows)
        try:
            schema, meanings = steps.meanings(schema, store.gathered())
            blocks = SparkBlocks.of(store, meanings)
            progress("deciding")
            population = BlockedPopulation.of(blocks, schema, randomness, largest_sample)
            plan = settle_blocks(steps.plan(population, blocks.columns), population, blocks.columns)
            progress("applying")
            drafting = Drafting(plan, population, blocks.columns, randomness, table.schema)
            pieces = deal(store, drafting, randomness, block_rows)
            try:
                with staged_folder(session, folder) as hidden:
                    progress("writing")
                    write_pieces(pieces, table.fields, hidden)
                    progress("verifying")
                    verdict = steps.judge(plan, _recounted(table, store, pieces, steps, hidden))
            finally:
                pieces.forget()
        finally:
            store.forget()
    return SparkRelease(plan, verdict, folder, session)


def _recounted(table: SparkTable, store: Store, pieces: Pieces, steps: Steps, folder: str) -> Recounted:
    session, columns = store.session, written_columns(store.session, folder)
    rows, different = rows_used(pieces, store.listed)
    checks = steps.checks(columns, rows)
    return Recounted(
        columns,
        [class_sizes(session, folder, names) for names in checks.sets],
        rows,
        different,
        compared(pieces, folder, checks.compare),
        summed_up(table, checks.names, checks.read),
        left_out(store, pieces.drafting, checks.look) if pieces.drafting.plan.rows_dropped else (),
    )
