"""A table as the kernel wants it: one short record of codes for each row, class first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from incrowd.errors import InputError, SchemaError
from incrowd.trees.bins import Bins, exact_bins, quantile_bins
from incrowd.trees.classes import occurring_classes
from incrowd.trees.compiled import compiled
from incrowd.trees.records import Columns
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable

BLOCK = 8192
WIDE_SHARE = 0.3
CELLS_PER_ROW = 8


@dataclass(frozen=True, eq=False)
class Training:
    """Packed rows with what is needed to read a grown tree back.

    ``rows`` is working space: the kernel overwrites it.
    """

    rows: npt.NDArray[Any]
    columns: Columns
    attributes: tuple[EncodedColumn, ...]
    bins: tuple[Bins, ...]
    target: str
    classes: tuple[ClassValue, ...]


def pack(table: EncodedTable, attributes: Sequence[str], target: str, bins: int | None) -> Training:
    """Pack the attributes and the class of a table; numeric columns in at most ``bins`` bins.

    A missing class is a class of its own.
    """
    check_names(table, attributes, target)
    chosen = tuple(table[name] for name in attributes)
    binned = tuple(
        quantile_bins(column.counts, bins) if bins is not None and column.type.is_numeric else exact_bins(column.counts)
        for column in chosen
    )
    label = exact_bins(table[target].counts)
    classes = occurring_classes(table[target])
    columns = _columns(chosen, binned, len(classes), table.height)
    rows = np.zeros(table.height * columns.stride, _dtype(columns))
    sources = [(table[target].codes, label.of_code)]
    sources += [(column.codes, bins.of_code) for column, bins in zip(chosen, binned, strict=True)]
    for lo in range(0, table.height, BLOCK):
        for place, (codes, of_code) in enumerate(sources):
            write_codes(codes, of_code, rows, columns.stride, place, lo, min(lo + BLOCK, table.height))
    return Training(rows, columns, chosen, binned, target, classes)


def check_names(table: EncodedTable, attributes: Sequence[str], target: str) -> None:
    """Refuse unknown, repeated or contradictory columns and an empty table."""
    for name in (*attributes, target):
        table[name]  # raises HeaderError, listing the columns there are
    if target in attributes:
        raise SchemaError(f"Column {target!r} is the class; it cannot be tested by the tree as well.")
    if len(set(attributes)) < len(attributes):
        raise SchemaError("An attribute is named twice. Name every attribute once.")
    if table.height == 0:
        raise InputError("The table has no rows; a tree needs at least one.")


def _columns(chosen: Sequence[EncodedColumn], bins: Sequence[Bins], classes: int, height: int) -> Columns:
    """Widths, kinds and histogram places of the attributes."""
    width = np.array([each.width for each in bins], np.int64)
    ordered = np.array([column.type.has_order for column in chosen], np.bool_)
    wide = ~ordered & (width - 1 >= WIDE_SHARE * height)
    cells = np.where(width * classes <= CELLS_PER_ROW * height, width * classes, 0)
    offset = np.where(cells > 0, np.cumsum(cells) - cells, -1)
    narrow = len(width) == 0 or max(int(width.max()), classes) <= 1 << 16
    step = 4 if narrow else 2
    stride = -(-(len(width) + 1) // step) * step
    return Columns(width, ordered, ~wide | wide.all(), offset, classes, stride)


def _dtype(columns: Columns) -> type[np.uint16] | type[np.uint32]:
    """Sixteen bits for a code if they suffice."""
    return np.uint16 if max(columns.width.max(initial=0), columns.classes) <= 1 << 16 else np.uint32


@compiled
def write_codes(
    codes: npt.NDArray[np.int32],
    of_code: npt.NDArray[np.int32],
    rows: npt.NDArray[Any],
    stride: int,
    place: int,
    lo: int,
    hi: int,
) -> None:
    """Write the bins of one column into the rows from ``lo`` to ``hi``."""
    for row in range(lo, hi):
        rows[row * stride + place] = of_code[codes[row]]
