"""Columns made coarser as they are read, by the rules of :mod:`incrowd.vocabulary.column_rules`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import HeaderError, Notice, ValuesError
from incrowd.tables.reading.convert import INVISIBLE
from incrowd.tables.reading.source import Source
from incrowd.vocabulary.column_rules import NO_AREA, SMALL_AREAS, TOP, YEAR, ZIP3, Coarsening, coarsenings
from incrowd.vocabulary.schema import Column, unknown_column

_TIME = "(?:[T ,]+[0-9]{1,2}:[0-9]{2}.*)?"
_YEARS = (
    "([0-9]{4})",
    "([0-9]{4})-[0-9]{2}(?:-[0-9]{2})?",
    "([0-9]{4})[/.][0-9]{1,2}[/.][0-9]{1,2}",
    "[0-9]{1,2}[./-][0-9]{1,2}[./-]([0-9]{4})",
    "[0-9]{1,2}[ -][A-Za-z]{3,9}[ -]([0-9]{4})",
    "[A-Za-z]{3,9} (?:[0-9]{1,2}, )?([0-9]{4})",
)
_NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]*)?$"
_READS = {YEAR: "dates or years", TOP: "plain numbers"}


def coarsened(source: Source, rules: Mapping[str, str] | None, why: Mapping[str, str] | None = None) -> Source:
    """The table with some columns made coarser; what they were is kept for who must know people again.

    A notice tells what each rule did, and ``why`` it was kept, if that is known.
    """
    known = coarsenings(rules)
    if not known:
        return source
    columns, notices = [], []
    for name in known:
        if name not in source.frame.columns:
            raise HeaderError(unknown_column(name, source.frame.columns))
    before = source.frame.select(list(known))
    for name, rule in known.items():
        after = coarser(before[name], rule, source.origin.missing)
        changes = Changes.of(before[name], after, rule, source.origin.missing)
        notices.append(rule_notice(name, rule, changes, (why or {}).get(name)))
        columns.append(after)
    return replace(
        source,
        frame=source.frame.with_columns(columns),
        notices=(*source.notices, *notices),
        declared=(*(column for column in source.declared if column.name not in known), *declared_by(known)),
        finer=before if source.finer is None else source.finer.hstack(before),
    )


def declared_by(rules: Mapping[str, Coarsening]) -> list[Column]:
    """Areas are no numbers, even if all of them look like some."""
    return [Column(name, reason="areas of ZIP codes") for name, rule in rules.items() if rule.kind == ZIP3]


def coarser(cells: pl.Series, rule: Coarsening, missing: Sequence[str] = ()) -> pl.Series:
    """The column by the rule; a cell that is nothing the rule reads becomes null.

    Examples
    --------
    >>> coarser(pl.Series("age", [40, 93, None]), Coarsening.of("top-90")).to_list()
    [40, 90, None]
    """
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype.is_float():
        cells = cells.fill_nan(None)
    texts = cleaned(cells, missing) if cells.dtype == pl.String else None
    frame = pl.DataFrame({"raw": cells, "text": texts if texts is not None else pl.Series([None] * len(cells))})
    if rule.kind == YEAR:
        after = _year(cells, rule.bound)
    elif rule.kind == TOP:
        after = _top(cells, rule.bound or 0)
    else:
        after = _area(cells)
    return frame.with_columns(after.alias("after"))["after"].alias(cells.name)


def unreadable(cells: pl.Series, rule: Coarsening, missing: Sequence[str] = ()) -> int:
    """How many cells are nothing that the rule reads."""
    return int((coarser(cells, rule, missing).is_null() & _present(cells, missing)).sum())


def cleaned(texts: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Texts without what the eye does not see; null if they mean missing."""
    seen = texts.str.replace_all(INVISIBLE, "").str.normalize("NFC").str.strip_chars()
    return pl.select(pl.when(~seen.is_in(["", *missing])).then(seen)).to_series()


def _present(cells: pl.Series, missing: Sequence[str]) -> pl.Series:
    if isinstance(cells.dtype, pl.Categorical | pl.Enum):
        cells = cells.cast(pl.String)
    if cells.dtype == pl.String:
        return cleaned(cells, missing).is_not_null()
    return (cells.fill_nan(None) if cells.dtype.is_float() else cells).is_not_null()


def _year(cells: pl.Series, first: int | None) -> pl.Expr:
    if isinstance(cells.dtype, pl.Datetime) and cells.dtype.time_zone is not None:
        year = pl.col("raw").dt.convert_time_zone("UTC").dt.year()
    elif isinstance(cells.dtype, pl.Date | pl.Datetime):
        year = pl.col("raw").dt.year()
    elif cells.dtype == pl.String:
        year = pl.coalesce(pl.col("text").str.extract(f"^{shape}{_TIME}$", 1) for shape in _YEARS)
    elif cells.dtype.is_numeric():
        whole = pl.col("raw").cast(pl.Int64, strict=False)
        year = pl.when((whole == pl.col("raw")) & whole.is_between(1000, 9999)).then(whole)
    else:
        year = pl.lit(None)
    year = year.cast(pl.Int64)
    return year if first is None else pl.when(year < first).then(first).otherwise(year)


def _top(cells: pl.Series, most: int) -> pl.Expr:
    raw = pl.col("raw")
    if cells.dtype == pl.String:
        number = pl.when(pl.col("text").str.contains(_NUMBER)).then(pl.col("text").cast(pl.Float64, strict=False))
        return pl.when(number > most).then(pl.lit(str(most))).when(number.is_not_null()).then(raw)
    if not cells.dtype.is_numeric():
        return pl.lit(None)
    return pl.when(raw > most).then(pl.lit(most).cast(cells.dtype, strict=False)).otherwise(raw)


def _area(cells: pl.Series) -> pl.Expr:
    """The first three digits; four digits have lost a zero, and of a number with three it is not told what they are."""
    text, raw = pl.col("text"), pl.col("raw")
    if cells.dtype == pl.String:
        digits = pl.coalesce(
            text.str.extract(r"^([0-9]{3})[0-9]{2}(?:-?[0-9]{4})?$", 1),
            text.str.extract(r"^([0-9]{3})(?:[*Xx]{2})?$", 1),
            "0" + text.str.extract(r"^([0-9]{2})[0-9]{2}$", 1),
        )
        there = text.is_not_null()
    else:
        whole = raw.cast(pl.Int64, strict=False) if cells.dtype.is_numeric() else pl.lit(None, pl.Int64)
        digits = pl.when(whole.is_between(1000, 99_999)).then(whole.cast(pl.String).str.zfill(5).str.slice(0, 3))
        there = raw.is_not_null()
    shown = digits.fill_null(NO_AREA).replace(sorted(SMALL_AREAS), [NO_AREA] * len(SMALL_AREAS))
    return pl.when(there).then(shown)


@dataclass(frozen=True)
class Changes:
    """How many cells a rule changed, how many of them are of no area now, and how many it cannot read."""

    cells: int = 0
    nowhere: int = 0
    unreadable: int = 0

    @classmethod
    def of(cls, before: pl.Series, after: pl.Series, rule: Coarsening, missing: Sequence[str]) -> Changes:
        """What became of a column by a rule."""
        cells = int((before.cast(pl.String) != after.cast(pl.String)).sum())
        nowhere = int((after == NO_AREA).sum()) if rule.kind == ZIP3 else 0
        return cls(cells, nowhere, int((after.is_null() & _present(before, missing)).sum()))

    def __add__(self, other: Changes) -> Changes:
        return Changes(self.cells + other.cells, self.nowhere + other.nowhere, self.unreadable + other.unreadable)


def rule_notice(name: str, rule: Coarsening, changes: Changes, why: str | None) -> Notice:
    """What a rule did to a column; raises if it cannot read some cells."""
    if changes.unreadable:
        raise ValuesError(
            f"Column {name!r}: {counted(changes.unreadable, 'cell')} cannot be read as {_READS[rule.kind]}, which the "
            f"rule {rule} needs. Name the text that means missing, drop the column, or coarsen it by none."
        )
    more = f", {changes.nowhere:,} of them to {NO_AREA}" if changes.nowhere else ""
    reason = f" ({why})" if why else ""
    message = f"coarsened by the rule {rule}{reason}: {counted(changes.cells, 'cell')} changed{more}."
    return Notice("coarsened", name, message)
