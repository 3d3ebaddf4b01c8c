"""Files of SQLite and DuckDB: opened for reading only, asked one query, and nothing outside the file is touched.

What their libraries say holds parts of the query and values of cells; it is not passed on.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from incrowd.errors import FileFormatError, IncrowdError, InputError, ParameterError, ValuesError
from incrowd.tables.databases.tables import DatabaseFile, Query, quoted
from incrowd.tables.reading.frames import check_arrow
from incrowd.tables.reading.layout import check_headers

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
    with _translated(file), _opened(file) as connection:
        if file.kind == "sqlite":
            yield _sqlite_rows(connection, query.text)
        else:
            yield _duckdb_rows(connection, query.text)


def table_names(file: DatabaseFile) -> list[str]:
    """The tables and views of a database."""
    with _translated(file), _opened(file) as connection:
        listed = connection.execute(_TABLES if file.kind == "sqlite" else _DUCKDB_TABLES).fetchall()
    return [name for (name,) in listed]


@contextmanager
def _opened(file: DatabaseFile) -> Iterator[Any]:
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
    raise FileFormatError(f"{path.name!r} is named as a database, but is neither one of SQLite nor of DuckDB.")
