"""What several releases of one table tell together, recounted.

Two releases in different groups tell more than either: whoever is in one group here and in another there is in both,
and that may be few. So the releases are laid side by side, row by row of the table, as somebody could who links their
rows without a mistake, and the groups that they make together are counted. A row that a release left out shows nothing
there, and that is a value like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.verification.asked import Original
from incrowd.verification.opening import column, connect, open_table
from incrowd.vocabulary.file_form import FileForm

NOW = "now"


@dataclass(frozen=True)
class Joint:
    """The groups that this release and all earlier ones make together.

    Parameters
    ----------
    k
        What the groups are held to.
    rows
        Rows that are in any of the releases.
    smallest
        Rows of the smallest group.
    below
        Rows in groups smaller than k.
    closer
        Rows that this release puts into a smaller group than the earlier ones did, whatever its size.
    broken
        Those of them whose group is smaller than k.
    """

    k: int
    rows: int
    smallest: int
    below: int
    closer: int
    broken: int


@dataclass(frozen=True)
class Pair:
    """The groups that a release makes with one earlier one: the smallest, and whether both have just these groups."""

    smallest: int
    same: bool


def classes_of_rows(path: Path, form: FileForm, columns: Sequence[str], original: Original) -> Any:
    """The class of each row of the table in a written release: a PyArrow array of numbers, null where it was left out.

    Rows are in one class if the release shows the same in these columns; a missing or suppressed cell is a value.
    """
    import pyarrow as pa

    with connect() as connection:
        names = open_table(connection, path, form, copy=True)
        connection.register("origin", pa.table({"place": pa.array(original.origin, pa.int64())}))
        keys = ", ".join(column(names.index(name)) for name in columns)
        found = connection.sql(
            f"SELECT CAST(class AS INTEGER) AS class FROM range({original.rows}) AS every(place) LEFT JOIN "
            f"(SELECT place, dense_rank() OVER (ORDER BY {keys}) AS class FROM released POSITIONAL JOIN origin) "
            "USING (place) ORDER BY place"
        ).to_arrow_table()
    return found["class"].combine_chunks()


def recount_joint(
    now: Any,
    earlier: Sequence[Any],
    k: int,
    *,
    bare: Mapping[str, Any] | None = None,
    bare_before: Collection[str] = (),
) -> Joint:
    """The groups of a release together with earlier ones, each given by the class of every row of the table.

    Parameters
    ----------
    now, earlier
        What :func:`classes_of_rows` found, now and then.
    k
        What the groups are held to.
    bare
        Columns that one of the releases shows as they are, though another takes them for quasi-identifiers: whoever has
        both releases knows them.
    bare_before
        Those of them that an earlier release shows.
    """
    with connect() as connection:
        then, shown = _register(connection, now, earlier, bare or {})
        among, known_before = ", ".join(then), [*then, *(shown[name] for name in bare_before)]
        before = f"CASE WHEN coalesce({among}) IS NULL THEN count(*) OVER () ELSE {_company(known_before)} END"
        rows, smallest, below, closer, broken = connection.execute(
            f"SELECT count(*), min(after), count(*) FILTER (after < {k}), count(*) FILTER (after < before), "
            f"count(*) FILTER (after < before AND after < {k}) FROM (SELECT {before} AS before, "
            f"{_company([NOW, *then, *shown.values()])} AS after FROM classes "
            f"WHERE coalesce({NOW}, {among}) IS NOT NULL)"
        ).fetchone()
    return Joint(k, rows, smallest or 0, below, closer, broken)


def recount_pair(now: Any, then: Any) -> Pair:
    """The groups of a release together with one earlier one."""
    with connect() as connection:
        [other], _ = _register(connection, now, [then], {})
        inside = f"FROM classes WHERE coalesce({NOW}, {other}) IS NOT NULL GROUP BY"
        smallest, both = connection.execute(
            f"SELECT min(size), count(*) FROM (SELECT count(*) AS size {inside} {NOW}, {other})"
        ).fetchone()
        alone = [
            connection.execute(f"SELECT count(*) FROM (SELECT {one} {inside} {one})").fetchone()[0]
            for one in (NOW, other)
        ]
    return Pair(smallest or 0, alone == [both, both])


def _register(
    connection: Any, now: Any, earlier: Sequence[Any], bare: Mapping[str, Any]
) -> tuple[list[str], dict[str, str]]:
    """The table ``classes``, a row for each row of the table; how it calls earlier releases and bare columns."""
    import pyarrow as pa

    then = [column(number) for number in range(len(earlier))]
    shown = {name: f"bare{number}" for number, name in enumerate(bare)}
    values = zip(shown.values(), bare.values(), strict=True)
    connection.register("classes", pa.table({NOW: now, **dict(zip(then, earlier, strict=True)), **dict(values)}))
    return then, shown


def _company(keys: Sequence[str]) -> str:
    """SQL: how many rows have the same keys."""
    return f"count(*) OVER (PARTITION BY {', '.join(keys)})"
