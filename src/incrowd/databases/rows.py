"""Rows as they come from the server, in types that incrowd reads."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from incrowd.databases.columns import check_dates, selection
from incrowd.databases.session import Session
from incrowd.errors import FileFormatError
from incrowd.reading.headers import check_headers


class Rows(NamedTuple):
    """A PyArrow schema, and record batches that have it."""

    schema: Any
    batches: Generator[Any, None, None]


def rows_of(session: Session, query: str, described: Any) -> Rows:
    """The rows of a query whose columns are known, each in a plain type; the query runs when they are asked for."""
    import pyarrow as pa

    if not len(described):
        raise FileFormatError("The query has no columns. Name at least one.")
    check_headers(described.names)
    plain = selection(query, described)
    types = session.describe(plain).types
    schema = pa.schema(list(zip(described.names, types, strict=True)))

    def batches() -> Generator[Any, None, None]:
        with closing(session.batches(plain)) as found:
            for batch in found:
                check_dates(batch, schema.names)
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    return Rows(schema, batches())


def save_rows(rows: Rows, path: Path, progress: Callable[[int], None] = lambda _rows: None) -> int:
    """Write the rows to a new Parquet file that only its owner can read; gives their number."""
    import pyarrow.parquet as pq

    path.touch(mode=0o600, exist_ok=False)
    done = 0
    with pq.ParquetWriter(path, rows.schema, compression="zstd", compression_level=1) as writer:
        for batch in rows.batches:
            writer.write_batch(batch)
            progress(done := done + batch.num_rows)
    return done


def regrouped(batches: Iterable[Any], rows: int) -> Iterator[pl.DataFrame]:
    """The rows of record batches in frames of exactly so many, the last one smaller.

    Examples
    --------
    >>> import pyarrow as pa
    >>> pieces = [pa.record_batch({"a": [1, 2, 3]}), pa.record_batch({"a": [4, 5]})]
    >>> [frame["a"].to_list() for frame in regrouped(pieces, 2)]
    [[1, 2], [3, 4], [5]]
    """
    held: list[pl.DataFrame] = []
    waiting = 0
    for batch in batches:
        held.append(pl.DataFrame(batch))
        waiting += batch.num_rows
        while waiting >= rows:
            together = pl.concat(held)
            yield together.head(rows).rechunk()
            held, waiting = [together.slice(rows)], waiting - rows
    if waiting:
        yield pl.concat(held, rechunk=True)
