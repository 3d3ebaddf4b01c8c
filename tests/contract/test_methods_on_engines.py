"""What every method keeps on every engine, whatever the table. A new method or engine is entered, not written anew."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.methods.catalog import METHODS, make_method
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing import attempt, check_applied_again, check_kept, check_new_rows, check_repeated
from incrowd.testing.tables import AWKWARD, SHARED, BlockedEngine, owned, random_owners
from support.kernels import compiled_kernels, plain_kernels
from support.method_parameters import ways_of
from support.strategies import cases

ENGINES = [EmbeddedEngine, lambda: BlockedEngine(7)]
BOTH = pytest.mark.parametrize(
    ("engine", "name"),
    [(engine(), name) for engine in ENGINES for name in METHODS],
    ids=lambda x: getattr(x, "name", x),
)
SOME = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.each(5)
@BOTH
@SOME
@given(st.data())
def test_k_is_kept_rows_are_partitioned_inputs_stay_and_seeds_repeat_compiled_or_not(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    seed = data.draw(st.integers(0, 2**32 - 1))
    with compiled_kernels():
        check_repeated(case, k, engine, make_method(name, {}), seed=seed, again=plain_kernels())


@BOTH
@FEW
@given(st.data())
def test_chance_of_the_system_keeps_k_too(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    check_kept(attempt(case, k, engine, make_method(name, {}), seed=None), METHODS[name])


@pytest.mark.each(5)
@BOTH
@FEW
@given(st.data())
def test_a_plan_can_be_applied_again(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    made = attempt(case, k, engine, make_method(name, {}), seed=1)
    check_applied_again(made, engine, METHODS[name])


@pytest.mark.each(5)
@BOTH
@FEW
@given(st.data())
def test_new_rows_show_only_what_is_true_of_them(engine, name, data):
    case = data.draw(cases())
    k = data.draw(st.integers(1, len(case.rows)))
    check_new_rows(attempt(case, k, engine, make_method(name, {}), seed=1), engine)


@pytest.mark.each(11)
@BOTH
@pytest.mark.parametrize("table", AWKWARD, ids=str)
def test_awkward_tables(engine, name, table):
    case = AWKWARD[table]
    for place, way in enumerate(ways_of(name)):
        for k in sorted({1, 2, 7, len(case.rows) // 2 + 1, len(case.rows)} if place == 0 else {2, 7}):
            if k <= len(case.rows):
                with compiled_kernels():
                    made = attempt(case, k, engine, make_method(name, way), seed=3)
                check_kept(made, METHODS[name])
                if isinstance(engine, EmbeddedEngine):  # who runs the kernels is another question than where rows live
                    with plain_kernels():
                        assert attempt(case, k, engine, make_method(name, way), seed=3).plan == made.plan


@st.composite
def cases_of_persons(draw):
    """Tables in which persons have several rows, and a k that is possible."""
    case = draw(cases())
    case = owned(case, random_owners(np.random.default_rng(draw(st.integers(0, 2**32 - 1))), len(case.rows)))
    return case, draw(st.integers(1, case.persons))


@pytest.mark.each(5)
@BOTH
@FEW
@given(cases_of_persons(), st.integers(0, 2**32 - 1))
def test_k_persons_are_kept_seeds_repeat_compiled_or_not_and_plans_apply_again(engine, name, asked, seed):
    case, k = asked
    with compiled_kernels():
        made = check_repeated(case, k, engine, make_method(name, {}), seed=seed, again=plain_kernels())
    check_applied_again(made, engine, METHODS[name])


@pytest.mark.each(13)
@BOTH
@pytest.mark.parametrize("table", SHARED, ids=str)
def test_awkward_tables_of_persons(engine, name, table):
    case = SHARED[table]
    for way in ways_of(name):
        for k in sorted({1, 2, 7, case.persons // 2 + 1, case.persons} & set(range(1, case.persons + 1))):
            check_kept(attempt(case, k, engine, make_method(name, way), seed=3), METHODS[name])


@pytest.mark.parametrize("name", METHODS)
def test_blocks_that_are_worked_on_at_the_same_time_make_the_same_release(name):
    for case in (AWKWARD["skew"], SHARED["everybody everywhere"]):
        one, two = (attempt(case, 2, BlockedEngine(7, threads=n), make_method(name, {}), seed=3) for n in (1, 2))
        assert one.plan == two.plan
        assert one.draft.frame.equals(two.draft.frame)


@BOTH
@pytest.mark.parametrize("table", ["one person", "one row each"])
def test_of_too_few_persons_nothing_is_released(engine, name, table):
    case = SHARED[table]
    persons = case.persons
    with pytest.raises(RequirementError, match=f"k={persons + 1} is impossible: the table has {persons} persons."):
        attempt(case, persons + 1, engine, make_method(name, {}), seed=3)


@pytest.mark.each(4)
@pytest.mark.parametrize("name", METHODS)
def test_no_method_sees_the_person_column(name):
    """It is no attribute: whatever it holds, the plan is the same, and names it only among what is not released."""
    from incrowd.api import release
    from incrowd.tables.options import Run

    rng, rows = np.random.default_rng(3), 90
    persons = rng.integers(0, 40, rows)
    people = pl.DataFrame({"age": rng.integers(20, 60, rows), "job": rng.choice(["cook", "nurse", "smith"], rows)})
    people = people.with_columns(ill=pl.Series(rng.choice(["y", "n"], rows)))
    plans = []
    for spelled in (lambda p: f"p{p:03d}", lambda p: f"{(p * 7919) % 1009}-{'ill' if p % 2 else 'well'}"):
        table = people.with_columns(who=pl.Series([spelled(int(p)) for p in persons]))
        made = release(
            table, k=3, method=name, quasi_identifiers=["age", "job"], target="ill", person="who", run=Run(seed=4)
        )
        assert made.table.columns == ["age", "job", "ill"]
        assert "who" not in made.plan.names
        plans.append(made.plan)
    assert plans[0] == plans[1]


@pytest.mark.parametrize("name", METHODS)
def test_what_is_impossible_is_said(name):
    from incrowd.releases.job import Job
    from incrowd.releases.pipeline import run_release
    from incrowd.tables.recipe import Recipe

    frame = pl.DataFrame({"a": ["v", "w", "v"], "ill": ["x", "y", "x"]})
    columns = {"a": {"role": "quasi-identifier"}, "ill": {"role": "target"}}
    recipe = Recipe(k=4, method=name, columns=columns)
    with pytest.raises(RequirementError, match=r"k=4 is impossible: the table has 3 rows. Choose k of at most 3"):
        run_release(Job(frame, recipe))
