"""One pass over a stream: its columns as codes in blocks on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from incrowd.errors import Notice, ParameterError
from incrowd.reading.dictionary import present
from incrowd.reading.draft import Facts, draft_type
from incrowd.reading.encode import Settled, named_columns, settle
from incrowd.reading.missing import marker_notice
from incrowd.reading.streams.blocks import BlockFile, Blocks
from incrowd.reading.streams.gathering import Found, Gathering
from incrowd.reading.streams.stream import FRAME_ROWS, Stream
from incrowd.vocabulary.encoded_table import WholeColumn
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import Column, Schema

MOST_VALUES = 5_000_000
"""Most distinct values of a column."""
_FOR_VALUES = 0.25  # of the memory for rows

Progress = Callable[[int, int], None]
"""Told after each block: rows done, and rows in all."""


def encode_stream(
    stream: Stream,
    schema: Schema,
    names: Sequence[str],
    folder: Path,
    *,
    threads: int,
    progress: Progress | None = None,
    limit: int = MOST_VALUES,
    rows: int = FRAME_ROWS,
    drafted: Collection[str] = (),
    resources: Resources | None = None,
) -> Blocks:
    """Encode the named columns as the schema types them, one block of rows after the other.

    Dictionaries, codes and notices are those that :func:`incrowd.reading.encode.encode` gives for the same table.

    Parameters
    ----------
    stream
        The table.
    schema
        Types of its columns.
    names
        Columns to encode.
    folder
        A private folder for the codes; it must outlive the blocks, and is not removed here.
    threads
        How many columns are worked on at the same time.
    progress
        Called with the rows done and the rows in all after each block.
    limit
        Most distinct values of a column; beyond it memory would not be bounded.
    rows
        Rows of a block.
    drafted
        Columns whose type was drafted from a sample: it is drafted again from all values.
    resources
        A quarter of their memory is for the distinct values of all columns, which are held whole; a table with more is
        refused as soon as that is known.

    Examples
    --------
    >>> import tempfile
    >>> from incrowd.reading.streams.stream import open_stream
    >>> from incrowd.vocabulary.schema import ColumnType
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "people.parquet")
    ...     pl.DataFrame({"age": [39, 7, None]}).write_parquet(file)
    ...     age = Schema((Column("age", type=ColumnType.INTEGER),))
    ...     blocks = encode_stream(open_stream(file), age, ["age"], Path(folder), threads=1, rows=2)
    ...     [block["age"].codes.tolist() for block in blocks], blocks.columns["age"].dictionary.to_list()
    ([[1, 0], [2]], [7, 39])
    """
    if threads < 1:
        raise ParameterError(f"threads must be at least 1, not {threads}.")
    columns = named_columns(schema, stream.columns, names)
    gathering = {name: Gathering(columns[name], stream.schema[name], limit) for name in names}
    files: list[BlockFile] = []
    with ThreadPoolExecutor(threads) as beside:
        for frame in stream.raw_frames(rows, list(gathering)):
            codes = dict(
                zip(gathering, beside.map(Gathering.add, gathering.values(), frame.iter_columns()), strict=True)
            )
            files.append(BlockFile.write(folder / f"block-{len(files):06d}", codes))
            if resources is not None:
                _check_values(gathering.values(), resources, sum(file.rows for file in files) / stream.rows)
            if progress is not None:
                progress(sum(file.rows for file in files), stream.rows)
        found = {name: column.found(stream.origin.missing) for name, column in gathering.items()}
        typed = {
            name: _typed(stream, columns[name], found[name]) if name in drafted else columns[name] for name in found
        }
        settled = list(beside.map(lambda name: settle(found[name].tally, typed[name], stream.origin.missing), found))
    pairs = dict(zip(found, settled, strict=True))
    return Blocks(
        {name: _whole(name, column) for name, column in pairs.items()},
        tuple(file.rows for file in files),
        Schema(tuple(typed.get(column.name, column) for column in schema.columns)),
        tuple(notice for column in settled for notice in column.notices),
        tuple(_markers(stream.origin.missing, found.values())),
        files,
        {name: found[name].places(column) for name, column in pairs.items()},
    )


def _check_values(gathering: Collection[Gathering], resources: Resources, share: float) -> None:
    """Refuse distinct values that do not fit; the ``share`` of the rows that was read tells what all rows may need."""
    held = sum(column.bytes for column in gathering)
    room = resources.share(_FOR_VALUES)
    if room is not None and held > room:
        largest = max(gathering, key=lambda column: column.bytes)
        resources.check_fits(int(held / share), _FOR_VALUES, f"Column {largest.name!r}, with its many distinct values,")


def _whole(name: str, settled: Settled) -> WholeColumn:
    return WholeColumn(name, settled.type, np.empty(0, np.int32), settled.dictionary, total=settled.counts)


def _typed(stream: Stream, column: Column, found: Found) -> Column:
    """The column with the type that all its values suggest; what the file declares stays."""
    if any(column.name == declared.name for declared in stream.declared):
        return column
    return typed_column(column, found, stream.schema[column.name])


def typed_column(column: Column, found: Found, native: pl.DataType) -> Column:
    """A column that was drafted from a sample, with the type that all its values suggest."""
    values, rows = present(found.tally.values), int(found.tally.counts.sum())
    nothing = int(found.tally.counts[-1])
    if found.tally.values.dtype.is_float():
        nothing += found.tally.rows(found.tally.values.is_nan())
    fact = Facts(column.name, rows, rows - nothing, len(values))
    if values.dtype != native:  # the type alone tells, but whether exact numbers have fractions
        values = values.cast(native) if native.is_decimal() else pl.Series([], dtype=native)
    drafted = draft_type(values, fact)
    if drafted.type is column.type:
        return column
    role = column.reason.rpartition("; ")[2]
    return replace(column, type=drafted.type, order=(), reason=f"{drafted.reason}; {role}" if role else drafted.reason)


def _markers(markers: Sequence[str], found: Iterable[Found]) -> Iterator[Notice]:
    cells = [column.marked for column in found]
    for place, marker in enumerate(markers):
        yield from marker_notice(marker, [marked[place] for marked in cells if marked])
