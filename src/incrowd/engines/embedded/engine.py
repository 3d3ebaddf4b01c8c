"""The engine that works in this process's memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.algorithms.population import Population
from incrowd.engines.embedded.dealing import main_groups
from incrowd.engines.embedded.drafting import draft_columns
from incrowd.engines.embedded.population import EmbeddedPopulation
from incrowd.engines.embedded.settling import with_means
from incrowd.engines.embedded.truthful import truthful
from incrowd.engines.engine import Draft
from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Bin, Drop, Place, Show
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import Codes, EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, permutation
from incrowd.vocabulary.schema import Schema


class EmbeddedEngine:
    """Holds all rows in memory."""

    def population(self, table: EncodedTable, schema: Schema, randomness: Randomness) -> EmbeddedPopulation:
        """The rows, as algorithms know them."""
        return EmbeddedPopulation(table, schema, randomness)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and compute the exact means."""
        placed = _placed(plan, population)
        assert isinstance(population, EmbeddedPopulation)
        return with_means(plan, population.table, _groups(placed))

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table, rows in random order."""
        groups = _groups(_placed(plan, population))
        rows = np.flatnonzero(groups != DROPPED)
        rows = rows[permutation(len(rows), randomness)]
        return Draft(draft_columns(plan, groups[rows], source, rows), rows)

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order.

        Each row shows what most rows that rest at the same place of the tree show; a cell that would not be
        true of the row is suppressed. No promise is counted: the plan's promise is about the rows it was made for.
        """
        population = EmbeddedPopulation(table, plan.schema, SystemRandomness())
        for step in plan.steps:
            if isinstance(step, Bin):
                population = population.bin(step)
            elif isinstance(step, Place):
                groups = main_groups(step)[route(step.tree, population.sample())]
                population = replace(population, groups=groups)
        groups = _groups(population)
        frame = draft_columns(plan, np.maximum(groups, 0), source, np.arange(table.height))
        return truthful(plan, population.table, groups, frame)


def _placed(plan: ReleasePlan, population: Population) -> EmbeddedPopulation:
    for step in plan.steps:
        match step:
            case Bin():
                population = population.bin(step)
            case Place():
                population = population.place(step)
            case Drop() | Show():
                pass
            case _:
                raise PlanError(f"The embedded engine does not know the step {type(step).__name__}.")
    assert isinstance(population, EmbeddedPopulation)
    return population


def _groups(placed: EmbeddedPopulation) -> Codes:
    assert placed.groups is not None
    return placed.groups
