"""Give the distinct values of a column their type, or say how many of them do not have it.

Dates as people write them, where only one reading is possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import Notice, SchemaError, ValuesError, reading_option
from incrowd.tables.reading.source import EXACT, Tally
from incrowd.vocabulary.schema import Column, ColumnType

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


# Clean the distinct texts of a column: what looks the same must be the same value.
# Zero-width space, word joiner, byte order mark, soft hyphen and the marks and embeddings of direction.
INVISIBLE = "[\u200b\u2060\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_WORDS = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("1", "0"), ("on", "off"))
TRUTH = {word: place == 0 for pair in _WORDS for place, word in enumerate(pair)}
"""What words for yes and no mean, in lower case."""


def clean(tally: Tally, missing: tuple[str, ...], where: str) -> tuple[pl.Series, tuple[Notice, ...]]:
    """Strip edge spaces and invisible characters, compose accents; empty text and markers become null."""
    texts = tally.values
    steps = [("edge-spaces", "with spaces at an edge; read without them", pl.all().str.strip_chars())]
    if (texts.str.len_bytes() != texts.str.len_chars()).any():
        steps = [
            (
                "invisible-characters",
                "with invisible characters; read without them",
                pl.all().str.replace_all(INVISIBLE, ""),
            ),
            (
                "composed",
                "with accents apart from their letters; read as one character (NFC)",
                pl.all().str.normalize("NFC"),
            ),
            *steps,
        ]
    notices = []
    for code, message, step in steps:
        cleaned = texts.to_frame("").select(step).to_series()
        changed = (cleaned != texts) & (cleaned != "")
        if changed.any():
            notices.append(Notice(code, where, f"{tally.described(changed)} {message}."))
        texts = cleaned
    gone = texts.is_in(["", *missing])
    return pl.select(pl.when(~gone).then(texts)).to_series(), tuple(notices)


def variants(texts: pl.Series, where: str) -> Iterator[Notice]:
    """Notices about values that are kept apart although they may mean the same."""
    known = texts.drop_nulls().unique()
    folded = known.str.to_lowercase().unique()
    if len(folded) < len(known):
        more = counted(len(known) - len(folded), "more value")
        yield Notice("case-variants", where, f"{more} than if case did not count; they are kept apart.")
    numbers = known.cast(pl.Float64, strict=False).drop_nulls()
    if numbers.n_unique() < len(numbers):
        more = counted(len(numbers) - numbers.n_unique(), "more value")
        yield Notice("number-spellings", where, f"{more} than numbers they write; they are kept apart.")
    if is_truth_mixture(folded):
        yield Notice("truth-spellings", where, "yes and no are written in several ways; they are kept apart.")


def is_truth_mixture(folded: pl.Series) -> bool:
    """Whether lower-case values are words for yes and no of more than one kind."""
    if not 1 < len(folded) <= len(TRUTH):
        return False
    words = set(folded.to_list())
    return words <= set(TRUTH) and not any(words <= set(pair) for pair in _WORDS)


_WHOLE = r"^([+-]?[0-9]+)\.0*$"
_DIGITS = r"^[+-]?[0-9]+$"
_INFINITE = r"(?i)inf"
_DECIMAL_COMMA = r"^([+-]?[0-9]+),([0-9]+)$"


@dataclass(frozen=True, eq=False)
class Values:
    """Distinct values on their way to a type."""

    values: pl.Series  # one entry per distinct value, null where it counts as missing
    # the type they have; what a column was declared as, except for whole numbers too large for 64 bits
    type: ColumnType
    notices: tuple[Notice, ...] = ()  # what was handled

    def and_notice(self, code: str, where: str, message: str) -> Values:
        """The same values with one more notice."""
        return replace(self, notices=(*self.notices, Notice(code, where, message)))


def convert(tally: Tally, column: Column, missing: tuple[str, ...] = ()) -> Values:
    """Type the distinct values of a column; a value that cannot have the type is an error with a count."""
    notices: tuple[Notice, ...] = ()
    if tally.values.is_empty():  # nothing has every type
        tally = Tally(pl.Series([], dtype=pl.String), tally.counts)
    values = tally.values
    if values.dtype == pl.String:
        values, notices = clean(tally, missing, column.name)
    if values.dtype.is_float():
        values = _plain_zero(values.fill_nan(None))
    match column.type:
        case ColumnType.INTEGER:
            typed = _integers(values, tally, column)
        case ColumnType.REAL:
            typed = _reals(values, tally, column)
        case ColumnType.DATE:
            typed = _dates(values, tally, column)
        case ColumnType.BOOLEAN:
            typed = _booleans(as_text(values), tally, column)
        case ColumnType.ORDERED:
            typed = _ordered(as_text(values), tally, column)
        case ColumnType.CATEGORICAL | ColumnType.TEXT:
            texts = as_text(values)
            typed = Values(texts, column.type, tuple(variants(texts, column.name)))
    return replace(typed, notices=(*notices, *typed.notices))


def as_text(values: pl.Series) -> pl.Series:
    """Values as text: truth as true and false, a whole number without decimals, whatever the others are.

    Examples
    --------
    >>> as_text(pl.Series([1.0, 1.5, None])).to_list(), as_text(pl.Series([True])).to_list()
    (['1', '1.5', None], ['true'])
    """
    texts = values.cast(pl.String)
    if not values.dtype.is_float():
        return texts
    whole = (values == values.floor()) & (values.abs() <= EXACT)
    return pl.select(
        pl.when(whole).then(values.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(texts)
    ).to_series()


def _plain_zero(numbers: pl.Series) -> pl.Series:
    """Negative zero is zero."""
    return pl.select(pl.when(numbers != 0).then(numbers).when(numbers == 0).then(0.0)).to_series()


def _refuse(bad: pl.Series, tally: Tally, column: Column, trouble: str, advice: str) -> None:
    """Raise if any distinct value is bad, with the number of values and rows."""
    if bad.any():
        raise ValuesError(f"Column {column.name!r}: {tally.described(bad)} {trouble}. {advice}")


_MEND = "Mend them, declare the type categorical, or name the text that means missing."


def _integers(values: pl.Series, tally: Tally, column: Column) -> Values:
    if values.dtype.is_float():
        whole = (values == values.floor()) & (values.abs() <= EXACT)
        _refuse(~whole, tally, column, "cannot be read as whole numbers", "Declare the type real.")
        return Values(values.cast(pl.Int64), ColumnType.INTEGER)
    if values.dtype != pl.String:
        _refuse_temporal(values, column)
        return Values(values.cast(pl.Int64), ColumnType.INTEGER)
    plain = values.str.replace(_WHOLE, "${1}")
    numbers = plain.cast(pl.Int64, strict=False)
    failed = numbers.is_null() & values.is_not_null()
    large = failed & plain.str.contains(_DIGITS)
    _refuse(failed & ~large, tally, column, "cannot be read as whole numbers", _MEND)
    if large.any():
        message = f"{tally.described(large)} beyond 64 bits; the column is kept as text."
        return Values(values, ColumnType.TEXT).and_notice("large-integers", column.name, message)
    return _unified(values, Values(numbers, ColumnType.INTEGER), column)


def _reals(values: pl.Series, tally: Tally, column: Column) -> Values:
    typed = Values(values, ColumnType.REAL)
    if values.dtype == pl.String:
        typed = _real_texts(values, tally, column)
    else:
        _refuse_temporal(values, column)
    numbers = _plain_zero(typed.values.cast(pl.Float64))
    _refuse(numbers.is_infinite(), tally, column, "with an infinite number", "Replace them by missing or by a limit.")
    return replace(typed, values=numbers)


def _real_texts(texts: pl.Series, tally: Tally, column: Column) -> Values:
    commas = texts.str.contains(_DECIMAL_COMMA)
    with_comma = bool(commas.any()) and not texts.str.contains(r"\.").any()
    points = texts.str.replace(_DECIMAL_COMMA, "${1}.${2}") if with_comma else texts
    numbers = points.cast(pl.Float64, strict=False)
    _refuse(numbers.is_null() & texts.is_not_null(), tally, column, "cannot be read as numbers", _MEND)
    beyond = numbers.is_infinite() & ~texts.str.contains(_INFINITE)
    _refuse(beyond, tally, column, "beyond the range of 64-bit numbers", "Change their unit, or mend them.")
    nan = numbers.is_nan() & texts.is_not_null()
    typed = _unified(texts, Values(numbers.fill_nan(None), ColumnType.REAL), column)
    if with_comma:
        message = f"{tally.described(commas)} with a decimal comma, read as such."
        typed = typed.and_notice("decimal-comma", column.name, message)
    if nan.any():
        typed = typed.and_notice("nan-is-missing", column.name, f"{tally.described(nan)} not a number (NaN): missing.")
    return typed


def _unified(texts: pl.Series, typed: Values, column: Column) -> Values:
    """Say so where one number was written in more than one way."""
    known = typed.values.is_not_null()
    spellings = texts.filter(known).n_unique() - typed.values.filter(known).n_unique()
    if spellings <= 0:
        return typed
    message = f"{counted(spellings, 'more spelling')} than numbers; one number is one value."
    return typed.and_notice("number-spellings", column.name, message)


def _refuse_temporal(values: pl.Series, column: Column) -> None:
    if values.dtype.is_temporal():
        raise ValuesError(f"Column {column.name!r} holds dates, not numbers. Declare the type date.")


def _dates(values: pl.Series, tally: Tally, column: Column) -> Values:
    if isinstance(values.dtype, pl.Date | pl.Datetime):
        days = values.dt.date()
        has_times = isinstance(values.dtype, pl.Datetime) and (values.dt.truncate("1d") != values).any()
        return _with_times(Values(days, ColumnType.DATE), bool(has_times), column)
    if values.dtype != pl.String:
        raise ValuesError(f"Column {column.name!r} holds numbers, not dates. Declare another type.")
    dates = parse_dates(values)
    if dates.ambiguous:
        raise ValuesError(
            f"Column {column.name!r}: the order of day, month and year could not be determined. Say which it is, "
            f"as {reading_option(dates='dmy')}, or write YYYY-MM-DD."
        )
    bad = dates.values.is_null() & values.is_not_null()
    _refuse(bad, tally, column, "cannot be read as dates of one style", "Write YYYY-MM-DD, or declare another type.")
    if dates.mixed_zones:
        raise ValuesError(f"Column {column.name!r} mixes time zones. Convert all times to one zone.")
    return _with_times(Values(dates.values, ColumnType.DATE), dates.has_times, column)


def _with_times(typed: Values, has_times: bool, column: Column) -> Values:
    if not has_times:
        return typed
    return typed.and_notice("time-of-day", column.name, "times of day are left out: only the dates are used.")


def _booleans(texts: pl.Series, tally: Tally, column: Column) -> Values:
    folded = texts.str.to_lowercase()
    unknown = ~folded.is_in(list(TRUTH)) & texts.is_not_null()
    _refuse(unknown, tally, column, "cannot be read as yes or no", _MEND)
    if not is_truth_mixture(folded.drop_nulls().unique()):
        return Values(folded, ColumnType.BOOLEAN)
    meaning = {word: "true" if truth else "false" for word, truth in TRUTH.items()}
    typed = Values(folded.replace_strict(meaning, return_dtype=pl.String), ColumnType.BOOLEAN)
    message = "yes and no are written in more than one way; they are read as true and false."
    return typed.and_notice("truth-spellings", column.name, message)


def _ordered(texts: pl.Series, tally: Tally, column: Column) -> Values:
    if not column.order:
        raise SchemaError(f"Column {column.name!r} is ordered, but its order is not given. Name its values in order.")
    unknown = ~texts.is_in(list(column.order)) & texts.is_not_null()
    _refuse(unknown, tally, column, "missing from the declared order", "Add them to the order, or mend them.")
    return Values(texts, ColumnType.ORDERED)
