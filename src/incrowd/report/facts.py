"""The facts of a release: everything a summary, a report or a certificate says, as data."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from incrowd.errors import Notice
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.released_value import Form, Interval, Level, Mean, Shown, ShownMissing, ValueSet, date_text
from incrowd.vocabulary.schema import ColumnType, Schema

FORMS: dict[str, tuple[type[Form], ...]] = {
    "value": (Shown, ShownMissing),
    "set": (ValueSet,),
    "mean": (Mean,),
    "interval": (Interval, Level),
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
    cuts: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    accuracy: Accuracy | None = None
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
    seconds: dict[str, float] | None = None,
) -> Facts:
    """The facts of a plan and its verdict."""
    return Facts(
        source=source,
        output=output,
        schema=plan.schema,
        requirement=str(plan.requirement),
        method=plan.method,
        parameters=dict(plan.parameters),
        rows=plan.rows,
        rows_dropped=plan.rows_dropped,
        groups=len(plan.groups),
        smallest_group=verdict.sizes.smallest,
        cells_shown=plan.share_of_cells_shown,
        attributes=tuple(_attribute(plan, i) for i in range(len(plan.show.names))),
        largest_groups=tuple(sorted(plan.groups, key=lambda group: -group.rows)[:12]),
        verdict=verdict,
        notices=tuple(notices),
        k=plan.requirement.smallest_group,
        cuts={name: _readable(cuts, plan.schema[name].type) for name, cuts in plan.cuts.items()},
        accuracy=accuracy,
        seconds=dict(seconds or {}),
    )


def _readable(cuts: Sequence[float], kind: ColumnType) -> tuple[float | str, ...]:
    """Cuts of dates as dates."""
    return tuple(date_text(cut) for cut in cuts) if kind is ColumnType.DATE else tuple(cuts)


def _attribute(plan: ReleasePlan, i: int) -> AttributeFacts:
    rows = {
        word: sum(group.rows for group in plan.groups if isinstance(group.forms[i], kinds))
        for word, kinds in FORMS.items()
    }
    shares = {word: count / plan.rows for word, count in rows.items() if count}
    return AttributeFacts(plan.show.names[i], shares)
