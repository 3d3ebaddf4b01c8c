"""Values, sets of values and names of groups next to the own values of rows: each different pair is judged once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, add_to, ask, evaluated, taken, tally_pairs
from incrowd.verification.spelling import is_one_order
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves


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

    def register(self, columns: Mapping[str, tuple[CodedCells, Any]]) -> None:
        """The table ``texts``: every pair of a cell and an own value of a row, and how many cells it is."""
        import pyarrow as pa

        tables = []
        for name, (cells, own_cells) in columns.items():
            own = CodedCells.of(own_cells)
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
