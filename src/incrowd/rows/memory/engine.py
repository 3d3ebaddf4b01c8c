"""The engine that works in this process's memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from incrowd.methods.population import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Bin, Place, Recode, Seat
from incrowd.rows.held import Draft
from incrowd.rows.memory.applying import applied, settled, shown_forms, tally_forms
from incrowd.rows.memory.dealing import main_groups
from incrowd.rows.memory.drafting import claims, draft_columns
from incrowd.rows.memory.new_rows import own_words, truthful
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.trees.routing import route
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.randomness import Randomness, SystemRandomness, permutation
from incrowd.vocabulary.schema import Schema


class EmbeddedEngine:
    """Holds all rows in memory."""

    def population(self, table: EncodedTable, schema: Schema, randomness: Randomness) -> EmbeddedPopulation:
        """The rows, as algorithms know them."""
        return EmbeddedPopulation(table, schema, randomness)

    def settle(self, plan: ReleasePlan, population: Population) -> ReleasePlan:
        """Deal the rows to the plan's groups and compute what only the rows tell."""
        after = applied(plan, population)
        assert isinstance(population, EmbeddedPopulation)
        assert isinstance(after, EmbeddedPopulation)
        tallies = tally_forms(plan, population.table, shown_forms(plan, after))
        return settled(plan, population.table.columns, tallies)

    def draft(self, plan: ReleasePlan, population: Population, source: pl.DataFrame, randomness: Randomness) -> Draft:
        """The released table, rows in random order."""
        after = applied(plan, population)
        assert isinstance(after, EmbeddedPopulation)
        rows = after.kept
        rows = rows[permutation(len(rows), randomness)]
        shown = {name: codes[rows] for name, codes in shown_forms(plan, after).items()}
        return Draft(draft_columns(plan, shown, source, rows), rows, claims(plan, shown))

    def transform(self, plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
        """New rows, seen through the plan, in their own order.

        Where the plan shows by groups, each row shows what most rows that rest at the same place of the tree show, and
        a cell that would not be true of the row is suppressed. Where it shows value by value, each value shows its
        part; rare combinations are not looked for. Where it publishes counts, or seats rows one by one, each row shows
        its own value, a number its public bin. No promise is counted: the plan's promise is about the rows it was made
        for.
        """
        if plan.counted or any(isinstance(step, Seat) for step in plan.steps):
            return own_words(plan, table, source)
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
        shown = shown_forms(plan, population)
        if plan.show:
            shown = {
                name: truthful(population.table[name], plan.schema[name], plan.forms(name), groups)
                for name, groups in shown.items()
            }
        return draft_columns(plan, shown, source, np.arange(table.height))
