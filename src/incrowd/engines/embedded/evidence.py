"""The original rows in the order of a draft, for the verification to compare with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.engines.engine import Draft
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.released_value import Midpoint


def evidence(draft: Draft, source: pl.DataFrame, table: EncodedTable, plan: ReleasePlan) -> Any:
    """A PyArrow table: for each released column and row what the input held.

    Quasi-identifiers come as they were understood (numbers, dates, cleaned text), other columns as they were read.
    """
    import pyarrow as pa

    columns = {
        written.name: _understood(table[written.source], draft)
        if written.source in plan.schema.quasi_identifiers
        else source[written.source].gather(draft.origin).to_arrow()
        for written in plan.written
    }
    return pa.table(columns)


def claims(
    plan: ReleasePlan, shown: Mapping[str, Codes]
) -> dict[str, tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]]:
    """For attributes shown as middles: the ends of the interval behind what each row shows."""
    found = {}
    for name in plan.names:
        forms = plan.forms(name)
        if any(isinstance(form, Midpoint) for form in forms):
            low, high = np.full(len(forms) + 1, np.nan), np.full(len(forms) + 1, np.nan)
            for i, form in enumerate(forms):
                if isinstance(form, Midpoint):
                    low[i] = -np.inf if form.low is None else form.low
                    high[i] = np.inf if form.high is None else form.high
            found[name] = (low[shown[name]], high[shown[name]])
    return found


def _understood(column: EncodedColumn, draft: Draft) -> Any:
    import pyarrow as pa

    codes = pl.Series(column.codes[draft.origin])
    known = pl.select(pl.when(codes != column.missing_code).then(codes)).to_series()
    return pa.DictionaryArray.from_arrays(known.to_arrow(), column.dictionary.to_arrow())
