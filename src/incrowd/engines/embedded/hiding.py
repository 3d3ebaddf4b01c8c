"""Rows of rare combinations show nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from incrowd.engines.embedded.combining import combine, first_rows
from incrowd.plan.steps import DROPPED, Hide
from incrowd.vocabulary.encoded_table import Codes, EncodedTable


def rare_rows(table: EncodedTable, step: Hide, kept: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The rows, of those that are kept, whose combination is rare or named by the step."""
    columns = [table[name].take(kept) for name in step.names]
    numbers, count = combine(columns, len(kept))
    rare = np.bincount(numbers, minlength=count) < step.below
    if step.also:
        named = set(step.also)
        first = first_rows(numbers, count)
        shown = zip(*(column.codes[first].tolist() for column in columns), strict=True)
        rare |= np.fromiter((codes in named for codes in shown), bool, count)
    return kept[rare[numbers]]


def hide_rows(table: EncodedTable, step: Hide, rows: npt.NDArray[np.intp]) -> EncodedTable:
    """The table with nothing shown of the step's attributes in these rows."""
    columns = dict(table.columns)
    for name in step.names:
        codes = columns[name].codes.copy()
        codes[rows] = columns[name].missing_code
        columns[name] = replace(columns[name], codes=codes)
    return EncodedTable(columns, table.height)


def drop_rows(groups: Codes | None, height: int, rows: npt.NDArray[np.intp]) -> Codes:
    """The groups of all rows, these rows left out."""
    left = np.zeros(height, np.int32) if groups is None else groups.copy()
    left[rows] = DROPPED
    return left
