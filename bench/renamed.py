"""The table with values that Adult's hierarchies know, whether it is Adult or a stand-in."""

from __future__ import annotations

from itertools import cycle, islice

import polars as pl

from bench.people import people
from bench.setting import Setting
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.vocabulary.hierarchy import Leaves


def people_with_hierarchies(setting: Setting) -> tuple[pl.DataFrame, str]:
    """All rows, and what they are: ``Adult``, or a ``stand-in`` with the values of its hierarchies."""
    frame, source = people(setting)
    return (frame if source == "Adult" else with_real_values(frame)), source


def with_real_values(frame: pl.DataFrame) -> pl.DataFrame:
    """The categories of a stand-in, renamed to leaves of the hierarchies."""
    renamed = []
    for name, hierarchy in adult_hierarchies().items():
        if hierarchy.kind is Leaves.VALUES:
            values = frame[name].drop_nulls().unique().sort()
            leaves = islice(cycle(hierarchy.labels[leaf] for leaf in hierarchy.leaves), len(values))
            renamed.append(frame[name].replace_strict(values, pl.Series(list(leaves)), default=None))
    return frame.with_columns(renamed)
