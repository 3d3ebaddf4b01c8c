"""ARFF, the format of Weka."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from incrowd.errors import OutputError

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
    """A name or value, quoted where ARFF wants it.

    Examples
    --------
    >>> _quote("two words"), _quote("plain"), _quote("?")
    ("'two words'", 'plain', "'?'")
    """
    if pl.Series([value]).str.contains(_PLAIN).item():
        return value
    if "\n" in value or "\r" in value:
        raise OutputError("ARFF cannot hold line breaks inside a value. Write CSV or Parquet instead.")
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _cell(column: pl.Series) -> pl.Series:
    if column.dtype.is_numeric() or column.dtype == pl.Date:
        return column
    text = column.cast(pl.String)
    values = text.unique().drop_nulls().to_list()
    return text.replace_strict(values, [_quote(value) for value in values], return_dtype=pl.String)
