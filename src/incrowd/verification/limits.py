"""Count released cells that are coarser than the user allows: next to a level of a hierarchy, or to sets of values.

A level at most: a cell is compared with the way of its own value up the hierarchy: it may show the value, or one of the
first groups on that way. A cell that shows nothing is coarser, unless the row has no value to show.

Values that stay apart: the cell of a row whose value is in one of the sets shows the value, a set of values of that set
alone, or a group of the hierarchy with no other leaf. A row whose value is in none of them may show anything.

Count the people of each bin in which numbers are counted: at least k of the table, those left out among them.

The bins are those that were announced; where counts are exact, those that some cell names.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from incrowd.verification.compared_values import own_number
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.input_table import ColumnOrigin, InputTable, all_rows
from incrowd.verification.opening import column, create_macros, register, text
from incrowd.verification.owners import Owners
from incrowd.verification.request import Expected, Original, Originals, Request
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.verdict import Check
from incrowd.vocabulary.counts_text import HIDDEN
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

Columns = Mapping[str, Sequence[str]]
Cells = Counter[tuple[Any, ...]]
EVERYTHING = "(-inf, inf)"
"""The one bin of a number without cuts. Fewer than k people may have such a number; it is hidden then."""
_ENDS = re.compile(r"([(\[])(.+), (.+)[)\]]")


@dataclass(frozen=True)
class CoarsestLevel:
    """The coarsest level, 0 for the leaves, that cells of a column may show of its hierarchy.

    A cell is one text, or two with the ends of an interval, the low one excluded.
    """

    name: str
    hierarchy: Hierarchy
    level: int

    @property
    def promise(self) -> str:
        """What is checked."""
        return _at_most(self.name, self.level)

    def is_fine(self, own: Any, cell: Sequence[str | None]) -> bool:
        """Whether the cell of a row with this value is no coarser."""
        if self.level >= self.hierarchy.height - 1:
            return True
        way = self._allowed(own)
        if self.hierarchy.kind is Leaves.VALUES:
            [text] = cell
            labels = [self.hierarchy.labels[node] for node in way]
            return text is not None and (same_value(text, own) or any(text in (label, f"'{label}") for label in labels))
        value, group = _number(str(own)), self.hierarchy.interval(way[-1]) if way else None
        low, high, closed = _ends(cell)
        if group is None or value is None or low is None or high is None:
            return False
        if low == high == value:
            return True
        least, most = (_or(group.low, "-inf"), _or(group.high, "inf"))
        return low < high and (low > least or (low == least and not closed)) and high <= most

    def _allowed(self, own: Any) -> list[int]:
        """The nodes on the way of a value up the hierarchy, its leaf first, that cells may show."""
        leaf = self.hierarchy.leaf_of(own if isinstance(own, str | int | float | datetime.date) else str(own))
        if leaf is None:
            return []
        way = [int(self.hierarchy.leaves[leaf])]
        while way[-1] > 0:
            way.append(self.hierarchy.parents[way[-1]])
        steps = self.level - (self.hierarchy.height - len(way))  # the leaf of a branch that ends early is repeated
        return way[: max(0, steps) + 1]


def same_value(text: str, own: Any) -> bool:
    """Whether a text is the own value: the text itself, or the same number."""
    written = ("true" if own else "false") if isinstance(own, bool) else str(own)
    if text in (written, f"'{written}"):
        return True
    number = _number(text)
    return number is not None and not isinstance(own, str) and number == _number(str(own))


def _ends(cell: Sequence[str | None]) -> tuple[float | None, float | None, bool]:
    """The two ends that a cell shows, and whether the low one belongs to it; both are the number if it shows one."""
    if len(cell) == 2:
        if cell[0] is None and cell[1] is None:
            return None, None, False
        low, high = (_number(cell[0] or "-inf"), _number(cell[1] or "inf"))
        return low, high, False
    text = cell[0] or ""
    if (ends := _ENDS.fullmatch(text)) is None:
        return _number(text), _number(text), True
    return _number(ends[2]), _number(ends[3]), ends[1] == "["


def _number(text: str) -> float | None:
    """A number, or the day of a date, counted from 1970-01-01."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float((datetime.date.fromisoformat(text) - datetime.date(1970, 1, 1)).days)
    except ValueError:
        return None


def _or(end: float | None, otherwise: str) -> float:
    return float(otherwise) if end is None else float(end)


@dataclass(frozen=True)
class ApartValues:
    """Sets of values of a column, as the user listed them, or ``*``: each value by itself."""

    name: str
    sets: Sequence[Sequence[str]] | str
    hierarchy: Hierarchy | None = None

    @property
    def promise(self) -> str:
        """What is checked."""
        return _apart(self.name)

    def is_fine(self, own: Any, cell: Sequence[str | None]) -> bool:
        """Whether the cell of a row with this value stands for no value outside its set."""
        [text] = cell
        members = self._members(own)
        if not members:
            return True
        if text is None:
            return False
        if same_value(text, own):
            return True
        tree = self.hierarchy
        for written in (text, text.removeprefix("'")):
            if tree is not None and written in tree.labels:
                below = tree.leaves_below(tree.labels.index(written))
                return all(tree.labels[tree.leaves[place]] in members for place in below)
            if "|" in written and all(value in members for value in written.split("|")):
                return True
        return False

    def _members(self, own: Any) -> Sequence[str]:
        """The set that a value is in; empty if it is in none."""
        written = ("true" if own else "false") if isinstance(own, bool) else str(own)
        if isinstance(self.sets, str):
            return (written,)
        return next((members for members in self.sets if written in members), ())


def cells_beyond(
    connection: Any, request: Request, shown_in: Columns, expected: Expected, original: Original | Originals
) -> dict[str, int]:
    """How many cells exceed each limit; ``shown_in`` has the released columns that show each of the table's.

    Limits are left out that cannot be counted: of cells that show no plain values, of a level without its hierarchy.
    """
    if request.counted or request.groups is not None:
        return {}
    trees, beyond = {one.name: one.hierarchy for one in request.columns}, {}
    levels = [(name, level, trees.get(name)) for name, level in request.at_most.items()]
    limits: list[CoarsestLevel | ApartValues] = [
        *(CoarsestLevel(name, tree, level) for name, level, tree in levels if tree is not None),
        *(ApartValues(name, sets, trees.get(name)) for name, sets in request.apart.items()),
    ]
    for limit in limits:
        places = [column(list(expected.columns).index(one)) for one in shown_in[limit.name]]
        cells = _cells(connection, places, expected, Originals.of(original))
        beyond[limit.promise] = sum(rows for (own, *cell), rows in cells.items() if not limit.is_fine(own, cell))
    return beyond


def limit_checks(request: Request, beyond: Mapping[str, int]) -> Iterator[Check]:
    """No cell is coarser than the user allows; ``beyond`` has how many are, for each limit that was counted."""
    levels = [(_at_most(name, level), "coarser") for name, level in request.at_most.items()]
    for promise, fault in (*levels, *((_apart(name), "open to values of another set") for name in request.apart)):
        wrong = beyond.get(promise)
        finding = "this was not counted" if wrong is None else f"{wrong:,} cells are {fault}"
        yield Check(promise, wrong == 0, "every cell" if wrong == 0 else finding)


def _at_most(name: str, level: int) -> str:
    return f"{name} at most at level {level}"


def _apart(name: str) -> str:
    return f"{name} apart"


def _cells(connection: Any, places: Sequence[str], expected: Expected, original: Originals) -> Cells:
    """How many rows with a value have which, and show what of it."""
    cells: Cells = Counter()
    shown, start = ", ".join(f"r.{place}::VARCHAR" for place in places), 0
    for number, size in enumerate(original.sizes):
        register(connection, original.piece(number).table.select(expected.columns), "own")
        rows = connection.execute(
            f"SELECT o.{places[0]}, {shown}, count(*) FROM (FROM released LIMIT {size} OFFSET {start}) AS r "
            f"POSITIONAL JOIN own AS o WHERE o.{places[0]} IS NOT NULL GROUP BY ALL"
        ).fetchall()
        for *cell, count in rows:
            cells[tuple(cell)] += count
        start += size
    return cells


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
        return bins_check([size for place in self.tables for size in self._sizes(place, bins.get(names[place]))], k)

    def _sizes(self, place: int, announced: Sequence[str] | None) -> list[int]:
        """The people of each bin."""
        source = _members(self.connection, column(place), announced)
        if source is None:
            return []
        sizes = self.connection.execute(
            f"SELECT coalesce({self.people}, 0) FROM ({source}) AS b LEFT JOIN {self.tables[place]} AS t "
            "ON own > low_end(member) AND own <= high_end(member) GROUP BY member"
        ).fetchall()
        return [int(size) for (size,) in sizes]


def bins_check(sizes: Sequence[int], k: int) -> Check:
    """The check that every bin is that of k people, given how many people each has."""
    small = sum(size < k for size in sizes)
    smallest = f", the smallest of {min(sizes):,} people" if sizes else ""
    return Check(f"bins of {k:,} people or more", not small, f"{len(sizes):,} bins{smallest}")


def ends_of_bins(connection: Any, at: str, announced: Sequence[str] | None) -> list[tuple[float, float]]:
    """The ends of the bins of a column of the table ``released``, the low one excluded."""
    source = _members(connection, at, announced)
    if source is None:
        return []
    create_macros(connection, (*CELLS, *MEMBERS))
    ends = connection.execute(f"SELECT DISTINCT low_end(member), high_end(member) FROM ({source})").fetchall()
    return [(float(low), float(high)) for low, high in ends]


def _members(connection: Any, at: str, announced: Sequence[str] | None) -> str | None:
    """SQL: the names of the bins of a number that were announced, else those that cells of ``released`` name.

    A number that is not cut, and that no cell shows, has none.
    """
    if announced is None:
        return (
            "SELECT DISTINCT name_in(part) AS member FROM (SELECT unnest(string_split(cell, '|')) AS part FROM "
            f"(SELECT DISTINCT {at}::VARCHAR AS cell FROM released)) WHERE starts_with(member, '(')"
        )
    shown = f"SELECT 1 FROM released WHERE {at}::VARCHAR IS DISTINCT FROM '{HIDDEN}' LIMIT 1"
    if list(announced) == [EVERYTHING] and not connection.execute(shown).fetchall():
        return None
    return f"SELECT member FROM (VALUES {', '.join(f'({text(name)})' for name in announced)}) AS b(member)"
