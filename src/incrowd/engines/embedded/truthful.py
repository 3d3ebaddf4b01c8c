"""Keep only what is true of a row that the plan was not made for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Form, Interval, Level, Mean, Shown, Value, ValueSet, render
from incrowd.vocabulary.schema import ColumnType


def truthful(plan: ReleasePlan, table: EncodedTable, groups: Codes, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with every quasi-identifier cell suppressed that its row's own value does not bear out."""
    covered = []
    for i, name in enumerate(plan.show.names):
        column = table[name]
        forms = [group.forms[i] for group in plan.groups]
        kind = plan.schema[name].type
        if column.type.is_numeric:
            covered_rows = _numbers_covered(column, forms, np.maximum(groups, 0))
        else:
            covered_rows = _values_covered(column, forms, np.maximum(groups, 0), kind)
        true = covered_rows & (groups != DROPPED)
        covered.append(pl.when(pl.Series(true)).then(pl.col(name)).otherwise(None).alias(name))
    return frame.with_columns(covered)


def _numbers_covered(column: EncodedColumn, forms: Sequence[Form], groups: Codes) -> npt.NDArray[np.bool_]:
    """Whether each row's number lies in what its group shows; a mean is true of any number."""
    low, high = np.full(len(forms), np.inf), np.full(len(forms), -np.inf)
    for number, form in enumerate(forms):
        match form:
            case Shown(value):
                low[number], high[number] = np.nextafter(float(value), -np.inf), float(value)
            case Interval(below, above):
                low[number] = -np.inf if below is None else below
                high[number] = np.inf if above is None else above
            case Mean():
                low[number], high[number] = -np.inf, np.inf
            case _:
                pass
    numbers = np.append(column.numbers.astype(np.float64), np.nan)[column.codes]
    inside: npt.NDArray[np.bool_] = (numbers > low[groups]) & (numbers <= high[groups])
    return inside


def _values_covered(
    column: EncodedColumn, forms: Sequence[Form], groups: Codes, kind: ColumnType
) -> npt.NDArray[np.bool_]:
    """Whether each row's value is one its group shows."""
    code_of = {value: code for code, value in enumerate(column.dictionary.to_list())}
    covered = np.zeros((len(forms), column.width), bool)
    for number, form in enumerate(forms):
        covered[number, [code_of[value] for value in _values(form, kind) if value in code_of]] = True
    return covered[groups, column.codes]


def _values(form: Form, kind: ColumnType) -> Sequence[Value]:
    """The values, or names of bins, that a form stands for."""
    match form:
        case Shown(value):
            return (value,)
        case ValueSet(values):
            return values
        case Interval(low, high) | Level(low, high):
            return (str(render(Interval(low, high), kind)),)
        case _:
            return ()
