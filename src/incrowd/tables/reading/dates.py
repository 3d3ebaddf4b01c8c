"""Dates as people write them, where only one reading is possible."""

from __future__ import annotations

import re
from dataclasses import dataclass

import polars as pl

_ISO_TIME = r"(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,9})?)?)?(Z|[+-]\d{2}:?\d{2})?$"
_ISO = r"^(\d{4}-\d{2}-\d{2})"
_ZERO_TIME = r"^.{10}(?:[T ]00:00(?::00(?:[.,]0+)?)?)?(?:Z|[+-]\d{2}:?\d{2})?$"
# Pattern and the readings it allows; where two are given, the values must decide.
_STYLES = (
    (r"^\d{4}/\d{1,2}/\d{1,2}$", ("%Y/%m/%d",)),
    (r"^\d{4}\.\d{1,2}\.\d{1,2}$", ("%Y.%m.%d",)),
    (r"^\d{1,2}\.\d{1,2}\.\d{4}$", ("%d.%m.%Y",)),
    (r"^\d{1,2}/\d{1,2}/\d{4}$", ("%d/%m/%Y", "%m/%d/%Y")),
    (r"^\d{1,2}-\d{1,2}-\d{4}$", ("%d-%m-%Y", "%m-%d-%Y")),
    (r"^\d{1,2} [A-Za-z]{3} \d{4}$", ("%d %b %Y",)),
    (r"^\d{1,2}-[A-Za-z]{3}-\d{4}$", ("%d-%b-%Y",)),
    (r"^\d{1,2} [A-Za-z]{3,9} \d{4}$", ("%d %B %Y",)),
    (r"^[A-Za-z]{3,9} \d{1,2}, \d{4}$", ("%B %d, %Y",)),
)
_TWO_DIGIT_YEAR = r"^\d{1,2}[/.-]\d{1,2}[/.-]\d{2}$"


@dataclass(frozen=True, eq=False)
class Dates:
    """What a column of texts gives when read as dates."""

    values: pl.Series  # the dates; null where the text is null or not a date
    ambiguous: bool = False  # day and month, or the century, cannot be told
    mixed_zones: bool = False  # more than one time zone, or times with and without one
    has_times: bool = False  # some values have a time of day other than midnight


def parse_dates(texts: pl.Series) -> Dates:
    """Read texts as dates: ISO 8601, or one other style of which only one reading fits all values.

    Examples
    --------
    >>> parse_dates(pl.Series(["2020-02-29", None])).values.to_list()
    [datetime.date(2020, 2, 29), None]
    >>> parse_dates(pl.Series(["01/02/2003"])).ambiguous, parse_dates(pl.Series(["31/12/2003"])).ambiguous
    (True, False)
    """
    known = texts.drop_nulls()
    if known.str.contains(_ISO).any():
        return _iso(texts)
    first = known[0] if len(known) else None
    for pattern, readings in _STYLES:
        if first is not None and not re.search(pattern, first):
            continue  # the style of all is that of one, which is quick to look at
        if known.str.contains(pattern).all():
            tried = [texts.str.to_date(reading, strict=False) for reading in readings]
            fitting = [dates for dates in tried if dates.null_count() == texts.null_count()]
            same = all(dates.equals(fitting[0]) for dates in fitting)
            if fitting and same:
                return Dates(fitting[0])
            return Dates(min(tried, key=pl.Series.null_count), ambiguous=bool(fitting))
    nothing = pl.Series([None] * len(texts), dtype=pl.Date)
    return Dates(nothing, ambiguous=bool(known.str.contains(_TWO_DIGIT_YEAR).any()))


def _iso(texts: pl.Series) -> Dates:
    days = texts.str.extract(_ISO + _ISO_TIME, 1).str.to_date("%Y-%m-%d", strict=False)
    zones = texts.drop_nulls().str.extract(_ISO + _ISO_TIME, 2).fill_null("").unique()
    has_times = not texts.drop_nulls().str.contains(_ZERO_TIME).all()
    return Dates(days, mixed_zones=len(zones) > 1, has_times=has_times)
