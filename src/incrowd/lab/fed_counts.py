"""What learners are told of a release of counts: the values dealt out again, as its recipient does it."""

from __future__ import annotations

import numpy as np
import polars as pl

from incrowd.engines.embedded.engine import EmbeddedEngine
from incrowd.engines.engine import Draft
from incrowd.lab.examples import Examples
from incrowd.lab.fed_cells import raw_cells
from incrowd.lab.feeding import Parts, joined, label_names
from incrowd.plan.release_plan import ReleasePlan
from incrowd.recipients.counted_table import CountedTable
from incrowd.recipients.decoding import DEALS, decode_table

_WEIGHT = "\x1fweight"  # begins with a letter that names do not have


def feed_decoded(
    parts: Parts, plan: ReleasePlan, draft: Draft, test_frame: pl.DataFrame, seed: int, deals: int = DEALS
) -> tuple[Examples, Examples]:
    """Every released row once for each deal, weighted; test rows with their own values, numbers in the public bins.

    See :func:`incrowd.lab.feeding.feed_release` for the parameters.
    """
    table = CountedTable.of(draft.frame.select(plan.counted), plan.counted)
    plain = decode_table(table, deals=deals, weight=_WEIGHT, seed=seed)
    seen = EmbeddedEngine().transform(plan, parts.test, test_frame)
    rows = np.tile(draft.origin, deals)
    pairs = [
        joined(name, plain[name], seen[name])
        if name in plan.counted
        else joined(name, raw_cells(parts.train[name].take(rows)), raw_cells(parts.test[name]))
        for name in parts.inputs
    ]
    target = parts.train[parts.target]
    labels = label_names(target, bool(target.counts[-1] or parts.test[parts.target].counts[-1]))
    return (
        Examples(
            tuple(pair[0] for pair in pairs), target.codes[rows].astype(np.int64), labels, plain[_WEIGHT].to_numpy()
        ),
        Examples(tuple(pair[1] for pair in pairs), parts.truth, labels),
    )
