"""What a release asks of the rows, wherever they are held, and what an engine does with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.errors import Notice
from incrowd.methods.population import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True, eq=False)
class Drafted:
    """Some released rows in random order as a PyArrow table, and the input row of each.

    ``claims`` has the ends of the interval behind each number that is a middle.
    """

    table: Any
    origin: Any
    claims: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)


class Held(Protocol):
    """A table that was read and encoded."""

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        ...

    @property
    def schema(self) -> Schema:
        """Every column with its role and type."""
        ...

    @property
    def notices(self) -> tuple[Notice, ...]:
        """What was handled, and should be known."""
        ...

    @property
    def rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def resources(self) -> Resources | None:
        """What the work may use, if it is limited."""
        ...

    @property
    def columns(self) -> Mapping[str, EncodedColumn]:
        """Dictionaries and counts of the quasi-identifiers and the target."""
        ...

    def population(self, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""
        ...

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell."""
        ...

    def drafts(
        self, plan: ReleasePlan, population: Population, randomness: Randomness, *, typed: bool
    ) -> Iterator[Drafted]:
        """The release, one piece or several; text that holds numbers throughout as numbers, if typed."""
        ...

    def sample(self, rows: int) -> Source:
        """At most so many rows as they were read, drawn at random if there are more."""
        ...


# What an engine does. The embedded one works in memory; others hand batches to the same functions.
@dataclass(frozen=True, eq=False)
class Draft:
    """A release that nobody has verified yet.

    ``frame`` has the released columns, rows in random order, every column built from fresh memory. ``origin``
    says which input row each released row comes from, ``claims`` which interval (low excluded, high included) stands
    behind each number that is a middle; both exist for the verification and are never published.
    """

    frame: pl.DataFrame
    origin: npt.NDArray[np.intp]
    claims: Mapping[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]] = field(default_factory=dict)


class Engine(Protocol):
    """Answers questions about a table and applies plans to it."""

    def population(self, table: EncodedTable, schema: Schema, randomness: Randomness) -> Population:
        """The rows, as algorithms know them."""
        ...

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and fill in what only the rows tell: the exact means."""
        ...

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table."""
        ...

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order."""
        ...
