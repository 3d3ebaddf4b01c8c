"""A table that is held in blocks on disk, for tables larger than memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.blocks.drafting import Drafting, settle_blocks
from incrowd.rows.blocks.persons import drawn_persons, persons_of
from incrowd.rows.blocks.population import LARGEST_SAMPLE, Answer, BlockedPopulation
from incrowd.rows.memory.held import as_numbers, castable, numeric
from incrowd.rows.one_machine import Destination, Drafted, OnOneMachine
from incrowd.tables.reading.read import read_population
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_stream
from incrowd.tables.streams.encode import Blocks, encode_stream
from incrowd.tables.streams.gathering import PersonNumbers
from incrowd.tables.streams.stream import Stream
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, distinct, keys_of
from incrowd.vocabulary.requirement import subject_names, with_subjects
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Schema

Progress = Callable[[str, int, int], None]
"""Told what is done, how many rows of it are done, and how many there are."""

_OF_A_ROW = 400  # bytes that a row of a block takes while it is worked on, at most, for tables of a few dozen columns
_TIMES_HELD = 4  # copies of the bytes of a row while it is worked on, at most
_OF_A_SAMPLED_CELL = 16  # its code, and its part of the arrays of the tree that is grown
_LARGEST_BLOCK, _SMALLEST_BLOCK = 1 << 20, 1 << 14  # rows; smaller ones cost more time than they save memory
_OF_FEW = 1 << 18  # rows of a block of a table that has fewer than 16 larger ones
_LONG_ROWS = 4 << 20  # bytes: as few rows as have so many
_FOR_BLOCKS, _FOR_SAMPLE = 0.25, 0.25  # of the memory for rows; dictionaries may take as much


@dataclass(frozen=True, eq=False)
class InBlocks(OnOneMachine):
    """The input, encoded block by block."""

    stream: Stream
    schema: Schema
    blocks: Blocks
    notices: tuple[Notice, ...]
    resources: Resources
    progress: Progress

    people: EncodedTable | None = None

    whole: ClassVar[bool] = False
    source: ClassVar[None] = None

    @classmethod
    def of(cls, stream: Stream, recipe: Recipe, resources: Resources, progress: Progress, to: Destination) -> InBlocks:
        """The table as integer codes in the scratch folder, every column with its role and type."""
        assert resources.scratch is not None
        check_blocks(resources, len(stream.columns), stream.bytes_of_a_row)
        schema, doubts, drafted = settle_stream(stream, recipe, resources.scratch)
        schema = with_subjects(recipe.requirement, schema)
        names = tuple(dict.fromkeys([*schema.encoded, *subject_names(recipe.requirement, schema.target)]))
        folder = resources.scratch / "codes"
        folder.mkdir()
        blocks = encode_stream(
            stream,
            schema,
            names,
            folder,
            threads=resources.threads,
            progress=lambda done, rows: progress("encoding", done, rows),
            rows=block_rows(resources, len(stream.columns), stream.bytes_of_a_row, most_rows(stream.rows)),
            drafted=drafted,
            resources=resources,
            persons=None if recipe.persons is None else PersonNumbers(recipe.persons),
        )
        notices = (*stream.notices, *blocks.markers, *doubts, *blocks.notices)
        typed = blocks.schema.with_types(blocks.columns)
        return cls(
            to=to,
            stream=stream,
            schema=typed,
            blocks=blocks,
            notices=notices,
            resources=resources,
            progress=progress,
            people=read_population(recipe.population, recipe.requirement, typed, recipe.reading, recipe.persons),
        )

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return self.stream.origin

    @property
    def rows(self) -> int:
        """Number of rows; without those that are nobody's, if they are left out."""
        return self.blocks.height

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """Dictionaries and counts of the encoded columns."""
        return self.blocks.columns

    @property
    def _store(self) -> LocalBlocks:
        return LocalBlocks(self.blocks.rows, self.blocks.block, self.resources.threads)

    def population(self, randomness: Randomness) -> BlockedPopulation:
        """The rows, as algorithms know them."""
        largest = sample_rows(self.resources, len(self.columns))
        return BlockedPopulation.of(self._store, self.schema, randomness, largest, owned=self.blocks.owned)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        return settle_blocks(plan, population, self.columns)

    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, bucket by bucket."""
        assert self.resources.scratch is not None
        assert isinstance(population, BlockedPopulation)
        folder = self.resources.scratch / "buckets"
        folder.mkdir()
        drafting = Drafting(plan, population, self.columns, randomness, self.stream.schema)
        beside = [written.source for written in plan.written if written.source not in plan.names]
        numbers = {name: kind for name, kind in numeric(plan).items() if typed and self._is_text(name, beside)}
        written, inputs = 0, self.order
        rows = block_rows(self.resources, len(self.stream.columns), self.stream.bytes_of_a_row)
        for draft in drafting.frames(self._beside(beside, numbers), folder, rows):
            origin = draft.origin if inputs is None else inputs[draft.origin]
            yield replace(draft, table=as_numbers(draft.table, numbers), origin=origin)
            written += len(draft.origin)
            self.progress("writing", written, self.rows)

    def _is_text(self, name: str, beside: Sequence[str]) -> bool:
        return name in beside and self.stream.schema[name] == pl.String

    @property
    def owners(self) -> npt.NDArray[np.int64] | None:
        """The person of each row; None if every row is a person."""
        if not self.blocks.owned:
            return None
        return np.concatenate(list(self._store.each(lambda block, _: persons_of(block))))

    @property
    def order(self) -> npt.NDArray[np.int64] | None:
        """The input row of each row of the blocks; None if they have all rows."""
        kept = [self.blocks.kept(place) for place in range(len(self.blocks))]
        if all(rows is None for rows in kept):
            return None
        starts = range(0, len(kept) * self.blocks.stretch, self.blocks.stretch)
        every = zip(starts, kept, self.blocks.rows, strict=True)
        return np.concatenate([start + (np.arange(height) if rows is None else rows) for start, rows, height in every])

    def _beside(self, names: Sequence[str], numbers: dict[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """The columns that are released as they are, block by block; ``numbers`` loses those that are no numbers."""
        done = 0
        for place, whole in enumerate(self.stream.frames(self.blocks.stretch, names)):
            kept = self.blocks.kept(place)
            frame = whole if kept is None else whole[kept]
            for name in [name for name, kind in numbers.items() if not castable(frame[name], kind)]:
                del numbers[name]
            yield frame
            done += frame.height
            self.progress("applying", done, self.rows)

    def sample(self, rows: int, randomness: Randomness | None = None, /) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
        wanted, secret = min(rows, self.rows), randomness or SystemRandomness()
        if self.blocks.owned and wanted < self.rows:
            drawn = drawn_persons(self._store, wanted, keys_of(secret, 1)[0])
            parts = list(self._store.each(drawn))
        else:
            starts = np.cumsum([0, *self.blocks.rows])
            chosen = distinct(self.rows, wanted, secret)
            cut = np.split(chosen, np.searchsorted(chosen, starts[1:-1]))
            parts = [rows - start for rows, start in zip(cut, starts, strict=False)]
        frames = []
        for place, frame in enumerate(self.stream.frames(self.blocks.stretch)):
            kept = self.blocks.kept(place)
            frames.append(frame[parts[place] if kept is None else kept[parts[place]]])
        return Source(pl.concat(frames), self.origin, declared=self.stream.declared)


def block_rows(resources: Resources, columns: int, of_a_row: int = 0, most: int = _LARGEST_BLOCK) -> int:
    """How many rows a block has so that one block for each thread fits into a quarter of the memory for rows.

    ``of_a_row`` are the bytes that a row has in the file; texts are held several times on their way.
    """
    memory = resources.share(_FOR_BLOCKS)
    if memory is None:
        return most
    fitting = memory // (resources.threads * _row_bytes(columns, of_a_row))
    return int(np.clip(1 << max(0, fitting.bit_length() - 1), _least_rows(of_a_row), most))


def most_rows(rows: int) -> int:
    """The rows of a block of a table of so many, if memory does not limit it: a large table has no more than it needs.

    Examples
    --------
    >>> most_rows(1_000_000), most_rows(10_000_000), most_rows(100_000_000)
    (262144, 524288, 1048576)
    """
    return min(_LARGEST_BLOCK, max(_OF_FEW, 1 << max(0, (rows // 16).bit_length() - 1)))


def check_blocks(resources: Resources, columns: int, of_a_row: int) -> None:
    """Refuse a table whose smallest blocks are too large for the memory."""
    least = _least_rows(of_a_row) * resources.threads * _row_bytes(columns, of_a_row)
    resources.check_fits(least, _FOR_BLOCKS, f"A table of {columns:,} columns with {of_a_row:,} bytes a row")


def _least_rows(of_a_row: int) -> int:
    """Smaller blocks cost more time than they save memory, unless rows are long."""
    return int(np.clip(_LONG_ROWS // max(1, of_a_row), 1 << 10, _SMALLEST_BLOCK))


def _row_bytes(columns: int, of_a_row: int) -> int:
    """What a row of a block takes while it is worked on."""
    return _OF_A_ROW + 16 * columns + _TIMES_HELD * of_a_row


def sample_rows(resources: Resources, columns: int) -> int:
    """How many rows heuristics see so that they and the tree grown on them fit into a quarter of the memory."""
    memory = resources.share(_FOR_SAMPLE)
    if memory is None:
        return LARGEST_SAMPLE
    return int(np.clip(memory // (_OF_A_SAMPLED_CELL * (columns + 4)), _SMALLEST_BLOCK, LARGEST_SAMPLE))


@dataclass(frozen=True, eq=False)
class LocalBlocks:
    """Blocks of this machine: ``load`` gives a block by its number. Some are asked at the same time."""

    rows: Sequence[int]
    load: Callable[[int], EncodedTable]
    threads: int = 2

    here: ClassVar[bool] = True

    def each(self, ask: Callable[[EncodedTable, int], Answer]) -> Iterator[Answer]:
        """The answers in order; no more blocks are in memory than there are threads, and no more answers wait."""
        if self.threads == 1 or len(self.rows) == 1:
            yield from (ask(self.load(place), place) for place in range(len(self.rows)))
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[Answer]] = deque()
            for place in range(len(self.rows)):
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(lambda place: ask(self.load(place), place), place))
            while waiting:
                yield waiting.popleft().result()
