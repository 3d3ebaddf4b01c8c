"""Parquet, Arrow and Feather files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import FileFormatError, InputError, is_panic
from incrowd.tables.reading.frames import check_arrow, from_typed
from incrowd.tables.reading.source import MISSING_MARKERS, Origin, Source

_ENCRYPTED = b"PARE"
_CHECKED_ROWS = 1 << 14  # read at once and forgotten: a check needs little memory


def read_parquet(path: Path, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read a Parquet file with its types."""
    refuse_encrypted(path)

    def load() -> pl.DataFrame:
        import pyarrow.parquet as pq

        check_arrow(pq.read_schema(path))
        check_pages(path)
        return pl.read_parquet(path, glob=False, hive_partitioning=False)

    return _load(load, "Parquet", Origin("parquet", str(path), missing=missing))


def read_arrow(path: Path, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read an Arrow IPC (Feather) file or stream with its types."""

    def load() -> pl.DataFrame:
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            reader = pa.ipc.open_file(file) if is_arrow_file(path) else pa.ipc.open_stream(file)
            table = sound(reader.read_all())
        check_arrow(table.schema)
        return pl.DataFrame(table)

    return _load(load, "Arrow", Origin("arrow", str(path), missing=missing))


def refuse_encrypted(path: Path) -> None:
    """Refuse a Parquet file whose footer is encrypted."""
    with path.open("rb") as file:
        if file.read(4) == _ENCRYPTED:
            raise FileFormatError("The Parquet file is encrypted. Decrypt it first.")


def check_pages(path: Path) -> None:
    """Decode every page of a Parquet file once with a library that refuses damaged ones; raises if one is.

    Polars ends the process where a page says that it holds more values than memory can.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    coded = [field.name for field in schema if field.type in (pa.string(), pa.large_string(), pa.string_view())]
    with pq.ParquetFile(path, read_dictionary=coded) as file:
        rows = sum(batch.num_rows for batch in file.iter_batches(_CHECKED_ROWS, use_threads=False))
        if rows != file.metadata.num_rows:
            raise damaged("Parquet")


def is_arrow_file(path: Path) -> bool:
    """Whether an Arrow file can be entered anywhere; a stream is only read from its start."""
    with path.open("rb") as file:
        return file.read(6) == b"ARROW1"


def sound(table: Any) -> Any:
    """An Arrow table whose buffers hold what its arrays say; raises unless they do.

    Only then may another library look at them: an offset beyond its buffer ends the process.
    """
    import pyarrow as pa

    table.validate(full=True)
    for place, field in enumerate(table.schema):
        column = table.column(place)
        if field.type in (pa.string_view(), pa.binary_view()) and column.null_count:
            mended = pa.chunked_array([_without_blind_views(chunk) for chunk in column.chunks], field.type)
            table = table.set_column(place, field, mended)
    return table


def _without_blind_views(chunk: Any) -> Any:
    """Views of text, where a missing one leads nowhere: nobody checks where it leads, and polars follows it."""
    import numpy as np
    import pyarrow as pa

    known, size = chunk.is_valid().to_numpy(zero_copy_only=False), 16
    end = chunk.offset + len(chunk)
    validity, views, *texts = chunk.buffers()
    mended = np.frombuffer(views, np.uint8, end * size).reshape(end, size).copy()
    mended[chunk.offset :][~known] = 0
    return pa.Array.from_buffers(chunk.type, len(chunk), [validity, pa.py_buffer(mended), *texts], -1, chunk.offset)


def damaged(form: str, name: str | None = None) -> FileFormatError:
    """The error for a file that its library refuses, whose own messages do not get out."""
    which = f"{form} file {name!r}" if name else f"{form} file"
    return FileFormatError(f"The {which} is truncated, damaged, encrypted or of an unknown version. Write it again.")


def _load(load: Callable[[], pl.DataFrame], form: str, origin: Origin) -> Source:
    """The source of what is loaded; the libraries' own messages do not get out."""
    table: pl.DataFrame | None = None
    with refused():
        table = load()
    if table is None:
        raise damaged(form)
    return from_typed(table, origin)


@contextmanager
def refused() -> Iterator[None]:
    """Pass over whatever a library raises, or panics with, at bytes that are damaged; what incrowd raises gets out."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (OSError, ValueError, MemoryError, pa.ArrowException, pl.exceptions.PolarsError):
        return
    except BaseException as error:
        if not is_panic(error):
            raise
