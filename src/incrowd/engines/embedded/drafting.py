"""The released table, built from fresh memory, in random order.

Nothing is masked in place and no container is carried over: a quasi-identifier column is made from the
values its groups show, other columns are copied value by value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.fresh import fresh_series
from incrowd.vocabulary.released_value import Form, Interval, Level, Mean, Shown, ValueSet, render
from incrowd.vocabulary.schema import ColumnType


def draft_columns(
    plan: ReleasePlan, groups: npt.NDArray[np.integer], source: pl.DataFrame, rows: npt.NDArray[np.intp]
) -> pl.DataFrame:
    """The released columns that the source has, for the given rows; ``groups`` are the groups of those rows."""
    position = {name: i for i, name in enumerate(plan.show.names)}
    columns = []
    for name in plan.schema.released:
        if name not in source.columns:
            continue
        if name in position:
            forms = [group.forms[position[name]] for group in plan.groups]
            shown = shown_values(name, forms, plan.schema[name].type, source.schema[name])
            columns.append(shown.gather(groups))
        else:
            columns.append(fresh_series(source[name].gather(rows)))
    return pl.DataFrame(columns)


def shown_values(name: str, forms: Sequence[Form], column_type: ColumnType, source_type: pl.DataType) -> pl.Series:
    """What each group shows, as a column of the narrowest type that holds it."""
    values = [render(form, column_type) for form in forms]
    if column_type is ColumnType.DATE and not any(isinstance(form, Interval | ValueSet) for form in forms):
        return pl.Series(name, values, pl.String).str.to_date("%Y-%m-%d")
    if column_type.is_numeric and all(not isinstance(value, str) for value in values):
        return pl.Series(name, values, _number_type(forms))
    if source_type == pl.Boolean and not any(isinstance(form, ValueSet) for form in forms):
        return pl.Series(name, [None if value is None else value == "true" for value in values], pl.Boolean)
    return pl.Series(name, [None if value is None else str(value) for value in values], pl.String)


def _number_type(forms: Sequence[Form]) -> type[pl.DataType]:
    """Whole numbers stay whole as long as no mean is released."""
    whole = all(isinstance(form.value, int) for form in forms if isinstance(form, Shown))
    return pl.Int64 if whole and not any(isinstance(form, Mean | Level) for form in forms) else pl.Float64
