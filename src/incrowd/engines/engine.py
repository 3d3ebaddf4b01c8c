"""What an engine does. The embedded one works in memory; others hand batches to the same functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.methods.population import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness
from incrowd.vocabulary.schema import Schema


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
