"""The report of a hiding: its facts as data, as plain text, and as one HTML file without network and script.

No confidential value is among the facts. They tell which guesses of the adversaries are right, so they stay with the
data holder.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from incrowd.drawing.markup import Html, element, text, texts
from incrowd.drawing.page import bullets, head, page, pairs, paragraph, section, standing, table
from incrowd.drawing.wording import Tone, counted, percent, plain, sentence
from incrowd.errors import Notice
from incrowd.report.extra_sections import folded_checks, notices
from incrowd.report.terminal import Screen
from incrowd.verification.verdict import Verdict


class Guess(StrEnum):
    """What an adversary makes of a confidential cell."""

    RIGHT = "right"
    WRONG = "wrong"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True)
class Judged:
    """One adversary on one cell: with only the confidential cells blank, and at the end."""

    adversary: str
    before: Guess
    after: Guess


@dataclass(frozen=True)
class Change:
    """A cell that is published differently: blank, or as a group."""

    row: int
    column: str
    shows: str | None


@dataclass(frozen=True)
class PatternFacts:
    """How much more likely the pattern of hidden cells makes the true value; 1: it tells nothing."""

    expected_lift: float
    worst_lift: float
    patterns: int


@dataclass(frozen=True)
class CellFacts:
    """What became of a confidential cell.

    ``status`` is how it ended, ``shows`` the group it shows, if any, ``changed`` the number of other cells that were
    withheld for its sake, ``reason`` the whole in a sentence, ``pattern`` what was found by the suppression-pattern
    attack, None where it was not run.
    """

    row: int
    column: str
    status: str
    reason: str
    shows: str | None
    changed: int
    judged: tuple[Judged, ...]
    pattern: PatternFacts | None = None

    @property
    def exposed(self) -> bool:
        """Whether some adversary is right at the end."""
        return any(each.after is Guess.RIGHT for each in self.judged)


@dataclass(frozen=True)
class CostFacts:
    """The price, by the metrics of :mod:`incrowd.hiding.evaluation`, over the columns that were measured."""

    columns: tuple[str, ...]
    direct_distance: int
    divergence: float
    vanished: int
    information_ratio: float
    information_difference: float
    uncertainty: float


@dataclass(frozen=True)
class HidingFacts:
    """One hiding, described. Rows are numbered from ``first_row``.

    ``bound`` is what the thesis grants an attacker who knows the method: success rate over the degree of suppression;
    None for a method that draws nothing. ``costs`` is None where they were not measured, for the reason in
    ``costs_not_measured``.
    """

    source: str
    output: str | None
    method: str
    degree: int
    rows: int
    columns: tuple[str, ...]
    predictors: tuple[str, ...]
    first_row: int
    cells: tuple[CellFacts, ...]
    side_effects: tuple[Change, ...]
    deleted: tuple[int, ...]
    success_rate: float
    bound: float | None
    costs: CostFacts | None
    verdict: Verdict
    costs_not_measured: str = ""
    pattern_not_run: str = ""
    notices: tuple[Notice, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    when: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))

    @property
    def adversaries(self) -> tuple[str, ...]:
        """Who judged the cells."""
        return tuple(each.adversary for each in self.cells[0].judged) if self.cells else ()

    @property
    def exposed(self) -> tuple[CellFacts, ...]:
        """Cells that some adversary still guesses."""
        return tuple(cell for cell in self.cells if cell.exposed)

    def right(self, adversary: str) -> tuple[int, int]:
        """How many cells an adversary guesses: with only the confidential cells blank, and at the end."""
        judged = [each for cell in self.cells for each in cell.judged if each.adversary == adversary]
        return sum(each.before is Guess.RIGHT for each in judged), sum(each.after is Guess.RIGHT for each in judged)

    def to_json(self) -> dict[str, Any]:
        """The facts as plain data; an infinite figure is null."""
        data = {key: value for key, value in vars(self).items() if key not in ("cells", "verdict", "notices", "costs")}
        plain: dict[str, Any] = _finite(
            data
            | {
                "when": self.when.isoformat(timespec="seconds"),
                "adversaries": {name: self.right(name) for name in self.adversaries},
                "cells": [asdict(cell) | {"exposed": cell.exposed} for cell in self.cells],
                "side_effects": [asdict(change) for change in self.side_effects],
                "costs": self.costs and asdict(self.costs),
                "verification": {
                    "passed": self.verdict.passed,
                    "checks": [check.to_json() for check in self.verdict.checks],
                },
                "notices": [str(notice) for notice in self.notices],
                "seconds": dict(self.seconds),
            }
        )
        return plain


def _finite(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data


MOST_LISTED = 200


MOST_ON_SCREEN = 12


def hiding_screen(facts: HidingFacts) -> Screen:
    """The hiding for a terminal, a log or a Python prompt."""
    cells = [f"  {_cell_line(cell)}" for cell in facts.cells[:MOST_ON_SCREEN]]
    effects = [f"  {place} shows {shows}" for place, shows in side_effects(facts)]
    blocks = [("cells, and whether they are guessed before and after", cells, len(facts.cells))]
    blocks += [("withheld beside them", effects[:MOST_ON_SCREEN], len(effects))] if effects else []
    details: list[str] = []
    for title, lines, number in blocks:
        more = [f"  … and {number - MOST_ON_SCREEN:,} more, in the report"] if number > MOST_ON_SCREEN else []
        details += [title, *lines, *more]
    checks = facts.verdict.checks
    passed = f"compared with the table from the written file: {counted(len(checks), 'check')} passed"
    return Screen(
        f"Cells hidden in {facts.source}",
        statement(facts),
        tone_of(facts),
        (passed,) if facts.verdict.passed else tuple(str(check) for check in checks if not check.passed),
        _figures(facts) | {name: _change(facts, name) for name in facts.adversaries},
        tuple(details),
        facts.notices,
    )


def tone_of(facts: HidingFacts) -> Tone:
    """Good only if the comparison passed and no adversary guesses a cell."""
    if not facts.verdict.passed:
        return Tone.BAD
    return Tone.POOR if facts.exposed else Tone.GOOD


def statement(facts: HidingFacts) -> str:
    """The one sentence about what was reached."""
    if not facts.verdict.passed:
        return "FAILED its verification; do not publish this table"
    number, judges = len(facts.cells), " or ".join(facts.adversaries)
    if not facts.exposed:
        cells = "the confidential cell is not" if number == 1 else f"none of {number:,} confidential cells is"
        return f"{cells} guessed by {judges}"
    cells = counted(number, "confidential cell")
    return f"{len(facts.exposed)} of {cells} still guessed by {judges}"


def _figures(facts: HidingFacts) -> dict[str, str]:
    blank = sum(change.shows is None for change in facts.side_effects)
    return {
        "method": f"{facts.method}",
        "confidential": counted(len(facts.cells), "cell"),
        "withheld too": f"{counted(len(facts.side_effects), 'other cell')}, {blank} of them blank",
        "rows deleted": f"{len(facts.deleted)} of {facts.rows:,}",
        "hidden": f"{percent(facts.success_rate)} of the cells without deleting their row",
    }


def _change(facts: HidingFacts, adversary: str) -> str:
    before, after = facts.right(adversary)
    return f"right about {before} of {len(facts.cells)} with only these cells blank, {after} now"


def _cell_line(cell: CellFacts) -> str:
    guesses = ", ".join(f"{each.adversary} {each.before} -> {each.after}" for each in cell.judged)
    return f"{_place(cell.row, cell.column)}: {cell.status}, {counted(cell.changed, 'other cell')}; {guesses}"


def _place(row: int, column: str) -> str:
    return f"{row}:{plain(column)}"


def hiding_html(facts: HidingFacts, whole_page: bool = True) -> str:
    """The report; a page of its own, or a fragment for a notebook."""
    parts = (
        _head(facts),
        _cells(facts),
        _side_effects(facts),
        _adversaries(facts),
        _price(facts),
        section("What an attacker gains who knows the method", "attacker", *map(paragraph, _attacker(facts))),
        _verified(facts),
        notices(facts.notices),
        section("What this does not guarantee", "limits", bullets(map(text, _limits(facts)))),
    )
    return page(f"Report on hidden cells: {facts.output or facts.source}", *parts, whole=whole_page)


def _head(facts: HidingFacts) -> Html:
    return head(
        "Report on hidden cells",
        f"{facts.source} → {facts.output}" if facts.output else facts.source,
        standing(sentence(statement(facts)), tone_of(facts)),
        paragraph(
            "Private: this report says which guesses are right. Keep it where the table is kept. It quotes no "
            f"confidential value. Rows are counted from {facts.first_row}, in the order of the table.",
            class_="aside",
        ),
        pairs({term.capitalize(): text(words) for term, words in _figures(facts).items()}),
    )


def _cells(facts: HidingFacts) -> Html:
    header = texts("Cell", "Status", "Reason", "Shows", "Other cells withheld")
    rows = (
        [
            element("bdi", text(_place(cell.row, cell.column))),
            text(cell.status),
            text(cell.reason),
            text(cell.shows or "nothing"),
            text(f"{cell.changed}"),
        ]
        for cell in facts.cells
    )
    return section("What was withheld, and why", "cells", table("Confidential cells", header, rows, numbers=[4]))


def _side_effects(facts: HidingFacts) -> Html:
    if not facts.side_effects:
        return section("Side effects", "side-effects", paragraph("No other cell was withheld."))
    header = texts("Cell", "Shows")
    effects = list(side_effects(facts))
    rows = ([element("bdi", text(place)), text(shows)] for place, shows in effects[:MOST_LISTED])
    left = len(effects) - MOST_LISTED
    more = [paragraph(f"… and {left:,} more.")] if left > 0 else []
    columns: dict[str, int] = {}
    for change in facts.side_effects:
        columns[change.column] = columns.get(change.column, 0) + 1
    by_column = "; ".join(f"{name}: {count:,}" for name, count in columns.items())
    return section(
        "Side effects", "side-effects", paragraph(f"By column: {by_column}."), table("Other cells", header, rows), *more
    )


def side_effects(facts: HidingFacts) -> Iterator[tuple[str, str]]:
    """The other cells that were withheld and what they show; a deleted row is named as a whole."""
    deleted = set(facts.deleted)
    for row in facts.deleted:
        yield f"row {row}", "nothing, in any column"
    for change in facts.side_effects:
        if change.row not in deleted:
            yield _place(change.row, change.column), change.shows or "nothing"


def _adversaries(facts: HidingFacts) -> Html:
    total = table(
        "Cells that each adversary guesses",
        texts("Adversary", "With only these cells blank", "Now"),
        (
            [text(name), *(text(f"{right} of {len(facts.cells)}") for right in facts.right(name))]
            for name in facts.adversaries
        ),
    )
    header = texts("Cell", *facts.adversaries)
    rows = (
        [
            element("bdi", text(_place(cell.row, cell.column))),
            *(text(f"{each.before} → {each.after}") for each in cell.judged),
        ]
        for cell in facts.cells
    )
    reckoned = paragraph(
        f"The adversaries learn from {counted(len(facts.predictors), 'column')}: {', '.join(facts.predictors)}."
    )
    return section("What adversaries can guess", "adversaries", reckoned, total, table("By cell", header, rows))


def _price(facts: HidingFacts) -> Html:
    if facts.costs is None:
        return section("What it cost", "price", paragraph(f"Not measured: {facts.costs_not_measured}."))
    costs = {term: text(words) for term, words in costs_in_words(facts.costs).items()}
    about = paragraph(f"Over {counted(len(facts.costs.columns), 'column')}: {', '.join(facts.costs.columns)}.")
    return section("What it cost", "price", about, pairs(costs))


def costs_in_words(costs: CostFacts) -> dict[str, str]:
    """The metrics, each with its name."""
    gone = f"; infinite, as {counted(costs.vanished, 'value')} lost all cells" if costs.vanished else ""
    bits = "" if costs.vanished else f"{costs.divergence:.4g} bits, "
    return {
        "Direct distance": f"{costs.direct_distance:,} cells published differently",
        "Kullback-Leibler": f"{bits}summed over columns{gone}",
        "Mutual information": f"before over after {costs.information_ratio:.4g} on average over pairs of columns, "
        f"mean change {costs.information_difference:.4g} bits",
        "Uncertainty": f"{costs.uncertainty:.4g} bits of uncertainty about a cell, summed over columns",
    }


def _attacker(facts: HidingFacts) -> Iterator[str]:
    """What is known of somebody who has the program as well."""
    if facts.method in ("quiet", "nrd"):
        yield "The method never looks at the true value, so which cells it hides tells nothing about it."
    elif facts.bound is None:
        yield (
            f"The method {facts.method} draws no other value, so the thesis gives no bound for it. It hides more "
            "where the true value is guessed, and an attacker who knows that learns from which cells are hidden. The "
            "method quiet avoids this."
        )
    else:
        yield (
            f"The value to be guessed instead is drawn from the {facts.degree} most likely ones. An attacker who knows "
            f"that is right with a probability of at most {percent(facts.bound)} by the bound of the thesis, success "
            f"rate over degree ({percent(facts.success_rate)} / {facts.degree}). The bound does not account for the "
            "choice of the cells, which reveals more: see the attack."
        )
    patterns = [cell.pattern for cell in facts.cells if cell.pattern is not None]
    if not patterns:
        yield (
            f"Suppression-pattern attack: not run ({facts.pattern_not_run}). Nothing is claimed about what it would "
            "find."
        )
        return
    mean = sum(each.expected_lift for each in patterns) / len(patterns)
    worst = max(each.worst_lift for each in patterns)
    yield (
        "Suppression-pattern attack, by an attacker who knows the program and every other cell of the table and "
        f"re-runs the hider for each value: the true value becomes {mean:.2f} times as likely on average over "
        f"{counted(len(patterns), 'cell')}, {worst:.2f} times at worst (1: the pattern reveals nothing)."
    )


def _verified(facts: HidingFacts) -> Html:
    about = "A second engine read the written file and compared it with the table:"
    return section("Verification", "verified", paragraph(about), folded_checks(facts.verdict.checks))


def _limits(facts: HidingFacts) -> Iterator[str]:
    yield (
        f"Only {', '.join(facts.adversaries)} were tried, on this table. Another learner, or one that knows more, may "
        "still guess a cell."
    )
    yield "Nothing else is protected: all other cells and the order of the rows are published as they were."
    yield "With few possible values a wrong guess is informative, too: of two values, the true one is the other."
