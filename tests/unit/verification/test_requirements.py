"""Requirements recounted over the rows of a release: what is read of its cells, of its classes and of hierarchies."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from incrowd.errors import HeaderError
from incrowd.verification.opening import connect, register
from incrowd.verification.requirements import Further, broken_classes, recount_requirements
from incrowd.verification.verdict import Check
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves
from incrowd.vocabulary.requirements.closeness import BetaLikeness, ConfidenceCap, DeltaDisclosure, TCloseness
from incrowd.vocabulary.requirements.diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from incrowd.vocabulary.schema import ColumnType

CATEGORICAL, ORDERED, BOOLEAN = ColumnType.CATEGORICAL, ColumnType.ORDERED, ColumnType.BOOLEAN
INTEGER, REAL, DATE = ColumnType.INTEGER, ColumnType.REAL, ColumnType.DATE
HAIR = Fraction(1, 10**15)
TREE = Hierarchy.from_paths("v", [["a", "low", "*"], ["b", "low", "*"], ["c", "high", "*"], ["d", "*"]])
AGES = Hierarchy("v", ("*", "(0, 10]", "(10, 20]"), (-1, 0, 0), Leaves.NUMBERS)


@pytest.fixture(scope="module")
def connection():
    with connect(threads=1) as opened:
        yield opened


def released(connection, groups, other=None):
    """A release with a column of groups, one of values and, if given, another of groups; its columns."""
    listed = list(groups.items()) if isinstance(groups, dict) else groups
    rows = [(group, value) for group, values in listed for value in values]
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("qv")}
    if other is not None:
        columns["p"] = pa.array(list(other), pa.string())
    connection.execute("SELECT 1").fetchall()  # what was asked before has been answered in full
    return register(connection, pa.table(columns), "released")


def checked(connection, groups, one, sets=(("q",),), other=None):
    (check,) = recount_requirements(connection, released(connection, groups, other), sets, [one])
    return check


HALVES = {"x": "ab", "y": "aabb", None: "ccab"}


@pytest.mark.parametrize(
    ("part", "passed", "found"),
    [
        (DistinctDiversity(2), True, "fewest values in one of 3 classes: 2"),
        (DistinctDiversity(3), False, "fewest values in one of 3 classes: 2; 2 classes break it"),
        (EntropyDiversity(2), True, "smallest of 3 classes: 2.0000"),
        (EntropyDiversity("2.1"), False, "smallest of 3 classes: 2.0000; 2 classes break it"),
        (RecursiveDiversity(2, 2), True, "3 of 3 classes keep it"),
        (RecursiveDiversity("1.5", 3), False, "0 of 3 classes keep it; 3 classes break it"),
        (RecursiveDiversity(3, 3), False, "1 of 3 classes keep it; 2 classes break it"),
        (ConfidenceCap("0.5"), True, "largest share of a value in a class: 0.5000"),
        (ConfidenceCap("0.49"), False, "largest share of a value in a class: 0.5000; 3 classes break it"),
        (BetaLikeness("1.5"), True, "largest growth of a share in a class: 1.5000"),
        (BetaLikeness("1.49"), False, "largest growth of a share in a class: 1.5000; 1 classes break it"),
        (BetaLikeness(9, None, True), True, "largest growth of a share in a class: 1.5000"),
        (BetaLikeness("1.49", None, True), False, "largest growth of a share in a class: 1.5000; 1 classes break it"),
        (
            DeltaDisclosure(2),
            False,
            "2 classes lack a value; largest logarithm of a ratio of shares: 1.3219; 2 classes break it",
        ),
        (TCloseness("0.3"), True, "largest distance of 3 classes: 0.3000"),
        (TCloseness("0.29"), False, "largest distance of 3 classes: 0.3000; 1 classes break it"),
    ],
)
def test_each_requirement_is_recounted_by_its_definition(connection, part, passed, found):
    # of ten rows four have a, four b, two c; what is in no group is a group too
    assert checked(connection, HALVES, Further(part, "v")) == Check(str(part), passed, found)


def test_every_requirement_is_checked_in_the_order_in_which_it_is_asked(connection):
    asked = [Further(DistinctDiversity(2), "v"), Further(ConfidenceCap("0.1"), "v"), Further(DistinctDiversity(1), "q")]
    checks = recount_requirements(connection, released(connection, HALVES), [["q"]], asked)
    assert [(check.name, check.passed) for check in checks] == [
        ("distinct 2-diversity of the class", True),
        ("confidence in any value of the class of at most 0.1", False),
        ("distinct 1-diversity of the class", True),
    ]
    assert recount_requirements(connection, ["q", "v"], [["q"]], []) == ()


def test_a_column_that_is_not_there(connection):
    with pytest.raises(HeaderError, match="w"):
        checked(connection, HALVES, Further(DistinctDiversity(2), "w"))


def test_every_set_of_columns_is_recounted_and_what_is_found_twice_is_told_once(connection):
    groups, one = {"x": "ab", "y": "bc"}, Further(DistinctDiversity(2), "v")
    two = "fewest values in one of 2 classes: 2"
    assert checked(connection, groups, one, [["q"], ["q"]]).finding == two
    assert checked(connection, groups, one, [["q"], ["p"]], "1212").finding == two
    alone = "fewest values in one of 2 classes: 1; 1 classes break it"
    for sets, found in (([["q"], ["p"]], f"{two}; {alone}"), ([["p"], ["q"]], f"{alone}; {two}")):
        assert checked(connection, groups, one, sets, "1222") == Check(str(one.part), False, found)
    both = checked(connection, groups, one, [["q", "p"]], "1122")
    assert both == Check(str(one.part), True, two)
    assert checked(connection, groups, one, [["q", "p"]], "1221").finding == (
        "fewest values in one of 4 classes: 1; 4 classes break it"
    )


def test_classes_are_numbered_in_the_order_of_their_columns(connection):
    names = released(connection, [("b", "aab"), ("a", "aaa"), ("c", "bbb"), ("b", "cc")])
    assert broken_classes(connection, names, ["q"], Further(DistinctDiversity(2), "v")) == [1, 3]
    assert broken_classes(connection, names, ["q"], Further(DistinctDiversity(3), "v")) == [1, 3]
    assert broken_classes(connection, names, ["q"], Further(DistinctDiversity(4), "v")) == [1, 2, 3]
    # the entropies of the classes are told from the smallest to the largest, the classes by their number
    names = released(connection, [("a", "aab"), ("b", "aaa"), ("c", "ab")])
    assert broken_classes(connection, names, ["q"], Further(EntropyDiversity(2), "v")) == [1, 2]


@pytest.mark.parametrize(
    ("kind", "cells", "values"),
    [
        (CATEGORICAL, ["1", "01", "1.0", "1"], 3),
        (INTEGER, ["1", "01", "1.0", "+1"], 1),
        (INTEGER, ["1", "2", None, ""], 3),
        (REAL, ["1.5", "1.50", "15e-1", "2"], 2),
        (REAL, ["1,5", "1,50", "2"], 2),
        (REAL, ["1.5", "nan", "NaN", None], 2),
        (DATE, ["2020-01-02", "2020-01-02", "2020-01-03"], 2),
        (DATE, ["02.01.2020", "2.1.2020", "03.01.2020"], 2),
        (BOOLEAN, ["yes", "Yes", "no"], 2),
        (BOOLEAN, ["yes", "true", "no", None], 3),
        (CATEGORICAL, ["a", "?", None, ""], 2),
        (CATEGORICAL, ["a", " a", "b "], 2),
    ],
)
def test_values_are_told_apart_by_what_they_mean(connection, kind, cells, values):
    check = checked(connection, {"x": cells}, Further(DistinctDiversity(1), "v", kind, missing=("?",)))
    assert check == Check("distinct 1-diversity of the class", True, f"fewest values in one of 1 classes: {values}")


@pytest.mark.parametrize(
    ("kind", "cells", "unread"),
    [
        (INTEGER, ["1", "much", None, "?", "1.5", ""], "2 cells of v are no integer"),
        (REAL, ["1", "much", None, "?", "nan", ""], "1 cells of v are no real"),
        (REAL, ["much"] * 1234, "1,234 cells of v are no real"),
        (DATE, ["2020-01-01", "2020-13-01", None, "soon"], "2 cells of v are no date"),
    ],
)
def test_cells_that_are_nothing_of_the_type_are_no_values(connection, kind, cells, unread):
    check = checked(connection, {None: cells}, Further(DistinctDiversity(1), "v", kind, missing=("?",)))
    assert check == Check("distinct 1-diversity of the class", False, unread)


def test_not_a_number_is_no_integer(connection):
    assert not checked(connection, {"x": ["1", "nan"]}, Further(DistinctDiversity(1), "v", INTEGER)).passed


@pytest.mark.parametrize(
    ("asked", "kind", "hierarchy", "distance", "measurable"),
    [
        (None, CATEGORICAL, None, "equal", True),
        (None, INTEGER, None, "ordered", True),
        (None, ORDERED, None, "ordered", True),
        (None, CATEGORICAL, TREE, "hierarchical", True),
        (None, INTEGER, AGES, "hierarchical", True),
        ("equal", INTEGER, AGES, "equal", True),
        ("ordered", INTEGER, AGES, "ordered", True),
        ("ordered", CATEGORICAL, TREE, "ordered", False),
        ("hierarchical", INTEGER, None, "hierarchical", False),
        ("hierarchical", CATEGORICAL, TREE, "hierarchical", True),
    ],
)
def test_the_distance_that_is_meant_and_whether_it_can_be_measured(asked, kind, hierarchy, distance, measurable):
    one = Further(TCloseness("0.5", None, asked), "v", kind, hierarchy=hierarchy)
    assert (one.distance, one.measurable) == (distance, measurable)


def test_a_distance_that_cannot_be_measured_is_not_kept(connection):
    one = Further(TCloseness(1, None, "ordered"), "v")
    found = "v has no order, or no hierarchy, to measure the distance by"
    assert checked(connection, HALVES, one) == Check(str(one.part), False, found)
    assert checked(connection, HALVES, Further(DistinctDiversity(2), "v")).passed


@pytest.mark.parametrize(
    ("groups", "further", "distance"),
    [
        # 2 and 10 are neighbours by their size, not by their letters: half of all is carried one step of two
        ({"x": ["2", "2"], "y": ["10", "10"]}, {"type": INTEGER}, 0.5),
        ({"x": ["2", "10"], "y": ["9", "9"]}, {"type": INTEGER}, 0.25),
        ({"x": ["2.5", "10"], "y": ["9", "9"]}, {"type": REAL}, 0.25),
        ({"x": ["2020-01-01", "2020-03-01"], "y": ["2020-02-01"] * 2}, {"type": DATE}, 0.25),
        ({"x": ["low", "top"], "y": ["mid", "mid"]}, {"type": ORDERED, "order": ("low", "mid", "top")}, 0.25),
        ({"x": ["low", "mid"], "y": ["top", "top"]}, {"type": ORDERED, "order": ("low", "mid", "top")}, 0.375),
        ({"x": ["low", None], "y": ["top", "top"]}, {"type": ORDERED, "order": ("low", "top")}, 0.25),
        ({"x": ["low", "top"], "y": [None, None]}, {"type": ORDERED, "order": ("low", "top")}, 0.375),
        # a and b are half as far apart as a and c; d and a missing value lie as far from all
        ({"x": "a", "y": "b"}, {"hierarchy": TREE}, 0.25),
        ({"x": "a", "y": "c"}, {"hierarchy": TREE}, 0.5),
        ({"x": "a", "y": "d"}, {"hierarchy": TREE}, 0.5),
        ({"x": "a", "y": [None]}, {"hierarchy": TREE}, 0.5),
        ({"x": "d", "y": [None]}, {"hierarchy": TREE}, 0.5),
        ({"x": "ab", "y": "ac"}, {"hierarchy": TREE}, 0.25),
        ({"x": "aa", "y": ["b", None]}, {"hierarchy": TREE}, 0.375),
        ({"x": ["1", "2"], "y": ["10", "5"]}, {"type": INTEGER, "hierarchy": AGES}, 0.0),
        ({"x": ["1", "2"], "y": ["11", "5"]}, {"type": INTEGER, "hierarchy": AGES}, 0.25),
        ({"x": ["1", "2"], "y": ["10.5", "5"]}, {"type": REAL, "hierarchy": AGES}, 0.25),
    ],
)
def test_distances_of_values(connection, groups, further, distance):
    kept = checked(connection, groups, Further(TCloseness(Fraction(distance)), "v", **further))
    assert (kept.passed, kept.finding) == (True, f"largest distance of 2 classes: {distance:.4f}")
    if distance:
        broken = checked(connection, groups, Further(TCloseness(Fraction(distance) - HAIR), "v", **further))
        assert (broken.passed, broken.finding) == (False, f"{kept.finding}; 2 classes break it")


@pytest.mark.parametrize(
    ("cells", "gaps"), [(["a", "b"], 0), (["a", "x"], 1), (["x", "y"], 2), (["x", None], 1), (["low", "a"], 1)]
)
def test_values_without_a_leaf_are_counted(connection, cells, gaps):
    check = checked(connection, {"x": cells, "z": cells}, Further(TCloseness(1), "v", hierarchy=TREE))
    told = f"{gaps} values have no place in the hierarchy; 2 classes break it"
    assert check.passed == (gaps == 0)
    assert (check.finding == told) == (gaps > 0)
