"""The table that a command reads: a file, or rows of a database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from incrowd.cli.shared import enough_memory
from incrowd.errors import ParameterError

if TYPE_CHECKING:
    from incrowd.tables.databases.tables import NewTable, Query

FileOrTable = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="The table: CSV (any delimiter, .gz, .zst), Parquet, Arrow, ARFF, JSON Lines, Excel, SPSS, Stata, SAS; "
        "or of a database: clinic.db?table=name (SQLite, DuckDB), postgresql:///database?table=name.",
        callback=enough_memory,
    ),
]

_DATABASE = "Databases"
Table = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The table of the database: research.visits.", rich_help_panel=_DATABASE),
]
Select = Annotated[
    str | None,
    typer.Option(
        metavar="SELECT", help="One query that gives the rows to read from the database.", rich_help_panel=_DATABASE
    ),
]


def table_at(text: str, table: str | None = None, query: str | None = None) -> Path | Query:
    """The file, or what is to be read from the database at this address.

    Examples
    --------
    >>> table_at("people.csv").name
    'people.csv'
    >>> print(table_at("postgresql:///clinic", table="visits"))
    table visits of the database clinic
    """
    from incrowd.tables.databases.tables import Address, DatabaseFile, Query, is_address, is_database_file

    if is_address(text):
        return Query.of(Address.parse(text).at(table), query)
    if is_database_file(text):
        return Query.of(DatabaseFile.parse(text).at(table), query)
    if table is not None or query is not None:
        raise ParameterError("--table and --query need a database: postgresql:///clinic, or a file such as clinic.db.")
    return Path(text)


def called(table: Path | Query) -> str:
    """What the table is called on the screen."""
    return table.name if isinstance(table, Path) else str(table)


def place(to: str | Path, replace: bool) -> Path | NewTable:
    """Where a release goes: a file, or a new table."""
    from incrowd.tables.databases.tables import NewTable, is_address

    if is_address(str(to)):
        return NewTable.of(str(to), replace=replace)
    return Path(to)
