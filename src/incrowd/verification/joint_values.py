"""Attributes that are counted together: which combinations of their values may be named, counted in the whole input.

Only those that so many people of the table have, those left out among them. The attributes are those that were
announced; of numbers, the bins are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.verification.compared_values import own_number
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.input_table import ColumnOrigin, InputTable, all_rows
from incrowd.verification.limits import PublicBins
from incrowd.verification.opening import column, create_macros, register, text
from incrowd.verification.owners import Owners
from incrowd.verification.request import Drawn, Expected, Request
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.shown import members_sql, shows_sql
from incrowd.verification.verdict import Check

Names = tuple[str, ...]
LARGEST = 3


@dataclass(frozen=True, eq=False)
class JointValues:
    """For the columns of the release that are counted together the combinations that ``people`` people have."""

    named: Mapping[Names, Any]
    people: int

    @classmethod
    def of(
        cls, request: Request, table: InputTable, sources: Sequence[ColumnOrigin], owners: Owners | None
    ) -> JointValues:
        """Counted in the input, one set of columns at a time: k people, or as many as were asked for."""
        people, drawn = max(request.requirement.smallest_group, request.rarest), request.drawn
        if drawn is None or not drawn.joint:
            return cls({}, people)
        create_macros(table.connection, (*CELLS, *MEMBERS))
        by_name = {one.column.name: one for one in sources}
        named = {}
        for names in drawn.joint:
            ones = [by_name[name] for name in names]
            bins = [drawn.bins.get(one.column.name) for one in ones]
            combinations = _named(table, ones, bins, owners, people)
            named[tuple(one.name for one in ones)] = combinations
        return cls(named, people)

    def checks(self, connection: Any, names: Sequence[str]) -> Iterator[Check]:
        """The check that the table ``released``, which has columns of these names, names no other combination."""
        if not self.named:
            return
        rare = total = 0
        for together, combinations in self.named.items():
            ats = tuple(column(list(names).index(name)) for name in together)
            connection.register("named", combinations)
            cells = ", ".join(f"{at}::VARCHAR AS {at}" for at in ats)
            [(many, others)] = connection.execute(
                f"SELECT count(*), count(*) FILTER (member IS NULL OR member NOT IN (SELECT name FROM named)) FROM "
                f"(SELECT DISTINCT name_in(unnest({members_sql(ats)})) AS member FROM "
                f"(SELECT DISTINCT {cells} FROM released) WHERE {shows_sql(ats)})"
            ).fetchall()
            total, rare = total + int(many), rare + int(others)
        finding = f"{total:,} combinations, {rare:,} of fewer people" if rare else f"{total:,} combinations"
        yield Check(f"combinations of {self.people:,} people or more", not rare, finding)


def counted_checks(
    connection: Any, bins: PublicBins | None, together: JointValues, expected: Expected, k: int
) -> Iterator[Check]:
    """The checks of counts by the whole input: every bin is that of k people, and every combination that is named."""
    if bins is not None:
        yield bins.check(expected.columns, expected.drawn.bins if expected.drawn else {}, k)
    yield from together.checks(connection, expected.columns)


def disjoint_check(drawn: Drawn | None, counted: Collection[str]) -> Check:
    """The check that attributes are counted together by twos or threes, and each in one set of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> overlapping = Drawn(2, Path("counts.key"), joint=[("age", "sex"), ("sex", "job")])
    >>> disjoint_check(overlapping, ["age", "sex", "job"]).passed
    False
    """
    joint = drawn.joint if drawn else ()
    all_of_them = [name for together in joint for name in together]
    disjoint = len(set(all_of_them)) == len(all_of_them) and {*all_of_them} <= {*counted}
    sound = disjoint and all(2 <= len(together) <= LARGEST for together in joint)
    return Check("counted together", sound, f"{len(joint):,} sets of two or three" if sound else "sets that overlap")


def _named(
    table: InputTable,
    ones: Sequence[ColumnOrigin],
    bins: Sequence[Sequence[str] | None],
    owners: Owners | None,
    people: int,
) -> Any:
    """The combinations that enough people have, as a PyArrow table with their ``name``."""
    import pyarrow as pa

    connection, rows, kept, source = table.connection, all_rows(table, ones), "0 AS person", "rows_of_all"
    ats = [column(place) for place in range(len(ones))]
    if owners is not None:
        rows = rows.append_column("whose row", pa.array(owners.codes))
        kept, source = "person", f"(SELECT *, {column(len(ones))} AS person FROM rows_of_all WHERE person >= 0)"
    register(connection, rows, "rows_of_all")
    kinds = dict(row[:2] for row in connection.execute("DESCRIBE rows_of_all").fetchall())
    owns = {
        at: f"{at}::VARCHAR" if members is None else own_number(at, kinds[at])
        for at, members in zip(ats, bins, strict=True)
    }
    counted = "sum(n)" if owners is None else "count(DISTINCT person)"
    return connection.sql(
        f"SELECT name FROM ({_combined(kept, source, owns, dict(zip(ats, bins, strict=True)))}) "
        f"WHERE name IS NOT NULL GROUP BY name HAVING {counted} >= {int(people)}"
    ).to_arrow_table()


def _combined(kept: str, source: str, owns: Mapping[str, str], bins: Mapping[str, Sequence[str] | None]) -> str:
    """SQL: how many rows ``n`` have which combination of members, by what else is ``kept`` of them.

    ``owns`` says for each column how its own value is written, numbers as numbers; ``bins`` has the names of the bins
    of a number, None for text. A combination has the names of its members with bars between them, and none if a number
    lies in none of the bins.
    """
    own = ", ".join(f"{value} AS own_{at}" for at, value in owns.items())
    parts = [f"own AS (SELECT {kept}, {own}, count(*) AS n FROM {source} GROUP BY ALL)"]
    joins, names = "", list[str]()
    for at in owns:
        told, name = bins[at], f"member_of(own_{at})"
        if told is not None:
            members = ", ".join(f"({text(one)})" for one in told)
            parts.append(
                f"bins_{at} AS (SELECT own_{at}, member FROM (SELECT DISTINCT own_{at} FROM own) JOIN "
                f"(VALUES {members}) AS b(member) ON own_{at} > low_end(member) AND own_{at} <= high_end(member))"
            )
            joins += f" LEFT JOIN bins_{at} USING (own_{at})"
            name = f"CASE WHEN own_{at} IS NULL THEN '?' ELSE bins_{at}.member END"
        names.append(name)
    name = " || '|' || ".join(names)
    return f"WITH {', '.join(parts)} SELECT {kept}, {name} AS name, sum(n)::BIGINT AS n FROM own{joins} GROUP BY ALL"
