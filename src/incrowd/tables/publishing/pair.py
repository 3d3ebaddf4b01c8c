"""Counts as two tables: one of rows, each with the number of its group, and one of what the groups have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.tables.publishing.serialise import safe_name, write_table
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.forms import FileForm, groups_key, groups_path
from incrowd.vocabulary.fresh import fresh_frame
from incrowd.vocabulary.randomness import Randomness, permutation


def write_pair(
    pieces: Iterable[Any], path: Path, form: FileForm, counted: Sequence[str], randomness: Randomness
) -> None:
    """Write a release of counts, given as one table, as a table of rows and, beside it, one of groups."""
    rename = safe_name if form.kind == "csv" else str
    for piece in pieces:
        rows, groups = split_pair(pl.DataFrame(piece).rename(rename), [rename(name) for name in counted], randomness)
        write_table(rows, path, form)
        write_table(groups, groups_path(path), form)


def split_pair(
    frame: pl.DataFrame, counted: Sequence[str], randomness: Randomness
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The table of rows and the table of groups of a release of counts.

    Groups are numbered at random. The table of groups has a row for each group, attribute and value with its count; a
    missing value is null, and of a hidden attribute there is none.

    Examples
    --------
    >>> from incrowd.vocabulary.randomness import SystemRandomness
    >>> frame = pl.DataFrame({"job": ["cook:1|?:1"] * 2, "ill": ["y", "n"]})
    >>> rows, groups = split_pair(frame, ["job"], SystemRandomness())
    >>> rows.rows(), groups.rows()
    ([(1, 'y'), (1, 'n')], [(1, 'job', 'cook', 1), (1, 'job', None, 1)])
    """
    key = groups_key(frame.columns)
    looks = frame.select(counted).unique(maintain_order=True)
    numbers = permutation(looks.height, randomness) + 1
    looks = looks.with_columns(pl.Series(key, numbers, pl.Int64))
    rows = frame.join(looks, on=list(counted), how="left", maintain_order="left")
    lines = [
        (look[key], name, value, count)
        for look in looks.sort(key).iter_rows(named=True)
        for name in counted
        for value, count in read_counts(look[name]) or ()
    ]
    schema = {key: pl.Int64, "attribute": pl.String, "value": pl.String, "count": pl.Int64}
    groups = pl.DataFrame(lines, schema, orient="row")
    return fresh_frame(rows.select(key, pl.exclude(key, *counted))), groups
