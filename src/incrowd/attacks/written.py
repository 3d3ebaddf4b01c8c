"""Quasi-identifiers of a release as the texts that were shown, whatever the file made of them."""

from __future__ import annotations

import re

import polars as pl

from incrowd.plan.release_plan import HIGH, LOW
from incrowd.publishing.serialise import safe_name

_ESCAPED = re.compile(r"^'(?=[=+@\t\r-].)", re.DOTALL)


def written_cells(frame: pl.DataFrame, name: str) -> pl.Series | None:
    """The cells of a quasi-identifier as texts, two columns for the ends of an interval as one; None if it is gone."""
    for known_as in (name, safe_name(name)):
        if known_as in frame.columns:
            return plain_texts(frame[known_as])
        if known_as + LOW in frame.columns and known_as + HIGH in frame.columns:
            return _joined(plain_texts(frame[known_as + LOW]), plain_texts(frame[known_as + HIGH]))
    return None


def plain_texts(cells: pl.Series) -> pl.Series:
    """Cells as texts, without the apostrophe that keeps a spreadsheet from running them.

    Examples
    --------
    >>> plain_texts(pl.Series(["'=1+2", "it's", None])).to_list()
    ['=1+2', "it's", None]
    """
    texts = cells.cast(pl.String)
    if not texts.str.starts_with("'").any():
        return texts
    return pl.Series(texts.name, [None if text is None else _ESCAPED.sub("", text) for text in texts], pl.String)


def _joined(low: pl.Series, high: pl.Series) -> pl.Series:
    """The two ends of an interval as its text."""
    both = [_interval_text(first, last) for first, last in zip(low, high, strict=True)]
    return pl.Series(low.name, both, pl.String)


def _interval_text(low: str | None, high: str | None) -> str | None:
    if low is None and high is None:
        return None
    if low == high:
        return low
    return f"({'-inf' if low is None else low}, " + ("inf)" if high is None else f"{high}]")
