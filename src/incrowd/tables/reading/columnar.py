"""Parquet, Arrow and Feather files; Parquet, one file or a folder of them, also slice by slice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from incrowd.errors import FileFormatError, InputError, is_panic
from incrowd.tables.reading.frames import check_arrow, from_typed
from incrowd.tables.reading.read import check_file
from incrowd.tables.reading.source import MISSING_MARKERS, Origin, Source
from incrowd.tables.streams.body import Stamp, exact

_ENDINGS = (".parquet", ".pq")
_HIDDEN = (".", "_")


@dataclass(frozen=True, eq=False)
class FilePart:
    """One Parquet file with its number of rows and its columns; its name if it is one of a folder."""

    stamp: Stamp
    rows: int
    schema: dict[str, pl.DataType]
    name: str | None


@dataclass(frozen=True, eq=False)
class ParquetBody:
    """One or more Parquet files of the same columns, one after the other."""

    parts: tuple[FilePart, ...]

    @property
    def rows(self) -> int:
        """Number of rows of all files together."""
        return sum(part.rows for part in self.parts)

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows of the named columns; text that has dictionaries in the file as categories."""
        for part in self.parts:
            if _read_alike(part, names):
                yield from _batches(part, rows, names)
            else:
                yield from (_slice(part, start, rows, names) for start in range(0, part.rows, rows))

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        frames = []
        for part in self.parts:
            if start < part.rows and rows > 0:
                frames.append(_slice(part, start, rows, names))
                rows -= frames[-1].height
            start = max(start - part.rows, 0)
        return pl.concat(frames)

    def check(self) -> None:
        """Refuse to go on if a file is not what it was."""
        for part in self.parts:
            part.stamp.check()


def open_parquet(path: Path) -> ParquetBody:
    """A Parquet file, or all Parquet files of a folder sorted by name, which must have the same columns and types."""
    if not path.is_dir():
        return ParquetBody((_part(path, None),))
    parts = tuple(_part(file, file.name) for file in _files(path))
    first = parts[0]
    for part in parts[1:]:
        if list(part.schema.items()) != list(first.schema.items()):
            raise FileFormatError(
                f"{part.stamp.path.name!r} does not have the columns of {first.stamp.path.name!r}: "
                f"{_difference(first.schema, part.schema)}. All files of a folder need the same columns, in the same "
                "order and of the same types."
            )
    return ParquetBody(parts)


def _files(folder: Path) -> list[Path]:
    """The Parquet files of a folder; what is hidden is passed over, anything else is an error."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith(_HIDDEN))
    for entry in entries:
        if entry.suffix.lower() not in _ENDINGS or not entry.is_file():
            raise FileFormatError(
                f"The folder holds {entry.name!r}, which is no Parquet file. Give a folder of Parquet files only."
            )
    if not entries:
        raise FileFormatError("The folder holds no Parquet file. Give a file, or a folder of Parquet files.")
    return entries


def _part(path: Path, name: str | None) -> FilePart:
    """A file whose footer can be read and whose types can be released."""
    import pyarrow.parquet as pq

    check_file(path)
    stamp = Stamp.of(path)
    refuse_encrypted(path)
    part: FilePart | None = None
    with refused():
        with pq.ParquetFile(path) as file:
            check_arrow(file.schema_arrow)
            rows = file.metadata.num_rows
        check_pages(path)
        part = FilePart(stamp, rows, dict(pl.read_parquet_schema(path)), name)
    if part is None:
        raise damaged("Parquet", name)
    return part


def _difference(first: dict[str, pl.DataType], other: dict[str, pl.DataType]) -> str:
    for name in first:
        if name not in other:
            return f"it has no column {name!r}"
        if other[name] != first[name]:
            return f"the column {name!r} has the type {other[name]}, not {first[name]}"
    extra = next((name for name in other if name not in first), None)
    return f"it has a column {extra!r} more" if extra is not None else "they are in another order"


def _read_alike(part: FilePart, names: Sequence[str]) -> bool:
    """Whether PyArrow gives the named columns the types that polars gives them."""
    import pyarrow.parquet as pq

    types = {}
    with refused():
        types = dict(pl.DataFrame(pq.read_schema(part.stamp.path).empty_table()).schema)
    return all(types.get(name) == part.schema[name] for name in names)


def _batches(part: FilePart, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
    """The rows of one file as its pages have them: what text is, is said once, and not in every row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts, seen = [name for name in names if part.schema[name] == pl.String], 0
    with refused(), pq.ParquetFile(part.stamp.path, read_dictionary=texts) as file:
        for batch in file.iter_batches(rows, columns=list(names), use_threads=False):
            frame: pl.DataFrame = pl.DataFrame(pa.Table.from_batches([batch]))
            seen += frame.height
            yield exact(frame, names)
    if seen != part.rows:
        part.stamp.check()
        raise damaged("Parquet", part.name)


def _slice(part: FilePart, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
    """Rows of one file; the library's own messages do not get out."""
    frame: pl.DataFrame | None = None
    with refused():
        lazy = pl.scan_parquet(part.stamp.path, glob=False, hive_partitioning=False)
        frame = lazy.select(cs.by_name(*names)).slice(start, rows).collect()
    if frame is None or frame.height != min(rows, part.rows - start):
        part.stamp.check()
        raise damaged("Parquet", part.name)
    return exact(frame, names)


_ENCRYPTED = b"PARE"
_CHECKED_ROWS = 1 << 14  # read at once and forgotten: a check needs little memory


def read_parquet(path: Path, *, missing: tuple[str, ...] = MISSING_MARKERS) -> Source:
    """Read a Parquet file with its types, or all Parquet files of a folder, one after the other."""
    parts = open_parquet(path).parts
    frame = pl.concat(_slice(part, 0, part.rows, list(part.schema)) for part in parts)
    return from_typed(frame, Origin("parquet", str(path), missing=missing))


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
