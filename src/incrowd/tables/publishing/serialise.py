"""A table as bytes in a file, whole or piece by piece, carrying released data and nothing else.

Counts may be written as two tables: one of rows, each with the number of its group, and one of what the groups have.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import polars as pl
import polars.selectors as cs

from incrowd.errors import OutputError
from incrowd.optional import optional
from incrowd.vocabulary.counts_text import read_counts
from incrowd.vocabulary.forms import (
    DAY,
    DAYS_BEFORE_1970,
    FIRST_DAY,
    MOST_COLUMNS,
    MOST_LETTERS,
    MOST_ROWS,
    NUMBER,
    PARTS,
    SHEET,
    SHEET_HEAD,
    SHEET_TAIL,
    TEXT,
    FileForm,
    column_letters,
    groups_key,
    groups_path,
    troubles,
    write_statistics,
)
from incrowd.vocabulary.randomness import Randomness, fresh_frame, permutation

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


# Excel workbooks: one sheet, and nothing beside it that would tell of more than its cells.
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
            sheet.write(_sheet_rows(names, 1))
            for start in range(0, cells.height, _ROWS):
                sheet.write(_sheet_rows(cells.slice(start, _ROWS), start + 2))
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


def _sheet_rows(cells: pl.DataFrame, first: int) -> bytes:
    """Rows of a sheet, of which the first has this number."""
    numbered = cells.with_columns(pl.int_range(first, first + cells.height).cast(pl.String).alias("number of the row"))
    row = pl.col("number of the row")
    parts = [pl.lit('<row r="') + row + '">', *_sheet_cells(cells, row), pl.lit("</row>")]
    return "".join(numbered.select(pl.concat_str(parts)).to_series()).encode()


def _sheet_cells(cells: pl.DataFrame, row: pl.Expr) -> Iterator[pl.Expr]:
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
        case "csv" | "jsonl":
            write_pieces([frame], path, form)
        case "parquet":
            coded = pl.DataFrame([_coded(column) for column in frame.iter_columns()])
            write_pieces([coded.to_arrow(compat_level=pl.CompatLevel.oldest())], path, form)
        case "arrow":
            write_pieces([frame.to_arrow(compat_level=pl.CompatLevel.oldest())], path, form)
        case "excel":
            write_workbook(frame, path)
        case "spss" | "stata":
            _write_statistics(frame, path, form.kind)
        case "arff":
            write_arff(frame, path)


def _coded(column: pl.Series) -> pl.Series:
    """Text that repeats, with its words said once: those that occur, in their own order."""
    if column.dtype != pl.String:
        return column
    words = column.drop_nulls().unique()
    return column.cast(pl.Enum(words.sort())) if 2 * len(words) < len(column) else column


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
    """
    texts = frame.select(cs.string() | cs.categorical())
    return frame.with_columns(_escaped(column) for column in texts.iter_columns()).rename(safe_name)


def safe_name(name: str) -> str:
    """A column name as it is written to delimited text."""
    return f"'{name}" if len(name) > 1 and name[0] in "=+@-\t\r" else name


def _escaped(column: pl.Series) -> pl.Series:
    if column.dtype == pl.Categorical:
        if not column.unique().cast(pl.String).str.contains(_FORMULA).any():
            return column
        column = column.cast(pl.String)
    formula = column.str.contains(_FORMULA)
    if not formula.any():
        return column
    formula &= column.cast(pl.Float64, strict=False).is_null()
    return pl.select(pl.when(formula).then("'" + column).otherwise(column).alias(column.name)).to_series()


STREAMED = ("csv", "parquet", "arrow", "jsonl")


def write_rows(pieces: Iterable[Any], path: Path, form: FileForm, *, whole: bool) -> None:
    """Write tables, polars' or PyArrow's: one that is the whole, or many of PyArrow one after the other."""
    if not whole:
        write_pieces(pieces, path, form)
        return
    for piece in pieces:
        write_table(pl.DataFrame(piece), path, form)


def write_pieces(pieces: Iterable[Any], path: Path, form: FileForm) -> None:
    """Write PyArrow tables of the same columns one after the other, for tables that do not fit into memory."""
    if form.kind not in STREAMED:
        raise OutputError(f"{form.kind} cannot be written piece by piece. Write CSV or Parquet.")
    with write_errors(path):
        _WRITERS[form.kind](pieces, path, form)


def _opened(path: Path, form: FileForm) -> IO[bytes]:
    """A file that packs what is written to it, if it should; its header holds neither a name nor a time."""
    if form.compression is None:
        return path.open("wb")
    import pyarrow

    stream: IO[bytes] = pyarrow.CompressedOutputStream(str(path), form.compression)
    return stream


def _write_csv(pieces: Iterable[Any], path: Path, form: FileForm) -> None:
    with _opened(path, form) as file:
        for place, piece in enumerate(pieces):
            options: dict[str, Any] = {"separator": form.delimiter, "null_value": form.missing}
            spreadsheet_safe(pl.DataFrame(piece)).write_csv(file, include_header=place == 0, **options)


def _write_parquet(pieces: Iterable[Any], path: Path, _form: FileForm) -> None:
    import pyarrow.parquet as pq

    _write_tables(pieces, lambda schema: pq.ParquetWriter(path, schema, **parquet_options(schema)))


def parquet_options(schema: Any, compression: str = "zstd") -> dict[str, Any]:
    """How a release is written as Parquet: with nothing beside its cells.

    The smallest and largest value of each part would help no reader, for rows are in random order. Of numbers no reader
    shows what their dictionary holds, so they have none.
    """
    import pyarrow as pa

    kinds = {field.name: getattr(field.type, "value_type", field.type) for field in schema}
    texts = [name for name, kind in kinds.items() if pa.types.is_string(kind) or pa.types.is_large_string(kind)]
    return {"compression": compression, "store_schema": False, "write_statistics": False, "use_dictionary": texts}


def _write_arrow(pieces: Iterable[Any], path: Path, _form: FileForm) -> None:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="zstd")
    texts = map(_decoded, pieces)  # a file holds one dictionary a column
    _write_tables(texts, lambda schema: pa.ipc.new_file(str(path), schema, options=options))


def _write_json_lines(pieces: Iterable[Any], path: Path, form: FileForm) -> None:
    """A line for each row, every column in each of them; what JSON has no word for is text."""
    with _opened(path, form) as file:
        for piece in pieces:
            for row in _in_json(pl.DataFrame(piece)).iter_rows(named=True):
                file.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _in_json(frame: pl.DataFrame) -> pl.DataFrame:
    if any(column.is_infinite().any() for column in frame.select(cs.float()).iter_columns()):
        raise OutputError("JSON has no infinite numbers, and a column holds one. Write CSV or Parquet.")
    plain = cs.string() | cs.boolean() | cs.integer() | cs.float() | cs.by_dtype(pl.Null)
    return frame.with_columns((~plain).cast(pl.String), cs.float().fill_nan(None))


def _write_tables(pieces: Iterable[Any], open_writer: Any) -> None:
    """Hand the tables to a writer that is opened for the first."""
    writer = None
    try:
        for piece in pieces:
            writer = writer or open_writer(piece.schema)
            writer.write_table(piece)
    finally:
        if writer is not None:
            writer.close()


def _decoded(table: Any) -> Any:
    """The table with plain text where it has dictionaries."""
    import pyarrow as pa

    plain = [
        pa.field(field.name, pa.large_string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(plain))


_WRITERS = {"csv": _write_csv, "parquet": _write_parquet, "arrow": _write_arrow, "jsonl": _write_json_lines}


def write_pair(
    pieces: Iterable[Any], path: Path, form: FileForm, counted: Sequence[str], randomness: Randomness
) -> None:
    """Write a release of counts, given as one table, as a table of rows and, beside it, one of groups."""
    rename = safe_name if form.kind == "csv" else str
    for piece in pieces:
        rows, groups = split_pair(pl.DataFrame(piece).rename(rename), [rename(name) for name in counted], randomness)
        write_table(rows, path, form)
        write_table(groups, groups_path(path), form)


def split_pair(
    frame: pl.DataFrame, counted: Sequence[str], randomness: Randomness
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The table of rows and the table of groups of a release of counts.

    Groups are numbered at random. The table of groups has a row for each group, attribute and value with its count; a
    missing value is null, and of a hidden attribute there is none.
    """
    key = groups_key(frame.columns)
    looks = frame.select(counted).unique(maintain_order=True)
    numbers = permutation(looks.height, randomness) + 1
    looks = looks.with_columns(pl.Series(key, numbers, pl.Int64))
    rows = frame.join(looks, on=list(counted), how="left", maintain_order="left")
    lines = [
        (look[key], name, value, count)
        for look in looks.sort(key).iter_rows(named=True)
        for name in counted
        for value, count in read_counts(look[name]) or ()
    ]
    schema = {key: pl.Int64, "attribute": pl.String, "value": pl.String, "count": pl.Int64}
    groups = pl.DataFrame(lines, schema, orient="row")
    return fresh_frame(rows.select(key, pl.exclude(key, *counted))), groups
