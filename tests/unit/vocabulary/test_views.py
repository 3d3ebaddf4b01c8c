"""Hierarchies as drawings."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from incrowd.vocabulary.hierarchy import Hierarchy
from incrowd.vocabulary.views import MOST_ROWS
from support.axes import RecordedAxes

JOBS = [("nurse", "health", "*"), ("doctor", "health", "*"), ("cook", "food", "*")]


def boxes(hierarchy: Hierarchy) -> list[tuple[str, float, float]]:
    """What each box of the drawing says, its left end and its height."""
    rectangles = list(ElementTree.fromstring(hierarchy.plot().picture).iter("rect"))
    return [(str(one[0].text), float(one.attrib["x"]), float(one.attrib["height"])) for one in rectangles]


def test_a_group_is_as_high_as_its_leaves_and_right_of_what_holds_it():
    drawn = {label: (x, height) for label, x, height in boxes(Hierarchy.from_paths("job", JOBS))}
    assert set(drawn) == {"*", "health", "food", "nurse", "doctor", "cook"}
    assert drawn["*"][0] < drawn["health"][0] == drawn["food"][0] < drawn["nurse"][0] == drawn["cook"][0]
    assert drawn["*"][1] > drawn["health"][1] > drawn["nurse"][1] == drawn["food"][1]


def test_lower_levels_that_could_not_be_read_are_left_out():
    paths = [(f"job {number}", f"kind {number % 5}", "*") for number in range(MOST_ROWS + 1)]
    hierarchy = Hierarchy.from_paths("job", sorted(paths, key=lambda path: path[1]))
    assert [label for label, _, _ in boxes(hierarchy)] == ["kind 0", "*", "kind 1", "kind 2", "kind 3", "kind 4"]
    assert hierarchy.plot().title == "Hierarchy of job: 61 leaves, the upper 2 of 3 levels"


def test_axes_get_a_bar_for_each_node():
    axes = RecordedAxes()
    assert Hierarchy.from_paths("job", JOBS).plot(ax=axes) is axes
    heights = {
        words: named["height"]
        for ((_, _, words), _), (_, named) in zip(axes.named("text"), axes.named("barh"), strict=True)
    }
    assert heights["*"] == pytest.approx(2.9)
    assert heights["health"] == pytest.approx(1.9)
    assert heights["cook"] == pytest.approx(0.9)
