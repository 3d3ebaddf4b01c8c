"""Opening a release of two tables, rows and groups, as the one table of counts that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.opening import column, create_macros, open_table, text
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.verdict import Check
from incrowd.vocabulary.forms import FileForm

_GROUP_COLUMNS = ["attribute", "value", "count"]


def open_pair(
    connection: Any, rows: Path, groups: Path, form: FileForm, columns: Sequence[str], counted: Sequence[str]
) -> tuple[list[str], Check]:
    """Register the table ``released`` with the columns of a release of counts; the names of its columns, and a check.

    The check is that both tables number the same groups, and that groups with different numbers tell different things:
    then the classes of the joined table are the groups. The names are those that were found if they are not as asked.
    """
    beside = [name for name in columns if name not in counted]
    group_names = open_table(connection, groups, form, copy=True)
    if group_names[1:] != _GROUP_COLUMNS:
        return group_names, Check("groups", False, "the table of groups has other columns")
    connection.execute("CREATE OR REPLACE TEMP TABLE told AS FROM released")
    names = open_table(connection, rows, form, copy=True)
    if names != [group_names[0], *beside]:
        return names, Check("groups", False, "the table of rows has other columns")
    connection.execute("CREATE OR REPLACE TEMP TABLE listed AS FROM released")
    create_macros(connection, (*CELLS, *MEMBERS))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE texts AS SELECT c0 AS number, c1 AS attribute, string_agg(member_of(c2) || ':' "
        "|| c3, '|' ORDER BY rowid) AS text FROM told GROUP BY ALL"
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE released AS {_joined(columns, counted, beside)}")
    return list(columns), _groups_check(connection, columns, counted)


def _joined(columns: Sequence[str], counted: Sequence[str], beside: Sequence[str]) -> str:
    """The query that gives each row the texts of its group, in the order of the rows."""
    cells, joins = [], []
    for place, name in enumerate(columns):
        if name in counted:
            joins.append(f"LEFT JOIN texts AS t{place} ON t{place}.number = r.c0 AND t{place}.attribute = {text(name)}")
            cells.append(f"coalesce(t{place}.text, '*') AS {column(place)}")
        else:
            cells.append(f"r.{column(1 + beside.index(name))} AS {column(place)}")
    return f"SELECT {', '.join(cells)} FROM listed AS r {' '.join(joins)} ORDER BY r.rowid"


def _groups_check(connection: Any, columns: Sequence[str], counted: Sequence[str]) -> Check:
    keys = ", ".join(column(list(columns).index(name)) for name in counted)
    attributes = ", ".join(text(name) for name in counted)
    groups, unnumbered, looks, alone, foreign = connection.execute(
        "SELECT (SELECT count(DISTINCT c0) FROM listed), (SELECT count(*) FROM listed WHERE c0 IS NULL), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {keys} FROM released)), "
        "(SELECT count(DISTINCT c0) FROM told WHERE c0 NOT IN (SELECT c0 FROM listed WHERE c0 IS NOT NULL)), "
        f"(SELECT count(*) FROM told WHERE c0 IS NULL OR c1 IS NULL OR c1 NOT IN ({attributes}))"
    ).fetchall()[0]
    (back,) = connection.execute(
        f"WITH lines AS (SELECT rowid AS line, (c0::BIGINT, list_position([{attributes}], c1)) AS place FROM told) "
        "SELECT count(*) FROM (SELECT place, lag(place) OVER (ORDER BY line) AS before FROM lines) WHERE place < before"
    ).fetchall()[0]
    if groups == looks and not (alone or foreign or unnumbered or back):
        return Check("groups", True, f"{groups:,} groups, the same in both tables")
    return Check(
        "groups",
        False,
        f"{groups:,} groups of rows tell {looks:,} different things; {alone:,} groups have no row; {foreign:,} lines "
        f"tell of no group or attribute; {unnumbered:,} rows are in no group; {back:,} lines are out of order",
    )
