"""A release that is to keep HIPAA's Safe Harbor, looked at once more: what has a form of its own must not be in it.

The finder that settled what is dropped and coarsened is not asked. Names, record numbers and the like have no form, and
are known by the names of columns alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from incrowd.verification.input_table import ReleasedColumn
from incrowd.verification.opening import column
from incrowd.verification.request import Request
from incrowd.verification.verdict import Check
from incrowd.vocabulary.coarsening import SMALL_AREAS

PRESET = "safe-harbor"
OLDEST = 90  # stands for all who are older than 89
_KINDS = {
    "e-mail addresses": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    "web addresses": r"(https?|ftp)://[^ ]",
    "social security numbers": r"(^|[^0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}($|[^0-9-])",
    "telephone numbers": r"(^|[^0-9.,-])(\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}($|[^0-9])",
    "IP addresses": r"^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$",
}
_DATES = (
    r"(^|[^0-9])(1[6-9]|20|21)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])($|[^0-9])"
    r"|^[0-9]{1,2}[./-][0-9]{1,2}[./-](1[6-9]|20|21)[0-9]{2}$"
)
_ZIP = {"zip", "zipcode", "zip3", "zip5", "postcode", "postal", "plz"}
_AREAS = rf"(^|\|)([0-9]{{4,}}|({'|'.join(sorted(SMALL_AREAS))})($|[:|*Xx]))"


def safe_harbor_check(connection: Any, request: Request, sources: Sequence[ReleasedColumn]) -> Check:
    """No cell of the table ``released`` has one of the kinds, but where the user keeps a column, or its cells."""
    types = [row[1] for row in connection.execute("DESCRIBE released").fetchall()]
    wrong = []
    for place, (source, kind) in enumerate(zip(sources, types, strict=True)):
        for what, predicate in _looked_for(source.column.name, column(place), kind, request):
            [(cells,)] = connection.execute(f"SELECT count(*) FROM released WHERE {predicate}").fetchall()
            wrong += [f"{source.name}: {cells:,} cells with {what}"] if cells else []
    return Check(PRESET, not wrong, "; ".join(wrong) or "no cell has a kind of identifier that has a form of its own")


def _looked_for(name: str, cell: str, kind: str, request: Request) -> Iterator[tuple[str, str]]:
    """What is looked for in a column, and the condition of SQL that finds it."""
    words = set(re.findall(r"[a-z]+[0-9]*", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()))
    if kind == "VARCHAR" and name not in request.own_roles:
        yield from ((what, f"regexp_matches({cell}, '{form}')") for what, form in _KINDS.items())
    if name in request.own_rules:
        return
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        yield "dates", f"{cell} IS NOT NULL"
    if kind == "VARCHAR":
        yield "dates", f"regexp_matches({cell}, '{_DATES}')"
    if words & {"age", "ages"}:
        yield f"ages above {OLDEST}", f"TRY_CAST({cell}::VARCHAR AS DOUBLE) > {OLDEST}"
    if words & _ZIP:
        yield "ZIP codes of small areas, or of too many digits", f"regexp_matches({cell}::VARCHAR, '{_AREAS}')"
