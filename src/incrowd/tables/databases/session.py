"""One connection and its transaction.

What the server or the driver says, in our own words. Their messages hold names of users and hosts, parts of the query
and values of cells. So none of it is passed on: a message is chosen by its code, and where there is no code, by words
in it.

Types of PostgreSQL on their way in and out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import polars as pl

from incrowd.errors import IncrowdError, InputError, OutputError, ValuesError
from incrowd.optional import optional
from incrowd.tables.databases.tables import Address, TableName, quoted

BEFORE = "SELECT * FROM (\n"
_AFTER = "\n) AS given"

_YEAR_1, _YEAR_10000 = -719162, 2932897  # their first days, counted from 1970
_MICROSECONDS = 86_400_000_000  # of a day
_AS_IT_IS = frozenset({"bool", "int2", "int4", "int8", "float4", "float8", "text", "varchar"})
_TIMES = frozenset({"date", "timestamp", "timestamptz", "time"})
_AS_TEXT = frozenset({"numeric", "uuid", "bpchar", "name", "char", "citext", "inet", "cidr", "macaddr", "macaddr8"})
_WIDER: dict[type[pl.DataType] | pl.DataType, pl.DataType] = {
    pl.Int8: pl.Int16(),
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
    pl.Null: pl.String(),
    pl.Categorical: pl.String(),
    pl.Enum: pl.String(),
}
_SQL: dict[type[pl.DataType] | pl.DataType, str] = {
    pl.Boolean: "boolean",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.String: "text",
    pl.Date: "date",
    pl.Time: "time",
}


def whole(query: str) -> str:
    """A query as a part of another one, which only a single query can be."""
    return f"{BEFORE}{query}{_AFTER}"


def selection(query: str, schema: Any) -> str:
    """The query with every column in a type that incrowd reads, named by its position.

    Exact numbers (numeric), identifiers (uuid), network addresses and padded text become plain text, exactly as
    PostgreSQL writes it. What has parts inside (arrays, json, records) or no plain value is refused.
    """
    names = [f"c{i}" for i in range(len(schema))]
    wanted = ", ".join(_expression(name, field) for name, field in zip(names, schema, strict=True))
    return f"SELECT {wanted} FROM (\n{query}{_AFTER}({', '.join(names)})"


def _expression(name: str, field: Any) -> str:
    import pyarrow as pa

    kind = (field.metadata or {}).get(b"POSTGRESQL:type", b"").decode()
    if kind in _AS_IT_IS or kind in _TIMES:
        return name
    if kind in _AS_TEXT or pa.types.is_string(field.type):  # enumerations come as text
        return f"{name}::pg_catalog.text"
    if kind == "oid":
        return f"{name}::pg_catalog.int8"
    raise ValuesError(
        f"Column {field.name!r} has the type {_word(kind, field.type)} of PostgreSQL, which is no plain value. "
        f"Leave it out, or cast it in the query, for instance {quoted(field.name)}::text."
    )


def _word(kind: str, dtype: Any) -> str:
    import pyarrow as pa

    if pa.types.is_list(dtype):
        return f"{kind.removeprefix('_')}[]"
    return "record" if pa.types.is_struct(dtype) else kind.partition("<")[0]


def check_dates(batch: Any, names: list[str]) -> None:
    """Refuse dates that are none for Python, as a database may hold them."""
    import pyarrow as pa

    for name, column in zip(names, batch.columns, strict=True):
        if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
            _check_years(name, column)


def _check_years(name: str, column: Any) -> None:
    """Infinite dates come as some number or other, and those far away as another one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_date = pa.types.is_date(column.type)
    unit = 1 if is_date else _MICROSECONDS
    ends = pc.min_max(column.view(pa.int32() if is_date else pa.int64())).as_py()
    if ends["min"] is not None and (ends["min"] < _YEAR_1 * unit or ends["max"] >= _YEAR_10000 * unit):
        raise ValuesError(
            f"Column {name!r} holds infinite dates, or dates outside the years 1 to 9999. Make them NULL in the query."
        )


def storable(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame in types that PostgreSQL has; nothing is rounded."""
    casts = {name: to for name, dtype in frame.schema.items() if (to := _wider(dtype)) is not None}
    _refuse_rounding(frame)
    return frame.cast(casts)  # type: ignore[arg-type]


def _wider(dtype: pl.DataType) -> pl.DataType | None:
    if isinstance(dtype, pl.Datetime):
        return pl.Datetime("us", dtype.time_zone and "UTC")
    return _WIDER.get(dtype) or _WIDER.get(type(dtype))


def _refuse_rounding(frame: pl.DataFrame) -> None:
    """PostgreSQL counts microseconds."""
    for series in frame.iter_columns():
        fine = series.dtype == pl.Time or (isinstance(series.dtype, pl.Datetime) and series.dtype.time_unit == "ns")
        if fine and (series.to_physical() % 1000 != 0).any():
            raise OutputError(f"Column {series.name!r} has nanoseconds, which PostgreSQL cannot keep. Round it.")


def sql_type(name: str, dtype: pl.DataType) -> str:
    """The type of a column in the new table.

    Examples
    --------
    >>> sql_type("age", pl.Int64()), sql_type("cost", pl.Decimal(10, 2))
    ('bigint', 'numeric(10, 2)')
    """
    if isinstance(dtype, pl.Decimal):
        return f"numeric({dtype.precision}, {dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        return "timestamptz" if dtype.time_zone else "timestamp"
    kind = _SQL.get(dtype)
    if kind is None:
        raise OutputError(f"Column {name!r} has the type {dtype}, for which PostgreSQL has no column. Convert it.")
    return kind


_CONNECTING = (
    (r"password|authentication|pg_hba|role \".*\"|permission denied|not permitted to log in", "refuses the login"),
    (r"database \".*\" does not exist", "has no such database"),
    (r"translate host|name or service not known", "cannot be found: nobody knows its host"),
    (r"definition of service", "cannot be found: there is no such service in the service file"),
    (r"invalid (uri|connection option|sslmode|port|integer)", "cannot be addressed like this"),
    (r"starting up|shutting down|recovery", "is starting or stopping; try again soon"),
    (r"too many|remaining connection slots", "has no connection left"),
    (r"\bssl\b|certificate", "does not agree on an encrypted connection"),
)
_LOOK = "Check that it runs, and host, port, database and the environment (PGHOST, PGPORT, PGUSER, PGPASSFILE)."
_CODES = {
    "3D000": "there is no such database. Check the address.",
    "3F000": "there is no such schema. Create it first, or name another.",
    "42P01": "a table does not exist, or not in the schemas that are searched. Name it as schema.table.",
    "42703": "a column does not exist. Letters of names in double quotes count, large and small.",
    "42601": "the query is not one SELECT, VALUES, TABLE or WITH that PostgreSQL understands. Give one, without a ;.",
    "0A000": "the query does something that is not possible inside another. Give a plain SELECT.",
    "42P07": "the table exists by now: somebody else made it. Name another, or ask to replace it.",
    "23505": "the table exists by now: somebody else made it. Name another, or ask to replace it.",
    "2BP01": "the old table cannot be replaced: views or other tables rest on it. Drop those first, or name another.",
    "55P03": "somebody is using the old table. Try again when they have finished.",
    "22021": "a text holds a character that the database cannot store, such as NUL. Mend it.",
    "22P05": "a text holds a character that the encoding of the database does not have. Use a database in UTF-8.",
    "53100": "the disk of the server is full.",
    "57014": "it was cancelled, or took longer than the server allows (statement_timeout).",
    "54011": "the table has too many columns for PostgreSQL.",
}
_CLASSES = {
    "08": "the connection was lost. Try again.",
    "57": "the server ended the connection. Try again.",
    "22": "a computation in the query failed, for instance a division by zero or a cast.",
    "40": "it came into conflict with another transaction. Try again.",
    "42": "the query cannot be understood. Try it in psql.",
    "53": "the server has not enough memory, disk or connections.",
}
_LOST = ("connection", "ssl", "socket", "eof", "rollback")
_BROKEN = (
    "it broke off between the rows, for instance by a division by zero, a cast, bytes that are not text, or a limit of "
    "time. Try the query in psql."
)


@dataclass(frozen=True)
class Purpose:
    """What a session is for: the type of its errors, and sentences for codes that mean something else elsewhere."""

    error: type[IncrowdError]
    doing: str
    refused: str
    read_only: str
    consequence: str = ""

    def failed(self, why: str) -> IncrowdError:
        """The error of this session."""
        return self.error(" ".join(filter(None, (f"{self.doing} PostgreSQL failed: {why}", self.consequence))))


READING = Purpose(
    InputError,
    "Reading from",
    refused="the account is not allowed to. It needs the right to SELECT from the tables of the query.",
    read_only="the query wants to change the database. Only reading is allowed: give a plain SELECT.",
)
WRITING = Purpose(
    OutputError,
    "Writing to",
    refused="the account is not allowed to. It needs the right to CREATE in the schema, and owns what it replaces.",
    read_only="the server or the account is set to read only. Write to the primary server, with another account.",
    consequence="No table was written.",
)


def not_connected(error: Exception, purpose: Purpose) -> IncrowdError:
    """The error for a connection that could not be made."""
    message = str(error).lower()
    trouble = next((sentence for pattern, sentence in _CONNECTING if re.search(pattern, message)), None)
    return purpose.failed(f"the server {trouble or 'cannot be reached'}. {_LOOK}")


def explain(error: Exception, purpose: Purpose, before: int = 0) -> IncrowdError:
    """The error for what went wrong in a session; ``before`` characters were put before the user's own query."""
    state = getattr(error, "sqlstate", None)
    if state is None:
        lost = any(word in str(error).lower() for word in _LOST)
        return purpose.failed(_CLASSES["08"] if lost else _BROKEN)
    own = {"42501": purpose.refused, "25006": purpose.read_only}
    sentence = own.get(state) or _CODES.get(state) or _CLASSES.get(state[:2]) or "the server refused."
    return purpose.failed(f"{sentence}{_position(error, before)} (SQLSTATE {state})")


def _position(error: Any, before: int) -> str:
    """Where in the user's query the server stumbled."""
    place = next((int(value) for key, value in error.details if key == b"PG_DIAG_STATEMENT_POSITION"), 0)
    return f" It is near character {place - before} of the query." if before and place > before else ""


_T = TypeVar("_T")


class Session:
    """A transaction that is rolled back unless it is committed.

    Calls of the driver block where no signal of Python gets through. So they run in a thread of their own, while
    this one waits for them or for an interrupt, which cancels them.
    """

    def __init__(self, connection: Any, worker: ThreadPoolExecutor, purpose: Purpose) -> None:
        self.purpose = purpose
        self.interrupted = False
        self._open: list[Any] = []
        self._connection = connection
        self._worker = worker

    def do(self, sql: str) -> None:
        """Run a command that has no result."""
        with self._cursor() as cursor:
            self._run(lambda: cursor.execute(sql), cursor)

    def ask(self, sql: str, *parameters: str) -> list[tuple[Any, ...]]:
        """The rows of a small query."""
        with self._cursor() as cursor:
            self._run(lambda: cursor.execute(sql, parameters or None), cursor)
            rows: list[tuple[Any, ...]] = self._run(cursor.fetchall, cursor)
        return rows

    def describe(self, sql: str, before: int = 0) -> Any:
        """The Arrow schema of a query that is not run; the server refuses more than one statement here."""
        with self._cursor() as cursor:
            return self._run(lambda: cursor.adbc_execute_schema(sql), cursor, before)

    def batches(self, sql: str) -> Generator[Any, None, None]:
        """Record batches of a query, as they come in. Who leaves before the end has ended the transaction, too."""
        with self._cursor() as cursor:
            self._run(lambda: cursor.execute(sql), cursor)
            reader = self._run(cursor.fetch_record_batch, cursor)
            try:
                while (batch := self._run(lambda: next(reader, None), cursor)) is not None:
                    yield batch
            except GeneratorExit:
                self._cancel(cursor)  # otherwise the driver would take all rows that are left before it closes
                raise

    def copy_in(self, table: TableName, reader: Any) -> int:
        """Copy the rows of an Arrow reader into a table; gives their number."""
        with self._cursor() as cursor:
            where = {"mode": "append", "db_schema_name": table.schema}
            return int(self._run(lambda: cursor.adbc_ingest(table.name, reader, **where), cursor))

    def commit(self) -> None:
        """Make it so. If the server does not answer, nobody knows whether it has."""
        failed = False
        try:
            self._worker.submit(self._connection.commit).result()
        except _driver().Error:
            failed = True
        if failed:
            raise self.purpose.error(
                "PostgreSQL did not confirm that the table was written: the connection was lost at the last moment. "
                "Look whether the table is there; if it is, it is complete and verified."
            )

    def close(self) -> None:
        """Take back what was not committed, and hang up. The server does the same if it is not told."""
        gone = (_driver().Error, RuntimeError)
        for cursor in tuple(self._open):
            self._cancel(cursor)
            self._put_away(cursor)
        for call in (self._connection.rollback, self._connection.close):
            with suppress(*gone):
                self._worker.submit(call).result()

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        cursor = self._connection.cursor()
        self._open.append(cursor)
        try:
            yield cursor
        finally:
            self._put_away(cursor)

    def _put_away(self, cursor: Any) -> None:
        if cursor in self._open:
            self._open.remove(cursor)
            with suppress(_driver().Error):
                cursor.close()

    def _run(self, call: Callable[[], _T], cursor: Any, before: int = 0) -> _T:
        """The answer of the driver; its errors in our words, and an interrupt passed on to the server."""
        import pyarrow as pa

        driver = _driver()
        running = self._worker.submit(call)
        try:
            return running.result()
        except (driver.Error, OSError, pa.ArrowException) as error:  # of a stream only Arrow's errors come through
            raise explain(error, self.purpose, before) from None
        except BaseException:
            self.interrupted = True
            self._cancel(cursor)
            wait([running])
            raise

    def _cancel(self, cursor: Any) -> None:
        with suppress(_driver().Error):
            cursor.adbc_cancel()


@contextmanager
def connected(address: Address, purpose: Purpose) -> Iterator[Session]:
    """A session on the server, with the login that the environment gives; rolled back and closed at the end."""
    driver = _driver()
    with ThreadPoolExecutor(1, "incrowd-postgresql") as worker:
        try:
            connection = worker.submit(driver.connect, address.connection).result()
        except driver.Error as error:
            raise not_connected(error, purpose) from None
        session = Session(connection, worker, purpose)
        try:
            yield session
        finally:
            session.close()


def _driver() -> Any:
    optional("adbc_driver_postgresql", "Reading from and writing to PostgreSQL")
    import adbc_driver_postgresql.dbapi

    return adbc_driver_postgresql.dbapi
