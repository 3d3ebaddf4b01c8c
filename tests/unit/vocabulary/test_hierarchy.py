"""The tree of one attribute: levels, leaves, lookups, and what it refuses."""

import dataclasses
import datetime

import numpy as np
import polars as pl
import pytest

from incrowd.errors import InputError, ValuesError
from incrowd.vocabulary.encoded_table import EncodedColumn
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.released_value import Interval
from incrowd.vocabulary.schema import ColumnType

EDUCATION = Hierarchy.from_paths(
    "education",
    [
        ["9th", "Junior", "Secondary", "*"],
        ["10th", "Junior", "Secondary", "*"],
        ["11th", "Senior", "Secondary", "*"],
        ["Bachelors", "University", "*"],
        ["Masters", "Graduate", "University", "*"],
        ["Doctorate", "Graduate", "University", "*"],
    ],
)
AGE = Hierarchy.from_paths(
    "age",
    [
        ["(60, inf)", "old", "*"],
        ["(-inf, 20]", "young", "*"],
        ["(40, 60]", "old", "*"],
        ["(20, 40]", "young", "*"],
    ],
    Leaves.NUMBERS,
)


def column(values, kind=ColumnType.CATEGORICAL, codes=None):
    dictionary = pl.Series(values)
    codes = np.arange(len(values) + 1) if codes is None else codes
    return EncodedColumn("c", kind, np.asarray(codes, np.int32), dictionary)


def test_nodes_are_numbered_depth_first_and_levels_count_from_the_root():
    assert EDUCATION.labels[:4] == ("*", "Secondary", "Junior", "9th")
    assert EDUCATION.parents[:4] == (-1, 0, 1, 2)
    assert EDUCATION.depths.tolist()[:4] == [1, 2, 3, 4]
    assert (EDUCATION.height, len(EDUCATION.leaves)) == (4, 6)


def test_a_level_is_one_node_per_leaf_and_a_short_branch_stays_itself():
    named = [[EDUCATION.labels[node] for node in EDUCATION.at_level(level)] for level in range(1, 5)]
    assert named[0] == ["*"] * 6
    assert named[1] == ["Secondary"] * 3 + ["University"] * 3
    assert named[2] == ["Junior", "Junior", "Senior", "Bachelors", "Graduate", "Graduate"]
    assert named[3] == ["9th", "10th", "11th", "Bachelors", "Masters", "Doctorate"]
    with pytest.raises(InputError, match="levels 1 to 4"):
        EDUCATION.at_level(5)


def test_children_and_the_leaves_below():
    secondary = EDUCATION.labels.index("Secondary")
    assert [EDUCATION.labels[node] for node in EDUCATION.children(secondary)] == ["Junior", "Senior"]
    assert EDUCATION.leaves_below(secondary) == range(3)
    assert EDUCATION.leaves_below(EDUCATION.labels.index("Masters")) == range(4, 5)
    assert EDUCATION.leaves_below(0) == range(6)


def test_intervals_are_put_in_order_and_a_boundary_belongs_below():
    assert [AGE.labels[leaf] for leaf in AGE.leaves] == ["(-inf, 20]", "(20, 40]", "(40, 60]", "(60, inf)"]
    assert [AGE.leaf_of(value) for value in (20, 20.5, 40, 41, 60, 1e300)] == [0, 1, 1, 2, 2, 3]
    assert AGE.interval(AGE.labels.index("old")) == Interval(40, None)
    assert AGE.interval(0) == Interval(None, None)
    assert EDUCATION.interval(0) is None


def test_values_and_numbers_and_dates_are_found():
    assert EDUCATION.covers("9th")
    assert not EDUCATION.covers("Secondary")
    assert AGE.leaf_of("20") == 0
    assert AGE.leaf_of("twenty") is None
    assert AGE.leaf_of(float("nan")) is None
    years = Hierarchy.from_paths("born", [["2023", "*"], ["2024", "*"]], Leaves.DATES)
    assert years.leaf_of(datetime.date(2023, 12, 31)) == 0
    assert years.leaf_of(datetime.date(2024, 1, 1)) == 1
    assert years.leaf_of(datetime.date(2025, 1, 1)) is None
    assert years.leaf_of("2024-02-29") == 1
    days = Hierarchy.from_paths("born", [["2024-02-29", "*"]])
    assert days.leaf_of(datetime.date(2024, 2, 29)) == 0


def test_encode_answers_for_every_code_and_for_missing():
    assert EDUCATION.encode(column(["Masters", "9th"])).tolist() == [4, 0, 6]
    assert AGE.encode(column([20, 21, 61], ColumnType.INTEGER)).tolist() == [0, 1, 3, 4]
    assert AGE.encode(column([20.0, 20.1], ColumnType.REAL)).tolist() == [0, 1, 4]
    assert AGE.encode(column(pl.Series([], dtype=pl.Int64), ColumnType.INTEGER)).tolist() == [4]


def test_numbers_meet_values_that_write_them():
    single = Hierarchy.from_paths("n", [["1", "*"], ["2.0", "*"], ["9007199254740993", "*"], ["x", "*"]])
    assert single.encode(column([1, 2, 2**53 + 1], ColumnType.INTEGER)).tolist() == [0, 1, 2, 4]
    assert not single.covers(2**53)


def test_a_gap_is_counted_and_not_shown():
    rows = column(["9th", "canary-7f3"], codes=[0, 1, 1, 2])
    with pytest.raises(
        ValuesError, match=r"'education' has a gap: 1 of 2 distinct values of column 'c' \(2 rows\)"
    ) as told:
        EDUCATION.encode(rows)
    assert "canary" not in str(told.value)
    assert EDUCATION.find(rows).tolist() == [0, -1, 6]


def test_intervals_want_a_column_of_their_type():
    with pytest.raises(InputError, match="intervals of numbers, but column 'c' is categorical"):
        AGE.encode(column(["20"]))
    with pytest.raises(InputError, match="is date"):
        AGE.encode(column([datetime.date(2020, 1, 1)], ColumnType.DATE))


def test_unused_leaves_and_unequal_depth_are_said():
    assert [notice.code for notice in EDUCATION.notices] == ["padded"]
    assert "1 of 6 branches" in EDUCATION.notices[0].message
    assert "3 of 6 leaves" in EDUCATION.unused(column(["9th", "10th", "Masters"]))[0].message
    assert AGE.notices == ()
    assert AGE.unused(column([1, 30, 50, 70], ColumnType.INTEGER)) == ()


def test_a_hole_between_intervals_is_said():
    holed = Hierarchy.from_paths("n", [["(0, 1]", "*"], ["(2, 3]", "*"]], Leaves.NUMBERS)
    assert [notice.code for notice in holed.notices] == ["holes"]
    assert [holed.leaf_of(value) for value in (0, 1, 1.5, 2, 3, 3.5)] == [None, 0, None, None, 1, None]


def test_it_is_a_value():
    shuffled = Hierarchy("sex", ("m", "*", "f"), (1, -1, 1))
    assert shuffled == Hierarchy("sex", ("*", "m", "f"), (-1, 0, 0))
    assert hash(shuffled)
    assert Hierarchy.from_json(AGE.to_json()) == AGE
    with pytest.raises(dataclasses.FrozenInstanceError):
        shuffled.name = "x"


@pytest.mark.parametrize(
    ("labels", "parents", "told"),
    [
        (("*", "a", "b"), (-1, 2, 1), "cycle: 2 nodes"),
        (("a", "b"), (1, 0), "cycle: 2 nodes"),
        (("*", "a", "b", "a"), (-1, 0, 0, 2), "1 labels have two parents"),
        (("*", "a", "b"), (-1, 0, -1), "no single root: 2"),
        (("*", "a", " "), (-1, 0, 0), "1 nodes have an empty label"),
        (("*",), (-1,), "no leaves"),
        (("*", "a"), (-1, 5), "needs a parent"),
        (("*", "a"), (-1,), "needs a parent"),
        (("top", "a"), (-1, 0), "root must be named"),
    ],
)
def test_what_is_no_tree_is_refused(labels, parents, told):
    with pytest.raises(InputError, match=told):
        Hierarchy("job", labels, parents)


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        ([["(0, 10]", "*"], ["(9, 20]", "*"]], "1 of 2 intervals overlap"),
        ([["(0, inf)", "*"], ["(9, 20]", "*"]], "overlap"),
        ([["(-inf, 3]", "*"], ["(-inf, 5]", "*"]], "overlap"),
        ([["(0, 1]", "a", "*"], ["(1, 2]", "b", "*"], ["(2, 3]", "a", "*"]], "inside another branch"),
        ([["0-10", "*"]], "not an interval of numbers"),
        ([["(5, 5]", "*"]], "not an interval of numbers"),
    ],
)
def test_intervals_that_do_not_nest_are_refused(paths, told):
    with pytest.raises(InputError, match=told):
        Hierarchy.from_paths("n", paths, Leaves.NUMBERS)


def test_a_hierarchy_needs_a_name():
    with pytest.raises(InputError, match="name"):
        Hierarchy(" ", ("*", "a"), (-1, 0))


@pytest.mark.parametrize("data", [None, {}, {"name": "a", "leaves": "odd", "labels": ["*", "a"], "parents": [-1, 0]}])
def test_foreign_data_is_refused(data):
    with pytest.raises(InputError, match="not a hierarchy that incrowd wrote"):
        Hierarchy.from_json(data)
