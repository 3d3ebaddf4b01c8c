"""What is published differently: a list of cells, and the table with them applied."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.fresh import fresh_series


@dataclass(frozen=True)
class CellChange:
    """A cell that is published differently: blank, or as a group of its hierarchy. It never carries the true value."""

    row: int
    attribute: str
    shows: str | None = None


def changes_of(published: PublishedTable, since: int = 0) -> tuple[CellChange, ...]:
    """All cells that show something else than at a mark, by row and column."""
    return tuple(
        CellChange(row, name, None if node == HIDDEN else published.taxonomy(name).labels[node])
        for row, name in published.touched(since)
        for node in [published.node(row, name)]
    )


def apply_changes(table: EncodedTable, names: Sequence[str], changes: Iterable[CellChange]) -> pl.DataFrame:
    """The named columns of a table with the changes applied, in fresh memory and in the order of the rows.

    A column with generalized cells becomes text; one with blanks only keeps its type.

    Examples
    --------
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> age = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1], np.int32), pl.Series([39, 40]))
    >>> apply_changes(EncodedTable.of([age]), ["age"], [CellChange(1, "age")])["age"].to_list()
    [39, None]
    >>> apply_changes(EncodedTable.of([age]), ["age"], [CellChange(1, "age", "(30, 50]")])["age"].to_list()
    ['39', '(30, 50]']
    """
    by_name: dict[str, dict[int, str | None]] = defaultdict(dict)
    for change in changes:
        by_name[change.attribute][change.row] = change.shows
    return pl.DataFrame([_applied(table[name], by_name.get(name, {})) for name in names])


def _applied(column: EncodedColumn, shows: dict[int, str | None]) -> pl.Series:
    """One column; changed cells never read the value they hide."""
    codes = column.codes.astype(np.int64)
    dictionary = column.dictionary
    labels = sorted({label for label in shows.values() if label is not None})
    if labels:
        dictionary = pl.concat([dictionary.cast(pl.String), pl.Series(labels, dtype=pl.String)])
        codes = np.where(codes == column.missing_code, len(dictionary), codes)
    places = {label: column.missing_code + place for place, label in enumerate(labels)}
    for row, label in shows.items():
        codes[row] = len(dictionary) if label is None else places[label]
    known = pl.Series(codes, dtype=pl.Int64)
    known = pl.select(pl.when(known < len(dictionary)).then(known)).to_series()
    return fresh_series(dictionary.gather(known).alias(column.name))
