"""A new table that appears when it is complete and verified, or not at all."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from incrowd.errors import OutputError, ParameterError, named_option
from incrowd.tables.databases.reading import RecordBatches, relations_read, rows_of, save_rows, server_of
from incrowd.tables.databases.session import WRITING, Session, connected, sql_type, storable
from incrowd.tables.databases.tables import Address, NewTable, Query, TableName, check_columns, quoted

# The place of a new table: may it be written there, and what is there already?
_LOCK = "SELECT pg_catalog.pg_try_advisory_xact_lock(pg_catalog.hashtextextended($1::pg_catalog.text, 20190))"
_MAY_CREATE = "SELECT pg_catalog.has_schema_privilege($1::pg_catalog.text, 'CREATE'::pg_catalog.text)"
_OLD = (
    "SELECT c.oid::pg_catalog.int8, c.relkind::pg_catalog.text, c.relispartition OR c.relhassubclass, "
    "pg_catalog.pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1::pg_catalog.text AND c.relname = $2::pg_catalog.text"
)
_KINDS = {
    "r": "part of other tables",
    "v": "view",
    "m": "materialized view",
    "f": "foreign table",
    "p": "partitioned table",
    "S": "sequence",
    "i": "index",
}


def settled(session: Session, address: Address) -> TableName:
    """The table with its schema, in which the account may create it."""
    if address.table is None:
        raise ParameterError("State which table to write: postgresql:///clinic?table=release.")
    schema = address.table.schema
    if schema is None:
        schema = session.ask("SELECT pg_catalog.current_schema()::pg_catalog.text")[0][0]
    if schema is None:
        raise OutputError("No schema is set in which to create the table. Name it as schema.table.")
    if schema.startswith("pg_") or schema == "information_schema":
        raise OutputError("Schemas that begin with pg_ belong to PostgreSQL. Name another schema.")
    if not session.ask(_MAY_CREATE, schema)[0][0]:
        raise WRITING.failed(WRITING.refused)
    return replace(address.table, schema=schema)


def lock(session: Session, table: TableName) -> None:
    """One run for one table at a time; another does not wait but is told."""
    if not session.ask(_LOCK, f"incrowd {table.sql}")[0][0]:
        raise OutputError(f"Another run is writing the table {table}. Wait for it, or name another table.")


def old_table(session: Session, table: TableName, *, may_replace: bool) -> int | None:
    """The number of the table that is there already, if it may be replaced; None if there is none."""
    rows = session.ask(_OLD, table.schema or "", table.name)
    if not rows:
        return None
    number, kind, has_parts, is_ours = rows[0]
    if kind != "r" or has_parts:
        word = _KINDS.get(kind, "object of another kind")
        raise OutputError(f"{table} is a {word}, not an ordinary table. Name another table.")
    if not may_replace:
        raise OutputError(f"The table {table} exists already. Name another, or use {named_option(replace=True)}.")
    if not is_ours:
        raise WRITING.failed(WRITING.refused)
    return int(number)


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
        rest = iter(frames)
        first = next(rest, None)
        if first is None or first.width == 0:
            raise OutputError("There is nothing to write: no columns.")
        self._create(storable(first.clear()).schema)
        feed = _Feed(self._session, first, rest)
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

    def _rows(self) -> RecordBatches:
        everything = f"SELECT * FROM {self._hidden.sql}"
        schema, stream = rows_of(self._session, everything, self._session.describe(everything))

        def batches() -> Generator[Any, None, None]:
            self._seen, seen = None, 0
            with closing(stream):
                for batch in stream:
                    seen += batch.num_rows
                    yield batch
            self._seen = seen

        return RecordBatches(schema, batches())


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


# A written release copied into a table, and given back for the verification before anybody sees it.
_ROWS = 1 << 16


@contextmanager
def published(written: Path, table: NewTable) -> Iterator[Path]:
    """Copy the rows of a Parquet file into a table, and give a file with the rows that the server then has.

    That file lies beside the first one. When the block ends well, the table appears under its name; else there is none.
    """
    with staged_table(table.address, replace=table.replace) as staged:
        staged.write(_frames(written))
        back = written.with_name("back.parquet")
        staged.save(back)
        yield back


def _frames(path: Path) -> Iterator[pl.DataFrame]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(_ROWS):
            yield pl.DataFrame(batch)
