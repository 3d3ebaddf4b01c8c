"""Excel workbooks."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import polars as pl

from incrowd.errors import FileFormatError, Notice, ValuesError
from incrowd.optional import optional
from incrowd.reading.dictionary import EXACT
from incrowd.reading.frames import from_typed
from incrowd.reading.headers import check_headers
from incrowd.reading.source import MISSING_MARKERS, Origin, Source


def read_excel(path: Path, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read the first sheet of a workbook with its types; its first row names the columns.

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
    try:
        workbook = fastexcel.read_excel(path)
        first = workbook.load_sheet(0, header_row=None, n_rows=1, dtypes="string").to_polars()
    except fastexcel.FastExcelError:
        raise FileFormatError("The Excel file is damaged, encrypted or of an unknown version.") from None
    if first.height == 0:
        raise FileFormatError("The first sheet is empty. Put the table there, with column names in its first row.")
    names = [name or "" for name in first.row(0)]
    check_headers(names)
    table: pl.DataFrame | None = None
    with suppress(fastexcel.FastExcelError):
        table = workbook.load_sheet(0, schema_sample_rows=None, dtype_coercion="strict").to_polars()
    if table is None:
        raise ValuesError("A column of the sheet mixes types of cells. Give every column one type.")
    table.columns = names
    origin = Origin("excel", str(path), missing=missing)
    return from_typed(_narrowed(table), origin, notices=_other_sheets(len(workbook.sheet_names)))


def _narrowed(table: pl.DataFrame) -> pl.DataFrame:
    """Excel knows one type of number and one of time: whole columns become integers, midnights dates."""
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
    return (Notice("other-sheets", "", f"The workbook has {sheets} sheets; the first was read."),)
