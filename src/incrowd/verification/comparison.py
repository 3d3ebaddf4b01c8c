"""A written release next to its original, column by column. Rows are matched by position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.verification.opening import column, register
from incrowd.verification.request import Expected, Original
from incrowd.verification.shown import CountsComparison, PieceOfCounts
from incrowd.verification.spelling import is_held, is_one_order, is_spelled
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

MACROS = (
    # text that a spreadsheet would take for a formula is written with an apostrophe before it
    """is_formula(t) AS (t[1] IN ('=', '+', '-', '@', chr(9), chr(13)) AND length(t) > 1
        AND TRY_CAST(t AS DOUBLE) IS NULL)""",
    "escaped(t) AS CASE WHEN is_formula(t) THEN chr(39) || t ELSE t END",
    r"plain(t) AS regexp_replace(t, '^''([=+@\t\r-])', '\1')",
    "member(t) AS replace(replace(t, '%', '%25'), '|', '%7C')",
    "day(d) AS datediff('day', DATE '1970-01-01', d)::DOUBLE",
    "number(t) AS coalesce(TRY_CAST(t AS DOUBLE), day(TRY_CAST(t AS DATE)))",
    r"low_end(t) AS number(regexp_extract(t, '^[\[(](.+), (.+)[\])]$', 1))",
    r"high_end(t) AS number(regexp_extract(t, '^[\[(](.+), (.+)[\])]$', 2))",
    """within(x, y, t) AS ((x > low_end(t) OR (x = low_end(t) AND starts_with(t, '[')))
        AND (y < high_end(t) OR (y = high_end(t) AND ends_with(t, ']'))))""",
    # a mean is known only as closely as the numbers it is taken over
    "close_to(x, y, low, high) AS (abs(x - y) <= 1e-9 * greatest(abs(low), abs(high)))",
)
_PAIRS = "released AS r POSITIONAL JOIN original AS o"


@dataclass(frozen=True, eq=False)
class PieceFindings:
    """What one piece of a release shows next to its original.

    ``wrong`` has for each column how many cells do not follow from the original. ``means`` has for each column with
    numbers that are means what this piece adds to them: a PyArrow table with a row for each number; ``counts`` what it
    adds to published counts, ``sets`` which values the rows have that show a set of values, each pair once, ``ends``
    the greatest own number of a column and the greatest at which an interval of it ends; minus infinity for none.
    """

    wrong: Mapping[str, int]
    means: Mapping[str, Any]
    counts: PieceOfCounts | None = None
    sets: Mapping[str, Any] = field(default_factory=dict)
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class CellComparison:
    """Compares the tables ``released`` and ``original``, row i of the one being row i of the other.

    Parameters
    ----------
    connection
        Has the table ``released``, or gets it before each piece is compared.
    escapes
        Whether text that looks like a formula was written with an apostrophe before it.
    pair
        Whether counts come from a table of their own, where values stand alone in a cell.
    """

    def __init__(self, connection: Any, expected: Expected, *, escapes: bool, pair: bool = False) -> None:
        self._connection, self._columns, self._escapes = connection, list(expected.columns), escapes
        known_as = {name: column(i) for i, name in enumerate(expected.columns)}
        self._known_as = known_as
        self._keys = [known_as[name] for name in expected.quasi_identifiers]
        self._shared = {known_as[name] for name in expected.shared_means}
        self._extremes = expected.extremes
        asked_for = expected.columns if expected.may_lose or expected.extremes else expected.hierarchies
        self._cut = {known_as[name] for name in expected.columns if name not in asked_for}
        self._exact_sets = expected.people is None  # where people outside the table count, sets may name their values
        self._ends = {
            known_as[end]: (known_as[low], known_as[high]) for low, high in expected.bounds for end in (low, high)
        }
        self._middles: set[str] = set()
        self._written: dict[str, str] = {}
        self._own_types: dict[str, str] = {}
        for macro in MACROS:
            connection.execute(f"CREATE OR REPLACE TEMP MACRO {macro}")
        self._counted = [known_as[name] for name in expected.counts]
        counts = CountsComparison(connection, self._keys, self._counted, escaped=escapes and pair)
        self._counts = counts if self._counted else None
        named = {known_as[name]: tree for name, tree in expected.hierarchies.items() if tree.kind is Leaves.VALUES}
        for at, hierarchy in named.items():
            self._register_groups(at, hierarchy)
        self._named = set(named)

    def piece(self, original: Original) -> PieceFindings:
        """The table ``released`` next to the rows it came from."""
        register(self._connection, original.table.select(self._columns), "original")
        self._register_claims(original)
        self._middles = {self._known_as[name] for name in original.claims}
        self._written, self._own_types = self._describe("released"), self._describe("original")
        wrong = {name: self._wrong(at) for name, at in self._known_as.items()}
        means = {name: self._sums(at) for name, at in self._known_as.items() if self._shows_means(at)}
        numbers = {at: self._own_number(at) if self._is_number(at) else None for at in self._counted}
        sets = {
            name: self._set_members(at)
            for name, at in self._known_as.items()
            if self._exact_sets and self._form(at) == "values"
        }
        ends = {
            name: self._greatest(at)
            for name, at in self._known_as.items()
            if at in self._cut and self._form(at) == "labels"
        }
        return PieceFindings(wrong, means, self._counts.piece(numbers) if self._counts else None, sets, ends)

    def added(self, pieces: Iterable[PieceFindings]) -> dict[str, int]:
        """How many cells of each column do not follow from the original (for means: how many different ones)."""
        wrong = dict.fromkeys(self._columns, 0)
        sums: dict[str, list[Any]] = {}
        counts: list[PieceOfCounts] = []
        sets: dict[str, list[Any]] = {}
        ends: dict[str, list[tuple[float, float]]] = {}
        for piece in pieces:
            for name, greatest in piece.ends.items():
                ends.setdefault(name, []).append(greatest)
            for name, part in piece.sets.items():
                sets.setdefault(name, []).append(part)
            counts += [piece.counts] if piece.counts else []
            for name, cells in piece.wrong.items():
                wrong[name] += cells
            for name, part in piece.means.items():
                sums.setdefault(name, []).append(part)
        for name, parts in sums.items():
            wrong[name] += self._wrong_means(self._known_as[name], parts)
        for name, parts in sets.items():
            wrong[name] += self._strange_members(parts)
        for name, both in ends.items():
            greatest_own = max(own for own, _ in both)
            wrong[name] += math.isfinite(greatest_own) and greatest_own == max(shown for _, shown in both)
        wrong_counts = self._counts.added(counts) if self._counts else {}
        return {name: cells + wrong_counts.get(self._known_as[name], 0) for name, cells in wrong.items()}

    def _register_claims(self, original: Original) -> None:
        import pyarrow as pa

        ends: dict[str, Any] = {}
        for name, (low, high) in original.claims.items():
            ends |= {f"{self._known_as[name]}_low": low, f"{self._known_as[name]}_high": high}
        if ends:
            self._connection.register("claimed", pa.table(ends))

    def _register_groups(self, at: str, hierarchy: Hierarchy) -> None:
        """The table of all groups of a hierarchy, named as they are written, and the values below them."""
        import pyarrow as pa

        pairs = list(groups_and_values(hierarchy))
        self._connection.register(
            "hierarchy", pa.table({"name": [group for group, _ in pairs], "value": [value for _, value in pairs]})
        )
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE groups_{at} AS SELECT {self._as_written('name')} AS name, value "
            "FROM hierarchy"
        )

    def _wrong(self, at: str) -> int:
        """How many cells of a column do not follow from the original; means and counts are dealt with elsewhere."""
        match self._form(at):
            case "own":
                return self._ask(f"SELECT count(*) FROM {_PAIRS} WHERE {self._differs(at)}")
            case "counts":
                return 0
            case "ends":
                return self._wrong_ends(*self._ends[at])
            case "middles":
                return self._wrong_middles(at)
            case "values":
                return self._wrong_values(at)
            case "labels":
                return self._wrong_labels(at)
            case _:
                return self._ask(
                    f"SELECT count(*) FROM released AS r WHERE r.{at} IS NOT NULL AND number(r.{at}::VARCHAR) IS NULL"
                )

    def _form(self, at: str) -> str:
        """What the cells of a column are.

        Those of a quasi-identifier are values, sets of values or names of groups; labels, that is intervals and sets of
        them, or numbers as text; or numbers.
        """
        if at not in self._keys:
            return "own"
        for form, places in (("counts", self._counted), ("ends", self._ends), ("middles", self._middles)):
            if at in places:
                return form
        is_text = self._written[at] == "VARCHAR"
        if not self._is_number(at) or (is_text and at in self._named):
            return "values"
        return "labels" if is_text else "numbers"

    def _greatest(self, at: str) -> tuple[float, float]:
        """The greatest own number, and the greatest end of an interval: it should have somebody beyond it."""
        none = "'-inf'::DOUBLE"
        [(own, shown)] = self._connection.execute(
            f"SELECT (SELECT coalesce(max({self._own_number(at)}), {none}) FROM original AS o), "
            f"(SELECT coalesce(max(high_end(t)), {none}) FROM "
            f"(SELECT unnest(string_split(shown, '|')) AS t FROM labels_{at}) WHERE isfinite(high_end(t)))"
        ).fetchall()
        return own, shown

    def _shows_means(self, at: str) -> bool:
        """Whether some cells of a numeric quasi-identifier are to be the mean of the rows they speak for."""
        form = self._form(at)
        if form == "labels":
            return self._ask(f"SELECT count(number(shown)) FROM labels_{at}") > 0
        return form == "numbers"

    def _ask(self, query: str) -> int:
        [(number,)] = self._connection.execute(query).fetchall()
        return int(number)

    def _describe(self, table: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self._connection.execute(f"DESCRIBE {table}").fetchall()}

    def _is_number(self, at: str) -> bool:
        return self._own_types[at] not in ("VARCHAR", "BOOLEAN")

    def _own_number(self, at: str) -> str:
        return f"day(o.{at})" if self._own_types[at] == "DATE" else f"o.{at}::DOUBLE"

    def _as_written(self, own: str) -> str:
        """SQL: how a value alone in a cell is written."""
        return f"escaped({own})" if self._escapes else own

    def _differs(self, at: str) -> str:
        """The untouched column is not what it was; a text side is read in the type of the other side.

        A number that is none may have become a missing one, which it means.
        """
        here, there = f"r.{at}", f"o.{at}"
        written, own = self._written[at], self._own_types[at]
        if own in ("FLOAT", "DOUBLE"):
            there = f"CASE WHEN {here} IS NOT NULL OR NOT isnan({there}) THEN {there} END"
        if written == own == "VARCHAR":
            return f"{here} IS DISTINCT FROM {self._as_written(there)}"
        only_one = f"({here} IS NULL) <> ({there} IS NULL)"
        if written == "VARCHAR":
            only_one += f" OR NOT coalesce({is_spelled(here, own)}, true)"
            here = f"TRY_CAST({here} AS {own})"
        elif own == "VARCHAR":
            there = f"CASE WHEN {is_held(there, written)} THEN TRY_CAST({there} AS {written}) END"
        elif written != own:
            there = f"CASE WHEN TRY_CAST(TRY_CAST({there} AS {written}) AS {own}) = {there} THEN {there} END"
        return f"{only_one} OR {here} IS DISTINCT FROM {there}"

    def _wrong_values(self, at: str) -> int:
        """Cells that show a value or a set of values without the row's own; most show the own value itself."""
        same, one_of = f"shown = {self._as_written('own')}", "list_contains(string_split(shown, '|'), member(own))"
        if self._escapes:
            one_of = f"({one_of} OR list_contains(string_split(plain(shown), '|'), member(own)))"
        if at in self._named:
            above = f"SELECT 1 FROM groups_{at} AS g WHERE g.name = shown AND"
            same += f" OR EXISTS ({above} g.value = own) OR EXISTS ({above} number(g.value) = number(own))"
            same += " OR number(shown) = number(own)" if self._is_number(at) else ""
        return self._ask(
            f"WITH pairs AS (SELECT r.{at}::VARCHAR AS shown, o.{at}::VARCHAR AS own, count(*) AS cells "
            f"FROM {_PAIRS} WHERE r.{at} IS NOT NULL AND shown IS DISTINCT FROM own GROUP BY ALL) "
            "SELECT coalesce(sum(cells), 0) FROM pairs "
            f"WHERE ({same} OR (contains(shown, '|') AND {one_of})) IS NOT TRUE"
        )

    def _set_members(self, at: str) -> Any:
        """The sets that are shown, as they are written, each with the values that its rows have."""
        named = f"AND r.{at}::VARCHAR NOT IN (SELECT name FROM groups_{at})" if at in self._named else ""
        return self._connection.sql(
            f"SELECT DISTINCT r.{at}::VARCHAR AS shown, o.{at}::VARCHAR AS own FROM {_PAIRS} "
            f"WHERE contains(r.{at}::VARCHAR, '|') {named}"
        ).to_arrow_table()

    def _strange_members(self, parts: Sequence[Any]) -> int:
        """Members of sets that none of the rows has that show the set; a value that reads like a set is none.

        Where the members of all sets do not stand in one order, each once, that counts as one more. An apostrophe
        before the first member may be its own, or there because the member looks like a formula.
        """
        import pyarrow as pa

        self._connection.register("members", pa.concat_tables(parts, promote_options="permissive"))
        is_value = f"coalesce({self._as_written('own')} = shown, false)"
        sets = f"SELECT shown FROM members GROUP BY shown HAVING NOT bool_or({is_value})"
        first, had = "1", "SELECT shown, member(own) AS one FROM members"
        if self._escapes:
            first = "1 + (plain(shown) <> shown)::INT"
            had += " UNION SELECT shown, chr(39) || member(own) AS one FROM members WHERE starts_with(shown, one)"
        neighbours = self._connection.execute(
            f"WITH sets AS (SELECT string_split(shown, '|')[{first}:] AS named FROM ({sets})) "
            "FROM (SELECT unnest(named[:-2]) AS before, unnest(named[2:]) AS after FROM sets) GROUP BY before, after"
        ).fetchall()
        strange = self._ask(
            f"WITH sets AS ({sets}), named AS (SELECT shown, unnest(string_split(shown, '|')) AS one FROM sets), "
            f"had AS ({had}) SELECT count(*) FROM (FROM named EXCEPT FROM had)"
        )
        return strange + (not is_one_order(neighbours))

    def _wrong_ends(self, low: str, high: str) -> int:
        """Rows whose number does not lie between the two ends; of a single value both ends are the value."""
        own = self._own_number(low)
        least, most = (f"number(r.{at}::VARCHAR)" for at in (low, high))
        inside = f"coalesce({own} > {least}, true) AND coalesce({own} <= {most}, true)"
        return self._ask(
            f"SELECT count(*) FROM {_PAIRS} WHERE ({least} IS NOT NULL OR {most} IS NOT NULL) AND "
            f"({own} IS NOT NULL AND (({inside}) OR ({own} = {least} AND {own} = {most}))) IS NOT TRUE"
        )

    def _wrong_middles(self, at: str) -> int:
        """Numbers that are not the middle of the interval their row claims, or claims that are not true of the row."""
        shown, own = f"number(r.{at}::VARCHAR)", self._own_number(at)
        low, high = f"c.{at}_low", f"c.{at}_high"
        middle = f"{low} / 2 + {high} / 2"
        right, least = f"close_to({middle}, {shown}, {low}, {high})", low
        if self._own_types[at] == "DATE":
            right, least = f"floor({middle}) = {shown}", f"floor({low})"
        inside = f"{shown} >= {least} AND {shown} <= {high}"
        right = f"CASE WHEN isinf({low}) OR isinf({high}) THEN {inside} ELSE {right} END"
        true = f"{own} > {low} AND {own} <= {high} AND {right}"
        return self._ask(
            f"SELECT count(*) FROM {_PAIRS} POSITIONAL JOIN claimed AS c "
            f"WHERE r.{at} IS NOT NULL AND {shown} IS DISTINCT FROM {own} AND ({true}) IS NOT TRUE"
        )

    def _wrong_labels(self, at: str) -> int:
        """Numbers written as text: intervals and sets of intervals that are not around the own number."""
        shown, own = f"r.{at}", self._own_number(at)
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE labels_{at} AS SELECT {shown} AS shown, min({own}) AS low, "
            f"max({own}) AS high, bool_and({own} IS NOT NULL) AS whole FROM {_PAIRS} GROUP BY ALL"
        )
        true = "whole AND within(low, high, shown)" + ("" if self._extremes else " AND NOT starts_with(shown, '[')")
        wrong = self._ask(
            f"SELECT count(*) FROM labels_{at} WHERE number(shown) IS NULL AND NOT contains(shown, '|') "
            f"AND ({true}) IS NOT TRUE"
        )
        inside = "len(list_filter(string_split(shown, '|'), lambda t: within(own, own, t))) > 0"
        others = "len(list_filter(string_split(shown, '|'), lambda t: (low_end(t) < high_end(t)) IS NOT TRUE))"
        lows = "list_transform(string_split(shown, '|'), lambda t: low_end(t))"
        ordered = f"{lows} = list_sort({lows}) AND len(list_distinct({lows})) = len({lows})"
        return wrong + self._ask(
            f"WITH pairs AS (SELECT {shown} AS shown, {own} AS own, count(*) AS cells FROM {_PAIRS} "
            f"WHERE contains({shown}, '|') GROUP BY ALL) SELECT coalesce(sum(cells), 0) FROM pairs "
            f"WHERE ({inside} AND {others} = 0 AND {ordered}) IS NOT TRUE"
        )

    def _sums(self, at: str) -> Any:
        """For each number that is shown: the sum, the ends and the count of the rows it speaks for."""
        own, number = self._own_number(at), f"number(r.{at}::VARCHAR)"
        keys = ", ".join(f"r.{key}" for key in self._keys)
        return self._connection.sql(
            f"SELECT {keys}, any_value({number}) AS shown, fsum({own}) AS total, count({own}) AS rows, "
            f"min({own}) AS low, max({own}) AS high, bool_and({own} IS NOT NULL) AS whole, "
            f"{self._own_types[at] == 'DATE'} AS days FROM {_PAIRS} WHERE {number} IS NOT NULL GROUP BY {keys}"
        ).to_arrow_table()

    def _wrong_means(self, at: str, parts: Sequence[Any]) -> int:
        """Numbers that are not the mean of the rows they speak for: those of a class, or all that show the number."""
        import pyarrow as pa

        self._connection.register("sums", pa.concat_tables(parts, promote_options="permissive"))
        if at in self._shared:
            return self._not_means([at], "AND coalesce(below < low, true)")
        return self._not_means(self._keys, "")

    def _not_means(self, keys: Sequence[str], apart: str) -> int:
        right = "CASE WHEN days THEN floor(mean) = shown ELSE close_to(mean, shown, low, high) END"
        return self._ask(
            "WITH means AS (SELECT any_value(shown) AS shown, fsum(total) / sum(rows) AS mean, min(low) AS low, "
            "max(high) AS high, bool_and(whole) AS whole, any_value(days) AS days "
            f"FROM sums GROUP BY {', '.join(keys)}), "
            "neighbours AS (SELECT *, lag(high) OVER (ORDER BY low) AS below FROM means) "
            f"SELECT count(*) FROM neighbours WHERE (whole AND {right} {apart}) IS NOT TRUE"
        )


def groups_and_values(hierarchy: Hierarchy) -> Iterator[tuple[str, str]]:
    """Every group of a hierarchy, with each value below it.

    Examples
    --------
    >>> list(groups_and_values(Hierarchy("job", ("*", "care", "nurse", "cook"), (-1, 0, 1, 0))))
    [('nurse', 'nurse'), ('care', 'nurse'), ('*', 'nurse'), ('cook', 'cook'), ('*', 'cook')]
    """
    inner = set(hierarchy.parents)
    for leaf, label in enumerate(hierarchy.labels):
        node = leaf
        while leaf not in inner and node >= 0:
            yield hierarchy.labels[node], label
            node = hierarchy.parents[node]
