"""Names of tables and columns in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from incrowd.errors import OutputError, ParameterError

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
        found = _NAME.fullmatch(text)
        if found is None:
            raise ParameterError('A table is named as table or schema.table, a part with a dot as "odd.name".')
        first, second = (part if part is None else _plain(part) for part in found.groups())
        return cls(first or "") if second is None else cls(second, first)

    @property
    def sql(self) -> str:
        """The name as SQL."""
        return ".".join(quoted(part) for part in (self.schema, self.name) if part is not None)

    def __str__(self) -> str:
        return ".".join(_shown(part) for part in (self.schema, self.name) if part is not None)


def trouble(name: str) -> str | None:
    """Why PostgreSQL could not keep a name as it is.

    Examples
    --------
    >>> trouble("x" * 64)
    'is longer than 63 bytes'
    """
    if not name:
        return "is empty"
    if "\0" in name:
        return "holds a NUL character"
    return f"is longer than {LONGEST} bytes" if len(name.encode("utf-8", "replace")) > LONGEST else None


def check_columns(names: Iterable[str]) -> None:
    """Refuse column names that the server would cut off or that it keeps for itself.

    Examples
    --------
    >>> check_columns(["age", "zip code"])
    """
    for name in names:
        found = trouble(name) or ("is one that PostgreSQL keeps for itself" if name in _OF_THE_SERVER else None)
        if found:
            raise OutputError(f"Column {name!r}: the name {found}. Rename the column.")


def _plain(part: str) -> str:
    return part[1:-1].replace('""', '"') if part.startswith('"') else part


def _shown(part: str) -> str:
    return quoted(part) if "." in part or '"' in part else part
