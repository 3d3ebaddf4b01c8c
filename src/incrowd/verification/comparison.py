"""A written release next to its original, column by column. Rows are matched by position."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, Codes, shown_cells, tally_pairs
from incrowd.verification.opening import column, create_macros, register
from incrowd.verification.request import Expected, Original
from incrowd.verification.shown import CountsComparison, Forms, PieceOfCounts, add_forms, count_forms
from incrowd.verification.spelling import is_held, is_one_order, is_spelled
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

MACROS = (
    # text that a spreadsheet would take for a formula is written with an apostrophe before it
    """is_formula(t) AS (ascii(t) IN (9, 13, 43, 45, 61, 64) AND length(t) > 1
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
_SIDES = ((0, "low"), (1, "high"))
_ROWS = "released AS r POSITIONAL JOIN original AS o"


@dataclass(frozen=True, eq=False)
class PieceFindings:
    """What one piece of a release shows next to its original.

    Parameters
    ----------
    wrong
        For each column how many cells do not follow from the original.
    shown, formulas
        For each quasi-identifier how many cells show what; how many cells of all columns are formulas, where that is
        asked.
    sets
        Which values the rows have that show a set of values: a PyArrow table of places of columns, sets and values,
        each once; None where it does not matter.
    ends
        The greatest own number of a column, and the greatest at which an interval of it ends; minus infinity for none.
    means
        What the piece adds to numbers that are means: a PyArrow table with a row for each class; None without any.
    counts
        What it adds to published counts.
    """

    wrong: Mapping[str, int]
    shown: Mapping[str, Mapping[str, int]]
    formulas: int = 0
    sets: Any = None
    ends: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    means: Any = None
    counts: PieceOfCounts | None = None


@dataclass(frozen=True)
class AllFindings:
    """Of a whole release: wrong cells of each column, how many cells of quasi-identifiers show what, and formulas."""

    wrong: Mapping[str, int]
    shown: Forms
    formulas: int = 0


class CellComparison:
    """Compares the tables ``released`` and ``original``, row i of the one being row i of the other.

    What a cell of a quasi-identifier may show is asked once for each different pair of a cell and an own value, of all
    columns in one query; other columns are compared row by row.

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
        self._place = {name: place for place, name in enumerate(expected.columns)}
        self._quasi = list(expected.quasi_identifiers)
        self._keys = [self._at(name) for name in self._quasi]
        self._shared = set(expected.shared_means)
        self._extremes = expected.extremes
        asked_for = expected.columns if expected.may_lose or expected.extremes else expected.hierarchies
        self._cut = {name for name in expected.columns if name not in asked_for}
        self._exact_sets = expected.people is None  # where people outside the table count, sets may name their values
        self._ends = {end: (low, high) for low, high in expected.bounds for end in (low, high)}
        self._counted = list(expected.counts)
        self._middles: set[str] = set()
        self._written: dict[str, str] = {}
        self._own_types: dict[str, str] = {}
        create_macros(connection, MACROS)
        counts = CountsComparison(connection, self._keys, [*map(self._at, self._counted)], escaped=escapes and pair)
        self._counts = counts if self._counted else None
        trees = {name: tree for name, tree in expected.hierarchies.items() if tree.kind is Leaves.VALUES}
        self._named = {name: self._place[name] for name in trees}
        self._register_groups(trees)

    def _at(self, name: str) -> str:
        return column(self._place[name])

    def piece(self, original: Original) -> PieceFindings:
        """The table ``released`` next to the rows it came from."""
        register(self._connection, original.table.select(self._columns), "original")
        self._middles = set(original.claims)
        self._written, self._own_types = self._describe("released"), self._describe("original")
        cells = dict(zip(self._quasi, shown_cells(self._connection, [self._place[n] for n in self._quasi]), strict=True))
        wrong, ends, with_means = dict.fromkeys(self._columns, 0), {}, self._of_form("numbers")
        in_rows, formulas = self._wrong_rows(original)
        wrong |= in_rows
        sets = None
        if values := self._of_form("values"):
            self._register_texts({name: (cells[name], original.table[name]) for name in values})
            wrong |= self._wrong_values()
            sets = self._set_members() if self._exact_sets else None
        if labels := self._of_form("labels"):
            self._register_labels({name: (cells[name], original.table[name]) for name in labels})
            for name, cells_wrong, greatest, shows_means in self._judged_labels():
                wrong[name] = cells_wrong
                ends |= {name: greatest} if name in self._cut else {}
                with_means += [name] if shows_means else []
        return PieceFindings(
            wrong=wrong,
            formulas=formulas + self._formulas(cells.values()),
            shown={name: count_forms(one, name in self._counted) for name, one in cells.items()},
            sets=sets,
            ends=ends,
            means=self._sums(with_means) if with_means else None,
            counts=self._counts.piece(self._counted_numbers()) if self._counts else None,
        )

    def added(self, pieces: Iterable[PieceFindings]) -> AllFindings:
        """What all pieces show; of means it is how many different ones do not follow from the original."""
        parts = list(pieces)
        wrong = {name: sum(piece.wrong[name] for piece in parts) for name in self._columns}
        if means := [piece.means for piece in parts if piece.means is not None]:
            _add_to(wrong, self._wrong_means(means))
        if sets := [piece.sets for piece in parts if piece.sets is not None]:
            _add_to(wrong, self._strange_members(sets))
        for name in {name for piece in parts for name in piece.ends}:
            own, shown = (max(piece.ends[name][side] for piece in parts if name in piece.ends) for side in (0, 1))
            wrong[name] += math.isfinite(own) and own == shown
        if self._counts:
            by_place = self._counts.added([piece.counts for piece in parts if piece.counts])
            _add_to(wrong, {name: by_place[self._at(name)] for name in self._counted})
        forms = add_forms([piece.shown for piece in parts], self._quasi)
        return AllFindings(wrong, forms, sum(piece.formulas for piece in parts))

    def _form(self, name: str) -> str:
        """What the cells of a column are.

        Those of a quasi-identifier are values, sets of values or names of groups; labels, that is intervals and sets of
        them, or numbers as text; or numbers.
        """
        if name not in self._quasi:
            return "own"
        for form, names in (("counts", self._counted), ("ends", self._ends), ("middles", self._middles)):
            if name in names:
                return form
        is_text = self._written[name] == "VARCHAR"
        if not self._is_number(name) or (is_text and name in self._named):
            return "values"
        return "labels" if is_text else "numbers"

    def _of_form(self, form: str) -> list[str]:
        return [name for name in self._columns if self._form(name) == form]

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._connection.execute(query).fetchall()
        return rows

    def _describe(self, table: str) -> dict[str, str]:
        return dict(zip(self._columns, (row[1] for row in self._ask(f"DESCRIBE {table}")), strict=True))

    def _is_number(self, name: str) -> bool:
        return self._own_types[name] not in ("VARCHAR", "BOOLEAN")

    def _number(self, cell: str, name: str) -> str:
        """SQL: an own value as a number, a date as its day."""
        return f"day({cell})" if self._own_types[name] == "DATE" else f"{cell}::DOUBLE"

    def _counted_numbers(self) -> dict[str, str | None]:
        """How the own number of each column with counts is written in SQL, None for text."""
        ats = {name: self._at(name) for name in self._counted}
        return {at: self._number(f"o.{at}", name) if self._is_number(name) else None for name, at in ats.items()}

    def _as_written(self, own: str) -> str:
        """SQL: how a value alone in a cell is written."""
        return f"escaped({own})" if self._escapes else own

    # Row by row: what has to be as it was, and numbers that stand for themselves.

    def _wrong_rows(self, original: Original) -> tuple[dict[str, int], int]:
        """How many cells of the columns that are compared row by row do not follow from the original.

        And how many cells beside quasi-identifiers are formulas.
        """
        import pyarrow as pa

        wrong = {name: self._is_wrong(name) for name in self._columns}
        counted = {name: f"count(*) FILTER ({condition})" for name, condition in wrong.items() if condition}
        others = [self._at(name) for name in self._columns if self._is_text_beside(name)] if self._escapes else ()
        risky = [f"count(*) FILTER (is_formula(r.{at}))" for at in others]
        if not counted:
            return {}, 0
        claimed = ""
        if original.claims:
            sides = {f"{self._at(name)}_{side}": ends[at] for name, ends in original.claims.items() for at, side in _SIDES}
            self._connection.register("claimed", pa.table(sides))
            claimed = " POSITIONAL JOIN claimed AS c"
        [numbers] = self._ask(f"SELECT {', '.join([*counted.values(), *risky])} FROM {_ROWS}{claimed}")
        return dict(zip(counted, numbers, strict=False)), sum(numbers[len(counted) :])

    def _is_text_beside(self, name: str) -> bool:
        return name not in self._quasi and self._written[name] == "VARCHAR"

    def _formulas(self, columns: Iterable[CodedCells]) -> int:
        """How many cells of columns a spreadsheet would take for formulas; each different one is looked at once."""
        import pyarrow as pa

        parts = list(columns)
        if not self._escapes or not parts:
            return 0
        rows = np.concatenate([np.bincount(one.codes, minlength=len(one.words) + 1)[:-1] for one in parts])
        words = pa.chunked_array([one.words for one in parts], pa.string())
        self._connection.register("words", pa.table({"t": words, "n": rows}))
        [(formulas,)] = self._ask("SELECT coalesce(sum(n) FILTER (is_formula(t)), 0)::BIGINT FROM words")
        return int(formulas)

    def _is_wrong(self, name: str) -> str:
        """SQL: whether a cell does not follow from the original; nothing for forms that are judged otherwise."""
        at = self._at(name)
        match self._form(name):
            case "own":
                return self._differs(name, f"r.{at}", f"o.{at}")
            case "ends":
                return self._is_outside(*self._ends[name])
            case "middles":
                return self._is_no_middle(name)
            case "numbers":
                return f"r.{at} IS NOT NULL AND number(r.{at}::VARCHAR) IS NULL"
            case _:
                return ""

    def _differs(self, name: str, here: str, there: str) -> str:
        """The untouched column is not what it was; a text side is read in the type of the other side.

        A number that is none may have become a missing one, which it means.
        """
        written, own = self._written[name], self._own_types[name]
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

    def _is_outside(self, low: str, high: str) -> str:
        """The number of a row does not lie between the two ends; of a single value both ends are the value."""
        own = self._number(f"o.{self._at(low)}", low)
        least, most = (f"number(r.{self._at(name)}::VARCHAR)" for name in (low, high))
        inside = f"coalesce({own} > {least}, true) AND coalesce({own} <= {most}, true)"
        return (
            f"({least} IS NOT NULL OR {most} IS NOT NULL) AND "
            f"({own} IS NOT NULL AND (({inside}) OR ({own} = {least} AND {own} = {most}))) IS NOT TRUE"
        )

    def _is_no_middle(self, name: str) -> str:
        """A number is not the middle of the interval that its row claims, or the claim is not true of the row."""
        at = self._at(name)
        shown, own = f"number(r.{at}::VARCHAR)", self._number(f"o.{at}", name)
        low, high = f"c.{at}_low", f"c.{at}_high"
        middle = f"{low} / 2 + {high} / 2"
        right, least = f"close_to({middle}, {shown}, {low}, {high})", low
        if self._own_types[name] == "DATE":
            right, least = f"floor({middle}) = {shown}", f"floor({low})"
        inside = f"{shown} >= {least} AND {shown} <= {high}"
        right = f"CASE WHEN isinf({low}) OR isinf({high}) THEN {inside} ELSE {right} END"
        true = f"{own} > {low} AND {own} <= {high} AND {right}"
        return f"r.{at} IS NOT NULL AND {shown} IS DISTINCT FROM {own} AND ({true}) IS NOT TRUE"

    # Pair by pair: values, sets of values and names of groups.

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

    def _register_texts(self, columns: Mapping[str, tuple[CodedCells, Any]]) -> None:
        """The table ``texts``: every pair of a cell and an own value of a row, and how many cells it is."""
        import pyarrow as pa

        tables = []
        for name, (cells, own_cells) in columns.items():
            own = CodedCells.of(own_cells)
            shown, values, rows = tally_pairs(cells, own)
            words = own.words if pa.types.is_string(own.words.type) else self._evaluated(own.words, "t::VARCHAR")
            both = {"shown": _taken(cells.words, shown), "own": _taken(words.cast(pa.string()), values)}
            tables.append(pa.table({"place": np.full(len(rows), self._place[name]), **both, "cells": rows}))
        self._connection.register("texts", pa.concat_tables(tables))

    def _evaluated(self, words: Any, expression: str) -> Any:
        """What SQL makes of the words ``t``."""
        import pyarrow as pa

        self._connection.register("words", pa.table({"t": words}))
        return self._connection.sql(f"SELECT {expression} AS e FROM words").to_arrow_table()["e"].combine_chunks()

    def _wrong_values(self) -> dict[str, int]:
        """Cells that show a value or a set of values without the row's own; most show the own value itself."""
        same, one_of = f"shown = {self._as_written('own')}", "list_contains(string_split(shown, '|'), member(own))"
        if self._escapes:
            one_of = f"({one_of} OR list_contains(string_split(plain(shown), '|'), member(own)))"
        if self._named:
            above = "SELECT 1 FROM groups AS g WHERE g.place = texts.place AND g.name = shown AND"
            same += f" OR EXISTS ({above} g.value = own) OR EXISTS ({above} number(g.value) = number(own))"
            numbers = [str(place) for name, place in self._named.items() if self._is_number(name)]
            same += f" OR (place IN ({', '.join(numbers)}) AND number(shown) = number(own))" if numbers else ""
        rows = self._ask(
            "SELECT place, sum(cells)::BIGINT FROM texts WHERE shown IS NOT NULL AND shown IS DISTINCT FROM own "
            f"AND ({same} OR (contains(shown, '|') AND {one_of})) IS NOT TRUE GROUP BY place"
        )
        return {self._columns[place]: cells for place, cells in rows}

    def _set_members(self) -> Any:
        """The sets that are shown, as they are written, each with the values that its rows have."""
        named = "AND (place, shown) NOT IN (SELECT (place, name) FROM groups)" if self._named else ""
        query = f"SELECT place, shown, own FROM texts WHERE contains(shown, '|') {named}"
        return self._connection.sql(query).to_arrow_table()

    def _strange_members(self, parts: Sequence[Any]) -> dict[str, int]:
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
            had += " UNION SELECT place, shown, chr(39) || member(own) AS one FROM members WHERE starts_with(shown, one)"
        neighbours: dict[int, list[tuple[str, str]]] = {}
        for place, *both in self._ask(
            f"WITH sets AS (SELECT place, string_split(shown, '|')[{first}:] AS named FROM ({sets})) "
            "SELECT DISTINCT place, unnest(named[:-2]) AS before, unnest(named[2:]) AS after FROM sets"
        ):
            neighbours.setdefault(place, []).append((both[0], both[1]))
        strange = self._ask(
            f"WITH sets AS ({sets}), named AS (SELECT place, shown, unnest(string_split(shown, '|')) AS one FROM sets), "
            f"had AS ({had}) SELECT place, count(*) FROM (FROM named EXCEPT FROM had) GROUP BY place"
        )
        wrong = {self._columns[place]: number for place, number in strange}
        _add_to(wrong, {self._columns[place]: not is_one_order(pairs) for place, pairs in neighbours.items()})
        return wrong

    # Pair by pair: intervals and sets of them.

    def _register_labels(self, columns: Mapping[str, tuple[CodedCells, Any]]) -> None:
        """The tables ``labels`` of different cells and ``numbers`` of the own values beside them, with their rows."""
        import pyarrow as pa

        labels, numbers, first = [], [], 0
        for name, (cells, own_cells) in columns.items():
            own = CodedCells.of(own_cells)
            shown, values, rows = tally_pairs(cells, own)
            place = np.full(len(cells.words) + 1, self._place[name])
            texts = _taken(cells.words, np.arange(len(place)))
            labels.append(pa.table({"label": first + np.arange(len(place)), "place": place, "shown": texts}))
            number = _taken(self._as_numbers(own.words, name), values)
            numbers.append(pa.table({"label": first + shown, "own": number, "cells": rows}))
            first += len(place)
        self._connection.register("labels", pa.concat_tables(labels))
        self._connection.register("numbers", pa.concat_tables(numbers))

    def _as_numbers(self, words: Any, name: str) -> Any:
        import pyarrow as pa

        if pa.types.is_integer(words.type) or pa.types.is_floating(words.type):
            return words.cast(pa.float64(), safe=False)
        return self._evaluated(words, self._number("t", name))

    def _judged_labels(self) -> Iterator[tuple[str, int, tuple[float, float], bool]]:
        """For each column: wrong cells, or labels of one interval; its greatest own number and end; whether it has means.

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
        rows = self._ask(
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
            "CASE WHEN any_value(several) THEN sum(cells) FILTER (NOT fits) ELSE (NOT bool_and(fits))::INT END AS wrong "
            "FROM paired GROUP BY place, label) "
            f"SELECT place, coalesce(sum(wrong), 0)::BIGINT, coalesce(max(own), {none}), coalesce(max(most), {none}), "
            "coalesce(bool_or(mean), false) FROM told GROUP BY place"
        )
        for place, wrong, own, most, mean in rows:
            yield self._columns[place], wrong, (own, most), mean

    # Class by class: numbers that are means.

    def _sums(self, names: Sequence[str]) -> Any:
        """For each class and each number that it shows: the sum, the ends and the count of the rows it speaks for."""
        keys, sums = ", ".join(f"r.{key}" for key in self._keys), []
        for name in names:
            at = self._at(name)
            own = self._number(f"o.{at}", name)
            sums.append(
                f"any_value(number(r.{at}::VARCHAR)) AS {at}_shown, fsum({own}) AS {at}_total, "
                f"count({own}) AS {at}_rows, min({own}) AS {at}_low, max({own}) AS {at}_high, "
                f"bool_and({own} IS NOT NULL) AS {at}_whole, {self._own_types[name] == 'DATE'} AS {at}_days"
            )
        return self._connection.sql(f"SELECT {keys}, {', '.join(sums)} FROM {_ROWS} GROUP BY {keys}").to_arrow_table()

    def _wrong_means(self, parts: Sequence[Any]) -> dict[str, int]:
        """Numbers that are not the mean of the rows they speak for: those of a class, or all that show the number."""
        import pyarrow as pa

        sums = pa.concat_tables(parts, promote_options="permissive")
        self._connection.register("sums", sums)
        names = [name for name in self._columns if f"{self._at(name)}_shown" in sums.column_names]
        own = [name for name in names if name not in self._shared]
        wrong = {name: self._not_means([name], [self._at(name)])[name] for name in names if name in self._shared}
        return wrong | (self._not_means(own, self._keys) if own else {})

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
            means = (
                f"SELECT *, lag({at}_high) OVER (ORDER BY {at}_low) AS below FROM ({means}) WHERE {at}_shown IS NOT NULL"
            )
        [numbers] = self._ask(f"SELECT {', '.join(counted)} FROM ({means})")
        return dict(zip(names, numbers, strict=True))


def _add_to(wrong: dict[str, int], more: Mapping[str, int]) -> None:
    for name, number in more.items():
        wrong[name] = wrong.get(name, 0) + number


def _taken(words: Any, places: Codes) -> Any:
    """The words at some places; behind the last one is none."""
    import pyarrow as pa

    return words.take(pa.array(places, mask=places == len(words)))


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
