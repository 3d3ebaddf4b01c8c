"""Rows that follow from counts, against all tables with these counts, listed one by one."""

from __future__ import annotations

from collections import Counter
from itertools import permutations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from incrowd.attacks.membership import certain_rows
from support.examples import drawn

columns = st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=5), min_size=1, max_size=3)


@settings(max_examples=drawn(200), deadline=None)
@given(columns)
def test_what_is_certain_is_in_every_table_and_no_more_is(values: list[list[int]]) -> None:
    """A table with the counts is a permutation of each column; the first may stay as it is."""
    rows = min(map(len, values))
    values = [column[:rows] for column in values]
    names = [f"a{place}" for place in range(len(values))]
    first, *others = values
    tables = [
        Counter(zip(first, *each, strict=True)) for each in product(*(set(permutations(other)) for other in others))
    ]
    records = set().union(*tables)
    least = {record: min(table[record] for table in tables) for record in records}
    attributes = {name: dict(Counter(column)) for name, column in zip(names, values, strict=True)}
    found = list(certain_rows(attributes, rows))
    by_record = {tuple(dict(one.record)[name] for name in names): one for one in found}
    assert len(by_record) == len(found)
    assert {record: one.least for record, one in by_record.items()} == {r: n for r, n in least.items() if n}


def test_without_attributes_nothing_is_certain() -> None:
    assert list(certain_rows({}, 5)) == []
