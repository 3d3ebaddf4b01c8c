"""A table as bytes in a file, carrying released data and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from incrowd.errors import OutputError
from incrowd.optional import optional
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.statistics_files import DAY, NUMBER, TEXT, troubles, write_statistics

# ARFF, the format of Weka.
_PLAIN = r"^[A-Za-z0-9_.<>=+/-]+$"


def write_arff(frame: pl.DataFrame, path: Path) -> None:
    """Write a table as ARFF: numbers as numeric, dates as dates, everything else as nominal."""
    lines = ["@relation release", ""]
    lines += [f"@attribute {_quote(name)} {_declare(frame[name])}" for name in frame.columns]
    lines += ["", "@data", ""]
    body = frame.select(_cell(frame[name]) for name in frame.columns)
    with path.open("wb") as file:
        file.write("\n".join(lines).encode())
        body.write_csv(file, include_header=False, quote_style="never", null_value="?")


def _declare(column: pl.Series) -> str:
    if column.dtype.is_numeric():
        return "numeric"
    if column.dtype == pl.Date:
        return "date 'yyyy-MM-dd'"
    values = column.cast(pl.String).unique().drop_nulls().sort().to_list()
    return "{" + ",".join(_quote(value) for value in values) + "}"


def _quote(value: str) -> str:
    """A name or value, quoted where ARFF wants it."""
    if pl.Series([value]).str.contains(_PLAIN).item():
        return value
    if "\n" in value or "\r" in value:
        raise OutputError("ARFF cannot hold line breaks inside a value. Write CSV or Parquet instead.")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _cell(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric():
        return column
    text = column.cast(pl.String)
    values = text.unique().drop_nulls().to_list()
    return text.replace_strict(values, [_quote(value) for value in values], return_dtype=pl.String)


_FORMULA = r"(?s)^[=+@\t\r-]."


def write_table(frame: pl.DataFrame, path: Path, form: FileForm) -> None:
    """Write the frame in the given form."""
    with write_errors(path):
        _write(frame, path, form)


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """What keeps a file from being written, in our words."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise OutputError(f"{path.name} cannot be written ({reason}). Is the disk full?") from error


def _write(frame: pl.DataFrame, path: Path, form: FileForm) -> None:
    match form.kind:
        case "csv" | "parquet" | "arrow" | "jsonl":
            from incrowd.tables.publishing.piece_writer import write_pieces

            is_text = form.kind in ("csv", "jsonl")
            write_pieces([frame if is_text else frame.to_arrow(compat_level=pl.CompatLevel.oldest())], path, form)
        case "excel":
            from incrowd.tables.publishing.workbook import write_workbook

            write_workbook(frame, path)
        case "spss" | "stata":
            _write_statistics(frame, path, form.kind)
        case "arff":
            write_arff(frame, path)


def _write_statistics(frame: pl.DataFrame, path: Path, kind: str) -> None:
    """Numbers and days as they are, everything else as text; what the format cannot hold is refused."""
    program = {"spss": "SPSS", "stata": "Stata"}[kind]
    optional("pyreadstat", f"writing files of {program}")
    columns: dict[str, tuple[str, list[Any]]] = {}
    for series in frame.iter_columns():
        if series.dtype.is_integer() or series.dtype.is_float():
            known = series.fill_nan(None) if series.dtype.is_float() else series
            columns[series.name] = (NUMBER, known.to_list())
        elif series.dtype == pl.Date:
            columns[series.name] = (DAY, series.to_list())
        else:
            columns[series.name] = (TEXT, series.cast(pl.String).to_list())
    if trouble := next(troubles(columns, kind), None):
        raise OutputError(f"The release cannot be a file of {program}: {trouble}.")
    write_statistics(columns, path, kind)


def spreadsheet_safe(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with an apostrophe before every text that a spreadsheet would run as a formula.

    Column names are treated alike. Numbers, negative ones too, and single characters stay as they are.

    Examples
    --------
    >>> spreadsheet_safe(pl.DataFrame({"a": ["=1+2", "-5", "+", "plain"]}))["a"].to_list()
    ["'=1+2", '-5', '+', 'plain']
    """
    return frame.with_columns(cs.string().map_batches(_escaped)).rename(safe_name)


def safe_name(name: str) -> str:
    """A column name as it is written to delimited text."""
    return f"'{name}" if len(name) > 1 and name[0] in "=+@-\t\r" else name


def _escaped(column: pl.Series) -> pl.Series:
    formula = column.str.contains(_FORMULA)
    if not formula.any():
        return column
    formula &= column.cast(pl.Float64, strict=False).is_null()
    return pl.select(pl.when(formula).then("'" + column).otherwise(column).alias(column.name)).to_series()
