"""Every method keeps every requirement on every engine, or says that it is impossible; a search over all partitions
of small tables agrees."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support.oracle_requirements as oracle
from incrowd.errors import RequirementError
from incrowd.methods.catalog import METHODS, make_method
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import BlockedEngine
from incrowd.verification.opening import connect, register
from incrowd.verification.requirements import Further, recount_requirements
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.strategies import TARGET, Case, cases

ENGINES = [EmbeddedEngine(), BlockedEngine(7)]
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
SECRET = "secret"
TREE = Hierarchy.from_paths(
    SECRET, [["v0", "low", "*"], ["v1", "low", "*"], ["v2", "high", "*"], ["v3", "high", "*"], ["v4", "*"]]
)
ABOVE = {"v0": ("low", "*"), "v1": ("low", "*"), "v2": ("high", "*"), "v3": ("high", "*"), "v4": ("v4", "*")}


@st.composite
def with_secret(draw, **sizes):
    """A table with a further, sensitive column."""
    case = draw(cases(**sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = draw(st.integers(1, 5))
    codes = rng.integers(0, size, len(case.rows))
    if draw(st.booleans()):
        codes = np.minimum(case.table[case.names[0]].codes, size - 1)
    codes = np.where(rng.random(len(codes)) < draw(st.sampled_from([0.0, 0.2])), size, codes).astype(np.int32)
    kind = draw(st.sampled_from([ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.INTEGER]))
    values = list(range(0, 3 * size, 3)) if kind is ColumnType.INTEGER else [f"v{i}" for i in range(size)]
    column = EncodedColumn(SECRET, kind, codes, pl.Series(values))
    order = tuple(values) if kind is ColumnType.ORDERED else ()
    tree = TREE if kind is ColumnType.CATEGORICAL and draw(st.booleans()) else None
    schema = Schema((*case.schema.columns, Column(SECRET, Role.SENSITIVE, kind, order, "", tree)))
    plain = [*values, None]
    rows = [{**row, SECRET: plain[code]} for row, code in zip(case.rows, codes.tolist(), strict=True)]
    return Case(rows, EncodedTable.of([*case.table.columns.values(), column]), schema)


def number(low, high):
    return st.integers(int(low * 20), int(high * 20)).map(lambda i: Fraction(i, 20))


def distances(column):
    """The distances of t-closeness that a column has, and its natural one."""
    more = [*(["ordered"] if column.type.has_order else []), *(["hierarchical"] if column.hierarchy else [])]
    return st.sampled_from(["equal", None, *more])


KINDS = {
    "distinct-l": lambda on, _: st.integers(1, 4).map(lambda least: DistinctDiversity(least, on)),
    "entropy-l": lambda on, _: number(1, 3).map(lambda base: EntropyDiversity(base, on)),
    "recursive-l": lambda on, _: st.builds(RecursiveDiversity, number(0.5, 4), st.integers(1, 3), st.just(on)),
    "t": lambda on, column: st.builds(TCloseness, number(0, 1), st.just(on), distances(column)),
    "alpha": lambda on, _: number(0.3, 1).map(lambda share: ConfidenceCap(share, on)),
    "powers": lambda on, _: number(0.3, 2).map(lambda limit: PowerBound({2: 1, 3: "0.5"}, limit, on)),
    "beta": lambda on, _: number(0.2, 4).map(lambda beta: BetaLikeness(beta, on)),
    "enhanced-beta": lambda on, _: number(0.2, 4).map(lambda beta: BetaLikeness(beta, on, enhanced=True)),
    "delta-disclosure": lambda on, _: number(0.2, 4).map(lambda delta: DeltaDisclosure(delta, on)),
}
"""k-map and delta-presence are in ``tests/property/test_population_requirements.py``."""


@st.composite
def parts(draw, kind, case):
    """A requirement of a kind, on the sensitive column or the class; at times another one beside it."""
    found = []
    for word in (kind, *draw(st.lists(st.sampled_from(list(KINDS)), max_size=1))):
        on = draw(st.sampled_from([SECRET, None, TARGET]))
        found.append(draw(KINDS[word](on, case.schema[on or TARGET])))
    return tuple(found)


@st.composite
def requirements(draw, kind, case):
    sizes = KAnonymity(draw(st.integers(1, max(1, len(case.rows) // 2))))
    if len(case.names) > 1 and draw(st.booleans()):
        cut = draw(st.integers(1, len(case.names) - 1))
        sets = [(case.names[: cut + 1], sizes.k), (case.names[cut:], draw(st.integers(1, sizes.k)))]
        sizes = KnownTogether(tuple(KnownSet(tuple(names), k) for names, k in sets))
    return Together((sizes, *draw(parts(kind, case))))


def keeps(part, group, rows, schema):
    """Whether a group of rows keeps a requirement, by the definition in fractions."""
    name = part.on or TARGET
    values = [*sorted({row[name] for row in rows if row[name] is not None}), None]
    counts, whole = ([sum(row[name] == value for row in some) for value in values] for some in (group, rows))
    if not whole[-1]:
        values, counts, whole = values[:-1], counts[:-1], whole[:-1]
    match part:
        case DistinctDiversity(l):
            return oracle.distinct(counts, whole, l)
        case EntropyDiversity(l):
            return oracle.entropy(counts, whole, l)
        case RecursiveDiversity(c, l):
            return oracle.recursive(counts, whole, c, l)
        case ConfidenceCap(share):
            return oracle.confidence(counts, whole, share)
        case PowerBound(weights, limit):
            return oracle.power_sum(counts, weights) <= limit
        case BetaLikeness(beta, _, enhanced):
            return (oracle.enhanced if enhanced else oracle.likeness)(counts, whole, beta)
        case DeltaDisclosure(delta):
            return oracle.disclosure(counts, whole, delta)
    column = schema[name]
    natural = "hierarchical" if column.hierarchy else "ordered" if column.type.has_order else "equal"
    if (part.distance or natural) == "hierarchical":
        paths = [(value, *ABOVE.get(value, ("none", "*"))) for value in values]
        return oracle.tree_distance(counts, whole, paths, 2) <= part.t
    measure = oracle.ordered_distance if (part.distance or natural) == "ordered" else oracle.equal_distance
    return measure(counts, whole) <= part.t


def make(case, asked, engine, name, seed):
    chance = SeededRandomness(seed)
    method = make_method(name, {})
    population = engine.population(case.table, case.schema, chance)
    steps = (Drop(()), *method.decide(population, asked, chance))
    plan = ReleasePlan(name, tuple(method.parameters().items()), asked, case.schema, len(case.rows), steps)
    plan = engine.settle(plan, population)
    return plan, engine.draft(plan, population, case.frame, chance)


@pytest.mark.each(11)
@pytest.mark.parametrize("engine", ENGINES, ids=["embedded", "blocks"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(st.data())
def test_every_requirement_is_kept_or_impossible(engine, name, kind, data):
    case = data.draw(with_secret())
    asked = data.draw(requirements(kind, case))
    possible = all(keeps(part, case.rows, case.rows, case.schema) for part in asked.on_columns)
    possible = possible and asked.smallest_group <= len(case.rows)
    try:
        plan, draft = make(case, asked, engine, name, 5)
    except RequirementError:
        assert not possible
        return
    assert possible
    assert sorted(draft.origin.tolist()) == list(range(len(case.rows)))  # nobody is left out
    assert plan_from_json(plan_to_json(plan)) == plan
    sets = [list(one.names) for one in asked.sets(case.names)]
    for names, k in zip(sets, (one.k for one in asked.sets(case.names)), strict=True):
        groups = defaultdict(list)
        for shown, row in zip(draft.frame.select(names).rows(), draft.origin.tolist(), strict=True):
            groups[shown].append(case.rows[row])
        for group in groups.values():
            assert len(group) >= k
            assert all(keeps(part, group, case.rows, case.schema) for part in asked.on_columns)
    about = [(part, case.schema[part.on or TARGET]) for part in asked.on_columns]
    further = [Further(part, c.name, c.type, c.order, c.hierarchy) for part, c in about]
    with connect() as connection:
        columns = register(connection, draft.frame.to_arrow(), "released")
        assert all(check.passed for check in recount_requirements(connection, columns, sets, further))


def partitions(items):
    """All ways to put items into groups."""
    if not items:
        yield []
        return
    first, *rest = items
    for smaller in partitions(rest):
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]
        yield [[first], *smaller]


@pytest.mark.each(5)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(st.data())
def test_what_is_called_impossible_is_so(name, kind, data):
    """Tables of up to six rows: an error if and only if no partition of the rows at all keeps the requirement."""
    case = data.draw(with_secret(max_rows=6, max_columns=2))
    k = data.draw(st.integers(1, len(case.rows)))
    asked = Together((KAnonymity(k), *data.draw(parts(kind, case))))
    some = any(
        all(
            len(group) >= k and all(keeps(part, group, case.rows, case.schema) for part in asked.on_columns)
            for group in partition
        )
        for partition in partitions(case.rows)
    )
    try:
        make(case, asked, EmbeddedEngine(), name, 1)
    except RequirementError as error:
        assert not some
        assert "impossible" in str(error)  # noqa: PT017, either way is right
        return
    assert some
