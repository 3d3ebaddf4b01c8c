"""A table as it came in, with a note of where it came from.

A column as codes into its distinct values: all further work is done on the distinct values only.

Unpack gzip and zstd, within bounds: a small file must not become a flood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import FileFormatError, Notice
from incrowd.vocabulary.encoded_table import Codes
from incrowd.vocabulary.forms import MISSING_MARKERS as MISSING_MARKERS
from incrowd.vocabulary.schema import Column

FREE_BYTES = 64 << 20
"""Unpacked size up to which no ratio is too high."""
MOST_RATIO = 200
"""Highest accepted ratio of unpacked to packed size beyond that."""
_STEP = 1 << 20  # bytes unpacked between two looks at the ratio


def decompress(path: Path, compression: Compression) -> bytes:
    """The unpacked bytes of a file; a truncated, damaged or bomb-like one is an error."""
    return b"".join(unpacked(path, compression))


def unpacked(path: Path, compression: Compression) -> Iterator[bytes]:
    """The unpacked bytes piece by piece, with the same errors."""
    import pyarrow as pa

    size = 0
    damaged = FileFormatError(f"The {compression} file is truncated or damaged. Fetch or write it again.")
    with pa.OSFile(str(path)) as packed, pa.CompressedInputStream(packed, compression) as stream:
        while True:
            try:
                piece = stream.read(_STEP)
            except (OSError, pa.ArrowException):
                raise damaged from None
            if not piece:
                return
            size += len(piece)
            check_unpacked(size, path, compression)
            yield piece


def check_unpacked(size: int, path: Path, form: str) -> None:
    """Refuse a file that unpacks to so many bytes, if these are far more than it has itself."""
    if size > max(FREE_BYTES, MOST_RATIO * path.stat().st_size):
        raise FileFormatError(
            f"The {form} file unpacks to more than {MOST_RATIO} times its size, as a decompression bomb does. If you "
            "trust it, unpack it yourself and give the unpacked file."
        )


EXACT = 2.0**53
"""Up to here every whole number has a float of its own."""
_LOOK = 1000  # first rows, which tell well enough whether values repeat
_REPEATING = 0.9  # of rows: with more different texts, coding them saves nothing
_AS_TEXT = (pl.Categorical, pl.Enum, pl.Decimal, pl.Time, pl.UInt64, pl.Int128, pl.UInt128)


@dataclass(frozen=True, eq=False)
class Tally:
    """The distinct values of a column, and how many rows have each.

    Examples
    --------
    >>> Tally(pl.Series(["f", "m"]), np.array([3, 1, 0])).described(pl.Series([True, False]))
    '1 distinct value (3 rows)'
    """

    values: pl.Series  # the distinct values, none of them null
    counts: npt.NDArray[np.int64]  # rows per distinct value; the last entry counts the nulls

    def rows(self, chosen: pl.Series) -> int:
        """Number of rows that have one of the chosen values (a mask over ``values``; null is not chosen)."""
        return int(self.counts[:-1][chosen.fill_null(False).to_numpy()].sum())

    def described(self, chosen: pl.Series) -> str:
        """How many distinct values and rows are chosen, in words."""
        return f"{counted(int(chosen.sum()), 'distinct value')} ({counted(self.rows(chosen), 'row')})"


@dataclass(frozen=True, eq=False)
class Distinct:
    """A column as codes into its distinct values, in no particular order."""

    codes: npt.NDArray[Any]  # one code per row; ``len(values)`` where the value is null
    values: pl.Series  # the distinct values, none of them null

    @cached_property
    def tally(self) -> Tally:
        """The distinct values with their rows counted."""
        return Tally(self.values, np.bincount(self.codes, minlength=len(self.values) + 1))

    def without(self, gone: pl.Series) -> Distinct:
        """The same column where the chosen values (a mask over ``values``) are null."""
        if not gone.any():
            return self
        kept = ~gone.to_numpy()
        places = np.append(np.where(kept, np.cumsum(kept) - 1, kept.sum()), kept.sum()).astype(np.uint32)
        return Distinct(np.take(places, self.codes), self.values.filter(~gone))


def distinct(frame: pl.DataFrame, names: Sequence[str]) -> dict[str, Distinct]:
    """Codes and distinct values of the named columns."""
    columns = as_coded(frame.select(list(dict.fromkeys(names))))
    strings = [name for name, dtype in columns.schema.items() if dtype == pl.String]
    coded = columns.with_columns(pl.col(name).cast(pl.Categorical(pl.Categories.random())) for name in strings)
    return {series.name: _distinct(series) for series in coded.iter_columns()}


def as_coded(frame: pl.DataFrame) -> pl.DataFrame:
    """The table with types that are coded by their text turned to text."""
    return frame.with_columns(pl.col(_AS_TEXT).cast(pl.String))


def present(values: pl.Series) -> pl.Series:
    """The values that are there: neither null nor NaN."""
    return (values.fill_nan(None) if values.dtype.is_float() else values).drop_nulls()


def repeating(frame: pl.DataFrame) -> list[str]:
    """The text columns that repeat values among the first rows: those worth coding before they are needed."""
    head = frame.select(pl.col(pl.String)).head(_LOOK)
    fewer = head.select(pl.all().n_unique() < _REPEATING * head.height)
    return [series.name for series in fewer.iter_columns() if series.all()]


def ordered(values: pl.Series) -> tuple[pl.Series, Codes]:
    """The distinct values in ascending order, and for each given value its place; null is one past the last.

    Examples
    --------
    >>> dictionary, places = ordered(pl.Series([7, None, 3, 7]))
    >>> dictionary.to_list(), places.tolist()
    ([3, 7], [1, 2, 0, 1])
    """
    order = values.arg_sort(nulls_last=True).to_numpy()
    ascending = values.gather(order)
    starts = np.ones(len(values), np.bool_)
    starts[1:] = ascending.ne_missing(ascending.shift(1)).to_numpy()[1:]
    places = np.empty(len(values), np.int32)
    places[order] = np.cumsum(starts, dtype=np.int32) - 1
    return ascending.filter(pl.Series(starts)).drop_nulls(), places


def _distinct(series: pl.Series) -> Distinct:
    if not isinstance(series.dtype, pl.Categorical):
        return _of_values(series)
    values = categories(series)
    return Distinct(series.to_physical().fill_null(len(values)).to_numpy(), values)


def categories(series: pl.Series) -> pl.Series:
    """The texts behind the codes of a categorical, which are dense: counting up to the highest names them all."""
    highest = series.to_physical().max()
    return texts_of(0 if highest is None else int(str(highest)) + 1, series.dtype)


def texts_of(size: int, dtype: pl.DataType) -> pl.Series:
    """The texts behind the first codes of a categorical type; some column of that type must still be in use."""
    return pl.Series(np.arange(size, dtype=np.uint32)).cat.to(dtype).cast(pl.String)


def _of_values(series: pl.Series) -> Distinct:
    values = series.drop_nulls().unique().sort()
    rows = series.to_physical().fill_null(0).cast(_numpy_type(series.dtype)).to_numpy()
    known = values.to_physical().cast(_numpy_type(series.dtype)).to_numpy()
    codes = np.searchsorted(known, rows)
    codes[series.is_null().to_numpy()] = len(values)
    return Distinct(codes, values)


def _numpy_type(dtype: pl.DataType) -> type[pl.DataType]:
    return pl.Float64 if dtype.is_float() else pl.Int64


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
    held = set(names)
    notices = tuple(_notices(frame.select(name for name in frame.columns if name in held), markers))
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


def marker_notice(marker: str, cells: Mapping[str, int]) -> Iterator[Notice]:
    """What to say of a marker that so many cells of each column hold; nothing if none does.

    Examples
    --------
    >>> [str(notice) for notice in marker_notice("?", {"age": 2, "sex": 0, "job": 1})]
    ["age, job: 3 cells hold nothing but the marker '?': counted as missing."]
    """
    held = {name: count for name, count in cells.items() if count}
    if not held:
        return
    code, what = ("already-suppressed", "already suppressed, ") if marker == SUPPRESSED else ("missing-marker", "")
    total = sum(held.values())
    message = f"{counted(total, 'cell')} {'holds' if total == 1 else 'hold'} nothing but the marker {marker!r}: {what}"
    yield Notice(code, ", ".join(held), f"{message}counted as missing.")


def without_markers(names: Sequence[str], known: Sequence[str]) -> list[pl.Expr]:
    """The named text columns with null for the known texts."""
    return [pl.when(pl.col(name).is_in(known).not_()).then(pl.col(name)) for name in names]


def _hits(frame: pl.DataFrame, known: Sequence[str]) -> Sequence[bool]:
    """For each column, whether one of the texts occurs."""
    return frame.select(pl.all().is_in(known).any()).row(0) if frame.width else ()


def _notices(frame: pl.DataFrame, markers: Sequence[str]) -> Iterator[Notice]:
    for marker in markers if frame.width else ():
        known = marker_spellings(marker)
        yield from marker_notice(marker, frame.select(pl.all().is_in(known).sum()).row(0, named=True))


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
