"""Every method keeps k persons, and what is required beyond k by persons; an oracle counts from the definitions.

All small tables, and random ones: a method and the engine are called directly, so that thousands are cheap.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import support.oracle_persons as oracle
from incrowd.errors import RequirementError
from incrowd.methods.catalog import METHODS, find_method, make_method
from incrowd.methods.release_forms import formed, suited
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Drop
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import TARGET, BlockedEngine, any_case, fixed, owned, random_owners
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity

SOME = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 2**32 - 1)
TABLES = 15
"""Random tables of an example: beside every small table, with the 30 examples of ``make test`` 450 for each method."""
MEMORY = EmbeddedEngine()


def planned(case, requirement, name, *, seed=1, form=None, engine=MEMORY):
    """What a method decides about a table, and the release that it makes."""
    chance = SeededRandomness(seed)
    method = suited(make_method(name, {"guide": "bayes"} if name == "blend" else {}), form)
    population = engine.population(case.table, case.schema, chance, case.owners)
    steps = formed(method.decide(population, requirement, chance), form, population, requirement)
    plan = ReleasePlan(name, (), requirement, case.schema, len(case.rows), (Drop(()), *steps))
    plan = engine.settle(plan, population)
    return plan, engine.draft(plan, population, case.frame, chance)


def released(case, requirement, name, **how):
    """The released rows as the oracle takes them: whose each is, its quasi-identifiers, its class."""
    plan, draft = planned(case, requirement, name, **how)
    origin = draft.origin.tolist()
    lost = set(range(len(case.rows))) - set(origin)
    single = case.persons == len(case.rows)  # as without persons, when a method may lose fewer than k rows
    assert len(lost) < (requirement.smallest_group if single and find_method(name).loses_rows else 1)
    assert len(set(origin)) == len(origin)
    columns = [column.name for column in plan.written if column.source in case.names]
    cells = draft.frame.select(columns).rows() if columns else [()] * len(origin)
    owners = case.owners.tolist()
    return [oracle.Row(owners[row], shown, case.rows[row][TARGET]) for row, shown in zip(origin, cells, strict=True)]


# --- every small table -----------------------------------------------------------------------------------------------

PERSONS, VALUES, CLASSES = range(3), range(2), range(2)


@cache
def small_tables(most):
    """Every table of so many rows of at most three persons, two values and two classes, once up to their names."""
    kinds = list(product(PERSONS, VALUES, CLASSES))
    names = list(product(permutations(PERSONS), permutations(VALUES), permutations(CLASSES)))
    listed = []
    for rows in range(1, most + 1):
        for table in combinations_with_replacement(kinds, rows):
            others = (tuple(sorted((p[a], v[b], c[d]) for a, b, d in table)) for p, v, c in names)
            if all(table <= other for other in others):
                listed.append(table)
    return listed


def as_case(table, numbers):
    values = [value if numbers else "vw"[value] for _, value, _ in table]
    return owned(fixed({"a": values}, ["xy"[each] for *_, each in table]), [person for person, *_ in table])


def test_small_tables_are_all_there():
    assert len(small_tables(1)) == 1
    assert len(small_tables(2)) == 1 + 8  # two rows: equal or not in person, in value and in class
    assert ((0, 0, 0), (0, 1, 0), (1, 0, 0)) in small_tables(3)


@pytest.mark.each(9)
@pytest.mark.parametrize(("numbers", "rows"), [(False, 6), (True, 5)], ids=["words", "numbers"])
@pytest.mark.parametrize("name", METHODS)
def test_every_small_table_keeps_k_persons(name, numbers, rows):
    for k in (1, 2, 3):
        for table in small_tables(min(rows, k + 3)):  # two groups of k persons each, where there can be two
            case = as_case(table, numbers)
            if case.persons < k:
                with pytest.raises(
                    RequirementError, match=f"k={k} is impossible: the table has .*{case.persons} person"
                ):
                    planned(case, KAnonymity(k), name)
            else:
                assert oracle.smallest(released(case, KAnonymity(k), name)) >= k, (table, k)


TURNS = 4
"""Of the tables of five rows a method meets each fourth with each requirement."""
FURTHER = {
    "alpha": (ConfidenceCap("0.67"), "alpha", Fraction(67, 100)),
    "beta": (BetaLikeness("0.5"), "beta", Fraction(1, 2)),
    "enhanced-beta": (BetaLikeness("0.5", enhanced=True), "enhanced-beta", Fraction(1, 2)),
    "delta-disclosure": (DeltaDisclosure("0.8"), "delta-disclosure", Fraction(4, 5)),
    "distinct-l": (DistinctDiversity(2), "distinct-l", 2),
    "entropy-l": (EntropyDiversity("1.6"), "entropy-l", Fraction(8, 5)),
    "recursive-l": (RecursiveDiversity("1.5", 2), "recursive-l", Fraction(3, 2), 2),
    "t": (TCloseness("0.2", None, "equal"), "t-equal", Fraction(1, 5)),
}
"""Requirements, and how the oracle calls them."""


def check_further(case, k, further, name, **how):
    """All classes keep a requirement by persons, or it is refused because all rows together do not keep it."""
    part, word, *numbers = FURTHER[further]
    whole = [oracle.Row(owner, (), row[TARGET]) for owner, row in zip(case.owners.tolist(), case.rows, strict=True)]
    try:
        rows = released(case, Together((KAnonymity(k), part)), name, **how)
    except RequirementError as error:
        assert "impossible" in str(error)  # noqa: PT017, either way is right
        assert case.persons < k or not oracle.holds(whole, word, *numbers)
        return
    assert oracle.smallest(rows) >= k
    assert oracle.holds(rows, word, *numbers)


@pytest.mark.each(11)
@pytest.mark.parametrize("further", FURTHER)
@pytest.mark.parametrize("name", METHODS)
def test_every_small_table_keeps_what_is_required_beyond_k(name, further):
    """Those of five rows take turns: each requirement meets all of them, with one method or another."""
    turn, few = list(METHODS).index(name), len(small_tables(4))
    for table in [*small_tables(4), *small_tables(5)[few + turn % TURNS :: TURNS]]:
        check_further(as_case(table, False), 1, further, name)


# --- random tables ---------------------------------------------------------------------------------------------------


def random_tables(seed, count=TABLES):
    """Tables of any shape, with persons; kept small, for small ones fail as large ones do."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        case = any_case(rng)
        some = np.arange(min(len(case.rows), int(rng.integers(1, 25))))
        case = replace(case, rows=case.rows[: len(some)], table=case.table.take(some))
        case = owned(case, random_owners(rng, len(some)))
        yield case, int(rng.integers(1, case.persons + 1))


@pytest.mark.each(4)
@pytest.mark.parametrize("name", METHODS)
@SOME
@given(SEEDS)
def test_random_tables_keep_k_persons(name, seed):
    for case, k in random_tables(seed):
        assert oracle.smallest(released(case, KAnonymity(k), name)) >= k


@pytest.mark.each(11)
@pytest.mark.parametrize("further", FURTHER)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(SEEDS)
def test_random_tables_keep_what_is_required_beyond_k(name, further, seed):
    for case, k in random_tables(seed, 5):
        check_further(case, k, further, name)


@pytest.mark.each(3)
@pytest.mark.parametrize("form", ["strict", "counts"])
@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if not entry.by_value])
@FEW
@given(SEEDS)
def test_groups_in_every_form_keep_what_is_required(name, form, seed):
    for number, (case, k) in enumerate(random_tables(seed, 5)):
        assert oracle.smallest(released(case, KAnonymity(k), name, form=form)) >= k
        check_further(case, k, list(FURTHER)[(seed + number) % len(FURTHER)], name, form=form)


@pytest.mark.each(2)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(SEEDS)
def test_sets_of_columns_known_together_keep_their_own_k_of_persons(name, seed):
    part, word, *numbers = list(FURTHER.values())[seed % len(FURTHER)]
    for case, k in random_tables(seed, 5):
        if len(case.names) < 2:
            continue
        sets = (KnownSet(case.names[:-1], k), KnownSet(case.names[1:], max(1, k - 1)))
        try:
            plan, draft = planned(case, Together((KnownTogether(sets), part)), name)
        except RequirementError:
            continue
        for known in sets:
            columns = [column.name for column in plan.written if column.source in known.names]
            cells = zip(draft.frame.select(columns).rows(), draft.origin.tolist(), strict=True)
            rows = [oracle.Row(int(case.owners[row]), shown, case.rows[row][TARGET]) for shown, row in cells]
            assert oracle.smallest(rows) >= known.k
            assert oracle.holds(rows, word, *numbers)


@pytest.mark.each(2)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(SEEDS)
def test_blocks_keep_k_persons(name, seed):
    for case, k in random_tables(seed, 5):
        assert oracle.smallest(released(case, KAnonymity(k), name, engine=BlockedEngine(4))) >= k


# --- what persons do not change --------------------------------------------------------------------------------------


@pytest.mark.each(4)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(SEEDS)
def test_one_row_each_gives_the_plan_of_rows(name, seed):
    """Whatever the order in which persons are numbered."""
    rng = np.random.default_rng(seed)
    for case, k in random_tables(seed, 5):
        persons = owned(case, rng.permutation(len(case.rows)))
        plan, draft = planned(replace(case, owners=None), KAnonymity(k), name, seed=seed)
        same, again = planned(persons, KAnonymity(k), name, seed=seed)
        assert same == plan
        assert again.frame.equals(draft.frame)


@pytest.mark.each(4)
@pytest.mark.parametrize("name", METHODS)
@FEW
@given(SEEDS)
def test_how_persons_are_numbered_changes_nothing(name, seed):
    rng = np.random.default_rng(seed)
    for case, k in random_tables(seed, 5):
        others = owned(case, rng.permutation(int(case.owners.max()) + 1)[case.owners])
        plan, draft = planned(case, KAnonymity(k), name, seed=seed)
        same, again = planned(others, KAnonymity(k), name, seed=seed)
        assert same == plan
        assert again.frame.equals(draft.frame)
