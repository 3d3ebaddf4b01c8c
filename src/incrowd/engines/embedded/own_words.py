"""New rows in the words of a release of counts: their own values, numbers as the public bin they lie in."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.engines.embedded.binning import bin_column
from incrowd.plan.release_plan import ReleasePlan
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.fresh import fresh_series
from incrowd.vocabulary.released_value import Counts, is_shown


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
