"""Rows that the plan was not made for: only what is true of them is kept, in the words of the release."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import DROPPED
from incrowd.rows.memory.population import bin_column
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.fresh import fresh_series
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    Value,
    ValueSet,
    is_shown,
    render,
)
from incrowd.vocabulary.schema import Column


# Keep only what is true of a row that the plan was not made for.
def truthful(column: EncodedColumn, asked: Column, forms: Sequence[Form], shown: Codes) -> Codes:
    """The form each row shows, ``DROPPED`` where its own value does not bear it out.

    ``column`` holds the rows' values, or the names of their bins; ``asked`` is the column as the plan knows it.
    """
    groups = np.maximum(shown, 0)
    if column.type.is_numeric:
        covered = _numbers_covered(column, asked, forms, groups)
    else:
        covered = _values_covered(column, asked, forms, groups)
    return np.where(covered & (shown != DROPPED), shown, np.int32(DROPPED))


def _numbers_covered(
    column: EncodedColumn, asked: Column, forms: Sequence[Form], groups: Codes
) -> npt.NDArray[np.bool_]:
    """Whether each row's number lies in what its group shows; a mean is true of any number."""
    if any(isinstance(form, Category) for form in forms):
        return _values_covered(column, asked, forms, groups)
    low, high = np.full(len(forms), np.inf), np.full(len(forms), -np.inf)
    for number, form in enumerate(forms):
        match form:
            case Shown(value):
                low[number], high[number] = np.nextafter(float(value), -np.inf), float(value)
            case Range(least, most) if least is not None and most is not None:
                low[number], high[number] = np.nextafter(float(least), -np.inf), float(most)
            case Interval(below, above) | Level(below, above) | Midpoint(below, above):
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
    column: EncodedColumn, asked: Column, forms: Sequence[Form], groups: Codes
) -> npt.NDArray[np.bool_]:
    """Whether each row's value is one its group shows; equal forms cover the same."""
    numbers = {form: i for i, form in enumerate(dict.fromkeys(forms))}
    values = column.numbers.tolist() if column.type.is_numeric else column.dictionary.to_list()
    code_of = {value: code for code, value in enumerate(values)}
    covered = np.zeros((len(numbers), column.width), bool)
    for form, number in numbers.items():
        if isinstance(form, Category) and asked.hierarchy is not None:
            covered[number, _below(asked.hierarchy, form.label, column)] = True
        covered[number, [code_of[value] for value in _values(form, asked) if value in code_of]] = True
    number_of = np.array([numbers[form] for form in forms], np.int64)
    return covered[number_of[groups], column.codes]


def _below(hierarchy: Hierarchy, label: str, column: EncodedColumn) -> npt.NDArray[np.intp]:
    """The codes whose values lie below a node of the hierarchy."""
    below = hierarchy.leaves_below(hierarchy.labels.index(label))
    leaves = hierarchy.find(column)
    return np.flatnonzero((leaves >= below.start) & (leaves < below.stop))


def _values(form: Form, asked: Column) -> Sequence[Value]:
    """The values, or names of bins, that a form stands for."""
    match form:
        case Shown(value):
            return (value,)
        case ValueSet(values):
            return values
        case Interval(low, high) | Level(low, high) | Midpoint(low, high):
            return (str(render(Interval(low, high), asked.type)),)
        case _:
            return ()


# New rows in the words of a release of counts: their own values, numbers as the public bin they lie in.
def own_words(plan: ReleasePlan, table: EncodedTable, source: pl.DataFrame) -> pl.DataFrame:
    """The rows as a recipient has them next to the dealt-out counts; what no group shows is missing."""
    columns = []
    for written in plan.written:
        name = written.source
        if name not in source.columns:
            continue
        if name not in plan.names:
            columns.append(fresh_series(source[name]))
            continue
        own = table[name]
        if own.type.is_numeric:
            own = bin_column(own, plan.cuts.get(name, ()))
        hidden = not any(is_shown(form) for form in plan.forms(name))
        words = pl.Series(name, [*_known(plan, name, own), None], pl.String)
        places = np.full(table.height, own.missing_code) if hidden else own.codes
        columns.append(words.gather(places))
    return pl.DataFrame(columns)


def _known(plan: ReleasePlan, name: str, own: EncodedColumn) -> list[str | None]:
    """The words of a column; a value that no group counts is no word of the release. All bins are."""
    words = own.dictionary.cast(pl.String).to_list()
    if name in plan.cuts:
        return words
    counted = {member for form in plan.forms(name) if isinstance(form, Counts) for member, _ in form.members or ()}
    return [word if word in counted else None for word in words]
