"""Compare a written release with the table it came from, cell by cell.

What a released quasi-identifier cell may hold, given the row's own value: nothing; the value; a set with the
value in it; the name of a group above it in its hierarchy; an interval around it; for numbers, the mean over the rows
it speaks for, or the middle of an interval around it; the counts of all values of its class. All other columns must be
exactly as they were, or as a key makes them (:mod:`incrowd.verification.column_rules`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.errors import FileFormatError
from incrowd.verification.class_sizes import recount_persons, recount_promises, sizes_of, telling_columns_check
from incrowd.verification.coded import CodedCells, cells_of, text_groups
from incrowd.verification.comparison import MACROS as CELLS
from incrowd.verification.comparison import AllFindings, CellComparison, PieceFindings
from incrowd.verification.delimited import check_count
from incrowd.verification.opening import (
    Opened,
    column,
    connect,
    create_macros,
    duckdb_module,
    guarded,
    open_large,
    open_rows,
    open_table,
    register,
    text,
)
from incrowd.verification.population import recount_population
from incrowd.verification.request import Expected, Original, Originals, Request
from incrowd.verification.requirements import recount_requirements
from incrowd.verification.shown import MACROS as MEMBERS
from incrowd.verification.shown import Forms
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.resources import Resources

_GROUP_COLUMNS = ["attribute", "value", "count"]


def open_pair(
    connection: Any, rows: Path, groups: Path, form: FileForm, columns: Sequence[str], counted: Sequence[str]
) -> tuple[list[str], Check]:
    """Register the table ``released`` with the columns of a release of counts; the names of its columns, and a check.

    The check is that both tables number the same groups, and that groups with different numbers tell different things:
    then the classes of the joined table are the groups. The names are those that were found if they are not as asked.
    """
    beside = [name for name in columns if name not in counted]
    group_names = open_table(connection, groups, form, copy=True)
    if group_names[1:] != _GROUP_COLUMNS:
        return group_names, Check("groups", False, "the table of groups has other columns")
    connection.execute("CREATE OR REPLACE TEMP TABLE told AS FROM released")
    names = open_table(connection, rows, form, copy=True)
    if names != [group_names[0], *beside]:
        return names, Check("groups", False, "the table of rows has other columns")
    connection.execute("CREATE OR REPLACE TEMP TABLE listed AS FROM released")
    create_macros(connection, (*CELLS, *MEMBERS))
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE texts AS SELECT c0 AS number, c1 AS attribute, string_agg(member_of(c2) || ':' "
        "|| c3, '|' ORDER BY rowid) AS text FROM told GROUP BY ALL"
    )
    connection.execute(f"CREATE OR REPLACE TEMP TABLE released AS {_joined(columns, counted, beside)}")
    return list(columns), _groups_check(connection, columns, counted)


def _joined(columns: Sequence[str], counted: Sequence[str], beside: Sequence[str]) -> str:
    """The query that gives each row the texts of its group, in the order of the rows."""
    cells, joins = [], []
    for place, name in enumerate(columns):
        if name in counted:
            joins.append(f"LEFT JOIN texts AS t{place} ON t{place}.number = r.c0 AND t{place}.attribute = {text(name)}")
            cells.append(f"coalesce(t{place}.text, '*') AS {column(place)}")
        else:
            cells.append(f"r.{column(1 + beside.index(name))} AS {column(place)}")
    return f"SELECT {', '.join(cells)} FROM listed AS r {' '.join(joins)} ORDER BY r.rowid"


def _groups_check(connection: Any, columns: Sequence[str], counted: Sequence[str]) -> Check:
    keys = ", ".join(column(list(columns).index(name)) for name in counted)
    attributes = ", ".join(text(name) for name in counted)
    groups, unnumbered, looks, alone, foreign = connection.execute(
        "SELECT (SELECT count(DISTINCT c0) FROM listed), (SELECT count(*) FROM listed WHERE c0 IS NULL), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {keys} FROM released)), "
        "(SELECT count(DISTINCT c0) FROM told WHERE c0 NOT IN (SELECT c0 FROM listed WHERE c0 IS NOT NULL)), "
        f"(SELECT count(*) FROM told WHERE c0 IS NULL OR c1 IS NULL OR c1 NOT IN ({attributes}))"
    ).fetchall()[0]
    (back,) = connection.execute(
        f"WITH lines AS (SELECT rowid AS line, (c0::BIGINT, list_position([{attributes}], c1)) AS place FROM told) "
        "SELECT count(*) FROM (SELECT place, lag(place) OVER (ORDER BY line) AS before FROM lines) WHERE place < before"
    ).fetchall()[0]
    if groups == looks and not (alone or foreign or unnumbered or back):
        return Check("groups", True, f"{groups:,} groups, the same in both tables")
    return Check(
        "groups",
        False,
        f"{groups:,} groups of rows tell {looks:,} different things; {alone:,} groups have no row; {foreign:,} lines "
        f"tell of no group or attribute; {unnumbered:,} rows are in no group; {back:,} lines are out of order",
    )


# Compare a release with its original piece by piece, some at the same time.
def compare_pieces(
    path: Path,
    expected: Expected,
    original: Originals,
    limits: Resources,
    *,
    escapes: bool,
    progress: Progress | None = None,
) -> Iterator[PieceFindings]:
    """What each piece of a Parquet file shows next to its original, in order. Each thread has its own database."""
    ends = list(accumulate(original.sizes))
    mine, opened = threading.local(), ExitStack()

    def compared(piece: int) -> PieceFindings:
        if not hasattr(mine, "connection"):
            mine.connection = opened.enter_context(connect(limits.share(0.25 / limits.threads), 1, limits.scratch))
            mine.comparison = CellComparison(mine.connection, expected, escapes=escapes)
        rows = range(ends[piece] - original.sizes[piece], ends[piece])
        open_rows(mine.connection, path, expected.columns, rows.start, len(rows))
        read = cells_of([*text_groups(path, named, rows)])
        by_name = {named[name]: cells for name, cells in read.items()}
        findings: PieceFindings = mine.comparison.piece(original.piece(piece), by_name)
        return findings

    import pyarrow.parquet as pq

    columns = zip(pq.read_schema(path).names, expected.columns, strict=True)  # of a copy, the names are others
    named = {own: name for own, name in columns if name in expected.quasi_identifiers}

    with opened, ThreadPoolExecutor(limits.threads) as pool:
        for piece, findings in enumerate(pool.map(compared, range(len(ends)))):
            if progress is not None:
                progress(ends[piece], ends[-1])
            yield findings


def compare_piece(written: Any, expected: Expected, original: Original) -> PieceFindings:
    """What a PyArrow table that was read back shows next to its original.

    For who reads the pieces elsewhere, where text has no apostrophe before it.
    """
    with connect(threads=1) as connection:
        register(connection, written, "released")
        return CellComparison(connection, expected, escapes=False).piece(original)


def added_pieces(findings: Iterable[PieceFindings], expected: Expected) -> AllFindings:
    """What all such pieces show."""
    with connect() as connection:
        return CellComparison(connection, expected, escapes=False).added(findings)


Progress = Callable[[int, int], None]
"""Told as pieces are compared: rows done, and rows in all."""

More = Callable[[Any, Mapping[str, CodedCells]], Iterable[Check]]
"""Further checks, made with a connection that has the release, and what was read of it whole, as codes."""


def verify_release(
    path: Path,
    form: FileForm,
    expected: Expected,
    original: Original | Originals,
    resources: Resources | None = None,
    progress: Progress | None = None,
    groups: Path | None = None,
    more: More | None = None,
    database: Any = None,
    examined: Opened | None = None,
    read: Mapping[str, CodedCells] | None = None,
) -> Verdict:
    """Recount everything a release promises, from the bytes on disk.

    An original in pieces is compared piece by piece, in the scratch folder of the resources where need be. ``groups``
    is the table of groups of a release of two tables, which is compared whole. ``more`` has further checks, made of the
    table ``released`` and, where it is whole, ``original``. Without a ``database`` one is made. ``examined`` is
    the file if that has opened it before, ``read`` columns of it that are codes already.
    """
    duckdb = duckdb_module()
    limits, whole = resources or Resources(), isinstance(original, Original)
    with nullcontext(database) if database else connect(limits.share(0.5), None, limits.scratch) as connection:
        try:
            joined: tuple[Check, ...] = ()
            if groups is not None:
                names, check = open_pair(connection, path, groups, form, expected.columns, list(expected.counts))
                place, joined = path, (check,)
            elif whole:
                names, place = _open_whole(connection, path, form, len(original.origin), examined), path
            else:
                names, place = open_large(connection, path, form, limits.scratch)
            if names != list(expected.columns):
                return Verdict(sizes_of([]), (Check("columns", False, f"{len(names)} columns, not those requested"),))
            sizes, counted = _promises(connection, names, expected, copy=whole)
            sets = [known for _, known, _ in expected.promises]
            checks = [
                Check("columns", True, f"{len(names)} columns, as requested"),
                *joined,
                *counted,
                *recount_requirements(connection, names, sets, expected.further, expected.owners),
                *_population(connection, names, expected),
            ]
            shown: Forms = {}
            escapes = form.kind == "csv"
            rows = rows_check(sizes.rows, Originals.of(original), expected.may_lose)
            checks.append(rows)
            if rows.passed:
                compare = CellComparison(connection, expected, escapes=escapes, pair=groups is not None)
                findings = compare.added(
                    [compare.piece(original, read)]
                    if isinstance(original, Original)
                    else compare_pieces(place, expected, original, limits, escapes=escapes, progress=progress)
                )
                shown = findings.shown
                checks += [means_check(findings.heavy)] if expected.owners is not None else []
                checks += [formulas_check(findings.formulas, names)] if escapes else []
                checks += [
                    cells_check(
                        name,
                        findings.wrong[name],
                        name in expected.quasi_identifiers,
                        recomputed=name in expected.keyed,
                        drawn=expected.drawn is not None,
                    )
                    for name in names
                    if name != expected.pseudonym
                ]
                checks += more(connection, compare.shown) if more is not None else ()
        except duckdb.Error as error:
            reason = type(error).__name__
            raise FileFormatError(f"{path.name} cannot be read back by the verification ({reason}).") from None
    return Verdict(sizes, tuple(checks), Originals.of(original).rows, shown)


MOST_COPIED = 250_000
"""Rows of Parquet that are copied for many queries; of more each query reads the columns it needs, which costs less."""
MOST_HELD, BYTES_OF_CELL = 64_000_000, 64
"""Cells of a release that is compared whole, wherever it was made, and the memory that each may need."""


_BY_PATH = ("csv", "parquet")
"""Formats of which a query names the file; of others a table of the connection, whose name the input takes later."""


def is_copied(form: FileForm, rows: int) -> bool:
    """Whether a file of so many rows is read once, into memory, for many queries."""
    return form.kind != "parquet" or rows <= MOST_COPIED


def in_one_piece(request: Request) -> Request:
    """The same of a release that was written in pieces, if there is room for all of its rows as codes."""
    rows, most = sum(request.hint.sizes), MOST_HELD if request.memory is None else request.memory // BYTES_OF_CELL
    if rows * len(request.columns) > most:
        return request
    return replace(request, hint=replace(request.hint, sizes=(rows,)))


def is_read_whole(request: Request) -> bool:
    """Whether the texts of the release are held as the codes of its file: of a large Parquet file."""
    one, copied = len(request.hint.sizes) == 1, is_copied(request.form, request.hint.sizes[0])
    return one and not copied and request.groups is None and request.release.is_file()


def _open_whole(connection: Any, path: Path, form: FileForm, rows: int, examined: Opened | None) -> list[str]:
    """Register the file as the table ``released``, its rows counted twice; the names of its columns."""
    copy = is_copied(form, rows)
    if examined is None or not copy or form.kind not in _BY_PATH:
        return open_table(connection, path, form, copy=copy)
    with guarded(path.name, form.kind):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE released AS {examined.query}")
        [(counted,)] = connection.execute("SELECT count(*) FROM released").fetchall()
    check_count(path.name, counted, examined.rows)
    return examined.names


def _promises(
    connection: Any, names: Sequence[str], expected: Expected, *, copy: bool
) -> tuple[ClassSizes, tuple[Check, ...]]:
    """What is promised of k: rows are counted, or persons, who may have several; their table is made first."""
    owners = expected.owners
    if owners is None:
        return recount_promises(connection, names, expected.promises)
    owned = owners.check()
    if len(owners.released) != owners.register(connection, copy=copy):
        raise FileFormatError("The release has other rows than those that were made. Nothing was published.")
    sizes, counted = recount_persons(connection, names, expected.promises, owners)
    return sizes, (owned, *counted, telling_columns_check(connection, names, owners, expected.pseudonym))


def _population(connection: Any, names: Sequence[str], expected: Expected) -> tuple[Check, ...]:
    """What is required of a population; of persons who can be followed nobody can say who fits."""
    owners, people = expected.owners, expected.people
    if owners is not None and owners.persons.linked and people is not None:
        return tuple(Check(str(part), False, "this is not counted of histories") for part in people.requirements)
    return recount_population(connection, names, expected.quasi_identifiers, people, persons=owners is not None)


def means_check(heavy: int) -> Check:
    """The check that of no mean one person has more than half of the rows."""
    finding = "of none one person has more than half" if not heavy else f"of {heavy:,} one person has more than half"
    return Check("means", not heavy, finding)


def formulas_check(cells: int, names: Sequence[str]) -> Check:
    """The check that a spreadsheet takes no cell and no name for a formula."""
    risky = sum(len(name) > 1 and name[0] in "=+@-\t\r" for name in names)
    finding = "no cell is a formula" if not cells + risky else f"{cells:,} cells and {risky} names are formulas"
    return Check("formulas", not cells + risky, finding)


def rows_check(released: int, original: Originals, may_lose: int) -> Check:
    """Every released row is a different input row, and no more are missing than allowed."""
    origin = original.origin
    inside = len(origin) == released and bool(((origin >= 0) & (origin < original.rows)).all())
    different = inside and not (np.bincount(origin) > 1).any()
    lost = original.rows - released
    return Check("rows", different and lost <= may_lose, f"{released:,} released, {lost:,} left out")


def cells_check(name: str, wrong: int, transformed: bool, *, recomputed: bool = False, drawn: bool = False) -> Check:
    """The check that every cell of a column follows from the original; or from it and a key, if one makes it."""
    if drawn and transformed:
        finding = "every count, by rule and key" if not wrong else f"{wrong:,} cells or numbers are not so drawn"
        return Check(f"{name} drawn", wrong == 0, finding)
    promise = "faithful" if transformed else "recomputed" if recomputed else "untouched"
    finding = "every cell" if not wrong else f"{wrong:,} cells or numbers differ from the original"
    return Check(f"{name} {promise}", wrong == 0, finding)
