"""Every property of the specification, on thousands of random tables, against an oracle written a second way."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.methods.tree_suppression.kactus import KActus, release_bottom_up
from incrowd.methods.tree_suppression.kactus_plus import KActusPlus
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.trees.c45 import C45, ID3
from incrowd.trees.tree import Node, Tree
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval, Mean
from incrowd.vocabulary.requirement import KAnonymity
from support.oracle_kactus import cell, kactus
from support.strategies import TARGET, cases, trees

MANY = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
NUMERIC = st.sampled_from(["bins", "levels", "mean", "interval"])
SOME = settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))


class Fixed:
    def __init__(self, tree):
        self.tree = tree

    def grow(self, table, attributes, target):
        return self.tree


def _for(numeric, inducer):
    """A tree made for raw numbers cannot be used on binned ones."""
    return None if numeric in ("bins", "levels") and isinstance(inducer, Fixed) else inducer


@st.composite
def requests(draw):
    """A table, a k from 1 to n, and an inducer: a random tree, C4.5 or ID3."""
    case = draw(cases())
    k = draw(st.integers(1, len(case.rows)))
    grown = [C45(min_branch=1, confidence=None, bins=None), C45(missing="branch", min_branch=1), ID3()]
    inducer = draw(st.one_of(trees(case).map(Fixed), st.sampled_from(grown)))
    return case, k, inducer, draw(st.integers(0, 2**32 - 1))


def release(case, k, method, seed):
    engine, chance = EmbeddedEngine(), SeededRandomness(seed)
    population = engine.population(case.table, case.schema, chance)
    steps = method.decide(population, KAnonymity(k), chance)
    plan = ReleasePlan(method.name, (), KAnonymity(k), case.schema, len(case.rows), steps)
    plan = engine.settle(plan, population)
    return plan, engine.draft(plan, population, case.frame, chance)


def check_promises(case, k, plan, draft, may_lose):
    """Properties 1 to 5, row by row, in plain Python."""
    released = draft.frame.rows(named=True)
    tuples = Counter(tuple(row[name] for name in case.names) for row in released)
    assert all(count >= k for count in tuples.values())
    origin = draft.origin.tolist()
    assert len(set(origin)) == len(origin) == len(released)
    assert len(case.rows) - len(released) <= may_lose
    assert plan.rows_dropped == len(case.rows) - len(released)
    assert plan.rows_released == len(released)
    assert all(group.rows >= k for group in plan.groups)
    for row, source in zip(released, origin, strict=True):
        assert row[TARGET] == case.rows[source][TARGET]


def inside(value, interval):
    low, high = (float(end.strip("()]")) for end in interval.split(", "))
    return low < value <= high


def check_cells(case, plan, draft, numeric):
    """Every shown cell is true of its row: the value, a set or interval around it, or a mean of its class or level."""
    released = draft.frame.rows(named=True)
    members = {}
    for row, source in zip(released, draft.origin.tolist(), strict=True):
        for name in case.names:
            key = row[name] if numeric == "levels" else tuple(row[other] for other in case.names)
            members.setdefault((name, row[name], key), []).append(source)
    for (name, shown, _), sources in members.items():
        own = [case.rows[source][name] for source in sources]
        if shown is not None:
            assert None not in own
            if isinstance(shown, str) and shown.startswith("("):
                assert all(any(inside(value, part) for part in shown.split("|")) for value in own)
            elif case.table[name].type.is_numeric:
                mean = sum(map(Fraction, own)) / len(own)
                assert abs(Fraction(shown) - mean) <= Fraction(1, 10**9)
            else:
                assert set(own) <= set(shown.split("|"))


@MANY
@given(requests(), st.sampled_from(["recommended", "literal"]), NUMERIC)
def test_kactus_keeps_its_promises(request, reading, numeric):
    case, k, inducer, seed = request
    method = KActus(inducer=_for(numeric, inducer), reading=reading, numeric=numeric)
    plan, draft = release(case, k, method, seed)
    check_promises(case, k, plan, draft, k - 1)
    check_cells(case, plan, draft, numeric)
    same, again = release(case, k, method, seed)
    assert same == plan
    assert again.frame.equals(draft.frame)
    assert np.array_equal(again.origin, draft.origin)


@MANY
@given(requests(), st.sampled_from(["recommended", "literal"]), st.integers())
def test_node_totals_agree_with_the_oracle_whatever_the_draw(request, reading, other_seed):
    case, k, inducer, seed = request
    tree = inducer.grow(case.table, case.names, TARGET)
    population = EmbeddedEngine().population(case.table, case.schema, SeededRandomness(seed))
    ledger, left = release_bottom_up(tree, population.count(tree), k, SeededRandomness(seed), reading)
    groups, oracle_left, trace = kactus(tree, case.rows, k, reading, other_seed)
    assert {r.node: (r.waiting, r.moved, r.released, r.residual) for r in ledger.trace} == trace
    assert left.size == len(oracle_left)
    assert ledger.touched <= len(case.rows) * max(1, tree.depth)
    ours = Counter(frozenset(bundle.path) for bundle in ledger.bundles)
    assert ours == Counter(frozenset(path) for path, members in groups if members)


@SOME
@given(requests())
def test_cells_are_those_of_the_oracle_when_nothing_moves(request):
    """Where no row is drawn the release is determined, cell by cell."""
    case, k, inducer, seed = request
    tree = inducer.grow(case.table, case.names, TARGET)
    groups, _, trace = kactus(tree, case.rows, k, "recommended", 0)
    if any(moved for _, moved, _, _ in trace.values()):
        return
    _, draft = release(case, k, KActus(inducer=Fixed(tree), numeric="mean"), seed)
    by_source = dict(zip(draft.origin.tolist(), draft.frame.rows(named=True), strict=True))
    for path, members in groups:
        for name in case.names:
            expected = cell(path, name, case.rows, members, "mean") if members else None
            for source in members:
                shown = by_source[source][name]
                match expected:
                    case ("value", value):
                        assert shown == value
                    case ("mean", mean):
                        assert math.isclose(shown, mean, rel_tol=1e-15, abs_tol=1e-15)
                    case _:
                        assert shown is None


@MANY
@given(requests(), st.booleans(), NUMERIC)
def test_kactus_plus_keeps_its_promises_and_every_row(request, regrow, numeric):
    case, k, inducer, seed = request
    method = KActusPlus(inducer=_for(numeric, inducer), regrow=regrow, numeric=numeric)
    plan, draft = release(case, k, method, seed)
    check_promises(case, k, plan, draft, 0)
    check_cells(case, plan, draft, numeric)


@SOME
@given(requests())
def test_regrowing_only_reveals(request):
    case, k, inducer, seed = request
    merged, _ = release(case, k, KActusPlus(inducer=inducer, numeric="mean", regrow=False), seed)
    regrown, _ = release(case, k, KActusPlus(inducer=inducer, numeric="mean", regrow=True), seed)
    assert regrown.share_of_cells_shown >= merged.share_of_cells_shown - 1e-12
    assert len(regrown.groups) >= len(merged.groups)


@SOME
@given(requests(), st.sampled_from([KActus, KActusPlus]), st.sampled_from(["mean", "interval"]))
def test_means_lie_in_the_interval_of_their_path(request, factory, numeric):
    case, k, inducer, seed = request
    means, _ = release(case, k, factory(inducer=inducer, numeric="mean"), seed)
    intervals, _ = release(case, k, factory(inducer=inducer, numeric="interval"), seed)
    for averaged, bounded in zip(means.groups, intervals.groups, strict=True):
        for mean, interval in zip(averaged.forms, bounded.forms, strict=True):
            assert isinstance(mean, Mean) == isinstance(interval, Interval)
            if isinstance(mean, Mean):
                assert interval.low is None or interval.low < mean.value
                assert interval.high is None or mean.value <= interval.high


@SOME
@given(requests(), st.sampled_from([KActus, KActusPlus]))
def test_plans_read_back_equal(request, factory):
    case, k, inducer, seed = request
    plan, _ = release(case, k, factory(inducer=inducer, numeric="mean"), seed)
    assert plan_from_json(plan_to_json(plan)) == plan


@SOME
@given(requests(), st.sampled_from([KActus, KActusPlus]))
def test_transform_is_truthful_for_the_rows_themselves(request, factory):
    case, k, inducer, seed = request
    plan, _ = release(case, k, factory(inducer=inducer, numeric="interval"), seed)
    shown = EmbeddedEngine().transform(plan, case.table, case.frame).rows(named=True)
    for row, own in zip(shown, case.rows, strict=True):
        assert row[TARGET] == own[TARGET]
        for name in case.names:
            if isinstance(row[name], str) and not row[name].startswith("("):
                assert str(own[name]) in row[name].split("|")


@SOME
@given(cases())
def test_a_single_leaf_releases_everything_fully_suppressed(case):
    tree = Tree((Node(None, (), (0,) * 4),), TARGET, ("x", "y", "z", None))
    plan, _ = release(case, 1, KActus(inducer=Fixed(tree), numeric="mean"), 1)
    assert plan.share_of_cells_shown == 0
    assert plan.rows_dropped == 0
