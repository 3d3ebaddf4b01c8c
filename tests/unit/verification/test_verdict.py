"""A verdict: what holds, how many rows and classes, and the same again from plain data."""

from __future__ import annotations

import json

import pytest

from incrowd.verification.unchanged_counts import Alone, SetCounts, UnchangedCounts
from incrowd.verification.verdict import Check, ClassSizes, PersonCounts, Verdict

SIZES = ClassSizes(31, 6, 2, ((2, 3), (5, 1), (10, 2)))
NONE = ClassSizes(0, 0, 0, ())
HOLDS, FAILS = Check("rows", True, "20 released"), Check("cells", False, "3 differ")


def test_the_largest_class():
    assert (SIZES.largest, NONE.largest) == (10, 0)
    assert ClassSizes(4, 1, 4, ((4, 1),)).largest == 4


@pytest.mark.parametrize(
    ("k", "rows", "classes"), [(1, 0, 0), (2, 0, 0), (3, 6, 3), (5, 6, 3), (6, 11, 4), (10, 11, 4), (11, 31, 6)]
)
def test_rows_and_classes_below_k(k, rows, classes):
    assert (SIZES.rows_below(k), SIZES.classes_below(k)) == (rows, classes)
    assert (NONE.rows_below(k), NONE.classes_below(k)) == (0, 0)


@pytest.mark.parametrize(
    ("checks", "passed", "text"),
    [
        ((), True, ""),
        ((HOLDS,), True, "passed  rows: 20 released"),
        ((FAILS,), False, "FAILED  cells: 3 differ"),
        ((HOLDS, FAILS), False, "passed  rows: 20 released\nFAILED  cells: 3 differ"),
        ((FAILS, HOLDS), False, "FAILED  cells: 3 differ\npassed  rows: 20 released"),
    ],
)
def test_everything_must_hold(checks, passed, text):
    verdict = Verdict(SIZES, checks)
    assert (verdict.passed, verdict.exit_status, str(verdict)) == (passed, 0 if passed else 1, text)


def test_cells_that_show_nothing():
    shown = {"age": {"empty": 4, "value": 2}, "job": {"value": 6}}
    assert Verdict(SIZES, shown=shown).suppressed == {"age": 4, "job": 0}


@pytest.mark.parametrize("checks", [(), (HOLDS, FAILS)])
def test_plain_data_and_back(checks):
    verdict = Verdict(SIZES, checks)
    data = json.loads(json.dumps(verdict.to_json()))
    assert data == {
        "passed": not checks,
        "checks": [{"name": one.name, "passed": one.passed, "found": one.finding} for one in checks],
        "rows": 31,
        "classes": 6,
        "smallest_class": 2,
        "class_size_histogram": [[2, 3], [5, 1], [10, 2]],
    }
    assert Verdict.from_json(data) == verdict
    counted = Verdict.from_json(data, input_rows=40, shown={"a": {"empty": 1}}, digests=["x"], unchanged=None)
    assert (counted.input_rows, counted.digests, counted.unchanged) == (40, ("x",), None)
    assert counted.suppressed == {"a": 1}


def test_what_unchanged_columns_undo_comes_back():
    undone = UnchangedCounts(40, (SetCounts(("sex",), 10, 4, 4),), 4, 40, 36, (), Alone(0, 0, 0, 0, (), None, {}))
    found = Verdict.from_json(Verdict(SIZES).to_json(), unchanged=json.loads(json.dumps(undone.to_json())))
    assert found.unchanged == undone


def test_what_was_counted_of_persons_is_given_apart():
    persons = PersonCounts(12, 1, 3, ((3, 4),), 0.5)
    verdict = Verdict(ClassSizes(20, 4, 5, ((5, 4),), persons), (Check("k", True, "3 persons"),))
    assert "persons" not in verdict.to_json()
    again = Verdict.from_json(verdict.to_json(), persons=persons.to_json())
    assert again.sizes == verdict.sizes
    assert (persons.classes_below(4), persons.classes_below(3)) == (4, 0)
    assert Verdict.from_json(verdict.to_json()).sizes.persons is None
