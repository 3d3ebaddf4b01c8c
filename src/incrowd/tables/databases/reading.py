"""Rows of a database: in one pass, of one moment, read only."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from incrowd.errors import FileFormatError
from incrowd.tables.databases.session import BEFORE, READING, Session, check_dates, connected, selection, whole
from incrowd.tables.databases.tables import DatabaseFile, Query
from incrowd.tables.reading.layout import check_headers
from incrowd.tables.streams.body import regrouped


# Rows as they come from the server, in types that incrowd reads.
class RecordBatches(NamedTuple):
    """A PyArrow schema, and record batches that have it."""

    schema: Any
    batches: Generator[Any, None, None]


def rows_of(session: Session, query: str, described: Any) -> RecordBatches:
    """The rows of a query whose columns are known, each in a plain type; the query runs when they are asked for."""
    import pyarrow as pa

    if not len(described):
        raise FileFormatError("The query has no columns. Name at least one.")
    check_headers(described.names)
    plain = selection(query, described)
    types = session.describe(plain).types
    schema = pa.schema(list(zip(described.names, types, strict=True)))

    def batches() -> Generator[Any, None, None]:
        with closing(session.batches(plain)) as stream:
            for batch in stream:
                check_dates(batch, schema.names)
                yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    return RecordBatches(schema, batches())


def save_rows(rows: RecordBatches, path: Path, progress: Callable[[int], None] = lambda _rows: None) -> int:
    """Write the rows to a new Parquet file that only its owner can read; gives their number."""
    import pyarrow.parquet as pq

    path.touch(mode=0o600, exist_ok=False)
    done = 0
    with pq.ParquetWriter(path, rows.schema, compression="zstd", compression_level=1) as writer:
        for batch in rows.batches:
            writer.write_batch(batch)
            progress(done := done + batch.num_rows)
    return done


ROWS = 1 << 20  # of a frame, as for files: see incrowd.tables.streams.stream.FRAME_ROWS
_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_HELD = (
    "SELECT relation::pg_catalog.int8 FROM pg_catalog.pg_locks "
    "WHERE locktype = 'relation' AND pid = pg_catalog.pg_backend_pid()"
)
_SERVER = (
    "SELECT pg_catalog.pg_postmaster_start_time()::pg_catalog.text, oid::pg_catalog.text "
    "FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()"
)


def read_query(query: Query) -> pl.DataFrame:
    """All rows as one frame."""
    return pl.concat(stream_query(query), rechunk=True)


def stream_query(query: Query, rows: int = ROWS) -> Generator[pl.DataFrame, None, None]:
    """The rows in frames of exactly so many, the last one smaller; never many more than that in memory.

    All are read in one transaction that cannot write and sees the database as it was at one moment. PostgreSQL may
    give the rows of a second run in another order, so there is no second pass: :func:`fetch_query` is for those.
    """
    with _opened(query) as answer:
        empty = True
        for frame in regrouped(map(pl.DataFrame, answer.batches), rows):
            empty = False
            yield frame
    if empty:
        raise _no_rows(query)


def fetch_query(query: Query, folder: Path, progress: Callable[[int], None] = lambda _rows: None) -> Path:
    """Copy the rows to a Parquet file, for as many passes as are needed; ``progress`` is told the rows so far.

    Nobody else can read the folder, and it goes away with the run: the file holds the raw rows.
    """
    path = folder / "rows.parquet"
    with _opened(query) as answer:
        done = save_rows(answer, path, progress)
    if not done:
        path.unlink()
        raise _no_rows(query)
    return path


def relations_read(query: Query) -> frozenset[tuple[str, int]]:
    """The tables and views a query rests on, found without running it: by the locks the server takes for it."""
    if isinstance(query.address, DatabaseFile):
        return frozenset()
    with connected(query.address, READING) as session:
        _describe(session, query)
        server = server_of(session)
        return frozenset((server, number) for (number,) in session.ask(_HELD))


def server_of(session: Session) -> str:
    """What tells this database from all others; stays in this process."""
    return "/".join(session.ask(_SERVER)[0])


@contextmanager
def _opened(query: Query) -> Iterator[RecordBatches]:
    if isinstance(query.address, DatabaseFile):
        from incrowd.tables.databases.files import file_rows

        with file_rows(query) as (schema, batches):
            yield RecordBatches(schema, batches)
        return
    with connected(query.address, READING) as session:
        answer = rows_of(session, query.text, _describe(session, query))
        try:
            yield answer
        finally:
            answer.batches.close()


def _describe(session: Session, query: Query) -> Any:
    """Names and types of the columns; one SELECT and nothing else."""
    session.do(_SNAPSHOT)
    return session.describe(whole(query.text), 0 if query.address.table else len(BEFORE))


def _no_rows(query: Query) -> FileFormatError:
    return FileFormatError(f"There are no rows: {query} is empty. Give a table or a query with at least one row.")
