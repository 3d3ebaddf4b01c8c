"""Rows of a database: in one pass, of one moment, read only.

Files of SQLite and DuckDB: opened for reading only, asked one query, and nothing outside the file is touched.

What their libraries say holds parts of the query and values of cells; it is not passed on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from incrowd.errors import FileFormatError, IncrowdError, InputError, ParameterError, ValuesError
from incrowd.tables.databases.session import BEFORE, READING, Session, check_dates, connected, selection, whole
from incrowd.tables.databases.tables import DatabaseFile, Query, quoted
from incrowd.tables.reading.frames import check_arrow
from incrowd.tables.reading.layout import check_headers
from incrowd.tables.streams.body import regrouped

BATCH = 50_000
"""Rows that are fetched at once."""
_TABLES = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"
_DUCKDB_TABLES = "SELECT table_name FROM information_schema.tables ORDER BY table_name"
_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_DUCKDB: dict[str, Any] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "threads": "1",  # rows come in the same order each time
    "lock_configuration": "true",
}


@contextmanager
def file_rows(query: Query) -> Iterator[tuple[Any, Generator[Any, None, None]]]:
    """A PyArrow schema, and the rows of the query as record batches that have it."""
    file = query.address
    assert isinstance(file, DatabaseFile)
    with _translated(file), _opened_file(file) as connection:
        if file.kind == "sqlite":
            yield _sqlite_rows(connection, query.text)
        else:
            yield _duckdb_rows(connection, query.text)


def table_names(file: DatabaseFile) -> list[str]:
    """The tables and views of a database."""
    with _translated(file), _opened_file(file) as connection:
        listed = connection.execute(_TABLES if file.kind == "sqlite" else _DUCKDB_TABLES).fetchall()
    return [name for (name,) in listed]


@contextmanager
def _opened_file(file: DatabaseFile) -> Iterator[Any]:
    path = file.path.absolute()
    if file.kind == "duckdb":
        import duckdb

        with duckdb.connect(str(path), read_only=True, config=_DUCKDB) as connection:
            yield connection
        return
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")  # all that is asked is asked of one moment
        connection.set_authorizer(_only_reads)
        yield connection


def _only_reads(action: int, *_: object) -> int:
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _sqlite_rows(connection: sqlite3.Connection, text: str) -> tuple[Any, Generator[Any, None, None]]:
    """SQLite has a type for each cell: a column has the one that all its cells fit into."""
    import pyarrow as pa

    cursor = connection.execute(text)
    names = [column[0] for column in cursor.description or ()]
    check_headers(names)
    places = [f"c{place}" for place in range(len(names))]
    kinds = ", ".join(f"group_concat(DISTINCT typeof({place}))" for place in places)
    [seen] = connection.execute(f"WITH given({', '.join(places)}) AS (\n{text}\n) SELECT {kinds} FROM given").fetchall()
    schema = pa.schema([(name, _type(name, kind or "")) for name, kind in zip(names, seen, strict=True)])

    def batches() -> Generator[Any, None, None]:
        while rows := cursor.fetchmany(BATCH):
            columns = zip(*rows, strict=True)
            yield pa.record_batch(
                [_array(cells, field.type) for cells, field in zip(columns, schema, strict=True)], schema
            )

    return schema, batches()


def _type(name: str, kinds: str) -> Any:
    import pyarrow as pa

    seen = frozenset(kinds.split(",")) - {"null", ""}
    types = {
        frozenset[str](): pa.null(),
        frozenset({"integer"}): pa.int64(),
        frozenset({"real"}): pa.float64(),
        frozenset({"integer", "real"}): pa.float64(),
        frozenset({"text"}): pa.string(),
    }
    if seen not in types:
        raise ValuesError(
            f"Column {name!r} holds binary values, or mixes text and numbers. Leave it out, or cast it in the query: "
            f"CAST({quoted(name)} AS TEXT)."
        )
    return types[seen]


def _array(cells: Any, dtype: Any) -> Any:
    import pyarrow as pa

    is_real = pa.types.is_floating(dtype)
    return pa.array([float(cell) if is_real and cell is not None else cell for cell in cells], dtype)


def _duckdb_rows(connection: Any, text: str) -> tuple[Any, Generator[Any, None, None]]:
    import duckdb
    import pyarrow as pa

    statements = connection.extract_statements(text)
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise InputError("The query is not one SELECT. Give one, and nothing else.")
    reader = connection.sql(text).to_arrow_reader(BATCH)
    check_arrow(reader.schema)
    for field in reader.schema:
        if pa.types.is_binary(field.type) or pa.types.is_interval(field.type):
            raise ValuesError(
                f"Column {field.name!r} has a type that is no plain value. Leave it out, or cast it in the query: "
                f"CAST({quoted(field.name)} AS VARCHAR)."
            )
    return reader.schema, (batch for batch in reader)


@contextmanager
def _translated(file: DatabaseFile) -> Iterator[None]:
    """The libraries' own messages do not get out."""
    known: tuple[type[Exception], ...] = (sqlite3.Error, UnicodeError, OSError)
    if file.kind == "duckdb":
        import duckdb

        known = (duckdb.Error, UnicodeError, OSError)
    try:
        yield
    except known as error:
        raise _in_our_words(file, error) from None


def _in_our_words(file: DatabaseFile, error: Exception) -> IncrowdError:
    message, name = str(error).lower(), file.database
    if "lock" in message or "busy" in message:
        return FileFormatError(f"{name} is in use by another program. Close it there, and try again.")
    if "no such table" in message or ("table with name" in message and "not exist" in message):
        return ParameterError(f"{name} has no such table. {tables_told(file)}")
    if any(
        word in message
        for word in ("no such column", "referenced column", "syntax error", "not authorized", "one statement")
    ):
        return InputError(
            "The query is not one SELECT that the database understands, of columns that it has. Check it."
        )
    return FileFormatError(f"{name} is damaged, or no database that can be read ({type(error).__name__}).")


def tables_told(file: DatabaseFile) -> str:
    """A sentence with the tables that there are."""
    names = table_names(file)
    return f"It has {', '.join(map(repr, names))}." if names else "It has none."


def database_kind(path: Path) -> str:
    """What made the file, by its first bytes."""
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        raise FileFormatError(f"{str(path)!r} is not a file that can be read. Check the path.") from None
    if head == b"SQLite format 3\0":
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise FileFormatError(f"{path.name!r} is named as a database, but is a file of neither SQLite nor DuckDB.")


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
