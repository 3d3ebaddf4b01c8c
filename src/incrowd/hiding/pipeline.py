"""The whole way of hiding cells: from a table to the same table with some cells withheld.

::

    read -> hide -> write in a private place -> compare the written file with the table -> publish

Rows stay where they are: it is the owner's table with cells withheld, and a cell is found again by its row. All columns
are published, and all of them are as they were but for the cells that the report names. What is told about a hiding, to
the verification, which believes none of it, and to the reader of its report, is its account.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from incrowd.errors import Notice, ParameterError, RequirementError, guarded
from incrowd.hiding.adversaries import Adversary, SklearnAdversary
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.evaluation import costs, pattern_attack
from incrowd.hiding.methods import Hider, Options, method_named
from incrowd.hiding.options import HidingOptions
from incrowd.hiding.planner import Cell, CellChange, CellOutcome, HidingPlan, plan_hiding, replay
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.request import MOST_VALUES, HidingInput, HidingRequest, read_input
from incrowd.hiding.secret import Status
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.report.certificate import sha256_of
from incrowd.report.hiding_report import (
    CellFacts,
    Change,
    CostFacts,
    Guess,
    HidingFacts,
    PatternFacts,
    hiding_html,
    hiding_screen,
)
from incrowd.tables.hierarchies.read import hierarchies_in
from incrowd.tables.publishing.serialise import safe_name, write_pieces, write_rows
from incrowd.tables.publishing.staging import staged_files
from incrowd.tables.reading.frames import to_frame_like
from incrowd.tables.reading.read import read_release
from incrowd.tables.recipe import Recipe, beside_recipe, with_hierarchies
from incrowd.verification.hidden_cells import HiddenPieces, Withheld, verify_hidden_cells
from incrowd.verification.inference import Inference
from incrowd.verification.verdict import Verdict
from incrowd.verification.written_bytes import bytes_check
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.option import described, filled
from incrowd.vocabulary.randomness import fresh_frame
from incrowd.vocabulary.resources import Clock, bytes_of
from incrowd.vocabulary.schema import KEYED

_MOST_COLUMNS = 30  # whose costs are measured: pairs of columns are counted together
_AT_ONCE = 1 << 20  # rows of values that are written at once
_BLANKS_COUNT = {"nb": True, "nb-ignored": False}  # the adversaries the verification knows as well
_DRAWING = ("decp", "incp", "dropp")
_REASONS = {
    Status.NOT_PREDICTED: "No adversary that the method works against guesses it: blanking it was enough.",
    Status.COIN: "Only two values are possible, and the coin said to leave it at blanking.",
    Status.HIDDEN: "Other cells gave it away, or might have; those were withheld.",
    Status.DELETED: "It was guessed whatever was withheld, so its whole row is blank.",
}
_BY_CHANCE = " An adversary guesses it even so: nothing of the row is shown, the value is simply a common one."


@dataclass(frozen=True, eq=False)
class Account:
    """What was asked for, of what, and what was done."""

    request: HidingRequest
    source: HidingInput
    plan: HidingPlan

    @property
    def rename(self) -> Callable[[str], str]:
        """The names of columns in the written file."""
        return safe_name if self.request.form.kind == "csv" else str

    @cached_property
    def _judges(self) -> tuple[Adversary, ...]:
        return self.request.judges(large=self.source.large)

    def withheld(self) -> Withheld:
        """What the verification is told, in the column names of the written file; the cells are those asked for."""
        outcomes, rename, schema = self.plan.outcomes, self.rename, self.source.schema
        return Withheld(
            columns=[rename(name) for name in schema.names],
            confidential=[(row - self.request.first_row, rename(name)) for row, name in self.request.cells],
            changes={(change.row, rename(change.attribute)): change.shows for change in self.plan.changes},
            deleted={outcome.cell.row for outcome in outcomes if outcome.status is Status.DELETED},
            hierarchies={rename(c.name): c.hierarchy for c in schema.columns if c.hierarchy is not None},
            inference=self._inference(),
        )

    def _inference(self) -> Inference | None:
        """What naive Bayes is said to guess; nothing where it did not judge, or where cells may show groups."""
        adversaries = self.request.adversaries
        place = next((place for place, name in enumerate(adversaries) if name in _BLANKS_COUNT), None)
        if place is None or any(column.hierarchy is not None for column in self.source.schema.columns):
            return None
        right = {
            (outcome.cell.row, self.rename(outcome.cell.attribute)): outcome.judged[place].after is Guess.RIGHT
            for outcome in self.plan.outcomes
        }
        predictors = [self.rename(name) for name in self.source.predictors]
        scratch = self.source.resources.scratch
        values = next(self._values(self.source.table.height)) if scratch is None else scratch / "values.parquet"
        if isinstance(values, Path):  # of a table larger than memory
            write_pieces(self._values(_AT_ONCE), values, FileForm("parquet"))
        return Inference(values, predictors, right, _BLANKS_COUNT[adversaries[place]])

    def _values(self, at_once: int) -> Iterator[Any]:
        """The codes of the columns that matter, missing ones as nulls, so many rows at a time."""
        table, confidential = self.source.table, (outcome.cell.attribute for outcome in self.plan.outcomes)
        names = dict.fromkeys((*self.source.predictors, *confidential))
        for start in range(0, max(1, table.height), at_once):
            rows = slice(start, start + at_once)
            yield pl.DataFrame({self.rename(name): _codes(table[name], rows) for name in names}).to_arrow()

    def facts(self, verdict: Verdict) -> HidingFacts:
        """All facts; the suppression-pattern attack only if asked for."""
        plan, request, first_row = self.plan, self.request, self.request.first_row
        patterns, not_run = self._patterns()
        shows = {(change.row, change.attribute): change.shows for change in plan.changes}
        measured, not_measured = self._measured()
        return HidingFacts(
            source=request.path.name if request.path else f"a {self.source.origin.form} table",
            output=request.to.name if request.to else None,
            method=plan.method,
            degree=plan.options.degree,
            rows=self.source.table.height,
            columns=self.source.schema.names,
            predictors=plan.predictors,
            first_row=first_row,
            cells=tuple(
                self._cell(outcome, shows.get((outcome.cell.row, outcome.cell.attribute)), pattern)
                for outcome, pattern in zip(plan.outcomes, patterns, strict=True)
            ),
            side_effects=tuple(
                Change(change.row + first_row, change.attribute, change.shows) for change in plan.side_effects
            ),
            deleted=tuple(sorted({o.cell.row + first_row for o in plan.outcomes if o.status is Status.DELETED})),
            success_rate=float(plan.success_rate),
            bound=self.bound,
            costs=self._costs(measured) if measured else None,
            verdict=verdict,
            costs_not_measured=not_measured,
            pattern_not_run=not_run,
            notices=(*self.source.notices, *self._sampled(), *self._exposed()),
            seconds=dict(request.clock.seconds),
        )

    @property
    def bound(self) -> float | None:
        """Success rate over degree, for methods that draw the value to be guessed instead."""
        draws = any(name in self.plan.method for name in _DRAWING)
        return float(min(self.plan.attacker_confidence, Fraction(1))) if draws else None

    def _cell(self, outcome: CellOutcome, shows: str | None, pattern: PatternFacts | None) -> CellFacts:
        return CellFacts(
            row=outcome.cell.row + self.request.first_row,
            column=outcome.cell.attribute,
            status=str(outcome.status),
            reason=_REASONS[outcome.status] + (_BY_CHANCE if outcome.only_by_chance else ""),
            shows=shows,
            changed=outcome.changed,
            judged=outcome.judged,
            pattern=pattern,
        )

    def _sampled(self) -> Iterator[Notice]:
        """Who has not learnt from all rows."""
        for judge in self._judges:
            if isinstance(judge, SklearnAdversary) and judge.most_rows is not None:
                most = f"learns from at most {judge.most_rows:,} rows, taken evenly: the table is larger than memory."
                yield Notice("adversary-sampled", judge.name, most)

    def _exposed(self) -> Iterator[Notice]:
        """Who still guesses how many cells."""
        cells = len(self.plan.outcomes)
        for place, adversary in enumerate(self._judges):
            right = sum(outcome.judged[place].after is Guess.RIGHT for outcome in self.plan.outcomes)
            if right:
                message = f"still guesses {right} of {cells} confidential cells. See the report for which, and why."
                yield Notice("still-guessed", adversary.name, message)

    def _patterns(self) -> tuple[list[PatternFacts | None], str]:
        """What the pattern of hidden cells tells of each cell, and why nobody looked."""
        hider = method_named(self.plan.method, self._judges).make(self.plan.options)
        if not self.request.attack:
            return [None] * len(self.plan.outcomes), "not requested"
        if isinstance(hider, GroupHider):
            return [None] * len(self.plan.outcomes), "the method takes several cells together"
        return [self._pattern(outcome, hider) for outcome in self.plan.outcomes], ""

    def _pattern(self, outcome: CellOutcome, hider: Hider) -> PatternFacts:
        """The attack on one cell, with all other confidential cells blank."""
        published = PublishedTable(self.source.table, self.source.schema, self.plan.predictors)
        for other in self.plan.outcomes:
            if other is not outcome:
                published.show([other.cell.row], other.cell.attribute, HIDDEN)
        attack = pattern_attack(published, outcome.cell.row, outcome.cell.attribute, hider)
        return PatternFacts(float(attack.lift), float(attack.worst_lift), attack.patterns)

    def _measured(self) -> tuple[tuple[str, ...], str]:
        """The columns the costs are taken over, and why there are none."""
        narrow = [name for name in self.source.schema.names if self.source.counts[name].values <= MOST_VALUES]
        changed = {change.attribute for change in self.plan.changes}
        names = narrow if len(narrow) <= _MOST_COLUMNS else [name for name in narrow if name in changed]
        if not names:
            return (), f"every column has more than {MOST_VALUES:,} values"
        if len(names) > _MOST_COLUMNS:
            return (), f"more than {_MOST_COLUMNS} columns were changed"
        return tuple(names), ""

    def _costs(self, names: tuple[str, ...]) -> CostFacts:
        published = replay(self.source.table, self.source.schema, self.plan.changes, self.plan.predictors)
        price = costs(published, names)
        return CostFacts(
            columns=names,
            direct_distance=price.direct_distance,
            divergence=price.divergence.bits,
            vanished=price.divergence.vanished,
            information_ratio=price.information.ratio,
            information_difference=price.information.difference,
            uncertainty=price.uncertainty,
        )


def _codes(column: EncodedColumn, rows: slice) -> pl.Series:
    codes = pl.Series(np.asarray(column.codes[rows]).astype(np.int32))
    return codes.replace(column.missing_code, None)


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
            progress=lambda done, total: request.clock.progress(f"hiding: {done} of {total} cells"),
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
