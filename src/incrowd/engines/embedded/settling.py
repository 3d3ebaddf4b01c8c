"""Filling in what only the rows tell: the exact mean of every group that shows one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Form, Level, Mean

_EXACT_IN_A_FLOAT = 2**53


def with_means(plan: ReleasePlan, table: EncodedTable, groups: Codes) -> ReleasePlan:
    """The plan with every mean computed, once per group, over exactly the rows of the group."""
    columns = [
        _filled(table[name], [group.forms[i] for group in plan.groups], groups)
        for i, name in enumerate(plan.show.names)
    ]

    def filled(number: int, group: Group) -> Group:
        return replace(group, forms=tuple(forms[number] for forms in columns))

    return plan.with_groups(filled)


def _filled(column: EncodedColumn, forms: Sequence[Form], groups: Codes) -> Sequence[Form]:
    """The forms of one attribute with means over the group, and levels over all groups that show the interval."""
    if any(isinstance(form, Mean) for form in forms):
        means = group_means(column, groups, len(forms))
        forms = [Mean(float(means[i])) if isinstance(form, Mean) else form for i, form in enumerate(forms)]
    levels = {form: i for i, form in enumerate(dict.fromkeys(f for f in forms if isinstance(f, Level)))}
    if levels:
        level_of = np.array([levels.get(form, -1) if isinstance(form, Level) else -1 for form in forms], np.int32)
        shown = np.where(groups >= 0, level_of[groups], np.int32(-1))
        means = group_means(column, shown, len(levels))
        forms = [replace(f, value=float(means[levels[f]])) if isinstance(f, Level) else f for f in forms]
    return forms


def group_means(column: EncodedColumn, groups: Codes, count: int) -> npt.NDArray[np.float64]:
    """The mean of every group; missing values are left out, an empty group has NaN.

    Sums are exact before they are rounded, once. The quotient is kept between the smallest and the largest value,
    where the exact mean lies, so it satisfies every threshold the rows satisfy.

    Examples
    --------
    >>> import polars as pl
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> ages = EncodedColumn("age", ColumnType.INTEGER, np.array([0, 1, 1, 2], np.int32), pl.Series([30, 41]))
    >>> group_means(ages, np.array([0, 0, 1, 1], np.int32), 2).tolist()
    [35.5, 41.0]
    """
    known = (column.codes != column.missing_code) & (groups >= 0)
    members, numbers = groups[known], column.numbers[column.codes[known]]
    rows = np.bincount(members, minlength=count)
    least, most = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(least, members, numbers)
    np.maximum.at(most, members, numbers)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(_means(numbers, members, rows), least, most)


def _means(
    numbers: npt.NDArray[np.int64] | npt.NDArray[np.float64], groups: Codes, rows: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Means per group; in floats where those hold every sum exactly."""
    whole = numbers.dtype.kind == "i"
    largest = float(np.abs(numbers.astype(np.float64)).max(initial=0))
    if whole and largest * len(numbers) < _EXACT_IN_A_FLOAT:
        sums = np.bincount(groups, numbers.astype(np.float64), len(rows)).astype(np.float64)
        return sums / rows
    parts = np.split(numbers[np.argsort(groups, kind="stable")], np.cumsum(rows)[:-1])
    mean = _mean_of_whole if whole else _mean_of_real
    return np.array([mean(part.tolist()) if len(part) else np.nan for part in parts], np.float64)


def _mean_of_whole(numbers: list[int]) -> float:
    return sum(numbers) / len(numbers)


def _mean_of_real(numbers: list[float]) -> float:
    """The sum may be larger than any float, the mean is not."""
    try:
        return math.fsum(numbers) / len(numbers)
    except OverflowError:
        return float(sum(map(Fraction, numbers)) / len(numbers))
