"""Releases of persons with several rows, in turn: counted together as by the definition, row by row."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.errors import VerificationError
from incrowd.releases.ledger.entry import FIRST, RELEASE, LedgerEntry, MarkedPeople, Recorded, linked
from incrowd.releases.ledger.judging import Beside, judge
from incrowd.releases.ledger.marks import Marker
from incrowd.releases.ledger.overlap import COMPLETE, PARTIAL, PERSONS, MarkedTable
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.schema import Column, Role, Schema

KEY = bytes(32)
CLASSES = st.sampled_from([None, 1, 2, 3])


def tables():
    """Tables in turn: rows of a person with an age and a class, None if left out; k; and what was asked."""
    row = st.tuples(st.sampled_from("abcde"), st.integers(30, 32), CLASSES)
    one = st.lists(row, min_size=1, max_size=9)
    return st.lists(st.tuples(one, st.integers(1, 3), st.sampled_from(["r1", "r2"])), min_size=2, max_size=3)


def persons_of(rows):
    return {person for person, _, _ in rows}


def possible(now, then):
    """For each row now the classes of the rows that it may be in an earlier release; None if it is in none."""
    here, there = numbered(now), numbered(then)
    same = set(here.values()) & set(there.values())
    by_key = {key: then[number][2] for number, key in there.items()}
    rest = {}
    for number, key in there.items():
        if key not in same:
            rest.setdefault(key[0], []).append(then[number][2])
    return [[by_key[here[i]]] if here[i] in same else rest.get(now[i][0], [None]) for i in range(len(now))]


def numbered(rows):
    """Each row as a person, an age and its turn among equal ones, by class."""
    turns, keys = {}, {}
    for number in sorted(range(len(rows)), key=lambda i: (rows[i][2] is None, rows[i][2] or 0)):
        person, age, _ = rows[number]
        turns[person, age] = turns.get((person, age), 0) + 1
        keys[number] = (person, age, turns[person, age])
    return keys


def by_definition(now, earlier, k):
    """Persons below k and the smallest groups, of shared and of new rows."""
    earlier = [(one, other) for one, other, _ in earlier if persons_of(one) & persons_of(now)]
    k = max([k, *(other for _, other in earlier)])
    options = [possible(now, one) for one, _ in earlier]
    groups = {}
    for number, (person, _, shown) in enumerate(now):
        for classes in product(*(each[number] for each in options)):
            if shown is not None:
                groups.setdefault((shown, *classes), set()).add(person)
    below, fewest = {"shared": set(), "new": set()}, {"shared": None, "new": None}
    for (shown, *classes), persons in groups.items():
        sizes = [
            len({person for person, _, other in one if other == own})
            for (one, _), own in zip(earlier, classes, strict=True)
            if own is not None
        ]
        who = "shared" if sizes else "new"
        before = min(sizes or [len({person for person, _, other in now if other == shown})])
        if len(persons) < min(k, before):
            below[who] |= persons
        fewest[who] = len(persons) if fewest[who] is None else min(len(persons), fewest[who])
    return k, {who: len(persons) for who, persons in below.items()}, fewest


def table_of(rows):
    frame = pl.DataFrame({"patient": [row[0] for row in rows], "age": [str(row[1]) for row in rows]})
    schema = Schema((Column("patient", Role.PERSON), Column("age", Role.QUASI_IDENTIFIER)))
    return MarkedTable(Source(frame, Origin("csv")), schema, Marker(KEY))


def classes_of(rows):
    return np.array([-1 if shown is None else shown for _, _, shown in rows], np.int32)


def recorded(number, rows, k, request):
    table = table_of(rows)
    entry = LedgerEntry(RELEASE, request=request, k=k, quasi_identifiers=("age",), people=table.people)
    people = MarkedPeople.from_bytes(table.people_of(classes_of(rows)).to_bytes())
    return Recorded(entry, linked(entry.to_json(), number, FIRST, KEY), lambda: people)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_releases_in_turn_are_counted_as_by_definition(releases):
    entries, earlier = [], []
    for rows, k, request in releases:
        beside = Beside(table_of(rows), entries, request)
        found = judge(beside, classes_of(rows), k)
        if beside.unknown:  # nobody is shared, but most rows are alike: were persons numbered anew?
            assert found.decision == "cannot be told"
            return
        shared = [persons_of(one) & persons_of(rows) for one, _, _ in earlier]
        assert [overlap.shared for overlap in beside.overlaps] == [len(each) for each in shared]
        if not any(shared):
            assert found.decision == "passes"
        elif found.decision != "same groups":
            wanted, below, fewest = by_definition(rows, earlier, k)
            joint = found.joint
            assert (joint.k, joint.people) == (wanted, len(persons_of(rows)))
            assert joint.shared == len(set.union(*shared))
            assert {"shared": joint.below.shared, "new": joint.below.new} == below
            assert {"shared": joint.smallest.shared, "new": joint.smallest.new} == fewest
            assert found.decision == ("refused" if below["shared"] else "passes")
        entries.append(recorded(len(entries), rows, k, request))
        earlier.append((rows, k, request))


def test_the_same_rows_of_the_same_persons_in_any_order_are_the_same_people():
    rows = [("a", 30, 1), ("a", 31, 2), ("b", 30, 1), ("c", 31, 2), ("a", 30, 1)]
    entry = recorded(0, rows, 2, "r")
    [overlap] = Beside(table_of(rows[::-1]), [entry], "r").overlaps
    assert (overlap.by, overlap.relation, overlap.shared) == (PERSONS, COMPLETE, 3)
    assert judge(Beside(table_of(rows[::-1]), [entry], "r"), classes_of(rows[::-1]), 2).decision == "same groups"
    [other] = Beside(table_of([*rows, ("a", 32, 1)]), [entry], "r").overlaps
    assert other.relation == PARTIAL


def test_rows_of_one_person_are_one_candidate():
    """Two classes of two persons each; together two rows of a alone."""
    then = [("a", 30, 1), ("a", 31, 1), ("b", 30, 1), ("c", 32, 2), ("d", 32, 2)]
    now = [("a", 30, 1), ("a", 31, 1), ("c", 32, 1), ("b", 30, 2), ("d", 32, 2)]
    found = judge(Beside(table_of(now), [recorded(0, then, 2, "r")], "s"), classes_of(now), 2)
    assert found.decision == "refused"
    assert (found.joint.smallest.shared, found.joint.below.shared) == (1, 4)


def test_a_table_with_an_identifier_knows_the_persons_of_one_with_rows():
    then = [("a", 30, 1), ("a", 31, 1), ("b", 30, 1)]
    frame = pl.DataFrame({"number": ["a", "b", "x"], "age": ["30", "30", "40"]})
    schema = Schema((Column("number", Role.IDENTIFIER), Column("age", Role.QUASI_IDENTIFIER)))
    table = MarkedTable(Source(frame, Origin("csv")), schema, Marker(KEY))
    [overlap] = Beside(table, [recorded(0, then, 2, "r")], "s").overlaps
    assert (overlap.by, overlap.shared) == (PERSONS, 2)
    found = judge(Beside(table, [recorded(0, then, 2, "r")], "s"), np.array([1, 1, 1], np.int32), 2)
    assert found.decision == "passes"


def test_a_release_with_a_ledger_counts_persons(tmp_path, monkeypatch):
    import incrowd

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "patient": [f"p{i % 40}" for i in range(200)],
            "age": rng.integers(20, 60, 200),
            "job": rng.choice(list("abc"), 200),
            "ill": rng.choice(["y", "n"], 200),
        }
    )
    asked = {"quasi_identifiers": ["age", "job"], "target": "ill", "person": "patient", "class_sensitive": False}
    asked |= {"ledger": tmp_path / "book", "k": 5}
    first = incrowd.release(table, method="tdr", **asked)
    assert first.verdict.passed
    again = incrowd.release(table[::-1], method="tdr", **asked)
    assert again.certificate["earlier_releases"]["same_groups"]
    with pytest.raises(VerificationError, match="people who are also in earlier releases"):
        incrowd.release(table, method="mondrian", **asked)
