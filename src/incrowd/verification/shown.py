"""What released cells show, told by their text alone: nothing, a value, a set, an interval, or counts.

Recount published counts: ``value:rows|value:rows`` in every row of a group, ``*`` where the attribute is hidden. What
must be true: every cell can be read; its values are each named once, in one order that is the same in all cells; the
bins of a number do not overlap; and the counts of a class of rows that look alike are exactly those of its rows, so
that they add up to the class, every row's own value is among them, and their totals are those of the table. Drawn
counts must be exactly those that rule and key give (:mod:`incrowd.verification.drawn`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from incrowd.verification.coded import CodedCells, alike, ask, first_rows, flags, shown_batches, taken
from incrowd.verification.compared_values import is_one_order
from incrowd.verification.drawn import redraw
from incrowd.verification.open_cells import Numbers
from incrowd.verification.opening import create_macros, text
from incrowd.verification.request import Drawn
from incrowd.vocabulary.counts_text import HIDDEN

Columns = tuple[str, ...]
"""Columns that are counted together, or a single one."""
EMPTY = "empty"
FORMS = (EMPTY, "single", "set", "interval", "counts")
Forms = dict[str, dict[str, int]]
"""For each column, how many cells show what."""
_INTERVAL = r"^[\[(][^|]+, [^|]+[\])]$"


def count_shown(
    connection: Any, names: Sequence[str], transformed: Sequence[str], counted: Collection[str] = ()
) -> Forms:
    """For each of the transformed columns of the table ``released``, how many cells show what; forms that occur alone.

    Parameters
    ----------
    connection, names
        Has the table ``released`` with these columns.
    transformed
        The columns to look at, the released quasi-identifiers.
    counted
        Those of them that hold counts, where ``*`` shows nothing.

    Returns
    -------
    dict
        ``empty``: nothing is shown, be it suppressed or missing in the table; ``single``: a value, a number, the name
        of a group; ``set``: several, with ``|`` between them; ``interval``: two ends in brackets; ``counts``.
    """
    places = [names.index(name) for name in transformed]
    batches = (zip(transformed, batch, strict=True) for batch in shown_batches(connection, places))
    parts = ({name: count_forms(CodedCells.of(cells), name in counted) for name, cells in batch} for batch in batches)
    return add_forms(parts, transformed)


def count_forms(cells: CodedCells, counted: bool) -> dict[str, int]:
    """The same of one column: each different text is looked at once."""
    import pyarrow.compute as pc

    rows = np.bincount(cells.codes, minlength=len(cells.words) + 1)
    nothing, rows = int(rows[-1]), rows[:-1]
    if counted:
        hidden = flags(pc.equal(cells.words, HIDDEN))
        return {EMPTY: nothing + int(rows[hidden].sum()), "counts": int(rows[~hidden].sum())}
    interval = flags(pc.match_substring_regex(cells.words, _INTERVAL))
    several = flags(pc.match_substring(cells.words, "|")) & ~interval
    single = int(rows[~interval & ~several].sum())
    return {EMPTY: nothing, "single": single, "set": int(rows[several].sum()), "interval": int(rows[interval].sum())}


def add_forms(parts: Iterable[Mapping[str, Mapping[str, int]]], names: Sequence[str]) -> Forms:
    """How many cells of each column show what over all parts, in the usual order of forms.

    Examples
    --------
    >>> add_forms([{"job": {"set": 2}}, {"job": {"set": 3, "single": 1}}], ["job"])
    {'job': {'single': 1, 'set': 5}}
    """
    totals: dict[str, Counter[str]] = {name: Counter() for name in names}
    for part in parts:
        for name in names:
            totals[name].update(part[name])
    return {name: {form: total[form] for form in FORMS if total[form]} for name, total in totals.items()}


MACROS = (
    "bare(t) AS replace(replace(replace(t, '%', '%25'), '|', '%7C'), ':', '%3A')",
    """member_of(t) AS CASE WHEN t IS NULL THEN '?' WHEN t = '?' THEN '%3F'
        WHEN t[1] IN ('=', '+', '-', '@', chr(9), chr(13))
        THEN '%' || lpad(upper(to_hex(ascii(t))), 2, '0') || substr(bare(t), 2) ELSE bare(t) END""",
    "name_in(part) AS regexp_extract(part, '^([^:]*):([1-9][0-9]{0,17})$', 1)",
    "rows_in(part) AS TRY_CAST(regexp_extract(part, '^([^:]*):([1-9][0-9]{0,17})$', 2) AS BIGINT)",
)


def members_sql(ats: Columns) -> str:
    """SQL: the list of members of a cell.

    Of columns that are counted together the i-th members of their cells are one, if their counts are the same: their
    names with bars between them, and the count; nothing if they do not fit together.
    """
    if len(ats) == 1:
        return f"string_split({ats[0]}, '|')"
    same = " AND ".join(f"rows_in(part[{at}]) = rows_in(part[1])" for at in range(2, len(ats) + 1))
    names = " || '|' || ".join(f"name_in(part[{at}])" for at in range(1, len(ats) + 1))
    lists = ", ".join(f"string_split({at}, '|')" for at in ats)
    member = f"CASE WHEN {same} THEN {names} || ':' || rows_in(part[1]) END"
    return f"list_transform(list_zip({lists}), lambda part: {member})"


def shows_sql(ats: Columns) -> str:
    """SQL: whether a look shows something of the columns."""
    return f"({' OR '.join(f'{at} IS DISTINCT FROM {text(HIDDEN)}' for at in ats)})"


@dataclass(frozen=True, eq=False)
class PieceOfCounts:
    """What a piece of a release adds: its looks with their texts and rows, and for each column whose rows have what.

    ``looks`` is a PyArrow table (mark, rows, a text for each column), ``own`` has one for each column, or for columns
    that are counted together: the place of the look, member, name, n. ``numeric`` are those of the columns that count
    numbers, in bins.
    """

    looks: Any
    own: Mapping[Columns, Any]
    numeric: frozenset[str]


class CountsComparison:
    """Compares counts in the table ``released`` with the rows of the table ``original``.

    Parameters
    ----------
    connection
        Knows the macros of :mod:`incrowd.verification.comparison`.
    keys
        The columns in which rows of a class are equal.
    counted
        Those of them that hold counts.
    escaped
        Whether a value that looks like a formula was written with an apostrophe before it.
    drawn, bins
        How counts were drawn, if they were; then for each column of numbers the names of all its bins.
    joint
        For columns that are counted together the combinations that may be named.
    """

    def __init__(
        self,
        connection: Any,
        keys: Sequence[str],
        counted: Sequence[str],
        *,
        escaped: bool,
        drawn: Drawn | None = None,
        bins: Mapping[str, Sequence[str]] | None = None,
        joint: Mapping[Columns, Any] | None = None,
    ) -> None:
        self._connection, self._keys, self._counted = connection, keys, counted
        self._joint = joint or {}
        together = {at: ats for ats in self._joint for at in ats}
        self._parts = list(dict.fromkeys(together.get(at, (at,)) for at in counted))
        self._drawn, self._told_bins = drawn, bins or {}
        self._member = "member_of(escaped(own))" if escaped else "member_of(own)"
        create_macros(connection, MACROS)

    def piece(
        self,
        rows: int,
        shown: Mapping[str, CodedCells],
        own: Mapping[str, CodedCells],
        numbers: Mapping[str, str | None],
    ) -> PieceOfCounts:
        """What this piece of so many rows adds.

        ``shown`` are the cells of the keys, ``own`` the own values beside those that hold counts; ``numbers`` has for
        each of these how a value ``t`` is written as a number in SQL, None for text.
        """
        import pyarrow as pa

        look = alike([(cells.codes, len(cells.words) + 1) for cells in shown.values()], rows)
        firsts = first_rows(look)
        texts = {at: taken(cells.words, cells.codes[firsts]) for at, cells in shown.items()}
        self._connection.register("shown_texts", pa.table({**texts, "rows": np.bincount(look, minlength=len(firsts))}))
        parts = (f"coalesce(length({key}::VARCHAR) || ':' || {key}::VARCHAR, '-')" for key in self._keys)
        counted = "".join(f", {at}::VARCHAR AS {at}" for at in self._counted)
        looks = self._table(
            f"SELECT md5(concat({', '.join(parts)})) AS mark, rows::BIGINT AS rows{counted} FROM shown_texts"
        )
        self._connection.register("looks", looks)
        for at in self._counted:
            self._name(at, own[at], numbers[at])
        codes = {at: pa.array(own[at].codes) for at in self._counted}
        self._connection.register("coded_rows", pa.table({"look": look, **codes}))
        return PieceOfCounts(
            looks,
            {ats: self._own(ats) for ats in self._parts},
            frozenset(at for at in self._counted if numbers[at] is not None),
        )

    def added(self, pieces: Iterable[PieceOfCounts]) -> dict[str, int]:
        """In how many rows the counts of each column are wrong."""
        import pyarrow as pa

        parts = list(pieces)
        if not parts:
            return dict.fromkeys(self._counted, 0)
        every = pa.concat_tables([one.looks for one in parts])
        marks = CodedCells.of(every["mark"])
        starts = np.cumsum([0, *(len(one.looks) for one in parts)])
        looks = every.take(pa.array(first_rows(marks.codes))).drop_columns(["mark", "rows"])
        rows = np.bincount(marks.codes, every["rows"].to_numpy(), len(marks.words)).astype(np.int64)
        looks = looks.append_column("look", pa.array(np.arange(len(rows)))).append_column("rows", pa.array(rows))
        self._connection.register("looks_of_all", looks)
        own = {
            ats: pa.concat_tables(
                [_numbered(one.own[ats], marks.codes[start:]) for one, start in zip(parts, starts, strict=False)]
            )
            for ats in self._parts
        }
        numeric = frozenset[str]().union(*(one.numeric for one in parts))
        if self._drawn is not None:
            own = redraw(self._connection, self._drawn, looks, own, self._counted, numeric, self._joint)
        wrong = {at: rows for ats in self._parts for rows in (self._wrong(ats, own[ats]),) for at in ats}
        return {at: wrong[at] + (self._wrong_bins(at) if at in numeric else 0) for at in self._counted}

    def _name(self, at: str, own: CodedCells, number: str | None) -> None:
        """The table of the members that own values are; a number outside of all bins is none.

        A member has a name that does not depend on how the file is written.
        """
        import pyarrow as pa

        places = np.arange(len(own.words) + 1)
        self._connection.register("words", pa.table({"place": places, "t": taken(own.words, places)}))
        query = (
            f"SELECT place, {self._member} AS member, member_of(own) AS name "
            "FROM (SELECT place, t::VARCHAR AS own FROM words)"
        )
        if number is not None:
            query = (
                f"WITH bins AS ({self._bins('looks', at)}), numbers AS (SELECT place, {number} AS own FROM words) "
                "SELECT place, CASE WHEN own IS NULL THEN '?' ELSE bin END AS member, member AS name FROM numbers LEFT "
                "JOIN (SELECT member AS bin, low, high FROM bins) ON own > low AND (own < high OR (own = high AND "
                "ends_with(bin, ']')))"
            )
        self._run(f"CREATE OR REPLACE TEMP TABLE named_{at} AS {query}")

    def _own(self, ats: Columns) -> Any:
        """How many rows of each look have which member, or members of columns that are counted together."""
        names = {kind: " || '|' || ".join(f"named_{at}.{kind}" for at in ats) for kind in ("member", "name")}
        joins = " ".join(f"JOIN named_{at} ON named_{at}.place = rows.{at}" for at in ats)
        return self._table(
            f"SELECT look, {names['member']} AS member, {names['name']} AS name, sum(n)::BIGINT AS n FROM "
            f"(SELECT look, {', '.join(ats)}, count(*) AS n FROM coded_rows GROUP BY ALL) AS rows {joins} GROUP BY ALL"
        )

    def _wrong(self, ats: Columns, own: Any) -> int:
        self._connection.register("own", own)
        self._run(
            "CREATE OR REPLACE TEMP TABLE published AS SELECT look, name_in(part) AS member, rows_in(part) AS n FROM "
            f"(SELECT look, unnest({members_sql(ats)}) AS part FROM looks_of_all WHERE {shows_sql(ats)})"
        )
        return self._contradictions(ats) + self._ask(
            "WITH told AS (SELECT look, member, sum(n) AS n, count(*) AS times FROM published GROUP BY ALL), "
            f"shown AS (SELECT look FROM looks_of_all WHERE {shows_sql(ats)}), "
            "had AS (SELECT look, member, sum(n) AS n FROM own WHERE look IN (FROM shown) GROUP BY ALL), "
            "wrong AS (SELECT DISTINCT coalesce(p.look, h.look) AS look FROM told AS p FULL JOIN had AS h "
            "ON p.look = h.look AND p.member = h.member "
            "WHERE p.n IS NULL OR h.n IS NULL OR p.n <> h.n OR p.times <> 1) "
            "SELECT coalesce(sum(rows), 0) FROM wrong JOIN looks_of_all USING (look)"
        )

    def _contradictions(self, ats: Columns) -> int:
        """Whether members stand in one order here and in another there; and before which the missing one stands.

        An order that is not the same everywhere may be that of rows.
        """
        neighbours = ask(self._connection, self._neighbours(ats))
        return len([first for first, _ in neighbours if first == "?"]) + (not is_one_order(neighbours))

    def _neighbours(self, ats: Columns) -> str:
        """SQL: the members ``a`` and ``b`` that stand beside each other in some cell, ``a`` first."""
        names = f"list_transform({members_sql(ats)}, lambda part: name_in(part))"
        return (
            f"SELECT DISTINCT unnest(names[:-2]) AS a, unnest(names[2:]) AS b FROM (SELECT {names} AS names "
            "FROM looks_of_all)"
        )

    def _wrong_bins(self, at: str) -> int:
        """Bins that are none, or begin before another ends; and neighbours that do not stand in their order."""
        broken = self._ask(
            f"WITH bins AS ({self._bins('looks_of_all', at)}), "
            "neighbours AS (SELECT *, lag(high) OVER (ORDER BY low) AS below FROM bins) "
            "SELECT count(*) FROM neighbours WHERE (low < high AND coalesce(below <= low, true)) IS NOT TRUE"
        )
        if (at,) not in self._parts:  # then combinations stand in one order
            return broken
        return broken + self._ask(f"SELECT count(*) FROM ({self._neighbours((at,))}) WHERE low_end(a) > low_end(b)")

    def _bins(self, looks: str, at: str) -> str:
        """The bins that some cell names, as SQL; all there are, if they are known."""
        if at in self._told_bins:
            names = ", ".join(f"({text(name)})" for name in self._told_bins[at])
            return f"SELECT member, low_end(member) AS low, high_end(member) AS high FROM (VALUES {names}) AS b(member)"
        return (
            "SELECT member, low_end(member) AS low, high_end(member) AS high FROM (SELECT DISTINCT name_in(part) AS "
            f"member FROM (SELECT unnest(string_split({at}, '|')) AS part FROM {looks} WHERE {at} <> '{HIDDEN}')) "
            "WHERE member <> '?'"
        )

    def _run(self, query: str) -> None:
        self._connection.execute(query)

    def _table(self, query: str) -> Any:
        return self._connection.sql(query).to_arrow_table()

    def _ask(self, query: str) -> int:
        [(number,)] = self._connection.execute(query).fetchall()
        return int(number)


def _numbered(own: Any, looks: Numbers) -> Any:
    """What rows of a piece have, their looks by the numbers that they have in the whole release."""
    import pyarrow as pa

    return own.set_column(0, "look", pa.array(looks[own["look"].to_numpy()], pa.int64()))
