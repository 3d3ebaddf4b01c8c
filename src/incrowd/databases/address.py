"""Where a table lies on a server: an address without secrets, of which only harmless parts are ever shown."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NoReturn
from urllib.parse import quote, unquote

from incrowd.databases.names import TableName
from incrowd.errors import ParameterError

_SCHEMES = ("postgresql://", "postgres://")
_SECRETS = ("password", "secret")
_ENVIRONMENT = "PGPASSWORD, PGPASSFILE or PGSERVICE in the environment, or the file .pgpass"


def is_address(given: object) -> bool:
    """Whether a source or a destination is on a server.

    Examples
    --------
    >>> is_address("postgresql:///clinic?table=visits"), is_address("visits.csv")
    (True, False)
    """
    return isinstance(given, str) and given.lower().startswith(_SCHEMES)


@dataclass(frozen=True)
class Address:
    """A database, and perhaps a table of it.

    Host, port and user are known to the driver only: ``str`` and ``repr`` leave them out, so that they reach no
    message, plan, report or certificate.

    Parameters
    ----------
    connection
        What the driver is given. Never to be shown.
    database
        The name of the database, if the address has it.
    table
        The table, if the address has it.

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
