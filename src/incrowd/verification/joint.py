"""What releases about the same people tell together, recounted.

Two releases in different groups tell more than either: whoever is in one group here and in another there is in both,
and that may be few. So a release is laid beside the earlier ones, person by person, as somebody could who links their
rows without a mistake and knows in which tables a person is. The candidates for a person are then the people in every
group that holds the person, and in no release without the person. Who was left out of a release is not in it.

Where a person may have several rows, candidates are persons. A row of a person is the same row in an earlier release if
its marks are; rows of the person that are left on both sides may each be any of the others, and count as all of them.

Correspondence attacks: Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import ParameterError
from incrowd.verification.opening import column, connect, open_table
from incrowd.verification.request import Original
from incrowd.vocabulary.forms import FileForm

LEFT_OUT = -1
"""The class of whoever a release left out."""
_ROWS_NOW = "SELECT DISTINCT place, class FROM joint ORDER BY place"
_MOST_PAIRS = 50_000_000


@dataclass(frozen=True)
class Figures:
    """A figure for people who are also in earlier releases, for those who are in none, and for those who are gone."""

    shared: int | None = None
    new: int | None = None
    left: int | None = None


@dataclass(frozen=True)
class Joint:
    """The groups that this release and earlier ones make together.

    Parameters
    ----------
    k
        What the groups are held to.
    people, shared
        People of the table, and those of them that are in one of the entries.
    below
        People whose candidates became fewer, and fewer than k.
    smallest
        The fewest candidates for anybody; None if there is nobody.
    closer
        People of earlier releases who have fewer candidates than before, whatever k is.
    """

    k: int
    people: int
    shared: int
    below: Figures
    smallest: Figures
    closer: int


@dataclass(frozen=True, eq=False)
class Then:
    """An earlier release, and by what its people are known.

    Parameters
    ----------
    now
        A PyArrow table with the columns ``high`` and ``low``: the mark of each person of the table, in its order.
    load
        Gives the people of the earlier release: a PyArrow table of their marks with the column ``class``, which is
        :data:`LEFT_OUT` for those who were left out.
    unique
        Whether no mark is there twice. If one is, the first of them now is the first of them then, by class.
    link
        Earlier releases with the same link know each other's people by their marks.
    complete
        Whether both have the same people.
    bare
        Columns that the earlier release shows as they are.
    several
        Whether a person may have several rows in one of them: both tables then also have the columns ``row_high`` and
        ``row_low``, the mark of each row.
    """

    now: Any
    load: Callable[[], Any]
    unique: bool = True
    link: Hashable = ()
    complete: bool = False
    bare: tuple[str, ...] = ()
    several: bool = False


@dataclass(frozen=True, eq=False)
class _Laid:
    """Releases side by side in a connection.

    ``joint`` has a row for each person of the table: the class now (null: left out), the class in each earlier release,
    whether the person is in any, and bare columns. ``sizes0``, ``gone0`` and so on are the classes of an earlier
    release with their sizes, and its people who are not in this one. One earlier release is in memory at a time. If
    rows are ``owned``, ``who`` is the person of each, and a row may be there several times: for each row of an earlier
    release that it may be.
    """

    connection: Any
    earlier: Sequence[Then]
    shown: Mapping[str, str]
    owned: bool = False

    def one(self, query: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self.connection.execute(query).fetchall()[0]
        return row

    def lay(self, place: int) -> None:
        """Lay an earlier release beside the others."""
        self.pair(self.earlier[place])
        run, several = self.connection.execute, self.earlier[place].several
        people = "count(DISTINCT (high, low))" if several else "count(*)"
        run(
            f"CREATE TEMP TABLE sizes{place} AS SELECT class, {people} AS size, bool_or(now IS NOT NULL) AS stay "
            "FROM pairs GROUP BY class"
        )
        left = "place IS NULL AND NOT here" if several else "now IS NULL"
        run(
            f"CREATE TEMP TABLE gone{place} AS SELECT high, low, turn, class, size, stay FROM pairs JOIN "
            f"sizes{place} USING (class) WHERE {left}"
        )
        run(
            f"CREATE OR REPLACE TEMP TABLE joint AS SELECT joint.* EXCLUDE (met), pairs.class AS c{place}, "
            "met OR coalesce(there, false) AS met FROM joint JOIN pairs USING (place)"
        )
        run("DROP TABLE pairs")

    def pair(self, then: Then) -> None:
        """The table ``pairs``: everybody of now and of then, beside each other where they are the same."""
        self.connection.register("marks_now", then.now)
        self.connection.register("marks_then", then.load())
        if then.several:
            self._pair_rows()
            return
        turn = "1" if then.unique else "row_number() OVER (PARTITION BY high, low ORDER BY class NULLS LAST)"
        self.connection.execute(
            "CREATE TEMP TABLE pairs AS WITH "
            f"here AS (SELECT place, class AS now, high, low, {turn} AS turn "
            f"FROM ({_ROWS_NOW}) POSITIONAL JOIN marks_now), "
            f"there AS (SELECT high, low, class, true AS there, {turn} AS turn FROM "
            f"(SELECT high, low, nullif(class, {LEFT_OUT}) AS class FROM marks_then)) "
            "SELECT place, now, class, there, high, low, turn FROM here FULL JOIN there USING (high, low, turn)"
        )
        self.connection.unregister("marks_now")
        self.connection.unregister("marks_then")

    def _pair_rows(self) -> None:
        """The table ``pairs`` where a person may have several rows: rows that are the same, then all others.

        ``here`` says whether the person has a row now.
        """
        run, keys = self.connection.execute, "high, low, row_high, row_low"
        turn = f"row_number() OVER (PARTITION BY {keys} ORDER BY class NULLS LAST) AS turn"
        run(f"CREATE OR REPLACE TEMP TABLE now_rows AS SELECT *, {turn} FROM ({_ROWS_NOW}) POSITIONAL JOIN marks_now")
        run(
            f"CREATE OR REPLACE TEMP TABLE then_rows AS SELECT *, {turn} FROM "
            f"(SELECT {keys}, nullif(class, {LEFT_OUT}) AS class FROM marks_then)"
        )
        self.connection.unregister("marks_now")
        self.connection.unregister("marks_then")
        run(
            f"CREATE OR REPLACE TEMP TABLE same_rows AS SELECT place, n.class AS now, t.class, {keys}, turn "
            f"FROM now_rows AS n JOIN then_rows AS t USING ({keys}, turn)"
        )
        run(
            f"CREATE TEMP TABLE pairs AS WITH n AS (FROM now_rows ANTI JOIN same_rows USING ({keys}, turn)), "
            f"t AS (FROM then_rows ANTI JOIN same_rows USING ({keys}, turn)), others AS (SELECT place, n.class AS now, "
            "t.class, t.turn IS NOT NULL AS there, high, low, 1 AS turn FROM n FULL JOIN t USING (high, low)), "
            "everybody AS (SELECT place, now, class, true AS there, high, low, 1 AS turn FROM same_rows UNION ALL "
            "SELECT place, now, class, there, high, low, turn FROM others) "
            "SELECT * EXCLUDE (there), there OR (high, low) IN (SELECT (high, low) FROM then_rows) AS there, "
            "(high, low) IN (SELECT (high, low) FROM now_rows) AS here FROM everybody"
        )
        [(rows,)] = run("SELECT count(*) FROM pairs").fetchall()
        if rows > _MOST_PAIRS:
            raise ParameterError(
                f"Rows of persons of earlier releases may be rows of these persons now in {rows:,} ways, more than can "
                "be counted. Leave quasi-identifiers of the rows that were released before as they were."
            )


def classes_of_rows(path: Path, form: FileForm, columns: Sequence[str], original: Original) -> Any:
    """The class of each row of the table in a written release: a PyArrow array, :data:`LEFT_OUT` where it was left out.

    Rows are in one class if the release shows the same in these columns; a missing or suppressed cell is a value.
    """
    import pyarrow as pa

    with connect() as connection:
        names = open_table(connection, path, form, copy=True)
        connection.register("origin", pa.table({"place": pa.array(original.origin, pa.int64())}))
        keys = ", ".join(column(names.index(name)) for name in columns)
        listed = connection.sql(
            f"SELECT CAST(coalesce(class, {LEFT_OUT}) AS INTEGER) AS class "
            f"FROM range({original.rows}) AS every(place) LEFT JOIN "
            f"(SELECT place, dense_rank() OVER (ORDER BY {keys}) AS class FROM released POSITIONAL JOIN origin) "
            "USING (place) ORDER BY place"
        ).to_arrow_table()
    return listed["class"].combine_chunks()


def recount_together(
    now: Any, earlier: Sequence[Then], k: int, *, bare: Mapping[str, Any] | None = None, who: Any = None
) -> Joint:
    """The groups of a release together with earlier ones that share people with it.

    Parameters
    ----------
    now
        The class of each row of the table, :data:`LEFT_OUT` for those that are left out.
    earlier
        The earlier releases.
    k
        What the groups are held to.
    bare
        Columns that one of the releases shows as they are, though another takes them for quasi-identifiers: whoever has
        both releases knows them.
    who
        The number of the person of each row, where a person may have several.
    """
    with connect() as connection:
        laid = _laid(connection, now, earlier, bare or {}, who)
        for place in range(len(earlier)):
            laid.lay(place)
        whom = "DISTINCT who" if laid.owned else "*"
        people, shared = laid.one(f"SELECT count({whom}), count({whom}) FILTER (met) FROM joint")
        here = _persons_here if laid.owned else _here
        below_shared, below_new, smallest_shared, smallest_new, closer = here(laid, k)
        below, smallest = _gone(laid, k)
    below_k, fewest = Figures(below_shared, below_new, below), Figures(smallest_shared, smallest_new, smallest)
    return Joint(k, people, shared, below=below_k, smallest=fewest, closer=closer)


def has_same_groups(now: Any, then: Then) -> bool:
    """Whether an earlier release has the same people in the same groups; groups may have other numbers."""
    with connect() as connection:
        laid = _laid(connection, now, [then], {})
        laid.pair(then)
        if then.several and laid.one("SELECT count(*) <> (SELECT count(*) FROM same_rows) FROM pairs")[0]:
            return False
        strangers, mixed, pairs, here, there = laid.one(
            "SELECT count(*) FILTER (place IS NULL OR there IS NULL), "
            "count(*) FILTER ((now IS NULL) <> (class IS NULL)), count(DISTINCT (now, class)), "
            f"count(DISTINCT coalesce(now, {LEFT_OUT})), count(DISTINCT coalesce(class, {LEFT_OUT})) FROM pairs"
        )
    return not strangers and not mixed and bool(pairs == here == there)


def _laid(connection: Any, now: Any, earlier: Sequence[Then], bare: Mapping[str, Any], who: Any = None) -> _Laid:
    import pyarrow as pa

    shown = {name: f"bare{number}" for number, name in enumerate(bare)}
    cells = {shown[name]: values for name, values in bare.items()} | ({} if who is None else {"who": who})
    connection.register("classes", pa.table({"class": now, **cells}))
    connection.execute(
        "CREATE TEMP TABLE joint AS SELECT row_number() OVER () AS place, "
        f"nullif(class, {LEFT_OUT}) AS class, * EXCLUDE (class), false AS met FROM classes"
    )
    return _Laid(connection, earlier, shown, who is not None)


def _persons_here(laid: _Laid, k: int) -> tuple[Any, ...]:
    """The same as :func:`_here` where a person may have several rows: persons of groups, each once."""
    places = range(len(laid.earlier))
    keys = ", ".join(["class", *(f"c{place}" for place in places), *laid.shown.values()])
    sizes = ", ".join(_size(laid, place) for place in places)
    sides = " ".join(
        f"LEFT JOIN (SELECT class AS c{place}, size AS s{place} FROM sizes{place}) USING (c{place})" for place in places
    )
    among = f"coalesce({', '.join(f'c{place}' for place in places)}) IS NOT NULL"
    laid.connection.execute(
        f"CREATE OR REPLACE TEMP TABLE sized AS WITH groups AS (SELECT {keys}, list(DISTINCT who) AS persons, "
        f"count(DISTINCT who) AS after FROM joint GROUP BY {keys}), now_sizes AS (SELECT class, count(DISTINCT who) AS "
        f"s FROM joint GROUP BY class) SELECT class, persons, {among} AS shared, after, CASE WHEN {among} THEN "
        f"least({sizes}) ELSE s END AS before FROM groups {sides} LEFT JOIN now_sizes USING (class) "
        "WHERE class IS NOT NULL"
    )

    def persons(condition: str) -> int:
        """How many persons are in groups of which something is so."""
        query = f"SELECT count(DISTINCT who) FROM (SELECT unnest(persons) AS who FROM sized WHERE {condition})"
        return int(laid.one(query)[0])

    fewer = f"after < {k} AND after < before"
    below = [persons(f"shared AND {fewer}"), persons(f"NOT shared AND {fewer}")]
    smallest = laid.one("SELECT min(after) FILTER (shared), min(after) FILTER (NOT shared) FROM sized")
    return *below, *smallest, persons("shared AND after < before")


def _here(laid: _Laid, k: int) -> tuple[Any, ...]:
    """Below k and smallest, each of shared and new people, and who is closer: by groups that show the same in all."""
    places = range(len(laid.earlier))
    keys = ", ".join(["class", *(f"c{place}" for place in places), *laid.shown.values()])
    sizes = ", ".join(_size(laid, place) for place in places)
    sides = " ".join(
        f"LEFT JOIN (SELECT class AS c{place}, size AS s{place} FROM sizes{place}) USING (c{place})" for place in places
    )
    among = f"coalesce({', '.join(f'c{place}' for place in places)}) IS NOT NULL"
    return laid.one(
        f"WITH groups AS (SELECT {keys}, count(*) AS after FROM joint GROUP BY {keys}), "
        f"sized AS (SELECT class, {among} AS shared, after, CASE WHEN {among} THEN least({sizes}) "
        f"ELSE sum(after) OVER (PARTITION BY class) END AS before FROM groups {sides}) "
        f"SELECT {_below('shared', k)}, {_below('NOT shared', k)}, min(after) FILTER (shared), "
        "min(after) FILTER (NOT shared), coalesce(sum(after) FILTER (shared AND after < before), 0)::BIGINT "
        "FROM sized WHERE class IS NOT NULL"
    )


def _below(who: str, k: int) -> str:
    return f"coalesce(sum(after) FILTER ({who} AND after < {k} AND after < before), 0)::BIGINT"


def _size(laid: _Laid, place: int) -> str:
    """SQL: the size of a person's class in an earlier release, with the columns that it shows as they are if known."""
    then = laid.earlier[place]
    known = [laid.shown[name] for name in then.bare if name in laid.shown]
    if not then.complete or not known:
        return f"s{place}"
    return f"CASE WHEN c{place} IS NOT NULL THEN sum(after) OVER (PARTITION BY c{place}, {', '.join(known)}) END"


def _gone(laid: _Laid, k: int) -> tuple[Any, ...]:
    """Below k and smallest, of people of earlier releases who are not in this one, of classes where others stay."""
    links: dict[Hashable, list[int]] = {}
    for place, then in enumerate(laid.earlier):
        links.setdefault(then.link, []).append(place)
    parts = " UNION ALL ".join(
        _gone_of(link, places, several=any(laid.earlier[place].several for place in places))
        for link, places in enumerate(links.values())
    )
    return laid.one(
        f"SELECT {_below('true', k)}, min(after) FROM (SELECT count(*) AS after, any_value(before) AS before "
        f"FROM ({parts}) WHERE stay GROUP BY link, classes)"
    )


def _gone_of(link: int, places: Sequence[int], *, several: bool) -> str:
    """SQL: who is gone from earlier releases that know each other's people, with all classes of each."""
    if several:  # of a person all classes of each release
        rows = " UNION ALL ".join(f"SELECT {place} AS entry, * FROM gone{place}" for place in places)
        classes = ", ".join(f"list_sort(list(DISTINCT class) FILTER (entry = {place}))" for place in places)
        return (
            f"SELECT {link} AS link, CAST([{classes}] AS VARCHAR) AS classes, min(size) AS before, bool_or(stay) AS "
            f"stay FROM ({rows}) GROUP BY high, low"
        )
    if len(places) == 1:
        [place] = places
        return f"SELECT {link} AS link, CAST([class] AS VARCHAR) AS classes, size AS before, stay FROM gone{place}"
    rows = " UNION ALL ".join(f"SELECT {place} AS entry, * FROM gone{place}" for place in places)
    classes = ", ".join(f"max(class) FILTER (entry = {place})" for place in places)
    return (
        f"SELECT {link} AS link, CAST([{classes}] AS VARCHAR) AS classes, min(size) AS before, bool_or(stay) AS stay "
        f"FROM ({rows}) "
        "GROUP BY high, low, turn"
    )
