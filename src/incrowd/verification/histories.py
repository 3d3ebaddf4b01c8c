"""Recount persons whom recipients can follow: whole histories, and what some known rows of a person tell.

A history is the multiset of a person's released tuples. ``tuples`` has the ``person`` and the number ``t`` of the tuple
of each released row, ``histories`` every different history with its number ``no``, what is known of its persons for
``sure`` beside their rows (a tuple of another table, their number of rows), and how many ``persons`` have it, ``items``
how ``many`` times it has which tuple, and ``history_of`` the history of each person.

Who has which value in which class, for what is required of a column where persons may have several rows.

The queries of :mod:`incrowd.verification.requirements` run on tables that are made here: of each class g and value v
the persons who have it (bearers), or each person once, under the value of its own that has most bearers in the class
(main values; of equal ones the first in order, missing last).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import comb
from typing import Any, Literal

from incrowd.errors import UndeterminedError
from incrowd.verification.coded import ask
from incrowd.verification.opening import column, text
from incrowd.verification.owners import OWNED, Owners

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


MOST_COMBINATIONS = 50_000_000
"""Sets of known rows that are counted at most."""
BESIDE = "beside"
"""The table of persons that is released beside these rows, if there is one: the number ``st`` of the tuple of each."""


def has_beside(connection: Any) -> bool:
    """Whether the database has a table of persons, who may have no row here."""
    return bool(ask(connection, f"SELECT 1 FROM duckdb_tables() WHERE table_name = '{BESIDE}'"))


def make_histories(connection: Any, positions: Sequence[int], owners: Owners) -> None:
    """The tables of histories of the rows in ``owned``, whose tuples are the columns at these positions.

    Persons of a table beside it (:data:`BESIDE`) are counted with it, also those without rows here.
    """
    number_classes(connection, OWNED, positions)
    _make(connection, f"tuples AS SELECT person, g AS t FROM {OWNED} JOIN numbered ON {same(positions, OWNED)}")
    sure = "len(h)" if owners.persons.count_known else "0"
    own = "SELECT person, 0 AS st, list_sort(list(t)) AS h FROM tuples GROUP BY person"
    if has_beside(connection):  # whoever is in one of the tables alone has no tuple, or no rows, in the other
        own = (
            "SELECT coalesce(own.person, b.person) AS person, coalesce(b.st, 0) AS st, coalesce(h, []) AS h "
            f"FROM ({own}) AS own FULL JOIN {BESIDE} AS b ON own.person = b.person"
        )
    _make(connection, f"each AS {own}")
    _make(
        connection,
        "histories AS SELECT row_number() OVER () AS no, dense_rank() OVER (ORDER BY st, sure) AS sure, st, h, persons "
        f"FROM (SELECT st, {sure} AS sure, h, count(*) AS persons FROM each GROUP BY st, h)",
    )
    _make(
        connection,
        "history_of AS SELECT person, no FROM each JOIN histories ON each.st = histories.st AND each.h = histories.h",
    )
    _make(
        connection,
        "items AS SELECT no, t, count(*) AS many FROM (SELECT no, unnest(h) AS t FROM histories) GROUP BY ALL",
    )


def facts_in_histories(positions: Sequence[int]) -> Iterator[str]:
    """SQL: who has which value ``v`` of the table ``valued`` in which history; then in which tuple of which history."""
    whose = "valued JOIN history_of USING (person)"
    yield f"SELECT DISTINCT no AS g, person, v FROM {whose}"
    part = "no * (SELECT count(*) + 1 FROM numbered) + g"
    yield f"SELECT DISTINCT {part} AS g, person, v FROM {whose} JOIN numbered ON {same(positions)}"


def supports(connection: Any, m: int, *, beside: bool = False) -> Iterator[tuple[int, int]]:
    """(persons, sets that so many have), of sets of up to m rows that may be known of somebody; refused if too many.

    Sets grow by one row after the other: in a set, rows are in the order of their tuples, so that each is met once. A
    set is known by its number, which it has from the set it grew from and its last tuple. ``beside``: nothing but what
    is known for sure is a set, too.
    """
    refuse_too_many(connection, m)
    _make(connection, "known AS SELECT no, 0::BIGINT AS t, 0::BIGINT AS c, sure AS id FROM histories")
    if beside:
        yield from _tally(connection, "SELECT sum(persons) AS n FROM known JOIN histories USING (no) GROUP BY id")
    for _ in range(m):
        _make(
            connection,
            "grown AS SELECT x.no, i.t, CASE WHEN i.t = x.t THEN x.c + 1 ELSE 1 END AS c, x.id AS before FROM known "
            "AS x JOIN items AS i ON i.no = x.no AND (i.t > x.t OR (i.t = x.t AND i.many > x.c))",
        )
        _make(
            connection,
            "sets AS SELECT before, t, sum(persons) AS n, row_number() OVER () AS id FROM grown JOIN histories "
            "USING (no) GROUP BY before, t",
        )
        yield from _tally(connection, "SELECT n FROM sets")
        _make(connection, "known AS SELECT no, t, c, sets.id AS id FROM grown JOIN sets USING (before, t)")
    for table in ("known", "grown", "sets"):
        connection.execute(f"DROP TABLE {table}")


def _tally(connection: Any, persons: str) -> Iterator[tuple[int, int]]:
    for n, sets in ask(connection, f"SELECT n, count(*) FROM ({persons}) GROUP BY n"):
        yield int(n), int(sets)


def refuse_too_many(connection: Any, m: int) -> None:
    """Raise if numbers of rows alone allow more sets of known rows than are counted."""
    rows = dict(ask(connection, "SELECT len(h), count(*) FROM each GROUP BY ALL"))
    if combinations(rows, m) <= MOST_COMBINATIONS:
        return
    fitting = next((most for most in range(max(rows), 0, -1) if _fits(rows, m, most)), 0)
    raise UndeterminedError(
        f"Up to {m} known rows of persons with up to {max(rows):,} rows are more than {MOST_COMBINATIONS:,} sets: what "
        f"they tell cannot be counted. Nothing was published: keep at most {fitting:,} rows of a person, or let fewer "
        "be known."
    )


def _fits(rows: Mapping[int, int], m: int, most: int) -> bool:
    cut: dict[int, int] = {}
    for number, persons in rows.items():
        cut[min(number, most)] = cut.get(min(number, most), 0) + persons
    return combinations(cut, m) <= MOST_COMBINATIONS


def combinations(rows: Mapping[int, int], m: int) -> int:
    """How many sets of known rows there can be; ``rows`` has numbers of rows, and how many persons have so many.

    For each size min(m, rows) that occurs, every choice of so many rows of each person.

    Examples
    --------
    >>> combinations({1: 2, 2: 1}, 2)  # single rows: 2 + 2; pairs: 1
    5
    """
    sizes = {min(m, number) for number in rows} - {0}
    return sum(comb(number, size) * persons for size in sizes for number, persons in rows.items())


def _make(connection: Any, table: str) -> None:
    connection.execute(f"CREATE OR REPLACE TEMP TABLE {table}")
