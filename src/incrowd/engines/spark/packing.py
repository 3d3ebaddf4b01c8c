"""Frames as bytes: a block of rows travels through Spark as one cell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl


def packed(frame: pl.DataFrame) -> bytes:
    """A frame as an Arrow stream.

    Examples
    --------
    >>> unpacked(packed(pl.DataFrame({"age": [39, None]}))).rows()
    [(39,), (None,)]
    """
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = frame.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def unpacked(data: Any, without: str | None = None) -> pl.DataFrame:
    """The frame of an Arrow stream; columns whose names start ``without`` are left packed.

    Examples
    --------
    >>> unpacked(packed(pl.DataFrame({"age": [39], "#age": [2]})), without="#").columns
    ['age']
    """
    import pyarrow as pa

    stream = pa.py_buffer(data)
    if without is None:
        return pl.DataFrame(pa.ipc.open_stream(stream).read_all())
    names = pa.ipc.open_stream(stream).schema.names
    wanted = [place for place, name in enumerate(names) if not name.startswith(without)]
    options = pa.ipc.IpcReadOptions(included_fields=wanted)
    return pl.DataFrame(pa.ipc.open_stream(stream, options=options).read_all())


def in_blocks(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """The rows of PyArrow batches in tables of exactly so many rows; the last may have fewer.

    Examples
    --------
    >>> import pyarrow as pa
    >>> batches = [pa.record_batch({"a": [0] * size}) for size in (3, 0, 1, 5)]
    >>> [table.num_rows for table in in_blocks(batches, 4)]
    [4, 4, 1]
    """
    import pyarrow as pa

    waiting: list[Any] = []
    missing = rows
    for batch in batches:
        at = 0
        while batch.num_rows - at >= missing:
            waiting.append(batch.slice(at, missing))
            yield pa.Table.from_batches(waiting)
            at, waiting, missing = at + missing, [], rows
        if at < batch.num_rows:
            waiting.append(batch.slice(at))
            missing -= batch.num_rows - at
    if waiting:
        yield pa.Table.from_batches(waiting)


def cells(batches: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The rows of PyArrow batches, one by one, as Python values; binary cells are not copied.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [(row["a"], bytes(row["b"])) for row in cells([pa.record_batch({"a": [1], "b": [b"x"]})])]
    [(1, b'x')]
    """
    import pyarrow as pa

    for batch in batches:
        for at in range(batch.num_rows):
            row = {name: batch.column(place)[at] for place, name in enumerate(batch.schema.names)}
            yield {
                name: (cell.as_buffer() if cell.is_valid else None)
                if isinstance(cell, pa.BinaryScalar | pa.LargeBinaryScalar)
                else cell.as_py()
                for name, cell in row.items()
            }
