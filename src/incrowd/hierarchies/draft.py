"""A first hierarchy for a column, by its type: a proposal for a person to correct."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from incrowd.errors import ParameterError
from incrowd.hierarchies.categories import drafted_categories, ordered_categories
from incrowd.hierarchies.codes import prefixes
from incrowd.hierarchies.dates import calendar
from incrowd.hierarchies.intervals import class_edges, from_edges, intervals
from incrowd.reading.draft import draft_schema
from incrowd.reading.encode import encode
from incrowd.reading.read import read
from incrowd.reading.source import Source
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.leaf_interval import STEPS
from incrowd.vocabulary.schema import ColumnType

KINDS = ("intervals", "prefix", "date", "ordered", "drafted")
_CODE = re.compile(r"^(?=.*\d)[0-9A-Za-z.-]{3,12}$")
_FEW_CODES = 10
_FEW_EDGES = 2
_DAYS = 731


def draft_hierarchy(
    column: EncodedColumn,
    target: EncodedColumn | None = None,
    *,
    kind: str | None = None,
    bins: int = 8,
    edges: Sequence[float] | None = None,
) -> Hierarchy:
    """Draft a hierarchy for a column.

    Parameters
    ----------
    column
        The attribute.
    target
        The class; with it, numbers are cut and categories are joined where that costs least class information.
    kind
        One of ``intervals``, ``prefix``, ``date``, ``ordered``, ``drafted``; by the type of the column if not given
        (texts of one length with digits in them are taken for codes).
    bins
        About how many intervals, where the class does not say.
    edges
        The inner edges of the intervals, made by hand.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> sex = EncodedColumn("sex", ColumnType.CATEGORICAL, np.array([0, 1], np.int32), pl.Series(["f", "m"]))
    >>> draft_hierarchy(sex).labels
    ('*', 'f', 'm')
    """
    kind = kind or ("intervals" if edges is not None else kind_for(column))
    if kind not in KINDS:
        raise ParameterError(f"kind must be one of {', '.join(KINDS)}.")
    if edges is not None and kind != "intervals":
        raise ParameterError("edges are for intervals only.")
    if edges is not None:
        return from_edges(column.name, edges, dates=column.type is ColumnType.DATE)
    if kind == "intervals":
        by_class = target is not None and column.type.is_numeric and len(class_edges(column, target)) >= _FEW_EDGES
        return intervals(column, "class" if by_class else "frequency", target=target, bins=bins)
    if kind == "date":
        return calendar(column, STEPS if _span(column) <= _DAYS else STEPS[1:])
    if kind == "prefix":
        return prefixes(column)
    return ordered_categories(column) if kind == "ordered" else drafted_categories(column, target)


def kind_for(column: EncodedColumn) -> str:
    """The kind of hierarchy that fits the type of a column.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> kind_for(EncodedColumn("age", ColumnType.INTEGER, np.array([0], np.int32), pl.Series([39])))
    'intervals'
    """
    if column.type is ColumnType.DATE:
        return "date"
    if column.type.is_numeric:
        return "intervals"
    if column.type is ColumnType.ORDERED:
        return "ordered"
    values = column.dictionary.to_list()
    alike = len({len(value) for value in values}) == 1 and len(values) >= _FEW_CODES
    return "prefix" if alike and all(_CODE.match(value) for value in values) else "drafted"


def _span(column: EncodedColumn) -> int:
    if column.type is not ColumnType.DATE or len(column.dictionary) == 0:
        return 0
    return int(column.numbers[-1] - column.numbers[0])


def encoded_columns(table: Any, *names: str) -> list[EncodedColumn]:
    """The named columns of a file, frame or source, typed as a draft schema types them.

    Examples
    --------
    >>> import polars as pl
    >>> [column.name for column in encoded_columns(pl.DataFrame({"sex": ["f", "m"]}), "sex")]
    ['sex']
    """
    source = table if isinstance(table, Source) else read(table)
    coded, _ = encode(source, draft_schema(source), list(dict.fromkeys(names)))
    return [coded[name] for name in names]
