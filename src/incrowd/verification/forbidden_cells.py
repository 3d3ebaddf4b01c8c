"""Count released cells that name what few people of the table have, whatever form they have.

A cell names a value, each member of a set or of counts, a bin or an interval, a group of a hierarchy, both ends of a
range, and the number of the table that it equals, if there is one. A name that is true of fewer people than was asked
for is rare, and so is one that is true of nobody.

A release that is to keep HIPAA's Safe Harbor, looked at once more: what has a form of its own must not be in it.

The finder that settled what is dropped and coarsened is not asked. Names, record numbers and the like have no form, and
are known by the names of columns alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.verification.compared_values import groups_and_values
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.input_table import (
    ColumnOrigin,
)
from incrowd.verification.opening import (
    column,
)
from incrowd.verification.request import Expected, Request
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.verdict import Check
from incrowd.vocabulary.column_rules import SMALL_AREAS
from incrowd.vocabulary.hierarchy import Hierarchy

_PAIRS = "released AS r POSITIONAL JOIN original AS o"
_MACROS = (*CELLS, *MEMBERS)


@dataclass(frozen=True, eq=False)
class RareValues:
    """Looks for names of fewer people in the table ``released``.

    Parameters
    ----------
    connection
        Has the tables ``released`` and ``original``, row i of the one being row i of the other, with columns named by
        position; numeric quasi-identifiers of the original are numbers, dates are dates.
    columns, quasi_identifiers
        The released columns in order, and those of them that are transformed.
    people
        How many people a name must be true of.
    everybody
        The table with the own values of all people, those left out of the release too; columns are named as in
        ``original``.
    counts
        Quasi-identifiers written as counts of values.
    bounds
        Pairs of columns that hold the two ends of an interval, the low one excluded.
    hierarchies
        Of columns that may show the name of a group.
    escapes
        Whether text that rare_looks like a formula was written with an apostrophe before it.
    pair
        Whether counts come from a table of their own, where values stand alone in a cell.
    person
        The column of the table with everybody that says whose row it is; without it every row is a person.
    counted
        Whether everybody is counted already, by column: a table for each, with how many people ``n`` have each value.
    """

    connection: Any
    columns: Sequence[str]
    quasi_identifiers: Sequence[str]
    people: int
    everybody: str = "original"
    counts: Collection[str] = ()
    bounds: Sequence[tuple[str, str]] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    escapes: bool = False
    pair: bool = False
    person: str | None = None
    counted: bool = False

    def check(self) -> Check:
        """The check that no cell does."""
        return rare_values_check(self.cells(), self.people)

    def cells(self) -> dict[str, int]:
        """How many cells of each quasi-identifier do; those of the pieces of a release may be added up."""
        for macro in _MACROS:
            self._make(f"MACRO {macro}")
        highs = {high for _, high in self.bounds}
        return {name: self._rare(name) for name in self.quasi_identifiers if name not in highs}

    def _rare(self, name: str) -> int:
        """The cells of one column, or of the two that hold the ends of its intervals."""
        at = self._at(name)
        (kind,) = self.connection.execute(f"SELECT typeof({at}) FROM original LIMIT 1").fetchall()[0]
        number = None if kind in ("VARCHAR", "BOOLEAN") else f"day({at})" if kind == "DATE" else f"{at}::DOUBLE"
        own = number or f"{at}::VARCHAR"
        if self.person is not None:  # who has a value has it once, and nobody else counts
            there = f"{self.everybody} WHERE {self.person} >= 0"
            self._make(f"TABLE rare_facts AS SELECT DISTINCT {own} AS own, {self.person} AS person FROM {there}")
            self._make("TABLE rare_valued AS SELECT own, count(*) AS n FROM rare_facts GROUP BY ALL")
        else:
            counted = (
                f"sum(n) AS n FROM {self.everybody}_{at}" if self.counted else f"count(*) AS n FROM {self.everybody}"
            )
            self._make(f"TABLE rare_valued AS SELECT {own} AS own, {counted} GROUP BY ALL")
        high = dict(self.bounds).get(name)
        if high is not None:
            self._name_ends(at, self._at(high))
        elif name in self.counts:
            self._name_members(at)
        else:
            self._name_values(at)
        named = self._of_numbers() if number else self._of_texts(name in self.counts)
        return self._below(named, self.hierarchies.get(name))

    def _name_values(self, at: str) -> None:
        """A name for each cell that shows a value, a group or an interval, and for each member of a set."""
        shown = f"plain(r.{at}::VARCHAR)" if self.escapes else f"r.{at}::VARCHAR"
        self._make(
            f"TABLE rare_looks AS SELECT row_number() OVER () AS look, * FROM (SELECT {shown} AS shown, "
            f"coalesce(shown = o.{at}::VARCHAR, false) AS alone, count(*) AS cells FROM {_PAIRS} GROUP BY ALL)"
        )
        self._make(
            "TABLE names AS SELECT look, shown AS name FROM rare_looks WHERE alone UNION SELECT look, "
            "replace(replace(unnest(string_split(shown, '|')), '%7C', '|'), '%25', '%') FROM rare_looks WHERE NOT alone"
        )

    def _name_members(self, at: str) -> None:
        """A name for each member of counts; the missing value is one."""
        self._make(
            f"TABLE rare_looks AS SELECT row_number() OVER () AS look, * FROM (SELECT {at}::VARCHAR AS shown, "
            f"count(*) AS cells FROM released WHERE {at} <> '*' GROUP BY ALL)"
        )
        self._make(
            "TABLE names AS SELECT look, name_in(part) AS name FROM "
            "(SELECT look, unnest(string_split(shown, '|')) AS part FROM rare_looks)"
        )

    def _name_ends(self, low: str, high: str) -> None:
        """A name for each pair of ends: an interval, or a number where both are equal."""
        self._make(
            "TABLE rare_looks AS SELECT row_number() OVER () AS look, * FROM (SELECT "
            f"number({low}::VARCHAR) AS low, number({high}::VARCHAR) AS high, count(*) AS cells FROM released "
            "WHERE low IS NOT NULL OR high IS NOT NULL GROUP BY ALL)"
        )
        self._make(
            "TABLE names AS SELECT look, CASE WHEN low = high THEN low::VARCHAR ELSE '(' || coalesce(low::VARCHAR, "
            "'-inf') || ', ' || coalesce(high::VARCHAR, 'inf') || ']' END AS name FROM rare_looks"
        )

    def _of_texts(self, counted: bool) -> str:
        """The people of each name, as SQL."""
        own = "own" if not counted else "member_of(escaped(own))" if self.escapes and self.pair else "member_of(own)"
        return f"SELECT look, name, coalesce(n, 0) AS n FROM names LEFT JOIN rare_valued ON name = {own}"

    def _of_numbers(self) -> str:
        """The same for numbers. One that is nobody's is a mean or a middle, and names nothing."""
        self._make("TABLE numbered AS SELECT own, sum(n) OVER (ORDER BY own NULLS LAST) AS up_to FROM rare_valued")
        self._make(
            "TABLE intervals AS SELECT look, name, low_end(name) AS low, high_end(name) AS high FROM names "
            "WHERE starts_with(name, '(') AND low < high"
        )
        between = (
            "SELECT look, name, coalesce(h.up_to, 0) - coalesce(l.up_to, 0) AS n FROM intervals AS i "
            "ASOF LEFT JOIN numbered AS h ON i.high >= h.own ASOF LEFT JOIN numbered AS l ON i.low >= l.own"
        )
        if self.person is not None:  # somebody may have several numbers of an interval
            between = (
                "SELECT look, name, coalesce(n, 0) AS n FROM intervals LEFT JOIN (SELECT low, high, "
                "count(DISTINCT person) AS n FROM (SELECT DISTINCT low, high FROM intervals) AS i JOIN rare_facts AS f "
                "ON f.own > i.low AND f.own <= i.high GROUP BY low, high) USING (low, high)"
            )
        return (
            "SELECT look, name, n FROM names JOIN rare_valued ON number(name) = own OR (name = '?' AND own IS NULL) "
            f"UNION {between} "
            "UNION SELECT look, name, coalesce(n, 0) FROM (SELECT look, name, "
            "unnest([low_end(name), high_end(name)]) AS edge FROM names WHERE starts_with(name, '[')) "
            "LEFT JOIN rare_valued ON edge = own "
            "UNION SELECT look, name, 0 FROM names WHERE name <> '?' AND number(name) IS NULL "
            "AND NOT starts_with(name, '[') AND (look, name) NOT IN (SELECT (look, name) FROM intervals)"
        )

    def _below(self, named: str, hierarchy: Hierarchy | None) -> int:
        """The cells with a name of too few people; the name of a group is true of all people below it."""
        import pyarrow as pa

        pairs = list(groups_and_values(hierarchy)) if hierarchy is not None else []
        table = {"label": [label for label, _ in pairs], "value": [value for _, value in pairs]}
        self.connection.register("labelled", pa.table(table, pa.schema({"label": pa.string(), "value": pa.string()})))
        counted, valued = ("sum(n)", "rare_valued") if self.person is None else ("count(DISTINCT person)", "rare_facts")
        one = "n" if self.person is None else "person"
        (cells,) = self.connection.execute(
            f"WITH named AS ({named}), "
            f"below AS (SELECT label, {counted} AS people FROM (SELECT DISTINCT label, own, {one} FROM labelled JOIN"
            f" {valued} ON value = own::VARCHAR OR number(value) = TRY_CAST(own AS DOUBLE)) GROUP BY label), "
            "rare AS (SELECT DISTINCT look FROM named LEFT JOIN below ON name = label "
            f"WHERE coalesce(people, n) < {self.people}) "
            "SELECT coalesce(sum(cells), 0) FROM rare JOIN rare_looks USING (look)"
        ).fetchall()[0]
        return int(cells)

    def _at(self, name: str) -> str:
        return column(list(self.columns).index(name))

    def _make(self, what: str) -> None:
        self.connection.execute(f"CREATE OR REPLACE TEMP {what}")


def rare_values_check(cells: Mapping[str, int], people: int) -> Check:
    """The check that no cell names what fewer people have.

    Examples
    --------
    >>> rare_values_check({"job": 0}, 3).passed
    True
    """
    wrong = {name: many for name, many in cells.items() if many}
    rarer = f"{sum(wrong.values()):,} cells of {', '.join(map(repr, wrong))} name rarer ones"
    return Check(f"names only what {people:,} people or more have", not wrong, rarer if wrong else "every cell")


PRESET = "safe-harbor"
OLDEST = 90  # stands for all who are older than 89
_KINDS = {
    "e-mail addresses": r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}",
    "web addresses": r"(https?|ftp)://[^ ]",
    "social security numbers": r"(^|[^0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}($|[^0-9-])",
    "telephone numbers": r"(^|[^0-9.,-])(\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}($|[^0-9])",
    "IP addresses": r"^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$",
}
_DATES = (
    r"(^|[^0-9])(1[6-9]|20|21)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])($|[^0-9])"
    r"|^[0-9]{1,2}[./-][0-9]{1,2}[./-](1[6-9]|20|21)[0-9]{2}$"
)
_ZIP = {"zip", "zipcode", "zip3", "zip5", "postcode", "postal", "plz"}
_AREAS = rf"(^|\|)([0-9]{{4,}}|({'|'.join(sorted(SMALL_AREAS))})($|[:|*Xx]))"


def safe_harbor_check(connection: Any, request: Request, sources: Sequence[ColumnOrigin]) -> Check:
    """No cell of the table ``released`` has one of the kinds, but where the user keeps a column, or its cells."""
    types = [row[1] for row in connection.execute("DESCRIBE released").fetchall()]
    wrong = []
    for place, (source, kind) in enumerate(zip(sources, types, strict=True)):
        for what, predicate in _looked_for(source.column.name, column(place), kind, request):
            [(cells,)] = connection.execute(f"SELECT count(*) FROM released WHERE {predicate}").fetchall()
            wrong += [f"{source.name}: {cells:,} cells with {what}"] if cells else []
    return Check(PRESET, not wrong, "; ".join(wrong) or "no cell has a kind of identifier that has a form of its own")


def _looked_for(name: str, cell: str, kind: str, request: Request) -> Iterator[tuple[str, str]]:
    """What is looked for in a column, and the condition of SQL that finds it."""
    words = set(re.findall(r"[a-z]+[0-9]*", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name).lower()))
    if kind == "VARCHAR" and name not in request.own_roles:
        yield from ((what, f"regexp_matches({cell}, '{form}')") for what, form in _KINDS.items())
    if name in request.own_rules:
        return
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        yield "dates", f"{cell} IS NOT NULL"
    if kind == "VARCHAR":
        yield "dates", f"regexp_matches({cell}, '{_DATES}')"
    if words & {"age", "ages"}:
        yield f"ages above {OLDEST}", f"TRY_CAST({cell}::VARCHAR AS DOUBLE) > {OLDEST}"
    if words & _ZIP:
        yield "ZIP codes of small areas, or of too many digits", f"regexp_matches({cell}::VARCHAR, '{_AREAS}')"


EVERYBODY = "everybody"


def rare_cells(
    connection: Any, request: Request, expected: Expected, everybody: Mapping[str, Any]
) -> Mapping[str, int]:
    """How many cells of each column of the table ``released`` do."""
    for name, rows in everybody.items():
        connection.register(name, rows)
    return RareValues(
        connection,
        expected.columns,
        expected.quasi_identifiers,
        request.rarest,
        EVERYBODY,
        counts=expected.counts,
        bounds=expected.bounds,
        hierarchies=expected.hierarchies,
        escapes=request.form.kind == "csv",
        pair=request.groups is not None,
        person=None if expected.owners is None else column(len(expected.columns)),
        counted=EVERYBODY not in everybody,
    ).cells()
