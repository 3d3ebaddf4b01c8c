"""Filling in what only the rows tell: exact means, and the ends of ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from incrowd.vocabulary.encoded_table import Codes, EncodedColumn
from incrowd.vocabulary.released_value import Form, Level, Mean, Range

_EXACT_IN_A_FLOAT = 2**53


def settle_forms(forms: Sequence[Form], column: EncodedColumn, shown: Codes) -> Sequence[Form]:
    """The forms of one attribute with what only the rows tell; ``shown`` is the position of the form each row shows.

    Means and ranges are over the rows that show the form, levels over all rows that show the interval.
    """
    if any(isinstance(form, Mean) for form in forms):
        means = group_means(column, shown, len(forms))
        forms = [Mean(_known(means[i])) if isinstance(form, Mean) else form for i, form in enumerate(forms)]
    if any(isinstance(form, Range) for form in forms):
        least, most = group_ends(column, shown, len(forms))
        forms = [Range(least[i].item(), most[i].item()) if isinstance(f, Range) else f for i, f in enumerate(forms)]
    levels = {form: i for i, form in enumerate(dict.fromkeys(f for f in forms if isinstance(f, Level)))}
    if levels:
        level_of = np.array([levels.get(form, -1) if isinstance(form, Level) else -1 for form in forms], np.int32)
        of_rows = np.where(shown >= 0, level_of[shown], np.int32(-1))
        means = group_means(column, of_rows, len(levels))
        forms = [replace(f, value=_known(means[levels[f]])) if isinstance(f, Level) else f for f in forms]
    return forms


def _known(mean: float) -> float | None:
    """A mean as it is released; what no row shows has none."""
    return None if math.isnan(mean) else float(mean)


def group_ends(
    column: EncodedColumn, groups: Codes, count: int
) -> tuple[npt.NDArray[np.int64] | npt.NDArray[np.float64], npt.NDArray[np.int64] | npt.NDArray[np.float64]]:
    """The smallest and the largest number of every group; codes are in the order of the numbers."""
    known = (column.codes != column.missing_code) & (groups >= 0)
    least, most = np.full(count, len(column.numbers) - 1), np.zeros(count, np.int64)
    np.minimum.at(least, groups[known], column.codes[known])
    np.maximum.at(most, groups[known], column.codes[known])
    return column.numbers[least], column.numbers[most]


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
    """The sum may be larger than any float, the mean is not; what the sum lost by rounding counts as well."""
    try:
        total = math.fsum(numbers)
        lost = math.fsum([*numbers, -total])
    except OverflowError:
        return float(sum(map(Fraction, numbers)) / len(numbers))
    return float((Fraction(total) + Fraction(lost)) / len(numbers))
