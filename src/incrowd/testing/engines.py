"""A table in memory that is worked on in blocks: it shows that where rows live changes nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from incrowd.methods.method import Population
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.blocks.drafting import settle_blocks
from incrowd.rows.blocks.population import BlockedPopulation, LocalBlocks
from incrowd.rows.memory.drafting import applied, claims, draft_columns, shown_forms
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.vocabulary.encoded_table import Codes, EncodedTable, OwnedTable, WholeColumn
from incrowd.vocabulary.randomness import Randomness, permutation
from incrowd.vocabulary.schema import Schema


@dataclass(frozen=True)
class BlockedEngine:
    """Cuts a table into blocks of so many rows and works on each by itself."""

    block_rows: int = 1 << 20
    largest_sample: int = 1_000_000

    def population(
        self, table: EncodedTable, schema: Schema, randomness: Randomness, owners: Codes | None = None
    ) -> BlockedPopulation:
        """The rows, as algorithms know them; ``owners`` has the person of each, if rows are not persons."""
        starts = range(0, max(table.height, 1), self.block_rows)
        ranges = [np.arange(start, min(start + self.block_rows, table.height)) for start in starts]
        whole = table if owners is None else OwnedTable(table.columns, table.height, owners)
        blocks = LocalBlocks([len(rows) for rows in ranges], lambda place: whole.take(ranges[place]))
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
        after = applied(plan, population)
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
