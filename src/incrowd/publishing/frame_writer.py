"""A table as bytes in a file, frame by frame, for tables that do not fit into memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import polars as pl
import polars.selectors as cs

from incrowd.errors import OutputError
from incrowd.publishing.serialise import compressed, spreadsheet_safe
from incrowd.vocabulary.file_form import FileForm

STREAMED = ("csv", "parquet", "arrow")


def write_frames(frames: Iterable[pl.DataFrame], path: Path, form: FileForm) -> int:
    """Write frames of the same columns one after the other; how many rows there were.

    The bytes carry released data and nothing else, as those of :func:`incrowd.publishing.serialise.write_table`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "all.csv")
    ...     frames = [pl.DataFrame({"age": [39]}), pl.DataFrame({"age": [50]})]
    ...     write_frames(frames, path, FileForm("csv")), path.read_text().split()
    (2, ['age', '39', '50'])
    """
    if form.kind not in STREAMED:
        raise OutputError(f"{form.kind} cannot be written piece by piece. Write CSV or Parquet.")
    try:
        return {"csv": _write_csv, "parquet": _write_parquet, "arrow": _write_arrow}[form.kind](frames, path, form)
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise OutputError(f"{path.name} cannot be written ({reason}). Is the disk full?") from error


def _write_csv(frames: Iterable[pl.DataFrame], path: Path, form: FileForm) -> int:
    rows = 0
    file: IO[bytes] = path.open("wb") if form.compression is None else compressed(path, form.compression)
    with file:
        for place, frame in enumerate(frames):
            options: dict[str, Any] = {"separator": form.delimiter, "null_value": form.missing}
            plain = frame.with_columns(cs.enum().cast(pl.String))
            spreadsheet_safe(plain).write_csv(file, include_header=place == 0, **options)
            rows += frame.height
    return rows


def _write_parquet(frames: Iterable[pl.DataFrame], path: Path, _form: FileForm) -> int:
    import pyarrow.parquet as pq

    return _write_tables(frames, lambda schema: pq.ParquetWriter(path, schema, compression="zstd", store_schema=False))


def _write_arrow(frames: Iterable[pl.DataFrame], path: Path, _form: FileForm) -> int:
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="zstd")
    return _write_tables(frames, lambda schema: pa.ipc.new_file(str(path), schema, options=options))


def _write_tables(frames: Iterable[pl.DataFrame], open_writer: Any) -> int:
    """Hand the frames to a writer of PyArrow tables that is opened for the first."""
    writer, rows = None, 0
    try:
        for frame in frames:
            table = as_arrow(frame)
            writer = writer or open_writer(table.schema)
            writer.write_table(table)
            rows += frame.height
    finally:
        if writer is not None:
            writer.close()
    return rows


def as_arrow(frame: pl.DataFrame) -> Any:
    """A frame as a PyArrow table; enumerations as dictionaries with indices of one type, whatever their size."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(
                place, field.name, table.column(place).cast(pa.dictionary(pa.int32(), pa.large_string()))
            )
    return table
