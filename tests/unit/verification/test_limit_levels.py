"""Cells next to the coarsest level that they may show, value by value."""

from __future__ import annotations

import datetime

import pytest

from incrowd.verification.limits import CoarsestLevel
from incrowd.vocabulary.hierarchy import Hierarchy, Leaves

JOB = Hierarchy.from_paths("job", [["nurse", "care", "people", "*"], ["cook", "food", "people", "*"], ["coder", "*"]])
TENS = {"(0, 10]": "(0, 20]", "(10, 20]": "(0, 20]", "(20, 40]": "(20, inf)", "(40, inf)": "(20, inf)"}
AGE = Hierarchy.from_paths("age", [[ten, group, "*"] for ten, group in TENS.items()], Leaves.NUMBERS)
DAY = Hierarchy.from_paths("day", [["2024-01", "2024", "*"], ["2024-02", "2024", "*"]], Leaves.DATES)
GRADE = Hierarchy.from_paths("grade", [["1", "good", "*"], ["2", "good", "*"], ["3", "poor", "*"]])


def passes(hierarchy, level, own, *cells):
    """Whether one row passes: its own value, and the one or two cells that show it."""
    return own is None or CoarsestLevel(hierarchy.name, hierarchy, level).is_fine(own, cells)


@pytest.mark.parametrize(
    ("level", "own", "shown", "fine"),
    [
        (0, "nurse", "nurse", True),
        (0, "nurse", "'nurse", True),
        (0, "nurse", "care", False),
        (1, "nurse", "care", True),
        (1, "nurse", "people", False),
        (2, "nurse", "people", True),
        (2, "nurse", None, False),
        (2, "nurse", "nurse|cook", False),
        (3, "nurse", None, True),
        (2, "coder", "coder", True),
        (2, "coder", None, False),
        (0, None, None, True),
        (0, "stranger", "people", False),
    ],
)
def test_words(level, own, shown, fine):
    assert passes(JOB, level, own, shown) is fine


@pytest.mark.parametrize(
    ("level", "own", "cells", "fine"),
    [
        (0, 7, ["(0, 10]"], True),
        (0, 7, ["(5, 8]"], True),
        (0, 7, ["(0, 20]"], False),
        (1, 7, ["(0, 20]"], True),
        (1, 7, ["(0, 25]"], False),
        (1, 7, ["(-inf, 20]"], False),
        (1, 7, ["[0, 20]"], False),
        (1, 7, ["[1, 20]"], True),
        (1, 7, ["7"], True),
        (1, 7, ["8"], False),
        (1, 50, ["(20, inf)"], True),
        (1, 7, ["0", "20"], True),
        (1, 7, ["0", None], False),
        (1, 50, ["20", None], True),
        (1, 50, [None, None], False),
        (1, 50, [None], False),
        (2, 50, [None], True),
    ],
)
def test_numbers(level, own, cells, fine):
    assert passes(AGE, level, own, *cells) is fine


def test_days():
    day = datetime.date(2024, 1, 5)
    assert passes(DAY, 0, day, "(2023-12-31, 2024-01-31]")
    assert not passes(DAY, 0, day, "(2023-12-31, 2024-02-29]")
    assert passes(DAY, 1, day, "(2023-12-31, 2024-02-29]")


def test_numbers_that_are_words():
    assert passes(GRADE, 0, 1, "1")
    assert passes(GRADE, 0, 1, "1.0")
    assert passes(GRADE, 1, 1, "good")
    assert not passes(GRADE, 1, 3, "good")
    assert not passes(GRADE, 0, 1, "good")
