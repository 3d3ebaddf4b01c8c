"""A new table that appears when it is complete and verified, or not at all."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.databases.address import Address
from incrowd.databases.columns import sql_type, storable
from incrowd.databases.failures import WRITING
from incrowd.databases.names import TableName, check_columns, quoted
from incrowd.databases.query import Query
from incrowd.databases.reading import relations_read, server_of
from incrowd.databases.rows import Rows, rows_of, save_rows
from incrowd.databases.session import Session, connected
from incrowd.databases.target import lock, old_table, settled
from incrowd.errors import OutputError

# The verification takes its time while the transaction waits; the rows come back in the order they were written.
_SETTINGS = (
    "SET LOCAL idle_in_transaction_session_timeout = 0",
    "SET LOCAL synchronize_seqscans = off",
    "SET LOCAL max_parallel_workers_per_gather = 0",
    "SET LOCAL lock_timeout = '10s'",
)
_OTHERS = (
    "SELECT DISTINCT r.rolname::pg_catalog.text FROM pg_catalog.pg_class c "
    "CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) a JOIN pg_catalog.pg_roles r ON r.oid = a.grantee "
    "WHERE c.oid = $1::pg_catalog.text::pg_catalog.regclass AND a.grantee <> c.relowner"
)


def check_table(address: Address, *, replace: bool = False, source: Query | None = None) -> None:
    """Raise unless a table may be written there; asked before any work is done.

    An existing table is refused unless it may be replaced; then it must be an ordinary one, and not what is read.
    """
    with connected(address, WRITING) as session:
        table = settled(session, address)
        old = old_table(session, table, may_replace=replace)
        here = server_of(session)
    if old is not None and source is not None and (here, old) in relations_read(source):
        raise OutputError(f"The table {table} is what is read. Write the release to another table.")


@contextmanager
def staged_table(address: Address, *, replace: bool = False) -> Iterator[StagedTable]:
    """Give a table to write and to read back; when the block ends well, it appears under its name.

    Everything happens in one transaction, under a name that nobody knows. If the block raises, or the connection or
    this process dies, there is no new table, and an old one is as it was.
    """
    with connected(address, WRITING) as session:
        for setting in _SETTINGS:
            session.do(setting)
        table = settled(session, address)
        lock(session, table)
        old = old_table(session, table, may_replace=replace)
        staged = StagedTable(session, table)
        yield staged
        staged.publish(replacing=old is not None)
        session.commit()


class StagedTable:
    """A table in the making, seen by its own transaction only. :func:`staged_table` makes it."""

    def __init__(self, session: Session, table: TableName) -> None:
        self._session = session
        self._table = table
        self._hidden = dataclasses.replace(table, name=f"incrowd_{secrets.token_hex(8)}")
        self._written: int | None = None
        self._seen: int | None = None

    def write(self, frames: Iterable[pl.DataFrame]) -> int:
        """Create the table with the columns of the first frame and copy all rows into it; gives their number."""
        given = iter(frames)
        first = next(given, None)
        if first is None or first.width == 0:
            raise OutputError("There is nothing to write: no columns.")
        self._create(storable(first.clear()).schema)
        feed = _Feed(self._session, first, given)
        try:
            written = self._session.copy_in(self._hidden, feed.reader())
        except Exception:
            if feed.failure is not None:
                raise feed.failure from None
            raise
        if written != feed.rows:
            raise OutputError(f"PostgreSQL took {written:,} of {feed.rows:,} rows. No table was written.")
        self._written = written
        return written

    def written_back(self) -> Any:
        """A PyArrow stream of the rows as the server has them now, in the order they were written.

        It is to be read to its end, or no table appears.
        """
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(*self._rows())

    def save(self, path: Path) -> int:
        """Write the rows as the server has them now to a Parquet file, for the verification; gives their number."""
        return save_rows(self._rows(), path)

    def publish(self, *, replacing: bool) -> None:
        """Give the table its name, in place of the old one; only if all that was written has been read back."""
        if self._written is None:
            raise OutputError("Nothing was written, so there is no table to publish.")
        if self._seen != self._written:
            raise OutputError("The rows were not read back to the end: nothing vouches for them. No table was written.")
        if replacing:
            self._session.do(f"DROP TABLE {self._table.sql}")
        self._session.do(f"ALTER TABLE {self._hidden.sql} RENAME TO {quoted(self._table.name)}")

    def _create(self, schema: pl.Schema) -> None:
        """A table of which default privileges give nothing to others: the owner decides who may read a release."""
        check_columns(schema.names())
        columns = ", ".join(f"{quoted(name)} {sql_type(name, dtype)}" for name, dtype in schema.items())
        self._session.do(f"CREATE TABLE {self._hidden.sql} ({columns}) USING heap")
        others = self._session.ask(_OTHERS, self._hidden.sql)
        for role in ("PUBLIC", *(quoted(name) for (name,) in others)):
            self._session.do(f"REVOKE ALL ON TABLE {self._hidden.sql} FROM {role} CASCADE")

    def _rows(self) -> Rows:
        everything = f"SELECT * FROM {self._hidden.sql}"
        schema, found = rows_of(self._session, everything, self._session.describe(everything))

        def batches() -> Generator[Any, None, None]:
            self._seen, seen = None, 0
            with closing(found):
                for batch in found:
                    seen += batch.num_rows
                    yield batch
            self._seen = seen

        return Rows(schema, batches())


class _Feed:
    """Frames as record batches, counted.

    An error of theirs is kept, as the driver would turn it into one of its own. After an interrupt they end: the driver
    would take all of them before it looks whether the server still wants any.
    """

    def __init__(self, session: Session, first: pl.DataFrame, rest: Iterator[pl.DataFrame]) -> None:
        self._session = session
        self._first = first
        self._rest = rest
        self.rows = 0
        self.failure: Exception | None = None

    def reader(self) -> Any:
        """What the driver reads."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(_arrow(self._first.clear()).schema, self._batches())

    def _batches(self) -> Iterator[Any]:
        try:
            for frame in chain([self._first], self._rest):
                if self._session.interrupted:
                    raise OutputError("The writing was interrupted. No table was written.")
                if frame.schema != self._first.schema:
                    raise OutputError("The parts of the table have different columns or types. No table was written.")
                self.rows += frame.height
                yield from _arrow(frame).to_batches()
        except Exception as failure:
            self.failure = failure
            raise


def _arrow(frame: pl.DataFrame) -> Any:
    return storable(frame).to_arrow(compat_level=pl.CompatLevel.oldest())
