"""What released cells show, told by their text alone: nothing, one value, a set, an interval, counts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from incrowd.verification.opening import column, text

EMPTY = "empty"
FORMS = (EMPTY, "single", "set", "interval", "counts")
_INTERVAL = r"^[\[(][^|]+, [^|]+[\])]$"


def count_shown(
    connection: Any, names: Sequence[str], transformed: Sequence[str], counted: Collection[str] = ()
) -> dict[str, dict[str, int]]:
    """For each of the transformed columns of the table ``released``, how many cells show what; forms that occur alone.

    Parameters
    ----------
    connection, names
        Has the table ``released`` with these columns.
    transformed
        The columns to look at, the released quasi-identifiers.
    counted
        Those of them that hold counts, where ``*`` shows nothing.

    Returns
    -------
    dict
        ``empty``: nothing is shown, be it suppressed or missing in the table; ``single``: a value, a number, the name
        of a group; ``set``: several, with ``|`` between them; ``interval``: two ends in brackets; ``counts``.
    """
    return {name: _shown(connection, names.index(name), name in counted) for name in transformed}


def _shown(connection: Any, position: int, counted: bool) -> dict[str, int]:
    hidden = "cell IS NULL OR cell = '*'" if counted else "cell IS NULL"
    some = (
        "'counts'"
        if counted
        else f"CASE WHEN regexp_matches(cell, {text(_INTERVAL)}) THEN 'interval' WHEN contains(cell, '|') THEN 'set' "
        "ELSE 'single' END"
    )
    found = dict(
        connection.execute(
            f"SELECT CASE WHEN {hidden} THEN '{EMPTY}' ELSE {some} END AS form, sum(n)::BIGINT FROM "
            f"(SELECT CAST({column(position)} AS VARCHAR) AS cell, count(*) AS n FROM released GROUP BY ALL) "
            "GROUP BY form"
        ).fetchall()
    )
    return {form: int(found[form]) for form in FORMS if form in found}
