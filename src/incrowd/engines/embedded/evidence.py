"""The original rows in the order of a draft, for the verification to compare with."""

from __future__ import annotations

from typing import Any

import polars as pl

from incrowd.engines.engine import Draft
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.schema import Schema


def evidence(draft: Draft, source: pl.DataFrame, table: EncodedTable, schema: Schema) -> Any:
    """A PyArrow table: for each released row what its input row held.

    Quasi-identifiers come as they were understood (numbers, dates, cleaned text), other columns as they were read.
    """
    import pyarrow as pa

    columns = {
        name: _understood(table[name], draft)
        if name in schema.quasi_identifiers
        else source[name].gather(draft.origin).to_arrow()
        for name in schema.released
    }
    return pa.table(columns)


def _understood(column: EncodedColumn, draft: Draft) -> Any:
    import pyarrow as pa

    codes = pl.Series(column.codes[draft.origin])
    known = pl.select(pl.when(codes != column.missing_code).then(codes)).to_series()
    return pa.DictionaryArray.from_arrays(known.to_arrow(), column.dictionary.to_arrow())
