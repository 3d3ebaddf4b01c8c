"""What all tools are given: the same rows of Adult, and hierarchies as ways from each value to the root."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from bench.census import lengthen
from bench.people import ATTRIBUTES, TARGET
from bench.renamed import people_with_hierarchies
from bench.setting import Setting
from incrowd.tables.hierarchies.draft import draft_hierarchy, encoded_columns
from incrowd.tables.hierarchies.read import adult_hierarchies
from incrowd.vocabulary.hierarchy import Hierarchy


def complete_rows(setting: Setting) -> tuple[pl.DataFrame, str]:
    """The rows without missing values, and what they are: ``Adult``, or a ``stand-in``."""
    frame, source = people_with_hierarchies(setting)
    return frame.drop_nulls().select(*ATTRIBUTES, TARGET), source


def write_table(frame: pl.DataFrame, rows: int, path: Path) -> None:
    """Some of the rows, all of them, or more rows of the same kind, as CSV."""
    every = frame.height // rows
    part = (
        frame.gather_every(every).head(rows) if every > 1 else frame if rows == frame.height else lengthen(frame, rows)
    )
    part.write_csv(path)


def write_paths(frame: pl.DataFrame, path: Path) -> None:
    """For each attribute, for each value, its way to the root, as JSON; all ways of an attribute have one length.

    Numbers of which Adult's hierarchies know nothing have intervals, as ``incrowd hierarchy`` drafts them.
    """
    known = adult_hierarchies()
    others = [name for name in ATTRIBUTES if name not in known]
    drafted = {column.name: draft_hierarchy(column) for column in encoded_columns(frame, *others)}
    ways = {name: _paths(frame[name], known.get(name) or drafted[name]) for name in ATTRIBUTES}
    path.write_text(json.dumps(ways), encoding="utf-8")


def _paths(column: pl.Series, hierarchy: Hierarchy) -> list[list[str]]:
    levels = [hierarchy.at_level(level) for level in range(hierarchy.height, 0, -1)]
    ways = []
    for value in column.unique().sort():
        leaf = hierarchy.leaf_of(value)
        if leaf is None:
            raise ValueError(f"a value of {column.name} is in no group of its hierarchy")
        way = [hierarchy.labels[level[leaf]] for level in levels]
        ways.append(way if way[0] == str(value) else [str(value), *way])
    return ways
