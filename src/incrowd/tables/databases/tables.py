"""What is read from a server, a table or the rows of a query, and where a release goes there."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.errors import ParameterError
from incrowd.tables.databases.address import Address, TableName, is_address


# What is read: a table, or the rows of a query.
@dataclass(frozen=True)
class Query:
    """One question to a database. Its text may hold values of persons, so it is not shown either.

    Examples
    --------
    >>> print(Query.of("postgresql://db.example.org/clinic?table=visits"))
    table visits of the database clinic
    >>> Query.of("postgresql:///clinic", "SELECT age FROM visits WHERE name = 'Ann'")
    Query(address=Address(database='clinic', table=None))
    """

    address: Address
    text: str = field(repr=False)

    @classmethod
    def of(cls, address: str | Address, query: str | None = None) -> Query:
        """The rows of a query, or of the table that the address names: one of them."""
        place = Address.parse(address) if isinstance(address, str) else address
        if (query is None) == (place.table is None):
            raise ParameterError(
                "State what to read from the database: a table (postgresql:///clinic?table=visits) or a query, "
                "not both."
            )
        if query is not None and "\0" in query:
            raise ParameterError("The query holds a NUL character. Remove it.")
        return cls(place, query if query is not None else f"SELECT * FROM {place.table.sql if place.table else ''}")

    def __str__(self) -> str:
        what = f"table {self.address.table}" if self.address.table else "a query"
        return what + (f" of the database {self.address.database}" if self.address.database else " of a database")


def query_of(source: object) -> Query | None:
    """What is to be read, if the given thing is on a server: a query, or the address of a table.

    Examples
    --------
    >>> print(query_of("postgresql:///clinic?table=visits"), query_of("visits.csv"))
    table visits of the database clinic None
    """
    if isinstance(source, Query):
        return source
    return Query.of(source) if isinstance(source, str) and is_address(source) else None


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
        """The name as the name of a file.

        Examples
        --------
        >>> NewTable.of("postgresql:///clinic?table=research.release").file_name
        'research.release'
        """
        parts = (self.name.schema, self.name.name)
        return ".".join(re.sub(r"\W", "_", part) for part in parts if part is not None)

    def __str__(self) -> str:
        database = self.address.database
        return f"table {self.name} of " + (f"the database {database}" if database else "a database")


def in_memory(source: Any) -> Any:
    """What was given; if it is on a server, its rows as a polars frame.

    Examples
    --------
    >>> in_memory("visits.csv")
    'visits.csv'
    """
    query = query_of(source)
    if query is None:
        return source
    from incrowd.tables.databases.reading import read_query

    return read_query(query)


@contextmanager
def on_disk(source: Any) -> Iterator[Any]:
    """Give what was given; if it is on a server, its rows as a Parquet file that goes when the block ends.

    Examples
    --------
    >>> with on_disk("visits.csv") as given:
    ...     given
    'visits.csv'
    """
    query = query_of(source)
    if query is None:
        yield source
        return
    from incrowd.tables.databases.reading import fetch_query

    with tempfile.TemporaryDirectory(prefix="incrowd-") as folder:
        yield fetch_query(query, Path(folder))
