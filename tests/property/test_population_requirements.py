"""k-map and delta-presence: what is released keeps them, the recount says so, and plain loops agree."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from incrowd.comparisons.releasing import release_rows
from incrowd.errors import RequirementError
from incrowd.methods import catalog
from incrowd.verification.class_sizes import verify_arrow
from incrowd.verification.population import People, combinations_kept
from incrowd.vocabulary.encoded_table import EncodedColumn, EncodedTable
from incrowd.vocabulary.requirement import KAnonymity, Together
from incrowd.vocabulary.requirements.population import DeltaPresence, KMap
from incrowd.vocabulary.schema import ColumnType
from support.strategies import Case, cases

FEW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
METHODS = [name for name, entry in catalog.METHODS.items() if not entry.counts]  # for counts it is refused
SOME = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@st.composite
def with_people(draw, **sizes):
    """A table and the people it is from: its own rows, and others like them, or with values that no row has."""
    case = draw(cases(**sizes))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    people = [{name: row[name] for name in case.names} for row in case.rows]
    for _ in range(draw(st.integers(0, 20))):
        person = {}
        for name in case.names:
            known = case.table[name].dictionary.to_list()
            new = "new" if case.table[name].dictionary.dtype == pl.String else 50
            person[name] = [*known, None, new][int(rng.integers(len(known) + 2))]
        people.append(person)
    order = rng.permutation(len(people)).tolist()
    return case, [people[row] for row in order]


def encoded(case: Case, people: list[dict]) -> EncodedTable:
    columns = []
    for name in case.names:
        kind = case.table[name].dictionary.dtype
        values = sorted({person[name] for person in people} - {None})
        codes = [len(values) if person[name] is None else values.index(person[name]) for person in people]
        dictionary = pl.Series(values, dtype=kind)
        columns.append(EncodedColumn(name, case.table[name].type, np.array(codes, np.int32), dictionary))
    return EncodedTable.of(columns)


def fits(cell, value) -> bool:
    """Whether somebody with a value may be behind a cell, by hand."""
    if cell is None or value is None:
        return cell is None
    text = str(cell)
    if isinstance(value, str):
        return value in text.split("|")
    if "|" in text:
        return any(fits(member, value) for member in text.split("|"))
    if text[0] not in "([":
        return value == float(text)
    low, high = (float(end) for end in text[1:-1].split(", "))
    return (low < value or (text[0] == "[" and low == value)) and value <= high


def counted(shown: list[tuple], names, people) -> tuple[list[int], list[int], int]:
    """Rows and fitting people of each combination, and people that fit none, by plain loops."""
    classes = Counter(shown)
    who = [
        {i for i, person in enumerate(people) if all(fits(cell, person[n]) for cell, n in zip(key, names, strict=True))}
        for key in classes
    ]
    return list(classes.values()), [len(one) for one in who], len(people) - len(set().union(*who))


def kept(part, rows, fitting, nobody) -> bool:
    """The definitions, in fractions."""
    if isinstance(part, KMap):
        return min(fitting) >= part.k
    shares = [Fraction(mine, theirs) if theirs else Fraction(99) for mine, theirs in zip(rows, fitting, strict=True)]
    return part.low <= min(shares) and max(shares) <= part.high and (part.low == 0 or not nobody)


@st.composite
def parts(draw, rows, people):
    """Requirements on a population near what can be kept, and beyond."""
    share = Fraction(rows, people)
    low = share * Fraction(draw(st.integers(0, 11)), 10)
    high = share * Fraction(draw(st.integers(9, 30)), 10)
    presence = DeltaPresence(min(low, high, Fraction(1)), min(high, Fraction(1)))
    return draw(st.sampled_from([KMap(draw(st.integers(1, people + 2))), presence]))


@pytest.mark.parametrize("method", METHODS)
@FEW
@given(st.data())
def test_what_is_asked_of_people_is_kept_or_impossible(method, data):
    case, people = data.draw(with_people(max_rows=25, max_columns=3))
    k = data.draw(st.integers(1, len(case.rows)))
    asked = data.draw(st.lists(parts(len(case.rows), len(people)), min_size=1, max_size=2, unique=True))
    possible = all(kept(part, [len(case.rows)], [len(people)], 0) for part in asked)
    requirement = Together((KAnonymity(k), *asked))
    everybody = encoded(case, people)
    try:
        made = release_rows(case.table, case.frame, case.schema, method, {}, requirement, 3, everybody)
    except RequirementError as error:
        assert not possible
        assert "impossible" in str(error)  # noqa: PT017, either way is right
        return
    assert possible
    shown = made.draft.frame.select(case.names)
    rows, fitting, nobody = counted(shown.rows(), case.names, people)
    assert min(rows) >= k
    assert all(kept(part, rows, fitting, nobody) for part in asked)
    told = People(everybody, {name: name for name in case.names}, asked)
    assert verify_arrow(shown.to_arrow(), [("k", case.names, k)], (), told).passed


@SOME
@given(st.data())
def test_the_recount_decides_at_the_border_as_loops_do(data):
    """Any release, whether it keeps something or not: the strictest promise it keeps passes, the next one fails."""
    case, people = data.draw(with_people(max_rows=15, max_columns=3))
    method = data.draw(st.sampled_from(list(METHODS)))
    k = data.draw(st.integers(1, len(case.rows)))
    made = release_rows(case.table, case.frame, case.schema, method, {}, KAnonymity(k), 3)
    people = people[data.draw(st.integers(0, len(people) - 1)) :]  # some rows' people are not in the population
    shown = made.draft.frame.select(case.names)
    rows, fitting, nobody = counted(shown.rows(), case.names, people)
    shares = [Fraction(mine, theirs) for mine, theirs in zip(rows, fitting, strict=True) if theirs]
    hair = Fraction(1, 10**6)
    low, high = (min(shares), max(shares)) if shares else (Fraction(0), Fraction(1))
    asked = [KMap(max(1, min(fitting))), KMap(min(fitting) + 1), DeltaPresence(0, min(high, Fraction(1)))]
    asked += [DeltaPresence(min(low, Fraction(1)), 1), DeltaPresence(min(low + hair, Fraction(1)), 1)]
    asked += [DeltaPresence(0, min(max(high - hair, Fraction(0)), Fraction(1)))]
    told = People(encoded(case, people), {name: name for name in case.names}, asked)
    found = verify_arrow(shown.to_arrow(), [("k", case.names, 1)], (), told).checks[1:]
    assert [check.passed for check in found] == [kept(part, rows, fitting, nobody) for part in asked]


@SOME
@given(st.data())
def test_what_is_impossible_is_so_whatever_is_hidden(data):
    """Tables of up to six rows: all ways to show or hide their cells, in which nobody fits two combinations."""
    case, people = data.draw(with_people(max_rows=6, max_columns=2))
    cells = len(case.rows) * len(case.names)
    assume(cells <= 8)
    part = data.draw(parts(len(case.rows), len(people)))
    some = False
    for hidden in product([False, True], repeat=cells):
        own = [row[name] for row in case.rows for name in case.names]
        shown = [None if hide else cell for cell, hide in zip(own, hidden, strict=True)]
        width = len(case.names)
        keys = [tuple(shown[at : at + width]) for at in range(0, cells, width)]
        rows, fitting, nobody = counted(keys, case.names, people)
        apart = sum(fitting) + nobody == len(people)
        some = some or (apart and kept(part, rows, fitting, nobody))
        if some:
            break
    requirement = Together((KAnonymity(1), part))
    method = data.draw(st.sampled_from(list(METHODS)))
    try:
        release_rows(case.table, case.frame, case.schema, method, {}, requirement, 1, encoded(case, people))
    except RequirementError:
        assert not some
        return
    assert some


@pytest.mark.parametrize("kind", [KMap, DeltaPresence])
def test_algorithms_recount_and_fractions_agree_on_ten_thousand_groups(kind):
    rng = np.random.default_rng(11)
    both = set()
    for _ in range(20):
        rows, fitting = rng.integers(1, 12, 500), rng.integers(1, 30, 500)
        mine, theirs = rows.tolist(), fitting.tolist()
        at = int(rng.integers(500))
        if kind is KMap:
            part = KMap(theirs[at])
            expected = [count >= part.k for count in theirs]
        else:
            border = min(Fraction(mine[at], theirs[at]), Fraction(1)) + Fraction(int(rng.integers(-1, 2)), 10**6)
            border = min(max(border, Fraction(0)), Fraction(1))
            part = DeltaPresence(border, 1) if rng.integers(2) else DeltaPresence(0, border)
            expected = [part.low <= Fraction(a, b) <= part.high for a, b in zip(mine, theirs, strict=True)]  # type: ignore[attr-defined]
        assert part.holds_each(rows, fitting).tolist() == expected
        assert combinations_kept(part, mine, theirs) == expected
        released = pa.table({"g": np.repeat(np.arange(500), rows)})
        values = pl.Series(list(range(500)), dtype=pl.Int64)
        codes = np.repeat(np.arange(500, dtype=np.int32), fitting)
        people = EncodedTable.of([EncodedColumn("g", ColumnType.INTEGER, codes, values)])
        check = verify_arrow(released, [("k", ["g"], 1)], (), People(people, {"g": "g"}, [part])).checks[1]
        assert check.passed == all(expected)
        both |= set(expected)
    assert both == {True, False}
