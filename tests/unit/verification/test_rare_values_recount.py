"""Cells that name what few people have, as the verification counts them."""

import datetime

import duckdb
import polars as pl
import pytest

from incrowd.verification.opening import register
from incrowd.verification.rare_values import RareValues, rare_values_check
from incrowd.vocabulary.hierarchy import Hierarchy

JOBS = ["cook", "cook", "cook", "nurse", "nurse", "pope"]


def rare(released, original, people=2, everybody=None, **told):
    released, original = pl.DataFrame({"x": released}), pl.DataFrame({"x": original})
    everybody = original if everybody is None else pl.DataFrame({"x": everybody})
    with duckdb.connect() as connection:
        for table, name in ((released, "released"), (original, "original"), (everybody, "everybody")):
            register(connection, table.to_arrow(), name)
        return RareValues(connection, ["x"], ["x"], people, "everybody", **told).cells()["x"]


def test_values_and_members_of_sets_are_names():
    assert rare(JOBS, JOBS) == 1
    assert rare(["cook|nurse"] * 5 + ["pope"], JOBS) == 1
    assert rare(["cook|pope"] * 3 + ["nurse"] * 2 + ["cook|pope"], JOBS) == 4
    assert rare(["cook|nurse"] * 5 + [None], JOBS) == 0


def test_a_bar_may_be_part_of_a_value():
    own = ["a|b"] * 3 + ["a", "b", "b"]
    assert rare(own, own) == 1
    assert rare(["a|b"] * 6, own) == 3
    assert rare(["a%7Cb|b"] * 3 + [None] + ["b"] * 2, own) == 0


def test_people_left_out_of_the_release_count():
    assert rare(["pope"], ["pope"]) == 1
    assert rare(["pope"], ["pope"], everybody=["pope", "pope", "cook"]) == 0


def test_members_of_counts_are_names_and_so_is_the_missing_one():
    assert rare(["cook:3|nurse:2|pope:1"] * 6, JOBS, counts=["x"]) == 6
    assert rare(["cook:3|nurse:2"] * 5 + ["*"], JOBS, counts=["x"]) == 0
    own = ["cook"] * 5 + [None]
    assert rare(["cook:5|?:1"] * 6, own, counts=["x"]) == 6
    assert rare(["cook:4|?:2"] * 6, ["cook"] * 4 + [None] * 2, counts=["x"]) == 0


def test_values_that_look_like_formulas_are_known_behind_their_apostrophe():
    own = ["=1+1"] * 2 + ["@x"] * 2
    assert rare(["'=1+1"] * 2 + ["'@x"] * 2, own, escapes=True) == 0
    assert rare(["'=1+1"] * 2 + ["'@x"] * 2, own, people=3, escapes=True) == 4
    assert rare(["%3D1+1:2|%40x:2"] * 4, own, escapes=True, counts=["x"]) == 0
    assert rare(["'=1+1:2|'@x:2"] * 4, own, escapes=True, counts=["x"], pair=True) == 0


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["(10, 30]"] * 4 + ["(30, inf)"] * 2, 0),
        (["(10, 25]"] * 3 + ["(25, 30]"] + ["(30, 50]"] * 2, 1),
        (["(10, 25]|(30, 50]"] * 6, 0),
        (["[20, 40]"] * 6, 0),
        (["[20, 30]"] * 4 + ["[40, 40]"] * 2, 4),
        (["26.5"] * 6, 0),
        (["30.0"] * 6, 6),
        (["old"] * 6, 6),
    ],
)
def test_bins_and_numbers(cells, found):
    assert rare(cells, [20, 20, 20, 30, 40, 40]) == found


def test_numbers_that_are_written_as_numbers():
    own = [20, 20, 20, 30, 40, 40]
    assert rare([float(number) for number in own], own) == 1
    assert rare([22.5] * 4 + [40.0] * 2, own) == 0


def test_counts_of_bins():
    own = [20, 20, 20, 30, None, None]
    assert rare(["(-inf, 25]:3|(25, inf):1|?:2"] * 6, own, counts=["x"]) == 6
    assert rare(["(-inf, inf):4|?:2"] * 6, own, counts=["x"]) == 0


def test_dates():
    own = [datetime.date(2024, 1, day) for day in (1, 1, 5)]
    assert rare(["(2023-12-31, 2024-01-03]"] * 2 + ["(2024-01-03, inf)"], own) == 1
    assert rare(["2024-01-01"] * 2 + [None], own) == 0


def test_two_ends():
    released = pl.DataFrame({"x_low": [None, None, 20.0, 30.0], "x_high": [20.0, 20.0, 30.0, 30.0]})
    own = pl.DataFrame({"x_low": [10, 20, 25, 30], "x_high": [10, 20, 25, 30]})
    with duckdb.connect() as connection:
        register(connection, released.to_arrow(), "released")
        register(connection, own.to_arrow(), "original")
        names = ["x_low", "x_high"]
        found = RareValues(connection, names, names, 2, bounds=[("x_low", "x_high")]).cells()
    assert found == {"x_low": 1}


def test_groups_of_a_hierarchy_are_true_of_the_people_below_them():
    hierarchy = Hierarchy("x", ("*", "care", "nurse", "cook", "church", "pope"), (-1, 0, 1, 1, 0, 4))
    assert rare(["care"] * 5 + ["church"], JOBS, hierarchies={"x": hierarchy}) == 1
    assert rare(["care"] * 5 + ["*"], JOBS, hierarchies={"x": hierarchy}) == 0
    assert rare(["cook"] * 3 + ["care"] * 3, JOBS, people=4, hierarchies={"x": hierarchy}) == 3


def test_the_check_names_columns_not_values():
    check = rare_values_check({"job": 12, "age": 0}, 3)
    assert not check.passed
    assert check.found == "12 cells of 'job' name rarer ones"
    assert rare_values_check({"job": 0}, 3).passed
