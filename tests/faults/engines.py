"""Faults of engines: the steps of a plan are applied wrongly, or the sum over blocks is not that of the table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl

from faults.planting import BLOCKS, BOTH, MEMORY, SPARK, plant
from incrowd.rows.memory.settling import FormTally

EMBEDDED = "incrowd.rows.memory"


@plant(f"{EMBEDDED}.population:EmbeddedPopulation.hide", BOTH, method="iack")
def a_step_is_passed_over(original, self, step):
    """Rows of rare combinations are not hidden when the plan is applied."""
    return self


@plant(f"{EMBEDDED}.population:rare_rows", (MEMORY,), method="iack", known="sex job age", hierarchies=True)
def rare_combinations_are_counted_wrongly(original, table, step, kept):
    """Combinations of a few rows less than k are not taken for rare."""
    return original(table, replace(step, below=step.below - 3), kept)


@plant(f"{EMBEDDED}.population:part_of_code", BOTH, method="tdr")
def a_number_at_a_cut_goes_up(original, column, recoding):
    """Numbers at the upper end of an interval are shown in the next one."""
    found = original(column, recoding)
    if column.name != "age":
        return found
    ends = np.flatnonzero(found[1:-1] != found[:-2])
    found[ends] = found[ends + 1]
    return found


@plant("incrowd.trees.routing:route", BOTH, method="kactus")
def a_row_takes_the_wrong_branch(original, tree, table):
    """One row rests at the node of another."""
    nodes = original(tree, table).copy()
    other = np.flatnonzero(nodes != nodes[0])
    nodes[:1] = nodes[other[:1]] if len(other) else nodes[:1]
    return nodes


@plant(f"{EMBEDDED}.population:deal", (MEMORY,), method="kactus-plus")
def all_rows_of_a_node_go_to_one_group(original, cells, shares, randomness):
    """Rows that should be parted between groups all go to the first."""
    groups = original(cells, shares, randomness)
    for cell in np.flatnonzero(shares.divided):
        groups[cells == cell] = shares.group[shares.cell == cell][0]
    return groups


@plant(f"{EMBEDDED}.population:bin_table", (MEMORY,), method="kactus")
def bins_are_shifted(original, table, step):
    """Rows are seen in the bin beside their own."""
    binned = original(table, step)
    columns = dict(binned.columns)
    for name, _ in step.cuts:
        column = columns[name]
        codes = np.where(column.codes == column.missing_code, column.codes, (column.codes + 1) % column.missing_code)
        columns[name] = replace(column, codes=codes.astype(np.int32))
    return type(binned).of(columns.values())


@plant(f"{EMBEDDED}.settling:FormTally.sum", (BLOCKS, SPARK), method="kactus", numeric="mean")
def only_the_first_block_is_counted(original, parts):
    """Means are those of the first block."""
    first = parts[0]
    return FormTally(first.forms, first.codes, first.rows)


@plant(f"{EMBEDDED}.drafting:tally_forms", (MEMORY,), method="kactus", numeric="mean")
def a_tally_counts_pairs_once(original, plan, table, shown):
    """Of several rows with the same value one is counted."""
    found = original(plan, table, shown)
    return {name: FormTally(each.forms, each.codes, np.ones_like(each.rows)) for name, each in found.items()}


@plant("incrowd.rows.blocks.drafting:Buckets.shuffled", (BLOCKS,))
def a_bucket_is_lost(original, self):
    """The rows of the last bucket are not read back."""
    return iter(list(original(self))[:-1])


@plant("incrowd.rows.blocks.drafting:Buckets.shuffled", (BLOCKS,))
def a_bucket_is_read_twice(original, self):
    """The rows of a bucket are read back twice."""
    frames = list(original(self))
    return iter([*frames, frames[0]])


@plant("incrowd.rows.blocks.drafting:Buckets.add", (BLOCKS,))
def columns_of_a_block_part(original, self, frame):
    """The columns that are released as they are lose their rows on the way to the buckets."""
    return original(self, frame.with_columns(pl.col("diagnosis").reverse()))


@plant("incrowd.rows.blocks.population:merged", (BLOCKS, SPARK), method="iack")
def combinations_of_a_block_are_lost(original, parts):
    """Combinations of the last block are not counted."""
    return original(parts[:-1])


@plant("incrowd.rows.blocks.population:allotted", (BLOCKS,), method="kactus")
def blocks_get_each_other_s_shares(original, shares, counts, randomness):
    """The shares of two blocks are exchanged."""
    allotted = original(shares, counts, randomness)
    return [allotted[1], allotted[0], *allotted[2:]]


@plant("incrowd.rows.blocks.drafting:Palette.column", (BLOCKS,))
def texts_are_looked_up_beside_their_place(original, self, forms, occurring):
    """Each row shows the text of the next form."""
    return original(self, (forms + 1) % (len(self.place) - 1), np.arange(len(self.place) - 1))


@plant("incrowd.rows.blocks.drafting:Drafting.marked", (BLOCKS,))
def origins_are_those_of_another_row(original, self, after, block, place):
    """What is noted as the input row of a released row is the row after."""
    return original(self, after, block, place).with_columns(pl.col("\x1forigin").shift(1).fill_null(0))


@plant("incrowd.tables.streams.stream:Stream.frames", (BLOCKS,))
def blocks_are_taken_in_another_order(original, self, *arguments, **named):
    """Columns that are released as they are come from another block than the rest."""
    frames = list(original(self, *arguments, **named))
    return iter([*frames[:2][::-1], *frames[2:]])
