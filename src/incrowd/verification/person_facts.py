"""Who has which value in which class, for what is required of a column where persons may have several rows.

The queries of :mod:`incrowd.verification.requirements` run on tables that are made here: of each class g and value v
the persons who have it (bearers), or each person once, under the value of its own that has most bearers in the class
(main values; of equal ones the first in order, missing last).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from incrowd.verification.opening import column, text

Counting = Literal["shares", "main", "facts"]
"""Of a requirement on a column: the share of persons who have a value, main values, or facts (a person has a value)."""


def cell_tables(connection: Any, counting: Counting, classes: str, order: Sequence[str] = ()) -> None:
    """The tables ``cells``, ``classes`` and ``whole`` of a requirement, counted by persons.

    ``classes`` is SQL: the different (g, person, v), v being a value that the person has in the class g. ``order`` has
    the values of a column in the order that the user gave them.
    """
    place = f"list_position([{', '.join(map(text, order))}], v)" if order else "v"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE facts AS SELECT g, person, v, count(*) OVER (PARTITION BY g, v) AS b "
        f"FROM ({classes})"
    )
    main = f"QUALIFY row_number() OVER (PARTITION BY g, person ORDER BY b DESC, {place} NULLS LAST) = 1"
    counted = f"(FROM facts {main})" if counting == "main" else "facts"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE cells AS SELECT g, v, CAST(count(*) AS HUGEINT) AS n "
        f"FROM {counted} GROUP BY g, v"
    )
    size = "count(*)" if counting == "facts" else "count(DISTINCT person)"
    values = "count(DISTINCT v) + bool_or(v IS NULL)::INT"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE classes AS SELECT g, CAST({size} AS HUGEINT) AS rows, {values} AS v "
        f"FROM {counted} GROUP BY g"
    )
    everywhere = "(SELECT DISTINCT person, v FROM facts)"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE whole AS SELECT v, CAST(count(*) AS HUGEINT) AS n, "
        f"(SELECT CAST({size} AS HUGEINT) FROM {everywhere}) AS rows FROM {everywhere} GROUP BY v"
    )


def facts_in_classes(connection: Any, positions: Sequence[int]) -> str:
    """SQL: who has which value ``v`` of the table ``valued`` in which class of rows that are equal at positions."""
    number_classes(connection, "valued", positions)
    return f"SELECT DISTINCT g, person, v FROM valued JOIN numbered ON {same(positions)}"


def number_classes(connection: Any, table: str, positions: Sequence[int]) -> None:
    """The table ``numbered``: every class of a table with its number g from 1 on, in the order of its values."""
    listed = ", ".join(map(column, positions))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE numbered AS SELECT {listed}, row_number() OVER (ORDER BY {listed}) AS g "
        f"FROM (SELECT DISTINCT {listed} FROM {table})"
    )


def same(positions: Sequence[int], table: str = "valued") -> str:
    """SQL: whether a row of a table is in a class of ``numbered``."""
    ats = map(column, positions)
    return " AND ".join(f"{table}.{at} IS NOT DISTINCT FROM numbered.{at}" for at in ats)
