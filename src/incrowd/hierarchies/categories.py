"""Categories: ordered ones joined with their neighbours; plain ones by how alike their classes are."""

from __future__ import annotations

from incrowd.errors import ParameterError
from incrowd.hierarchies.grouping import agglomerated, balanced, class_counts, ways
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy

_MOST = 20_000
_SHOWN = 2
_LONGEST = 24


def ordered_categories(column: EncodedColumn, fanout: int = 2) -> Hierarchy:
    """Join neighbours, ``fanout`` at a time, in the order of the column.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> sizes = pl.Series(["S", "M", "L", "XL"])
    >>> size = EncodedColumn("size", ColumnType.ORDERED, np.arange(4, dtype=np.int32), sizes)
    >>> ordered_categories(size).labels
    ('*', 'S to M', 'S', 'M', 'L to XL', 'L', 'XL')
    """
    if fanout < 2:
        raise ParameterError("fanout must be at least 2.")
    values = _values(column)
    paths = ways(values, balanced(len(values), fanout), lambda group: f"{values[group[0]]} to {values[group[-1]]}")
    return Hierarchy.from_paths(column.name, paths)


def drafted_categories(column: EncodedColumn, target: EncodedColumn | None = None) -> Hierarchy:
    """A taxonomy for those who have none: join values with like classes, halving their number on each level.

    See :func:`incrowd.hierarchies.grouping.agglomerated`. Without a class, rare values are joined first. A group is
    named by its first values. The groups follow the data, not the meaning: look at them before you use them.

    Examples
    --------
    >>> import numpy as np, polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> jobs = pl.Series(["clerk", "cook", "judge", "waiter"])
    >>> job = EncodedColumn("job", ColumnType.CATEGORICAL, np.array([0, 1, 2, 3], np.int32), jobs)
    >>> rich = EncodedColumn("rich", ColumnType.BOOLEAN, np.array([1, 0, 1, 0], np.int32), pl.Series(["no", "yes"]))
    >>> drafted_categories(job, rich).labels
    ('*', '{clerk, judge}', 'clerk', 'judge', '{cook, waiter}', 'cook', 'waiter')
    """
    values = _values(column)
    if len(values) > _MOST:
        raise ParameterError(
            f"Column {column.name!r} has {len(values)} distinct values, too many for a draft. Are they codes? "
            "Then use prefixes."
        )
    partitions = agglomerated(class_counts(column, target))
    return Hierarchy.from_paths(column.name, ways(values, partitions, lambda group: group_name(values, group)))


def group_name(values: list[str], group: list[int]) -> str:
    """A group by its first values and the number of the others.

    Examples
    --------
    >>> group_name(["a", "b", "c", "d"], [0, 2, 3])
    '{a, c, +1}'
    """
    shown = [values[leaf] for leaf in group[:_SHOWN]]
    shown = [value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…" for value in shown]
    more = len(group) - len(shown)
    return "{" + ", ".join([*shown, *([f"+{more}"] if more else [])]) + "}"


def _values(column: EncodedColumn) -> list[str]:
    values = [str(value) for value in column.dictionary.to_list()]
    if not values:
        raise ParameterError(f"Column {column.name!r} has no values to group.")
    return values
