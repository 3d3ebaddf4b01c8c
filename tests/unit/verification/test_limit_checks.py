"""Cells next to sets of values that stay apart, and the counting over pieces of a release."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from incrowd.verification.limits import ApartValues, cells_beyond, limit_checks
from incrowd.verification.opening import connect, register
from incrowd.verification.request import Expected, Hint, InputFile, Original, Originals, Request
from incrowd.vocabulary.forms import FileForm
from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.requirement import KAnonymity
from incrowd.vocabulary.schema import Column, Role

TREE = Hierarchy.from_paths("job", [["nurse", "care", "*"], ["doctor", "care", "*"], ["cook", "food", "*"]])


@pytest.mark.parametrize(
    ("sets", "own", "shown", "fine"),
    [
        ([["nurse"]], "nurse", "nurse", True),
        ([["nurse"]], "nurse", "'nurse", True),
        ([["nurse"]], "nurse", "nurse|cook", False),
        ([["nurse"]], "nurse", "care", False),
        ([["nurse"]], "nurse", None, False),
        ([["nurse"]], "cook", None, True),
        ([["nurse"]], "cook", "nurse|cook", True),
        ([["nurse", "doctor"]], "nurse", "care", True),
        ([["nurse", "doctor"]], "nurse", "'doctor|nurse", True),
        ([["nurse", "doctor"]], "nurse", "*", False),
        ([["nurse", "doctor"], ["cook"]], "cook", "food", True),
        ("*", "cook", "cook", True),
        ("*", "cook", "cook|nurse", False),
        ("*", "cook", "stranger", False),
        ("*", True, "true", True),
        ("*", True, "false|true", False),
    ],
)
def test_cells(sets, own, shown, fine):
    assert ApartValues("job", sets, TREE).is_fine(own, [shown]) is fine


def checked(own, shown, sizes, **asked):
    """The checks of a release of one column in pieces."""
    asked = {"columns": (Column("job", Role.QUASI_IDENTIFIER, hierarchy=TREE),), "apart": {"job": "*"}, **asked}
    files = InputFile("t.csv", "csv"), "r.csv", FileForm()
    request = Request(*files, requirement=KAnonymity(1), hint=Hint("o.npy", tuple(sizes)), **asked)
    ends = np.cumsum(sizes)

    def piece(number):
        start = ends[number] - sizes[number]
        return Original(pa.table({"job": own[start : ends[number]]}), np.arange(start, ends[number]), len(own))

    expected = Expected((), ("job",), ("job",), 0)
    with connect() as connection:
        register(connection, pa.table({"job": shown}), "released")
        originals = Originals(len(own), sizes, piece, np.arange(len(own)))
        return list(limit_checks(request, cells_beyond(connection, request, {"job": ["job"]}, expected, originals)))


def test_all_pieces_are_counted():
    own = ["nurse", "cook", None, "cook", "doctor"]
    [check] = checked(own, ["nurse", "cook", None, "cook", "doctor"], [2, 3])
    assert check.passed
    [check] = checked(own, ["nurse", "cook", None, "food", "care"], [2, 3])
    assert (check.passed, check.finding) == (False, "1 cells are open to values of another set")
    [check] = checked(own, ["care", "cook", None, "food", "care"], [2, 3], apart={}, at_most={"job": 0})
    assert (check.passed, check.finding) == (False, "3 cells are coarser")


def test_what_shows_no_plain_values_is_not_counted():
    for asked in ({"counted": True}, {"groups": "g.csv"}):
        [check] = checked(["nurse"], ["nurse"], [1], **asked)
        assert (check.passed, check.finding) == (False, "this was not counted")
    plain = (Column("job", Role.QUASI_IDENTIFIER),)
    [check] = checked(["nurse"], ["nurse"], [1], columns=plain, apart={}, at_most={"job": 0})
    assert (check.passed, check.finding) == (False, "this was not counted")
