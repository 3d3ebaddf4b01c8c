"""Count the people of each bin in which numbers are counted: at least k of the table, those left out among them.

The bins are those that were announced; where counts are exact, those that some cell names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.verification.compared_values import own_number
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.input_table import ColumnOrigin, InputTable, all_rows
from incrowd.verification.opening import column, create_macros, register, text
from incrowd.verification.owners import Owners
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.verdict import Check
from incrowd.vocabulary.counts_text import HIDDEN

EVERYTHING = "(-inf, inf)"
"""The one bin of a number without cuts. Fewer than k people may have such a number; it is hidden then."""


@dataclass(frozen=True, eq=False)
class PublicBins:
    """The numbers of all people, as tables of the connection: for each number how many, or who, have it.

    ``tables`` has the table of each counted number, by its place among the columns of the release.
    """

    connection: Any
    tables: Mapping[int, str]
    people: str  # what of a table is counted, as SQL

    @classmethod
    def of(cls, table: InputTable, sources: Sequence[ColumnOrigin], owners: Owners | None) -> PublicBins:
        """Of the quasi-identifiers that are numbers, one at a time."""
        import pyarrow as pa

        connection, tables = table.connection, {}
        create_macros(connection, (*CELLS, *MEMBERS))
        for place, one in enumerate(sources):
            if not (one.understood and one.column.type.is_numeric):
                continue
            rows = all_rows(table, [one])
            who, grouped = "", ""
            if owners is not None:
                rows = rows.append_column("whose row", pa.array(owners.codes))
                who, grouped = f", {column(1)} AS person", f" AND {column(1)} >= 0"
            register(connection, rows, "rows_of_all")
            [(kind,)] = connection.execute(f"SELECT typeof({column(0)}) FROM rows_of_all LIMIT 1").fetchall() or [("",)]
            if kind in ("", "VARCHAR", "BOOLEAN"):
                continue
            tables[place] = f"numbers_of_all_{place}"
            connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {tables[place]} AS SELECT {own_number(column(0), kind)} AS own{who}, "
                f"count(*) AS n FROM rows_of_all WHERE {column(0)} IS NOT NULL{grouped} GROUP BY ALL"
            )
        return cls(connection, tables, "sum(n)" if owners is None else "count(DISTINCT person)")

    def check(self, names: Sequence[str], bins: Mapping[str, Sequence[str]], k: int) -> Check:
        """The check that every bin is that of k people; the table ``released`` has the cells of these columns."""
        sizes = [size for place in self.tables for size in self._sizes(place, bins.get(names[place]))]
        small = sum(size < k for size in sizes)
        smallest = f", the smallest of {min(sizes):,} people" if sizes else ""
        return Check(f"bins of {k:,} people or more", not small, f"{len(sizes):,} bins{smallest}")

    def _is_shown(self, at: str) -> bool:
        shown = f"SELECT 1 FROM released WHERE {at}::VARCHAR IS DISTINCT FROM '{HIDDEN}' LIMIT 1"
        return bool(self.connection.execute(shown).fetchall())

    def _sizes(self, place: int, announced: Sequence[str] | None) -> list[int]:
        """The people of each bin; a number that is not cut, and that no cell shows, has none."""
        at = column(place)
        if announced is not None and list(announced) == [EVERYTHING] and not self._is_shown(at):
            return []
        source = (
            "SELECT DISTINCT name_in(part) AS member FROM (SELECT unnest(string_split(cell, '|')) AS part FROM "
            f"(SELECT DISTINCT {at}::VARCHAR AS cell FROM released)) WHERE starts_with(member, '(')"
        )
        if announced is not None:
            source = f"SELECT member FROM (VALUES {', '.join(f'({text(name)})' for name in announced)}) AS b(member)"
        found = self.connection.execute(
            f"SELECT coalesce({self.people}, 0) FROM ({source}) AS b LEFT JOIN {self.tables[place]} AS t "
            "ON own > low_end(member) AND own <= high_end(member) GROUP BY member"
        ).fetchall()
        return [int(size) for (size,) in found]
