"""Where a release goes on a server."""

from __future__ import annotations

import re
from dataclasses import dataclass

from incrowd.databases.address import Address
from incrowd.databases.names import TableName
from incrowd.errors import ParameterError


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
            raise ParameterError("Say which table to write: postgresql:///clinic?table=release.")
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
