"""The facts of a hiding: everything its report says, as data. No confidential value is among them.

They tell which guesses of the adversaries are right, so they stay with the data holder.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from incrowd.errors import Notice
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
