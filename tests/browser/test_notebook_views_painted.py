"""Views and plots inside somebody else's page: their colours, light and dark, and nothing beyond a narrow screen."""

from __future__ import annotations

import polars as pl
import pytest

import incrowd
from incrowd.attacks.attack import Finding
from incrowd.attacks.run import AttackReport
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.hierarchy import Hierarchy
from support.browsing import Opened, Painted

LEAK = Finding("leak", "x", 0.5, 0.1, (0.4, 0.6), 0.2, "share of rows", attack="homogeneity")
SOUND = Finding("no leak found", "x", 0.51, 0.5, (0.4, 0.6), 0.6, "AUC", attack="model membership")
COLOURS = {False: {(163, 32, 26), (23, 104, 60)}, True: {(255, 143, 135), (111, 207, 151)}}
AROUND = "<p style='color: rgb(1, 2, 3)'>███ of the notebook</p>"


@pytest.fixture(scope="module")
def views() -> str:
    frame = pl.DataFrame({"a very long name of a column": range(40), "ill": ["yes", "no"] * 20})
    checks = (Check("2-anonymity", True, "smallest of 3 classes: 4 rows"), Check("rows", False, "one is missing"))
    things = [
        incrowd.inspect(frame, target="ill"),
        Verdict(ClassSizes(40, 3, 4, ((4, 3),)), checks),
        AttackReport((LEAK, SOUND)).plot(),
        Hierarchy.from_paths("job", [("nurse", "health", "*"), ("cook", "food", "*")]).plot(),
    ]
    return AROUND + "".join(thing._repr_html_() for thing in things)


@pytest.mark.each(2)
@pytest.mark.parametrize("dark", [False, True])
def test_views_have_their_colours_and_leave_the_page_its_own(painted: Painted, views: str, dark: bool) -> None:
    seen = painted(f"<!DOCTYPE html>{views}", color_scheme="dark" if dark else "light")
    assert COLOURS[dark] <= seen
    assert not COLOURS[not dark] & seen
    assert (1, 2, 3) in seen


def test_nothing_is_wider_than_a_telephone(browse: Opened, views: str) -> None:
    head = "<!DOCTYPE html><meta name='viewport' content='width=device-width'>"
    page, _ = browse(f"{head}{views}", width=375, height=900)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
