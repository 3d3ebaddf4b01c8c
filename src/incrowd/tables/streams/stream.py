"""The door for tables larger than memory: a path, read in frames as often as needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import FileFormatError, HeaderError, Notice, ParameterError
from incrowd.tables.reading.columnar import damaged, is_arrow_file, refused, sound
from incrowd.tables.reading.dialect import Dialect
from incrowd.tables.reading.frames import check_arrow, check_types, plain_text
from incrowd.tables.reading.keyed import KeyedCells, keyed_notices
from incrowd.tables.reading.read import check_file, missing_markers
from incrowd.tables.reading.source import Origin, spellings, without_markers
from incrowd.tables.streams.body import Body, Stamp, changed, exact, regrouped
from incrowd.vocabulary.column_rules import Keying, coarsenings
from incrowd.vocabulary.schema import Column, unknown_column

_MOST_COPIED = 1 << 22


@dataclass(frozen=True, eq=False)
class ArrowBody:
    """An Arrow file: the rows of each of its batches, and its columns.

    A batch is the least that can be read, so memory is bounded by the largest batch. Very large batches are mapped
    into memory: what is not compressed is then loaded only where it is looked at.
    """

    stamp: Stamp
    batches: tuple[int, ...]
    schema: dict[str, pl.DataType]

    @property
    def rows(self) -> int:
        """Number of rows of all batches together."""
        return sum(self.batches)

    def pieces(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:  # noqa: ARG002 (a batch is a piece)
        """All rows of the named columns."""
        return self._from(0, names)

    def part(self, start: int, rows: int, names: Sequence[str]) -> pl.DataFrame:
        """Some rows of the named columns from a place in the middle."""
        place, before = 0, 0
        while before + self.batches[place] <= start:
            before += self.batches[place]
            place += 1
        frames, missing = [], start - before + rows
        for frame in self._from(place, names):
            frames.append(frame)
            missing -= frame.height
            if missing <= 0:
                break
        return pl.concat(frames).slice(start - before, rows)

    def check(self) -> None:
        """Refuse to go on if the file is not what it was."""
        self.stamp.check()

    def _from(self, first: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The batches from a given one on."""
        import pyarrow as pa

        with _translated(self.stamp):
            mapped = max(self.batches) > _MOST_COPIED
            fields = [place for place, name in enumerate(self.schema) if name in names]
            for place, batch in _batches(self.stamp.path, fields, first, mapped=mapped):
                if place >= len(self.batches) or batch.num_rows != self.batches[place]:
                    raise damaged("Arrow")
                frame: pl.DataFrame = pl.DataFrame(sound(pa.Table.from_batches([batch])))
                yield exact(frame, names)


def open_arrow(path: Path) -> ArrowBody:
    """An Arrow file or stream whose types can be released; its batches are counted."""
    stamp = Stamp.of(path)
    with _translated(stamp):
        schema = _schema(path)
        check_arrow(schema)
        sizes = tuple(batch.num_rows for _, batch in _batches(path, [0]))
        return ArrowBody(stamp, sizes, dict(pl.DataFrame(schema.empty_table()).schema))


@contextmanager
def _translated(stamp: Stamp) -> Iterator[None]:
    """The library's own messages do not get out; what this package raises does."""
    done = False
    with refused():
        yield
        done = True
    if not done:
        raise (damaged("Arrow") if stamp.holds else changed(stamp.path)) from None


def _schema(path: Path) -> Any:
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        return (pa.ipc.open_file(file) if is_arrow_file(path) else pa.ipc.open_stream(file)).schema


def _batches(path: Path, fields: list[int], first: int = 0, *, mapped: bool = False) -> Iterator[tuple[int, Any]]:
    """Place and content of the batches from a given one on; a stream is read from its start all the same."""
    import pyarrow as pa

    options = pa.ipc.IpcReadOptions(included_fields=fields)
    with pa.memory_map(str(path)) if mapped else pa.OSFile(str(path)) as file:
        if is_arrow_file(path):
            reader = pa.ipc.open_file(file, options=options)
            for place in range(first, reader.num_record_batches):
                yield place, reader.get_batch(place)
        else:
            for place, batch in enumerate(pa.ipc.open_stream(file, options=options)):
                if place >= first:
                    yield place, batch


FRAME_ROWS = 1 << 20
"""Rows of a frame, unless asked for otherwise."""


@dataclass(frozen=True, eq=False)
class Stream:
    """A table on disk that was found sound, read in frames: the same rows in the same order each time."""

    columns: tuple[str, ...]  # names of the columns
    schema: dict[str, pl.DataType]  # their polars types; columns of text files are text
    # number of rows, counted, and size of the files, unpacked if they are text
    rows: int
    bytes: int
    origin: Origin  # where the table comes from
    notices: tuple[Notice, ...]  # what was handled while opening
    declared: tuple[Column, ...]  # orders that the file itself declares
    _body: Body = field(repr=False)
    keyed: KeyedCells | None = None  # what makes the cells of columns that a key makes, if there are some

    @property
    def bytes_of_a_row(self) -> int:
        """What a row has in the file, on average."""
        return self.bytes // max(1, self.rows)

    def frames(self, rows: int = FRAME_ROWS, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The rows in frames of exactly ``rows`` rows, the last perhaps with fewer.

        Cells are as the reader of small files gives them: a marker of missing values is null, categories are text.
        """
        names = self._chosen(columns)
        needed = names if self.keyed is None else self.keyed.needed(names)
        return (self._made(plain_text(frame), names) for frame in self._whole(rows, needed))

    def raw_frames(self, rows: int = FRAME_ROWS, columns: Sequence[str] | None = None) -> Iterator[pl.DataFrame]:
        """The same frames to be coded: markers of missing values still in place, text perhaps as categories."""
        return self._whole(rows, self._chosen(columns))

    def part(self, start: int, rows: int) -> pl.DataFrame:
        """Some rows from a place in the middle, as :meth:`frames` gives them."""
        return self._made(plain_text(self._body.part(start, rows, self.columns)), self.columns)

    def with_key(self, keying: Keying | None) -> Stream:
        """The same table with the columns that a key makes; their dates are looked at first, over all rows."""
        if keying is None:
            return self
        keying.check_columns(self.columns)
        cells = KeyedCells.of(keying, lambda names: self.frames(columns=names), self.origin.missing)
        texts = dict.fromkeys(keying.pseudonyms, pl.String())
        notices = (*self.notices, *keyed_notices(keying))
        return replace(self, schema={**self.schema, **texts}, notices=notices, keyed=cells)

    def _chosen(self, columns: Sequence[str] | None) -> tuple[str, ...]:
        names = self.columns if columns is None else tuple(columns)
        unknown = next((name for name in names if name not in self.schema), None)
        if unknown is not None:
            raise HeaderError(unknown_column(unknown, self.columns))
        return names

    def _whole(self, rows: int, names: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows, or an error: the file must be the same before and after."""
        if rows < 1:
            raise ParameterError(f"A frame has at least one row, not {rows}. Choose a larger number.")
        self._body.check()
        seen = 0
        for frame in regrouped(self._body.pieces(rows, names), rows):
            seen += frame.height
            yield frame
        self._body.check()
        if seen != self.rows:
            raise FileFormatError(
                f"The table had {self.rows:,} rows when it was opened, and has {seen:,} now. Start again."
            )

    def _made(self, frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
        """Some columns as they are read."""
        marked = self.unmarked(frame)
        return marked if self.keyed is None else self.keyed.made(marked).select(names)

    def unmarked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Null instead of markers of missing values."""
        texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
        return frame.with_columns(without_markers(texts, spellings(self.origin.missing)))


def open_stream(
    source: str | Path,
    *,
    missing: Sequence[str] | None = None,
    sheet: str | None = None,  # noqa: ARG001 (workbooks are read whole)
    header_row: int | None = None,  # noqa: ARG001
    coarsen: Mapping[str, str] | None = None,
    scratch: Path | None = None,
    **text: Any,
) -> Stream:
    """Open a table on disk without reading it into memory, and refuse what is not sound.

    Parameters
    ----------
    source
        Delimited text (perhaps gzip or zstd), Parquet, Arrow or Feather, JSON Lines, or a folder of Parquet files.
    missing, sheet, header_row, text
        As for :func:`incrowd.tables.reading.read.read`.
    coarsen
        Refused: columns are coarsened where the whole table is in memory.
    scratch
        Folder for the unpacked text of a compressed or recoded file; it is kept in a file without a name. The
        usual folder for temporary files if not given.
    """
    if coarsenings(coarsen):
        raise ParameterError(
            "Columns are coarsened where the whole table is in memory, and this one is worked on in blocks. Give one "
            "file and no limit of memory, or coarsen the columns before."
        )
    path, markers, dialect = Path(source), missing_markers(missing), Dialect(**text)
    if path.is_dir():
        return _parquet(path, markers)
    kind, compression = check_file(path)
    if kind == "delimited text":
        from incrowd.tables.reading.delimited import origin_of
        from incrowd.tables.reading.layout import guess_notice
        from incrowd.tables.streams.text import open_text

        body = open_text(path, dialect, compression=compression, folder=scratch)
        origin = origin_of(path, body.layout, body.encoding, compression, markers)
        schema: dict[str, pl.DataType] = dict.fromkeys(body.layout.kept, pl.String())
        notices = (*body.layout.notices, *guess_notice(body.layout, body.encoding, dialect))
        return Stream(
            columns=body.layout.kept,
            schema=schema,
            rows=body.rows,
            bytes=body.data.size,
            origin=origin,
            notices=notices,
            declared=(),
            _body=body,
        )
    if kind == "Parquet":
        return _parquet(path, markers)
    if kind == "Arrow":
        arrow = open_arrow(path)
        return _typed(arrow, arrow.schema, arrow.rows, arrow.stamp.size, Origin("arrow", str(path), missing=markers))
    if kind == "JSON Lines" and compression is None:
        from incrowd.tables.streams.json_lines import open_json_lines

        lines = open_json_lines(path)
        origin = Origin("jsonl", str(path), missing=markers)
        return _typed(lines, lines.schema, lines.rows, lines.stamp.size, origin)
    packed = "Packed " if compression else ""
    raise FileFormatError(f"{packed}{kind} files are read whole, not in pieces. Convert the table to Parquet or CSV.")


def _parquet(path: Path, missing: tuple[str, ...]) -> Stream:
    from incrowd.tables.reading.columnar import open_parquet

    body = open_parquet(path)
    size = sum(part.stamp.size for part in body.parts)
    return _typed(body, body.parts[0].schema, body.rows, size, Origin("parquet", str(path), missing=missing))


def _typed(body: Body, schema: dict[str, pl.DataType], rows: int, size: int, origin: Origin) -> Stream:
    """A stream of a format that has types: names and types checked, categories as text."""
    shape = check_types(schema, rows)
    kept = {name: _plain(schema[name]) for name in shape.kept}
    return Stream(
        shape.kept, kept, rows, size, origin=origin, notices=shape.notices, declared=shape.declared, _body=body
    )


def _plain(dtype: pl.DataType) -> pl.DataType:
    return pl.String() if isinstance(dtype, pl.Categorical | pl.Enum) else dtype
