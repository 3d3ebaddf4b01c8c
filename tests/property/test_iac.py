"""IACk and IACc on random tables, hierarchies and sets of attributes, against an oracle written a second way."""

import json
import math
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.measures import information as measures
from incrowd.methods.mutual_information.generalizing import choose
from incrowd.methods.mutual_information.iac import IACc, IACk
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval, render
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether
from support.oracle_iac import Hidden, changes, exceeds, information, per, views
from support.strategies import TARGET, cases

MANY = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
NUMERIC = st.sampled_from(["interval", "bounds", "midpoint", "mean"])
ON_SMALL, ON_RARE = st.sampled_from(["suppress", "drop"]), st.sampled_from(["hide", "generalize"])
WAYS = [IACk(), IACk(on_rare="generalize"), IACk(on_small="drop", numeric="mean"), IACc(), IACc(numeric="bounds")]
DELTA = st.sampled_from([0.0, 0.01, 0.05, 0.2, 0.5, 1.0, 5.0])


@st.composite
def value_paths(draw, values):
    """The way from each value to the root; some end early, one leaf is never seen."""
    paths = {}
    for value in [*values, "unseen"]:
        small = draw(st.integers(0, 3))
        way = [f"small {small}", f"large {small // 2}", "*"]
        paths[value] = [str(value), *way[draw(st.sampled_from([0, 0, 0, 2])) :]]
    return paths


@st.composite
def interval_paths(draw):
    """Neighbouring intervals in pairs, with the interval of the pair above."""
    cuts = sorted(draw(st.sets(st.integers(-6, 12), min_size=2, max_size=6)))
    texts = ["-inf", *map(str, cuts), "inf"]
    ends = [-math.inf, *cuts, math.inf]
    paths = {}
    for i in range(len(cuts) + 1):
        label = f"({texts[i]}, {texts[i + 1]}" + (")" if i == len(cuts) else "]")
        paths[ends[i], ends[i + 1]] = [label, f"pair {i // 2}", "*"]
    return paths


@st.composite
def tables(draw):
    """A case whose attributes have hierarchies, of values or intervals, or none; and the ways of these."""
    case = draw(cases(max_rows=30))
    columns, ways = [], {}
    for column in case.schema.columns:
        if column.name == TARGET or draw(st.booleans()):
            columns.append(column)
            continue
        values = case.table[column.name].dictionary.to_list()
        numbers = column.type.is_numeric and draw(st.booleans())
        paths = draw(interval_paths() if numbers else value_paths(values))
        ways[column.name] = paths
        kind = Leaves.NUMBERS if numbers else Leaves.VALUES
        columns.append(replace(column, hierarchy=Hierarchy.from_paths(column.name, paths.values(), kind)))
    return replace(case, schema=replace(case.schema, columns=tuple(columns))), ways


@st.composite
def requests(draw):
    """A table, and k-anonymity of all attributes or of two sets of them."""
    case, _ = draw(tables())
    most = len(case.rows)
    if len(case.names) > 1 and draw(st.booleans()):
        cut = draw(st.integers(1, len(case.names) - 1))
        first = KnownSet(case.names[: cut + draw(st.integers(0, 1))], draw(st.integers(1, most)))
        second = KnownSet(tuple(reversed(case.names[cut:])), draw(st.integers(1, most)))
        return case, KnownTogether((first, second))
    return case, KAnonymity(draw(st.integers(1, most)))


@st.composite
def requests_of_persons(draw):
    """The same for persons with several rows, and whose row each is."""
    case, requirement = draw(requests())
    number = st.integers(0, draw(st.integers(0, len(case.rows) - 1)))
    drawn = draw(st.lists(number, min_size=len(case.rows), max_size=len(case.rows)))
    owners = np.unique(drawn, return_inverse=True)[1].astype(np.int32)
    most = int(owners.max()) + 1
    if isinstance(requirement, KAnonymity):
        return case, KAnonymity(min(requirement.k, most)), owners
    sets = tuple(KnownSet(known.names, min(known.k, most)) for known in requirement.known)
    return case, KnownTogether(sets), owners


def decided(case, requirement, method, owners=None):
    engine, chance = EmbeddedEngine(), SeededRandomness(3)
    population = engine.population(case.table, case.schema, chance, owners)
    steps = method.decide(population, requirement, chance)
    plan = ReleasePlan(method.name, (), requirement, case.schema, len(case.rows), steps)
    return engine.settle(plan, population), population


def draft(case, plan, population):
    return EmbeddedEngine().draft(plan, population, case.frame, SeededRandomness(4))


def expected(case, plan, requirement, method, raised=0, owners=None):
    """What the oracle hides, given the plan's parts."""
    nothing = {name: len(plan.recode[name].parts) for name in case.names}
    sets = [(known.names, known.k) for known in requirement.sets(case.names)]
    rows = views(case.rows, plan.recode)
    return rows, Hidden(rows, nothing, sets, raised, method, owners, [row[TARGET] for row in case.rows])


def close(number, found):
    return number == "infinite" if math.isinf(found) else math.isclose(number, found, rel_tol=1e-9, abs_tol=1e-9)


def check_facts(case, plan, rows, state):
    """alpha, beta and the counts are those of the oracle."""
    facts = dict(plan.reasons[0].facts)
    labels = [row[TARGET] for row in case.rows]
    found = changes(rows, labels, state, case.names)
    assert close(facts["alpha"], max(change for _, _, change, _ in found.values()))
    assert close(facts["beta"], max(per(distance, spread) for spread, _, _, distance in found.values()))
    assert facts["rows hidden"] == sum(bool(cells) for n, cells in enumerate(state.hidden) if n not in state.gone)
    assert facts["rows left out"] == len(state.gone) == plan.rows_dropped
    return facts, found


def ancestor(value, paths, level):
    """The label of a value at a level, from its way to the root."""
    for key, way in paths.items():
        if key == value or (isinstance(key, tuple) and key[0] < value <= key[1]):
            return way[::-1][min(level, len(way)) - 1]
    raise AssertionError("every value has a way")


@MANY
@given(tables())
def test_scores_of_hierarchy_levels_are_those_of_the_oracle(table):
    case, ways = table
    population = EmbeddedEngine().population(case.table, case.schema, SeededRandomness(1))
    labels = [row[TARGET] for row in case.rows]
    for name, paths in ways.items():
        own = [row[name] for row in case.rows]
        height = max(map(len, paths.values()))
        levels = [
            ["*" if level == 1 else None if value is None else ancestor(value, paths, level) for value in own]
            for level in range(1, height + 1)
        ]
        if isinstance(next(iter(paths)), tuple):
            levels.append(own)
        choice = choose(population, case.table[name], "interval", 1, 0.0)
        scores = [information(level, labels) for level in levels]
        assert len(choice.scores) == len(scores)
        assert all(math.isclose(a, b, abs_tol=1e-9) for a, b in zip(choice.scores, scores, strict=True))
        assert scores[choice.number - 1] >= max(scores) - 1e-9
        assert all(score < max(scores) - 1e-13 for score in scores[choice.number :])


@MANY
@given(requests(), st.booleans(), ON_SMALL, ON_RARE, NUMERIC)
def test_iack_hides_what_the_oracle_hides(request, strict, on_small, on_rare, numeric):
    method = IACk(strict=strict, on_small=on_small, on_rare=on_rare, numeric=numeric)
    check_hidden(*request, None, method)  # type: ignore[call-arg]


@MANY
@given(requests_of_persons(), st.booleans(), ON_SMALL, ON_RARE, NUMERIC)
def test_iack_hides_what_the_oracle_hides_of_persons(request, strict, on_small, on_rare, numeric):
    method = IACk(strict=strict, on_small=on_small, on_rare=on_rare, numeric=numeric)
    check_hidden(*request, method)  # type: ignore[call-arg]


def check_hidden(case, requirement, owners, method):
    """Every row shows what the oracle says, and every fact is the oracle's."""
    plan, population = decided(case, requirement, method, owners)
    rows, state = expected(case, plan, requirement, method, owners=owners)
    check_facts(case, plan, rows, state)
    made = draft(case, plan, population)
    assert sorted(made.origin.tolist()) == [n for n in range(len(rows)) if n not in state.gone]
    for row, source in zip(made.frame.rows(named=True), made.origin.tolist(), strict=True):
        assert row[TARGET] == case.rows[source][TARGET]
        for name in case.names:
            position = state.shown[source][name]
            form = plan.forms(name)[position]
            if name not in plan.spread:
                cell = render(form, case.schema[name].type)
                assert row[name] == cell or str(row[name]) == str(cell)
            elif isinstance(form, Interval):
                assert (row[f"{name}_low"], row[f"{name}_high"]) == (form.low, form.high)
            else:
                assert row[f"{name}_low"] is row[f"{name}_high"] is None
    for name in case.names:
        shown = Counter(row[name] for n, row in enumerate(state.shown) if n not in state.gone)
        assert plan.rows_showing(name) == tuple(shown[i] for i in range(len(plan.forms(name))))


@MANY
@given(requests(), ON_SMALL, NUMERIC, st.sampled_from([IACk, partial(IACk, on_rare="generalize"), IACc]))
def test_strict_releases_keep_every_promise(request, on_small, numeric, factory):
    case, requirement = request
    plan, population = decided(case, requirement, factory(on_small=on_small, numeric=numeric))
    written = {name: [w.name for w in plan.written if w.source == name] for name in case.names}
    released = draft(case, plan, population).frame.rows(named=True)
    for known in requirement.sets(case.names):
        columns = [column for name in known.names for column in written[name]]
        sizes = Counter(tuple(row[column] for column in columns) for row in released)
        assert all(size >= known.k for size in sizes.values())
    if on_small == "suppress":
        assert len(released) == len(case.rows)


@MANY
@given(requests(), NUMERIC, ON_RARE)
def test_a_value_looks_the_same_in_every_row_that_shows_it(request, numeric, on_rare):
    """One level per attribute: a value is shown in one way or not at all, and never as two overlapping things."""
    case, requirement = request
    plan, population = decided(case, requirement, IACk(numeric=numeric, strict=False, on_rare=on_rare))
    made = draft(case, plan, population)
    for name in set(case.names) - set(plan.spread):
        ways = {}
        for row, source in zip(made.frame.rows(named=True), made.origin.tolist(), strict=True):
            ways.setdefault(case.rows[source][name], set()).add(row[name])
        assert all(len(cells - {None}) <= 1 for cells in ways.values())
        assert ways.get(None, set()) <= {None}


@MANY
@given(requests(), DELTA, DELTA, st.sampled_from(["relative", "absolute"]), st.booleans())
def test_iacc_goes_as_far_as_its_thresholds_allow(request, delta_d, delta_c, scale, strict):
    check_reached(*request, None, IACc(delta_d=delta_d, delta_c=delta_c, scale=scale, strict=strict))  # type: ignore[call-arg]


@MANY
@given(requests_of_persons(), DELTA, DELTA, st.sampled_from(["relative", "absolute"]), st.booleans())
def test_iacc_counts_persons_size_by_size(request, delta_d, delta_c, scale, strict):
    check_reached(*request, IACc(delta_d=delta_d, delta_c=delta_c, scale=scale, strict=strict))  # type: ignore[call-arg]


@MANY
@given(requests(), ON_SMALL, st.sampled_from([IACk, partial(IACk, on_rare="generalize"), IACc]), st.randoms())
def test_persons_with_one_row_each_change_nothing(request, on_small, factory, random):
    case, requirement = request
    owners = np.array(random.sample(range(len(case.rows)), len(case.rows)), np.int32)
    method = factory(on_small=on_small)
    assert decided(case, requirement, method, owners)[0] == decided(case, requirement, method)[0]


def check_reached(case, requirement, owners, method):
    """The k that was reached is the last before a threshold is exceeded."""
    delta_d, delta_c, scale = method.delta_d, method.delta_c, method.scale
    plan, _ = decided(case, requirement, method, owners)
    facts = dict(plan.reasons[0].facts)
    sets = requirement.sets(case.names)
    reached = list(facts["k"]) if len(sets) > 1 else [facts["k"]]
    raised = reached[0] - sets[0].k
    assert [known.k + raised for known in sets] == reached
    assert raised >= 0
    rows, state = expected(case, plan, requirement, method, raised, owners)
    _, found = check_facts(case, plan, rows, state)
    assert facts["e_min"] == state.e_min
    beyond = exceeds(found, len(rows), delta_d, delta_c, scale)
    assert facts["thresholds exceeded at the k asked for"] == beyond
    if beyond:
        assert raised == 0
        return
    smallest = [(state.smallest(known.names), known.k) for known in sets]
    gaps = [size - k for size, k in smallest if size is not None]
    assert facts["k_actual"] == min((size for size, _ in smallest if size is not None), default=None)
    if gaps:
        _, further = expected(case, plan, requirement, method, min(gaps) + 1, owners)
        labels = [row[TARGET] for row in case.rows]
        assert exceeds(changes(rows, labels, further, case.names), len(rows), delta_d, delta_c, scale)


@MANY
@given(requests(), st.sampled_from(WAYS))
def test_iac_plans_read_back_equal(request, method):
    case, requirement = request
    plan, _ = decided(case, requirement, method)
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan), allow_nan=False))) == plan


@MANY
@given(st.lists(st.integers(1, 50), min_size=1, max_size=8))
def test_the_room_of_the_divergence_is_that_of_one_row_per_value(rows):
    assert math.isclose(measures.divergence_room(rows), measures.divergence(rows, [1] * len(rows)), abs_tol=1e-9)
