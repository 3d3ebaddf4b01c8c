"""A table in blocks, as algorithms know it: every answer is the sum of the answers of its blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import ParameterError
from incrowd.methods.method import Combinations, PopulationPart, Presence
from incrowd.plan.steps import Bin, Hide, Place, Recode, Seat
from incrowd.rows.blocks.persons import drawn_persons, joined, marks_of, named, persons_of
from incrowd.rows.memory.population import EmbeddedPopulation, Shares, combine, first_rows
from incrowd.trees.compiled import compiled
from incrowd.trees.tree import Tree
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, OwnedTable
from incrowd.vocabulary.randomness import KeyedRandomness, Randomness, distinct, keys_of
from incrowd.vocabulary.schema import ColumnType, Schema

# Where blocks live: in memory, on a disk, or in the executors of Spark.
Answer = TypeVar("Answer")


class BlockStore(Protocol):
    """A table in blocks of rows; all of them have the same columns and dictionaries."""

    @property
    def rows(self) -> Sequence[int]:
        """The rows of each block."""

    @property
    def here(self) -> bool:
        """Whether rows are on this machine, so that whoever decides may hold some of them."""

    def each(self, ask: Callable[[EncodedTable, int], Answer]) -> Iterator[Answer]:
        """The answer for each block and its number, in order. What is asked for must be small."""


# How many of the things that are drawn are good ones: the hypergeometric law, by inversion.
@compiled
def good_ones(good: int, bad: int, drawn: int, chance: float) -> int:
    """How many of ``drawn`` things, taken from ``good`` and ``bad`` ones without putting back, are good.

    ``chance`` is uniform in [0, 1). The outcomes are visited from the likeliest one outwards, and the one is taken in
    whose share of [0, 1) the chance falls; so the work grows with the spread of the law, not with the numbers.
    """
    least, most = max(0, drawn - bad), min(good, drawn)
    middle = min(most, max(least, int((drawn + 1.0) * (good + 1.0) / (good + bad + 2.0))))
    share = math.exp(_choices(good, middle) + _choices(bad, drawn - middle) - _choices(good + bad, drawn))
    chance -= share
    if chance < 0:
        return middle
    up, down, above, below = middle, middle, share, share
    while up < most or down > least:
        if up < most:
            above *= (good - up) / (up + 1.0) * (drawn - up) / (bad - drawn + up + 1.0)
            up += 1
            chance -= above
            if chance < 0:
                return up
        if down > least:
            below *= down / (good - down + 1.0) * (bad - drawn + down) / (drawn - down + 1.0)
            down -= 1
            chance -= below
            if chance < 0:
                return down
        if above < 1e-300 and below < 1e-300:
            break  # what is left is smaller than the rounding of the chance itself
    return middle


@compiled
def _choices(total: int, chosen: int) -> float:
    """The logarithm of the number of ways to choose."""
    return math.lgamma(total + 1.0) - math.lgamma(chosen + 1.0) - math.lgamma(total - chosen + 1.0)


# How many of a block's rows go where: draws for the whole table, shared out over its blocks.
Counts = npt.NDArray[np.int64]


def allot(sizes: Sequence[int] | Counts, count: int, randomness: Randomness) -> Counts:
    """How many of ``count`` things, drawn from piles of the given sizes, come from each pile.

    Every set of that many things is equally likely, up to the rounding of
    the law's shares: below one in a hundred thousand for a billion things.
    """
    left, wanted = int(np.sum(sizes, dtype=np.int64)), count
    if count > left:
        raise ValueError("more things asked for than there are")
    taken = np.zeros(len(sizes), np.int64)
    for place, size in enumerate(sizes):
        left -= int(size)
        if 0 < wanted < left + size and size > 0:
            taken[place] = good_ones(int(size), left, wanted, _chance(randomness))
        else:
            taken[place] = size if wanted else 0
        wanted -= int(taken[place])
    return taken


def _chance(randomness: Randomness) -> float:
    """A uniform number in [0, 1)."""
    return float(randomness.words(1)[0] >> np.uint64(11)) * 2.0**-53


def allotted(shares: Shares, counts: Counts, randomness: Randomness) -> list[Shares]:
    """The shares of each block, given how many rows of it (blocks x cells) rest in each cell.

    Those of all blocks add up to those that are given; every way to deal the rows of a cell is equally likely.
    """
    shares.check(counts.sum(axis=0))
    taken = counts[:, shares.cell]
    for cell in np.flatnonzero(shares.divided):
        left = counts[:, cell]
        for part in range(*np.searchsorted(shares.cell, [cell, cell + 1])):
            taken[:, part] = allot(left, int(shares.rows[part]), randomness)
            left = left - taken[:, part]
    return [shares.of_block(rows) for rows in taken]


LARGEST_SAMPLE = 1_000_000  # rows that heuristics see, to bound their time and memory
REMEMBERED = 16  # times as many rows as heuristics see: of so many it is kept where they rest, in 4 bytes each
Change = Callable[[EmbeddedPopulation, int], EmbeddedPopulation]


@dataclass(eq=False)
class Rests:
    """Where the rows of a block rest, after some change, in the tree that was asked about last."""

    change: Change | None
    routed: dict[int, tuple[Tree, Codes]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class BlockedPopulation:
    """Encoded quasi-identifiers and target in blocks, and what was done to them so far."""

    # blocks, schema, randomness: The rows, their columns, and where draws come from
    blocks: BlockStore
    schema: Schema
    randomness: Randomness
    keys: tuple[bytes, ...]  # the chance of each block: a step that is applied to it again draws the same
    changes: tuple[Change, ...] = ()  # the steps so far, as what they do to a block and its number
    largest_sample: int = LARGEST_SAMPLE  # heuristics see at most so many rows
    # Whether a step looked at more than the cells of each row by itself: rows were dealt to groups, or hidden
    placed: bool = False
    owned: bool = False  # whether blocks say whose rows they have (:class:`OwnedTable`), and persons are counted
    # The rows before the last step; what they show of a sample is known already
    before: BlockedPopulation | None = field(default=None, repr=False)
    _next: dict[int, tuple[Any, BlockedPopulation]] = field(default_factory=dict, repr=False)
    _rests: dict[tuple[int, int], Rests] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls,
        blocks: BlockStore,
        schema: Schema,
        randomness: Randomness,
        largest_sample: int = LARGEST_SAMPLE,
        *,
        owned: bool = False,
    ) -> BlockedPopulation:
        """The rows before any step."""
        return cls(
            blocks=blocks,
            schema=schema,
            randomness=randomness,
            keys=keys_of(randomness, len(blocks.rows)),
            changes=(),
            largest_sample=largest_sample,
            owned=owned,
        )

    def __getstate__(self) -> dict[str, Any]:
        """What travels to where blocks are: without what is remembered of earlier answers."""
        return {name: value for name, value in vars(self).items() if name not in ("_sample", "_drawn", "_owners")} | {
            "_next": {},
            "_rests": {},
            "before": None,
        }

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(self.blocks.rows)

    def seen(self, block: EncodedTable, place: int) -> EmbeddedPopulation:
        """A block after all steps."""
        owners = block.owners if isinstance(block, OwnedTable) else None
        population = EmbeddedPopulation(block, self.schema, KeyedRandomness(self.keys[place]), owners=owners)
        population = self._remembering(population, place, 0)
        for number, change in enumerate(self.changes, 1):
            population = self._remembering(change(population, place), place, number)
        return population

    def _remembering(self, population: EmbeddedPopulation, place: int, number: int) -> EmbeddedPopulation:
        """A block after so many changes, with what is known of where its rows rest, unless there are too many."""
        if self.rows > REMEMBERED * self.largest_sample:
            return population
        change = self.changes[number - 1] if number else None
        rests = self._rests.get((place, number))
        if rests is None or rests.change is not change:
            rests = self._rests[place, number] = Rests(change)
        return replace(population, _routed=rests.routed)

    def added(self, ask: Callable[[EmbeddedPopulation], Counts]) -> Counts:
        """The sum of the answers of all blocks."""
        total: Counts | None = None
        for answer in self.blocks.each(lambda block, place: ask(self.seen(block, place))):
            total = answer if total is None else total + answer
        assert total is not None
        return total

    @cached_property
    def _sample(self) -> EncodedTable:
        if self.before is not None and not self.placed:
            seen = EmbeddedPopulation(self.before.sample(), self.schema, self.randomness)
            return self.changes[-1](seen, 0).sample()
        drawn = self._drawn

        def taken(block: EncodedTable, place: int) -> EncodedTable:
            rows = drawn(block, place)
            if len(rows) == block.height:
                return self.seen(block, place).sample()
            if self.placed:
                return self.seen(block, place).sample().take(rows)
            return self.seen(block.take(rows), place).sample()

        return stacked(list(self.blocks.each(taken)))

    @cached_property
    def _drawn(self) -> Callable[[EncodedTable, int], npt.NDArray[np.intp]]:
        """What gives the rows of a block that heuristics see; persons are the same ones after every step."""
        if self.before is not None and self.owned:
            return self.before._drawn
        rows, wanted = self.blocks.rows, min(self.rows, self.largest_sample)
        if wanted == self.rows:
            return lambda block, _: np.arange(block.height)
        if self.owned:
            return drawn_persons(self.blocks, wanted, keys_of(self.randomness, 1)[0])
        taken = allot(rows, wanted, self.randomness).tolist()
        return lambda block, place: distinct(
            block.height, taken[place], KeyedRandomness(self.keys[place] + b"sample")
        ).astype(np.intp)

    def sample(self) -> EncodedTable:
        """All rows, or as many as heuristics may see, drawn at random."""
        return self._sample

    def count(self, tree: Tree) -> Counts:
        """Rows that come to rest at each node, class by class."""
        return self.added(lambda population: population.count(tree))

    def histograms(self, tree: Tree, name: str) -> Counts:
        """Rows that come to rest at each node, by their value of a column."""
        return self.added(lambda population: population.histograms(tree, name))

    @property
    def owners(self) -> Codes | None:
        """The person of each row of the sample, numbered from 0 on; None if every row is a person."""
        return self._owners if self.owned else None

    @cached_property
    def _owners(self) -> Codes:
        if self.before is not None:
            return self.before._owners
        drawn = self._drawn
        owners = self.blocks.each(lambda block, place: persons_of(block)[drawn(block, place)])
        return np.unique(np.concatenate(list(owners)), return_inverse=True)[1].astype(np.int32)

    def presence(self, of: Tree | Sequence[str], names: Sequence[str] = (), most: int | None = None) -> Presence:
        """Who is where: what blocks tell, each entry once. A person has one number in all blocks."""

        def there(block: EncodedTable, place: int) -> tuple[Presence, npt.NDArray[np.int32]]:
            seen = self.seen(block, place)
            here = seen.presence(of, names, most).distinct(most)
            cells = np.empty((0, 0), np.int32) if isinstance(of, Tree) else seen.combinations(of).codes
            return named(here, block), cells

        parts, combinations = zip(*self.blocks.each(there), strict=True)
        if not isinstance(of, Tree):
            parts = tuple(_renumbered(parts, combinations))
        return joined(parts).distinct(most)

    def contingency(self, name: str) -> Counts:
        """Rows per code of an attribute and class."""
        return self.added(lambda population: population.contingency(name))

    def combinations(self, names: Sequence[str]) -> Combinations:
        """The combinations of these attributes that occur among the rows that are not left out."""
        return merged(list(self.blocks.each(lambda block, place: self.seen(block, place).combinations(names))))

    def bin(self, step: Bin) -> BlockedPopulation:
        """The same rows, the step's attributes seen as the bins they lie in."""
        return self._once(step, lambda: lambda population, _: population.bin(step))

    def recode(self, step: Recode) -> BlockedPopulation:
        """The same rows, the step's attributes seen as the parts their values belong to."""
        return self._once(step, lambda: lambda population, _: population.recode(step))

    def hide(self, step: Hide) -> BlockedPopulation:
        """The same rows, nothing shown of the step's attributes where their combination is rare in the whole table."""

        def hiding() -> Change:
            combinations = self.combinations(step.names)
            sizes = combinations.sizes
            if self.owned:
                sizes = np.bincount(self.presence(step.names, (), step.below).cells, minlength=len(sizes))
            rare = map(tuple, combinations.codes[sizes < step.below].tolist())
            whole = replace(step, below=0, also=(*step.also, *rare))
            return lambda population, _: population.hide(whole)

        return self._once(step, hiding, placed=True)

    def place(self, step: Place) -> BlockedPopulation:
        """The same rows, dealt to groups; the same step gives the same groups again."""

        def placing() -> Change:
            counts = np.stack(list(self.blocks.each(lambda block, place: self.seen(block, place).resting(step))))
            shares = allotted(Shares.of(step), counts, self.randomness)
            return lambda population, place: population.dealt(step, shares[place])

        return self._once(step, placing, placed=True)

    def parts(self, rows: int) -> Iterator[PopulationPart]:
        """All rows, dealt at random; where few enough rows are not in one part, each part is put together by itself."""
        count = self.rows // max(1, min(rows, self.largest_sample))
        if count < 2 and self.rows <= self.largest_sample:
            seen = EmbeddedPopulation(self.sample(), self.schema, self.randomness, owners=self.owners)
            yield PopulationPart(np.arange(self.rows), seen)
            return
        if not self.blocks.here:
            raise ParameterError(
                f"This method looks at rows, and {self.rows:,} are more than the driver of Spark may hold. Choose a "
                "method that works on counts, such as infogain-mondrian, or release without Spark."
            )
        part_of, starts = self._dealt(count), np.cumsum([0, *self.blocks.rows])
        for number in range(count):
            mine = [np.flatnonzero(each == number) for each in part_of]
            yield PopulationPart(
                np.concatenate([some + start for some, start in zip(mine, starts, strict=False)]), self._of(mine)
            )

    def _dealt(self, count: int) -> list[npt.NDArray[np.uint32]]:
        """The part of each row, block by block: by its person, or by a draw of its own."""
        key = keys_of(self.randomness, 1)[0]

        def dealt(block: EncodedTable, place: int) -> npt.NDArray[np.uint32]:
            if self.owned:
                return (marks_of(block, key) % np.uint64(count)).astype(np.uint32)
            words = KeyedRandomness(self.keys[place] + key).words(block.height)
            return (words % np.uint64(count)).astype(np.uint32)

        return list(self.blocks.each(dealt))

    def _of(self, rows: Sequence[npt.NDArray[np.intp]]) -> EmbeddedPopulation:
        """Some rows of each block, together."""

        def taken(block: EncodedTable, place: int) -> tuple[EncodedTable, npt.NDArray[np.int64] | None]:
            persons = persons_of(block)[rows[place]] if self.owned else None
            if self.placed:
                return self.seen(block, place).table.take(rows[place]), persons
            return self.seen(block.take(rows[place]), place).table, persons

        tables, persons = zip(*self.blocks.each(taken), strict=True)
        owners = np.unique(np.concatenate(persons), return_inverse=True)[1].astype(np.int32) if self.owned else None
        return EmbeddedPopulation(stacked(tables), self.schema, self.randomness, owners=owners)

    def seat(self, step: Seat) -> BlockedPopulation:
        """The same rows, each in the group the step gives it; rows are in the order of the blocks."""

        def seating() -> Change:
            parts = np.split(step.known, np.cumsum(self.blocks.rows)[:-1])
            return lambda population, place: population.seat(_seats_of(parts[place], len(step.sizes)))

        return self._once(step, seating, placed=True)

    def _once(self, step: object, make: Callable[[], Change], *, placed: bool = False) -> BlockedPopulation:
        """The population after a step; asked again, the same one."""
        if id(step) not in self._next:
            after = replace(self, changes=(*self.changes, make()), placed=self.placed or placed, before=self, _next={})
            self._next[id(step)] = (step, after)
        return self._next[id(step)][1]


def _seats_of(seats: npt.NDArray[np.int32], groups: int) -> Seat:
    """The seats of one block."""
    return Seat(tuple(np.bincount(seats, minlength=groups).tolist()), seats)


def _renumbered(parts: Sequence[Presence], combinations: Sequence[npt.NDArray[np.int32]]) -> Iterator[Presence]:
    """The same with combinations numbered over all blocks, as :func:`merged` lists them."""
    codes = np.concatenate(combinations)
    numbers, _ = combine([_as_column(codes[:, place]) for place in range(codes.shape[1])], len(codes))
    ends = np.cumsum([len(each) for each in combinations])
    for part, mine in zip(parts, np.split(numbers, ends[:-1]), strict=True):
        yield replace(part, cells=mine[part.cells])


def stacked(tables: Sequence[EncodedTable]) -> EncodedTable:
    """The rows of all tables; numbers without a common dictionary (groups) are renumbered over all."""
    first = tables[0]
    return EncodedTable.of(_stacked([table[name] for table in tables]) for name in first.columns)


def _stacked(columns: Sequence[EncodedColumn]) -> EncodedColumn:
    longest = max(columns, key=lambda column: len(column.dictionary))
    width = len(longest.dictionary)
    codes = [np.where(c.codes == c.missing_code, width, c.codes).astype(np.int32) for c in columns]
    return EncodedColumn(longest.name, longest.type, np.concatenate(codes), longest.dictionary)


def merged(parts: Sequence[Combinations]) -> Combinations:
    """Combinations of several tables with the same dictionaries, in lexical order, each once."""
    codes = np.concatenate([part.codes for part in parts])
    counts = np.concatenate([part.counts for part in parts])
    columns = [_as_column(codes[:, place]) for place in range(codes.shape[1])]
    numbers, count = combine(columns, len(codes))
    total = np.zeros((count, counts.shape[1]), np.int64)
    np.add.at(total, numbers, counts)
    return Combinations(codes[first_rows(numbers, count)], total)


def _as_column(codes: npt.NDArray[np.int32]) -> EncodedColumn:
    width = int(codes.max(initial=-1)) + 1
    return EncodedColumn("", ColumnType.INTEGER, codes, pl.int_range(width, eager=True))
