"""What is told about a hiding: to the verification, which believes none of it, and to the reader of its report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from incrowd.errors import Notice
from incrowd.hiding.adversaries import Adversary, SklearnAdversary
from incrowd.hiding.bayes_hiders import GroupHider
from incrowd.hiding.evaluation import costs, pattern_attack
from incrowd.hiding.methods import Hider, method_named
from incrowd.hiding.planner import CellOutcome, HidingPlan, replay
from incrowd.hiding.published import PublishedTable
from incrowd.hiding.request import MOST_VALUES, HidingInput, HidingRequest
from incrowd.hiding.secret import Status
from incrowd.hiding.taxonomy import HIDDEN
from incrowd.report.hiding_report import CellFacts, Change, CostFacts, Guess, HidingFacts, PatternFacts
from incrowd.tables.publishing.serialise import safe_name, write_pieces
from incrowd.verification.hidden_cells import Withheld
from incrowd.verification.inference import Inference
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.forms import FileForm

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
        values = next(self._values(self.source.table.height)) if scratch is None else self._written(scratch)
        return Inference(values, predictors, right, _BLANKS_COUNT[adversaries[place]])

    def _written(self, scratch: Path) -> Path:
        """The values as a Parquet file, for a table larger than memory."""
        path = scratch / "values.parquet"
        write_pieces(self._values(_AT_ONCE), path, FileForm("parquet"))
        return path

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
                message = (
                    f"learns from at most {judge.most_rows:,} rows, taken evenly: the table is larger than memory."
                )
                yield Notice("adversary-sampled", judge.name, message)

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
