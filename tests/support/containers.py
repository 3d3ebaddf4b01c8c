"""One table in every file and frame that is read, and what its cells mean, in plain Python."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import re
import unicodedata
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa

from incrowd.vocabulary.schema import ColumnType

TEXTS = [
    *("a", " a", "a ", "\ta", "a\u00a0", "A", "a\u200b", "\ufeffa"),
    *("", " ", "   ", "\t", "\u200b", "?", " ?", "?  ", "*", "*\t", "??", "**"),
    *("NA", "null", "None", "NaN", "nan", "caf\u00e9", "cafe\u0301", "#", "# a", "%", "{", "'", '"', '""', "a,b"),
    *("0", "0.0", "-0", "-0.0", "1", "1.0", "+1", "01", "1e3", "a|b", "a;b", "=1+1", "x" * 300, "\\", "\\n"),
]
INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FILES = ["csv", "crlf", "cr", "quoted", "gz", "zst", "utf16", "parquet", "dictionary", "arrow", "stream", "jsonl"]
STREAMED = FILES
FRAMES = ["polars", "categorical", "pyarrow", "pandas", "pandas-string", "pandas-category"]
WHOLE = [*FILES, "arff", "excel", *FRAMES]


def as_text(rows, line_end="\n", quoting=csv.QUOTE_MINIMAL):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator=line_end, quoting=quoting).writerows([["x", "y"], *rows])
    return file.getvalue()


def quoted_arff(cell):
    return "'" + cell.replace("\\", "\\\\").replace("'", "\\'") + "'"


def container(folder: Path, kind: str, frame: pl.DataFrame, texts: list[str]):
    """The table in one container: a path, or a frame. ``texts`` are the cells as text files write them."""
    rows = list(zip(texts, frame["y"], strict=True))
    path = (
        folder / f"{kind}.{ {'gz': 'csv.gz', 'zst': 'csv.zst', 'stream': 'arrows', 'excel': 'xlsx'}.get(kind, kind) }"
    )
    match kind:
        case "csv" | "crlf" | "cr" | "quoted" | "utf16":
            path = path.with_suffix(".csv")
            quoting = csv.QUOTE_ALL if kind == "quoted" else csv.QUOTE_MINIMAL
            text = as_text(rows, {"crlf": "\r\n", "cr": "\r"}.get(kind, "\n"), quoting)
            path.write_bytes(text.encode("utf-16" if kind == "utf16" else "utf-8"))
        case "gz":
            path.write_bytes(gzip.compress(as_text(rows).encode()))
        case "zst":
            with pa.CompressedOutputStream(str(path), "zstd") as file:
                file.write(as_text(rows).encode())
        case "parquet":
            frame.write_parquet(path)
        case "dictionary":
            path = path.with_suffix(".parquet")
            frame.with_columns(pl.col(pl.String).cast(pl.Categorical)).write_parquet(path)
        case "arrow":
            frame.write_ipc(path)
        case "jsonl":
            frame.write_ndjson(path)
        case "stream":
            frame.write_ipc_stream(path)
        case "arff":
            kind_of_x = "string" if frame.schema["x"] == pl.String else "numeric"
            cells = [quoted_arff(text) if kind_of_x == "string" else text or "?" for text in texts]
            head = f"@relation r\n@attribute x {kind_of_x}\n@attribute y string\n@data\n"
            lines = (f"{cell},{y}\n" for cell, y in zip(cells, frame["y"], strict=True))
            path.write_text(head + "".join(lines), encoding="utf-8")
        case "excel":
            frame.write_excel(path)
        case "polars":
            return frame
        case "categorical":
            return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))
        case "pyarrow":
            return frame.to_arrow()
        case "pandas":
            return pd.DataFrame({name: pd.Series(frame[name].to_list(), dtype=_pandas(frame[name])) for name in "xy"})
        case "pandas-string":
            return pd.DataFrame({name: frame[name].to_list() for name in "xy"}).convert_dtypes()
        case "pandas-category":
            return pd.DataFrame({name: frame[name].to_list() for name in "xy"}).astype("category")
    return path


def _pandas(series):
    return object if series.dtype == pl.String else None


def meaning(text):
    """What a text means, by the definition."""
    plain = unicodedata.normalize("NFC", INVISIBLE.sub("", text)).strip()
    return None if plain in ("", "?", "*") else plain


def writable(kind, texts):
    """Excel's library takes some texts for something else, and cells hold no control characters."""
    return kind != "excel" or not any(text.startswith(("=", "{", "http")) for text in texts)


NAN = float("nan")
TYPED = {
    "real": (pl.Float64, [0.0, -0.0, 1.0, 1.5, -1.5, 1e-300, 1e300, 123456.789, 0.1, NAN, None], ColumnType.REAL),
    "small real": (pl.Float32, [0.0, -0.0, 0.5, -2.25, NAN, None], ColumnType.REAL),
    "whole real": (pl.Float64, [0.0, -0.0, 1.0, 30.0, 2.0**53, NAN, None], ColumnType.INTEGER),
    "integer": (pl.Int64, [0, 1, -1, 7, 2**53, -(2**31), None], ColumnType.INTEGER),
    "unsigned": (pl.UInt64, [0, 1, 2**53, None], ColumnType.INTEGER),
    "small integer": (pl.Int8, [0, 1, -128, None], ColumnType.INTEGER),
    "truth": (pl.Boolean, [True, False, None], ColumnType.BOOLEAN),
    "date": (pl.Date, [dt.date(2020, 2, 29), dt.date(1970, 1, 1), dt.date(1999, 12, 31), None], ColumnType.DATE),
}


def is_missing(value):
    return value is None or value != value


def written(value):
    """A value as a text file holds it."""
    if is_missing(value):
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
