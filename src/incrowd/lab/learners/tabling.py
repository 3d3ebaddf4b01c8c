"""Examples as the table of codes that the tree kernel takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from incrowd.lab.examples import Attribute, Codes, Examples
from incrowd.trees.tree import ClassValue
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType

CLASS = ""  # no attribute is called that


def tabled(examples: Examples) -> EncodedTable:
    """The attributes under their names and the classes under the empty name.

    Examples
    --------
    >>> rows = Examples((Attribute("age", np.array([30.0, np.nan, 20.0])),), np.array([0, 1, 1]), ("no", "yes"))
    >>> table = tabled(rows)
    >>> table["age"].codes.tolist(), table[CLASS].codes.tolist()
    ([1, 2, 0], [0, 1, 1])
    """
    classes = EncodedColumn(CLASS, ColumnType.CATEGORICAL, examples.classes.astype(np.int32), _text(examples.labels))
    return EncodedTable.of([*(column(attribute) for attribute in examples.attributes), classes])


def column(attribute: Attribute) -> EncodedColumn:
    """One attribute as codes into its distinct values; numbers ascending, categories as they are."""
    missing = attribute.is_missing
    if attribute.categories is not None:
        codes = np.where(missing, len(attribute.categories), attribute.values)
        return EncodedColumn(
            attribute.name, ColumnType.CATEGORICAL, codes.astype(np.int32), _text(attribute.categories)
        )
    values, places = np.unique(attribute.values[~missing], return_inverse=True)
    codes = np.full(len(attribute.values), len(values), np.int32)
    codes[~missing] = places
    return EncodedColumn(attribute.name, ColumnType.REAL, codes, pl.Series(values, dtype=pl.Float64))


def class_places(classes: Sequence[ClassValue], labels: tuple[str, ...]) -> Codes:
    """The place among the labels of each class a tree knows."""
    place = {label: number for number, label in enumerate(labels)}
    return np.array([place[str(value)] for value in classes], np.int64)


def _text(values: tuple[str, ...]) -> pl.Series:
    return pl.Series(list(values), dtype=pl.String)
