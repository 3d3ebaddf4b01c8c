"""Invented tables on which methods are tried: awkward ones, and random ones with ties, gaps and empty columns.

A table in memory that is worked on in blocks: it shows that where rows live changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.method import Population, applied
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.blocks.drafting import settle_blocks
from incrowd.rows.blocks.held import LocalBlocks
from incrowd.rows.blocks.population import BlockedPopulation
from incrowd.rows.memory.drafting import claims, draft_columns, shown_forms
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable, OwnedTable, WholeColumn
from incrowd.vocabulary.randomness import Randomness, permutation
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema

TARGET = "class"
KINDS = (ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER, ColumnType.REAL)


@dataclass(frozen=True, eq=False)
class Case:
    """A table as plain Python rows, encoded, with its schema; and the person of each row, if rows are not persons."""

    rows: list[dict[str, Any]]
    table: EncodedTable
    schema: Schema
    owners: Codes | None = None

    @property
    def persons(self) -> int:
        """How many persons there are."""
        return len(self.rows) if self.owners is None else len(np.unique(self.owners))

    @property
    def names(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(self.schema.quasi_identifiers)

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as a frame."""
        return pl.DataFrame(
            [self.table[name].dictionary.gather(_nullable(self.table[name])).alias(name) for name in self.schema.names]
        )


def _nullable(column: EncodedColumn) -> pl.Series:
    missing = column.missing_code
    return pl.Series([None if code == missing else code for code in column.codes.tolist()], dtype=pl.Int64)


@dataclass(frozen=True)
class RandomAttribute:
    """A random attribute: its type, how many values it has, and which share of its cells is missing."""

    kind: ColumnType
    size: int
    missing: float


def random_case(
    rng: np.random.Generator, height: int, attributes: Sequence[RandomAttribute], classes: int, *, follows: bool = False
) -> Case:
    """A table of random cells; its class is random, or follows the first attribute."""
    columns, schema = [], []
    for place, attribute in enumerate(attributes):
        column = _random_column(rng, f"a{place}", attribute, height)
        columns.append(column)
        order = tuple(column.dictionary.to_list()) if attribute.kind is ColumnType.ORDERED else ()
        schema.append(Column(column.name, Role.QUASI_IDENTIFIER, attribute.kind, order))
    labels = rng.integers(0, classes, height).astype(np.int32)
    if follows and columns:
        labels = (columns[0].codes % 2).astype(np.int32)
    words = pl.Series(["x", "y", "z"][: int(labels.max()) + 1])
    columns.append(EncodedColumn(TARGET, ColumnType.CATEGORICAL, labels, words))
    schema.append(Column(TARGET, Role.TARGET, ColumnType.CATEGORICAL))
    values = {c.name: [*c.dictionary.to_list(), None] for c in columns}
    rows = [{c.name: values[c.name][c.codes[row]] for c in columns} for row in range(height)]
    return Case(rows, EncodedTable.of(columns), Schema(tuple(schema)))


def _random_column(rng: np.random.Generator, name: str, attribute: RandomAttribute, height: int) -> EncodedColumn:
    size = attribute.size
    codes: npt.NDArray[Any] = rng.integers(0, size, height) if size else np.zeros(height, int)
    codes = np.where(rng.random(height) < attribute.missing, size, codes).astype(np.int32)
    used = np.unique(codes[codes < size])
    lookup = np.full(size + 1, len(used), np.int32)
    lookup[used] = np.arange(len(used), dtype=np.int32)
    dictionary = _dictionary(attribute.kind, size).gather(used.astype(np.int64))
    return EncodedColumn(name, attribute.kind, lookup[codes], dictionary)


def _dictionary(kind: ColumnType, size: int) -> pl.Series:
    if kind is ColumnType.INTEGER:
        return pl.Series([3 * i - 4 for i in range(size)], dtype=pl.Int64)
    if kind is ColumnType.REAL:
        return pl.Series([0.1 * i**2 - 1 for i in range(size)], dtype=pl.Float64)
    return pl.Series([f"v{i}" for i in range(size)], dtype=pl.String)


def any_case(rng: np.random.Generator) -> Case:
    """A small random table of any shape."""
    attributes = [
        RandomAttribute(KINDS[rng.integers(len(KINDS))], int(rng.integers(6)), float(rng.choice([0.0, 0.0, 0.1, 0.5])))
        for _ in range(rng.integers(1, 5))
    ]
    return random_case(rng, int(rng.integers(2, 60)), attributes, int(rng.integers(1, 4)), follows=rng.random() < 0.5)


def owned(case: Case, owners: npt.ArrayLike) -> Case:
    """The table with a person for each row."""
    codes = np.unique(np.asarray(owners), return_inverse=True)[1]
    return replace(case, owners=codes.astype(np.int32))


def random_owners(rng: np.random.Generator, height: int) -> npt.NDArray[np.int64]:
    """A random person for each row: all alike, or some with far more rows than others."""
    persons = int(rng.integers(1, height + 1))
    weights = rng.pareto(1.0, persons) + 0.01 if rng.random() < 0.5 else np.ones(persons)
    return rng.choice(persons, height, p=weights / weights.sum())


def fixed(columns: Mapping[str, Sequence[Any]], labels: Sequence[str | None]) -> Case:
    """A table from plain columns: text is a category, numbers are numbers."""
    encoded, schema = [], []
    for name, values in {**columns, TARGET: labels}.items():
        known = sorted({value for value in values if value is not None})
        kind, dtype = _kind(known)
        place = {value: i for i, value in enumerate(known)} | {None: len(known)}
        codes = np.array([place[value] for value in values], np.int32)
        encoded.append(EncodedColumn(name, kind, codes, pl.Series(known, dtype=dtype)))
        schema.append(Column(name, Role.TARGET if name == TARGET else Role.QUASI_IDENTIFIER, kind))
    rows = [dict(zip([*columns, TARGET], row, strict=True)) for row in zip(*columns.values(), labels, strict=True)]
    return Case(rows, EncodedTable.of(encoded), Schema(tuple(schema)))


def _kind(known: Sequence[Any]) -> tuple[ColumnType, Any]:
    if not known or isinstance(known[0], str):
        return ColumnType.CATEGORICAL, pl.String
    return (ColumnType.INTEGER, pl.Int64) if isinstance(known[0], int) else (ColumnType.REAL, pl.Float64)


N = 60
HALF = ["x" if i % 2 else "y" for i in range(N)]
AWKWARD = {
    "one value": fixed({"a": ["v"] * N}, HALF),
    "nothing but missing": fixed({"a": [None] * N, "b": [None] * N}, HALF),
    "a different value in every row": fixed({"a": [f"v{i}" for i in range(N)]}, HALF),
    "a different number in every row": fixed({"a": list(range(N))}, HALF),
    "values with separators": fixed({"a": [["a|b", "c%7C", "(1, 2]", "%"][i % 4] for i in range(N)]}, HALF),
    "huge numbers": fixed({"a": [[2**62, -(2**63), 2**53 + 1][i % 3] for i in range(N)]}, HALF),
    "numbers that cancel": fixed({"a": [[1e16, 1.0, -1e16, 1e-300][i % 4] for i in range(N)]}, HALF),
    "the class itself": fixed({"a": HALF}, HALF),
    "a class with nobody's value": fixed({"a": ["v"] * N}, [None if i % 9 == 0 else "x" for i in range(N)]),
    "many classes": fixed({"a": [str(i % 7) for i in range(N)]}, [f"c{i}" for i in range(N)]),
    "one who is missing": fixed({"a": [None] + ["v"] * (N - 1)}, HALF),
    "one row": fixed({"a": ["v"]}, ["x"]),
    "two rows": fixed({"a": ["v", None]}, ["x", "y"]),
    "skew": fixed({"a": ["v"] * (N - 2) + ["w"] * 2, "b": [1] * (N - 2) + [2, 3]}, HALF),
}
"""Tables that methods stumble over, by what is awkward in them."""


SHARED = {
    "one row each": owned(AWKWARD["skew"], range(N)),
    "one person": owned(AWKWARD["a different number in every row"], [0] * N),
    "one person with half of all rows": owned(AWKWARD["a different number in every row"], [*[0] * 30, *range(1, 31)]),
    "everybody everywhere": owned(fixed({"a": [f"v{i % 4}" for i in range(N)]}, HALF), [i // 4 for i in range(N)]),
    "nobody in two places": owned(AWKWARD["the class itself"], [i % 2 * 7 + i // 8 for i in range(N)]),
    "persons who miss a value once": owned(AWKWARD["one who is missing"], [i // 3 for i in range(N)]),
}
"""Tables in which persons have several rows, by what is awkward in them."""


def new_rows(case: Case) -> tuple[EncodedTable, pl.DataFrame]:
    """Four rows with values that no plan of the table has seen: other categories, numbers far out, nothing at all."""
    columns, frame = [], {}
    for column in case.schema.columns:
        if column.role is not Role.QUASI_IDENTIFIER:
            continue
        old = case.table[column.name].dictionary
        if column.type.is_numeric:
            values = pl.Series([-(10**9), *old.to_list()[:1], 10**9], dtype=old.dtype).unique().sort()
        else:
            values = pl.Series(["never seen", *old.to_list()[:1]], dtype=pl.String)
        codes = np.arange(len(values) + 1, dtype=np.int32)[np.arange(4) % (len(values) + 1)]
        columns.append(EncodedColumn(column.name, column.type, codes, values))
        plain = [*values.to_list(), None]
        frame[column.name] = pl.Series([plain[code] for code in codes], dtype=values.dtype)
    return EncodedTable.of(columns), pl.DataFrame(frame)


@dataclass(frozen=True)
class BlockedEngine:
    """Cuts a table into blocks of so many rows and works on each by itself.

    One after the other: to hand a few rows to another thread takes longer than to work on them.
    """

    block_rows: int = 1 << 20
    largest_sample: int = 1_000_000
    threads: int = 1

    def population(
        self, table: EncodedTable, schema: Schema, randomness: Randomness, owners: Codes | None = None
    ) -> BlockedPopulation:
        """The rows, as algorithms know them; ``owners`` has the person of each, if rows are not persons."""
        starts = range(0, max(table.height, 1), self.block_rows)
        ranges = [np.arange(start, min(start + self.block_rows, table.height)) for start in starts]
        whole = table if owners is None else OwnedTable(table.columns, table.height, owners)
        blocks = LocalBlocks([len(rows) for rows in ranges], lambda place: whole.take(ranges[place]), self.threads)
        return BlockedPopulation.of(blocks, schema, randomness, self.largest_sample, owned=owners is not None)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and compute what only the rows tell."""
        assert isinstance(population, BlockedPopulation)
        parts = list(population.blocks.each(lambda block, _: _without_rows(block)))
        totals = {name: np.sum([part[name].counts for part in parts], axis=0) for name in parts[0]}
        columns = {name: replace(column, total=totals[name]) for name, column in parts[0].items()}
        return settle_blocks(plan, population, columns)

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table, rows in random order."""
        after = applied(plan.steps, population)
        assert isinstance(after, BlockedPopulation)
        starts = np.concatenate([[0], np.cumsum(after.blocks.rows)]).tolist()
        kept, shown = [], []
        for place, (rows, forms) in enumerate(after.blocks.each(lambda b, p: _shown(plan, after, b, p))):
            kept.append(rows + starts[place])
            shown.append(forms)
        rows = np.concatenate(kept)
        order = permutation(len(rows), randomness)
        whole = {name: np.concatenate([one[name] for one in shown])[order] for name in plan.names}
        return Draft(draft_columns(plan, whole, source, rows[order]), rows[order], claims(plan, whole))

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order; each row by itself."""
        return EmbeddedEngine().transform(plan, table, source)


def _without_rows(block: EncodedTable) -> dict[str, WholeColumn]:
    """The columns of a block without its codes, with the rows of each value."""
    return {
        name: WholeColumn(name, column.type, column.codes[:0], column.dictionary, total=column.counts)
        for name, column in block.columns.items()
    }


def _shown(
    plan: ReleasePlan, after: BlockedPopulation, block: EncodedTable, place: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], dict[str, np.ndarray[tuple[int], np.dtype[np.int32]]]]:
    """The rows of a block that are kept, and what they show."""
    seen = after.seen(block, place)
    return seen.kept, {name: codes[seen.kept] for name, codes in shown_forms(plan, seen).items()}
