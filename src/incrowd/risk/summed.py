"""The risk of a table that is nowhere whole: its classes are counted where the rows are, and only counts come here.

Of a table with few enough cells one executor measures everything, as :mod:`incrowd.risk.assessment` does. Of a larger
one what follows from the sizes of classes, and what is guessed from them, is counted on all rows; what looks at sets of
columns, or at cells, is measured on rows drawn at random, and says so: of them more are alone than of the table.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

from incrowd.errors import Notice
from incrowd.risk.assessment import NO_SECRET, Risk, RiskRequest, Uniques, assess
from incrowd.risk.attackers import GUESSED, MeasuredRisk, marketer, measured, paired, prosecutor_of, singling_out_of
from incrowd.risk.classes import Edges, NotMeasured, edges_of
from incrowd.risk.safe_harbor import Item, ItemStanding
from incrowd.rows.spark.counting import RowCounts


def assess_summed(counts: RowCounts, names: tuple[str, ...], request: RiskRequest) -> Risk:
    """The risk of a table, of which ``names`` are the columns that are known of; nobody has several rows."""
    risk, rows = counts.seen(names, partial(look, request))
    return risk if rows == counts.rows else _with_all_rows(risk, rows, counts, request)


def look(request: RiskRequest, frame: pl.DataFrame) -> Risk:
    """What an executor measures; nothing of it is about a single row."""
    risk = assess(frame, request)
    return replace(risk, special=replace(risk.special, scores=np.empty(0)), notices=())


def _with_all_rows(risk: Risk, rows: int, counts: RowCounts, request: RiskRequest) -> Risk:
    """The risk of a sample of so many rows, with what is counted on all rows instead."""
    known = request.quasi_identifiers
    histogram = counts.sizes(known)
    by_size = dict(histogram)
    alone, classes, sampled = by_size.get(1, 0), sum(by_size.values()), f"of {rows:,} rows drawn at random"
    linked = risk.linkability
    message = (
        f"special uniques, linkability and the Safe Harbor checklist are {sampled} from {counts.rows:,}: more of them "
        "are alone there than in the table. All else is counted on all rows."
    )
    return replace(
        risk,
        rows=counts.rows,
        classes=histogram,
        prosecutor=prosecutor_of(histogram, request.thresholds),
        marketer=marketer(classes / counts.rows, risk.marketer.basis),
        uniques=Uniques(alone, alone / counts.rows, None, risk.uniques.estimated),
        edges=_edges(counts, known),
        singling_out=singling_out_of(histogram),
        linkability=linked if isinstance(linked, NotMeasured) else replace(linked, about=f"{linked.about}; {sampled}"),
        safe_harbor=tuple(_partly_checked(item, rows) for item in risk.safe_harbor),
        inference=tuple(_inference(counts, known, name) for name in request.sensitive) or NO_SECRET,
        notices=(Notice("risk-of-a-sample", "", message),),
        exposed=tuple((size, size * many) for size, many in histogram),
    )


def _partly_checked(item: Item, rows: int) -> Item:
    """What no cell of a sample shows may still be in others."""
    if item.standing is not ItemStanding.NOT_FOUND:
        return item
    return replace(item, standing=ItemStanding.NOT_CHECKED, note=f"not found in {rows:,} rows; others were not checked")


def _inference(counts: RowCounts, names: tuple[str, ...], secret: str) -> MeasuredRisk:
    guesses = counts.guesses(names, secret)
    hits, control, rows = zip(*guesses.pairs, strict=True)
    pairs = paired(np.array(hits), np.array(control), np.array(rows))
    return replace(measured("inference", pairs, guesses.most / counts.rows, GUESSED), column=secret)


def _edges(counts: RowCounts, names: tuple[str, ...]) -> Edges:
    """The ends that one row alone reaches: of each column its values, those of several rows twice."""
    each = []
    for name in names:
        values, rows = counts.values(name)
        each.append(edges_of(pl.concat([values, values.filter(rows > 1)]).alias(name).to_frame(), (name,)))
    return Edges(tuple(edge for one in each for edge in one.alone), tuple(name for one in each for name in one.columns))
