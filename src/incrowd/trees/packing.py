"""A table as the kernel wants it: one short record of codes for each row, class first.

Bins: ranges of dictionary codes that the kernel counts together. A bin never cuts through a value, so every threshold
between two bins lies between two real values. Codes without rows belong to no bin of their own; they follow the bin
below them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from incrowd.errors import InputError, ParameterError, SchemaError
from incrowd.trees.compiled import compiled
from incrowd.trees.tree import ClassValue, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType


@dataclass(frozen=True, eq=False)
class Bins:
    """Bins of one column."""

    of_code: npt.NDArray[np.int32]  # the bin of each code; the missing code has the last bin for itself
    # first, last: Lowest and highest code with rows in each bin (the bin of missing values left out)
    first: npt.NDArray[np.int64]
    last: npt.NDArray[np.int64]

    @property
    def width(self) -> int:
        """Number of bins, the one of missing values included."""
        return len(self.first) + 1


def exact_bins(counts: npt.NDArray[np.int64]) -> Bins:
    """One bin for each code that has rows.

    ``counts``: rows per code; the last entry counts the missing.
    """
    return _bins(counts, np.arange(len(counts) - 1))


def quantile_bins(counts: npt.NDArray[np.int64], bins: int) -> Bins:
    """At most ``bins`` bins of about equal size; exact if there are no more codes with rows than that.

    A value with the rows of four bins gets a bin for itself; the other values share the remaining bins.
    """
    if bins < 2:
        raise ParameterError("bins must be at least 2, or None for exact thresholds.")
    known = counts[:-1]
    if np.count_nonzero(known) <= bins:
        return exact_bins(counts)
    heavy = known * bins >= 4 * known.sum()
    light = np.where(heavy, 0, known)
    shares = max(1, bins - 2 * int(heavy.sum()))
    middles = np.cumsum(light) - light / 2
    quantile = np.minimum((middles * shares / light.sum()).astype(np.int64), shares - 1)
    past_heavy = np.cumsum(heavy) + np.concatenate([[0], np.cumsum(heavy)[:-1]])
    return _bins(counts, quantile + past_heavy * shares)


def _bins(counts: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> Bins:
    """Bins from labels that ascend with the code: codes with rows and the same label belong together."""
    present = np.flatnonzero(counts[:-1])
    starts = np.ones(len(present), dtype=bool)
    starts[1:] = labels[present][1:] != labels[present][:-1]
    first = present[starts]
    ends = np.ones(len(present), dtype=bool)
    ends[:-1] = starts[1:]
    last = present[ends]
    of_code = np.searchsorted(first, np.arange(len(counts)), side="right") - 1
    of_code = np.maximum(of_code, 0)
    of_code[-1] = len(first)
    return Bins(of_code.astype(np.int32), first, last)


# The class of each row, as the tree numbers its classes.
def class_values(column: EncodedColumn) -> tuple[ClassValue, ...]:
    """One class for each code of a column; ``None`` last, for rows without a class. Dates are ISO text."""
    dictionary = column.dictionary
    if column.type is ColumnType.DATE:
        dictionary = dictionary.dt.to_string("iso")
    return (*dictionary.to_list(), None)


def occurring_classes(column: EncodedColumn) -> tuple[ClassValue, ...]:
    """The classes that have rows, in the order of their codes."""
    values = zip(class_values(column), column.counts, strict=True)
    return tuple(value for value, count in values if count)


def class_places(tree: Tree, table: EncodedTable) -> npt.NDArray[np.int64]:
    """The class of each row as a place in ``tree.classes``; an unknown class is an error."""
    column = table[tree.target]
    place = {value: number for number, value in enumerate(tree.classes)}
    places = np.array([place.get(value, -1) for value in class_values(column)], np.int64)[column.codes]
    unknown = int(np.count_nonzero(places < 0))
    if unknown:
        raise SchemaError(f"{unknown} rows have a class in {tree.target!r} that the tree does not know.")
    return places


# What the kernel is given and what it works with, as tuples that Numba understands.
Array = npt.NDArray[Any]


class Rules(NamedTuple):
    """What a split must look like, and how it is judged."""

    min_branch: float  # at least two branches have this many rows
    side_share: float  # a side of a threshold has this share of the rows per class, up to LARGEST_SIDE
    ratio: bool  # judge by gain ratio among splits of at least average gain; else by gain
    mdl: bool  # charge a threshold log2(candidates) / rows
    branch: bool  # missing values get a branch; else they do not count as known


class Columns(NamedTuple):
    """The attributes as the kernel sees them."""

    width: npt.NDArray[np.int64]  # number of codes, the missing one included
    ordered: npt.NDArray[np.bool_]  # split by threshold; else one branch for each value
    averaged: npt.NDArray[np.bool_]  # counts in the average gain
    offset: npt.NDArray[np.int64]  # place in the histogram; -1 if too wide to have one
    weight: npt.NDArray[np.float64]  # of its score, where the best attribute is chosen
    classes: int
    stride: int


class PackedCells(NamedTuple):
    """Occurring pairs of code and class of one attribute at one node."""

    code: npt.NDArray[np.int64]
    label: npt.NDArray[np.int64]
    amount: Array


class Split(NamedTuple):
    """Score of the best split by one attribute; a gain of 0 means there is none."""

    gain: float
    ratio: float
    low: int  # a threshold lies between these two codes
    high: int


class Workspace(NamedTuple):
    """Buffers that one thread uses again for every node."""

    histogram: Array
    cells: PackedCells
    gain: npt.NDArray[np.float64]
    ratio: npt.NDArray[np.float64]
    low: npt.NDArray[np.int64]
    high: npt.NDArray[np.int64]


BLOCK = 8192  # rows written at a time, so that those of all attributes meet in the cache
WIDE_SHARE = 0.3  # values for each row from which an attribute counts in no average gain, as in C4.5 release 8
CELLS_PER_ROW = 8  # of a histogram: where it is larger, codes are sorted instead


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


def pack(
    table: EncodedTable,
    attributes: Sequence[str],
    target: str,
    bins: int | None,
    weights: Sequence[float] | None = None,
) -> Training:
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
    if weights is not None:
        columns = columns._replace(weight=np.array(weights, np.float64))
    rows = np.zeros(table.height * columns.stride, f"uint{_bits(columns.width, columns.classes)}")
    sources = [(table[target].codes, label.of_code)]
    sources += [(column.codes, bins.of_code) for column, bins in zip(chosen, binned, strict=True)]
    for lo in range(0, table.height, BLOCK):
        for place, (codes, of_code) in enumerate(sources):
            write_codes(codes, of_code, rows, columns.stride, place, lo, min(lo + BLOCK, table.height))
    return Training(rows=rows, columns=columns, attributes=chosen, bins=binned, target=target, classes=classes)


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
    step = 4 if _bits(width, classes) == 16 else 2  # codes in a word of 64 bits
    stride = -(-(len(width) + 1) // step) * step
    return Columns(
        width=width,
        ordered=ordered,
        averaged=~wide | wide.all(),
        offset=offset,
        weight=np.ones(len(width)),
        classes=classes,
        stride=stride,
    )


def _bits(width: npt.NDArray[np.int64], classes: int) -> int:
    """Sixteen bits for a code if they suffice."""
    return 16 if max(width.max(initial=0), classes) <= 1 << 16 else 32


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
