"""Weights and limits on random tables: what they promise, by every method that can."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.catalog import METHODS, make_method
from incrowd.methods.limits import decide_within
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop, Recode, Show
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.memory.population import EmbeddedPopulation
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Interval, Shown, ValueSet
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.strategies import Case, cases

SOME = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
WEIGHING = [name for name, entry in METHODS.items() if entry.weighs and not entry.together]


def decided(case, method, k, preferences):
    population = EmbeddedPopulation(case.table, case.schema, SeededRandomness(7))
    return make_method(method, {}).decide(population, KAnonymity(k), SeededRandomness(8), preferences)


@SOME
@given(cases(max_rows=30), st.integers(1, 6), st.sampled_from(WEIGHING), st.sampled_from([1, 0.5, 7]))
def test_equal_weights_are_as_none(case, k, method, factor):
    k = min(k, case.table.height)
    weights = Preferences(weights=dict.fromkeys(case.names, factor))
    assert decided(case, method, k, weights) == decided(case, method, k, Preferences())


def look_alikes(rows=240):
    """Three numbers that tell equally much of the class, and one word that tells little."""
    rng = np.random.default_rng(3)
    codes = {name: rng.integers(0, 8, rows).astype(np.int32) for name in ("a", "b", "c")}
    codes["word"] = rng.integers(0, 3, rows).astype(np.int32)
    labels = (codes["a"] + codes["b"] + codes["c"] + rng.integers(0, 6, rows) > 13).astype(np.int32)
    numbers = [EncodedColumn(n, ColumnType.INTEGER, codes[n], pl.Series(range(8))) for n in ("a", "b", "c")]
    word = EncodedColumn("word", ColumnType.CATEGORICAL, codes["word"], pl.Series(["x", "y", "z"]))
    target = EncodedColumn("class", ColumnType.CATEGORICAL, labels, pl.Series(["no", "yes"]))
    columns = [*numbers, word, target]
    roles = [*[Role.QUASI_IDENTIFIER] * 4, Role.TARGET]
    schema = Schema(tuple(Column(c.name, role, c.type) for c, role in zip(columns, roles, strict=True)))
    return Case([], EncodedTable.of(columns), schema)


def covered(form):
    """How many of the eight numbers, or three words, a form may stand for."""
    match form:
        case Shown():
            return 1
        case ValueSet(values):
            return len(values)
        case Interval(low, high):
            return sum((low is None or number > low) and (high is None or number <= high) for number in range(8))
    return 8


def coarseness(steps, name):
    """How many values the cells of an attribute may stand for, all rows together."""
    for step in steps:
        if isinstance(step, Show):
            return sum(group.rows * covered(group.forms[step.names.index(name)]) for group in step.groups)
        if isinstance(step, Recode):
            parts = step[name].parts
            hidden = 240 - sum(part.rows for part in parts)
            return sum(part.rows * covered(part.form) for part in parts) + 8 * hidden
    raise AssertionError("nothing is shown")


@pytest.mark.each(5)
@pytest.mark.parametrize("method", WEIGHING)
@pytest.mark.parametrize("name", ["a", "b", "c", "word"])
def test_a_heavy_attribute_is_kept_at_least_as_fine(method, name):
    case = look_alikes()
    heavy = decided(case, method, 10, Preferences(weights={name: 1000}))
    assert coarseness(heavy, name) <= coarseness(decided(case, method, 10, Preferences()), name)


@pytest.mark.each(3)
@pytest.mark.parametrize("method", WEIGHING)
def test_weights_change_what_is_kept(method):
    case = look_alikes()
    kinds = [decided(case, method, 10, Preferences(weights={name: 1000})) for name in ("a", "b", "c")]
    assert kinds[0] != kinds[1] != kinds[2]


PLACES = {"p1": ["n", "N"], "p2": ["n", "N"], "p3": ["s", "N"], "p4": ["t", "S"], "p5": ["S"]}
"""Five places with the groups above them; one branch ends early."""
LEVELING = [name for name, entry in METHODS.items() if entry.limits_levels]


@st.composite
def places(draw):
    """Rows with two places and a class, places perhaps missing."""
    value = st.sampled_from([*PLACES, None])
    return case_of(draw(st.lists(st.tuples(value, value, st.sampled_from("xy")), min_size=1, max_size=30)))


def case_of(rows):
    """A table of such rows."""
    columns, schema = [], []
    for at, name in enumerate(("home", "work")):
        words = sorted({row[at] for row in rows} - {None})
        codes = [len(words) if row[at] is None else words.index(row[at]) for row in rows]
        words = pl.Series(words, dtype=pl.String)
        columns.append(EncodedColumn(name, ColumnType.CATEGORICAL, np.array(codes, np.int32), words))
        tree = Hierarchy.from_paths(name, [[place, *above, "*"] for place, above in PLACES.items()])
        schema.append(Column(name, Role.QUASI_IDENTIFIER, ColumnType.CATEGORICAL, hierarchy=tree))
    labels = np.array([row[2] == "y" for row in rows], np.int32)
    columns.append(EncodedColumn("class", ColumnType.CATEGORICAL, labels, pl.Series(["x", "y"])))
    schema.append(Column("class", Role.TARGET, ColumnType.CATEGORICAL))
    return Case(rows, EncodedTable.of(columns), Schema(tuple(schema)))


def way_up(place):
    """What a place may be shown as, from itself to everything; where its branch ends early, it is repeated."""
    return [*[place] * (2 - len(PLACES[place])), place, *PLACES[place], None]


def drafted(case, method, k, preferences):
    """The plan, and the released rows with the input row of each."""
    engine, chance = EmbeddedEngine(), SeededRandomness(7)
    population = engine.population(case.table, case.schema, chance)
    steps = decide_within(make_method(method, {}), population, KAnonymity(k), chance, preferences)
    plan = ReleasePlan(method, (), KAnonymity(k), case.schema, len(case.rows), (Drop(()), *steps))
    plan = engine.settle(plan, population)
    return plan, engine.draft(plan, population, case.frame, chance)


@SOME
@example(case_of([("p1", "p1", "x"), ("p2", None, "x")]), 1, "mondrian", 0, 0)  # a group without any value
@given(places(), st.integers(1, 5), st.sampled_from(LEVELING), st.integers(0, 3), st.integers(0, 3))
def test_levels_are_kept_or_it_is_impossible(case, k, method, home, work):
    k, levels = min(k, len(case.rows)), {"home": home, "work": work}
    limits = [
        tuple(place and way_up(place)[level] for place, level in zip(row[:2], levels.values(), strict=True))
        for row in case.rows
    ]
    smallest = min(Counter(limits).values())
    if smallest < k:
        with pytest.raises(RequirementError, match="cannot be kept with at_most"):
            drafted(case, method, k, Preferences(at_most=levels))
        return
    _, draft = drafted(case, method, k, Preferences(at_most=levels))
    for place, (name, level) in enumerate(levels.items()):
        for row, shown in zip(draft.origin, draft.frame[name], strict=True):
            own = case.rows[row][place]
            assert own is None or shown in way_up(own)[: level + 1]


SETS = ("*", "p1", "p1,p4|p5", "p2|p3", [["p1", "p2", "p3"], ["p5"]])


def set_around(sets, own):
    """The values that a cell of this one may stand for, None if any; for those that are in no set, all such."""
    listed = [[place] for place in PLACES] if sets == "*" else sets if isinstance(sets, list) else None
    listed = listed or [members.split(",") for members in sets.split("|")]
    rest = [place for place in PLACES if not any(place in members for members in listed)]
    return frozenset(next(members for members in [*listed, rest] if own in members)), own not in rest


def coarsest(sets, own, trees):
    """The most that a row may show: its set, or the highest group of the hierarchy with values of that set alone."""
    around, _ = set_around(sets, own)
    above = [group for group in PLACES[own] if {p for p in PLACES if group in PLACES[p]} <= around]
    return [own, *above][-1] if trees else around


@SOME
@given(places(), st.integers(1, 5), st.sampled_from(LEVELING), st.sampled_from(SETS), st.booleans())
def test_values_stay_apart_or_it_is_impossible(case, k, method, sets, trees):
    k, homes = min(k, len(case.rows)), {row[0] for row in case.rows} - {None}
    if not trees:
        columns = (replace(column, hierarchy=None) for column in case.schema.columns)
        case = Case(case.rows, case.table, Schema(tuple(columns)))
    listed = set() if sets == "*" else set(re.findall(r"p\d", str(sets)))
    error: type[Exception] | None = None
    if not listed <= homes or len({set_around(sets, home)[0] for home in homes}) < 2:
        error = ParameterError
    elif min(Counter(row[0] and coarsest(sets, row[0], trees) for row in case.rows).values()) < k:
        error = RequirementError
    if error is not None:
        with pytest.raises(error, match="apart"):
            drafted(case, method, k, Preferences(apart={"home": sets}))
        return
    _, draft = drafted(case, method, k, Preferences(apart={"home": sets}))
    assert min(Counter(draft.frame.select("home", "work").rows()).values()) >= k
    for row, shown in zip(draft.origin, draft.frame["home"], strict=True):
        own = case.rows[row][0]
        if own is not None and set_around(sets, own)[1]:
            behind = {place for place in PLACES if shown in (place, *PLACES[place])} or set(shown.split("|"))
            assert own in behind <= set_around(sets, own)[0]


LOSING = [name for name, entry in METHODS.items() if entry.loses_on_request]
EXACT = ("tdr", "tds", "iack", "iacc")  # whose groups never look alike, and to which chance has nothing to say


def alike(frame, names):
    """How many rows a released row looks like, on average."""
    return sum(size**2 for size in Counter(frame.select(names).rows()).values()) / max(1, frame.height)


@SOME
@given(cases(max_rows=30), st.integers(2, 6), st.sampled_from(LOSING), st.sampled_from(["10%", 0.3, 2, 0]))
def test_no_more_rows_are_left_out_than_may_be_and_that_keeps_more(case, k, method, lose):
    rows = case.table.height
    k, allowed = min(k, rows), {"10%": rows // 10, 0.3: rows * 3 // 10, 2: min(2, rows), 0: 0}[lose]
    plain, without = drafted(case, method, k, Preferences())
    if plain.rows_dropped > allowed:  # kactus leaves rows out by itself
        with suppress(RequirementError):
            assert drafted(case, method, k, Preferences(lose=lose))[0].rows_dropped <= allowed
        return
    plan, draft = drafted(case, method, k, Preferences(lose=lose))
    assert plan.rows_dropped == rows - draft.frame.height <= allowed
    written = [column.name for column in plan.written if column.source in case.names]
    assert min(Counter(draft.frame.select(written).rows()).values(), default=k) >= k
    if method in EXACT:
        assert alike(draft.frame, written) <= alike(without.frame, written)


def test_one_odd_row_stops_a_refinement_unless_it_may_be_left_out():
    ages = np.array([0] * 30 + [1] * 30 + [2], np.int32)
    labels = np.array([0] * 30 + [1] * 31, np.int32)
    schema = Schema((Column("age", Role.QUASI_IDENTIFIER, ColumnType.CATEGORICAL), Column("class", Role.TARGET)))
    age = EncodedColumn("age", ColumnType.CATEGORICAL, ages, pl.Series(["old", "young", "zero"]))
    target = EncodedColumn("class", ColumnType.CATEGORICAL, labels, pl.Series(["no", "yes"]))
    case = Case([{}] * 61, EncodedTable.of([age, target]), schema)
    hidden, _ = drafted(case, "tds", 10, Preferences())
    shown, draft = drafted(case, "tds", 10, Preferences(lose=1))
    assert (hidden.share_of_cells_shown, hidden.rows_dropped) == (0, 0)
    assert (set(draft.frame["age"]), shown.rows_dropped) == ({"old", "young"}, 1)


@pytest.mark.parametrize("method", ["kactus", "kactus-plus"])
def test_numbers_are_cut_into_pieces_of_k_rows_whoever_is_left_out(method):
    case = look_alikes()
    plan, draft = drafted(case, method, 30, Preferences(lose="20%"))
    assert plan.cuts
    for name, cuts in plan.cuts.items():
        column = case.table[name]
        pieces = Counter(np.searchsorted(cuts, column.numbers[column.codes]).tolist())
        assert len(pieces) == len(cuts) + 1
        assert min(pieces.values()) >= 30
    assert draft.frame.height >= 192
