"""What there is to tell about a hiding: doubts about columns, what became of each cell, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from incrowd.adversaries.adversary import Adversary
from incrowd.adversaries.published import PublishedTable
from incrowd.adversaries.taxonomy import HIDDEN
from incrowd.algorithms.cell_hiding.costs import costs
from incrowd.algorithms.cell_hiding.hide import Hiding, Outcome, Prediction, replay
from incrowd.algorithms.cell_hiding.methods import GroupHider, method_named
from incrowd.algorithms.cell_hiding.pattern_attack import pattern_attack
from incrowd.algorithms.cell_hiding.steps import Status
from incrowd.errors import Notice
from incrowd.reading.streams.repeats import Shared
from incrowd.report.hiding_facts import CellFacts, Change, CostFacts, Guess, HidingFacts, Judged, PatternFacts
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedTable
from incrowd.vocabulary.schema import Role, Schema

MOST_COLUMNS, MOST_VALUES, FEW_VALUES = 30, 1000, 20
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
    """What the facts are drawn from.

    Parameters
    ----------
    hiding, table, schema, values
        What was done, and to what; the number of different values of each column.
    adversaries
        Who judged.
    first_row
        The number of the first row.
    """

    hiding: Hiding
    table: EncodedTable
    schema: Schema
    values: Mapping[str, int]
    adversaries: tuple[Adversary, ...]
    first_row: int = 0

    def facts(
        self,
        verdict: Verdict,
        *,
        source: str,
        output: str | None = None,
        attack: bool = False,
        notices: Sequence[Notice] = (),
        seconds: Mapping[str, float] | None = None,
    ) -> HidingFacts:
        """All facts; the suppression-pattern attack only if asked for."""
        hiding = self.hiding
        not_run = self._cannot_attack() if attack else "not asked for"
        patterns = [None if not_run else self._pattern(outcome) for outcome in hiding.outcomes]
        shows = {(change.row, change.attribute): change.shows for change in hiding.changes}
        measured, not_measured = self._measured()
        return HidingFacts(
            source=source,
            output=output,
            method=hiding.method,
            degree=hiding.options.degree,
            rows=self.table.height,
            columns=self.schema.names,
            predictors=hiding.predictors,
            first_row=self.first_row,
            cells=tuple(
                self._cell(outcome, shows.get((outcome.cell.row, outcome.cell.attribute)), pattern)
                for outcome, pattern in zip(hiding.outcomes, patterns, strict=True)
            ),
            side_effects=tuple(
                Change(change.row + self.first_row, change.attribute, change.shows) for change in hiding.side_effects
            ),
            deleted=tuple(sorted({o.cell.row + self.first_row for o in hiding.outcomes if o.status is Status.DELETED})),
            success_rate=float(hiding.success_rate),
            bound=self.bound,
            costs=self._costs(measured) if measured else None,
            verdict=verdict,
            costs_not_measured=not_measured,
            pattern_not_run=not_run,
            notices=(*notices, *self._exposed()),
            seconds=dict(seconds or {}),
        )

    @property
    def bound(self) -> float | None:
        """Success rate over degree, for methods that draw the value to be guessed instead."""
        draws = any(name in self.hiding.method for name in _DRAWING)
        return float(min(self.hiding.attacker_confidence, Fraction(1))) if draws else None

    def _cell(self, outcome: Outcome, shows: str | None, pattern: PatternFacts | None) -> CellFacts:
        return CellFacts(
            outcome.cell.row + self.first_row,
            outcome.cell.attribute,
            str(outcome.status),
            _REASONS[outcome.status] + (_BY_CHANCE if outcome.only_by_chance else ""),
            shows,
            outcome.changed,
            tuple(map(_judged, outcome.predictions)),
            pattern,
        )

    def _exposed(self) -> list[Notice]:
        """Who still guesses how many cells."""
        cells = len(self.hiding.outcomes)
        told = []
        for place, adversary in enumerate(self.adversaries):
            right = sum(outcome.predictions[place].right_after for outcome in self.hiding.outcomes)
            if right:
                message = f"still guesses {right} of {cells} confidential cells. See the report for which, and why."
                told.append(Notice("still-guessed", adversary.name, message))
        return told

    def _cannot_attack(self) -> str:
        hider = method_named(self.hiding.method, self.adversaries).make(self.hiding.options)
        return "the method takes several cells together" if isinstance(hider, GroupHider) else ""

    def _pattern(self, outcome: Outcome) -> PatternFacts:
        """The attack on one cell, with all other confidential cells blank."""
        published = PublishedTable(self.table, self.schema, self.hiding.predictors)
        for other in self.hiding.outcomes:
            if other is not outcome:
                published.show([other.cell.row], other.cell.attribute, HIDDEN)
        hider = method_named(self.hiding.method, self.adversaries).make(self.hiding.options)
        assert not isinstance(hider, GroupHider)
        found = pattern_attack(published, outcome.cell.row, outcome.cell.attribute, hider)
        return PatternFacts(float(found.lift), float(found.worst_lift), found.patterns)

    def _measured(self) -> tuple[tuple[str, ...], str]:
        """The columns the costs are taken over, and why there are none."""
        narrow = [name for name in self.schema.names if self.values[name] <= MOST_VALUES]
        changed = {change.attribute for change in self.hiding.changes}
        names = narrow if len(narrow) <= MOST_COLUMNS else [name for name in narrow if name in changed]
        if not names:
            return (), f"every column has more than {MOST_VALUES:,} values"
        if len(names) > MOST_COLUMNS:
            return (), f"more than {MOST_COLUMNS} columns were changed"
        return tuple(names), ""

    def _costs(self, names: tuple[str, ...]) -> CostFacts:
        published = replay(self.table, self.schema, self.hiding.changes, self.hiding.predictors)
        price = costs(published, names)
        return CostFacts(
            names,
            price.direct_distance,
            price.divergence.bits,
            price.divergence.vanished,
            price.information.ratio,
            price.information.difference,
            price.uncertainty,
        )


def _judged(prediction: Prediction) -> Judged:
    return Judged(
        prediction.adversary,
        _guess(prediction.before, prediction.right_before),
        _guess(prediction.after, prediction.right_after),
    )


def _guess(label: str | None, right: bool) -> Guess:
    if label is None:
        return Guess.CANNOT_TELL
    return Guess.RIGHT if right else Guess.WRONG


def tells_rows_apart(column: Shared) -> bool:
    """Whether (nearly) every row has a value of its own, so that little can be learnt from the column.

    Examples
    --------
    >>> tells_rows_apart(Shared(rows=100, values=60)), tells_rows_apart(Shared(rows=100, values=10))
    (True, False)
    """
    if column.rows <= 1:
        return False
    return column.values == column.rows or (column.values > FEW_VALUES and 2 * column.values > column.rows)


def doubts_about(
    drafted: Schema, schema: Schema, values: Mapping[str, int], predictors: Sequence[str], method: str
) -> Iterator[Notice]:
    """What the user should know about the columns; ``predictors`` is empty if the user has named them."""
    wide = [c.name for c in drafted.columns if c.type.is_numeric and values[c.name] > FEW_VALUES]
    if wide:
        message = "nb and id3 take each number for a category of its own. Bin them first for a sharper check."
        yield Notice("numbers-as-categories", ", ".join(wide), message)
    for column in drafted.columns:
        name = column.name
        if column.role is Role.IDENTIFIER:
            message = f"published as it is, although it looks like an identifier ({column.reason})."
            yield Notice("identifier", name, message)
        elif predictors and name not in predictors:
            message = "adversaries do not reckon with it: nearly every row has its own value. Bin it if it is a number."
            yield Notice("not-a-predictor", name, message)
        if column.hierarchy is not None and schema[name].hierarchy is None:
            yield Notice("hierarchy-not-used", name, f"its hierarchy is not used: {method} does not generalize.")
