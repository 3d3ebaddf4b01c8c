"""Random hierarchies against plain Python: every form keeps them, every value finds its leaf, builders nest."""

import bisect
import datetime
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incrowd.tables.hierarchies.draft import draft_hierarchy
from incrowd.tables.hierarchies.intervals import from_edges, intervals
from incrowd.tables.hierarchies.read import read_hierarchy, write_hierarchy
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.schema import ColumnType

LABELS = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() and text != "*")


@st.composite
def trees(draw):
    """A tree as (labels, parents): every node hangs below an earlier one."""
    labels = ["*", *draw(st.lists(LABELS, min_size=1, max_size=14, unique=True))]
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, len(labels)))]
    return Hierarchy(draw(LABELS), tuple(labels), tuple(parents))


@st.composite
def number_trees(draw):
    edges = sorted(draw(st.sets(st.integers(-50, 50) | st.floats(-50, 50).map(lambda x: round(x, 3)), max_size=9)))
    levels = [edges]
    while levels[-1] and draw(st.booleans()):
        levels.append([edge for edge in levels[-1] if draw(st.booleans())])
    closed = draw(st.booleans())
    return from_edges("n", *levels, low=-51 if closed else None, high=51 if closed else None)


@pytest.mark.parametrize("ending", ["txt", "yaml", "json", "csv"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=trees() | number_trees())
def test_every_form_keeps_every_tree(ending, tree):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"x.{ending}"
        write_hierarchy(tree, file)
        found = read_hierarchy(file, tree.name if ending == "csv" else None)
    assert found == tree
    assert Hierarchy.from_json(tree.to_json()) == tree


@settings(max_examples=200, deadline=None)
@given(tree=trees())
def test_levels_and_leaves_agree_with_walking_up(tree):
    above = {label: tree.labels[parent] for label, parent in zip(tree.labels[1:], tree.parents[1:], strict=True)}
    leaves = [label for label in tree.labels if label not in above.values() and label != "*"]
    ways = []
    for leaf in leaves:
        way = [leaf]
        while way[-1] != "*":
            way.append(above[way[-1]])
        ways.append(way[::-1])
    assert tree.height == max(map(len, ways))
    for level in range(1, tree.height + 1):
        expected = [way[min(level, len(way)) - 1] for way in ways]
        assert [tree.labels[node] for node in tree.at_level(level)] == expected
    for node, label in enumerate(tree.labels):
        below = [place for place, way in enumerate(ways) if label in way]
        assert list(tree.leaves_below(node)) == below
        assert sorted(tree.labels[child] for child in tree.children(node)) == sorted(
            child for child, parent in above.items() if parent == label
        )


@settings(max_examples=200, deadline=None)
@given(tree=number_trees(), numbers=st.sets(st.integers(-60, 60) | st.floats(-60, 60), min_size=1))
def test_numbers_find_the_interval_that_holds_them(tree, numbers):
    values = sorted({float(number) + 0.0 for number in numbers})
    column = EncodedColumn("n", ColumnType.REAL, np.arange(len(values), dtype=np.int32), pl.Series(values))
    ends = [tree.interval(leaf) for leaf in tree.leaves.tolist()]
    expected = [
        next(
            (
                place
                for place, end in enumerate(ends)
                if (end.low is None or end.low < value) and (end.high is None or value <= end.high)
            ),
            -1,
        )
        for value in values
    ]
    assert tree.find(column).tolist() == [*expected, len(ends)]
    assert [tree.leaf_of(value) for value in values] == [None if place < 0 else place for place in expected]


@settings(max_examples=150, deadline=None)
@given(tree=trees(), data=st.data())
def test_values_find_the_leaf_of_their_name(tree, data):
    leaves = [tree.labels[leaf] for leaf in tree.leaves]
    values = sorted(data.draw(st.sets(st.sampled_from(leaves) | LABELS, min_size=1)))
    column = EncodedColumn("c", ColumnType.CATEGORICAL, np.zeros(1, np.int32), pl.Series(values))
    expected = [leaves.index(value) if value in leaves else -1 for value in values]
    assert tree.find(column).tolist() == [*expected, len(leaves)]


VALUES = {
    ColumnType.INTEGER: st.integers(-(10**12), 10**12) | st.integers(0, 99),
    ColumnType.REAL: st.floats(-1e9, 1e9).map(lambda number: number + 0.0) | st.integers(0, 99).map(float),
    ColumnType.DATE: st.dates(datetime.date(1890, 1, 1), datetime.date(2100, 1, 1)),
    ColumnType.CATEGORICAL: LABELS.filter(lambda text: "*" not in text),
    ColumnType.ORDERED: LABELS.filter(lambda text: "*" not in text),
}
KINDS = {
    ColumnType.INTEGER: ["intervals", "prefix", "drafted", None],
    ColumnType.REAL: ["intervals", None],
    ColumnType.DATE: ["intervals", "date", None],
    ColumnType.CATEGORICAL: ["prefix", "drafted", "ordered", None],
    ColumnType.ORDERED: ["ordered", "drafted", None],
}


@st.composite
def columns(draw):
    kind = draw(st.sampled_from(list(VALUES)))
    values = sorted(draw(st.sets(VALUES[kind], min_size=1, max_size=30)))
    codes = draw(st.lists(st.integers(0, len(values)), min_size=1, max_size=200))
    column = EncodedColumn("c", kind, np.array([*codes, *range(len(values))], np.int32), pl.Series(values))
    classes = draw(st.lists(st.integers(0, 2), min_size=len(column.codes), max_size=len(column.codes)))
    target = EncodedColumn("t", ColumnType.CATEGORICAL, np.array(classes, np.int32), pl.Series(["a", "b"]))
    return column, draw(st.sampled_from([target, None])), draw(st.sampled_from(KINDS[kind]))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(columns())
def test_every_draft_covers_every_value_and_nests(case):
    column, target, kind = case
    made = draft_hierarchy(column, target, kind=kind)
    places = made.encode(column)
    assert (places[:-1] < len(made.leaves)).all()
    assert made == draft_hierarchy(column, target, kind=kind)
    for level in range(2, made.height + 1):
        upper, lower = made.at_level(level - 1), made.at_level(level)
        assert len(set(zip(lower.tolist(), upper.tolist(), strict=True))) == len(set(lower.tolist()))
    if made.kind is not Leaves.VALUES:
        assert not [notice for notice in made.notices if notice.code == "holes"]


@settings(max_examples=150, deadline=None)
@given(columns(), st.integers(1, 9))
def test_intervals_hold_what_they_say(case, bins):
    column, target, _ = case
    if not column.type.is_numeric:
        return
    made = intervals(column, target, bins=bins)
    places = made.encode(column)[:-1]
    highs = [made.interval(leaf).high for leaf in made.leaves.tolist()[:-1]]
    assert places.tolist() == [bisect.bisect_left(highs, number) for number in column.numbers.tolist()]
