"""The facts of a release: everything a summary, a report or a certificate says, as data."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from incrowd.drawing.wording import counted
from incrowd.errors import Notice
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Group, Reasons
from incrowd.report.person_facts import meaning_of
from incrowd.report.utility_facts import Utility, utility_of
from incrowd.verification.unchanged_counts import UnchangedCounts
from incrowd.verification.verdict import Verdict
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.released_value import (
    Category,
    Counts,
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
from incrowd.vocabulary.requirement import (
    FurtherRequirement,
    KAnonymity,
    KnownSet,
    KnownTogether,
    Requirement,
    RequirementPart,
)
from incrowd.vocabulary.schema import ColumnType, Schema

if TYPE_CHECKING:
    from incrowd.report.attack_facts import AttackFacts, Earlier
    from incrowd.risk.assessment import Risk


# What a requirement promises, in a sentence for people who sign.
NOTHING = "Promises nothing: every row may be the only one of its kind."


def promises_of(requirement: Requirement, persons: Persons | None = None) -> tuple[tuple[str, str], ...]:
    """Each promise as the verification names it, and what it means; ``persons`` if somebody may have several rows.

    Examples
    --------
    >>> from incrowd.vocabulary.requirement import Together
    >>> from incrowd.vocabulary.requirements.diversity import DistinctDiversity
    >>> for promise, words in promises_of(Together((KAnonymity(10), DistinctDiversity(3, "ill")))):
    ...     print(f"{promise}: {words}")
    10-anonymity: Whoever knows all quasi-identifiers of a person finds at least 10 rows that look alike.
    distinct 3-diversity of ill: Every group has at least 3 different values of ill.
    """
    return tuple(promise for part in requirement.parts for promise in _promises(part, persons))


def _promises(part: RequirementPart | Requirement, persons: Persons | None) -> list[tuple[str, str]]:
    match part:
        case KAnonymity(k):
            known = f"Whoever knows all quasi-identifiers of a person finds at least {k:,} rows that look alike."
            known = known if persons is None else meaning_of(persons, k)
            return [(str(part), known if k > 1 else NOTHING)]
        case KnownTogether(sets):
            return [(str(one), _known(one) if persons is None else meaning_of(persons, one.k, one)) for one in sets]
        case FurtherRequirement():
            return [(str(part), part.meaning)]
    return [(promise, "") for promise in part.promises]


def _known(one: KnownSet) -> str:
    if one.k == 1:
        return NOTHING
    return f"Whoever knows {', '.join(one.names)} of a person finds at least {one.k:,} rows that look alike."


FORMS: dict[str, tuple[type[Form], ...]] = {
    "value": (Shown, ShownMissing),
    "set": (ValueSet,),
    "mean": (Mean,),
    "interval": (Interval, Level, Midpoint, Range),
    "category": (Category,),
    "counts": (Counts,),
}


@dataclass(frozen=True)
class PersonAccuracy:
    """What is said beside an accuracy where a person may have several rows: nobody was learned from and tested on.

    Parameters
    ----------
    before, after
        Means over persons: somebody with many rows counts once.
    before_error, after_error
        Standard errors of the accuracies over rows, if persons are drawn anew.
    train_persons, test_persons
        How many there were.
    before_by_rows, after_by_rows
        What a split by rows would have said, which is wrong.
    """

    before: float
    after: float
    before_error: float
    after_error: float
    train_persons: int
    test_persons: int
    before_by_rows: float = 0.0
    after_by_rows: float = 0.0


@dataclass(frozen=True)
class Accuracy:
    """What a decision tree learns from the table and from its release, tested on the same unseen rows."""

    before: float
    after: float
    majority: float
    train_rows: int
    test_rows: int
    persons: PersonAccuracy | None = None

    @property
    def is_majority(self) -> bool:
        """Whether the release teaches a tree no more than the most frequent class."""
        return self.after <= self.majority


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
    """One release, described.

    What is None was not measured, not run, not tracked, or not stated. ``meanings`` are the promises,
    each with what it means; ``risk`` is that of the table, with that of the release in its ``after``; ``earlier`` is
    what the ledger knows of the table, None where no ledger is kept; ``unchanged`` is what unchanged columns
    undo, None where that was not counted; ``persons`` says whose rows they are, None if every row is a person;
    ``keyed`` is what is stated of columns that a key makes; ``empty`` are
    quasi-identifiers in which every cell is missing.
    """

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
    notices: tuple[Notice, ...] = ()
    k: int = 1
    promises: tuple[str, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    class_sensitive: bool | None = None
    preset: str | None = None
    method_package: str | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    coarsened: dict[str, str] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    keyed: dict[str, Any] = field(default_factory=dict)
    responsible: str | None = None
    utility: Utility | None = None
    persons: Persons | None = None
    risk: Risk | None = None
    attacks: AttackFacts | None = None
    earlier: Earlier | None = None
    unchanged: UnchangedCounts | None = None
    reading: dict[str, Any] = field(default_factory=lambda: {"new_rows": "as they are", "columns": {}})
    cuts: dict[str, tuple[float | str, ...]] = field(default_factory=dict)
    empty: tuple[str, ...] = ()
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
    columns: Mapping[str, EncodedColumn] | None = None,
    persons: Persons | None = None,
    **stated: Any,
) -> Facts:
    """The facts of a plan and its verdict; ``stated`` are fields of :class:`Facts` that do not follow from them.

    ``columns`` are the encoded columns of the table, to measure what the plan loses of it; without them the loss is not
    measured.
    """
    rows = plan.rows if verdict.input_rows is None else verdict.input_rows
    return Facts(
        schema=plan.schema,
        requirement=str(plan.requirement),
        method=plan.method,
        parameters=dict(plan.parameters),
        rows=rows,
        rows_dropped=rows - verdict.sizes.rows,
        groups=len(plan.groups) if plan.show and not (persons and persons.linked) else verdict.sizes.classes,
        smallest_group=verdict.sizes.smallest,
        cells_shown=plan.share_of_cells_shown,
        attributes=tuple(_attribute(plan, name) for name in plan.names),
        largest_groups=tuple(sorted(plan.groups, key=lambda group: -group.rows)[:12]),
        verdict=verdict,
        k=plan.requirement.smallest_group,
        promises=plan.requirement.promises,
        meanings=promises_of(plan.requirement, persons),
        persons=persons,
        utility=None if columns is None else utility_of(plan, columns, verdict.sizes),
        empty=tuple(name for name in plan.names if columns is not None and not columns[name].counts[:-1].any()),
        parts=_parts(plan),
        reasons=plan.reasons,
        cuts={name: _readable(cuts, plan.schema[name].type) for name, cuts in plan.cuts.items()},
        **stated,
    )


def counts_sentence(facts: Facts) -> str | None:
    """What the counts of a release are, and what they tell; None if there are none."""
    counts = facts.keyed.get("counts", {})
    by_class = ""
    if counts.get("by_class"):
        by_class = (
            " They are those of one class, but for classes with too few rows: whoever knows a person's values can "
            "mostly tell the class."
        )
    match counts:
        case {"are": "drawn", "redraw": int(rows)}:
            return (
                f"Counts are drawn by a key, from the rows of a group and {counted(rows, 'row')} that may be any of "
                f"the table: none is exact, and asking again gives the same ones.{by_class}"
            )
        case {"are": "exact"}:
            return (
                "Counts are exact: whoever has two such releases of tables that differ by one row reads the record "
                f"off, and a value that nobody of a group has is ruled out for all of them.{by_class}"
            )
    return None


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
