"""Recount what is required of a column in every class of rows that look alike, by SQL over the written file.

The definitions are written down here once more, in whole numbers of DuckDB; of the requirements only what was asked for
is read. A missing value is a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.errors import HeaderError
from incrowd.verification import requirements_sql as sql
from incrowd.verification.meaning import CellMeaning, clean, decide
from incrowd.verification.opening import column
from incrowd.verification.verdict import Check
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirements.disclosure import BetaLikeness, ConfidenceCap, DeltaDisclosure
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.requirements.t_closeness import TCloseness
from incrowd.vocabulary.requirements.together import Columnwise
from incrowd.vocabulary.schema import ColumnType, unknown_column

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
        distance = self.part.distance if isinstance(self.part, TCloseness) else None
        if distance is not None:
            return distance
        return "hierarchical" if self.hierarchy is not None else "ordered" if self.type.has_order else "equal"

    @property
    def measurable(self) -> bool:
        """Whether the column has what its distance needs."""
        needed = {"equal": True, "ordered": self.type.has_order, "hierarchical": self.hierarchy is not None}
        return needed[self.distance]


def recount_requirements(
    connection: Any, names: Sequence[str], sets: Sequence[Sequence[str]], requirements: Sequence[Further]
) -> tuple[Check, ...]:
    """A check for each requirement: whether every class of rows alike in each set of columns keeps it.

    ``names`` are the columns of the table ``released``, in order.
    """
    return tuple(_check(connection, names, sets, one) for one in requirements)


def _check(connection: Any, names: Sequence[str], sets: Sequence[Sequence[str]], one: Further) -> Check:
    if one.name not in names:
        raise HeaderError(unknown_column(one.name, names))
    if not one.measurable:
        return Check(str(one.part), False, f"{one.name} has no order, or no hierarchy, to measure the distance by")
    unread = _value_table(connection, names.index(one.name), one)
    if unread:
        return Check(str(one.part), False, f"{unread:,} cells of {one.name} are no {one.type}")
    passed, findings = True, []
    for together in sets:
        _cell_table(connection, [names.index(name) for name in together])
        broken, finding = _answer(connection, one)
        passed &= not broken
        findings.append(f"{finding}; {len(broken):,} classes break it" if broken else finding)
    return Check(str(one.part), passed, "; ".join(dict.fromkeys(findings)))


def broken_classes(connection: Any, names: Sequence[str], together: Sequence[str], one: Further) -> list[int]:
    """The classes that break a requirement, numbered from 1 in the order of the columns' values."""
    _value_table(connection, names.index(one.name), one)
    _cell_table(connection, [names.index(name) for name in together])
    return sorted(_answer(connection, one)[0])


def _value_table(connection: Any, position: int, one: Further) -> int:
    """The table ``valued``: the released rows with the value ``v`` of the column; how many cells cannot be read."""
    raw = f"CAST(released.{column(position)} AS VARCHAR)"
    meaning = decide(connection, "released", raw, CellMeaning(one.type, missing=one.missing))
    read, kind = clean(raw, one.missing), _SQL_TYPES.get(one.type)
    value = meaning.value(raw) if kind is None else f"CAST({meaning.value(raw)} AS {kind})"
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE valued AS SELECT released.*, {read} AS written, {value} AS v FROM released"
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
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE classes AS SELECT g, CAST(sum(n) AS HUGEINT) AS rows, count(*) AS v "
        "FROM cells GROUP BY g"
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE whole AS SELECT v, CAST(sum(n) AS HUGEINT) AS n, "
        "(SELECT CAST(sum(n) AS HUGEINT) FROM cells) AS rows FROM cells GROUP BY v"
    )


def _answer(connection: Any, one: Further) -> sql.Answer:
    """The classes that break the requirement, and what was found."""
    match one.part:
        case DistinctDiversity(l):
            return sql.distinct(connection, l)
        case EntropyDiversity(l):
            return sql.entropy(connection, l)
        case RecursiveDiversity(c, l):
            return sql.recursive(connection, c, l)
        case ConfidenceCap(share):
            return sql.confidence(connection, share)
        case BetaLikeness(beta, _, enhanced):
            return sql.likeness(connection, beta, enhanced)
        case DeltaDisclosure(delta):
            return sql.disclosure(connection, delta)
        case TCloseness(t):
            return _closeness(connection, one, t)


def _closeness(connection: Any, one: Further, t: Any) -> sql.Answer:
    if one.distance == "equal":
        return sql.equal_distance(connection, t)
    if one.distance == "ordered":
        return sql.ordered_distance(connection, t, list(one.order) if one.type is ColumnType.ORDERED else None)
    assert one.hierarchy is not None
    return sql.hierarchical_distance(connection, t, *_nodes(connection, one.hierarchy))


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
