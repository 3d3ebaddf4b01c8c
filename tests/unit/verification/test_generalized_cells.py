"""The second opinion on generalized cells: groups of a hierarchy, bounds, middles, ranges; and on several sets."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from incrowd.errors import HeaderError, ParameterError
from incrowd.releases.recount import verify as recount
from incrowd.tables.publishing.serialise import write_table
from incrowd.verification.faithfulness import verify_release
from incrowd.verification.request import Expected, Original
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

ENDINGS = ["csv", "parquet", "arff"]
JOBS = Hierarchy.from_paths(
    "job", [["cook", "=craft", "*"], ["smith", "=craft", "*"], ["nurse", "care", "*"], ["a|b", "care", "*"]]
)
GRADES = Hierarchy.from_paths("grade", [["1", "low", "*"], ["2.0", "low", "*"], ["3", "high", "*"]])
OWN = {
    "job": ["cook", "smith", "nurse", "a|b", None, "nurse"],
    "grade": [1, 2, 3, 1, None, 3],
    "ill": ["y", "n"] * 3,
}


def failed(tmp_path, ending, shown, own, **changes):
    """The columns that a verification finds wrong."""
    frame = pl.DataFrame(shown)
    form = FileForm.of(f"t.{ending}")
    path = tmp_path / f"t.{ending}"
    write_table(frame, path, form)
    claims = changes.pop("claims", {})
    table = pa.table({name: own[name] if name in own else own[name.rpartition("_")[0]] for name in frame.columns})
    keys = [name for name in frame.columns if name != "ill"]
    asked = Expected([("1-anonymity", keys, 1)], frame.columns, keys, 0, **changes)
    verdict = verify_release(path, form, asked, Original(table, np.arange(frame.height), frame.height, claims))
    return [check.name.split()[0] for check in verdict.checks if not check.passed]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_group_is_true_of_the_values_below_it(tmp_path, ending):
    right = ["=craft", "smith", "care", "care", None, "*"]
    options = {"hierarchies": {"job": JOBS, "grade": GRADES}}
    shown = {"job": right, "grade": ["low", "2", "high", "1", None, "*"], "ill": OWN["ill"]}
    assert failed(tmp_path, ending, shown, OWN, **options) == []
    for row, lie in [(0, "care"), (2, "cook"), (4, "care"), (5, "nobody"), (1, "")]:
        wrong = [lie if i == row else value for i, value in enumerate(right)]
        assert failed(tmp_path, ending, shown | {"job": wrong}, OWN, **options) == ["job"]
    for row, lie in [(0, "high"), (2, "2"), (4, "low"), (1, "3")]:
        wrong = [lie if i == row else value for i, value in enumerate(shown["grade"])]
        assert failed(tmp_path, ending, shown | {"grade": wrong}, OWN, **options) == ["grade"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_without_a_hierarchy_a_group_is_no_value(tmp_path, ending):
    shown = {"job": ["=craft", "smith", "nurse", None, None, "nurse"], "ill": OWN["ill"]}
    assert failed(tmp_path, ending, shown, OWN) == ["job"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_bounds_lie_around_the_number(tmp_path, ending):
    own = {"age": [20, 30, 31, 90, None], "ill": ["y"] * 5}
    low, high = [None, None, 30, 30, None], [30, 30, None, 90, None]
    options = {"bounds": [("age_low", "age_high")]}

    def told(low, high):
        return failed(tmp_path, ending, {"age_low": low, "age_high": high, "ill": own["ill"]}, own, **options)

    assert told(low, high) == []
    assert told([20, 30, 30, 30, None], [20, 30, None, 90, None]) == []
    both = ["age_low", "age_high"]
    assert told([None, None, 31, 30, None], high) == both
    assert told(low, [30, 29, None, 90, None]) == both
    assert told(low, [30, 30, None, 90, 95]) == both
    assert told([20, None, 30, 30, None], high) == both


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_bounds_of_dates(tmp_path, ending):
    day = dt.date(2020, 1, 1)
    own = {"born": [day, day + dt.timedelta(9)], "ill": ["y", "n"]}
    shown = {"born_low": [day - dt.timedelta(1), day], "born_high": [None, day + dt.timedelta(9)], "ill": ["y", "n"]}
    options = {"bounds": [("born_low", "born_high")]}
    assert failed(tmp_path, ending, shown, own, **options) == []
    wrong = shown | {"born_low": [day, day]}
    assert failed(tmp_path, ending, wrong, own, **options) == ["born_low", "born_high"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_middle_is_that_of_an_interval_around_the_number(tmp_path, ending):
    own = {"age": [20, 30, 31, 50, None, 7], "ill": ["y"] * 6}
    inf, nan = np.inf, np.nan
    claimed = np.array([-inf, 10, 30, 30, nan, nan]), np.array([30, 30, inf, 50, nan, nan])

    def told(shown, claims=claimed):
        return failed(tmp_path, ending, {"age": shown, "ill": own["ill"]}, own, claims={"age": claims})

    right = [25.0, 20.0, 60.0, 40.0, None, 7.0]
    assert told(right) == []
    for row, lie in [(0, 31.0), (1, 21.0), (2, 29.0), (3, 40.1), (4, 40.0), (5, 8.0)]:
        assert told([lie if i == row else value for i, value in enumerate(right)]) == ["age"], row
    lying = claimed[0].copy(), claimed[1].copy()
    lying[0][3], lying[1][3] = 50, 60
    assert told([*right[:3], 55.0, *right[4:]], lying) == ["age"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_range_includes_its_ends(tmp_path, ending):
    own = {"age": [20, 30, 40], "ill": ["y"] * 3}

    def told(shown, **asked):
        return failed(tmp_path, ending, {"age": shown, "ill": own["ill"]}, own, **asked)

    assert told(["[20, 30]"] * 2 + ["[40, 40]"], extremes=True) == []
    assert told(["[20, 30]"] * 2 + ["(40, 50]"], extremes=True) == ["age"]
    assert told(["[21, 30]"] * 2 + ["[40, 40]"], extremes=True) == ["age"]
    assert told(["[20, 30]"] * 2 + ["(30, inf)"]) == ["age"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_sets_name_values_once_and_in_one_order(tmp_path, ending):
    own = {"job": ["cook", "smith"] * 2, "sex": ["f", "f", "m", "m"], "ill": ["y"] * 4}
    told = {"sex": own["sex"], "ill": own["ill"]}
    assert failed(tmp_path, ending, {"job": ["cook|smith"] * 4, **told}, own) == []
    assert failed(tmp_path, ending, {"job": ["cook|smith"] * 2 + ["smith|cook"] * 2, **told}, own) == ["job"]
    assert failed(tmp_path, ending, {"job": ["cook|cook|smith"] * 4, **told}, own) == ["job"]


def test_a_hierarchy_of_intervals_names_nothing(tmp_path):
    own = {"age": [20, 30], "ill": ["y", "n"]}
    ages = Hierarchy("age", ("*", "(0, 25]", "(25, 90]"), (-1, 0, 0), Leaves.NUMBERS)
    right = {"age": ["(0, 25]", "(25, 90]"], "ill": ["y", "n"]}
    assert failed(tmp_path, "csv", right, own, hierarchies={"age": ages}) == []
    assert failed(tmp_path, "csv", right | {"age": ["(25, 90]"] * 2}, own, hierarchies={"age": ages}) == ["age"]


FRAME = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "p", "p", "q"], "c": [1, 1, 1, 1]})


def test_every_set_is_recounted_with_its_own_k():
    verdict = recount(FRAME, known_together=[(["a"], 2), (["b", "c"], 2)], quasi_identifiers=())
    assert [(check.name, check.passed) for check in verdict.checks] == [
        ("2-anonymity of a", True),
        ("2-anonymity of b, c", False),
    ]
    assert verdict.sizes.smallest == 1
    assert recount(FRAME, known_together=[(["a"], 2), (["b", "c"], 1)], quasi_identifiers=()).passed


def test_sets_are_asked_for_as_they_are():
    with pytest.raises(ParameterError, match="a whole number k, or sets"):
        recount(FRAME, quasi_identifiers=["a"])
    with pytest.raises(HeaderError, match="no column 'z'"):
        recount(FRAME, known_together=[(["z"], 2)], quasi_identifiers=())
    with pytest.raises(ParameterError, match="at least one"):
        recount(FRAME, known_together=[([], 2)], quasi_identifiers=())
