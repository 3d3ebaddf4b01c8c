"""The engine that works in this process's memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.algorithms.population import Population
from incrowd.engines.embedded.dealing import main_groups
from incrowd.engines.embedded.drafting import draft_columns
from incrowd.engines.embedded.evidence import claims
from incrowd.engines.embedded.population import EmbeddedPopulation
from incrowd.engines.embedded.settling import settle_forms
from incrowd.engines.embedded.truthful import truthful
from incrowd.engines.engine import Draft
from incrowd.errors import PlanError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED, Bin, Drop, Hide, Place, Reasons, Recode, Show, Spread
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
        """Deal the rows to the plan's groups and compute what only the rows tell."""
        assert isinstance(population, EmbeddedPopulation)
        shown = _shown(plan, _applied(plan, population))
        table = population.table
        return plan.with_forms({name: settle_forms(plan.forms(name), table[name], shown[name]) for name in plan.names})

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table, rows in random order."""
        applied = _applied(plan, population)
        rows = applied.kept
        rows = rows[permutation(len(rows), randomness)]
        shown = {name: codes[rows] for name, codes in _shown(plan, applied).items()}
        return Draft(draft_columns(plan, shown, source, rows), rows, claims(plan, shown))

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order.

        Where the plan shows by groups, each row shows what most rows that rest at the same place of the tree show, and
        a cell that would not be true of the row is suppressed. Where it shows value by value, each value shows its
        part; rare combinations are not looked for. No promise is counted: the plan's promise is about the rows it was
        made for.
        """
        population = EmbeddedPopulation(table, plan.schema, SystemRandomness())
        for step in plan.steps:
            match step:
                case Bin():
                    population = population.bin(step)
                case Recode():
                    population = population.recode(step)
                case Place():
                    groups = main_groups(step)[route(step.tree, population.sample())]
                    population = replace(population, groups=groups)
        shown = _shown(plan, population)
        if plan.show:
            shown = {
                name: truthful(population.table[name], plan.schema[name], plan.forms(name), groups)
                for name, groups in shown.items()
            }
        return draft_columns(plan, shown, source, np.arange(table.height))


def _applied(plan: ReleasePlan, population: Population) -> EmbeddedPopulation:
    """The population after all steps."""
    for step in plan.steps:
        match step:
            case Bin():
                population = population.bin(step)
            case Place():
                population = population.place(step)
            case Recode():
                population = population.recode(step)
            case Hide():
                population = population.hide(step)
            case Drop() | Show() | Spread() | Reasons():
                pass
            case _:
                raise PlanError(f"The embedded engine does not know the step {type(step).__name__}.")
    assert isinstance(population, EmbeddedPopulation)
    return population


def _shown(plan: ReleasePlan, applied: EmbeddedPopulation) -> dict[str, Codes]:
    """For each attribute the position of the form each row shows."""
    if plan.show:
        assert applied.groups is not None
        return dict.fromkeys(plan.names, applied.groups)
    shown = {name: applied.table[name].codes for name in plan.names}
    if applied.groups is None:
        return shown
    return {name: np.where(applied.groups == DROPPED, np.int32(DROPPED), codes) for name, codes in shown.items()}
