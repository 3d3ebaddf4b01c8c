"""The class of each row, as the tree numbers its classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from incrowd.errors import SchemaError
from incrowd.trees.tree import ClassValue, Tree
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import ColumnType


def class_values(column: EncodedColumn) -> tuple[ClassValue, ...]:
    """One class for each code of a column; ``None`` last, for rows without a class. Dates are ISO text.

    Examples
    --------
    >>> import polars as pl
    >>> ill = EncodedColumn("ill", ColumnType.CATEGORICAL, np.zeros(1, np.int32), pl.Series(["no", "yes"]))
    >>> class_values(ill)
    ('no', 'yes', None)
    """
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
