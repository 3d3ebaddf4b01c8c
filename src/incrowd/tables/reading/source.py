"""A table as it came in, with a note of where it came from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import Notice
from incrowd.tables.reading.dictionary import Distinct, distinct, repeating
from incrowd.vocabulary.forms import MISSING_MARKERS as MISSING_MARKERS
from incrowd.vocabulary.schema import Column

# Markers of missing values in text.
SUPPRESSED = "*"


def _markers_to_null(
    frame: pl.DataFrame, markers: Sequence[str]
) -> tuple[pl.DataFrame, Mapping[str, Distinct], tuple[Notice, ...]]:
    """The table with null for text that means missing, codes of text columns that repeat their values, and notices."""
    known = spellings(markers)
    columns = distinct(frame, repeating(frame))
    hidden = {name: column.values.is_in(known) for name, column in columns.items()}
    names = [name for name, gone in hidden.items() if gone.any()]
    rare = [name for name, dtype in frame.schema.items() if dtype == pl.String and name not in columns]
    names += [name for name, hit in zip(rare, _hits(frame.select(rare), known), strict=True) if hit]
    notices = tuple(_notices(frame.select(names), markers))
    columns = {name: column.without(hidden[name]) for name, column in columns.items()}
    return frame.with_columns(without_markers(names, known)), columns, notices


def spellings(markers: Sequence[str]) -> list[str]:
    """The texts that mean missing: empty or a marker, each perhaps with a space beside it.

    Examples
    --------
    >>> spellings(["?"])
    ['', ' ', '  ', '?', ' ?', '? ', ' ? ']
    """
    spelled = (f"{left}{marker}{right}" for marker in ("", *markers) for right in ("", " ") for left in ("", " "))
    return list(dict.fromkeys(spelled))


def marker_spellings(marker: str) -> list[str]:
    """The texts that are this marker, perhaps with a space beside it."""
    return [spelling for spelling in spellings([marker]) if spelling.strip()]


def marker_notice(marker: str, cells: Sequence[int]) -> Iterator[Notice]:
    """What to say of a marker that so many cells of each column hold; nothing if none does.

    Examples
    --------
    >>> [str(notice) for notice in marker_notice("?", [2, 0, 1])]
    ["3 cells in 2 columns only hold the marker '?': counted as missing."]
    """
    columns = sum(count > 0 for count in cells)
    if not columns:
        return
    where = f"{counted(sum(cells), 'cell')} in {counted(columns, 'column')} only hold the marker {marker!r}"
    if marker == SUPPRESSED:
        yield Notice("already-suppressed", "", f"{where}: already suppressed, counted as missing.")
    else:
        yield Notice("missing-marker", "", f"{where}: counted as missing.")


def without_markers(names: Sequence[str], known: Sequence[str]) -> list[pl.Expr]:
    """The named text columns with null for the known texts."""
    return [pl.when(pl.col(name).is_in(known).not_()).then(pl.col(name)) for name in names]


def _hits(frame: pl.DataFrame, known: Sequence[str]) -> Sequence[bool]:
    """For each column, whether one of the texts occurs."""
    return frame.select(pl.all().is_in(known).any()).row(0) if frame.width else ()


def _notices(frame: pl.DataFrame, markers: Sequence[str]) -> Iterator[Notice]:
    for marker in markers:
        known = marker_spellings(marker)
        yield from marker_notice(marker, frame.select(pl.all().is_in(known).sum()).row(0) if frame.width else ())


Form = Literal[
    "csv", "parquet", "arrow", "arff", "jsonl", "excel", "spss", "stata", "sas", "pandas", "polars", "pyarrow", "Spark"
]
Compression = Literal["gzip", "zstd"]


@dataclass(frozen=True)
class Origin:
    """Where a table came from: all that is needed to read it again, and to write a release of the same kind.

    ``names`` are those that a text or sheet without a header was given.
    """

    form: Form
    path: str | None = None
    delimiter: str = ","
    encoding: str = "utf-8"
    compression: Compression | None = None
    missing: tuple[str, ...] = MISSING_MARKERS
    names: tuple[str, ...] = ()
    decimal: str | None = None
    dates: str | None = None
    sheet: str | None = None
    header_row: int | None = None


@dataclass(frozen=True, eq=False)
class Source:
    """A table that was read and found sound."""

    # the values as they were read. Columns of text files are text, character for character; an empty cell or a missing
    # marker is null. Parquet, Arrow, Excel and data frames keep their types.
    frame: pl.DataFrame
    origin: Origin  # where the table came from
    notices: tuple[Notice, ...] = ()  # what was handled while reading
    # types and orders the file or frame itself declares (ARFF attributes, ordered categories)
    declared: tuple[Column, ...] = ()
    finer: pl.DataFrame | None = None  # what columns were before they were coarsened, if some were
    _known: dict[str, Distinct] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(
        cls, frame: pl.DataFrame, origin: Origin, notices: Iterable[Notice] = (), declared: Iterable[Column] = ()
    ) -> Source:
        """A source from columns as they were read: markers of missing values become null, with notices."""
        table, known, markers = _markers_to_null(frame, origin.missing)
        source = cls(table, origin, (*notices, *markers), tuple(declared))
        source._known.update(known)
        return source

    def distinct(self, names: Iterable[str]) -> dict[str, Distinct]:
        """Codes and distinct values of the named columns, found once and kept."""
        wanted = list(dict.fromkeys(names))
        self._known.update(distinct(self.frame, [name for name in wanted if name not in self._known]))
        return {name: self._known[name] for name in wanted}


def is_spark_frame(table: object) -> bool:
    """Whether something is a Spark frame; Spark need not be installed to ask."""
    return type(table).__module__.startswith("pyspark.sql") and type(table).__name__ == "DataFrame"
