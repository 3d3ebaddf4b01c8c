"""Item C: dates finer than a year, and ages over 89."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from incrowd.risk.edges import numbers_of
from incrowd.risk.safe_harbor.items import IDENTIFIERS, words_of
from incrowd.risk.wording import counted

OLDEST = 89
_YEAR = r"(?:1[6-9]|20|21)\d\d"
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_FINER = (
    rf"(?i)\b{_YEAR}[-/](?:0?[1-9]|1[0-2])\b"
    rf"|\b{_YEAR}([-/.])(?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12]\d|3[01])(?:\b|T)"
    r"|(?:^|[^\d.-])\d{1,2}([-/.])\d{1,2}[-/.](?:\d{4}|\d{2})(?:$|[^\d.-])"
    rf"|\b\d{{1,2}}[ -]{_MONTH}[ -]\d{{4}}\b|\b{_MONTH} (?:\d{{1,2}}, )?\d{{4}}\b"
)
_ONLY_YEARS = rf"^{_YEAR}$"


def fine_dates(series: pl.Series) -> Iterator[str]:
    """Why the column shows dates finer than a year, if it does.

    Examples
    --------
    >>> list(fine_dates(pl.Series("seen", ["2020-03", "2021"]))), list(fine_dates(pl.Series("born", ["1950"])))
    (['1 cell has a date finer than a year'], [])
    """
    cells = series.count() if series.dtype in (pl.Date, pl.Datetime) else _matching(series, _FINER)
    if cells:
        has = "has" if cells == 1 else "have"
        yield f"{counted(cells, 'cell')} {has} a date finer than a year"
    elif IDENTIFIERS["C"].is_named_by(series.name):
        others = series.count() - _matching(series, _ONLY_YEARS)
        if others:
            yield f"the name says date, and {counted(others, 'cell')} cannot be read as a year"


def great_ages(series: pl.Series) -> Iterator[str]:
    """Why the column shows ages over 89, if it does. In sets and intervals every number is looked at.

    Examples
    --------
    >>> list(great_ages(pl.Series("age", [89, 90, 91]))), list(great_ages(pl.Series("age", ["(84, inf)"])))
    (['2 rows are above 89'], [])
    """
    if not {"age", "ages"}.intersection(words_of(series.name)):
        return
    numbers = numbers_of(series)
    if numbers is not None:
        rows = int((numbers > OLDEST).sum())
        if rows:
            yield f"{counted(rows, 'row')} {'is' if rows == 1 else 'are'} above {OLDEST}"
    elif series.dtype == pl.String:
        rows = int(
            (series.str.extract_all(r"\d+").list.eval(pl.element().cast(pl.Float64)).list.max() > OLDEST + 1).sum()
        )
        if rows:
            yield f"{counted(rows, 'row')} with a bound above {OLDEST + 1}"


def _matching(series: pl.Series, pattern: str) -> int:
    if series.dtype == pl.String:
        return int(series.str.contains(pattern).sum())
    if series.dtype.is_integer():
        return int(series.cast(pl.String).str.contains(pattern).sum())
    return 0
