"""Excel workbooks."""

from __future__ import annotations

import re
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import polars as pl

from incrowd.errors import FileFormatError, Notice, ParameterError, ValuesError, reading_option
from incrowd.optional import optional
from incrowd.tables.reading.decompress import check_unpacked
from incrowd.tables.reading.dictionary import EXACT
from incrowd.tables.reading.frames import from_typed
from incrowd.tables.reading.headers import check_headers
from incrowd.tables.reading.source import MISSING_MARKERS, Origin, Source

_SHEET = re.compile(r"xl/worksheets/.*\.xml$", re.IGNORECASE)
_BEYOND = re.compile(rb"\br\s*=\s*[\"'](?:[a-z]{4}|[yz][a-z]{2}|x[g-z][a-z]|xf[e-z])[a-z]*\d", re.IGNORECASE)
_PIECE, _OVERLAP = 1 << 20, 64


def read_excel(path: Path, sheet: str | None = None, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read a sheet of a workbook, the first if none is named, with its types; its first row names the columns.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.xlsx")
    ...     _ = pl.DataFrame({"age": [39]}).write_excel(file)
    ...     read_excel(file).frame.rows()
    [(39,)]
    """
    fastexcel = optional("fastexcel", "reading Excel files")
    _check_archive(path)
    try:
        workbook = fastexcel.read_excel(path)
        place = _place(sheet, workbook.sheet_names)
        first = workbook.load_sheet(place, header_row=None, n_rows=1, dtypes="string").to_polars()
    except fastexcel.FastExcelError:
        raise _damaged() from None
    if first.height == 0:
        raise FileFormatError("The sheet is empty. Put the table there, with column names in its first row.")
    names = [name or "" for name in first.row(0)]
    check_headers(names)
    table: pl.DataFrame | None = None
    with suppress(fastexcel.FastExcelError):
        table = workbook.load_sheet(place, schema_sample_rows=None, dtype_coercion="strict").to_polars()
    if table is None:
        raise ValuesError("A column of the sheet mixes types of cells. Give every column one type.")
    table.columns = names
    origin = Origin("excel", str(path), missing=missing)
    return from_typed(
        narrowed(table), origin, notices=_other_sheets(len(workbook.sheet_names)) if sheet is None else ()
    )


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
    """Where there is one type of number and one of time: whole columns become integers, midnights dates.

    Examples
    --------
    >>> narrowed(pl.DataFrame({"age": [39.0, None], "cost": [1.5, 2.0]})).dtypes
    [Int64, Float64]
    """
    return pl.DataFrame([_narrow(series) for series in table.iter_columns()])


def _narrow(series: pl.Series) -> pl.Series:
    if series.dtype.is_float() and ((series == series.floor()) & (series.abs() <= EXACT)).all():
        return series.cast(pl.Int64)
    if isinstance(series.dtype, pl.Datetime) and (series.dt.truncate("1d") == series).all():
        return series.dt.date()
    return series


def _other_sheets(sheets: int) -> tuple[Notice, ...]:
    if sheets == 1:
        return ()
    others = f"For another one: {reading_option(sheet='NAME')}."
    return (Notice("other-sheets", "", f"The workbook has {sheets} sheets; the first was read. {others}"),)
