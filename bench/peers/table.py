"""What all tools are given: the same rows, and the hierarchies as ways from each value to the root."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from bench.census import ATTRIBUTES, hierarchies, lengthen


def write_table(frame: pl.DataFrame, rows: int, path: Path) -> None:
    """Some of the rows, all of them, or more rows of the same kind, as CSV."""
    every = frame.height // rows
    part = (
        frame.gather_every(every).head(rows) if every > 1 else frame if rows == frame.height else lengthen(frame, rows)
    )
    part.write_csv(path)


def write_paths(frame: pl.DataFrame, path: Path) -> None:
    """For each attribute, for each value, its way to the root, as JSON; all ways of an attribute have one length."""
    known = hierarchies(ATTRIBUTES)
    path.write_text(json.dumps({name: _paths(frame[name], name) for name in known}), encoding="utf-8")


def _paths(column: pl.Series, name: str) -> list[list[str]]:
    hierarchy = hierarchies([name])[name]
    levels = [hierarchy.at_level(level) for level in range(hierarchy.height, 0, -1)]
    ways = []
    for value in column.unique().sort():
        leaf = hierarchy.leaf_of(value)
        if leaf is None:
            raise ValueError(f"a value of {name} is in no group of its hierarchy")
        way = [hierarchy.labels[level[leaf]] for level in levels]
        ways.append(way if way[0] == str(value) else [str(value), *way])
    return ways
