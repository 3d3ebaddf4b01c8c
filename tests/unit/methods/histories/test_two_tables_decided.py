"""Persons and their events: what is shown of both, counted together by brute force."""

from itertools import combinations_with_replacement, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import ParameterError, RequirementError
from incrowd.methods.histories.known_rows import KnownRows
from incrowd.methods.histories.two_tables import decide_both
from incrowd.methods.histories.whole_histories import WholeHistories
from incrowd.methods.partitioning.mondrian import Mondrian
from incrowd.plan.release_plan import ReleasePlan
from incrowd.rows.memory.held import EmbeddedEngine
from incrowd.tables.reading.encode import encode
from incrowd.tables.reading.read import read
from incrowd.vocabulary.randomness import SeededRandomness
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.diversity import DistinctDiversity
from incrowd.vocabulary.schema import Column, Role, Schema
from support.oracle_persons import Row, joint_known_rows_k, joint_linked_k

ENGINE = EmbeddedEngine()
METHODS = [WholeHistories(), KnownRows(1), KnownRows(2), KnownRows(2, count=True)]


def population(values, owners, name, chance, target=None):
    """Rows of one quasi-identifier, and perhaps of a class."""
    frame = pl.DataFrame({name: values} | ({"class": target} if target else {}), schema_overrides={name: pl.String})
    columns = [Column(name, Role.QUASI_IDENTIFIER), *([Column("class", Role.TARGET)] if target else [])]
    table, _ = encode(read(frame), Schema(tuple(columns)), frame.columns)
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
        plan = ENGINE.settle(ReleasePlan(method.name, (), KAnonymity(k), own.schema, frame.height, each), own)
        draft = ENGINE.draft(plan, own, frame, chance)
        cells = draft.frame.select(own.schema.quasi_identifiers).rows()
        rows.append([Row(int(own.owners[o]), c) for o, c in zip(draft.origin.tolist(), cells, strict=True)])
    return rows


def joint_k(persons, events, method):
    if isinstance(method, WholeHistories):
        return joint_linked_k(persons, events)
    return joint_known_rows_k(persons, events, method.rows, count_known=method.count)


def every_pair(most=4):
    """Every three persons of two kinds with up to four events of two kinds."""
    for static in combinations_with_replacement("fm", 3):
        for lengths in product(range(3), repeat=3):
            if 0 < sum(lengths) <= most:
                for wards in product(*(combinations_with_replacement("AB", length) for length in lengths)):
                    yield static, [(person, ward) for person, own in enumerate(wards) for ward in own]


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_every_pair_of_small_tables(method):
    pairs = list(every_pair())
    assert len(pairs) > 500
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


def test_nothing_beyond_k_and_no_other_method():
    chance = SeededRandomness(1)
    both = [population(["f", "m"], [0, 1], name, chance)[1] for name in ("sex", "ward")]
    more = Together((KAnonymity(2), DistinctDiversity(2, on="ward")))
    with pytest.raises(RequirementError, match="nothing beyond it yet"):
        decide_both(WholeHistories(), *both, more, chance)  # type: ignore[call-arg]
    with pytest.raises(ParameterError, match="does not release two tables"):
        decide_both(Mondrian(), *both, KAnonymity(2), chance)  # type: ignore[call-arg]
    with pytest.raises(RequirementError, match="k=3 is impossible"):
        decide_both(WholeHistories(), *both, KAnonymity(3), chance)  # type: ignore[call-arg]
