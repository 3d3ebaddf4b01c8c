"""What is measured of a release beside what it promises: accuracy, risk, attacks.

What cannot be measured is said to be so, in a notice; it is no reason to hold back a release that keeps its promise.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from incrowd.errors import IncrowdError, Notice, ParameterError, RequirementError
from incrowd.plan.release_plan import ReleasePlan
from incrowd.releases.job import Job
from incrowd.report.facts import Accuracy
from incrowd.rows.one_machine import OnOneMachine, memory_of_cells
from incrowd.tables.options import Reading
from incrowd.tables.publishing.serialise import safe_name
from incrowd.tables.reading.read import read_release
from incrowd.vocabulary.persons import Persons
from incrowd.vocabulary.resources import PROGRAM, Resources

if TYPE_CHECKING:
    from incrowd.report.attack_facts import AttackFacts
    from incrowd.risk.assessment import Risk
    from incrowd.risk.classes import Whole
    from incrowd.rows.held import Held, Unverified


_TOO_FEW = "the two thirds of the rows that would be released for it cannot keep the requirement."


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured; None is not measured. ``notices`` say why not, where it was asked for."""

    accuracy: Accuracy | None = None
    risk: Risk | None = None
    attacks: AttackFacts | None = None
    notices: tuple[Notice, ...] = ()


def check_measurable(job: Job, held: Held) -> None:
    """Refuse, before any work is done, what is measured on all rows at once and does not fit."""
    if job.on_spark:
        return
    if (job.measuring.risk or job.measuring.attacks) and (held.source is None or job.memory is not None):
        _check_counted_whole(job, held)


def _check_counted_whole(job: Job, held: Held) -> None:
    """Refuse to count on all rows at once what does not fit, before any work is done."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None
    limits = held.resources or Resources(job.memory, program=PROGRAM)
    limits = limits if limits.memory is not None else replace(limits, memory=physical)
    cells = held.rows * len(held.schema.names)
    cells *= 1 if held.source is None else 2  # those of the release, and those that it is made of
    limits.check_fits(memory_of_cells(cells), 1.0, "What is measured on all rows at once")


def _fits(job: Job, held: Held) -> bool:
    """Whether what is counted on all rows at once may be counted, where nobody asked for it."""
    if held.source is not None and job.memory is None:
        return True
    try:
        _check_counted_whole(job, held)
    except ParameterError:
        return False
    return True


def measure(job: Job, held: Held, plan: ReleasePlan, draft: Unverified, source: str) -> Measured:
    """Measure what was asked for; risk also where a report is written, for it takes little time."""
    notices: list[Notice] = []
    accuracy, risk, attacks = None, None, None
    if job.measuring.accuracy:
        with job.clock("measuring accuracy"), _noting(notices, "accuracy", _TOO_FEW, RequirementError):
            from incrowd.releases.accuracy import LARGEST, measure_accuracy

            whole = held.source if job.recipe.persons is not None else None  # persons are drawn, not rows
            accuracy = measure_accuracy(whole or held.sample(LARGEST), held.schema, job.recipe)
    if job.on_spark and job.measuring.risk:
        with job.clock("measuring risk"), _noting(notices, "risk"):
            risk = _risk_on_spark(job, held, draft, source)
    if job.on_spark or job.pair:
        return Measured(accuracy, risk, notices=tuple(notices))
    unasked = job.measuring.risk is None and job.outputs.report is not None
    wanted = job.measuring.risk or (unasked and _fits(job, held))
    if held.source is None and not wanted:
        return Measured(accuracy, notices=tuple(notices))
    table = (held.source or held.sample(held.rows)).frame
    released = _released(job, plan, draft.files[0]) if wanted or job.measuring.attacks else None
    owned = _Owned.of(job, held, draft)
    if wanted:
        with job.clock("measuring risk"), _noting(notices, "risk"):
            risk = _risk(job, held, table, released, source, owned)
    if job.measuring.attacks:
        with job.clock("attacking"), _noting(notices, "attacks"):
            attacks = _attacks(job, held, table, plan, released, owned)
    return Measured(accuracy, risk, attacks, tuple(notices))


@contextmanager
def _noting(notices: list[Notice], what: str, why: str = "", kind: type[IncrowdError] = IncrowdError) -> Iterator[None]:
    """Whatever keeps something from being measured becomes a notice."""
    try:
        yield
    except kind as error:
        notices.append(Notice(f"{what}-not-measured", what, f"not measured: {why or error}"))


def _released(job: Job, plan: ReleasePlan, written: Path) -> pl.DataFrame:
    """The written release, its columns under the names of the plan."""
    own = {safe_name(column.name): column.name for column in plan.written} if job.form.kind == "csv" else {}
    return read_release(written, job.recipe.reading.get("missing")).frame.rename(own, strict=False)


@dataclass(frozen=True, eq=False)
class _Owned:
    """Whose rows they are: the person of each row that was held, and the held row of each released one."""

    persons: Persons
    owners: Whole
    origin: Whole

    @classmethod
    def of(cls, job: Job, held: Held, draft: Unverified) -> _Owned | None:
        """Those of a release in the making; None if every row is a person."""
        if job.recipe.persons is None or not isinstance(held, OnOneMachine) or held.owners is None:
            return None
        order = np.arange(len(held.owners)) if held.order is None else held.order
        places = np.full(int(order.max(initial=-1)) + 1, -1, np.int64)
        places[order] = np.arange(len(order))
        return cls(job.recipe.persons, held.owners.astype(np.int64), places[np.load(draft.hint.origin)])


def _risk(job: Job, held: Held, table: pl.DataFrame, released: Any, source: str, owned: _Owned | None) -> Risk:
    from incrowd.risk.assessment import RiskRequest, assess, measure_risk

    schema, secret = held.schema, _secret(job, held)
    if owned is None:
        known, missing = schema.quasi_identifiers, held.origin.missing
        risk = measure_risk(table, quasi_identifiers=known, sensitive=secret, after=released, missing=missing)
    else:
        request = RiskRequest(schema.quasi_identifiers, tuple(secret), reading={"missing": held.origin.missing})
        risk = assess(table, request, after=released, owners=(owned.owners, owned.owners[owned.origin]))
    after = risk.after and replace(risk.after, source=job.outputs.name or "the release")
    return replace(risk, source=source, after=after)


def _secret(job: Job, held: Held) -> list[str]:
    """The columns that should not follow from the quasi-identifiers."""
    target = held.schema.target
    return [*held.schema.sensitive, *([target] if target and job.recipe.class_sensitive is not False else [])]


def _risk_on_spark(job: Job, held: Held, draft: Unverified, source: str) -> Risk:
    """The risk of the table as Spark reads it, and of the written files."""
    from incrowd.risk.assessment import RiskRequest, released_as
    from incrowd.risk.summed import assess_summed
    from incrowd.rows.spark.counting import RowCounts
    from incrowd.rows.spark.held import OnSpark, WrittenFolder

    assert isinstance(held, OnSpark)
    assert isinstance(draft, WrittenFolder)
    known, missing = held.schema.quasi_identifiers, held.origin.missing
    request = RiskRequest(known, tuple(_secret(job, held)), reading={"missing": missing})
    risk = assess_summed(RowCounts.of(held.table, missing), held.schema.names, request)
    written = draft.table
    shown = replace(
        request, quasi_identifiers=tuple(c for name in known for c in released_as(name, list(written.columns)))
    )
    after = assess_summed(RowCounts.of(written, missing), written.columns, shown)
    return replace(risk, source=source, after=replace(after, source=job.outputs.name or "the release"))


def _attacks(
    job: Job, held: Held, table: pl.DataFrame, plan: ReleasePlan, released: Any, owned: _Owned | None
) -> AttackFacts:
    """The attacks on the release, and on the table as if it were released as it is."""
    from incrowd.attacks.catalog import find_attacks
    from incrowd.attacks.opening import AttackRequest, open_scene
    from incrowd.attacks.run import attack_scene
    from incrowd.report.attack_facts import attacks_of

    schema = held.schema
    only = None if job.measuring.attacks is True else tuple(job.measuring.attacks or ())
    reading: Reading = {"missing": held.origin.missing}

    def tell(words: str) -> None:
        job.clock.progress(f"attacking: {words}")

    method, parameters = (
        (None, None) if isinstance(job.recipe.method, str) else (job.recipe.method, job.recipe.parameters)
    )
    persons = None if owned is None else owned.persons
    after = AttackRequest(
        released,
        table,
        plan=plan,
        method=method,
        parameters=parameters,
        reading=reading,
        persons=persons,
        origin=None if owned is None else owned.origin,
    )
    before = AttackRequest(
        table.select(schema.released),
        table,
        quasi_identifiers=schema.quasi_identifiers,
        target=schema.target,
        sensitive=schema.sensitive or None,
        requirement=plan.requirement,
        reading=reading,
        persons=None if persons is None else Persons(persons.column, persons.ids, persons.missing),
        origin=None if owned is None else np.arange(table.height),
    )
    asks = {attack.name: attack.asks for attack in (*find_attacks(), *find_attacks(only))}
    released = attack_scene(open_scene(after), only, tell)
    itself = attack_scene(open_scene(before), only, lambda words: tell(f"the table itself, {words}"))
    return attacks_of(released.to_json(), itself.to_json(), asks)
