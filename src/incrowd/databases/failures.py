"""What the server or the driver says, in our own words.

Their messages hold names of users and hosts, parts of the query and values of cells. So none of it is passed on: a
message is chosen by its code, and where there is no code, by words in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from incrowd.errors import IncrowdError, InputError, OutputError

_CONNECTING = (
    (r"password|authentication|pg_hba|role \".*\"|permission denied|not permitted to log in", "refuses the login"),
    (r"database \".*\" does not exist", "has no such database"),
    (r"translate host|name or service not known", "cannot be found: nobody knows its host"),
    (r"definition of service", "cannot be found: there is no such service in the service file"),
    (r"invalid (uri|connection option|sslmode|port|integer)", "cannot be addressed like this"),
    (r"starting up|shutting down|recovery", "is starting or stopping; try again soon"),
    (r"too many|remaining connection slots", "has no connection left"),
    (r"\bssl\b|certificate", "does not agree on an encrypted connection"),
)
_LOOK = "Check that it runs, and host, port, database and the environment (PGHOST, PGPORT, PGUSER, PGPASSFILE)."
_CODES = {
    "3D000": "there is no such database. Check the address.",
    "3F000": "there is no such schema. Create it first, or name another.",
    "42P01": "a table does not exist, or not in the schemas that are searched. Name it as schema.table.",
    "42703": "a column does not exist. Letters of names in double quotes count, large and small.",
    "42601": "the query is not one SELECT, VALUES, TABLE or WITH that PostgreSQL understands. Give one, without a ;.",
    "0A000": "the query does something that is not possible inside another. Give a plain SELECT.",
    "42P07": "the table exists by now: somebody else made it. Name another, or ask to replace it.",
    "23505": "the table exists by now: somebody else made it. Name another, or ask to replace it.",
    "2BP01": "the old table cannot be replaced: views or other tables rest on it. Drop those first, or name another.",
    "55P03": "somebody is using the old table. Try again when they have finished.",
    "22021": "a text holds a character that the database cannot store, such as NUL. Mend it.",
    "22P05": "a text holds a character that the encoding of the database does not have. Use a database in UTF-8.",
    "53100": "the disk of the server is full.",
    "57014": "it was cancelled, or took longer than the server allows (statement_timeout).",
    "54011": "the table has too many columns for PostgreSQL.",
}
_CLASSES = {
    "08": "the connection was lost. Try again.",
    "57": "the server ended the connection. Try again.",
    "22": "a computation in the query failed, for instance a division by zero or a cast.",
    "40": "it came into conflict with another transaction. Try again.",
    "42": "the query cannot be understood. Try it in psql.",
    "53": "the server has not enough memory, disk or connections.",
}
_LOST = ("connection", "ssl", "socket", "eof", "rollback")
_BROKEN = (
    "it broke off between the rows, for instance by a division by zero, a cast, bytes that are not text, or a limit of "
    "time. Try the query in psql."
)


@dataclass(frozen=True)
class Purpose:
    """What a session is for: the type of its errors, and sentences for codes that mean something else elsewhere."""

    error: type[IncrowdError]
    doing: str
    refused: str
    read_only: str
    consequence: str = ""

    def failed(self, why: str) -> IncrowdError:
        """The error of this session."""
        return self.error(" ".join(filter(None, (f"{self.doing} PostgreSQL failed: {why}", self.consequence))))


READING = Purpose(
    InputError,
    "Reading from",
    refused="the account is not allowed to. It needs the right to SELECT from the tables of the query.",
    read_only="the query wants to change the database. Only reading is allowed: give a plain SELECT.",
)
WRITING = Purpose(
    OutputError,
    "Writing to",
    refused="the account is not allowed to. It needs the right to CREATE in the schema, and owns what it replaces.",
    read_only="the server or the account is set to read only. Write to the primary server, with another account.",
    consequence="No table was written.",
)


def not_connected(error: Exception, purpose: Purpose) -> IncrowdError:
    """The error for a connection that could not be made."""
    said = str(error).lower()
    trouble = next((sentence for pattern, sentence in _CONNECTING if re.search(pattern, said)), None)
    return purpose.failed(f"the server {trouble or 'cannot be reached'}. {_LOOK}")


def told(error: Exception, purpose: Purpose, before: int = 0) -> IncrowdError:
    """The error for what went wrong in a session; ``before`` characters were put before the user's own query."""
    state = getattr(error, "sqlstate", None)
    if state is None:
        lost = any(word in str(error).lower() for word in _LOST)
        return purpose.failed(_CLASSES["08"] if lost else _BROKEN)
    own = {"42501": purpose.refused, "25006": purpose.read_only}
    sentence = own.get(state) or _CODES.get(state) or _CLASSES.get(state[:2]) or "the server refused."
    return purpose.failed(f"{sentence}{_position(error, before)} (SQLSTATE {state})")


def _position(error: Any, before: int) -> str:
    """Where in the user's query the server stumbled."""
    found = next((int(value) for key, value in error.details if key == b"PG_DIAG_STATEMENT_POSITION"), 0)
    return f" It is near character {found - before} of the query." if before and found > before else ""
