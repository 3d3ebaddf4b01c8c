"""The definitions of the requirements as queries: which classes break them, and what was found.

``cells`` has the rows n of each class g and value v, ``classes`` the rows of each class and how many values it has,
``whole`` the rows n of each value and those of the table. All counts are 128-bit whole numbers. Where a definition
needs logarithms, floats decide what is clear, and :mod:`incrowd.verification.requirements_border` the rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from incrowd.verification import requirements_border as border

Answer = tuple[list[int], str]
NEAR = 1e-7  # rounding errors of these sums are far smaller: what is further from a limit, floats decide
_SHARES = (
    "SELECT c.g AS g, c.n AS n, classes.rows AS rows, w.n AS all_n, w.rows AS all_rows FROM cells c "
    "JOIN classes USING (g) JOIN whole w ON c.v IS NOT DISTINCT FROM w.v"
)


def distinct(connection: Any, l: int) -> Answer:  # noqa: E741
    """At least l values in every class."""
    broken = _classes(connection, "SELECT g FROM classes WHERE v < $l", {"l": l})
    least, classes = connection.execute("SELECT min(v), count(*) FROM classes").fetchall()[0]
    return broken, f"fewest values in one of {classes:,} classes: {least:,}"


def confidence(connection: Any, share: Fraction) -> Answer:
    """No value with a larger share than allowed in any class."""
    query = "SELECT DISTINCT g FROM cells JOIN classes USING (g) WHERE n * $below::HUGEINT > rows * $above::HUGEINT"
    broken = _classes(connection, query, _fraction(share))
    (worst,) = connection.execute("SELECT max(n / rows) FROM cells JOIN classes USING (g)").fetchall()[0]
    return broken, f"largest share of a value in a class: {worst:.4f}"


def recursive(connection: Any, c: Fraction, l: int) -> Answer:  # noqa: E741
    """In every class, the largest count is below c times the sum of the l-th and all smaller ones."""
    broken = _classes(
        connection,
        "WITH ranked AS (SELECT g, n, row_number() OVER (PARTITION BY g ORDER BY n DESC) AS place FROM cells), "
        "sums AS (SELECT g, max(n) AS first, coalesce(sum(n) FILTER (WHERE place >= $l), 0) AS tail "
        "FROM ranked GROUP BY g) "
        "SELECT g FROM sums WHERE NOT first * $below::HUGEINT < CAST(tail AS HUGEINT) * $above::HUGEINT",
        {"l": l, **_fraction(c)},
    )
    (classes,) = connection.execute("SELECT count(*) FROM classes").fetchall()[0]
    return broken, f"{classes - len(broken):,} of {classes:,} classes keep it"


def entropy(connection: Any, l: Fraction) -> Answer:  # noqa: E741
    """The entropy of every class is at least log l."""
    wanted = math.log(l)
    rows = connection.execute(
        "SELECT g, ln(rows) - sum(n * ln(n)) / rows AS h FROM cells JOIN classes USING (g) GROUP BY g, rows ORDER BY h"
    ).fetchall()
    broken = [g for g, h in rows if h < wanted - NEAR]
    unclear = [g for g, h in rows if abs(h - wanted) <= NEAR]
    broken += [g for g in unclear if not border.diverse(_counts(connection, g), l)]
    return broken, f"smallest of {len(rows):,} classes: {math.exp(rows[0][1]):.4f}"


def likeness(connection: Any, beta: Fraction, enhanced: bool) -> Answer:
    """No share in a class exceeds that in the table by more than beta times (enhanced: or its negative log)."""
    over = "WHERE n * all_rows * $below::HUGEINT > ($above::HUGEINT + $below::HUGEINT) * all_n * rows"
    broken = _classes(connection, f"SELECT DISTINCT g FROM ({_SHARES}) {over}", _fraction(beta))
    (worst,) = connection.execute(f"SELECT max((n * all_rows) / (all_n * rows)) - 1 FROM ({_SHARES})").fetchall()[0]
    if enhanced:
        doubtful = connection.execute(
            f"SELECT g, n, rows, all_n, all_rows FROM ({_SHARES}) "
            "WHERE (n * all_rows) / (all_n * rows) - 1 - ln(all_rows / all_n) > $near",
            {"near": -NEAR},
        ).fetchall()
        broken = sorted({*broken, *(g for g, *counts in doubtful if not border.growth_below_log(counts))})
    return broken, f"largest growth of a share in a class: {worst:.4f}"


def disclosure(connection: Any, delta: Fraction) -> Answer:
    """Every value of the table is in every class, with a share of less than 2^delta times more or fewer."""
    lacking = _classes(connection, "SELECT g FROM classes WHERE v < (SELECT count(*) FROM whole)", {})
    ratio = "abs(log2((n * all_rows) / (all_n * rows)))"
    (worst,) = connection.execute(f"SELECT max({ratio}) FROM ({_SHARES})").fetchall()[0]
    doubtful = connection.execute(
        f"SELECT g, n, rows, all_n, all_rows FROM ({_SHARES}) WHERE {ratio} > $near", {"near": float(delta) - NEAR}
    ).fetchall()
    broken = {g for g, *counts in doubtful if not border.ratio_below(counts, delta)}
    finding = f"largest logarithm of a ratio of shares: {worst:.4f}"
    return sorted({*broken, *lacking}), f"{len(lacking):,} classes lack a value; {finding}" if lacking else finding


def equal_distance(connection: Any, t: Fraction) -> Answer:
    """Half of the sum of all differences of shares; values that a class lacks differ by their share in the table."""
    return _distances(
        connection,
        "SELECT g, classes.rows AS rows, any_value(w.rows) AS all_rows, sum(abs(c.n * w.rows - w.n * classes.rows)) "
        "+ classes.rows * (any_value(w.rows) - sum(w.n)) AS work FROM cells c JOIN classes USING (g) "
        "JOIN whole w ON c.v IS NOT DISTINCT FROM w.v GROUP BY g, classes.rows",
        2,
        t,
    )


def ordered_distance(connection: Any, t: Fraction, order: Sequence[str] | None) -> Answer:
    """The sum of all differences of cumulated shares over the number of steps between values; missing comes last."""
    place = "v"
    if order is not None:
        place = "list_position($order, v)"
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE ranked AS SELECT v, n, rows, "
        f"row_number() OVER (ORDER BY {place} ASC NULLS LAST) AS r FROM whole",
        {} if order is None else {"order": list(order)},
    )
    (steps,) = connection.execute("SELECT count(*) - 1 FROM ranked").fetchall()[0]
    return _distances(
        connection,
        "SELECT g, rows, any_value(all_rows) AS all_rows, sum(abs(upto)) AS work FROM (SELECT classes.g, "
        "classes.rows AS rows, w.rows AS all_rows, sum(coalesce(c.n, 0) * w.rows - w.n * classes.rows) "
        "OVER (PARTITION BY classes.g ORDER BY w.r) AS upto FROM classes CROSS JOIN ranked w "
        "LEFT JOIN cells c ON c.g = classes.g AND c.v IS NOT DISTINCT FROM w.v) GROUP BY g, rows",
        max(1, steps),
        t,
    )


def hierarchical_distance(connection: Any, t: Fraction, height: int, gaps: int) -> Answer:
    """At every group of the hierarchy, what its children have too much moves to those that have too little."""
    if gaps:
        return _classes(connection, "SELECT g FROM classes", {}), f"{gaps} values have no place in the hierarchy"
    return _distances(
        connection,
        "WITH tops AS (SELECT b.node, sum(w.n) AS n, any_value(w.rows) AS rows FROM below b "
        "JOIN whole w ON b.v IS NOT DISTINCT FROM w.v GROUP BY b.node), "
        "own AS (SELECT c.g, b.node, sum(c.n) AS n FROM cells c JOIN below b ON c.v IS NOT DISTINCT FROM b.v "
        "GROUP BY c.g, b.node), "
        "extra AS (SELECT classes.g, classes.rows AS rows, tops.rows AS all_rows, nodes.parent, "
        "coalesce(own.n, 0) * tops.rows - tops.n * classes.rows AS e FROM classes CROSS JOIN tops "
        "JOIN nodes ON nodes.node = tops.node LEFT JOIN own ON own.g = classes.g AND own.node = tops.node), "
        "moved AS (SELECT g, rows, any_value(all_rows) AS all_rows, parent, "
        "least(sum(greatest(e, 0)), sum(greatest(-e, 0))) AS work FROM extra GROUP BY g, rows, parent) "
        "SELECT g, rows, any_value(all_rows) AS all_rows, sum(work * nodes.height) AS work FROM moved "
        "JOIN nodes ON nodes.node = moved.parent GROUP BY g, rows",
        height,
        t,
    )


def _distances(connection: Any, work: str, unit: int, t: Fraction) -> Answer:
    """Whether every distance, work / (unit x rows x all rows), is at most t."""
    connection.execute(f"CREATE OR REPLACE TEMP TABLE distances AS {work}")
    broken = _classes(
        connection,
        "SELECT g FROM distances "
        "WHERE work::HUGEINT * $below::HUGEINT > $unit::HUGEINT * rows * all_rows * $above::HUGEINT",
        {"unit": unit, **_fraction(t)},
    )
    classes, worst = connection.execute(
        "SELECT count(*), max(work / ($unit::HUGEINT * rows * all_rows)) FROM distances", {"unit": unit}
    ).fetchall()[0]
    return broken, f"largest distance of {classes:,} classes: {worst:.4f}"


def _classes(connection: Any, query: str, values: dict[str, int]) -> list[int]:
    return [int(g) for (g,) in connection.execute(query, values).fetchall()]


def _counts(connection: Any, group: int) -> list[int]:
    return [int(n) for (n,) in connection.execute("SELECT n FROM cells WHERE g = $g", {"g": group}).fetchall()]


def _fraction(number: Fraction) -> dict[str, int]:
    return {"above": number.numerator, "below": number.denominator}
