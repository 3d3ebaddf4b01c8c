"""Numbers next to the own numbers of their rows: intervals and sets of them pair by pair, means class by class."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, ask, evaluated, taken, tally_pairs
from incrowd.verification.opening import column

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

    def register(self, columns: Mapping[str, tuple[CodedCells, Any]]) -> None:
        """The tables ``labels`` of different cells and ``numbers`` of the own values beside them, with their rows."""
        import pyarrow as pa

        labels, numbers, first = [], [], 0
        for name, (cells, own_cells) in columns.items():
            own = CodedCells.of(own_cells)
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
        names = [name for name in self._columns if f"{self._at(name)}_shown" in sums.column_names]
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
