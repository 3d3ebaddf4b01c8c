"""Methods that show value by value, on every table of up to six rows of three persons, against brute force.

And on random tables: whatever is required, each class of the release keeps it by persons, and a table is refused only
if all of its rows together do not keep it.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import RequirementError
from incrowd.methods.mutual_information.iac import IACc, IACk
from incrowd.methods.top_down_refinement.tdr import TDR, TDS
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.testing.tables import TARGET, fixed
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from support.oracle_persons import Row, classes, groups, keeps, persons
from support.strategies import cases

METHODS = {"tdr": TDR, "tds": TDS, "iack": IACk, "iacc": IACc}
BEYOND = {
    "k": None,
    "alpha": (ConfidenceCap("2/3"), Fraction(2, 3)),
    "distinct-l": (DistinctDiversity(2), 2),
    "entropy-l": (EntropyDiversity("1.5"), Fraction(3, 2)),
    "recursive-l": (RecursiveDiversity(2, 2), 2, 2),
    "beta": (BetaLikeness("0.5"), Fraction(1, 2)),
    "delta-disclosure": (DeltaDisclosure(1), 1),
    "t-equal": (TCloseness("0.3", None, "equal"), Fraction(3, 10)),
}
MANY = settings(max_examples=2000, deadline=None, suppress_health_check=list(HealthCheck))
SOME = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))


def tables(most=6):
    """Every table of up to so many rows of three persons, two cells and two values, once up to their names."""
    kinds = list(product(range(3), "ab", "xy"))
    names = list(product(permutations(range(3)), ("ab", "ba"), ("xy", "yx")))
    renamed = [
        {(person, cell, value): (p[person], c["ab".index(cell)], v["xy".index(value)]) for person, cell, value in kinds}
        for p, c, v in names
    ]
    for size in range(1, most + 1):
        for table in combinations_with_replacement(kinds, size):
            if all(table <= tuple(sorted(map(new.__getitem__, table))) for new in renamed):
                yield table


TABLES = list(tables())


def required(word, k=2):
    return KAnonymity(k) if word == "k" else Together((KAnonymity(k), BEYOND[word][0]))


def released(case, owners, requirement, method):
    """The released rows, by whose they are; their value is the class."""
    engine, chance = EmbeddedEngine(), SeededRandomness(3)
    population = engine.population(case.table, case.schema, chance, owners)
    steps = method.decide(population, requirement, chance)
    plan = engine.settle(ReleasePlan(method.name, (), requirement, case.schema, len(case.rows), steps), population)
    made = engine.draft(plan, population, case.frame, chance)
    cells = made.frame.select(pl.exclude(TARGET)).rows()
    labels = [case.rows[row][TARGET] for row in made.origin.tolist()]
    return [Row(*row) for row in zip(owners[made.origin].tolist(), cells, labels, strict=True)]


def check(case, owners, word, k, method):
    """All is kept, and nothing is refused that could be shown as one class."""
    whole = [Row(owner, (), row[TARGET]) for owner, row in zip(owners.tolist(), case.rows, strict=True)]
    numbers = () if word == "k" else BEYOND[word][1:]
    possible = len(persons(whole)) >= k and (word == "k" or keeps(whole, whole, word, *numbers))
    if not possible:
        with pytest.raises(RequirementError):
            released(case, owners, required(word, k), method)
        return
    rows = released(case, owners, required(word, k), method)
    assert len(rows) == len(case.rows)
    for part in classes(rows).values():
        assert len(persons(part)) >= k
        assert word == "k" or keeps(part, rows, word, *numbers)


@pytest.mark.each(7)
@pytest.mark.parametrize("word", BEYOND)
@pytest.mark.parametrize("name", ["tdr", "iack"])
def test_every_small_table(name, word):
    for table in TABLES:
        owners, cells, values = zip(*table, strict=True)
        check(fixed({"a": cells}, values), np.array(owners, np.int32), word, 2, METHODS[name]())


def test_the_small_tables_are_all_of_them():
    assert len(TABLES) == len({tuple(sorted(table)) for table in TABLES})
    assert ((0, "a", "x"),) in TABLES
    assert Counter(map(len, tables(2))) == {1: 1, 2: 8}  # two rows: equal or not in person, in cell and in value


@st.composite
def tables_of_persons(draw):
    case = draw(cases())
    number = st.integers(0, draw(st.integers(0, len(case.rows) - 1)))
    drawn = draw(st.lists(number, min_size=len(case.rows), max_size=len(case.rows)))
    return case, np.unique(drawn, return_inverse=True)[1].astype(np.int32)


@pytest.mark.parametrize("name", METHODS)
@MANY
@given(tables_of_persons(), st.sampled_from(list(BEYOND)), st.integers(1, 6))
def test_random_tables(name, table, word, k):
    check(*table, word, k, METHODS[name]())  # type: ignore[call-arg]


@pytest.mark.parametrize("name", METHODS)
@SOME
@given(tables_of_persons(), st.integers(1, 4), st.integers(1, 4))
def test_every_known_set_holds_persons(name, table, k, other):
    case, owners = table
    most = int(owners.max()) + 1
    known = (KnownSet(case.names[:1], min(k, most)), KnownSet(case.names[1:] or case.names, min(other, most)))
    rows = released(case, owners, KnownTogether(known), METHODS[name]())
    for one in known:
        places = [case.names.index(each) for each in one.names]
        parts = groups(rows, lambda row, places=places: tuple(row.cells[place] for place in places))
        assert all(len(persons(part)) >= one.k for part in parts.values())


@pytest.mark.parametrize("word", BEYOND)
@pytest.mark.parametrize("name", METHODS)
def test_persons_with_one_row_each_change_nothing(name, word):
    rng = np.random.default_rng(5)
    for _ in range(20):
        size = int(rng.integers(4, 40))
        columns = {"a": rng.choice(list("abc"), size).tolist(), "b": rng.integers(0, 9, size).tolist()}
        case = fixed(columns, rng.choice(list("xy"), size).tolist())
        plans = []
        for owners in (None, rng.permutation(size).astype(np.int32)):
            chance = SeededRandomness(3)
            population = EmbeddedEngine().population(case.table, case.schema, chance, owners)
            try:
                plans.append(METHODS[name]().decide(population, required(word), chance))
            except RequirementError:
                plans.append(None)
        assert plans[0] == plans[1]
