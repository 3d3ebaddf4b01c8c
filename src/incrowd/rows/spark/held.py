"""A table that Spark has: its rows stay with the executors, and its release is a folder of Parquet files.

What the driver gets of the rows: distinct values of the quasi-identifiers and of the target with their counts, counts
that are asked for, and a bounded sample as codes.

Whose rows a block of Spark has: persons as words that are the same in every executor.

A word is 64 bits of a digest of the spelling, made with a secret that goes to the executors and is new each time. Two
persons with the same word would count as one, which is safe. The driver learns how many persons there are, how many
rows one of them has at most, and of cells that are asked about some words: never who they are.
"""

from __future__ import annotations

import hashlib
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice, OutputError, ParameterError
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.blocks.drafting import Drafting, settle_blocks
from incrowd.rows.blocks.population import LARGEST_SAMPLE, BlockedPopulation
from incrowd.rows.spark.blocks import Meaning, SparkBlocks
from incrowd.rows.spark.checking import checked
from incrowd.rows.spark.coarsening import coarsened
from incrowd.rows.spark.counting import RowCounts
from incrowd.rows.spark.drafting import Pieces, deal
from incrowd.rows.spark.session import (
    EXACT,
    ONE_BLOCK_AT_A_TIME,
    cells,
    errors_translated,
    mapped,
    set_for_a_while,
    spark_session,
    unpacked,
)
from incrowd.rows.spark.store import BLOCK_ROWS, COLUMN, OWNER, PLAIN, ROWS, WORD, Gathered, Store, as_words, stored
from incrowd.rows.spark.table import SparkTable, open_table
from incrowd.rows.spark.writing import staged_folder, write_pieces
from incrowd.tables.reading.coarsen import declared_by
from incrowd.tables.reading.draft import Shared, draft_schema
from incrowd.tables.reading.encode import settle
from incrowd.tables.reading.frames import check_types
from incrowd.tables.reading.persons import heavy_person, nobodys_rows, refuse_alike
from incrowd.tables.reading.read import read_population
from incrowd.tables.reading.source import (
    MISSING_MARKERS,
    Origin,
    Source,
    Tally,
    as_coded,
    is_spark_frame,
    spellings,
    without_markers,
)
from incrowd.tables.recipe import Recipe
from incrowd.tables.recipe_checks import PresetDeeds
from incrowd.tables.roles import settled_roles
from incrowd.tables.streams.encode import typed_column
from incrowd.tables.streams.gathering import GatheredColumn, growing, person_texts, plain_texts
from incrowd.verification.request import Hint, Request
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.column_rules import coarsenings
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.requirement import subject_names, with_subjects
from incrowd.vocabulary.resources import Clock
from incrowd.vocabulary.schema import Column, Schema


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
        texts = person_texts(self._unmarked(column))
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


@dataclass(frozen=True, eq=False)
class OnSpark:
    """The input, encoded block by block by the executors."""

    # table, schema, blocks, notices, origin: The table as Spark has it, its columns, its rows as codes, what should
    # be known, where it comes from
    table: SparkTable
    read: SparkTable  # the same before columns were coarsened, which the verification reads
    schema: Schema
    blocks: SparkBlocks
    notices: tuple[Notice, ...]
    origin: Origin
    # folder, hidden: Where the release goes, and the private folder in which it is written first
    folder: str
    hidden: str
    recipe: Recipe  # with what its preset says of the columns
    closing: ExitStack  # what is done when the rows are needed no more
    people: EncodedTable | None = None  # the population, which the driver reads

    writes: ClassVar[str] = "files"
    source: ClassVar[None] = None
    resources: ClassVar[None] = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.blocks.rows)

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """Dictionaries and counts of the encoded columns."""
        return self.blocks.columns

    def population(self, randomness: Randomness) -> BlockedPopulation:
        """The rows, as algorithms know them."""
        owned = self.schema.person is not None
        return BlockedPopulation.of(self.blocks, self.schema, randomness, LARGEST_SAMPLE, owned=owned)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        return settle_blocks(plan, population, self.columns)

    def write(self, plan: ReleasePlan, population: Population, randomness: Randomness) -> WrittenFolder:
        """Write the release to the private folder, a file for each piece."""
        assert isinstance(population, BlockedPopulation)
        assert self.blocks.store is not None
        drafting = Drafting(plan, population, self.columns, randomness, self.table.schema, self.schema.person)
        pieces = deal(self.blocks.store, drafting, randomness, BLOCK_ROWS)
        self.closing.callback(pieces.forget)
        write_pieces(pieces, self.table.fields, self.hidden)
        return WrittenFolder(self, pieces)

    def sample(self, _rows: int, _randomness: Randomness | None = None, /) -> Source:
        """No row leaves the executors."""
        raise ParameterError("Rows of Spark are not sampled. Take a sample, and release it without Spark.")


@dataclass(frozen=True, eq=False)
class WrittenFolder:
    """A release in a private folder, and the rows it was made of, which Spark keeps."""

    held: OnSpark
    pieces: Pieces

    files: ClassVar[tuple[Path, ...]] = ()
    hint: ClassVar[Hint] = Hint(Path(), ())

    def verify(self, request: Request, _progress: Callable[[int, int], None], /) -> Verdict:
        """The verdict, from what executors count in the written files and in the input."""
        return checked(request, self.held.read, self.pieces, self.held.hidden)

    @property
    def table(self) -> SparkTable:
        """The written files as a table."""
        return open_table(self.held.hidden, self.held.table.session)

    def loader(self, _path: Path | None, _place: int = 0, /) -> Callable[[], Any]:
        """What gives the published folder as a Spark frame."""
        return lambda: self.held.table.session.read.parquet(self.held.folder)


@contextmanager
def hold_on_spark(
    source: Any,
    recipe: Recipe,
    clock: Clock,
    *,
    to: Path | None,
    master: str | None = None,
    preset: Callable[[pl.DataFrame], PresetDeeds] | None = None,
) -> Iterator[OnSpark]:
    """Read and encode a Spark frame, a table of Spark's catalog, or Parquet files that Spark can read.

    ``preset``: what a preset does with the columns of a frame; an executor is asked. Whatever Spark keeps of the rows
    is forgotten when the block ends; if it ends well, the release appears at ``to``.
    """
    session = source.sparkSession if is_spark_frame(source) else spark_session(master)
    folder = str(to or _own_folder(session))
    markers = tuple(recipe.reading.get("missing", MISSING_MARKERS))
    with ExitStack() as closing:
        closing.enter_context(set_for_a_while(session, EXACT))
        hidden = closing.enter_context(staged_folder(session, folder))
        with clock("reading"):
            table = open_table(str(source) if isinstance(source, Path) else source, session)
            read, table, coarse = table, *coarsened(table, recipe.reading.get("coarsen"), markers)
            if preset is not None:
                deeds, kinds = _deeds(table, preset, markers)
                table, more = coarsened(table, deeds.rules, markers, deeds.why)
                recipe = replace(recipe, columns=deeds.columns, reading=deeds.reading(recipe.reading))
                coarse = [*coarse, *kinds, *more]
            schema, notices = _roles(table, recipe, markers)
            schema = with_subjects(recipe.requirement, schema)
            names = tuple(dict.fromkeys([*schema.encoded, *subject_names(recipe.requirement, schema.target)]))
        with clock("encoding"):
            persons, clean = recipe.persons, partial(_clean, markers)
            owners = None if persons is None else PersonWords(persons, secrets.token_bytes(32), markers)
            beside = schema.untouched if persons is None else (*schema.untouched, persons.column)
            somebodys, dropped = _with_persons(table, persons, markers)
            store = stored(somebodys, names, beside, raw_codes, clean, BLOCK_ROWS, owners)
            closing.callback(store.forget)
            if persons is not None:
                notices = (*notices, *dropped, *person_notices(store, persons))
            schema, meanings, further = _meanings(store.gathered(), schema, recipe, table.schema, markers)
        blocks = SparkBlocks.of(store, meanings)
        origin = Origin("Spark", table.name, missing=markers)
        reading = {"missing": markers, "coarsen": recipe.reading.get("coarsen")}
        yield OnSpark(
            table=table,
            read=read,
            schema=schema,
            blocks=blocks,
            notices=(*coarse, *notices, *further),
            origin=origin,
            folder=folder,
            hidden=hidden,
            recipe=recipe,
            closing=closing,
            people=read_population(recipe.population, recipe.requirement, schema, reading, recipe.persons),
        )


def _deeds(
    table: SparkTable, preset: Callable[[pl.DataFrame], PresetDeeds], markers: tuple[str, ...]
) -> tuple[PresetDeeds, list[Notice]]:
    """What a preset says of the columns, by all cells or those of a sample, and what should be known of it."""
    counts, names = RowCounts.of(table, markers), check_types(dict(table.schema), 1).kept
    deeds, rows = counts.seen(names, partial(_asked_clean, markers, preset))
    notices = list(deeds.notices)
    if rows < counts.rows:
        message = (
            f"the preset's kinds were looked for in {rows:,} rows drawn at random from {counts.rows:,}. A release that "
            "shows one of safe-harbor's that has a form of its own elsewhere is refused."
        )
        notices.append(Notice("preset-of-a-sample", "", message))
    return deeds, notices


def _asked_clean(markers: Sequence[str], ask: Callable[[pl.DataFrame], Any], frame: pl.DataFrame) -> Any:
    return ask(_clean(markers, frame))


def _with_persons(
    table: SparkTable, persons: Persons | None, markers: tuple[str, ...]
) -> tuple[SparkTable, tuple[Notice, ...]]:
    """The table without rows that have no person, if these are dropped, and what should be known of them."""
    from pyspark.sql import functions as sql

    if persons is None or persons.missing != "drop":
        return table, ()
    cell, kind = sql.col(table.at(persons.column)), table.schema[persons.column]
    missing = cell.isNull()
    if kind == pl.String:
        missing |= cell.isin(spellings(markers))
    elif kind.is_float():
        missing |= sql.isnan(cell)
    with errors_translated():
        rows = int(table.frame.filter(missing).count())
    left = replace(table, frame=table.frame.filter(~missing), groups=None)  # files have all rows
    return left, tuple(nobodys_rows(persons, rows))


def _own_folder(session: Any) -> Path:
    """A folder for a release that goes to no named place; only where all of Spark is on this machine."""
    if not session.sparkContext.master.startswith("local"):
        raise OutputError("State where the release goes: to= a folder that every executor can write.")
    return Path(tempfile.mkdtemp(prefix="incrowd-")) / "release"


def _roles(table: SparkTable, recipe: Recipe, markers: tuple[str, ...]) -> tuple[Schema, tuple[Notice, ...]]:
    """Every column with its role and a first type, and what should be known."""
    shape = check_types(dict(table.schema), 1)
    declared = tuple(declared_by(coarsenings(recipe.reading.get("coarsen"))))
    drafted = table.on_a_sample(partial(_draft, recipe.target, markers, shape.kept, declared))

    def repeats(names: Sequence[str]) -> dict[str, Shared]:
        return {name: Shared(*counts) for name, counts in table.uniqueness(names, spellings(markers)).items()}

    schema, doubts = settled_roles(drafted, recipe, repeats)
    return schema, (*shape.notices, *doubts)


def _meanings(
    gathered: Mapping[str, Gathered],
    schema: Schema,
    recipe: Recipe,
    native: Mapping[str, pl.DataType],
    markers: tuple[str, ...],
) -> tuple[Schema, dict[str, Meaning], list[Notice]]:
    """The schema with the types that distinct values have, what these become, and what should be known."""
    columns, meanings = {column.name: column for column in schema.columns}, {}
    notices: list[Notice] = []
    areas = [column.name for column in declared_by(coarsenings(recipe.reading.get("coarsen")))]
    for name, values in gathered.items():
        known, column = _without_markers(values, markers), columns[name]
        if "type" not in recipe.columns.get(name, {}) and name not in areas:
            column = typed_column(column, known, native[name])
        settled = settle(known.tally, column, markers)
        places = known.places(settled)
        columns[name] = replace(column, type=settled.type)
        notices += settled.notices
        of_values = np.append(places[1:], places[:1])
        meanings[name] = Meaning(settled.type, settled.dictionary, values.values, of_values, settled.counts)
    return Schema(tuple(columns.values())), meanings, notices


def raw_codes(series: pl.Series) -> tuple[Any, pl.Series]:
    """The raw codes of a column and the values behind them; run by an executor."""
    known = growing(series.dtype)
    return known.codes(as_coded(series.to_frame()).to_series()), known.values


def _clean(markers: Sequence[str], frame: pl.DataFrame) -> pl.DataFrame:
    """Null instead of markers, in columns that are released as they are; run by an executor."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    return frame.with_columns(without_markers(texts, spellings(markers)))


def _draft(
    target: str | None,
    markers: tuple[str, ...],
    kept: tuple[str, ...],
    declared: tuple[Column, ...],
    sample: pl.DataFrame,
) -> Schema:
    source = Source.of(sample.select(kept), Origin("parquet", missing=markers))
    return draft_schema(replace(source, declared=declared), target=target)


def _without_markers(gathered: Gathered, markers: Sequence[str]) -> GatheredColumn:
    """The values of a column, markers of missing values counted as null."""
    text = gathered.values.dtype == pl.String
    gone = gathered.values.is_in(spellings(markers)) if text else gathered.values.is_null()
    kept = ~gone.to_numpy()
    nothing = gathered.counts[-1] + gathered.counts[:-1][~kept].sum()
    return GatheredColumn(
        Tally(gathered.values.filter(~gone), np.append(gathered.counts[:-1][kept], nothing)), kept, ()
    )
