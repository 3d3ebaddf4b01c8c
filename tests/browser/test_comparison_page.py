"""The page of a comparison in a real browser."""

from __future__ import annotations

import pytest
from test_report_page import DARK_PAPER, PAPER

from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.run import compare
from support.browsing import Opened, Painted

SERIES = {(0, 114, 178), (213, 94, 0)}
DARK_SERIES = {(74, 163, 223), (255, 138, 61)}
SCRIPT = "<script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def page() -> str:
    patients = make_patients(300).rename({"ward": SCRIPT})
    asked = {"methods": ["kactus", "mondrian"], "ks": [5, 20], "learners": ["nb"], "protocol": FixedSplit(), "jobs": 1}
    return compare(patients, target="readmitted", **asked).page()


def test_the_browser_finds_the_charts_and_runs_nothing(browse: Opened, page: str) -> None:
    seen, said = browse(page)
    assert seen.title() == "What classifiers learn from releases of your table"
    assert seen.content().count("<svg") == 4  # by k, by risk, by purity, by what an attack gains
    assert "<script" not in seen.content()
    assert said == []


@pytest.mark.parametrize("dark", [False, True])
def test_methods_have_their_colours_on_light_and_dark_screens(painted: Painted, page: str, dark: bool) -> None:
    seen = painted(page, color_scheme="dark" if dark else "light")
    assert (DARK_SERIES | {DARK_PAPER} if dark else SERIES | {PAPER}) <= seen
    assert (PAPER if dark else DARK_PAPER) not in seen
