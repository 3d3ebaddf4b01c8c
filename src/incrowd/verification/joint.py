"""What releases about the same people tell together, recounted.

Two releases in different groups tell more than either: whoever is in one group here and in another there is in both,
and that may be few. So a release is laid beside the earlier ones, person by person, as somebody could who links their
rows without a mistake and knows in which tables a person is. The candidates for a person are then the people in every
group that holds the person, and in no release without the person. Who was left out of a release is not in it.

Correspondence attacks: Fung, Wang, Fu, Pei, "Anonymity for continuous data publishing", EDBT 2008.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from incrowd.verification.asked import Original
from incrowd.verification.opening import column, connect, open_table
from incrowd.vocabulary.file_form import FileForm

LEFT_OUT = -1
"""The class of whoever a release left out."""


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
    closer: int = 0


@dataclass(frozen=True, eq=False)
class Then:
    """An earlier release, and by what its people are known.

    Parameters
    ----------
    now, then
        PyArrow tables with the columns ``high`` and ``low``: the mark of each person of the table, in the order of its
        rows, and of each person of the earlier release.
    classes
        The class of each person of the earlier release, :data:`LEFT_OUT` for those who were left out.
    unique
        Whether no mark is there twice. If one is, the first of them now is the first of them then, by class.
    link
        Earlier releases with the same link know each other's people by their marks.
    complete
        Whether both have the same people.
    bare
        Columns that the earlier release shows as they are.
    """

    now: Any
    then: Any
    classes: Any
    unique: bool = True
    link: Hashable = ()
    complete: bool = False
    bare: tuple[str, ...] = ()


@dataclass
class _Query:
    """Tables in a connection: the people of now, and a table of pairs for each earlier release."""

    connection: Any
    earlier: Sequence[Then]
    shown: Mapping[str, str] = field(default_factory=dict)

    def one(self, query: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self.connection.execute(query).fetchone()
        return row

    def pair(self, place: int) -> None:
        """``pairs``: everybody of now and of an earlier release, beside each other where they are the same."""
        then = self.earlier[place]
        self.connection.register("marks_now", then.now)
        self.connection.register("marks_then", then.then.append_column("class", then.classes))
        turn = "1" if then.unique else "row_number() OVER (PARTITION BY high, low ORDER BY class NULLS LAST)"
        known = f"nullif(class, {LEFT_OUT}) AS class"
        self.connection.execute(
            f"CREATE TEMP TABLE pairs{place} AS WITH "
            f"here AS (SELECT place, class AS now, high, low, {turn} AS turn FROM now POSITIONAL JOIN marks_now), "
            f"there AS (SELECT high, low, class, true AS there, {turn} AS turn FROM "
            f"(SELECT high, low, {known} FROM marks_then)), "
            "sizes AS (SELECT class, count(*) AS size FROM there WHERE class IS NOT NULL GROUP BY class) "
            "SELECT place, now, class, size, coalesce(there, false) AS there, high, low, turn "
            "FROM here FULL JOIN there USING (high, low, turn) LEFT JOIN sizes USING (class)"
        )
        self.connection.unregister("marks_now")
        self.connection.unregister("marks_then")


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
    now: Any, earlier: Sequence[Then], k: int, *, bare: Mapping[str, Any] | None = None
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
    """
    with connect() as connection:
        query = _registered(connection, now, earlier, bare or {})
        for place in range(len(earlier)):
            query.pair(place)
        here, gone = _here(query, k), _gone(query, k)
    below = Figures(here["below_shared"], here["below_new"], gone["below"])
    smallest = Figures(here["smallest_shared"], here["smallest_new"], gone["smallest"])
    return Joint(k, here["people"], here["shared"], below, smallest, here["closer"])


def has_same_groups(now: Any, then: Then) -> bool:
    """Whether an earlier release has the same people in the same groups; groups may have other numbers."""
    with connect() as connection:
        query = _registered(connection, now, [then], {})
        query.pair(0)
        strangers, pairs, here, there = query.one(
            "SELECT count(*) FILTER (place IS NULL OR NOT there), count(DISTINCT (now, class)), "
            "count(DISTINCT coalesce(now, -1)), count(DISTINCT coalesce(class, -1)) FROM pairs0"
        )
        mixed, *_ = query.one("SELECT count(*) FROM pairs0 WHERE (now IS NULL) <> (class IS NULL)")
    return not strangers and not mixed and pairs == here == there


def _registered(connection: Any, now: Any, earlier: Sequence[Then], bare: Mapping[str, Any]) -> _Query:
    import pyarrow as pa

    shown = {name: f"bare{number}" for number, name in enumerate(bare)}
    cells = {shown[name]: values for name, values in bare.items()}
    connection.register("classes", pa.table({"class": now, **cells}))
    connection.execute(
        "CREATE TEMP TABLE now AS SELECT row_number() OVER () AS place, "
        f"nullif(class, {LEFT_OUT}) AS class, * EXCLUDE (class) FROM classes"
    )
    return _Query(connection, earlier, shown)


def _here(query: _Query, k: int) -> dict[str, Any]:
    """Figures about the people of this release: by groups of those who show the same in all releases."""
    places = range(len(query.earlier))
    then = [f"c{place}" for place in places]
    sides = " ".join(
        f"LEFT JOIN (SELECT place, class AS c{place}, size AS s{place}, there AS t{place} FROM pairs{place}) "
        "USING (place)"
        for place in places
    )
    keys = ["class", *then, *query.shown.values()]
    sizes = ", ".join(_size(query, place) for place in places)
    among = f"coalesce({', '.join(then)}) IS NOT NULL"
    query.connection.execute(f"CREATE TEMP TABLE joint AS SELECT * FROM now {sides}")
    met = " OR ".join(f"t{place}" for place in places)
    people, shared = query.one(f"SELECT count(*), count(*) FILTER ({met}) FROM joint")
    names = ("below_shared", "below_new", "smallest_shared", "smallest_new", "closer")
    figures = query.one(
        f"WITH groups AS (SELECT {', '.join(keys)}, {', '.join(f'any_value(s{place}) AS s{place}' for place in places)}, "
        f"count(*) AS after FROM joint WHERE class IS NOT NULL GROUP BY {', '.join(keys)}), "
        f"sized AS (SELECT {among} AS shared, after, CASE WHEN {among} THEN least({sizes}) "
        "ELSE sum(after) OVER (PARTITION BY class) END AS before FROM groups) "
        f"SELECT {_below('shared', k)}, {_below('NOT shared', k)}, min(after) FILTER (shared), "
        "min(after) FILTER (NOT shared), coalesce(sum(after) FILTER (shared AND after < before), 0) FROM sized"
    )
    return {"people": people, "shared": shared, **dict(zip(names, figures, strict=True))}


def _below(who: str, k: int) -> str:
    return f"coalesce(sum(after) FILTER ({who} AND after < {k} AND after < before), 0)::BIGINT"


def _size(query: _Query, place: int) -> str:
    """SQL: the size of a person's class in an earlier release, with the columns that it shows as they are if known."""
    then = query.earlier[place]
    known = [query.shown[name] for name in then.bare if name in query.shown]
    if not then.complete or not known:
        return f"s{place}"
    return f"CASE WHEN c{place} IS NOT NULL THEN sum(after) OVER (PARTITION BY c{place}, {', '.join(known)}) END"


def _gone(query: _Query, k: int) -> dict[str, Any]:
    """Figures about people of earlier releases who are not in this one, of classes where others stay."""
    links: dict[Hashable, list[int]] = {}
    for place, then in enumerate(query.earlier):
        links.setdefault(then.link, []).append(place)
    parts = " UNION ALL ".join(_gone_of(places) for places in links.values())
    below, smallest = query.one(
        f"SELECT {_below('true', k)}, min(after) FROM (SELECT count(*) AS after, any_value(before) AS before "
        f"FROM ({parts}) WHERE stay GROUP BY link, classes)"
    )
    return {"below": below, "smallest": smallest}


def _gone_of(places: Sequence[int]) -> str:
    """SQL: who is gone from earlier releases that know each other's people, with all classes of each."""
    rows = " UNION ALL ".join(
        f"SELECT {place} AS entry, high, low, turn, class, size, stay FROM pairs{place} JOIN "
        f"(SELECT class, bool_or(now IS NOT NULL) AS stay FROM pairs{place} WHERE class IS NOT NULL GROUP BY class) "
        "USING (class) WHERE now IS NULL"
        for place in places
    )
    if len(places) == 1:
        return f"SELECT {places[0]} AS link, [class] AS classes, size AS before, stay FROM ({rows})"
    classes = ", ".join(f"max(class) FILTER (entry = {place})" for place in places)
    return (
        f"SELECT {places[0]} AS link, [{classes}] AS classes, min(size) AS before, bool_or(stay) AS stay "
        f"FROM ({rows}) GROUP BY high, low, turn"
    )
