"""The place of a new table: may it be written there, and what is there already?"""

from __future__ import annotations

from dataclasses import replace

from incrowd.databases.address import Address
from incrowd.databases.failures import WRITING
from incrowd.databases.names import TableName
from incrowd.databases.session import Session
from incrowd.errors import OutputError, ParameterError

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
        raise ParameterError("Say which table to write: postgresql:///clinic?table=release.")
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
    found = session.ask(_OLD, table.schema or "", table.name)
    if not found:
        return None
    number, kind, has_parts, is_ours = found[0]
    if kind != "r" or has_parts:
        word = _KINDS.get(kind, "object of another kind")
        raise OutputError(f"{table} is a {word}, not an ordinary table. Name another table.")
    if not may_replace:
        raise OutputError(f"The table {table} exists already. Name another, or ask to replace it (--replace).")
    if not is_ours:
        raise WRITING.failed(WRITING.refused)
    return int(number)
