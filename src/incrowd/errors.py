"""Everything incrowd can refuse, as one tree.

::

    IncrowdError                    exit status 2
    ├── InputError (a ValueError)   the data cannot be read or used
    │   ├── FileFormatError         the bytes are not the table they claim to be
    │   │   └── EncodingError       they are not text in the expected encoding
    │   ├── HeaderError             column names: duplicate, empty, look-alike, unknown
    │   └── ValuesError             the values of a column cannot be understood
    ├── SchemaError (a ValueError)  roles and types do not fit together, or not the table
    ├── ParameterError (a ValueError)    a parameter is out of its range
    ├── RequirementError (a ValueError)  no release of this table can meet the requirement
    ├── PlanError                   a plan cannot be read, or does not fit the table
    ├── OutputError                 the release cannot be written where it was asked for
    ├── LedgerError                 what earlier releases tell with this one cannot be told
    ├── MissingPackageError         an optional package is needed and not installed
    ├── PluginError                 what another package adds cannot be used
    ├── UndeterminedError           the verification came to no verdict
    ├── UnexpectedError             a library panicked, the system refused, or incrowd itself has a fault
    └── VerificationError           the written release failed the recount (exit status 1)

A message says what is wrong, where, and what to do next. It never carries a cell value.
What can be handled, but should be known, is a :class:`Notice`: collected while the table is read and
released, shown in the summary, the report and the certificate, never silently dropped.
"""

from __future__ import annotations

import functools
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

_FACES = {"command": False, "desk": False}
P = ParamSpec("P")
R = TypeVar("R")


def speak_as_command(*, command: bool = True, desk: bool = False) -> None:
    """Let messages name options as the command line writes them, or as the fields of the desk do; not as Python."""
    _FACES.update(command=command, desk=desk)


def named_option(**options: object) -> str:
    """How options are written where the user is.

    Examples
    --------
    >>> named_option(rarest=10), named_option(despite_unchanged=True)
    ('rarest=10', 'despite_unchanged=True')
    """
    if _FACES["desk"]:
        return ", ".join(f"“{_title(name)}: {_written(value)}”" for name, value in options.items())
    if _FACES["command"]:
        return " ".join(map(_flag, options.items()))
    return ", ".join(f"{name}={value!r}" for name, value in options.items())


def reading_option(**options: object) -> str:
    """How options of reading are written where the user is.

    Examples
    --------
    >>> reading_option(encoding="latin-1", header=False)
    "reading={'encoding': 'latin-1', 'header': False}"
    """
    return named_option(**options) if _FACES["command"] or _FACES["desk"] else named_option(reading=options)


def option_name(argument: str, flag: str) -> str:
    """What an option is called where the user is.

    Examples
    --------
    >>> option_name("weights", "--weight")
    'weights'
    """
    if _FACES["desk"]:
        return f"“{_title(argument.partition('=')[0])}”"
    return flag if _FACES["command"] else argument


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize() if len(name) > 1 else name


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _flag(option: tuple[str, object]) -> str:
    name, value = option[0].replace("_", "-"), option[1]
    if isinstance(value, bool):
        return f"--{'' if value else 'no-'}{name}"
    return f"{'-' if len(name) == 1 else '--'}{name} {shlex.quote(_written(value))}"


class IncrowdError(Exception):
    """Root of every error incrowd raises on purpose."""

    exit_status = 2


class InputError(IncrowdError, ValueError):
    """The data cannot be read or used."""


class FileFormatError(InputError):
    """The bytes are not the table they claim to be."""


class EncodingError(FileFormatError):
    """The bytes are not text in the expected encoding."""


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


class PluginError(IncrowdError):
    """What another package adds cannot be used."""


class UndeterminedError(IncrowdError):
    """The verification came to no verdict, so nothing was published."""


class UnexpectedError(IncrowdError):
    """A library panicked, the system refused, or incrowd itself has a fault; nothing was published."""


class CannotRunError(IncrowdError):
    """What an attack needs is not on the table; the message says what, and how to give it."""


class VerificationError(IncrowdError):
    """The written release failed the independent recount; nothing was published."""

    exit_status = 1


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


LEARNING = ("scipy", "sklearn")
"""What comes with the extra ``learn``. A plain release needs neither, so who needs them imports them when they are."""


def guarded(function: Callable[P, R]) -> Callable[P, R]:
    """The function with every unforeseen failure turned into an :class:`UnexpectedError` that quotes no cell.

    What was refused on purpose, an interruption, and a call with wrong arguments pass unchanged; and so does
    everything while ``INCROWD_DEBUG`` is set.

    Examples
    --------
    >>> @guarded
    ... def divide(one: int, other: int) -> float:
    ...     return one / other
    >>> divide(1, 0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    incrowd.errors.UnexpectedError: unexpected ZeroDivisionError at ?; nothing was published. ...
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except IncrowdError:
            raise
        except BaseException as error:
            mistaken = isinstance(error, TypeError) and error.__traceback__ and error.__traceback__.tb_next is None
            if mistaken or os.environ.get("INCROWD_DEBUG") or not (isinstance(error, Exception) or is_panic(error)):
                raise
            kind = MissingPackageError if _package_missing_in(error) else UnexpectedError
            failure = kind(describe_failure(error))
        raise failure

    return wrapped


def is_panic(error: BaseException) -> bool:
    """Whether a library written in Rust has given up. Each has a type of its own for it, which is no ``Exception``."""
    return type(error).__name__ == "PanicException"


def describe_failure(error: BaseException) -> str:
    """An unexpected failure without its message, which might quote the table.

    Examples
    --------
    >>> describe_failure(MemoryError("of a cell"))
    'there is not enough memory for this table. Nothing was published.'
    """
    if package := _package_missing_in(error):
        line = "'incrowd[learn]'" if package in LEARNING else package
        return f"this needs the package {package!r}. Install it: pip install {line}"
    if isinstance(error, OSError):
        return f"the system refused: {error.strerror or type(error).__name__}. Nothing was published."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table. Nothing was published."
    return (
        f"unexpected {type(error).__name__} at {_place(error)}; nothing was published. This is a bug: please report "
        "it. INCROWD_DEBUG=1 shows the full trace, which may quote cell values."
    )


def _package_missing_in(error: BaseException) -> str:
    """The package of others that is not installed, if that is the failure."""
    package = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return "" if package == __package__ else package


def _place(error: BaseException) -> str:
    """The last line of incrowd that was being run."""
    trace, place = error.__traceback__, "?"
    while trace is not None:
        name = trace.tb_frame.f_globals.get("__name__", "")
        if name.startswith("incrowd.") and name != __name__:
            place = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place
