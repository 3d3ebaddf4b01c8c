"""The facts of a release: everything a summary, a report or a certificate says, as data."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.errors import Notice
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Reasons
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.released_value import (
    Category,
    Form,
    Interval,
    Level,
    Mean,
    Midpoint,
    Range,
    Shown,
    ShownMissing,
    ValueSet,
    date_text,
    render,
)
from incrowd.vocabulary.schema import ColumnType, Schema

FORMS: dict[str, tuple[type[Form], ...]] = {
    "value": (Shown, ShownMissing),
    "set": (ValueSet,),
    "mean": (Mean,),
    "interval": (Interval, Level, Midpoint, Range),
    "category": (Category,),
}


@dataclass(frozen=True)
class Accuracy:
    """What a decision tree learns from the table and from its release, tested on the same unseen rows."""

    before: float
    after: float
    majority: float
    train_rows: int
    test_rows: int


@dataclass(frozen=True)
class AttributeFacts:
    """In what share of the table's rows a quasi-identifier is released in which form."""

    name: str
    shares: dict[str, float]

    @property
    def hidden(self) -> float:
        """Share of rows in which the attribute is suppressed or its row was left out."""
        return 1.0 - sum(self.shares.values())


@dataclass(frozen=True)
class Facts:
    """One release, described."""

    source: str
    output: str | None
    schema: Schema
    requirement: str
    method: str
    parameters: dict[str, Any]
    rows: int
    rows_dropped: int
    groups: int
    smallest_group: int
    cells_shown: float
    attributes: tuple[AttributeFacts, ...]
    largest_groups: tuple[Group, ...]
    verdict: Verdict
    notices: tuple[Notice, ...]
    k: int = 1
    promises: tuple[str, ...] = ()
    cuts: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    parts: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    reasons: tuple[Reasons, ...] = ()
    accuracy: Accuracy | None = None
    written: str = "file"
    seconds: dict[str, float] = field(default_factory=dict)
    when: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.UTC))


def facts_of(
    plan: ReleasePlan,
    verdict: Verdict,
    *,
    source: str,
    output: str | None,
    notices: Sequence[Notice] = (),
    accuracy: Accuracy | None = None,
    written: str = "file",
    seconds: dict[str, float] | None = None,
) -> Facts:
    """The facts of a plan and its verdict; what was ``written`` and read again is a file or a table."""
    return Facts(
        source=source,
        output=output,
        schema=plan.schema,
        requirement=str(plan.requirement),
        method=plan.method,
        parameters=dict(plan.parameters),
        rows=plan.rows,
        rows_dropped=plan.rows_dropped,
        groups=len(plan.groups) if plan.show else verdict.sizes.classes,
        smallest_group=verdict.sizes.smallest,
        cells_shown=plan.share_of_cells_shown,
        attributes=tuple(_attribute(plan, name) for name in plan.names),
        largest_groups=tuple(sorted(plan.groups, key=lambda group: -group.rows)[:12]),
        verdict=verdict,
        notices=tuple(notices),
        k=plan.requirement.smallest_group,
        promises=plan.requirement.promises,
        parts=_parts(plan),
        reasons=plan.reasons,
        cuts={name: _readable(cuts, plan.schema[name].type) for name, cuts in plan.cuts.items()},
        accuracy=accuracy,
        written=written,
        seconds=dict(seconds or {}),
    )


def _readable(cuts: Sequence[float], kind: ColumnType) -> tuple[float | str, ...]:
    """Cuts of dates as dates."""
    return tuple(date_text(cut) for cut in cuts) if kind is ColumnType.DATE else tuple(cuts)


def _attribute(plan: ReleasePlan, name: str) -> AttributeFacts:
    shown = list(zip(plan.forms(name), plan.rows_showing(name), strict=True))
    rows = {word: sum(n for form, n in shown if isinstance(form, kinds)) for word, kinds in FORMS.items()}
    return AttributeFacts(name, {word: count / plan.rows for word, count in rows.items() if count})


def _parts(plan: ReleasePlan) -> dict[str, tuple[tuple[str, int], ...]]:
    """For a release that shows value by value: what is shown of each attribute, in how many rows."""
    if plan.show:
        return {}
    return {name: tuple(_shown(plan, name)) for name in plan.names}


def _shown(plan: ReleasePlan, name: str) -> Iterator[tuple[str, int]]:
    for form, rows in zip(plan.forms(name), plan.rows_showing(name), strict=True):
        if rows:
            shown = Interval(form.low, form.high) if isinstance(form, Level | Midpoint) else form
            yield str(render(shown, plan.schema[name].type) or "nothing"), rows
