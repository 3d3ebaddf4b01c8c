"""Compare a written table in which cells were withheld with the table it came from, cell by cell.

Rows are matched by their place: hiding keeps the rows in their number and order. A confidential cell may show nothing,
or a group of its hierarchy that holds its value and at least one more. Any other cell is as it was, shows nothing, or
shows a group that holds its value. The cells that differ must be those that were told, no more and no fewer. What naive
Bayes makes of the confidential cells is reckoned again, and must be what was told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import FileFormatError
from incrowd.verification.compared_values import groups_and_values
from incrowd.verification.inference import Inference, recounted_guesses
from incrowd.verification.opening import column, connect, duckdb_module, open_large, open_rows, open_table
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import parse_day, parse_interval, parse_number
from incrowd.vocabulary.resources import Resources

Place = tuple[int, str]

_MOST_FAULTS = 100_000  # more cells that should not differ are not counted
_PAIRS = "released AS r POSITIONAL JOIN original AS o"
_FORMULA = re.compile(r"^'(?=[=+@\t\r-])")
_ESCAPED = r"""escaped(t) AS CASE
    WHEN length(t) > 1 AND regexp_matches(t, '^[=+@\t\r-]') AND TRY_CAST(t AS DOUBLE) IS NULL
    THEN chr(39) || t ELSE t END"""


@dataclass(frozen=True, eq=False)
class Withheld:
    """What the verification is told about a hiding. Rows are counted from 0.

    Parameters
    ----------
    columns
        The columns of the written table, in order.
    confidential
        The cells that must not show their value.
    changes
        All cells that are said to be published differently, and what they show: a group, or None for nothing.
    deleted
        Rows that are said to be blank throughout.
    hierarchies
        Of the columns that may show groups.
    inference
        What is told about naive Bayes, where it is recounted.
    """

    columns: Sequence[str]
    confidential: Collection[Place]
    changes: Mapping[Place, str | None]
    deleted: Collection[int] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    inference: Inference | None = None


@dataclass(frozen=True)
class _Difference:
    """A cell that is not what it was, both sides as text."""

    place: Place
    shown: str | None
    own: str | None


@dataclass(frozen=True, eq=False)
class HiddenPieces:
    """The table a hiding came from in pieces, for tables that do not fit into memory.

    Parameters
    ----------
    rows
        Number of rows.
    tables
        Gives all rows, in their order, as PyArrow tables.
    resources
        What the comparison may use; it needs the scratch folder.
    progress
        Called after each piece: rows done, and rows in all.
    """

    rows: int
    tables: Callable[[], Iterator[Any]]
    resources: Resources
    progress: Callable[[int, int], None] | None = None


@dataclass(eq=False)
class _Compared:
    """What the comparison found so far.

    ``differences`` are the cells that are not what they were. ``values`` are those that occur in columns whose groups
    are intervals, and ``undeleted`` counts rows that show something although they were told to be blank.
    """

    differences: list[_Difference] = field(default_factory=list)
    values: dict[str, set[str]] = field(default_factory=dict)
    undeleted: int = 0


def verify_hidden_cells(path: Path, form: FileForm, original: Any, withheld: Withheld) -> Verdict:
    """Recount what a hiding promises, from the bytes on disk.

    Parameters
    ----------
    path, form
        The written table.
    original
        The table it came from, a PyArrow table with the same columns, or its :class:`HiddenPieces`.
    withheld
        What is said to have been done.
    """
    duckdb = duckdb_module()
    pieces = original if isinstance(original, HiddenPieces) else None
    limits = pieces.resources if pieces else Resources()
    with connect(limits.share(0.25), None, limits.scratch) as connection:
        try:
            if pieces is None:
                names, place, expected = open_table(connection, path, form, copy=True), path, original.num_rows
            else:
                names, place = open_large(connection, path, form, limits.scratch)
                expected = pieces.rows
            [(rows,)] = connection.execute("SELECT count(*) FROM released").fetchall()
            checks = [_columns_check(names, withheld), _rows_check(rows, expected)]
            if all(check.passed for check in checks):
                escapes, compared = form.kind == "csv", _Compared()
                if pieces is None:
                    _compare(connection, original, 0, withheld, compared, escapes=escapes)
                else:
                    _compare_pieces(place, pieces, withheld, compared, escapes=escapes)
                checks += list(_cell_checks(compared, withheld))
                if withheld.inference is not None and all(check.passed for check in checks):
                    checks.append(_inference_check(connection, withheld.inference, compared.differences))
        except duckdb.Error as error:
            reason = type(error).__name__
            raise FileFormatError(f"{path.name} cannot be read back by the verification ({reason}).") from None
    return Verdict(ClassSizes(rows, 0, 0, ()), tuple(checks))


def _compare_pieces(
    path: Path, original: HiddenPieces, withheld: Withheld, compared: _Compared, *, escapes: bool
) -> None:
    """Compare a Parquet file with its original piece by piece."""
    limits, start = original.resources, 0
    with connect(limits.share(0.25), None, limits.scratch) as connection:
        for piece in original.tables():
            open_rows(connection, path, withheld.columns, start, piece.num_rows)
            _compare(connection, piece, start, withheld, compared, escapes=escapes)
            start += piece.num_rows
            if original.progress is not None:
                original.progress(start, original.rows)


def _compare(
    connection: Any, original: Any, start: int, withheld: Withheld, compared: _Compared, *, escapes: bool
) -> None:
    """The table ``released`` next to the rows it came from, the first of which is the row ``start``."""
    _register(connection, original, start)
    most = len(withheld.changes) + _MOST_FAULTS - len(compared.differences)
    compared.differences += islice(_differences(connection, withheld.columns, most, escapes=escapes), most)
    for name, values in _values_in_groups(connection, withheld):
        compared.values.setdefault(name, set()).update(values)
    compared.undeleted += _undeleted(connection, withheld)


def _columns_check(names: Sequence[str], withheld: Withheld) -> Check:
    same = list(names) == list(withheld.columns)
    return Check("columns", same, f"{len(names)} columns, {'all' if same else 'not'} those of the table")


def _rows_check(rows: int, expected: int) -> Check:
    return Check("rows", rows == expected, f"{rows:,} rows; the table has {expected:,}")


def _cell_checks(compared: _Compared, withheld: Withheld) -> Iterator[Check]:
    """The checks of the cells that differ, and of the rows that are blank."""
    differences = compared.differences
    judge = _Judge(withheld.hierarchies, {name: sorted(values) for name, values in compared.values.items()})
    changed = {each.place: each for each in differences}
    wanted = set(withheld.confidential)
    bare = sum(place not in changed or not judge.conceals(changed[place]) for place in wanted)
    yield _check("confidential cells", bare, "show their value", f"{len(wanted):,}, none shows its value")
    others = [each for each in differences if each.place not in wanted]
    untrue = sum(not judge.is_true(each) for each in others)
    yield _check("other cells", untrue, "show what is not true", f"{len(others):,} withheld, all others as they were")
    silent = sum(
        each.place not in withheld.changes or each.shown != withheld.changes[each.place] for each in differences
    )
    unmade = sum(place not in changed for place in withheld.changes)
    yield _check("list of changes", silent + unmade, "differ from the list", f"{len(differences):,}, as listed")
    blank = f"{len(set(withheld.deleted)):,}, blank throughout"
    yield _check("deleted rows", compared.undeleted, "still show something", blank)


def _check(name: str, wrong: int, fault: str, fine: str) -> Check:
    return Check(name, not wrong, f"{wrong:,} {fault}" if wrong else fine)


def _undeleted(connection: Any, withheld: Withheld) -> int:
    """Rows that were told to be deleted and show something all the same."""
    rows = sorted(set(withheld.deleted))
    any_shown = " OR ".join(f"r.{column(i)} IS NOT NULL" for i in range(len(withheld.columns)))
    query = f"SELECT o.place FROM {_PAIRS} WHERE list_contains($rows, o.place) AND ({any_shown})"
    return len(connection.execute(query, {"rows": rows}).fetchall()) if rows else 0


def _inference_check(connection: Any, inference: Inference, differences: Sequence[_Difference]) -> Check:
    """Naive Bayes is right about the cells it was said to be right about, and no others."""
    guesses = recounted_guesses(connection, inference, {each.place for each in differences})
    other = sum(guesses[place] != right for place, right in inference.right.items())
    fine = f"naive Bayes guesses {sum(guesses.values()):,} of {len(guesses):,} confidential cells, as stated"
    return _check("inference", other, "are not as stated about naive Bayes", fine)


def _register(connection: Any, original: Any, start: int) -> None:
    """The original with its columns named by position, and the place of every row."""
    import pyarrow as pa

    names = [column(i) for i in range(original.num_columns)]
    places = pa.array(np.arange(start, start + original.num_rows))
    connection.register("original", original.rename_columns(names).append_column("place", places))
    connection.execute(f"CREATE OR REPLACE TEMP MACRO {_ESCAPED}")


def _values_in_groups(connection: Any, withheld: Withheld) -> Iterator[tuple[str, list[str]]]:
    """The distinct values of the columns whose groups are intervals."""
    for position, name in enumerate(withheld.columns):
        if name in withheld.hierarchies and withheld.hierarchies[name].kind is not Leaves.VALUES:
            at = column(position)
            query = f"SELECT DISTINCT {at}::VARCHAR FROM original WHERE {at} IS NOT NULL"
            yield name, [value for (value,) in connection.execute(query).fetchall()]


def _differences(connection: Any, names: Sequence[str], most: int, *, escapes: bool) -> Iterator[_Difference]:
    """The cells that are not what they were; a text side is read in the type of the other side."""
    types = {
        table: {row[0]: row[1] for row in connection.execute(f"DESCRIBE {table}").fetchall()}
        for table in ("released", "original")
    }
    for position, name in enumerate(names):
        at = column(position)
        differs = _differs(at, types["released"][at], types["original"][at], escapes)
        query = f"SELECT o.place, r.{at}::VARCHAR, o.{at}::VARCHAR FROM {_PAIRS} WHERE {differs}"
        for row, shown, own in connection.execute(f"{query} LIMIT {most}").fetchall():
            plain = _FORMULA.sub("", shown) if escapes and shown is not None else shown
            yield _Difference((int(row), name), plain, own)


def _differs(at: str, written: str, own: str, escapes: bool) -> str:
    """The condition that a cell is not what it was."""
    here, there = f"r.{at}", f"o.{at}"
    if written == own == "VARCHAR" and escapes:
        return f"{here} IS DISTINCT FROM {there} AND {here} IS DISTINCT FROM escaped({there})"
    only_one = f"({here} IS NULL) <> ({there} IS NULL)"
    if written == "VARCHAR":
        here = f"TRY_CAST({here} AS {own})"
    elif own == "VARCHAR":
        there = f"TRY_CAST({there} AS {written})"
    return f"{only_one} OR {here} IS DISTINCT FROM {there}"


class _Judge:
    """Knows which values lie below the groups of each column, and which values there are where groups are intervals."""

    def __init__(self, hierarchies: Mapping[str, Hierarchy], values: Mapping[str, Sequence[str]]) -> None:
        self._values = values
        self._kinds = {name: hierarchy.kind for name, hierarchy in hierarchies.items()}
        self._below: dict[str, dict[str, list[str]]] = {}
        for name, hierarchy in hierarchies.items():
            groups = self._below.setdefault(name, {})
            for group, value in groups_and_values(hierarchy):
                groups.setdefault(group, []).append(value)

    def is_true(self, cell: _Difference) -> bool:
        """Whether the cell shows nothing, or a group that holds its value."""
        if cell.shown is None:
            return True
        name = cell.place[1]
        values = self._below.get(name, {}).get(cell.shown, ())
        return bool(values) and cell.own is not None and self._holds(name, values, cell.own)

    def conceals(self, cell: _Difference) -> bool:
        """Whether a confidential cell shows nothing, or a group with more than its value."""
        return cell.shown is None or (self.is_true(cell) and self._holds_several(cell.place[1], cell.shown))

    def _holds_several(self, name: str, group: str) -> bool:
        """Whether a group has several values; an interval, several that occur."""
        below = self._below[name][group]
        if self._kinds[name] is Leaves.VALUES:
            return len(below) > 1
        return len({self._number(name, value) for value in self._values[name] if self._holds(name, below, value)}) > 1

    def _holds(self, name: str, values: Iterable[str], own: str) -> bool:
        if self._kinds[name] is Leaves.VALUES:
            return _is_among(own, list(values))
        number = self._number(name, own)
        intervals = filter(None, (parse_interval(value, dates=self._kinds[name] is Leaves.DATES) for value in values))
        return number is not None and any(
            (each.low is None or number > each.low) and (each.high is None or number <= each.high) for each in intervals
        )

    def _number(self, name: str, own: str) -> float | None:
        return parse_day(own[:10]) if self._kinds[name] is Leaves.DATES else parse_number(own)


def _is_among(own: str, values: Sequence[str]) -> bool:
    """Whether a value is one of those, as text or as the number it writes."""
    if own in values:
        return True
    number = parse_number(own)
    return number is not None and any(parse_number(value) == number for value in values)
