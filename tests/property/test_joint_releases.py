"""Releases of random tables over a few people: counted as by the definition, a candidate set for each person."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from incrowd.api import release
from incrowd.errors import RequirementError, VerificationError
from incrowd.releases.ledger.entry import FIRST, RELEASE, LedgerEntry, Recorded, linked
from incrowd.releases.ledger.judging import Beside, judge
from incrowd.releases.ledger.marks import Marker
from incrowd.releases.ledger.overlap import MarkedTable
from incrowd.tables.options import Book
from incrowd.tables.reading.source import Origin, Source
from incrowd.vocabulary.schema import Column, Role, Schema
from support.strategies import TARGET, cases

METHODS = ("kactus", "kactus-plus", "mondrian", "infogain-mondrian", "tdr", "iack")
CALM = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
ROW = "row"
KEY = bytes(32)
PEOPLE = "abcdefgh"


def tables():
    """Tables in turn: for each some of the people with their class, None if left out."""
    one = st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from([None, 1, 2, 3]), min_size=1)
    return st.lists(st.tuples(one, st.integers(1, 4), st.sampled_from(["r1", "r2"])), min_size=2, max_size=4)


def candidates(person, releases):
    """Who it could be: the people in every class that holds the person, and in no release without the person."""
    found = set(PEOPLE)
    for shown in releases:
        there = {one for one, number in shown.items() if number is not None}
        found &= {one for one in there if shown[one] == shown[person]} if person in there else set(PEOPLE) - there
    return found


def size(person, shown):
    return sum(number == shown[person] for number in shown.values())


def shows(shown, person):
    return shown.get(person) is not None


def by_definition(now, earlier, k):
    """Below k and smallest, for shared, new and left people, person by person."""
    sharing = [one for one, _, _ in earlier if set(one) & set(now)]
    k = max([k, *(other for one, other, _ in earlier if set(one) & set(now))])
    below, fewest = Counter(), {"shared": None, "new": None, "left": None}
    for person in PEOPLE:
        before = [size(person, one) for one in sharing if shows(one, person)]
        if shows(now, person):
            who = "shared" if before else "new"
            before = before or [size(person, now)]
        elif any(
            shows(one, person) and any(one.get(other) == one[person] for other in now if shows(now, other))
            for one in sharing
        ):
            who = "left"
        else:
            continue
        after = len(candidates(person, [now, *sharing]))
        below[who] += after < k and after < min(before)
        fewest[who] = after if fewest[who] is None else min(after, fewest[who])
    return k, {who: below[who] for who in fewest}, fewest


def decided(now, k, request, earlier, presence):
    """The decision by definition, and what is counted for it."""
    sharing = [one for one, _, _ in earlier if set(one) & set(now)]
    if not sharing:
        return "passes", None
    if any(set(one) == set(now) and asked == request and same(now, one) for one, _, asked in earlier):
        return "same groups", None
    counts = by_definition(now, earlier, k)
    broken = any(counts[1].values()) if presence else counts[1]["shared"]
    return "refused" if broken else "passes", counts


def same(now, then):
    pairs = {(now[person], then[person]) for person in now}
    whole = all((one is None) == (other is None) for one, other in pairs)
    return whole and len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})


def table_of(people):
    frame = pl.DataFrame({"number": people, "age": [str(ord(one)) for one in people]})
    schema = Schema((Column("number", Role.IDENTIFIER), Column("age", Role.QUASI_IDENTIFIER)))
    return MarkedTable(Source(frame, Origin("csv")), schema, Marker(KEY))


def recorded(number, table, classes, k, request):
    entry = LedgerEntry(RELEASE, request=request, k=k, quasi_identifiers=("age",), people=table.people)
    people = table.people_of(classes)
    return Recorded(entry, linked(entry.to_json(), number, FIRST, KEY), lambda: people)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables(), st.booleans())
def test_releases_in_turn_are_decided_as_by_definition(releases, presence):
    entries, earlier = [], []
    for shown, k, request in releases:
        people = sorted(shown)
        classes = np.array([-1 if shown[one] is None else shown[one] for one in people], np.int32)
        table = table_of(people)
        found = judge(Beside(table, entries, request), classes, k, presence_known=presence)
        decision, counts = decided(shown, k, request, earlier, presence)
        assert found.decision == decision
        if counts is not None:
            joint = found.joint
            assert (joint.k, vars(joint.below), vars(joint.smallest)) == counts
        entries.append(recorded(len(entries), table, classes, k, request))
        earlier.append((shown, k, request))


def asked(case, book, **more):
    """A release of the case with a column by which rows are found again; None if there can be none."""
    assume(len({row[TARGET] for row in case.rows}) > 1)
    table = case.frame.with_columns(pl.Series(ROW, [f"r{i}" for i in range(case.frame.height)]))
    table = more.pop("change", lambda same: same)(table)
    said = {"quasi_identifiers": list(case.names), "target": TARGET, "class_sensitive": False, "sensitive": [ROW]}
    try:
        return release(table, ledger=book, **said, **more)
    except RequirementError:
        return None


def shown_by(made, case):
    """What each row of the table shows of its quasi-identifiers; None if it was left out."""
    columns = [c.name for c in made.plan.written if c.source in case.names]
    found = {row[ROW]: tuple(row[name] for name in columns) for row in made.table.iter_rows(named=True)}
    return [found.get(f"r{i}") for i in range(case.frame.height)]


@CALM
@given(cases(), st.sampled_from(METHODS), st.integers(1, 6), st.randoms())
def test_the_same_request_shows_every_row_the_same_in_any_order(case, method, k, random):
    with tempfile.TemporaryDirectory() as folder:
        one = asked(case, Path(folder) / "book", method=method, k=k)
        if one is None:
            return
        order = random.sample(range(case.frame.height), case.frame.height)
        other = asked(case, Path(folder) / "book", method=method, k=k, change=lambda table: table[order])
        assert shown_by(one, case) == shown_by(other, case)
        assert other.certificate["earlier_releases"]["same_groups"]


@pytest.mark.slow
@CALM
@given(cases(), st.sampled_from(METHODS), st.sampled_from(METHODS), st.integers(1, 6), st.integers(1, 6))
def test_two_requests_are_counted_as_by_hand(case, first, second, k, other_k):
    number = {"change": lambda table: table.with_columns(number=pl.col(ROW)), "identifiers": ["number"]}
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder) / "book"
        one = asked(case, book, method=first, k=k, **number)
        if one is None:
            return
        try:
            other = asked(case, book, method=second, k=other_k, **number)
        except VerificationError:
            other = asked(case, Book(book, despite_earlier=True), method=second, k=other_k, **number)
            assert other.certificate["earlier_releases"]["despite"]
        if other is None:
            return
        then, now = shown_by(one, case), shown_by(other, case)
    found = other.certificate["earlier_releases"]
    if not found["same_groups"]:
        after, before = Counter(zip(now, then, strict=True)), Counter(then)
        both = [(after[pair], before[pair[1]]) for pair in zip(now, then, strict=True) if None not in pair]
        assert found["smallest"]["shared"] == min((size for size, _ in both), default=None)
        wanted = sum(size < max(k, other_k) and size < earlier for size, earlier in both)
        assert found["below_k"]["shared"] == wanted
        assert found["despite"] == (wanted > 0)
