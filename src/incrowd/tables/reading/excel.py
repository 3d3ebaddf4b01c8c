"""Excel workbooks."""

from __future__ import annotations

import logging
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.drawing.wording import counted
from incrowd.errors import FileFormatError, HeaderError, Notice, ParameterError, reading_option
from incrowd.optional import optional
from incrowd.tables.reading.dialect import Dialect
from incrowd.tables.reading.frames import from_typed
from incrowd.tables.reading.layout import check_headers, is_a_row, looks_like_a_row
from incrowd.tables.reading.source import EXACT, MISSING_MARKERS, Origin, Source, check_unpacked
from incrowd.vocabulary.forms import MOST_ROWS, PARTS, SHEET

_SHEET = re.compile(r"xl/worksheets/.*\.xml$", re.IGNORECASE)
_BEYOND = re.compile(rb"\br\s*=\s*[\"'](?:[a-z]{4}|[yz][a-z]{2}|x[g-z][a-z]|xf[e-z])[a-z]*\d", re.IGNORECASE)
_PIECE, _OVERLAP = 1 << 20, 64
_LOOK = 50  # rows that are looked at to tell names from values
_MIDNIGHT = r"^([0-9]{4}-[0-9]{2}-[0-9]{2}) 00:00:00$"  # what a day is called among texts


def read_excel(
    path: Path,
    sheet: str | None = None,
    *,
    header_row: int | None = None,
    dialect: Dialect | None = None,
    missing: tuple[str, ...] = MISSING_MARKERS,
    whole: bool = False,
) -> Source:
    """Read a sheet of a workbook, the first if none is named, with its types.

    The first row with a cell names the columns, unless another row is named or the dialect says that there are no
    names. Columns without a name and without a cell are left out; so are empty rows, unless the sheet is read whole,
    as a release is.
    """
    fastexcel = optional("fastexcel", "reading Excel files")
    logging.getLogger("fastexcel.types.dtype").setLevel(logging.ERROR)  # it tells of columns without a cell
    _check_archive(path)
    dialect = dialect or Dialect()
    _check_header_row(header_row, dialect)
    try:
        workbook = fastexcel.read_excel(path)
    except fastexcel.FastExcelError:
        raise _damaged() from None
    names = list(workbook.sheet_names)
    others = ", ".join(reading_option(sheet=name) for name in names[1:])
    page = Sheet(workbook, _place(sheet, names), fastexcel.FastExcelError)
    try:
        table, notices = _table(page, header_row, dialect, whole=whole)
    except fastexcel.FastExcelError:
        raise _damaged() from None
    except (HeaderError, FileFormatError) as error:
        if sheet is None and len(names) > 1:
            raise type(error)(
                f"The first sheet of the workbook, {names[0]!r}, was read. {error} For another: {others}"
            ) from None
        raise
    if sheet is None and len(names) > 1:
        message = f"The workbook has {len(names)} sheets; the first, {names[0]!r}, was read. For another: {others}"
        notices.append(Notice("other-sheets", "", message))
    if whole and (rows := _written_rows(path)) is not None:
        table = pl.concat([table, table.clear(rows - table.height)])
    known = tuple(table.columns) if dialect.headless else ()
    origin = Origin("excel", str(path), missing=missing, names=known, sheet=sheet, header_row=header_row)
    return from_typed(narrowed(table), origin, notices=notices)


def _check_header_row(header_row: int | None, dialect: Dialect) -> None:
    if header_row is None:
        return
    if isinstance(header_row, bool) or not isinstance(header_row, int) or header_row < 1:
        raise ParameterError(f"{reading_option(header_row=3)}: the row is a whole number, and the first is 1.")
    if dialect.headless:
        raise ParameterError("A row with the names of the columns is named, and it is said that there is none.")


@dataclass(frozen=True)
class Sheet:
    """A sheet of an open workbook, as its reader gives it: without the empty rows and columns around its cells."""

    workbook: Any
    place: int
    error: type[Exception]

    def texts(self, rows: int | None = None) -> pl.DataFrame:
        """The first rows that have cells, as texts."""
        return self._load(header_row=None, n_rows=rows, dtypes="string")

    def first_row(self) -> int:
        """The number of the first row with a cell, as people see it; 0 if there is none."""
        height, below_second = (
            self.workbook.load_sheet(self.place, header_row=row, n_rows=0).total_height for row in (None, 1)
        )
        ends_above = below_second > MOST_ROWS  # then it is less than nothing, which the reader cannot say
        return (-1 if ends_above else below_second) + 3 - height if height else 0

    def typed(self, above: int) -> tuple[pl.DataFrame, list[int]]:
        """The rows below a row, with their types, and the columns whose cells are of several, which become texts."""
        options = {"header_row": None, "skip_rows": above, "schema_sample_rows": None}
        with suppress(self.error):
            return self._load(**options, dtype_coercion="strict"), []
        columns, mixed = [], []
        for place in range(self.texts(1).width):
            one = options | {"use_columns": lambda column, place=place: column.index == place}
            try:
                columns.append(self._load(**one, dtype_coercion="strict"))
            except self.error:
                columns.append(self._load(**one, dtypes="string"))
                mixed.append(place)
        return pl.concat([one.rename({"0": str(at)}) for at, one in enumerate(columns)], how="horizontal"), mixed

    def _load(self, **options: Any) -> pl.DataFrame:
        sheet: pl.DataFrame = self.workbook.load_sheet(self.place, **options).to_polars()
        return sheet.rename(dict(zip(sheet.columns, map(str, range(sheet.width)), strict=True)))


def _table(page: Sheet, header_row: int | None, dialect: Dialect, *, whole: bool) -> tuple[pl.DataFrame, list[Notice]]:
    """The named columns of a sheet, and what was odd about them."""
    first = page.first_row()
    if first == 0:
        raise FileFormatError("The sheet is empty. Put the table there, with column names in its first row.")
    header = None if dialect.headless else header_row or first
    if header is not None and header < first:
        raise HeaderError(f"Row {header} of the sheet is empty. Name the row that has the names of the columns.")
    table, mixed = page.typed(header or 0)
    table = table.with_columns(pl.col(str(column)).str.replace(_MIDNIGHT, "$1") for column in mixed)
    look = page.texts((header or first) - first + _LOOK).rows()
    title = ("",) * table.width if header is None else tuple(name or "" for name in look[header - first])
    filled = {column: not series.is_null().all() for column, series in enumerate(table.iter_columns())}
    kept = [column for column, name in enumerate(title) if name or filled[column]]
    names = [title[column] for column in kept]
    if header is None:
        names = _given_names(dialect, len(kept))
    else:
        below = [["" if row[column] is None else row[column] for column in kept] for row in look[header - first + 1 :]]
        if dialect.header is None and header_row is None and is_a_row(names, below):
            raise HeaderError(looks_like_a_row("row of the sheet", "sheet"))
        _check_names(names, below, header)
    table = table.select(pl.col(str(column)).alias(name) for column, name in zip(kept, names, strict=True))
    notices = list(_left_out(len(title) - len(kept), "column", "without a name and without a cell"))
    mixture = "cells of several types, such as text and numbers, are read as text."
    notices += [Notice("mixed-cells", names[kept.index(column)], mixture) for column in mixed]
    if whole:
        return table, notices
    people = table.filter(~pl.all_horizontal(pl.all().is_null()))
    return people, [*notices, *_left_out(table.height - people.height, "row", "without a cell")]


def _given_names(dialect: Dialect, width: int) -> list[str]:
    names = [f"c{place}" for place in range(1, width + 1)] if dialect.names is None else list(dialect.names)
    if len(names) != width:
        raise HeaderError(f"The sheet has {width} columns, and {len(names)} names are given. Give one for each.")
    return names


def _check_names(names: list[str], below: list[list[str]], header: int) -> None:
    """Refuse names that are not sound, and say which row may have them if this one lacks some."""
    try:
        check_headers(names)
    except HeaderError as error:
        later = (row for row, cells in enumerate(below, header + 1) if all(cells) and len(set(cells)) == len(cells))
        row = next(later, None)
        if all(names) or row is None:
            raise
        likely = f"If the names are in row {row}, say {reading_option(header_row=row)}."
        raise HeaderError(f"Row {header} of the sheet does not name all columns. {likely}") from error


def _left_out(number: int, what: str, kind: str) -> Iterator[Notice]:
    if number:
        verb = "is" if number == 1 else "are"
        yield Notice(f"empty-{what}s", "", f"{counted(number, what)} {kind} {verb} left out.")


def _written_rows(path: Path) -> int | None:
    """How many rows a release has, also those without a cell; None if the workbook was written by another program."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        if archive.namelist() != [*PARTS, SHEET]:
            return None
        return archive.read(SHEET).count(b"<row ") - 1


def _place(sheet: str | None, names: list[str]) -> int:
    if sheet is not None and sheet not in names:
        listed = ", ".join(map(repr, names))
        raise ParameterError(f"The workbook has no sheet {sheet!r}. It has {listed}.")
    return 0 if sheet is None else names.index(sheet)


def _damaged() -> FileFormatError:
    return FileFormatError("The Excel file is damaged, encrypted or of an unknown version.")


def _check_archive(path: Path) -> None:
    """Refuse a workbook that unpacks to a flood, or has cells beyond the last column that Excel knows (XFD)."""
    if not zipfile.is_zipfile(path):
        return  # the older format
    try:
        with zipfile.ZipFile(path) as archive:
            check_unpacked(sum(member.file_size for member in archive.infolist()), path, "Excel")
            wide = any(_has_cells_beyond(archive, name) for name in archive.namelist() if _SHEET.match(name))
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise (error if isinstance(error, FileFormatError) else _damaged()) from None
    if wide:
        raise _damaged()


def _has_cells_beyond(archive: zipfile.ZipFile, name: str) -> bool:
    """Whether a sheet places a cell in a column that no sheet has; its reader would make all columns up to there."""
    before = b""
    with archive.open(name) as sheet:
        while piece := sheet.read(_PIECE):
            if _BEYOND.search(before + piece):
                return True
            before = piece[-_OVERLAP:]
    return False


def narrowed(table: pl.DataFrame) -> pl.DataFrame:
    """Where there is one type of number and one of time: whole columns become integers, midnights dates."""
    return pl.DataFrame([_narrow(series) for series in table.iter_columns()])


def _narrow(series: pl.Series) -> pl.Series:
    if series.dtype.is_float() and ((series == series.floor()) & (series.abs() <= EXACT)).all():
        return series.cast(pl.Int64)
    if isinstance(series.dtype, pl.Datetime) and (series.dt.truncate("1d") == series).all():
        return series.dt.date()
    return series
