"""Persons and their events: what is shown of both, counted together by brute force."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.known_rows import KnownRows
from incrowd.methods.histories.two_tables import decide_both, required_of
from incrowd.methods.histories.whole_histories import WholeHistories
from incrowd.methods.partitioning.mondrian import Mondrian
from incrowd.plan.release_plan import ReleasePlan
from incrowd.plan.steps import Link
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, KnownSet, KnownTogether, Together
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity
from incrowd.vocabulary.schema import Column, ColumnType, Role, Schema
from support.oracle_persons import Row, joint_holds, joint_known_rows_k, joint_linked_k

ENGINE = EmbeddedEngine()
METHODS = [WholeHistories(), KnownRows(1), KnownRows(2), KnownRows(2, count=True)]


def population(values, owners, name, chance, target=None, **sensitive):
    """Rows of one quasi-identifier, and perhaps of a class and of sensitive columns."""
    frame = pl.DataFrame(
        {"id": list(owners), name: values} | ({"class": target} if target else {}) | sensitive,
        schema_overrides={name: pl.String},
    )
    columns = [Column("id", Role.PERSON), Column(name, Role.QUASI_IDENTIFIER)]
    columns += [Column("class", Role.TARGET)] if target else []
    columns += [Column(one, Role.SENSITIVE, ColumnType.CATEGORICAL) for one in sensitive]
    table, _ = encode(read(frame), Schema(tuple(columns)), frame.columns[1:])
    schema = Schema(tuple(columns)).with_types(table.columns)
    return frame, ENGINE.population(table, schema, chance, np.array(owners, np.int32))


def released(static, events, method, k, classes=None):
    """What both tables show: the oracle's rows of persons, and of events."""
    chance = SeededRandomness(2)
    tables = [
        population(static, range(len(static)), "sex", chance),
        population([value for _, value in events], [person for person, _ in events], "ward", chance, classes),
    ]
    steps = decide_both(method, tables[0][1], tables[1][1], KAnonymity(k), chance)
    rows = []
    for (frame, own), each in zip(tables, steps, strict=True):
        steps_of = (Link("id"), *each)
        plan = ENGINE.settle(ReleasePlan(method.name, (), KAnonymity(k), own.schema, frame.height, steps_of), own)
        draft = ENGINE.draft(plan, own, frame, chance)
        cells = draft.frame.select(own.schema.quasi_identifiers).rows()
        rows.append([Row(int(own.owners[o]), c) for o, c in zip(draft.origin.tolist(), cells, strict=True)])
    return rows


def joint_k(persons, events, method):
    if isinstance(method, WholeHistories):
        return joint_linked_k(persons, events)
    return joint_known_rows_k(persons, events, method.rows, count_known=method.count)


def every_pair(most=4):
    """Every three persons of two kinds with up to four events of two kinds, once up to their names."""
    wards = [own for length in range(3) for own in combinations_with_replacement("AB", length)]
    for people in combinations_with_replacement(sorted(product("fm", wards)), 3):
        if 0 < sum(len(own) for _, own in people) <= most and all(people <= other for other in renamed(people)):
            static = tuple(sex for sex, _ in people)
            yield static, [(person, ward) for person, (_, own) in enumerate(people) for ward in own]


def renamed(people):
    """The same persons where kinds have each other's names."""
    for sexes, wards in product(
        ({"f": "f", "m": "m"}, {"f": "m", "m": "f"}), ({"A": "A", "B": "B"}, {"A": "B", "B": "A"})
    ):
        yield tuple(sorted((sexes[sex], tuple(sorted(wards[ward] for ward in own))) for sex, own in people))


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_pair_of_small_tables(method):
    pairs = list(every_pair())
    assert len(pairs) == 61
    for static, events in pairs:
        persons, shown = released(list(static), events, method, 2)
        assert joint_k(persons, shown, method) >= 2, (static, events)
        assert {row.person for row in persons} == {0, 1, 2}


@given(
    st.lists(st.sampled_from(["f", "m", None]), min_size=3, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from("ABC")), min_size=1, max_size=14),
    st.sampled_from(METHODS),
    st.integers(2, 3),
)
def test_drawn_tables(static, events, method, k):
    events = [(person % len(static), ward) for person, ward in events]
    classes = [("y", "n")[place % 2] for place in range(len(events))] if len(events) > 1 else None
    persons, shown = released(static, events, method, k, classes)
    assert joint_k(persons, shown, method) >= k
    assert len(persons) == len(static)


def test_each_table_alone_would_not_do():
    """The worked example: each table alone is 2-anonymous, (f, A) is one person."""
    static, events = ["f", "f", "m", "m"], [(0, "A"), (2, "A"), (1, "B"), (3, "B")]
    for method in METHODS:
        persons, shown = released(static, events, method, 2)
        assert joint_k(persons, shown, method) >= 2
        assert len({row.cells for row in (*persons, *shown)}) > 1  # and something is shown


REQUIRED = {
    "distinct-l": ((2,), lambda on: DistinctDiversity(2, on)),
    "entropy-l": ((2,), lambda on: EntropyDiversity(2, on)),
    "alpha": ((Fraction(2, 3),), lambda on: ConfidenceCap("2/3", on)),
    "beta": ((1,), lambda on: BetaLikeness(1, on)),
    "t-equal": ((Fraction(1, 3),), lambda on: TCloseness("1/3", on, "equal")),
}


def with_values(static, events, requirement):
    """What both tables show, with a note of each person and a cost of each event; None if it is refused."""
    chance = SeededRandomness(3)
    own = population([cell for cell, _ in static], range(len(static)), "sex", chance, note=[note for _, note in static])
    whose, wards, costs = (list(part) for part in zip(*events, strict=True))
    tables = own, population(wards, whose, "ward", chance, cost=costs)
    try:
        steps = decide_both(WholeHistories(), own[1], tables[1][1], requirement, chance)
    except RequirementError:
        return None
    shown = []
    for (frame, each), value, made in zip(tables, ("note", "cost"), steps, strict=True):
        own = required_of(requirement, frame.columns, None)
        plan = ReleasePlan("whole-histories", (), own, each.schema, frame.height, (Link("id"), *made))
        draft = ENGINE.draft(ENGINE.settle(plan, each), each, frame, chance)
        cells = draft.frame.select(each.schema.quasi_identifiers).rows()
        rows = zip(draft.origin.tolist(), cells, draft.frame[value], strict=True)
        shown.append([Row(int(each.owners[origin]), known, cell) for origin, known, cell in rows])
    return shown


@pytest.mark.slow
def test_requirements_beyond_k_are_kept_in_joint_histories():
    """Drawn tables, each requirement on either table and on both: what is released keeps it by brute force."""
    released = Counter()

    @given(
        st.lists(st.tuples(st.sampled_from(["f", "m", None]), st.sampled_from("xyz")), min_size=4, max_size=9),
        st.lists(st.tuples(st.integers(0, 8), st.sampled_from("AB"), st.sampled_from("uvw")), min_size=1, max_size=14),
        st.sampled_from(sorted(REQUIRED)),
        st.sampled_from([("note",), ("cost",), ("note", "cost")]),
    )
    def kept(static, events, word, on):
        numbers, part = REQUIRED[word]
        events = [(person % len(static), ward, cost) for person, ward, cost in events]
        shown = with_values(static, events, Together((KAnonymity(2), *map(part, on))))
        released[word, on] += shown is not None
        if shown is None:
            return
        assert joint_linked_k(*shown) >= 2
        for name, of_persons in (("note", True), ("cost", False)):
            assert name not in on or joint_holds(*shown, word, *numbers, of_persons=of_persons)

    kept()
    assert sum(released.values()) > 10


def test_only_whom_it_is_about_is_kept_together():
    """Who has no events need not be diverse in what events are about."""
    static = [("f", "x"), ("f", "x"), ("m", "y"), ("m", "y")] * 2
    events = [(person, "A", "uv"[person % 2]) for person in range(4)]
    shown = with_values(static, events, Together((KAnonymity(2), DistinctDiversity(2, on="cost"))))
    assert len({row.cells for row in shown[0]}) == 2
    assert len(shown[1]) == 4
    assert joint_holds(*shown, "distinct-l", 2, of_persons=False)


def test_k_alone_beside_known_rows_and_no_other_method():
    chance = SeededRandomness(1)
    both = [population(["f", "m"], [0, 1], name, chance)[1] for name in ("sex", "ward")]
    more = Together((KAnonymity(2), DistinctDiversity(2, on="ward")))
    with pytest.raises(RequirementError, match="nothing beyond it yet"):
        decide_both(KnownRows(1), *both, more, chance)  # type: ignore[call-arg]
    with pytest.raises(RequirementError, match="Ask for one k"):
        decide_both(WholeHistories(), *both, KnownTogether((KnownSet(("sex",), 2),)), chance)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match="does not release two tables"):
        decide_both(Mondrian(), *both, KAnonymity(2), chance)  # type: ignore[call-arg]
    with pytest.raises(RequirementError, match="k=3 is impossible"):
        decide_both(WholeHistories(), *both, KAnonymity(3), chance)  # type: ignore[call-arg]
