"""Everything incrowd can refuse, as one tree.

::

    IncrowdError                    exit status 2
    ├── InputError (a ValueError)   the data cannot be read or used
    │   ├── FileFormatError         the bytes are not the table they claim to be
    │   ├── HeaderError             column names: duplicate, empty, look-alike, unknown
    │   └── ValuesError             the values of a column cannot be understood
    ├── SchemaError (a ValueError)  roles and types do not fit together, or not the table
    ├── ParameterError (a ValueError)    a parameter is out of its range
    ├── RequirementError (a ValueError)  no release of this table can meet the requirement
    ├── PlanError                   a plan cannot be read, or does not fit the table
    ├── OutputError                 the release cannot be written where it was asked for
    ├── LedgerError                 what earlier releases tell with this one cannot be told
    ├── MissingPackageError         an optional package is needed and not installed
    └── VerificationError           the written release failed the recount (exit status 1)

A message says what is wrong, where, and what to do next. It never carries a cell value.
What can be handled, but should be known, is a :class:`Notice`: collected while the table is read and
released, shown in the summary, the report and the certificate, never silently dropped.
"""

from __future__ import annotations

from dataclasses import dataclass


class IncrowdError(Exception):
    """Root of every error incrowd raises on purpose."""

    exit_status = 2


class InputError(IncrowdError, ValueError):
    """The data cannot be read or used."""


class FileFormatError(InputError):
    """The bytes are not the table they claim to be."""


class HeaderError(InputError):
    """Column names are duplicate, empty, look-alike or unknown."""


class ValuesError(InputError):
    """The values of a column cannot be understood."""


class SchemaError(IncrowdError, ValueError):
    """Roles and types do not fit together, or do not fit the table."""


class ParameterError(IncrowdError, ValueError):
    """A parameter is out of its range."""


class RequirementError(IncrowdError, ValueError):
    """No release of this table can meet the requirement."""


class PlanError(IncrowdError):
    """A plan cannot be read, or does not fit the table."""


class OutputError(IncrowdError):
    """The release cannot be written where it was asked for."""


class LedgerError(IncrowdError):
    """The ledger is not sound, or it cannot be told whether it knows the people of a table."""


class MissingPackageError(IncrowdError):
    """An optional package is needed and not installed."""


class VerificationError(IncrowdError):
    """The written release failed the independent recount; nothing was published."""

    exit_status = 1


class IncrowdWarning(UserWarning):
    """A notice, when it is raised as a Python warning."""


@dataclass(frozen=True)
class Notice:
    """Something that was handled and that the user should know.

    Examples
    --------
    >>> print(Notice("missing-class", "outcome", "12 rows have no class; they count as a class of their own."))
    outcome: 12 rows have no class; they count as a class of their own.
    """

    code: str
    where: str
    message: str

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.where else self.message
