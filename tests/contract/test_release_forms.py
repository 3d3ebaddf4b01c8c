"""Every method that decides on groups, in every form, on every engine: the counts are those of the rows."""

from __future__ import annotations

from collections import Counter
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

from incrowd.errors import ParameterError
from incrowd.methods.catalog import METHODS, make_method
from incrowd.methods.release_forms import formed
from incrowd.plan.explain import explain
from incrowd.plan.plan_file import plan_from_json, plan_to_json
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import AsCounts
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import BlockedEngine
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity
from support.strategies import TARGET, cases

ENGINES = [EmbeddedEngine(), BlockedEngine(7)]
BY_VALUE = [name for name, entry in METHODS.items() if entry.by_value]
PARTITIONS = [name for name, entry in METHODS.items() if not entry.by_value]
BOTH = pytest.mark.parametrize(("engine", "name"), [(engine, name) for engine in ENGINES for name in PARTITIONS])
SOME = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def release(case, k, engine, name, form, seed=1):
    chance, asked = SeededRandomness(seed), KAnonymity(k)
    population = engine.population(case.table, case.schema, chance)
    steps = formed(make_method(name, {}).decide(population, asked, chance), form, population, asked)
    plan = engine.settle(ReleasePlan(name, (), asked, case.schema, len(case.rows), steps), population)
    return plan, engine.draft(plan, population, case.frame, chance)


def is_in(value, member):
    """Whether an own value is what a member of counts says; a second reader, written another way."""
    if value is None or member == "?":
        return value is None and member == "?"
    if isinstance(value, str):
        return unquote(member) == value
    low, high = (float(end) for end in member[1:-1].split(", "))
    return low < value <= high


def check_counts(case, k, plan, draft):
    names = list(case.names)
    classes = {}
    for row, tuple_ in zip(draft.origin.tolist(), draft.frame.select(names).rows(), strict=True):
        classes.setdefault(tuple_, []).append(case.rows[row])
    assert all(len(rows) >= k for rows in classes.values())
    for cells, rows in classes.items():
        for name, cell in zip(names, cells, strict=True):
            if cell == "*":
                continue
            members = [part.rsplit(":", 1) for part in cell.split("|")]
            assert sum(int(count) for _, count in members) == len(rows)
            for member, count in members:
                assert sum(is_in(row[name], member) for row in rows) == int(count)
    assert draft.frame[TARGET].to_list() == [case.rows[row][TARGET] for row in draft.origin]


@BOTH
@SOME
@given(st.data())
def test_counts_are_those_of_the_rows_and_keep_k(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    plan, draft = release(case, k, engine, name, "counts")
    check_counts(case, k, plan, draft)
    for attribute in case.names:
        if (
            "*" not in draft.frame[attribute].to_list()
            and not plan.rows_dropped
            and case.schema[attribute].type == "categorical"
        ):
            total = Counter()
            for cell in set(draft.frame.select(case.names).rows()):
                for part in cell[case.names.index(attribute)].split("|"):
                    total[part.rsplit(":", 1)[0]] += int(part.rsplit(":", 1)[1])
            assert total == Counter("?" if row[attribute] is None else row[attribute] for row in case.rows)
    assert plan_from_json(plan_to_json(plan)) == plan
    assert "as counts of values" in explain(plan) or set(draft.frame.select(case.names).row(0)) == {"*"}


@BOTH
@SOME
@given(st.data())
def test_strict_shows_plain_values_that_are_true(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    plan, draft = release(case, k, engine, name, "strict")
    assert not plan.counted
    assert min(Counter(draft.frame.select(case.names).rows()).values()) >= k


@pytest.mark.each(3)
@BOTH
@SOME
@given(st.data())
def test_groups_of_counts_can_be_shown_strictly(engine, name, data):
    """As for a method whose own form is counts: the group's value, a set of its values, or nothing."""
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    chance, asked = SeededRandomness(1), KAnonymity(k)
    population = engine.population(case.table, case.schema, chance)
    counted = formed(make_method(name, {}).decide(population, asked, chance), "counts", population, asked)
    steps = formed(counted, "strict", population, asked)
    plan = engine.settle(ReleasePlan(name, (), asked, case.schema, len(case.rows), steps), population)
    draft = engine.draft(plan, population, case.frame, chance)
    assert min(Counter(draft.frame.select(case.names).rows()).values()) >= k
    for attribute in case.names:
        for row, cell in zip(draft.origin.tolist(), draft.frame[attribute].to_list(), strict=True):
            assert cell is None or any(is_in(case.rows[row][attribute], member) for member in str(cell).split("|"))


@pytest.mark.each(3)
@BOTH
@SOME
@given(st.data())
def test_new_rows_are_seen_in_the_words_of_the_counts(engine, name, data):
    case = data.draw(cases())
    plan, draft = release(case, data.draw(st.integers(1, len(case.rows))), engine, name, "counts")
    seen = engine.transform(plan, case.table, case.frame)
    for attribute in case.names:
        words = {part.rsplit(":", 1)[0] for cell in set(draft.frame[attribute]) for part in cell.split("|")} - {"*"}
        for row, word in zip(case.rows, seen[attribute].to_list(), strict=True):
            assert word is None or is_in(row[attribute], word)
            assert plan.rows_dropped or "*" in draft.frame[attribute] or (word or "?") in words


@pytest.mark.parametrize("name", BY_VALUE)
def test_a_method_without_groups_refuses_counts_and_says_which_do(name):
    case = find(cases(), lambda case: len(case.rows) > 10)
    with pytest.raises(ParameterError, match="Choose form strict, or one of kactus"):
        release(case, 2, EmbeddedEngine(), name, "counts")


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_released_in_its_own_form_if_none_is_asked_for(name):
    case = find(cases(), lambda case: len(case.rows) > 10)
    plan, _ = release(case, 2, EmbeddedEngine(), name, None)
    assert any(isinstance(step, AsCounts) for step in plan.steps) is METHODS[name].counts
