"""What a trial publishes of a part of a table, in memory: a release, or a tree by kADET; its promise is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from incrowd.comparisons.feeding import Parts
from incrowd.errors import RequirementError, VerificationError
from incrowd.methods.catalog import MethodOrName, make_method
from incrowd.methods.histories.known_rows import smallest_support
from incrowd.methods.limits import decide_within
from incrowd.methods.release_forms import fitted, formed, rare_kept_out, suited
from incrowd.models.kadet import KAdet
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.recipients.matrix import Numbers
from incrowd.rows.memory.held import Draft, EmbeddedEngine
from incrowd.verification.spans import verify_spans
from incrowd.verification.verdict import ClassSizes
from incrowd.vocabulary.encoded_table import Codes, EncodedColumn, EncodedTable
from incrowd.vocabulary.forms import BY_CLASS, OF_FORM, REDRAW
from incrowd.vocabulary.persons import KNOWN_ROWS, LINKED_METHODS
from incrowd.vocabulary.preferences import INDIFFERENT, Preferences
from incrowd.vocabulary.randomness import SeededRandomness, seeded_key
from incrowd.vocabulary.requirement import Requirement, subject_names
from incrowd.vocabulary.schema import ColumnType, Schema


@dataclass(frozen=True)
class ReleaseRisk:
    """Groups of rows that look alike, counted."""

    groups: int
    smallest: int
    average: float
    largest: float
    pure: float  # share of the rows in groups of one class, of whom the class is known without picking anybody
    purity: float | None = None  # share of the rows that have the most frequent class of their group


@dataclass(frozen=True, eq=False)
class Made:
    """A release of some rows."""

    plan: ReleasePlan
    draft: Draft
    risk: ReleaseRisk


def release_rows(
    table: EncodedTable,
    frame: pl.DataFrame,
    schema: Schema,
    method: MethodOrName,
    parameters: Mapping[str, Any],
    requirement: Requirement,
    seed: int,
    people: EncodedTable | None = None,
    preferences: Preferences = INDIFFERENT,
    owners: Codes | None = None,
    rarest: int | None = None,
    order: EncodedColumn | None = None,
) -> Made:
    """Release the rows by the same steps as ``incrowd release``, and count the promise on the released frame.

    ``owners`` has the person of each row, if rows are not persons; the promise is then about persons, and of a method
    for persons who can be followed about their histories. ``order`` puts the rows of a person in order.
    """
    requirement.check_possible(table.height if owners is None else len(np.unique(owners)))
    known = known_to_methods(table, schema, requirement, order)
    randomness, engine = SeededRandomness(seed), EmbeddedEngine()
    population = engine.population(known, schema, randomness, owners)
    form, redraw, bins = parameters.get("form"), parameters.get("redraw", REDRAW), parameters.get("bins", BY_CLASS)
    by_class = parameters.get("counts_by_class", False)
    joint = (rarest or 1) if parameters.get("joint_counts") else 0
    chosen = suited(
        make_method(method, {name: value for name, value in parameters.items() if name not in OF_FORM}), form
    )
    preferences.check_columns(schema)
    steps = decide_within(chosen, population, requirement, randomness, preferences)
    key = seeded_key(seed)
    drawn: dict[str, Any] = {"redraw": redraw, "key": key, "bins": bins, "by_class": by_class, "joint": joint}
    steps = formed(steps, form, population, requirement, **drawn)
    steps = *fitted(steps, population, requirement, people), *rare_kept_out(rarest, requirement)
    described = tuple(chosen.parameters().items())
    steps = Drop(schema.dropped), *steps
    plan = ReleasePlan(chosen.name, described, requirement, schema, table.height, steps, preferences)
    plan = engine.settle(plan, population)
    draft = engine.draft(plan, population, frame, randomness)
    target = table[schema.target].take(draft.origin) if schema.target else None
    return Made(plan, draft, _counted(plan, draft.frame, target, None if owners is None else owners[draft.origin]))


def _counted(plan: ReleasePlan, frame: pl.DataFrame, target: EncodedColumn | None, owners: Codes | None) -> ReleaseRisk:
    """The groups of the release; raises if one of them breaks the promise."""
    for one in plan.requirement.sets(plan.schema.quasi_identifiers):
        names = [column.name for column in plan.written if column.source in one.names]
        if risk_of(frame.select(names), target, owners).smallest < min(one.k, frame.height):
            raise VerificationError(f"{plan.method} broke its promise of {one}. This is a bug: please report it.")
    names = [column.name for column in plan.written if column.source in plan.schema.quasi_identifiers]
    risk = risk_of(frame.select(names), target, owners)
    if owners is None or plan.method not in LINKED_METHODS or not frame.height:
        return risk
    followed = _followed(plan, frame.select(names), owners, risk)
    if followed.smallest < min(plan.requirement.smallest_group, len(np.unique(owners))):
        raise VerificationError(f"{plan.method} broke its promise of histories. This is a bug: please report it.")
    return followed


def _followed(plan: ReleasePlan, cells: pl.DataFrame, owners: Codes, risk: ReleaseRisk) -> ReleaseRisk:
    """The same where persons can be followed: those who share a whole history, or any few rows of one."""
    keys = cells.rename({name: f"column {place}" for place, name in enumerate(cells.columns)})
    tuples = keys.select(pl.struct(pl.all()).rank("dense").cast(pl.Int64)).to_series().alias("tuple")
    people = np.unique(owners, return_inverse=True)[1].astype(np.int64)
    if plan.method == KNOWN_ROWS:
        parameters = dict(plan.parameters)
        numbers = np.bincount(people) if parameters["count"] else None
        smallest = smallest_support(tuples.to_numpy(), people, int(people.max()) + 1, parameters["rows"], numbers)
        return replace(risk, smallest=smallest, largest=1 / smallest)
    rows = pl.DataFrame({"person": people, "tuple": tuples})
    sizes = rows.group_by("person").agg(pl.col("tuple").sort()).group_by("tuple").len()["len"].to_numpy()
    smallest = int(sizes.min())
    return replace(risk, groups=len(sizes), smallest=smallest, average=len(sizes) / sizes.sum(), largest=1 / smallest)


def risk_of(frame: pl.DataFrame, target: EncodedColumn | None = None, owners: Codes | None = None) -> ReleaseRisk:
    """The groups of rows that are equal in all columns; missing is a value. A group is as large as it has persons."""
    if not frame.height:
        return ReleaseRisk(0, 0, 0.0, 0.0, 0.0)
    beside = pl.DataFrame({"class": np.zeros(frame.height, np.int32) if target is None else target.codes})
    keys = frame.rename({name: f"column {place}" for place, name in enumerate(frame.columns)})
    counts = [pl.len().alias("rows"), pl.col("class").unique_counts().max().alias("most")]
    if owners is not None:
        beside = beside.with_columns(person=owners)
        counts.append(pl.col("person").n_unique().alias("persons"))
    groups = keys.hstack(beside).group_by(keys.columns).agg(counts)
    rows = groups["rows"].to_numpy()
    most = groups["most"].to_numpy()
    alone = 0 if target is None else int(rows[most == rows].sum())
    purity = None if target is None else float(most.sum()) / frame.height
    sizes = rows if owners is None else groups["persons"].to_numpy()
    smallest = int(sizes.min())
    average = len(rows) / frame.height if owners is None else float((rows / sizes).sum()) / frame.height
    return ReleaseRisk(len(rows), smallest, average, 1 / smallest, alone / frame.height, purity)


def known_to_methods(
    table: EncodedTable, schema: Schema, requirement: Requirement, order: EncodedColumn | None
) -> EncodedTable:
    """What a method may know of these rows: quasi-identifiers, target, columns of the requirement; no other value.

    ``order`` puts the rows of a person in order.
    """
    protected = subject_names(requirement, schema.target)
    names = [*schema.quasi_identifiers, *([schema.target] if schema.target else []), *protected]
    beside = [] if order is None else [order]
    return without_unused(EncodedTable.of([*(table[name] for name in dict.fromkeys(names)), *beside]))


def without_unused(table: EncodedTable) -> EncodedTable:
    """The table with dictionaries of only the values that its rows have."""
    return EncodedTable.of(_column_without_unused(column) for column in table.columns.values())


def _column_without_unused(column: EncodedColumn) -> EncodedColumn:
    used = np.flatnonzero(column.counts[:-1])
    if len(used) == len(column.dictionary):
        return column
    places = np.zeros(column.width, np.int32)
    places[used] = np.arange(len(used), dtype=np.int32)
    places[-1] = len(used)
    return EncodedColumn(column.name, column.type, places[column.codes], column.dictionary.gather(used))


FILL = "mode"


def publish_and_score(
    parts: Parts, schema: Schema, k: int, parameters: Mapping[str, Any], owners: Codes | None = None
) -> tuple[Numbers, ReleaseRisk]:
    """Grow a tree on the rows to learn from, recount it, and score the test rows.

    Quasi-identifiers are public, other columns and the class private. The most frequent value, or the median, stands
    for a missing one, unless the parameters say otherwise. ``Risk`` is about spans: people who look alike to the tree.
    """
    schema = Schema(tuple(replace(column, type=_written(column.type)) for column in schema.columns))
    train, test = _retyped(without_unused(parts.train)), _retyped(parts.test)
    private = tuple(name for name in parts.inputs if name not in schema.quasi_identifiers)
    induction = KAdet(k=k, private=private, **{"fill": FILL, **parameters}).induce(train, schema, owners)
    if induction.model is None:
        raise RequirementError(f"No tree is possible. {induction.reason}")
    verdict = verify_spans(induction.model.to_json(), train, None if owners is None else owners.astype(np.int64))
    if not verdict.passed:
        raise VerificationError("kadet broke its promise. This is a bug: please report it.")
    risk = _risk_of_spans(verdict.sizes)
    place = {value: number for number, value in enumerate([*parts.train[parts.target].dictionary.to_list(), None])}
    return induction.model.class_shares(test, [place[value] for value in induction.model.classes], len(place)), risk


def _risk_of_spans(sizes: ClassSizes) -> ReleaseRisk:
    """The spans, as large as they have rows; or persons, of whom each counts once in a span."""
    of = sizes if sizes.persons is None else sizes.persons
    members = sum(size * spans for size, spans in of.histogram)
    return ReleaseRisk(sizes.classes, of.smallest, sizes.classes / members, 1 / max(1, of.smallest), 0.0)


def _retyped(table: EncodedTable) -> EncodedTable:
    return EncodedTable.of(replace(column, type=_written(column.type)) for column in table.columns.values())


def _written(kind: ColumnType) -> ColumnType:
    """Truth values are categories to a tree that others read."""
    return ColumnType.CATEGORICAL if kind is ColumnType.BOOLEAN else kind
