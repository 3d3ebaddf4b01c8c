"""A table that is held in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice
from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.engine import EmbeddedEngine
from incrowd.rows.one_machine import Destination, Drafted, OnOneMachine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read_population
from incrowd.tables.reading.source import Origin, Source
from incrowd.tables.recipe import Recipe
from incrowd.tables.roles import settle_schema
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, permutation
from incrowd.vocabulary.requirement import subject_names, with_subjects
from incrowd.vocabulary.schema import ColumnType, Schema

_TYPES: dict[ColumnType, pl.DataType] = {ColumnType.INTEGER: pl.Int64(), ColumnType.REAL: pl.Float64()}
_DIGITS = 17  # a 64-bit number is told apart from all others by so many


def numeric(plan: ReleasePlan) -> dict[str, pl.DataType]:
    """The written columns that come from columns of numbers, and the types numbers have."""
    kinds = {written.name: _TYPES.get(plan.schema[written.source].type) for written in plan.written}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def castable(column: pl.Series, kind: pl.DataType) -> bool:
    """Whether every cell of a text column is such a number, or missing, and the number holds all that the cell says.

    Zeros before a number, more digits than a number has, and numbers beyond its range stay text.

    Examples
    --------
    >>> castable(pl.Series(["39", None]), pl.Int64()), castable(pl.Series(["39", "(1, 2]"]), pl.Int64())
    (True, False)
    >>> castable(pl.Series(["39", "07"]), pl.Int64()), castable(pl.Series(["1e400"]), pl.Float64())
    (False, False)
    """
    numbers = column.cast(kind, strict=False)
    if numbers.null_count() != column.null_count():
        return False
    if kind == pl.Int64():
        return not column.str.contains(r"^[+-]?0[0-9]").any()
    beyond = column.filter(numbers.is_infinite()).str.contains("^[+-]?[0-9.]").any()
    long = column.filter(column.str.len_bytes() > _DIGITS)
    digits = long.str.replace("[eE].*$", "").str.replace_all("[^0-9]", "").str.strip_chars_start("0")
    return not beyond and not (digits.str.len_bytes() > _DIGITS).any()


def with_numbers(frame: pl.DataFrame, types: dict[str, pl.DataType]) -> pl.DataFrame:
    """The frame with these columns as numbers, those of them that are text."""
    return frame.with_columns(
        pl.col(name).cast(kind) for name, kind in types.items() if frame.schema.get(name) == pl.String
    )


def as_numbers(table: Any, types: dict[str, pl.DataType]) -> Any:
    """The same for a PyArrow table."""
    for name, kind in types.items():
        column = pl.Series(table[name]).cast(kind).to_arrow()
        table = table.set_column(table.column_names.index(name), name, column)
    return table


@dataclass(frozen=True, eq=False)
class InMemory(OnOneMachine):
    """The input, read and encoded.

    ``people`` are the population that something is asked of; ``order`` has the input row of each row, if rows were put
    in another order.
    """

    source: Source
    schema: Schema
    table: EncodedTable
    notices: tuple[Notice, ...]
    people: EncodedTable | None = None
    order: npt.NDArray[np.intp] | None = None

    whole: ClassVar[bool] = True
    resources: ClassVar[None] = None
    engine: ClassVar[EmbeddedEngine] = EmbeddedEngine()

    @classmethod
    def of(cls, source: Source, recipe: Recipe, to: Destination) -> InMemory:
        """The table as integer codes, every column with its role and type."""
        schema, doubts = settle_schema(source, recipe)
        schema = with_subjects(recipe.requirement, schema)
        names = tuple(dict.fromkeys([*schema.encoded, *subject_names(recipe.requirement, schema.target)]))
        table, notices = encode(source, schema, names)
        typed = schema.with_types(table.columns)
        people = read_population(recipe.population, recipe.requirement, typed, recipe.reading)
        return cls(
            to=to, source=source, schema=typed, table=table, notices=(*source.notices, *doubts, *notices), people=people
        )

    def reordered(self, order: npt.NDArray[np.intp]) -> InMemory:
        """The same table with its rows in another order."""
        source = replace(self.source, frame=self.source.frame[order])
        table = EncodedTable.of(column.take(order) for column in self.table.columns.values())
        return replace(self, source=source, table=table, order=order)

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return self.source.origin

    @property
    def rows(self) -> int:
        """Number of rows."""
        return self.table.height

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """The encoded columns."""
        return self.table.columns

    def population(self, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""
        return self.engine.population(self.table, self.schema, randomness)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        return self.engine.settle(plan, population)

    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, in one piece."""
        draft = self.engine.draft(plan, population, self.source.frame, randomness)
        frame = _typed(draft.frame, plan) if typed else draft.frame
        origin = draft.origin if self.order is None else self.order[draft.origin]
        yield Drafted(frame.to_arrow(compat_level=pl.CompatLevel.newest()), origin, draft.claims)

    def sample(self, rows: int, /) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
        if self.rows <= rows:
            return self.source
        return replace(self.source, frame=self.source.frame[permutation(self.rows, SystemRandomness())[:rows]])


def _typed(frame: pl.DataFrame, plan: ReleasePlan) -> pl.DataFrame:
    """Text columns that hold numbers throughout, as numbers."""
    texts = {name: kind for name, kind in numeric(plan).items() if frame.schema[name] == pl.String}
    return with_numbers(frame, {name: kind for name, kind in texts.items() if castable(frame[name], kind)})
