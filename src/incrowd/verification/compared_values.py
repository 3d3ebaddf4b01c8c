"""Values, sets of values and names of groups next to the own values of rows: each different pair is judged once.

One spelling for each value of a column that is released unchanged: a second one could tell something.

Numbers, dates and truth values that come from a typed file are written to text in one way; text that becomes numbers
must be all there is in the number.

Nor may the order of values in a set tell the order of rows.

Numbers next to the own numbers of their rows: intervals and sets of them pair by pair, means class by class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, add_to, ask, evaluated, taken, tally_pairs
from incrowd.verification.opening import column, text
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

_WHOLE = r"-?(0|[1-9][0-9]*)"
_REAL = r"NaN|-?(inf|(0|[1-9][0-9]*)\.(0|[0-9]*[1-9])|[1-9](\.[0-9]*[1-9])?e[+-]?[1-9][0-9]*)"
_SHAPES = {
    "FLOAT": _REAL,
    "DOUBLE": _REAL,
    "BOOLEAN": "true|false",
    "DATE": r"-?[0-9]{4,}-[0-9]{2}-[0-9]{2}(T00:00:00\.0+)?",
}
_DIGITS = 17  # a 64-bit number is told apart from all others by so many


def is_spelled(cell: str, kind: str) -> str:
    """SQL: whether a cell of text writes a value of the type in the one way that values of it are written.

    Examples
    --------
    >>> is_spelled("t", "BOOLEAN")
    "regexp_full_match(t, 'true|false')"
    """
    shape = _WHOLE if kind.endswith(("INT", "INTEGER")) else _SHAPES.get(kind)
    if decimal := re.fullmatch(r"DECIMAL\([0-9]+,([0-9]+)\)", kind):
        places = int(decimal[1])
        shape = _WHOLE + (rf"\.[0-9]{{{places}}}" if places else "")
    return "true" if shape is None else f"regexp_full_match({cell}, {text(shape)})"


def is_held(cell: str, kind: str) -> str:
    """SQL: whether a number of the type holds all that a cell of text says."""
    if kind == "BIGINT":
        return f"regexp_full_match({cell}, '[+-]?(0|[1-9][0-9]*)')"
    if kind != "DOUBLE":
        return "true"
    digits = rf"ltrim(regexp_replace(regexp_replace({cell}, '[eE].*$', ''), '[^0-9]', '', 'g'), '0')"
    finite = f"(isfinite(TRY_CAST({cell} AS DOUBLE)) OR regexp_matches({cell}, '^[+-]?[iInN]'))"
    return f"({finite} AND (length({cell}) <= {_DIGITS} OR length({digits}) <= {_DIGITS}))"


def is_one_order(neighbours: Iterable[tuple[str, str]]) -> bool:
    """Whether one order of all values fits: in no set does a value come first that comes later in another, or again.

    ``neighbours`` are values that stand beside each other in some set, the first one first.

    Examples
    --------
    >>> is_one_order([("baker", "cook"), ("cook", "nurse")]), is_one_order([("baker", "cook"), ("cook", "baker")])
    (True, False)
    """
    earlier: dict[str, set[str]] = {}
    for before, after in neighbours:
        earlier.setdefault(after, set()).add(before)
    try:
        TopologicalSorter(earlier).prepare()
    except CycleError:
        return False
    return True


class ValueComparison:
    """Compares texts that show one of the own values of a column, several, or a group of its hierarchy.

    Parameters
    ----------
    connection
        Knows the macros of :mod:`incrowd.verification.comparison`.
    columns
        The released columns, in order.
    hierarchies
        Those of columns that may show the name of a group.
    escapes
        Whether text that looks like a formula was written with an apostrophe before it.
    """

    def __init__(
        self, connection: Any, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy], *, escapes: bool
    ) -> None:
        self._connection, self._columns, self._escapes = connection, list(columns), escapes
        self._place = {name: place for place, name in enumerate(columns)}
        trees = {name: tree for name, tree in hierarchies.items() if tree.kind is Leaves.VALUES}
        self._named = {name: self._place[name] for name in trees}
        self._register_groups(trees)

    @property
    def named(self) -> Collection[str]:
        """The columns that may show the name of a group."""
        return self._named

    def _as_written(self, own: str) -> str:
        """SQL: how a value alone in a cell is written."""
        return f"escaped({own})" if self._escapes else own

    def _register_groups(self, trees: Mapping[str, Hierarchy]) -> None:
        """The table of all groups of hierarchies, named as they are written, and the values below them."""
        import pyarrow as pa

        if not trees:
            return
        rows = [(self._place[name], *pair) for name, tree in trees.items() for pair in groups_and_values(tree)]
        columns = dict(zip(("place", "name", "value"), map(list, zip(*rows, strict=True)), strict=True))
        self._connection.register("hierarchy", pa.table(columns))
        self._connection.execute(
            f"CREATE OR REPLACE TEMP TABLE groups AS SELECT place, {self._as_written('name')} AS name, value "
            "FROM hierarchy"
        )

    def register(self, columns: Mapping[str, tuple[CodedCells, CodedCells]]) -> None:
        """The table ``texts``: every pair of a cell and an own value of a row, and how many cells it is."""
        import pyarrow as pa

        tables = []
        for name, (cells, own) in columns.items():
            shown, values, rows = tally_pairs(cells, own)
            words = (
                own.words
                if pa.types.is_string(own.words.type)
                else evaluated(self._connection, own.words, "t::VARCHAR")
            )
            both = {"shown": taken(cells.words, shown), "own": taken(words.cast(pa.string()), values)}
            tables.append(pa.table({"place": np.full(len(rows), self._place[name]), **both, "cells": rows}))
        self._connection.register("texts", pa.concat_tables(tables))

    def wrong(self, numbers: Collection[str]) -> dict[str, int]:
        """Cells that show a value or a set of values without the row's own; most show the own value itself."""
        same, one_of = f"shown = {self._as_written('own')}", "list_contains(string_split(shown, '|'), member(own))"
        if self._escapes:
            one_of = f"({one_of} OR list_contains(string_split(plain(shown), '|'), member(own)))"
        if self._named:
            above = "SELECT 1 FROM groups AS g WHERE g.place = texts.place AND g.name = shown AND"
            same += f" OR EXISTS ({above} g.value = own) OR EXISTS ({above} number(g.value) = number(own))"
            places = [str(place) for name, place in self._named.items() if name in numbers]
            same += f" OR (place IN ({', '.join(places)}) AND number(shown) = number(own))" if places else ""
        rows = ask(
            self._connection,
            "SELECT place, sum(cells)::BIGINT FROM texts WHERE shown IS NOT NULL AND shown IS DISTINCT FROM own "
            f"AND ({same} OR (contains(shown, '|') AND {one_of})) IS NOT TRUE GROUP BY place",
        )
        return {self._columns[place]: cells for place, cells in rows}

    def members(self) -> Any:
        """The sets that are shown, as they are written, each with the values that its rows have."""
        named = "AND (place, shown) NOT IN (SELECT (place, name) FROM groups)" if self._named else ""
        query = f"SELECT place, shown, own FROM texts WHERE contains(shown, '|') {named}"
        return self._connection.sql(query).to_arrow_table()

    def strange_members(self, parts: Sequence[Any]) -> dict[str, int]:
        """Members of sets that none of the rows has that show the set; a value that reads like a set is none.

        Where the members of all sets of a column do not stand in one order, each once, that counts as one more. An
        apostrophe before the first member may be its own, or there because the member looks like a formula.
        """
        import pyarrow as pa

        members = pa.concat_tables(parts, promote_options="permissive")
        if not members.num_rows:
            return {}
        self._connection.register("members", members)
        is_value = f"coalesce({self._as_written('own')} = shown, false)"
        sets = f"SELECT place, shown FROM members GROUP BY place, shown HAVING NOT bool_or({is_value})"
        first, had = "1", "SELECT place, shown, member(own) AS one FROM members"
        if self._escapes:
            first = "1 + (plain(shown) <> shown)::INT"
            had += (
                " UNION SELECT place, shown, chr(39) || member(own) AS one FROM members WHERE starts_with(shown, one)"
            )
        neighbours: dict[int, list[tuple[str, str]]] = {}
        for place, *both in ask(
            self._connection,
            f"WITH sets AS (SELECT place, string_split(shown, '|')[{first}:] AS named FROM ({sets})) "
            "SELECT DISTINCT place, unnest(named[:-2]) AS before, unnest(named[2:]) AS after FROM sets",
        ):
            neighbours.setdefault(place, []).append((both[0], both[1]))
        strange = ask(
            self._connection,
            f"WITH sets AS ({sets}), "
            "named AS (SELECT place, shown, unnest(string_split(shown, '|')) AS one FROM sets), "
            f"had AS ({had}) SELECT place, count(*) FROM (FROM named EXCEPT FROM had) GROUP BY place",
        )
        wrong = {self._columns[place]: number for place, number in strange}
        add_to(wrong, {self._columns[place]: not is_one_order(pairs) for place, pairs in neighbours.items()})
        return wrong


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


ROWS = "released AS r POSITIONAL JOIN original AS o"
"""SQL: each released row beside its original."""


def own_number(cell: str, kind: str) -> str:
    """SQL: an own value of a type of DuckDB as a number, a date as its day."""
    return f"day({cell})" if kind == "DATE" else f"{cell}::DOUBLE"


class NumberComparison:
    """Compares intervals, sets of intervals and means.

    Parameters
    ----------
    connection
        Knows the macros of :mod:`incrowd.verification.comparison`.
    columns, quasi_identifiers
        The released columns, in order, and those in which rows of a class are equal.
    shared_means
        Columns whose numbers are means over all rows that show the number, not over one class.
    extremes
        Whether intervals may include both of their ends.
    kinds
        The types that DuckDB gives the own values; the caller keeps them up to date.
    """

    def __init__(
        self,
        connection: Any,
        columns: Sequence[str],
        quasi_identifiers: Sequence[str],
        *,
        shared_means: Collection[str],
        extremes: bool,
        kinds: Mapping[str, str],
    ) -> None:
        self._connection, self._columns, self._kinds = connection, list(columns), kinds
        self._place = {name: place for place, name in enumerate(columns)}
        self._keys = [self._at(name) for name in quasi_identifiers]
        self._shared, self._extremes = set(shared_means), extremes

    def _at(self, name: str) -> str:
        return column(self._place[name])

    def register(self, columns: Mapping[str, tuple[CodedCells, CodedCells]]) -> None:
        """The tables ``labels`` of different cells and ``numbers`` of the own values beside them, with their rows."""
        import pyarrow as pa

        labels, numbers, first = [], [], 0
        for name, (cells, own) in columns.items():
            shown, values, rows = tally_pairs(cells, own)
            place = np.full(len(cells.words) + 1, self._place[name])
            texts = taken(cells.words, np.arange(len(place)))
            labels.append(pa.table({"label": first + np.arange(len(place)), "place": place, "shown": texts}))
            number = taken(self._as_numbers(own.words, name), values)
            numbers.append(pa.table({"label": first + shown, "own": number, "cells": rows}))
            first += len(place)
        self._connection.register("labels", pa.concat_tables(labels))
        self._connection.register("numbers", pa.concat_tables(numbers))

    def _as_numbers(self, words: Any, name: str) -> Any:
        import pyarrow as pa

        if pa.types.is_integer(words.type) or pa.types.is_floating(words.type):
            return words.cast(pa.float64(), safe=False)
        return evaluated(self._connection, words, own_number("t", self._kinds[name]))

    def judged(self) -> Iterator[tuple[str, int, tuple[float, float], bool]]:
        """For each column: wrong cells, or labels of one interval; its greatest own number and end; if it has means.

        Numbers written as text are means. Every end is read once, every label is put together once.
        """
        one = "true" if self._extremes else "NOT starts_with(shown, '[')"
        several = "len(parts) > 1"
        sound = "len(list_filter(parts, lambda p: (p.low < p.high) IS NOT TRUE)) = 0"
        lows = "list_transform(parts, lambda p: p.low)"
        ordered = f"{lows} = list_sort({lows}) AND len(list_distinct({lows})) = len(parts)"
        inside = (
            "len(list_filter(parts, lambda p: (own > p.low OR (own = p.low AND p.with_low)) "
            "AND (own < p.high OR (own = p.high AND p.with_high)))) > 0"
        )
        none = "'-inf'::DOUBLE"
        rows = ask(
            self._connection,
            "WITH split AS (SELECT label, unnest(string_split(shown, '|')) AS t, "
            "generate_subscripts(string_split(shown, '|'), 1) AS nth FROM labels), "
            "ends AS MATERIALIZED (SELECT t, low_end(t) AS low, high_end(t) AS high, starts_with(t, '[') AS with_low, "
            "ends_with(t, ']') AS with_high FROM (SELECT DISTINCT t FROM split)), "
            "read AS (SELECT label, list({'low': low, 'high': high, 'with_low': with_low, 'with_high': with_high} "
            "ORDER BY nth) AS parts, max(high) FILTER (isfinite(high)) AS most FROM split JOIN ends USING (t) "
            "GROUP BY label), "
            f"judged AS (SELECT label, place, number(shown) IS NOT NULL AS mean, {several} AS several, "
            f"CASE WHEN {several} THEN {sound} AND {ordered} ELSE {one} END AS sound, parts, most "
            "FROM labels LEFT JOIN read USING (label)), "
            f"paired AS (SELECT label, place, mean, several, most, own, cells, parts IS NULL OR mean OR "
            f"coalesce(own IS NOT NULL AND sound AND {inside}, false) AS fits FROM numbers JOIN judged USING (label)), "
            "told AS (SELECT place, label, any_value(mean) AS mean, max(most) AS most, max(own) AS own, "
            "CASE WHEN any_value(several) THEN sum(cells) FILTER (NOT fits) ELSE (NOT bool_and(fits))::INT END "
            "AS wrong "
            "FROM paired GROUP BY place, label) "
            f"SELECT place, coalesce(sum(wrong), 0)::BIGINT, coalesce(max(own), {none}), coalesce(max(most), {none}), "
            "coalesce(bool_or(mean), false) FROM told GROUP BY place",
        )
        for place, wrong, own, most, mean in rows:
            yield self._columns[place], wrong, (own, most), mean

    def sums(self, names: Sequence[str]) -> Any:
        """For each class and each number that it shows: the sum, the ends and the count of the rows it speaks for."""
        keys, sums = ", ".join(f"r.{key}" for key in self._keys), []
        for name in names:
            at = self._at(name)
            own = own_number(f"o.{at}", self._kinds[name])
            sums.append(
                f"any_value(number(r.{at}::VARCHAR)) AS {at}_shown, fsum({own}) AS {at}_total, "
                f"count({own}) AS {at}_rows, min({own}) AS {at}_low, max({own}) AS {at}_high, "
                f"bool_and({own} IS NOT NULL) AS {at}_whole, {self._kinds[name] == 'DATE'} AS {at}_days"
            )
        return self._connection.sql(f"SELECT {keys}, {', '.join(sums)} FROM {ROWS} GROUP BY {keys}").to_arrow_table()

    def wrong_means(self, parts: Sequence[Any]) -> dict[str, int]:
        """Numbers that are not the mean of the rows they speak for: those of a class, or all that show the number."""
        import pyarrow as pa

        sums = pa.concat_tables(parts, promote_options="permissive")
        self._connection.register("sums", sums)
        summed = set(sums.column_names)  # asked once: PyArrow makes the list anew each time
        names = [name for name in self._columns if f"{self._at(name)}_shown" in summed]
        own = [name for name in names if name not in self._shared]
        wrong = {name: self._not_means([name], [self._at(name)])[name] for name in names if name in self._shared}
        return wrong | (self._not_means(own, self._keys) if own else {})

    def heavy_means(self) -> int:
        """How many numbers are means of rows more than half of which are one person's, by the table ``owned``.

        A number that all its rows have is none.
        """
        heavy, columns = 0, {row[0] for row in ask(self._connection, "DESCRIBE sums")}
        for name in self._columns:
            at = self._at(name)
            if f"{at}_shown" not in columns:
                continue
            keys = [at] if name in self._shared else self._keys
            listed, matched = ", ".join(keys), " AND ".join(f"m.{key} IS NOT DISTINCT FROM h.{key}" for key in keys)
            [(numbers,)] = ask(
                self._connection,
                f"WITH m AS (SELECT {listed} FROM sums GROUP BY {listed} HAVING any_value({at}_shown) IS NOT NULL "
                f"AND min({at}_low) < max({at}_high)), h AS (SELECT {listed} FROM (SELECT {listed}, count(*) AS n "
                f"FROM owned GROUP BY {listed}, person) GROUP BY {listed} HAVING 2 * max(n) > sum(n)) "
                f"SELECT count(*) FROM m JOIN h ON {matched}",
            )
            heavy += int(numbers)
        return heavy

    def _not_means(self, names: Sequence[str], keys: Sequence[str]) -> dict[str, int]:
        """How many numbers are no means; those over all rows that show them are over rows of their own, too."""
        merged, counted = [], []
        for name in names:
            at = self._at(name)
            merged.append(
                f"any_value({at}_shown) AS {at}_shown, fsum({at}_total) / sum({at}_rows) AS {at}_mean, "
                f"min({at}_low) AS {at}_low, max({at}_high) AS {at}_high, bool_and({at}_whole) AS {at}_whole, "
                f"any_value({at}_days) AS {at}_days"
            )
            right = (
                f"CASE WHEN {at}_days THEN floor({at}_mean) = {at}_shown "
                f"ELSE close_to({at}_mean, {at}_shown, {at}_low, {at}_high) END"
            )
            right += f" AND coalesce(below < {at}_low, true)" if name in self._shared else ""
            counted.append(f"count(*) FILTER ({at}_shown IS NOT NULL AND ({at}_whole AND {right}) IS NOT TRUE)")
        means = f"SELECT {', '.join(merged)} FROM sums GROUP BY {', '.join(keys)}"
        if names[0] in self._shared:
            [at] = keys
            below = f"lag({at}_high) OVER (ORDER BY {at}_low) AS below"
            means = f"SELECT *, {below} FROM ({means}) WHERE {at}_shown IS NOT NULL"
        [numbers] = ask(self._connection, f"SELECT {', '.join(counted)} FROM ({means})")
        return dict(zip(names, numbers, strict=True))
