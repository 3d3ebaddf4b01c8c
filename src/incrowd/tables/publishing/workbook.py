"""A table as an Excel workbook: one sheet, and nothing beside it that would tell of more than its cells."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import polars.selectors as cs

from incrowd.errors import OutputError
from incrowd.vocabulary.workbook import (
    DAYS_BEFORE_1970,
    FIRST_DAY,
    MOST_COLUMNS,
    MOST_LETTERS,
    MOST_ROWS,
    PARTS,
    SHEET,
    SHEET_HEAD,
    SHEET_TAIL,
    column_letters,
)

_ROWS = 20_000  # written at a time
_EXACT = 2**53  # whole numbers up to it are numbers of a sheet
_NO_TEXT = r"[\x00-\x08\x0b-\x1f\x{fffe}\x{ffff}]|_x[0-9A-Fa-f]{4}_"
_INSTEAD = "Write CSV or Parquet."


def write_workbook(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as the one sheet of a workbook; its first row has the names of the columns."""
    if frame.height >= MOST_ROWS or frame.width > MOST_COLUMNS:
        raise OutputError(f"A sheet has at most {MOST_ROWS:,} rows and {MOST_COLUMNS:,} columns. {_INSTEAD}")
    names = pl.DataFrame([pl.Series(str(place), [name]) for place, name in enumerate(frame.columns)])
    for column in (*names.iter_columns(), *frame.select(cs.string()).iter_columns()):
        _check_text(column)
    cells = frame.select(_storable(column) for column in frame.iter_columns())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in PARTS.items():
            archive.writestr(_member(name), data)
        with archive.open(_member(SHEET), "w") as sheet:
            sheet.write(SHEET_HEAD)
            sheet.write(_rows(names, 1))
            for start in range(0, cells.height, _ROWS):
                sheet.write(_rows(cells.slice(start, _ROWS), start + 2))
            sheet.write(SHEET_TAIL)


def _member(name: str) -> zipfile.ZipInfo:
    """A file of the archive, without the time and the system it was written in."""
    member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    member.create_system, member.compress_type = 3, zipfile.ZIP_DEFLATED
    return member


def _check_text(column: pl.Series) -> None:
    fault = "letters that a workbook cannot hold" if column.str.contains(_NO_TEXT).any() else ""
    if (column.str.len_chars() > MOST_LETTERS).any():
        fault = f"texts of more than {MOST_LETTERS:,} letters"
    if fault:
        raise OutputError(f"Column {column.name!r} has {fault}. {_INSTEAD}")


def _storable(column: pl.Series) -> pl.Series:
    """The column as truths, numbers, days or texts; what a sheet cannot hold exactly becomes text."""
    dtype = column.dtype
    if dtype.is_float():
        if column.is_infinite().any():
            raise OutputError(f"Column {column.name!r} has infinite numbers, which a workbook cannot hold. {_INSTEAD}")
        return column.fill_nan(None)
    if dtype.is_integer() and not ((column < -_EXACT) | (column > _EXACT)).any():
        return column
    if dtype == pl.Date and not (column.to_physical() < FIRST_DAY - DAYS_BEFORE_1970).any():
        return column
    return column if dtype == pl.Boolean else column.cast(pl.String)


def _rows(cells: pl.DataFrame, first: int) -> bytes:
    """Rows of a sheet, of which the first has this number."""
    numbered = cells.with_columns(pl.int_range(first, first + cells.height).cast(pl.String).alias("number of the row"))
    row = pl.col("number of the row")
    parts = [pl.lit('<row r="') + row + '">', *_cells(cells, row), pl.lit("</row>")]
    return "".join(numbered.select(pl.concat_str(parts)).to_series()).encode()


def _cells(cells: pl.DataFrame, row: pl.Expr) -> Iterator[pl.Expr]:
    for place, (name, dtype) in enumerate(cells.schema.items()):
        cell, kind, before, after = pl.nth(place), "", "<v>", "</v>"
        if dtype == pl.Boolean:
            cell, kind = cell.cast(pl.Int8), ' t="b"'
        elif dtype == pl.Date:
            cell, kind = cell.to_physical() + DAYS_BEFORE_1970, ' s="1"'
        elif dtype in (pl.String, pl.Null):
            kind, before, after = ' t="inlineStr"', '<is><t xml:space="preserve">', "</t></is>"
            cell = cell.cast(pl.String)
            for letter, written in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
                cell = cell.str.replace_all(letter, written, literal=True)
            cell = pl.when(cell != "").then(cell)
        start = pl.lit(f'<c r="{column_letters(place)}') + row + pl.lit(f'"{kind}>{before}')
        yield (start + cell.cast(pl.String) + pl.lit(f"{after}</c>")).fill_null("").alias(f"cell {name}")
