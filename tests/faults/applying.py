"""Faults of applying: rows show what is not decided for them, or cells change that should not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from faults.planting import BLOCKS, BOTH, MEMORY, as_if, plant

KEPT = "incrowd.rows.memory.population:EmbeddedPopulation.kept"
MADE = {
    MEMORY: "incrowd.rows.memory.held:draft_columns",
    BLOCKS: "incrowd.rows.blocks.drafting:Drafting.released",
}
Change = Callable[[pl.DataFrame], pl.DataFrame]


def misapplied(engines: tuple[str, ...] = (MEMORY,)) -> Callable[[Change], Change]:
    """Enter a fault that changes the released table before it is written, wherever it is made."""

    def enter(change: Change) -> Change:
        def faulty(original: Any, *arguments: Any) -> Any:
            table = original(*arguments)
            if isinstance(table, pl.DataFrame):
                return change(table)
            frame = pl.DataFrame(table).with_columns(pl.col(pl.Categorical).cast(pl.String))
            return change(frame).to_arrow(compat_level=pl.CompatLevel.oldest())

        plant({engine: MADE[engine] for engine in engines})(as_if(faulty, change))
        return change

    return enter


@plant(KEPT, BOTH)
def rows_are_lost(original, self):
    """The last row is lost on the way."""
    return original(self)[:-1]


@plant(KEPT, BOTH, method="kactus")
def rows_are_lost_that_the_plan_keeps(original, self):
    """A method that may leave out some rows loses one more than it decided to."""
    return original(self)[:-1]


@plant(KEPT, BOTH)
def a_row_is_released_twice(original, self):
    """A row is released twice, and another not at all."""
    kept = original(self).copy()
    kept[-1] = kept[0]
    return kept


@plant(KEPT, BOTH)
def a_row_is_added(original, self):
    """A row is released twice, and all others too."""
    kept = original(self)
    return np.append(kept, kept[:1])


@plant("incrowd.rows.memory.population:deal", (MEMORY,), method=("mondrian", "kactus"))
def two_rows_are_exchanged_between_groups(original, cells, shares, randomness):
    """Two rows get each other's group."""
    groups = original(cells, shares, randomness)
    other = np.flatnonzero(groups != groups[0])
    groups[0], groups[other[:1]] = groups[other[:1]].item() if len(other) else groups[0], groups[0]
    return groups


@plant("incrowd.rows.memory.population:deal", BOTH)
def rows_are_dealt_to_the_group_of_their_neighbour(original, cells, shares, randomness):
    """Every row gets the group of the row before."""
    return np.roll(original(cells, shares, randomness), 1)


@plant("incrowd.rows.memory.population:deal", (MEMORY,))
def a_row_joins_another_group(original, cells, shares, randomness):
    """One row is dealt to a group that is not its own."""
    groups = original(cells, shares, randomness)
    groups[0] = groups[np.flatnonzero(groups != groups[0])[0]] if (groups != groups[0]).any() else groups[0]
    return groups


@misapplied(BOTH)
def an_unchanged_column_is_shifted(frame):
    """A column that is released as it is, is shifted by a row."""
    return frame.with_columns(pl.col("diagnosis").shift(1).fill_null(pl.col("diagnosis").last()))


@misapplied(BOTH)
def an_unchanged_column_is_permuted(frame):
    """A column that is released as it is, is written in another order than the rest: totals are the same."""
    return frame.with_columns(pl.col("ill").reverse())


@misapplied(BOTH)
def an_unchanged_cell_is_altered(frame):
    """One cell that is to be released as it is, is another."""
    first = pl.int_range(pl.len()) == 0
    other = pl.when(pl.col("diagnosis") == "flu").then(pl.lit("gout")).otherwise(pl.lit("flu"))
    return frame.with_columns(pl.when(first).then(other).otherwise(pl.col("diagnosis")).alias("diagnosis"))


@misapplied(BOTH)
def a_missing_value_is_shown_as_a_value(frame):
    """Missing cells of a column that is released as it is are written as zero."""
    zero = "0" if frame.schema["visits"] == pl.String else 0
    return frame.with_columns(pl.col("visits").fill_null(zero))


@misapplied()
def a_value_is_shown_as_missing(frame):
    """A cell that is to be released as it is, is written as missing."""
    return frame.with_columns(pl.when(pl.int_range(pl.len()) != 1).then(pl.col("ward")).alias("ward"))


@misapplied()
def two_unchanged_columns_are_exchanged(frame):
    """The cells of two columns stand under each other's name."""
    return frame.with_columns(pl.col("ward").alias("note"), pl.col("note").alias("ward"))


@misapplied(BOTH)
def one_cell_shows_nothing(frame):
    """One row alone hides what the rest of its group shows."""
    sex = pl.col("sex").drop_nulls().first()
    return frame.with_columns(
        pl.when(pl.col("sex").is_null() & (pl.col("sex").is_null().cum_sum() == 1)).then(sex).otherwise(pl.col("sex"))
        if frame["sex"].null_count()
        else pl.when(pl.int_range(pl.len()) != 0).then(pl.col("sex")).alias("sex")
    )


@misapplied(BOTH)
def a_column_is_added(frame):
    """A column is released that nobody asked for."""
    return frame.with_columns(row=pl.int_range(pl.len()))


@misapplied()
def a_column_is_lost(frame):
    """A column that is to be released is missing."""
    return frame.drop("visits")


@misapplied()
def a_column_is_renamed(frame):
    """A column is released under another name."""
    return frame.rename({"visits": "visit"})


@misapplied()
def columns_change_places(frame):
    """Columns are released in another order."""
    return frame.select(reversed(frame.columns))


@plant("incrowd.rows.memory.held:draft_columns", (MEMORY,))
def a_quasi_identifier_is_released_as_it_was(original, plan, shown, source, rows):
    """A quasi-identifier is copied from the input."""
    released = original(plan, shown, source, rows)
    return released.with_columns(source["age"].gather(rows))


@plant("incrowd.rows.memory.held:draft_columns", (MEMORY,))
def hidden_cells_show_their_value(original, plan, shown, source, rows):
    """Cells of which nothing is shown hold their value."""
    released = original(plan, shown, source, rows)
    return released.with_columns(released["job"].fill_null(source["job"].gather(rows)))


@plant("incrowd.rows.memory.held:draft_columns", (MEMORY,))
def unchanged_columns_come_from_other_rows(original, plan, shown, source, rows):
    """Columns that are released as they are come from the row before."""
    return original(plan, shown, source, rows - 1)


@plant("incrowd.rows.memory.held:shown_forms", (MEMORY,))
def groups_show_what_the_next_one_has(original, plan, after):
    """The rows of each group show what the next group should."""
    forms = len(plan.groups)
    return {name: ((codes + 1) % forms).astype(np.int32) for name, codes in original(plan, after).items()}
