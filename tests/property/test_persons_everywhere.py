"""What counts rows elsewhere counts persons where they have several: cuts, ends, rare values, means, limits, people.

Each against plain loops over the rows; and with one row for each person everything is as without persons.
"""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.measures.information import even_cuts, mdl_cuts, outer_ends
from incrowd.methods.limits import decide_within
from incrowd.methods.mutual_information.iac import IACk
from incrowd.methods.numeric import bins_of, public_bins, public_cuts
from incrowd.methods.partitioning.mondrian import Mondrian
from incrowd.methods.release_forms import fitted, persons_of_groups, true_of
from incrowd.methods.top_down_refinement.tdr import TDR
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Rarest, Show
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.rows.memory.settling import FormTally, RowsOfPersons, settle_forms
from incrowd.testing.tables import TARGET, fixed
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable, OwnedTable, ValueOwners
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.naming import Naming
from incrowd.vocabulary.preferences import Preferences
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.released_value import Category, Interval, Level, Mean, Shown, Suppressed, ValueSet
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.closeness import ConfidenceCap
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import ColumnType
from support.oracle_persons import Row, classes, keeps, persons
from support.strategies import cases

SOME = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def owned_numbers(draw):
    """A column of numbers, some missing, the class and the person of each row."""
    rows = draw(st.lists(st.tuples(st.integers(0, 12) | st.none(), st.integers(0, 1), st.integers(0, 8)), min_size=1))
    values, labels, owners = zip(*rows, strict=True)
    known = sorted({value for value in values if value is not None})
    codes = [len(known) if value is None else known.index(value) for value in values]
    column = EncodedColumn("n", ColumnType.INTEGER, np.array(codes, np.int32), pl.Series(known, dtype=pl.Int64))
    return column, np.array(labels, np.int32), np.unique(owners, return_inverse=True)[1].astype(np.int32)


def whose(column, owners, low=-np.inf, high=np.inf):
    """The persons with a number above one and at most another."""
    numbers = [*column.numbers.tolist(), None]
    return {
        owner
        for code, owner in zip(column.codes.tolist(), owners.tolist(), strict=True)
        if numbers[code] is not None and low < numbers[code] <= high
    }


@SOME
@given(owned_numbers(), st.integers(1, 5))
def test_every_public_bin_holds_k_persons(table, k):
    column, labels, owners = table
    target = EncodedColumn(TARGET, ColumnType.CATEGORICAL, labels, pl.Series(["x", "y"]))
    decided = dict(public_bins(EncodedTable.of([column]), ["n"], target, "class", k, owners).cuts)["n"]
    fine = bins_of(column, target, k, owners, "fine")
    for cuts in (public_cuts(column, labels, 2, k, owners), bins_of(column, None, k, owners), fine, decided):
        ends = [-np.inf, *cuts, np.inf]
        if cuts:
            assert all(len(whose(column, owners, *ends[i : i + 2])) >= k for i in range(len(ends) - 1))


@SOME
@given(owned_numbers(), st.integers(1, 5))
def test_the_ends_of_middles_have_k_persons_beyond(table, k):
    column, _, owners = table
    low, high = outer_ends(column.numbers, column.counts[:-1], k, True, ValueOwners.of(column, owners))
    numbers = column.numbers.tolist()
    if len(numbers) > 1:
        assert len(whose(column, owners, high=low)) >= k or low >= numbers[-2]
        assert len(whose(column, owners, low=high)) >= k or high <= max(low, numbers[1])


@SOME
@given(owned_numbers(), st.integers(1, 6))
def test_cuts_are_as_without_persons_if_each_has_one_row(table, k):
    column, labels, _ = table
    alone = np.random.default_rng(k).permutation(len(labels)).astype(np.int32)
    who, rows = ValueOwners.of(column, alone), column.counts[:-1]
    counts = np.zeros((column.width, 2), np.int64)
    np.add.at(counts, (column.codes, labels), 1)
    assert mdl_cuts(counts[:-1], k, who) == mdl_cuts(counts[:-1], k)
    assert even_cuts(rows, k, who, k) == even_cuts(rows, k)
    assert outer_ends(column.numbers, rows, k, True, who) == outer_ends(column.numbers, rows, k, True)
    assert who.each().tolist() == column.counts.tolist()


@SOME
@given(owned_numbers(), st.integers(0, 12), st.integers(0, 12))
def test_names_are_true_of_so_many_persons(table, one, other):
    column, _, owners = table
    naming, (low, high) = Naming(column, None, owners), sorted((one, other))
    assert naming.people(Interval(low, high)) == len(whose(column, owners, low, high))
    assert naming.people(one) == len(whose(column, owners, one - 1, one))
    missing = {o for c, o in zip(column.codes, owners, strict=True) if c == column.missing_code}
    assert naming.people(None) == len(missing)


def test_groups_of_a_hierarchy_name_each_person_once():
    tree = Hierarchy.from_paths("job", [["cook", "kitchen", "*"], ["waiter", "kitchen", "*"], ["nurse", "*"]])
    job = EncodedColumn(
        "job", ColumnType.CATEGORICAL, np.array([0, 2, 1, 0], np.int32), pl.Series(["cook", "nurse", "waiter"])
    )
    naming = Naming(job, tree, np.array([5, 5, 6, 7], np.int32))
    assert naming.people(Category("kitchen")) == 2
    assert [naming.fewest(ValueSet(("cook", "nurse"))), naming.fewest(Shown("waiter"))] == [1, 1]


# --- means -----------------------------------------------------------------------------------------------------------


@SOME
@given(owned_numbers(), st.data())
def test_a_mean_that_is_mostly_one_persons_is_not_shown(table, data):
    column, _, owners = table
    shown = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=len(owners), max_size=len(owners))), np.int32)
    low = Level(None, 5)
    forms = [Mean(), low, low, Suppressed()]
    halves = [np.arange(0, len(owners), 2), np.arange(1, len(owners), 2)]
    whole, *parts = (
        FormTally(*vars_of(column.take(rows), shown[rows], owners[rows])) for rows in (np.arange(len(owners)), *halves)
    )
    plain = settle_forms(forms, column, FormTally.of(column, shown, 4))
    settled = settle_forms(forms, column, whole)
    assert settled == settle_forms(forms, column, FormTally.sum(parts))
    for place, alike in ((0, {0}), (1, {1, 2}), (2, {1, 2})):
        heavy = is_heavy(column, owners, [row for row in range(len(owners)) if shown[row] in alike])
        assert settled[place] == (Suppressed() if heavy else plain[place])


def vars_of(column, shown, owners):
    tally = FormTally.of(column, shown, 4)
    return tally.forms, tally.codes, tally.rows, RowsOfPersons.of(column, shown, owners)


def is_heavy(column, owners, rows):
    known = [row for row in rows if column.codes[row] != column.missing_code]
    return any(
        max((sum(owners[row] == owner for row in some) for owner in set(owners[some])), default=0) * 2 > len(some)
        for some in (rows, known)
    )


# --- rows that may be left out, rare values, populations -------------------------------------------------------------


@st.composite
def tables_of_persons(draw):
    case = draw(cases())
    number = st.integers(0, draw(st.integers(0, len(case.rows) - 1)))
    drawn = draw(st.lists(number, min_size=len(case.rows), max_size=len(case.rows)))
    return case, np.unique(drawn, return_inverse=True)[1].astype(np.int32)


def released(case, owners, steps, population, requirement):
    engine = EmbeddedEngine()
    plan = engine.settle(ReleasePlan("tdr", (), requirement, case.schema, len(case.rows), steps), population)
    made = engine.draft(plan, population, case.frame, SeededRandomness(4))
    rows = zip(owners[made.origin].tolist(), made.frame.select(pl.exclude(TARGET)).rows(), strict=True)
    return [Row(*row) for row in rows]


METHODS = [TDR(), IACk(), Mondrian()]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@SOME
@given(tables_of_persons(), st.integers(2, 5))
def test_rows_left_out_leave_classes_of_k_persons(method, table, k):
    case, owners = table
    chance = SeededRandomness(3)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    if len(set(owners.tolist())) < k:
        with pytest.raises(RequirementError):
            decide_within(method, population, KAnonymity(k), chance, Preferences(lose="30%"))
        return
    steps = decide_within(method, population, KAnonymity(k), chance, Preferences(lose="30%"))
    rows = released(case, owners, steps, population, KAnonymity(k))
    assert len(rows) >= len(owners) - int(0.3 * len(owners))
    assert all(len(persons(part)) >= k for part in classes(rows).values())


@SOME
@given(tables_of_persons(), st.integers(1, 4))
def test_groups_have_so_many_persons(table, k):
    case, owners = table
    chance = SeededRandomness(3)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    k = min(k, len(set(owners.tolist())))
    steps = Mondrian().decide(population, KAnonymity(k), chance)
    show = next(step for step in steps if isinstance(step, Show))
    sizes = persons_of_groups(steps, show, population)
    assert (sizes >= k).all()
    assert (sizes <= [group.rows for group in show.groups]).all()
    for step in steps:
        match step:
            case _ if hasattr(step, "tree"):
                after = population.place(step)
    told = [len(set(owners[after.groups == group].tolist())) for group in range(len(show.groups))]
    assert sizes.tolist() == told


@SOME
@given(tables_of_persons(), st.integers(2, 4))
def test_what_few_persons_have_is_not_named(table, people):
    case, owners = table
    chance = SeededRandomness(3)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    steps = (*TDR().decide(population, KAnonymity(1), chance), Rarest(people))
    plan = EmbeddedEngine().settle(
        ReleasePlan("tdr", (), KAnonymity(1), case.schema, len(case.rows), steps), population
    )
    for name in case.names:
        column = case.table[name]
        for form in plan.forms(name):
            if isinstance(form, Shown):
                have = {o for c, o in zip(column.codes, owners, strict=True) if [*column.values, None][c] == form.value}
                assert len(have) >= people


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@SOME
@given(tables_of_persons(), st.booleans(), st.data())
def test_people_of_a_population_are_persons_too(method, table, owned, data):
    case, owners = table
    chance = SeededRandomness(3)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    twice = EncodedTable.of(
        EncodedColumn(c.name, c.type, np.concatenate([c.codes, c.codes]), c.dictionary)
        for c in (case.table[name] for name in case.names)
    )
    other = np.concatenate([owners, owners + int(owners.max()) + 1 if data.draw(st.booleans()) else owners])
    people = OwnedTable(twice.columns, twice.height, other.astype(np.int32)) if owned else twice
    part = data.draw(st.sampled_from([KMap(2), KMap(5), DeltaPresence("0.1", "0.9"), DeltaPresence(0, "0.4")]))
    requirement = Together((KAnonymity(1), part))
    who = other.tolist() if owned else list(range(twice.height))
    steps = method.decide(population, requirement, chance)
    try:
        steps = fitted(steps, population, requirement, people)
    except RequirementError:
        whole = np.array([len(set(owners.tolist()))]), np.array([len(set(who))])
        assert not part.holds_each(*whole)[0]
        return
    plan = EmbeddedEngine().settle(
        ReleasePlan(method.name, (), requirement, case.schema, len(case.rows), steps), population
    )
    looks = looks_of(plan, population)
    for look in set(looks):
        own = {owner for owner, each in zip(owners.tolist(), looks, strict=True) if each == look}
        true = np.ones(twice.height, np.bool_)
        for name, form in zip(case.names, look, strict=True):
            true &= true_of(form, people[name], case.schema[name].hierarchy)[people[name].codes]
        fit = {who[row] for row in np.flatnonzero(true)}
        assert part.holds_each(np.array([len(own)]), np.array([len(fit)]))[0]


def looks_of(plan, population):
    """What each row shows, form by form; a missing value looks as if nothing was shown."""
    from incrowd.methods.method import applied
    from incrowd.rows.memory.drafting import shown_forms

    shown = shown_forms(plan, applied(plan.steps, population))
    cells = [[plan.forms(name)[code] for code in shown[name].tolist()] for name in plan.names]
    return [
        tuple(Suppressed() if "Missing" in type(f).__name__ else f for f in row) for row in zip(*cells, strict=True)
    ]


def test_a_class_of_one_person_keeps_no_k_map_by_its_rows():
    case = fixed({"a": ["u", "u", "v", "v"]}, ["x", "y", "x", "y"])
    owners = np.array([0, 0, 1, 2], np.int32)
    chance = SeededRandomness(1)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    requirement = Together((KAnonymity(1), DeltaPresence(0, Fraction(2, 3))))
    people = EncodedTable.of(
        [EncodedColumn("a", ColumnType.CATEGORICAL, np.array([0, 0, 0, 1, 1, 1], np.int32), pl.Series(["u", "v"]))]
    )
    steps = fitted(IACk().decide(population, requirement, chance), population, requirement, people)
    rows = released(case, owners, steps, population, requirement)
    assert {cells for _, cells, _ in rows} <= {("u",), ("v",), (None,)}
    for part in classes(rows).values():
        fit = 6 if part[0].cells == (None,) else 3
        assert Fraction(len(persons(part)), fit) <= Fraction(2, 3)


# --- what is hidden when means and names are known -------------------------------------------------------------------


@SOME
@given(tables_of_persons(), st.sampled_from(["alpha", "distinct-l"]), st.booleans(), st.sampled_from([TDR, IACk]))
def test_classes_that_are_joined_by_hiding_are_judged_again(table, word, rare, method):
    """A mean that is not shown, or a rare name, joins classes, which may not keep together what each kept."""
    case, owners = table
    part, numbers = {
        "alpha": (ConfidenceCap("0.75"), (Fraction(3, 4),)),
        "distinct-l": (DistinctDiversity(2), (2,)),
    }[word]
    requirement, chance = Together((KAnonymity(2), part)), SeededRandomness(3)
    population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
    try:
        steps = method(numeric="mean").decide(population, requirement, chance)
    except RequirementError:
        return
    steps = (*steps, Rarest(4)) if rare else steps
    plan = EmbeddedEngine().settle(ReleasePlan("tdr", (), requirement, case.schema, len(case.rows), steps), population)
    made = EmbeddedEngine().draft(plan, population, case.frame, SeededRandomness(4))
    cells = made.frame.select(pl.exclude(TARGET)).rows()
    values = [case.rows[row][TARGET] for row in made.origin.tolist()]
    rows = [Row(*row) for row in zip(owners[made.origin].tolist(), cells, values, strict=True)]
    for group in classes(rows).values():
        assert len(persons(group)) >= 2
        assert keeps(group, rows, word, *numbers)
