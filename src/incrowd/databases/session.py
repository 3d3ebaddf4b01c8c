"""One connection and its transaction."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from incrowd.databases.address import Address
from incrowd.databases.failures import Purpose, not_connected, told
from incrowd.databases.names import TableName
from incrowd.optional import optional

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
            raise told(error, self.purpose, before) from None
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
