"""Recount what is required of a column in every class of rows that look alike, by SQL over the written file.

The definitions are written down here once more, in whole numbers of DuckDB; of the requirements only what was asked for
is read. A missing value is a value.

``cells`` has the rows n of each class g and value v, ``classes`` the rows of each class and how many values it has,
``whole`` the rows n of each value and those of the table. All counts are 128-bit whole numbers. Where a definition
needs logarithms, floats decide what is clear, and :mod:`incrowd.verification.requirements_border` the rest. Where a
person may have several rows, persons are counted instead (:mod:`incrowd.verification.histories`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from incrowd.errors import HeaderError
from incrowd.verification.histories import Counting, cell_tables, facts_in_classes, facts_in_histories, make_histories
from incrowd.verification.meaning import CellMeaning, clean, decide
from incrowd.verification.opening import column
from incrowd.verification.owners import OWNED, Owners
from incrowd.verification.requirements_border import diverse, growth_below_log, ratio_below
from incrowd.verification.verdict import Check
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import Columnwise
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.schema import ColumnType, unknown_column

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


def power_sums(connection: Any, powers: Sequence[tuple[int, Fraction]], limit: Fraction) -> Answer:
    """In every class, weighed powers of the shares of the values, summed over the values, keep to the limit."""
    sums: dict[int, Fraction] = {}
    counted = "SELECT g, rows, n, count(*) FROM cells JOIN classes USING (g) GROUP BY g, rows, n"
    for g, rows, n, values in connection.execute(counted).fetchall():
        share = Fraction(int(n), int(rows))
        sums[g] = sums.get(g, Fraction()) + int(values) * sum(weight * share**power for power, weight in powers)
    broken = [g for g, total in sums.items() if total > limit]
    return broken, f"largest sum in one of {len(sums):,} classes: {float(max(sums.values(), default=Fraction())):.4f}"


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
    broken += [g for g, h in rows if abs(h - wanted) <= NEAR and not diverse(_counts(connection, g), l)]
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
        broken = sorted({*broken, *(g for g, *counts in doubtful if not growth_below_log(counts))})
    return broken, f"largest growth of a share in a class: {worst:.4f}"


def disclosure(connection: Any, delta: Fraction) -> Answer:
    """Every value of the table is in every class, with a share of less than 2^delta times more or fewer."""
    lacking = _classes(connection, "SELECT g FROM classes WHERE v < (SELECT count(*) FROM whole)", {})
    ratio = "abs(log2((n * all_rows) / (all_n * rows)))"
    (worst,) = connection.execute(f"SELECT max({ratio}) FROM ({_SHARES})").fetchall()[0]
    doubtful = connection.execute(
        f"SELECT g, n, rows, all_n, all_rows FROM ({_SHARES}) WHERE {ratio} > $near", {"near": float(delta) - NEAR}
    ).fetchall()
    broken = {g for g, *counts in doubtful if not ratio_below(counts, delta)}
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


_SQL_TYPES = {ColumnType.INTEGER: "HUGEINT", ColumnType.REAL: "DOUBLE", ColumnType.DATE: "DATE"}


@dataclass(frozen=True, eq=False)
class Further:
    """A requirement beyond k, and how the values of its column are told apart.

    Parameters
    ----------
    part
        What is required.
    name
        The column, as the file names it.
    type, order, hierarchy
        As in the schema.
    missing
        Words that mean a missing value.
    """

    part: Columnwise
    name: str
    type: ColumnType = ColumnType.CATEGORICAL
    order: Sequence[str] = ()
    hierarchy: Hierarchy | None = None
    missing: tuple[str, ...] = ()

    @property
    def distance(self) -> str:
        """The distance of t-closeness that is meant."""
        if isinstance(self.part, TCloseness) and self.part.distance is not None:
            return self.part.distance
        return "hierarchical" if self.hierarchy is not None else "ordered" if self.type.has_order else "equal"

    @property
    def counting(self) -> Counting:
        """What is counted where a person may have several rows."""
        if isinstance(self.part, TCloseness):
            return "facts"
        return "shares" if isinstance(self.part, ConfidenceCap | BetaLikeness | DeltaDisclosure) else "main"

    @property
    def measurable(self) -> bool:
        """Whether the column has what its distance needs."""
        needed = {"equal": True, "ordered": self.type.has_order, "hierarchical": self.hierarchy is not None}
        return needed[self.distance]


def recount_requirements(
    connection: Any,
    names: Sequence[str],
    sets: Sequence[Sequence[str]],
    requirements: Sequence[Further],
    owners: Owners | None = None,
) -> tuple[Check, ...]:
    """A check for each requirement: whether every class of rows alike in each set of columns keeps it.

    ``names`` are the columns of the table ``released``, in order. With ``owners`` there is the table ``owned``, and
    persons are counted, in classes or in histories and each tuple of them.
    """
    return tuple(_check(connection, names, sets, one, owners) for one in requirements)


def _check(
    connection: Any, names: Sequence[str], sets: Sequence[Sequence[str]], one: Further, owners: Owners | None
) -> Check:
    if one.name not in names:
        raise HeaderError(unknown_column(one.name, names))
    if not one.measurable:
        return Check(str(one.part), False, f"{one.name} has no order, or no hierarchy, to measure the distance by")
    unread = value_table(connection, names.index(one.name), one, "released" if owners is None else OWNED)
    if unread:
        return Check(str(one.part), False, f"{unread:,} cells of {one.name} are no {one.type}")
    if owners is not None and owners.persons.known_rows is not None:
        return Check(str(one.part), False, "this is not counted where some rows of a person are known")
    passed, findings = True, []
    for together in sets:
        for _ in _counted_tables(connection, [names.index(name) for name in together], one, owners):
            broken, finding = _answer(connection, one)
            passed &= not broken
            findings.append(f"{finding}; {len(broken):,} classes break it" if broken else finding)
    return Check(str(one.part), passed, "; ".join(dict.fromkeys(findings)))


def recount_counted(connection: Any, one: Further, counted: Iterable[Any]) -> Check:
    """The same check where rows were counted elsewhere.

    For each set of columns there is a table of how many rows ``n`` of each class ``g`` have which cell ``c0``.
    """
    if not one.measurable:
        return Check(str(one.part), False, f"{one.name} has no order, or no hierarchy, to measure the distance by")
    passed, findings = True, []
    for cells in counted:
        connection.register("counted", cells)
        unread = value_table(connection, 0, one, "counted")
        if unread:
            return Check(str(one.part), False, f"{unread:,} cells of {one.name} are no {one.type}")
        connection.execute(
            "CREATE OR REPLACE TEMP TABLE cells AS SELECT g, v, CAST(sum(n) AS HUGEINT) AS n FROM valued GROUP BY g, v"
        )
        _total_tables(connection)
        broken, finding = _answer(connection, one)
        passed &= not broken
        findings.append(f"{finding}; {len(broken):,} classes break it" if broken else finding)
    return Check(str(one.part), passed, "; ".join(dict.fromkeys(findings)))


def recount_in_histories(connection: Any, one: Further, histories: Iterable[None]) -> Check:
    """A check that all persons with one history keep a requirement, for all histories that are made one by one.

    The table ``valued`` has the value ``v`` of each ``person``.
    """
    if not one.measurable:
        return Check(str(one.part), False, f"{one.name} has no order, or no hierarchy, to measure the distance by")
    answers = []
    for _ in histories:
        order = one.order if one.type is ColumnType.ORDERED else ()
        cell_tables(connection, one.counting, next(facts_in_histories(())), order)
        answers.append(_answer(connection, one))
    broken = sum(len(classes) for classes, _ in answers)
    finding = "; ".join(dict.fromkeys(finding for _, finding in answers))
    return Check(str(one.part), not broken, f"{finding}; {broken:,} histories break it" if broken else finding)


def _counted_tables(connection: Any, positions: Sequence[int], one: Further, owners: Owners | None) -> Iterator[None]:
    """Make the tables that a requirement is answered by, one time after the other."""
    if owners is None:
        _cell_table(connection, positions)
        yield
        return
    facts: Iterable[str]
    if owners.persons.linked:
        make_histories(connection, positions, owners)
        facts = facts_in_histories(positions)
    else:
        facts = [facts_in_classes(connection, positions)]
    for each in facts:
        cell_tables(connection, one.counting, each, one.order if one.type is ColumnType.ORDERED else ())
        yield


def necessary_of_rows(requirements: Sequence[Further]) -> tuple[Further, ...]:
    """Those that rows must keep, if persons do who may have several of them: for who cannot tell whose rows they are.

    A class has at least as many values as its persons have main values. A share of rows says nothing of persons.
    """
    return tuple(one for one in requirements if isinstance(one.part, DistinctDiversity))


def broken_classes(
    connection: Any, names: Sequence[str], together: Sequence[str], one: Further, owners: Owners | None = None
) -> list[int]:
    """The classes that break a requirement, numbered from 1 in the order of the columns' values."""
    value_table(connection, names.index(one.name), one, "released" if owners is None else OWNED)
    broken: set[int] = set()
    for _ in _counted_tables(connection, [names.index(name) for name in together], one, owners):
        broken |= {int(number) for number in _answer(connection, one)[0]}
    return sorted(broken)


def value_table(connection: Any, position: int, one: Further, rows: str = "released") -> int:
    """The table ``valued``: the released rows with the value ``v`` of the column; how many cells cannot be read."""
    raw = f"CAST({rows}.{column(position)} AS VARCHAR)"
    meaning = decide(connection, rows, raw, CellMeaning(one.type, missing=one.missing))
    read, kind = clean(raw, one.missing), _SQL_TYPES.get(one.type)
    value = meaning.value(raw) if kind is None else f"CAST({meaning.value(raw)} AS {kind})"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE valued AS SELECT {rows}.*, {read} AS written, {value} AS v FROM {rows}"
    )
    gone = "isnan(TRY_CAST(written AS DOUBLE))" if kind == "DOUBLE" else "false"
    query = f"SELECT count(*) FROM valued WHERE written IS NOT NULL AND v IS NULL AND NOT coalesce({gone}, false)"
    (unread,) = connection.execute(query).fetchall()[0]
    return int(unread)


def _cell_table(connection: Any, positions: Sequence[int]) -> None:
    """``cells``: rows of each class and value; ``classes``: rows of each class; ``whole``: rows of each value."""
    keys = ", ".join(map(column, positions))
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE cells AS SELECT dense_rank() OVER (ORDER BY {keys}) AS g, v, n FROM "
        f"(SELECT {keys}, v, CAST(count(*) AS HUGEINT) AS n FROM valued GROUP BY {keys}, v)"
    )
    _total_tables(connection)


def _total_tables(connection: Any) -> None:
    """``classes`` and ``whole``, from the table ``cells``."""
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE classes AS SELECT g, CAST(sum(n) AS HUGEINT) AS rows, count(*) AS v "
        "FROM cells GROUP BY g"
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE whole AS SELECT v, CAST(sum(n) AS HUGEINT) AS n, "
        "(SELECT CAST(sum(n) AS HUGEINT) FROM cells) AS rows FROM cells GROUP BY v"
    )


def _answer(connection: Any, one: Further) -> Answer:
    """The classes that break the requirement, and what was found; none do where nobody has rows, as of events."""
    if not connection.sql("SELECT count(*) FROM classes").fetchall()[0][0]:
        return [], "no class has rows"
    match one.part:
        case DistinctDiversity(l):
            return distinct(connection, l)
        case EntropyDiversity(l):
            return entropy(connection, l)
        case RecursiveDiversity(c, l):
            return recursive(connection, c, l)
        case ConfidenceCap(share):
            return confidence(connection, share)
        case BetaLikeness(beta, _, enhanced):
            return likeness(connection, beta, enhanced)
        case DeltaDisclosure(delta):
            return disclosure(connection, delta)
        case PowerBound(powers, limit):
            return power_sums(connection, powers, limit)
        case TCloseness(t) if one.distance == "equal":
            return equal_distance(connection, t)
        case TCloseness(t) if one.distance == "ordered":
            return ordered_distance(connection, t, list(one.order) if one.type is ColumnType.ORDERED else None)
        case TCloseness(t):
            assert one.hierarchy is not None
            return hierarchical_distance(connection, t, *_nodes(connection, one.hierarchy))


def _nodes(connection: Any, hierarchy: Hierarchy) -> tuple[int, int]:
    """The tables ``nodes`` (node, parent, height) and ``below`` (value, node); the height of the root, and gaps."""
    missing, parents = len(hierarchy), [*hierarchy.parents, 0]
    heights = [*(hierarchy.height - hierarchy.depths).tolist(), None]
    connection.execute("CREATE OR REPLACE TEMP TABLE nodes (node BIGINT, parent BIGINT, height HUGEINT)")
    rows = [[node, parent, heights[node]] for node, parent in enumerate(parents)]
    connection.executemany("INSERT INTO nodes VALUES (?, ?, ?)", rows)
    values = connection.execute("SELECT v FROM whole").fetchall()
    (kind,) = connection.execute("SELECT typeof(v) FROM whole LIMIT 1").fetchall()[0]
    connection.execute(f"CREATE OR REPLACE TEMP TABLE below (v {kind}, node BIGINT)")
    gaps = 0
    for (value,) in values:
        leaf = None if value is None else hierarchy.leaf_of(value)
        gaps += value is not None and leaf is None
        node = missing if leaf is None else int(hierarchy.leaves[leaf])
        while node:
            connection.execute("INSERT INTO below VALUES (?, ?)", [value, node])
            node = parents[node]
    return heights[0], gaps
