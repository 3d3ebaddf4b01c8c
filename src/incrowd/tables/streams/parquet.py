"""Parquet, one file or a folder of them, read slice by slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import polars.selectors as cs

from incrowd.errors import FileFormatError
from incrowd.tables.reading.columnar import check_pages, damaged, refuse_encrypted, refused
from incrowd.tables.reading.frames import check_arrow
from incrowd.tables.reading.read import check_file
from incrowd.tables.streams.body import Stamp, check_all, exact

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
        """All rows of the named columns."""
        for part in self.parts:
            for start in range(0, part.rows, rows):
                yield _slice(part, start, rows, names)

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
        check_all(part.stamp for part in self.parts)


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
