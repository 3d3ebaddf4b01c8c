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
import numpy.typing as npt

from incrowd.verification.coded import CodedCells, shown_batches
from incrowd.verification.drawn import redraw
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
        hidden = _flags(pc.equal(cells.words, HIDDEN))
        return {EMPTY: nothing + int(rows[hidden].sum()), "counts": int(rows[~hidden].sum())}
    interval = _flags(pc.match_substring_regex(cells.words, _INTERVAL))
    several = _flags(pc.match_substring(cells.words, "|")) & ~interval
    single = int(rows[~interval & ~several].sum())
    return {EMPTY: nothing, "single": single, "set": int(rows[several].sum()), "interval": int(rows[interval].sum())}


def _flags(answers: Any) -> npt.NDArray[np.bool_]:
    return np.asarray(answers.to_numpy(zero_copy_only=False), np.bool_)


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
    "draw_order(name, low) AS {'missing': name = '?', 'low': low::DOUBLE, 'name': name}",
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


def combined_sql(kept: str, source: str, owns: Mapping[str, str], bins: Mapping[str, Sequence[str] | None]) -> str:
    """SQL: how many rows ``n`` have which combination of members, by what else is ``kept`` of them.

    ``owns`` says for each column how its own value is written, numbers as numbers; ``bins`` has the names of the bins
    of a number, None for text. A combination has the names of its members with bars between them, and their places in
    the order of draws; neither if a number lies in none of the bins.
    """
    own = ", ".join(f"{value} AS own_{at}" for at, value in owns.items())
    parts = [f"own AS (SELECT {kept}, {own}, count(*) AS n FROM {source} GROUP BY ALL)"]
    joins, names, places = "", list[str](), list[str]()
    for at in owns:
        own_bins, name, low = bins[at], f"member_of(own_{at})", "NULL"
        if own_bins is not None:
            members = ", ".join(f"({text(one)})" for one in own_bins)
            parts.append(
                f"bins_{at} AS (SELECT own_{at}, member, low_end(member) AS low FROM "
                f"(SELECT DISTINCT own_{at} FROM own) JOIN (VALUES {members}) AS b(member) "
                f"ON own_{at} > low_end(member) AND own_{at} <= high_end(member))"
            )
            joins += f" LEFT JOIN bins_{at} USING (own_{at})"
            name, low = f"CASE WHEN own_{at} IS NULL THEN '?' ELSE bins_{at}.member END", f"bins_{at}.low"
        names.append(name)
        places.append(f"draw_order({name}, {low})")
    joined = " || '|' || ".join(names)
    return (
        f"WITH {', '.join(parts)} SELECT {kept}, {joined} AS member, {joined} AS name, [{', '.join(places)}] AS place, "
        f"sum(n)::BIGINT AS n FROM own{joins} GROUP BY ALL"
    )


@dataclass(frozen=True, eq=False)
class PieceOfCounts:
    """What a piece of a release adds: its looks with their texts and rows, and for each column whose rows have what.

    ``looks`` is a PyArrow table (look, rows, a text for each column), ``own`` has one for each column, or for columns
    that are counted together: look, member, n. ``numeric`` are those of the columns that count numbers, in bins.
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

    def piece(self, numbers: Mapping[str, str | None]) -> PieceOfCounts:
        """What this piece adds; ``numbers`` has for each column how its own number is written in SQL, None for text."""
        parts = (f"coalesce(length({key}::VARCHAR) || ':' || {key}::VARCHAR, '-')" for key in self._keys)
        self._run(
            f"CREATE OR REPLACE TEMP TABLE looked AS SELECT md5(concat({', '.join(parts)})) AS look FROM released"
        )
        texts = "".join(f", any_value(r.{at}::VARCHAR) AS {at}" for at in self._counted)
        looks = self._table(
            f"SELECT look, count(*) AS rows{texts} FROM looked POSITIONAL JOIN released AS r GROUP BY look"
        )
        self._connection.register("looks", looks)
        own = {
            ats: self._own(ats[0], numbers[ats[0]]) if len(ats) == 1 else self._own_together(ats, numbers)
            for ats in self._parts
        }
        return PieceOfCounts(looks, own, frozenset(at for at in self._counted if numbers[at] is not None))

    def added(self, pieces: Iterable[PieceOfCounts]) -> dict[str, int]:
        """In how many rows the counts of each column are wrong."""
        import pyarrow as pa

        parts = list(pieces)
        if not parts:
            return dict.fromkeys(self._counted, 0)
        self._connection.register("parts", pa.concat_tables([one.looks for one in parts]))
        texts = "".join(f", any_value({at}) AS {at}" for at in self._counted)
        self._run(
            "CREATE OR REPLACE TEMP TABLE looks_of_all AS "
            f"SELECT look, sum(rows)::BIGINT AS rows{texts} FROM parts GROUP BY look"
        )
        numeric = frozenset[str]().union(*(one.numeric for one in parts))
        own = {ats: pa.concat_tables([one.own[ats] for one in parts]) for ats in self._parts}
        if self._drawn is not None:
            own = redraw(self._connection, self._drawn, own, self._counted, self._joint)
        wrong = {at: rows for ats in self._parts for rows in (self._wrong(ats, own[ats]),) for at in ats}
        return {at: wrong[at] + (self._wrong_bins(at) if at in numeric else 0) for at in self._counted}

    def _own(self, at: str, number: str | None) -> Any:
        """How many rows of each look have which member; a number outside of all bins has none.

        A member has a name that does not depend on how the file is written, and a place in the order of draws.
        """
        pairs = "looked POSITIONAL JOIN original AS o"
        if number is None:
            return self._table(
                f"SELECT look, {self._member} AS member, member_of(own) AS name, "
                "[draw_order(member_of(own), NULL)] AS place, n "
                f"FROM (SELECT look, o.{at}::VARCHAR AS own, count(*) AS n FROM {pairs} GROUP BY ALL)"
            )
        self._run(
            f"CREATE OR REPLACE TEMP TABLE numbers AS SELECT look, {number} AS own, count(*) AS n FROM {pairs} "
            "GROUP BY ALL"
        )
        return self._table(
            f"WITH bins AS ({self._bins('looks', at)}), places AS (SELECT DISTINCT own, member FROM numbers JOIN "
            "bins ON own > low AND (own < high OR (own = high AND ends_with(member, ']')))) "
            "SELECT look, member, member AS name, [draw_order(member, low)] AS place, sum(n)::BIGINT AS n FROM (SELECT "
            "look, n, CASE WHEN own IS NULL THEN '?' ELSE p.member END AS member, low_end(p.member) AS low "
            "FROM numbers LEFT JOIN places AS p USING (own)) GROUP BY ALL"
        )

    def _own_together(self, ats: Columns, numbers: Mapping[str, str | None]) -> Any:
        """The same of columns that are counted together."""
        owns = {at: numbers[at] or f"o.{at}::VARCHAR" for at in ats}
        bins = {at: self._told_bins.get(at) if numbers[at] else None for at in ats}
        return self._table(combined_sql("look", "looked POSITIONAL JOIN original AS o", owns, bins))

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
        """Pairs of members that stand in one order here and in the other there; the missing one is the last.

        An order that is not the same everywhere may be that of rows.
        """
        return self._ask(
            f"{self._pairs(ats)} SELECT count(*) FROM pairs AS x LEFT JOIN pairs AS y ON x.a = y.b AND x.b = y.a "
            "WHERE y.a IS NOT NULL OR x.a = '?'"
        )

    def _pairs(self, ats: Columns) -> str:
        """Members of which one stands before the other in some cell, as the beginning of SQL."""
        return (
            f"WITH lists AS (SELECT list_transform({members_sql(ats)}, lambda part: name_in(part)) AS names "
            "FROM looks_of_all GROUP BY names), "
            "placed AS (SELECT names, unnest(names) AS b, generate_subscripts(names, 1) AS place FROM lists), "
            "pairs AS (SELECT DISTINCT unnest(names[:place - 1]) AS a, b FROM placed)"
        )

    def _wrong_bins(self, at: str) -> int:
        """Bins that are none, or begin before another ends; and pairs of bins that do not stand in their order."""
        broken = self._ask(
            f"WITH bins AS ({self._bins('looks_of_all', at)}), "
            "neighbours AS (SELECT *, lag(high) OVER (ORDER BY low) AS below FROM bins) "
            "SELECT count(*) FROM neighbours WHERE (low < high AND coalesce(below <= low, true)) IS NOT TRUE"
        )
        if (at,) not in self._parts:  # then combinations stand in one order
            return broken
        return broken + self._ask(f"{self._pairs((at,))} SELECT count(*) FROM pairs WHERE low_end(a) > low_end(b)")

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
