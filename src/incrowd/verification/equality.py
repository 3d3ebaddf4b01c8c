"""One definition of equal, whatever file the values are in.

Cells are counted as the same if their values are: 0.0 and -0.0 are one number; null, NaN, an empty text, one of nothing
but spaces and a marker of missing values are one value, the missing one. Any other two texts are different, also ``1``
and ``1.0``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from incrowd.verification.opening import column, text

_NEGATIVE_ZERO = r"^-0*\.?0*([eE][+-]?[0-9]+)?$"


def unify(
    connection: Any, names: Sequence[str], markers: Collection[str] | None, numbers: Collection[int] = ()
) -> None:
    """Make the table ``released`` out of the table ``written``: what counts as the same is the same there.

    Parameters
    ----------
    connection, names
        Has the table ``written`` with so many columns.
    markers
        Texts that mean missing, as does an empty one. None: only what is null is missing, a file of our own.
    numbers
        Positions of columns to be asked whether all their texts are numbers; if so, the text NaN is missing there.
    """
    kinds = [row[1] for row in connection.execute("DESCRIBE written").fetchall()]
    listed = (
        f"{_value(column(place), kind, markers, place in numbers and _is_numeric(connection, place, kind, markers))} "
        f"AS {column(place)}"
        for place, kind in enumerate(kinds[: len(names)])
    )
    connection.execute(f"CREATE OR REPLACE TEMP VIEW released AS SELECT {', '.join(listed)} FROM written")


def keys(connection: Any, positions: Sequence[int], table: str = "released") -> str:
    """Columns of a table as SQL to group by; what is null is missing, and nothing else."""
    kinds = [row[1] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    return ", ".join(_value(column(place), kinds[place], None) for place in positions)


def _value(cell: str, kind: str, markers: Collection[str] | None, numeric: bool = False) -> str:
    """A cell as SQL, in the one spelling of its value."""
    if kind in ("FLOAT", "DOUBLE"):
        return f"CASE WHEN isnan({cell}) THEN NULL ELSE {cell} + 0 END"
    if kind.startswith("ENUM"):
        cell, kind = f"CAST({cell} AS VARCHAR)", "VARCHAR"
    if kind != "VARCHAR":
        return cell
    gone = [] if markers is None else ["", *markers]
    missing = f"WHEN trim({cell}) IN ({', '.join(map(text, gone))}) THEN NULL " if gone else ""
    nan = f"WHEN {cell} = 'NaN' THEN NULL " if numeric else ""
    zero = f"WHEN starts_with({cell}, '-0') AND regexp_matches({cell}, {text(_NEGATIVE_ZERO)}) THEN substr({cell}, 2) "
    return f"CASE {missing}{nan}{zero}ELSE {cell} END"


def _is_numeric(connection: Any, place: int, kind: str, markers: Collection[str] | None) -> bool:
    """Whether a column of text has the text NaN, and nothing but numbers beside."""
    if kind != "VARCHAR" and not kind.startswith("ENUM"):
        return False
    cell = _value(column(place), kind, markers)
    [(spelled, numbers)] = connection.execute(
        "SELECT bool_or(v = 'NaN'), bool_and(TRY_CAST(v AS DOUBLE) IS NOT NULL) "
        f"FROM (SELECT {cell} AS v FROM written) WHERE v IS NOT NULL"
    ).fetchall()
    return bool(spelled and numbers)
