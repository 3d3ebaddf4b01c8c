"""Cells that name what few people have, at the bounds of what is few."""

import datetime

import pyarrow as pa
import pytest

from incrowd.verification.forbidden_cells import RareValues, rare_values_check
from incrowd.verification.opening import connect, register
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves


def rare(released, original, people=2, everybody=None, **told):
    """The cells of the second of two columns; the first is empty, and nobody's business."""
    tables = {"released": released, "original": original, "everybody": original if everybody is None else everybody}
    with connect(threads=1) as connection:
        for name, cells in tables.items():
            register(connection, pa.table({"w": pa.nulls(len(cells), pa.string()), "x": cells}), name)
        return RareValues(connection, ["w", "x"], ["x"], people, "everybody", **told).cells()["x"]


JOBS = ["cook", "cook", "cook", "nurse", "nurse", "pope"]


@pytest.mark.parametrize(
    ("cells", "people", "found"),
    [
        (JOBS, 1, 0),
        (JOBS, 2, 1),
        (JOBS, 3, 3),
        (JOBS, 4, 6),
        (["ghost"] * 6, 1, 6),  # true of nobody
        (["cook|ghost|pope"] * 4 + [None] * 2, 2, 4),  # two rare names in one cell are one cell
        (["cook|nurse"] * 6, 2, 0),
        (["cook|nurse"] * 6, 3, 6),
        ([None] * 6, 4, 0),
        (["cook"] * 3 + [None] * 3, 3, 0),
    ],
)
def test_texts(cells, people, found):
    assert rare(pa.array(cells, pa.string()), JOBS, people) == found


def test_a_set_of_somebody_without_a_value_names_its_members():
    assert rare(["cook|nurse"] * 6, ["cook", "cook", "nurse", "nurse", None, None]) == 0


def test_a_bar_may_be_part_of_a_value():
    own = ["a|b"] * 3 + ["a", "b", "b"]
    assert rare(own, own) == 1
    assert rare(["a|b"] * 6, own) == 3
    assert rare(["a%7Cb|b"] * 3 + [None, "b", "b"], own) == 0
    assert rare(["5%257C|b"] * 5, ["5%7C", "5%7C", "b", "b", "b"]) == 0


def test_an_apostrophe_is_part_of_a_value_unless_formulas_are_escaped():
    own = ["'=1"] * 2 + ["'@x"] * 2
    assert rare(own, own) == 0
    assert rare(own, own, escapes=True) == 4
    plain = ["=1"] * 2 + ["@x"] * 2
    assert (rare(own, plain, escapes=True), rare(own, plain)) == (0, 4)


@pytest.mark.parametrize(
    ("cell", "escapes", "pair", "found"),
    [
        ("%3D1:2|a:2", False, False, 0),
        ("%3D1:2|a:2", True, False, 0),
        ("'=1:2|a:2", True, True, 0),
        ("'=1:2|a:2", True, False, 4),
        ("'=1:2|a:2", False, True, 4),
        ("%3D1:2|a:2", True, True, 4),
    ],
)
def test_members_of_counts_are_written_as_their_file_asks(cell, escapes, pair, found):
    assert rare([cell] * 4, ["=1", "=1", "a", "a"], counts=["x"], escapes=escapes, pair=pair) == found


def test_counts_stand_in_the_table_itself_unless_something_else_is_said():
    assert rare(["%3D1:2|a:2"] * 4, ["=1", "=1", "a", "a"], counts=["x"], escapes=True) == 0


@pytest.mark.parametrize(
    ("cells", "own", "people", "found"),
    [
        (["a:3|b:1"] * 4, ["a", "a", "a", "b"], 1, 0),
        (["a:3|b:1"] * 4, ["a", "a", "a", "b"], 2, 4),
        (["a:3"] * 3 + ["*"], ["a", "a", "a", "b"], 2, 0),
        (["a:2|?:2"] * 4, ["a", "a", None, None], 2, 0),
        (["a:2|?:2"] * 4, ["a", "a", None, None], 3, 4),
        (["a:3|?:1"] * 2 + ["*"] * 2, ["a", "a", "a", None], 2, 2),
    ],
)
def test_counts_name_their_members_and_the_missing_one(cells, own, people, found):
    assert rare(cells, own, people, counts=["x"]) == found


AGES = [20, 20, 20, 30, 40, 40]


@pytest.mark.parametrize(
    ("cell", "people", "found"),
    [
        ("(10, 20]", 3, 0),
        ("(10, 20]", 4, 6),
        ("(20, 30]", 1, 0),
        ("(20, 30]", 2, 6),
        ("(20, 40]", 3, 0),
        ("(20, 40]", 4, 6),
        ("(10, 29]", 3, 0),
        ("(30, 39]", 1, 6),
        ("(1, 5]", 1, 6),  # below all
        ("(50, 60]", 1, 6),
        ("(-inf, 25]", 3, 0),
        ("(25, inf)", 3, 0),
        ("(25, inf)", 4, 6),
        ("(-inf, inf)", 6, 0),
        ("(20, 20]", 1, 6),
        ("(40, 20]", 1, 6),
        ("(ten, 40]", 1, 6),
        ("(10, old]", 1, 6),
        ("[20, 40]", 2, 0),
        ("[20, 40]", 3, 6),
        ("[20, 30]", 2, 6),
        ("[25, 40]", 1, 6),  # an end that nobody has
        ("20", 3, 0),
        ("20.0", 4, 6),
        ("30", 1, 0),
        ("25", 9, 0),  # a mean
        ("old", 1, 6),
        ("(10, 25]|(35, 50]", 2, 0),
        ("(10, 25]|(25, 35]", 2, 6),
        ("20|40", 2, 0),
        ("20|30", 2, 6),
    ],
)
def test_numbers(cell, people, found):
    assert rare([cell] * 6 + [None] * 2, [*AGES, None, None], people) == found


def test_numbers_that_are_written_as_numbers():
    assert rare([float(age) for age in AGES], AGES) == 1
    assert rare([22.5] * 4 + [40.0] * 2, AGES) == 0


@pytest.mark.parametrize(
    ("cell", "people", "found"),
    [
        ("(-inf, 25]:3|(25, inf):3|?:2", 2, 0),
        ("(-inf, 25]:3|(25, inf):3|?:2", 3, 8),
        ("(-inf, inf):6|?:2", 2, 0),
        ("(-inf, inf):6", 6, 0),
        ("(-inf, inf):6", 7, 8),
    ],
)
def test_counts_of_bins(cell, people, found):
    assert rare([cell] * 8, [*AGES, None, None], people, counts=["x"]) == found


def test_dates_and_truth_values():
    days = [datetime.date(2024, 1, day) for day in (1, 1, 5)]
    assert rare(["(2023-12-31, 2024-01-03]"] * 2 + ["(2024-01-03, inf)"], days) == 1
    assert rare(["2024-01-01"] * 2 + [None], days) == 0
    assert rare(["2024-01-05"] * 3, days) == 3
    assert rare(["true", "true", "false"], [True, True, False]) == 1


def ends(low, high, own, people=2):
    """The cells of a column whose intervals stand in two, the second and the third."""
    released = {"w": pa.nulls(len(low)), "low": pa.array(low, pa.float64()), "high": pa.array(high, pa.float64())}
    with connect(threads=1) as connection:
        register(connection, pa.table(released), "released")
        register(connection, pa.table({"w": pa.nulls(len(own)), "low": own, "high": own}), "original")
        names = ["w", "low", "high"]
        return RareValues(connection, names, names[1:], people, bounds=[("low", "high")]).cells()


@pytest.mark.parametrize(
    ("low", "high", "people", "found"),
    [
        (10, 20, 3, 0),
        (10, 20, 4, 6),
        (20, 30, 2, 6),
        (20, 20, 3, 0),  # one value
        (30, 30, 2, 6),
        (None, 30, 4, 0),
        (None, 30, 5, 6),
        (20, None, 3, 0),
        (20, None, 4, 6),
        (None, None, 9, 0),
    ],
)
def test_two_ends(low, high, people, found):
    assert ends([low] * 6, [high] * 6, AGES, people) == {"low": found}


def test_a_column_beside_two_ends_is_read_as_it_is():
    cells = {"x": ["a", "a", "b"], "low": [1.0] * 3, "high": [3.0] * 3}
    with connect(threads=1) as connection:
        register(connection, pa.table(cells), "released")
        register(connection, pa.table(cells | {"low": [2, 2, 3], "high": [2, 2, 3]}), "original")
        asked = RareValues(connection, list(cells), list(cells), 3, bounds=[("low", "high")])
        assert asked.cells() == {"x": 3, "low": 0}


TREE = Hierarchy("x", ("*", "care", "nurse", "cook", "church", "pope", "monk"), (-1, 0, 1, 1, 0, 4, 4))


@pytest.mark.parametrize(
    ("cells", "people", "found"),
    [
        (["care"] * 6, 5, 0),
        (["care"] * 6, 6, 6),
        (["church"] * 6, 1, 0),
        (["church"] * 6, 2, 6),
        (["*"] * 6, 6, 0),
        (["*"] * 6, 7, 6),
        (["monk"] * 6, 1, 6),
        (["care|church"] * 6, 2, 6),
        (["cook"] * 3 + ["care"] * 3, 4, 3),
    ],
)
def test_a_group_is_true_of_the_people_below_it(cells, people, found):
    assert rare(cells, JOBS, people, hierarchies={"x": TREE}) == found


def test_groups_of_numbers_are_true_of_the_numbers_below_them():
    numbers = Hierarchy("x", ("*", "young", "20", "30", "40"), (-1, 0, 1, 1, 0))
    assert [rare(["young"] * 6, AGES, people, hierarchies={"x": numbers}) for people in (4, 5)] == [0, 6]
    texts = [f"{age}.0" for age in AGES]
    assert [rare(["young"] * 6, texts, people, hierarchies={"x": numbers}) for people in (4, 5)] == [0, 6]


def test_a_number_that_two_leaves_write_counts_once():
    twice = Hierarchy("x", ("*", "young", "20", "20.0", "40"), (-1, 0, 1, 1, 0))
    texts = [str(age) for age in AGES]
    assert [rare(["young"] * 6, texts, people, hierarchies={"x": twice}) for people in (3, 4)] == [0, 6]


def test_bins_of_a_hierarchy_are_intervals():
    bins = Hierarchy("x", ("*", "(-inf, 25]", "(25, inf)"), (-1, 0, 0), Leaves.NUMBERS)
    assert [rare(["(25, inf)"] * 6, AGES, people, hierarchies={"x": bins}) for people in (3, 4)] == [0, 6]


def test_only_the_columns_asked_for_are_counted_and_people_left_out_count():
    with connect(threads=1) as connection:
        for name, rows in (("released", 2), ("original", 2), ("everybody", 3)):
            register(connection, pa.table({"a": ["x"] * rows, "b": ["y"] * rows}), name)
        assert RareValues(connection, ["a", "b"], ["b"], 3).cells() == {"b": 2}
        assert RareValues(connection, ["a", "b"], ["b"], 3, "everybody").cells() == {"b": 0}
        assert (
            RareValues(connection, ["a", "b"], ["a", "b"], 3).check().finding == "4 cells of 'a', 'b' name rarer ones"
        )


def test_the_check_names_columns_not_values():
    check = rare_values_check({"job": 1200, "age": 0, "town": 34}, 1000)
    assert (check.passed, check.finding) == (False, "1,234 cells of 'job', 'town' name rarer ones")
    assert check.name == "names only what 1,000 people or more have"
    assert (rare_values_check({"job": 0}, 3).passed, rare_values_check({"job": 0}, 3).finding) == (True, "every cell")
