"""Persons with several rows, recounted in DuckDB: exactly what brute force counts, on every small table."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incrowd.errors import UndeterminedError
from incrowd.verification import histories
from incrowd.verification.class_sizes import class_persons, recount_persons, telling_columns_check
from incrowd.verification.histories import cell_tables, combinations, facts_in_classes, make_histories, supports
from incrowd.verification.requirements import Further, recount_requirements, value_table
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    PowerBound,
    RecursiveDiversity,
)
from incrowd.vocabulary.schema import ColumnType
from support import oracle_persons as oracle
from support.oracle_persons import Row
from support.owned_tables import Counted

MOST_ROWS, PERSONS = 6, 3


def every_table(*alphabets):
    """Every table of up to six rows of three persons, up to the names of the persons; a table is a list of rows."""
    kinds = list(product(range(PERSONS), *alphabets))
    number = {kind: place for place, kind in enumerate(kinds)}
    renamed = [[number[who[kind[0]], *kind[1:]] for kind in kinds] for who in permutations(range(PERSONS))]
    for size in range(1, MOST_ROWS + 1):
        for rows in combinations_with_replacement(range(len(kinds)), size):
            if all(rows <= tuple(sorted(names[row] for row in rows)) for names in renamed):
                yield [kinds[row] for row in rows]


def side_by_side(tables):
    """All tables as one: each has its own persons, and classes of its own by a first column with its number."""
    return [
        Row(f"{number} {person}", (number, cell), rest[0] if rest else None)
        for number, table in enumerate(tables)
        for person, cell, *rest in table
    ]


def test_every_small_table_has_the_bearers_and_main_values_that_brute_force_counts():
    rows = side_by_side(every_table("xy", ("a", None)))
    parts = oracle.classes(rows)
    with Counted(rows) as table:
        value_table(table.connection, 2, Further(ConfidenceCap("1/2"), "s"), "owned")
        facts = facts_in_classes(table.connection, [0, 1])
        for counting, counted in (("shares", oracle.bearers), ("main", oracle.main_values), ("facts", oracle.bearers)):
            cell_tables(table.connection, counting, facts)
            cells = table.connection.execute("SELECT c0, c1, v, n FROM cells JOIN numbered USING (g)").fetchall()
            expected = {(*cells, value): n for cells, part in parts.items() for value, n in counted(part).items()}
            assert {(number, cell, value): n for number, cell, value, n in cells} == expected
            sizes = dict(
                table.connection.execute("SELECT (c0, c1), rows FROM classes JOIN numbered USING (g)").fetchall()
            )
            summed = {
                cells: sum(oracle.bearers(part).values()) if counting == "facts" else len(oracle.persons(part))
                for cells, part in parts.items()
            }
            assert sizes == summed


def test_every_small_table_has_the_classes_that_brute_force_counts():
    rows = side_by_side(every_table("xyz"))
    with Counted(rows) as table:
        sizes, persons = class_persons(table.connection, [0, 1], table.owners)
    parts = oracle.classes(rows).values()
    assert persons.histogram == tuple(sorted(Counter(len(oracle.persons(part)) for part in parts).items()))
    assert sizes.histogram == tuple(sorted(Counter(map(len, parts)).items()))
    assert persons.persons == len(oracle.persons(rows))
    assert persons.largest_share == float(oracle.largest_share(rows))


def test_every_small_table_has_the_histories_that_brute_force_counts():
    rows = side_by_side(every_table("xyz"))
    own = oracle.histories(rows)
    with Counted(rows, linked=True) as table:
        make_histories(table.connection, [0, 1], table.owners)
        counted = table.connection.execute("SELECT persons, count(*) FROM histories GROUP BY ALL").fetchall()
        alike = table.connection.execute("SELECT list(person) FROM history_of GROUP BY no").fetchall()
    assert dict(counted) == Counter(Counter(own.values()).values())
    words = table.owners.words.to_pylist()
    by_history = {}
    for person, history in own.items():
        by_history.setdefault(history, set()).add(person)
    assert {frozenset(words[one] for one in group) for (group,) in alike} == set(map(frozenset, by_history.values()))


@pytest.mark.parametrize("count_known", [False, True])
@pytest.mark.parametrize("m", [1, 2, 3, 6])
def test_every_small_table_has_the_supports_of_known_rows_that_brute_force_counts(m, count_known):
    tables = list(every_table("xy"))
    rows = side_by_side(tables)
    with Counted(rows, linked=True, known_rows=m, count_known=count_known) as table:
        make_histories(table.connection, [0, 1], table.owners)
        counted = Counter()
        for persons, sets in supports(table.connection, m):
            counted[persons] += sets
    expected = Counter()
    for table in tables:
        own = list(oracle.histories([Row(person, (cell,)) for person, cell in table]).values())
        known = {(len(h) if count_known else 0, part) for h in own for part in oracle.known_parts(h, m)}
        expected.update(sum(oracle.contains(h, part) and sure in (0, len(h)) for h in own) for sure, part in known)
    assert counted == expected


REQUIREMENTS = [
    (ConfidenceCap("1/2"), ("alpha", Fraction(1, 2))),
    (DistinctDiversity(2), ("distinct-l", 2)),
    (EntropyDiversity("3/2"), ("entropy-l", Fraction(3, 2))),
    (RecursiveDiversity(2, 2), ("recursive-l", 2, 2)),
    (PowerBound({2: 1}, "0.55"), ("powers", ((2, Fraction(1)),), Fraction("0.55"))),
    (BetaLikeness("1/2"), ("beta", Fraction(1, 2))),
    (BetaLikeness(1, enhanced=True), ("enhanced-beta", Fraction(1))),
    (DeltaDisclosure("3/4"), ("delta-disclosure", Fraction(3, 4))),
    (TCloseness("1/4", distance="equal"), ("t-equal", Fraction(1, 4))),
    (TCloseness("1/5", distance="ordered"), ("t-ordered", Fraction(1, 5))),
]
VALUES = st.sampled_from([1, 2, 3, None])
TABLES = st.lists(
    st.builds(Row, st.sampled_from("pqrtu"), st.tuples(st.sampled_from(["x", "y", None])), VALUES),
    min_size=1,
    max_size=14,
)


@pytest.mark.each(2)
@pytest.mark.parametrize("linked", [False, True])
@given(rows=TABLES)
def test_requirements_count_what_brute_force_counts(rows, linked):
    with Counted(rows, linked=linked) as table:
        for part, (word, *numbers) in REQUIREMENTS:
            further = Further(part, "s", ColumnType.INTEGER)
            [check] = recount_requirements(table.connection, table.names, [table.quasi], [further], table.owners)
            assert check.passed is oracle.holds(rows, word, *numbers, linked=linked), (word, check)


@given(rows=TABLES, m=st.integers(1, 4), count_known=st.booleans())
def test_k_counts_what_brute_force_counts(rows, m, count_known):
    promises = [("k", ["q0"], 2)]
    with Counted(rows) as table:
        sizes, [check] = recount_persons(table.connection, table.names, promises, table.owners)
    assert sizes.persons.smallest == oracle.smallest(rows)
    assert check.passed is (oracle.smallest(rows) >= 2)
    with Counted(rows, linked=True) as table:
        sizes, [check] = recount_persons(table.connection, table.names, promises, table.owners)
    assert sizes.persons.smallest == oracle.linked_k(rows)
    with Counted(rows, linked=True, known_rows=m, count_known=count_known) as table:
        sizes, [check] = recount_persons(table.connection, table.names, promises, table.owners)
    assert sizes.persons.smallest == oracle.known_rows_k(rows, m, count_known=count_known)


def test_the_sentence_says_persons():
    rows = [Row("p", ("x",)), Row("p", ("x",)), Row("q", ("x",))]
    with Counted(rows) as table:
        _, [check] = recount_persons(table.connection, table.names, [("3-anonymity", ["q0"], 3)], table.owners)
    assert (check.passed, check.finding) == (False, "smallest of 1 classes: 2 persons; 1 below 3")


def test_a_column_that_is_one_to_one_with_persons_is_found():
    rows = [Row("p", ("x",), "a"), Row("p", ("y",), "a"), Row("q", ("x",), None), Row("q", ("y",), None)]
    with Counted(rows) as table:
        check = telling_columns_check(table.connection, table.names, table.owners)
        assert (check.passed, check.finding) == (False, "'s' has a value for each person")
        assert telling_columns_check(table.connection, table.names, table.owners, "s").passed
    with Counted(rows[::2]) as table:  # rows that are persons tell nothing of each other
        assert telling_columns_check(table.connection, table.names, table.owners).passed
    with Counted([*rows[:3], rows[3]._replace(value="a")]) as table:
        assert telling_columns_check(table.connection, table.names, table.owners).passed


def test_an_exception_does_not_make_a_column_of_persons_another():
    accounts = [Row(str(n), (row,), f"account {n}") for n in range(40) for row in "xy"]
    with Counted([*accounts[1:], accounts[0]._replace(value="account 40")]) as table:
        assert not telling_columns_check(table.connection, table.names, table.owners).passed
    values = [row._replace(value=str(number)) for number, row in enumerate(accounts)]  # of rows, and so of nobody
    few = [*values[:2], *values[2::2]]
    for rows in (values, few):
        with Counted(rows) as table:
            assert telling_columns_check(table.connection, table.names, table.owners).passed


def test_too_many_known_rows_are_refused_from_numbers_of_rows_alone(monkeypatch):
    rows = [Row(person, (place,)) for person in "pqr" for place in range(10)]
    with Counted(rows, linked=True, known_rows=3) as table:
        make_histories(table.connection, [0], table.owners)
        assert combinations({10: 3}, 3) == 360 == oracle.work([10] * 3, 3)
        monkeypatch.setattr(histories, "MOST_COMBINATIONS", 360)
        assert dict(supports(table.connection, 3)) == {3: 120}
        monkeypatch.setattr(histories, "MOST_COMBINATIONS", 359)
        with pytest.raises(UndeterminedError, match="keep at most 9 rows of a person") as refused:
            list(supports(table.connection, 3))
    assert refused.value.exit_status == 2
