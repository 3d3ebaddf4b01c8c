"""The whole verdict on a release: told by a request, from input and written file alone.

What is expected of the release follows from the input's own header and the roles the user gave: which columns, in which
order, which of them transformed. The plan is not known here.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from incrowd.verification.beside import coded_table
from incrowd.verification.class_sizes import sizes_of
from incrowd.verification.coded import CodedCells, cells_of, text_groups
from incrowd.verification.column_rules import UNKEYED, pseudonym_checks
from incrowd.verification.faithfulness import in_one_piece, is_copied, is_read_whole, verify_release
from incrowd.verification.forbidden_cells import (
    EVERYBODY,
    PRESET,
    rare_cells,
    rare_values_check,
    safe_harbor_check,
)
from incrowd.verification.histories import person_pseudonym_checks
from incrowd.verification.input_table import (
    ColumnOrigin,
    InputTable,
    all_rows,
    counted_values,
    encoded,
    originals,
)
from incrowd.verification.joint_values import JointValues, counted_checks, disjoint_check
from incrowd.verification.limits import PublicBins, cells_beyond, limit_checks
from incrowd.verification.opening import (
    column,
    connect,
    open_file,
    open_rows,
    open_table,
    recounted_path,
    register,
)
from incrowd.verification.order import (
    class_order_check,
    group_numbers_check,
    hidden_order_check,
    row_order_check,
    window,
)
from incrowd.verification.owners import Owners, with_days, with_rows_of
from incrowd.verification.population import People
from incrowd.verification.request import Expected, InputFile, Original, Originals, Request
from incrowd.verification.requirements import Further
from incrowd.verification.together import CodedTable
from incrowd.verification.two_tables import PersonsTable
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Check, Verdict
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.preferences import rows_to_lose
from incrowd.vocabulary.requirement import Together
from incrowd.vocabulary.resources import Resources
from incrowd.vocabulary.schema import KEYED, NOT_RELEASED, Role

LOW, HIGH = "_low", "_high"
_INDEX = "__index_level_"
Progress = Callable[[int, int], None]


def judge(request: Request, progress: Progress | None = None) -> Verdict:
    """Recount everything that was asked for, and compare every cell with the input.

    A table of persons that is released beside the rows is judged first; both are counted together.
    """
    if request.static is None:
        return _judged(request, progress)
    tables: list[PersonsTable] = []
    first = _judged(request.static, None, lambda *opened: tables.append(PersonsTable.of(*opened)))
    if not first.passed or not tables:
        return first
    verdict = _judged(request, progress, beside=tables[0])
    holds = Check("table of persons beside it", True, f"{len(first.checks)} checks hold")
    return replace(verdict, checks=(*verdict.checks, holds, _required_check(request)))


def _required_check(request: Request) -> Check:
    """All that is promised of two tables was recounted of one of them."""
    assert request.static is not None
    promised, own, of_persons = (
        frozenset[object](one.parts if isinstance(one, Together) else (one,))
        for one in (request.together, request.requirement, request.static.requirement)
    )
    left = promised - own - of_persons
    return Check("required of both", not left, f"{len(left)} of {len(promised)} promises are of neither table")


def _judged(
    request: Request,
    progress: Progress | None,
    after: Callable[[Any, Expected, CodedTable | None], None] | None = None,
    beside: PersonsTable | None = None,
) -> Verdict:
    """The verdict on one table; ``after`` looks at it once it is checked, ``beside`` is counted together with it."""
    limits = Resources(request.memory, request.threads, request.scratch)
    request = in_one_piece(request)
    checks, read = _bytes_checks(request)
    digests = tuple(_digest(path) for path in _files(request))
    counted: UnchangedCounts | None = None
    of_persons = None if beside is None or beside.coded is None else beside.coded.counts
    with connect(limits.share(0.5), None, limits.scratch) as connection:
        examined = None if request.groups else open_file(connection, request.release, request.form, "header")
        sources = expected_columns(request, [] if examined is None else examined.names)  # counts show no bounds
        whole = len(request.hint.sizes) == 1
        copy = whole and _is_copied(request.input, request.hint.sizes[0])
        table = InputTable.open(connection, request.input, request.scratch, request.typed, copy=copy)
        strange = list(_input_checks(request, table))
        if not all(one.passed for one in strange):
            return Verdict(sizes_of([]), (*checks, *strange))
        if request.persons_of is not None and request.persons is not None:
            table = with_rows_of(table, request.persons, _spelled_in_order(request.persons_of, request))
        table, owners = _with_owners(request, table)
        original = originals(table, sources, request.hint, request.scratch)
        if owners is not None:
            owners = owners.released_as(original.origin, None if beside is None else beside.strangers(owners))
            if not (whose := owners.check()).passed:
                return Verdict(sizes_of([]), (*checks, whose))
        people = people_of(request, sources, limits)
        everybody = _everybody(table, sources, owners, whole=whole) if request.rarest else {}
        bins = PublicBins.of(table, sources, owners) if request.counted else None
        together = JointValues.of(request, table, sources, owners)
        hidden = _hidden(request, table, original.origin) if request.file else []
        if request.file:
            checks += _order_checks(request, hidden, np.asarray(original.origin))
        table.close()
        expected = replace(expected_of(request, sources, people, original.rows, owners), joint=together.named)
        if beside is not None and owners is not None:
            beside.register(connection, owners)

        def more(connection: Any, shown: Mapping[str, CodedCells]) -> Iterator[Check]:
            nonlocal counted, of_persons
            coded = coded_table(connection, request, sources, expected, original, shown)
            counted = None if coded is None else coded.counts
            if beside is not None and owners is not None and len(original.origin):
                of_persons, counted = beside.unchanged_counts(coded, request, owners) or (None, None)
            yield from _followed(connection, expected, beside, request)
            if request.input.keyed is not None:
                yield from pseudonym_checks(connection, request.input, table.names, expected.columns, sources)
            if request.preset == PRESET:
                yield safe_harbor_check(connection, request, sources)
            if everybody:
                yield _rare_values(connection, request, expected, everybody, original)
            yield from counted_checks(connection, bins, together, expected, request.requirement.smallest_group)
            shown_in = names_shown(sources)
            yield from limit_checks(request, cells_beyond(connection, request, shown_in, expected, original))
            if request.file:
                yield class_order_check(hidden, classes_of_rows(connection, expected, window(len(original.origin))))
            if after is not None:
                after(connection, expected, coded)

        written = request.release, request.form
        seen: dict[str, Any] = {"groups": request.groups, "examined": examined, "read": read}
        verdict = verify_release(*written, expected, original, limits, progress, more=more, database=connection, **seen)
    checks += [_left_out(request, verdict, original, owners)]
    both = (counted, of_persons)
    undone = any(one is not None and (one.given_back or one.by) for one in both)
    counted, of_persons = (one and _by_known_rows(one, request, verdict, undone=undone) for one in both)
    return replace(verdict, checks=(*verdict.checks, *checks), digests=digests, unchanged=counted, beside=of_persons)


def _bytes_checks(request: Request) -> tuple[list[Check], dict[str, CodedCells]]:
    """What lies in the files beside cells; and the texts of the release, if all are read here."""
    texts = list(text_groups(request.release)) if is_read_whole(request) else None
    checks = [bytes_check(path, request.form, texts) for path in _files(request)] if request.file else []
    return checks, {} if texts is None else cells_of(texts)


def _is_copied(file: InputFile, rows: int) -> bool:
    return is_copied(FileForm(file.kind), rows) or bool(file.coarsen or file.keyed)


def _spelled_in_order(file: InputFile, request: Request) -> dict[str, str]:
    """The persons of another table, in the order of their first rows, and how each is spelled there."""
    assert request.persons is not None
    with connect(None, None, request.scratch) as connection:
        return Owners.of(InputTable.open(connection, file, request.scratch), request.persons).spelled_in_order()


def _by_known_rows(counted: UnchangedCounts, request: Request, verdict: Verdict, *, undone: bool) -> UnchangedCounts:
    """Where some rows of a person may be known, as many share them as was counted, if nothing is given back.

    What is given back is not counted beside known rows; then those with the same whole history are, who are fewer. The
    advice leaves out all that gives something back.
    """
    persons = verdict.sizes.persons
    if request.persons is None or request.persons.known_rows is None or persons is None:
        return counted
    if undone:
        advice = counted.advice and replace(counted.advice, effective_k=persons.smallest)
        return replace(counted, advice=advice)
    sets = tuple(replace(one, effective_k=persons.smallest, people_below_k=0) for one in counted.sets)
    return replace(counted, sets=sets, people_below_k=0, advice=None)


def _files(request: Request) -> list[Path]:
    """The files of a release: its rows, and its groups if these have a table of their own."""
    return [path for path in (request.release, request.groups) if path is not None]


def _with_owners(request: Request, table: InputTable) -> tuple[InputTable, Owners | None]:
    """Whose rows those of the input are, and the input with days in place of dates that order them, if released."""
    if request.persons is None:
        return table, None
    owners, order = Owners.of(table, request.persons), request.persons.order
    if order is None or order not in request.role(Role.QUASI_IDENTIFIER):
        return table, owners
    return with_days(table, owners, order)


def _followed(connection: Any, expected: Expected, beside: PersonsTable | None, request: Request) -> Iterator[Check]:
    """The checks of pseudonyms of persons, where recipients can follow them, and of the table of persons."""
    if expected.owners is None or expected.pseudonym is None:
        return
    place = list(expected.columns).index(expected.pseudonym)
    yield from person_pseudonym_checks(connection, expected.pseudonym, place, expected.owners)
    if beside is not None:
        yield from beside.checks(connection, expected, refuses_orphans=request.orphans == "refuse")


def _rare_values(
    connection: Any, request: Request, expected: Expected, everybody: Mapping[str, Any], original: Original | Originals
) -> Check:
    """No cell names what fewer people have than was asked for; of a release in pieces, no cell of a piece."""
    if isinstance(original, Original):
        return rare_values_check(rare_cells(connection, request, expected, everybody), request.rarest)
    cells: Counter[str] = Counter()
    limits = Resources(request.memory, request.threads, request.scratch)
    path, ends = recounted_path(request.release, request.form, request.scratch), list(accumulate(original.sizes))
    with connect(limits.share(0.25), None, limits.scratch) as own:
        for piece, (end, size) in enumerate(zip(ends, original.sizes, strict=True)):
            open_rows(own, path, expected.columns, end - size, size)
            register(own, original.piece(piece).table, "original")
            cells.update(rare_cells(own, request, expected, everybody))
    return rare_values_check(cells, request.rarest)


def _everybody(
    table: InputTable, sources: Sequence[ColumnOrigin], owners: Owners | None, *, whole: bool
) -> dict[str, Any]:
    """All people of the input, by the names of the tables in which RareValues looks for them.

    All rows in the columns of the release, with the person of each, if somebody may have several; of a table that is
    not held whole a table for each quasi-identifier, with how many people have each of its values.
    """
    import pyarrow as pa

    if not whole:
        quasi = [(column(place), one) for place, one in enumerate(sources) if one.understood]
        return {f"{EVERYBODY}_{at}": counted_values(table, one, at) for at, one in quasi}
    rows = all_rows(table, sources)
    rows = rows.rename_columns([column(place) for place in range(rows.num_columns)])
    if owners is not None:
        rows = rows.append_column(column(rows.num_columns), pa.array(owners.codes))
    return {EVERYBODY: rows}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def written(name: str, request: Request) -> str:
    """The name of a column in the written file; a spreadsheet must not take it for a formula."""
    risky = request.form.kind == "csv" and len(name) > 1 and name[0] in "=+@-\t\r"
    return f"'{name}" if risky else name


def _input_checks(request: Request, table: InputTable) -> Iterator[Check]:
    """The columns of the input are those that the request is about, and none is counted together in two ways."""
    present = [name for name in table.names if not name.startswith(_INDEX)]
    known = [column.name for column in request.columns]
    yield Check("input", present == known, f"{table.rows:,} rows, {len(present)} columns")
    if request.drawn is not None and request.drawn.joint:
        yield disjoint_check(request.drawn, request.role(Role.QUASI_IDENTIFIER))


def expected_columns(request: Request, header: Sequence[str]) -> list[ColumnOrigin]:
    """What the release must consist of: all columns but identifiers and those to drop, in the order of the input.

    A number may be shown by its bounds, in two columns. The person is released, as a pseudonym, if recipients can
    follow persons.
    """
    sources = []
    linked = request.persons is not None and request.persons.linked
    for known in request.columns:
        if known.role in NOT_RELEASED and not (linked and known.role is Role.PERSON):
            continue
        ends = [written(known.name + end, request) for end in (LOW, HIGH)]
        spread = known.role is Role.QUASI_IDENTIFIER and known.type.is_numeric and set(ends) <= set(header)
        spread = spread and written(known.name, request) not in header
        names = ends if spread else [written(known.name, request)]
        sources += [ColumnOrigin(name, known) for name in names]
    return sources


def names_shown(sources: Sequence[ColumnOrigin]) -> dict[str, list[str]]:
    """The names in the release of each column of the input that is there."""
    names: dict[str, list[str]] = {}
    for one in sources:
        names.setdefault(one.column.name, []).append(one.name)
    return names


def expected_of(
    request: Request,
    sources: Sequence[ColumnOrigin],
    people: People | None,
    rows: int = 0,
    owners: Owners | None = None,
) -> Expected:
    """What has to be recounted of a table of so many rows, in the names of the written file."""
    quasi = request.role(Role.QUASI_IDENTIFIER)
    known, names_of, distinct = request.requirement.sets(quasi), names_shown(sources), set(quasi)

    def columns(names: Sequence[str]) -> list[str]:
        return [shown for name in names for shown in names_of.get(name, [])]

    bounds = [(low, high) for name in quasi if len(columns([name])) == 2 for low, high in [columns([name])]]
    single = [column for column in request.columns if column.name in distinct and len(columns([column.name])) == 1]
    promises = zip(request.requirement.promises, known, strict=False)
    further = _further(request)
    may_lose = sum(one.k - 1 for one in known) if request.loses_rows and not further else 0
    if request.lose is not None:
        may_lose = rows_to_lose(request.lose, rows)
    if owners is not None:
        may_lose = owners.rows_to_lose(may_lose, rows, by_method=request.lose is None)
    return Expected(
        promises=[(promise, columns(one.names), one.k) for promise, one in promises],
        columns=[one.name for one in sources],
        quasi_identifiers=columns(quasi),
        may_lose=may_lose,
        shared_means=columns([one.name for one in request.columns if one.name in distinct and one.type.is_numeric])
        if request.levels
        else (),
        bounds=bounds,
        hierarchies={written(c.name, request): c.hierarchy for c in single if c.hierarchy is not None},
        counts=columns(quasi) if request.counted else (),
        drawn=request.drawn
        and replace(request.drawn, bins={written(name, request): bins for name, bins in request.drawn.bins.items()}),
        further=further,
        people=people,
        extremes=request.extremes,
        keyed=columns([column.name for column in request.columns if column.role in KEYED]),
        owners=owners,
        pseudonym=next((one.name for one in sources if one.column.role is Role.PERSON), None),
    )


def _further(request: Request) -> tuple[Further, ...]:
    if not isinstance(request.requirement, Together):
        return ()
    by_name = {column.name: column for column in request.columns}
    target = next(iter(request.role(Role.TARGET)), "")
    subjects = [(part, by_name[part.on or target]) for part in request.requirement.on_columns]
    return tuple(
        Further(
            part, written(c.name, request), c.type, order=c.order, hierarchy=c.hierarchy, missing=request.input.missing
        )
        for part, c in subjects
    )


def _hidden(request: Request, table: InputTable, origin: Any) -> list[tuple[str, Any]]:
    """The columns that the release does not show as they are, with the values of some rows in its order."""
    names = [name for role in (*NOT_RELEASED, Role.QUASI_IDENTIFIER) for name in request.role(role)]
    rows = origin[window(len(origin))]
    some = table.rows_at(names, rows)
    shown = [(name, some.column(place)) for place, name in enumerate(names)]
    if request.input.keyed is None:
        return shown
    keyed = request.input.keyed.columns
    before = table.rows_at(keyed, rows, of=UNKEYED)
    return [*shown, *((name, before.column(place)) for place, name in enumerate(keyed))]


def classes_of_rows(connection: Any, expected: Expected, rows: slice) -> Any:
    """The class of each of some rows of the table ``released``, as a number."""
    keys = ", ".join(column(list(expected.columns).index(name)) for name in expected.quasi_identifiers)
    numbered = connection.sql(
        f"SELECT dense_rank() OVER (ORDER BY {keys}) AS class FROM (SELECT {keys}, row_number() OVER () AS line FROM "
        f"(SELECT {keys} FROM released LIMIT {rows.stop - rows.start} OFFSET {rows.start})) ORDER BY line"
    )
    return numbered.fetchnumpy()["class"].astype(np.int64)


def _order_checks(request: Request, hidden: Sequence[tuple[str, Any]], origin: Any) -> list[Check]:
    """Neither the order of the input nor a hidden column orders the release."""
    checks = [row_order_check(origin, seeded=request.seeded), hidden_order_check(hidden)]
    if request.groups is not None:
        with connect() as connection:
            open_table(connection, request.release, request.form)
            numbers = connection.sql("SELECT TRY_CAST(c0 AS BIGINT) AS n FROM released").fetchnumpy()["n"]
        checks.append(group_numbers_check(np.asarray(numbers, np.int64), origin))
    return checks


def _left_out(
    request: Request, verdict: Verdict, original: Original | Originals, owners: Owners | None = None
) -> Check:
    """As many rows are missing as the program says, beside those of nobody."""
    lost = original.rows - verdict.sizes.rows - (0 if owners is None else owners.nobodys)
    return Check(
        "left out",
        lost == request.left_out,
        f"{lost:,} rows, as announced"
        if lost == request.left_out
        else f"{lost:,} rows, not the {request.left_out:,} announced",
    )


def people_of(request: Request, sources: Sequence[ColumnOrigin], limits: Resources) -> People | None:
    """The population, read here, if something is required of it."""
    if request.population is None or not isinstance(request.requirement, Together):
        return None
    by_name = {column.name: column for column in request.columns}
    quasi = [by_name[name] for name in request.role(Role.QUASI_IDENTIFIER)]
    with connect(limits.share(0.5), None, limits.scratch) as connection:
        table = InputTable.open(connection, request.population, request.scratch, frozenset(by_name))
        people = encoded(table, quasi)
        owners = None
        if request.persons is not None and request.persons.column in table.names:
            owners = Owners.of(table, replace(request.persons, missing="together")).codes
    names = names_shown(sources)
    shown = {names[column.name][0]: column.name for column in quasi}
    bounds = [(ends[0], ends[1]) for column in quasi if len(ends := names[column.name]) == 2]
    hierarchies = {at: grown for at, name in shown.items() if (grown := by_name[name].hierarchy)}
    return People(people, shown, request.requirement.on_population, hierarchies, bounds, owners)
