"""What is read from a server, a table or the rows of a query, and where a release goes there.

An address has no secrets, and only harmless parts of it are ever shown.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import quote, unquote

from incrowd.errors import OutputError, ParameterError

# Names of tables and columns in SQL.
LONGEST = 63
"""Bytes of a name that PostgreSQL keeps; it cuts the rest off without a word."""

_PART = r'("(?:[^"]|"")*"|[^".]*)'
_NAME = re.compile(rf"{_PART}(?:\.{_PART})?")
_OF_THE_SERVER = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"})


def quoted(name: str) -> str:
    """A name as SQL.

    Examples
    --------
    >>> print(quoted('a "b"; DROP TABLE c'))
    "a ""b""; DROP TABLE c"
    """
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class TableName:
    """A table, perhaps with its schema. Letters are taken as they are: ``Visits`` is not ``visits``.

    Examples
    --------
    >>> TableName.parse("research.visits")
    TableName(name='visits', schema='research')
    >>> print(TableName.parse('"odd.name"').sql)
    "odd.name"
    """

    name: str
    schema: str | None = None

    def __post_init__(self) -> None:
        for part in (self.name, self.schema):
            if part is not None and trouble(part):
                raise ParameterError(f"The name of the table {trouble(part)}. Name it as table or schema.table.")

    @classmethod
    def parse(cls, text: str) -> TableName:
        """The table that a user names: ``table`` or ``schema.table``; a part with a dot stands in double quotes."""
        match = _NAME.fullmatch(text)
        if match is None:
            raise ParameterError('A table is named as table or schema.table, a part with a dot as "odd.name".')
        first, second = (part if part is None else _plain(part) for part in match.groups())
        return cls(first or "") if second is None else cls(second, first)

    @property
    def sql(self) -> str:
        """The name as SQL."""
        return ".".join(quoted(part) for part in (self.schema, self.name) if part is not None)

    def __str__(self) -> str:
        return ".".join(_shown(part) for part in (self.schema, self.name) if part is not None)


def trouble(name: str) -> str | None:
    """Why PostgreSQL could not keep a name as it is."""
    if not name:
        return "is empty"
    if "\0" in name:
        return "holds a NUL character"
    return f"is longer than {LONGEST} bytes" if len(name.encode("utf-8", "replace")) > LONGEST else None


def check_columns(names: Iterable[str]) -> None:
    """Refuse column names that the server would cut off or that it keeps for itself."""
    for name in names:
        fault = trouble(name) or ("is one that PostgreSQL keeps for itself" if name in _OF_THE_SERVER else None)
        if fault:
            raise OutputError(f"Column {name!r}: the name {fault}. Rename the column.")


def _plain(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _shown(part: str) -> str:
    return quoted(part) if "." in part or '"' in part else part


_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "secret")
_ENVIRONMENT = "PGPASSWORD, PGPASSFILE or PGSERVICE in the environment, or the file .pgpass"


def is_address(place: object) -> bool:
    """Whether a source or a destination is on a server."""
    return isinstance(place, str) and place.lower().startswith(_SCHEMES)


@dataclass(frozen=True)
class Address:
    """A database, and perhaps a table of it.

    Host, port and user are in ``connection``, for the driver only: ``str`` and ``repr`` leave them out, so that they
    reach no message, plan, report or certificate.

    Examples
    --------
    >>> address = Address.parse("postgresql://ann@db.example.org:5433/clinic?table=research.visits")
    >>> print(address)
    postgresql:///clinic?table=research.visits
    >>> address
    Address(database='clinic', table=TableName(name='visits', schema='research'))
    """

    connection: str = field(repr=False)
    database: str | None = None
    table: TableName | None = None

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that ``postgresql://host:port/database?table=name`` spells; every part may be left out."""
        if not is_address(text):
            raise ParameterError(
                "An address begins with postgresql://, for instance postgresql:///clinic?table=visits."
            )
        host, slash, path = text.split("://", 1)[1].partition("/")
        _refuse_login(host, path)
        if not slash:
            host, _, options = host.partition("?")
            database = ""
        else:
            database, _, options = path.partition("?")
        table, kept = _options(options)
        named = dict(kept).get("dbname", unquote(database))
        if any(mark in named for mark in "@=:/"):
            _refuse("The name of the database holds one of @ = : /, which looks like a login.")
        rest = "&".join(f"{key}={quote(value, safe='')}" for key, value in (*kept, ("client_encoding", "UTF8")))
        return cls(f"postgresql://{host}/{database}?{rest}", named or None, table)

    def at(self, table: str | None) -> Address:
        """The same database and another table; the same address if none is given."""
        return self if table is None else replace(self, table=TableName.parse(table))

    def __str__(self) -> str:
        table = f"?table={self.table}" if self.table else ""
        return f"postgresql:///{self.database or ''}{table}"


def _refuse_login(host: str, path: str) -> None:
    """Refuse a password before the @, also one with a slash in it, for which the @ comes later."""
    login, at, _ = host.partition("@")
    if at and ":" in login:
        _refuse("The address carries a password.")
    if not at and "@" in path.partition("?")[0]:
        _refuse("The address has an @ after its first slash, which looks like a password.")


def _options(text: str) -> tuple[TableName | None, list[tuple[str, str]]]:
    """The table, and what is the driver's."""
    table, kept = None, []
    for pair in filter(None, text.split("&")):
        key, _, value = (unquote(part) for part in pair.partition("="))
        if any(secret in key.lower() for secret in _SECRETS):
            _refuse("The address carries a password.")
        if key == "table":
            table = TableName.parse(value)
        elif key != "client_encoding":
            kept.append((key, value))
    return table, kept


def _refuse(what: str) -> NoReturn:
    raise ParameterError(
        f"{what} Others could see it in the list of processes and in the history of the shell. Leave it out of the "
        f"address and give it by {_ENVIRONMENT}. If it was a real one, change it."
    )


DATABASE_FILES = (".db", ".db3", ".sqlite", ".sqlite3", ".duckdb", ".ddb")
_TABLE = "?table="


def is_database_file(source: object) -> bool:
    """Whether a source is named as a file of SQLite or DuckDB, perhaps with a table of it."""
    return isinstance(source, str | Path) and str(source).partition(_TABLE)[0].lower().endswith(DATABASE_FILES)


@dataclass(frozen=True)
class DatabaseFile:
    """A file of SQLite or DuckDB, and perhaps a table of it.

    Examples
    --------
    >>> file = DatabaseFile.parse("data/clinic.db?table=visits")
    >>> print(file, file.database)
    clinic.db?table=visits clinic.db
    """

    path: Path
    table: TableName | None = None

    @classmethod
    def parse(cls, text: str | Path) -> DatabaseFile:
        """The file that ``clinic.db`` or ``clinic.db?table=visits`` names."""
        path, _, table = str(text).partition(_TABLE)
        return cls(Path(path), TableName.parse(table) if table else None)

    @property
    def database(self) -> str:
        """What it is called."""
        return self.path.name

    @property
    def kind(self) -> str:
        """``sqlite`` or ``duckdb``: what made the file."""
        from incrowd.tables.databases.reading import database_kind

        return database_kind(self.path)

    def at(self, table: str | None) -> DatabaseFile:
        """The same file and another table; the same if none is given."""
        return self if table is None else replace(self, table=TableName.parse(table))

    def __str__(self) -> str:
        return self.database + (f"{_TABLE}{self.table}" if self.table else "")


# What is read: a table, or the rows of a query.
@dataclass(frozen=True)
class Query:
    """One question to a database. Its text may hold values of persons, so it is not shown either.

    Examples
    --------
    >>> print(Query.of("postgresql://db.example.org/clinic?table=visits"))
    table visits of the database clinic
    >>> print(Query.of("clinic.db", "SELECT age FROM visits"))
    a query of the database clinic.db
    >>> Query.of("postgresql:///clinic", "SELECT age FROM visits WHERE name = 'Ann'")
    Query(address=Address(database='clinic', table=None))
    """

    address: Address | DatabaseFile
    text: str = field(repr=False)

    @classmethod
    def of(cls, address: str | Path | Address | DatabaseFile, query: str | None = None) -> Query:
        """The rows of a query, or of the table that the address or the file names: one of them."""
        place = _place(address)
        if (query is None) == (place.table is None):
            raise ParameterError(
                f"State what to read from the database: a table ({_example(place)}) or a query, not both."
                f"{_tables_of(place)}"
            )
        if query is not None and "\0" in query:
            raise ParameterError("The query holds a NUL character. Remove it.")
        return cls(place, query if query is not None else f"SELECT * FROM {place.table.sql if place.table else ''}")

    def __str__(self) -> str:
        what = f"table {self.address.table}" if self.address.table else "a query"
        return what + (f" of the database {self.address.database}" if self.address.database else " of a database")


def _place(address: str | Path | Address | DatabaseFile) -> Address | DatabaseFile:
    if isinstance(address, Address | DatabaseFile):
        return address
    return DatabaseFile.parse(address) if is_database_file(address) else Address.parse(str(address))


def _example(place: Address | DatabaseFile) -> str:
    return f"{place.database}?table=visits" if isinstance(place, DatabaseFile) else "postgresql:///clinic?table=visits"


def _tables_of(place: Address | DatabaseFile) -> str:
    """The tables of a file, for who named none."""
    if not isinstance(place, DatabaseFile) or place.table is not None:
        return ""
    from incrowd.tables.databases.reading import tables_told

    return f" {tables_told(place)}"


def query_of(source: object) -> Query | None:
    """What is to be read, if the given thing is in a database: a query, or the address or the file of a table."""
    if isinstance(source, Query):
        return source
    if isinstance(source, str | Path) and (is_address(source) or is_database_file(source)):
        return Query.of(source)
    return None


# Where a release goes on a server.
@dataclass(frozen=True)
class NewTable:
    """A table to be written, perhaps in place of an old one.

    Examples
    --------
    >>> table = NewTable.of("postgresql://db.example.org/clinic?table=research.release")
    >>> print(table)
    table research.release of the database clinic
    >>> table
    NewTable(address=Address(database='clinic', table=TableName(name='release', schema='research')), replace=False)
    """

    address: Address
    replace: bool = False

    def __post_init__(self) -> None:
        _ = self.name

    @classmethod
    def of(cls, address: str | Address, *, replace: bool = False) -> NewTable:
        """The table that an address names; an old one is refused unless it is to be replaced."""
        return cls(Address.parse(address) if isinstance(address, str) else address, replace)

    @property
    def name(self) -> TableName:
        """The table's own name."""
        if self.address.table is None:
            raise ParameterError("State which table to write: postgresql:///clinic?table=release.")
        return self.address.table

    @property
    def file_name(self) -> str:
        """The name as the name of a file."""
        parts = (self.name.schema, self.name.name)
        return ".".join(re.sub(r"\W", "_", part) for part in parts if part is not None)

    def __str__(self) -> str:
        database = self.address.database
        return f"table {self.name} of " + (f"the database {database}" if database else "a database")


def in_memory(source: Any) -> Any:
    """What was given; if it is on a server, its rows as a polars frame."""
    query = query_of(source)
    if query is None:
        return source
    from incrowd.tables.databases.reading import read_query

    return read_query(query)


@contextmanager
def on_disk(source: Any) -> Iterator[Any]:
    """Give what was given; if it is on a server, its rows as a Parquet file that goes when the block ends."""
    query = query_of(source)
    if query is None:
        yield source
        return
    from incrowd.tables.databases.reading import fetch_query

    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
        yield fetch_query(query, Path(folder))
