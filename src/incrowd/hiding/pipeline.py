"""The whole way of hiding cells: from a table to the same table with some cells withheld.

::

    read -> hide -> write in a private place -> compare the written file with the table -> publish

Rows stay where they are: it is the owner's table with cells withheld, and a cell is found again by its row. All columns
are published, and all of them are as they were but for the cells that the report names.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import polars as pl

from incrowd.errors import ParameterError, RequirementError, guarded
from incrowd.hiding.account import Account
from incrowd.hiding.methods import Options
from incrowd.hiding.options import HidingOptions
from incrowd.hiding.planner import Cell, CellChange, HidingPlan, plan_hiding
from incrowd.hiding.request import HidingInput, HidingRequest, read_input
from incrowd.report.certificate import sha256_of
from incrowd.report.hiding_report import HidingFacts, hiding_html, hiding_screen
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.publishing.serialise import write_rows
from incrowd.tables.publishing.staging import staged_files
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read_release
from incrowd.tables.recipe import Recipe, beside_recipe, with_hierarchies
from incrowd.verification.hidden_cells import HiddenPieces, verify_hidden_cells
from incrowd.verification.verdict import Verdict
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.option import described, filled
from incrowd.vocabulary.randomness import fresh_frame
from incrowd.vocabulary.resources import Clock, bytes_of
from incrowd.vocabulary.schema import KEYED


@dataclass(frozen=True, eq=False)
class Hidden:
    """A table with cells withheld.

    Attributes
    ----------
    report
        The facts: what was withheld and why, who guesses what. Private: keep it with the table.
    verdict
        The outcome of the independent comparison.
    changes
        All cells that are published differently, rows counted from 0.
    path
        Where the table was written, if it was.
    """

    report: HidingFacts
    verdict: Verdict
    changes: tuple[CellChange, ...]
    path: Path | None
    _table: Callable[[], Any]

    @property
    def table(self) -> Any:
        """The table: the kind of frame that came in; from a file, a polars frame."""
        return self._table()

    def __str__(self) -> str:
        return str(hiding_screen(self.report))

    def _repr_html_(self) -> str:
        return hiding_html(self.report, whole_page=False)


@described(HidingOptions)
@guarded
def hide_cells(
    table: Any,
    cells: Iterable[tuple[int, str]],
    *,
    progress: Callable[[str], None] | None = None,
    **options: Unpack[HidingOptions],
) -> Hidden:
    """Withhold cells so that adversaries who learn from the rest of the table do not guess them.

    Parameters
    ----------
    table
        A path, of a file or of a folder of Parquet files, or a pandas, polars or PyArrow table.
    cells
        Pairs of a row and a column. Rows are counted from ``first_row``.
    {options}
    progress
        Called with the name of each stage as it begins, and with how far it is.

    Examples
    --------
    >>> people = pl.DataFrame({"pain": ["no"] * 3 + ["some"] * 2 + ["much"] * 3,
    ...                        "ill": ["no"] * 3 + ["cold"] * 2 + ["flu"] * 3})
    >>> hidden = hide_cells(people, [(3, "ill")])
    >>> hidden.table.row(3), hidden.table.row(4), hidden.verdict.passed
    ((None, None), ('some', 'cold'), True)
    """
    stated, recipe = beside_recipe(options, lambda recipe: {"reading": recipe.reading})
    if recipe is not None and (keyed := recipe.named(*KEYED)):
        raise ParameterError(
            f"Hiding cells makes no pseudonyms and shifts no dates: {', '.join(keyed)} would be published as they are. "
            "Hide cells in a release, or name a recipe without them."
        )
    request = filled(HidingOptions, stated)
    hierarchies, memory = request["hierarchies"] or {}, request["memory"]
    by_column = hierarchies_in(hierarchies) if isinstance(hierarchies, str | Path) else hierarchies
    recipe = Recipe(columns=recipe.columns if recipe else {}, reading=dict(request["reading"] or {}))
    return run_hiding(
        HidingRequest(
            table=table,
            cells=tuple(cells),
            options=Options(request["degree"], request["lean"], request["nearest"]),
            recipe=with_hierarchies(recipe, by_column),
            clock=Clock(progress) if progress else Clock(),
            memory=None if memory is None else bytes_of(memory),
            adversaries=tuple(request["adversaries"]),
            predictors=tuple(request["predictors"]),
            to=request["to"] and Path(request["to"]),
            report=request["report"] and Path(request["report"]),
            **{name: request[name] for name in ("method", "first_row", "strict", "attack", "randomness", "replace")},
        )
    )


def run_hiding(request: HidingRequest) -> Hidden:
    """Read, hide, write, compare; publish only what the comparison proves."""
    request.check()
    with staged_files(request.to, (request.report,), replace=request.replace, otherwise="hidden.parquet") as (
        place,
        drafts,
    ):
        source = read_input(request, place.parent)
        plan = hide(request, source)
        with request.clock("writing"):
            write(request, source, plan, place)
        account = Account(request, source, plan)
        with request.clock("verifying"):
            verdict = verify(account, place)
        with request.clock("measuring"):
            facts = account.facts(verdict)
        table = None if request.to else to_frame_like(pl.read_parquet(place), source.origin)
        if request.report:
            drafts[request.report].write_text(hiding_html(facts), encoding="utf-8")
        drafts.keep(place, digests=verdict.digests)
    path = request.to
    return Hidden(
        report=facts,
        verdict=verdict,
        changes=plan.changes,
        path=path,
        _table=lambda: table if path is None else read_release(path).frame,
    )


def hide(request: HidingRequest, source: HidingInput) -> HidingPlan:
    """Which cells to withhold; refused if a cell is still guessed and that was forbidden."""
    cells = [Cell(row - request.first_row, name) for row, name in request.cells]

    def progress(done: int, total: int) -> None:
        request.clock.progress(f"hiding: {done} of {total} cells")

    with request.clock("hiding"):
        plan = plan_hiding(
            source.table,
            source.schema,
            cells,
            method=request.hider,
            adversaries=request.judges(large=source.large),
            randomness=request.randomness,
            predictors=source.predictors,
            options=request.options,
            progress=progress,
        )
    exposed = sum(outcome.exposed for outcome in plan.outcomes)
    if request.strict and exposed:
        raise RequirementError(
            f"{exposed} of {len(plan.outcomes)} cells are still guessed by an adversary, and nothing was published. "
            "Try the method auto, which works against all of them, or publish without strict."
        )
    return plan


def write(request: HidingRequest, source: HidingInput, plan: HidingPlan, place: Path) -> None:
    """Write the table with its cells withheld, whole or frame by frame."""
    frames, whole = _withheld_frames(request, source, plan.changes), not source.large
    pieces = frames if whole else (frame.to_arrow(compat_level=pl.CompatLevel.oldest()) for frame in frames)
    write_rows(pieces, place, request.form, whole=whole)


def _withheld_frames(
    request: HidingRequest, source: HidingInput, changes: Sequence[CellChange]
) -> Iterator[pl.DataFrame]:
    """Frame by frame; a column with groups in it is text in all frames."""
    texts = {change.attribute for change in changes if change.shows is not None}
    start, waiting = 0, sorted(changes, key=lambda change: change.row)
    rows = [change.row for change in waiting]
    for frame in source.frames():
        mine = waiting[bisect_left(rows, start) : bisect_left(rows, start + frame.height)]
        as_text = frame.with_columns(frame[name].cast(pl.String) for name in texts)
        yield withheld(as_text, [replace(change, row=change.row - start) for change in mine])
        start += frame.height
        if source.large:
            request.clock.rows("writing", start, source.table.height)


def withheld(frame: pl.DataFrame, changes: Iterable[CellChange]) -> pl.DataFrame:
    """The table with changes applied, in fresh memory; a column with groups in it becomes text."""
    shows: dict[str, dict[int, str | None]] = {}
    for change in changes:
        shows.setdefault(change.attribute, {})[change.row] = change.shows
    columns = []
    for name, cells in shows.items():
        column = frame[name].cast(pl.String) if any(cells.values()) else frame[name].clone()
        groups = {row: label for row, label in cells.items() if label is not None}
        column = column.scatter([row for row in cells if row not in groups], None)
        columns.append(column.scatter(list(groups), list(groups.values())) if groups else column)
    return fresh_frame(frame.with_columns(columns))


def verify(account: Account, written: Path) -> Verdict:
    """The second opinion on the written bytes; raises unless everything holds."""
    request, source, withheld_cells = account.request, account.source, account.withheld()

    def pieces() -> Iterator[Any]:
        for frame in source.frames():
            named = frame.rename({name: account.rename(name) for name in frame.columns})
            yield named.to_arrow(compat_level=pl.CompatLevel.oldest())

    if source.large:
        progress = functools.partial(request.clock.rows, "verifying")
        original = HiddenPieces(source.table.height, pieces, source.resources, progress)
        verdict = verify_hidden_cells(written, request.form, original, withheld_cells)
    else:
        verdict = verify_hidden_cells(written, request.form, next(pieces()), withheld_cells)
    checks = (*verdict.checks, bytes_check(written, request.form))
    return replace(verdict, checks=checks, digests=(sha256_of(written),)).proven("table")
