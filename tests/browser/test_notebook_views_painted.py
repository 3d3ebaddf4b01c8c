"""Views and plots inside somebody else's page: their colours, light and dark, and nothing beyond a narrow screen."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
import pytest
from test_report_page import browse, pixels

import incrowd
from incrowd.attacks.attack import Finding
from incrowd.attacks.run import AttackReport
from incrowd.verification.verdict import Check, ClassSizes, Verdict
from incrowd.vocabulary.hierarchy import Hierarchy

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


@pytest.mark.parametrize("dark", [False, True])
def test_views_have_their_colours_and_leave_the_page_its_own(tmp_path: Path, views: str, dark: bool) -> None:
    picture = tmp_path / "page.png"
    flags = ["--blink-settings=preferredColorScheme=0"] if dark else []
    browse(tmp_path, f"<!DOCTYPE html>{views}", f"--screenshot={picture}", "--window-size=800,1400", *flags)
    painted = set(pixels(picture.read_bytes()))
    assert COLOURS[dark] <= painted
    assert not COLOURS[not dark] & painted
    assert (1, 2, 3) in painted


def test_nothing_is_wider_than_a_telephone(tmp_path: Path, views: str) -> None:
    inner = html.escape(f"<!DOCTYPE html><meta name='viewport' content='width=device-width'>{views}")
    frame = f'<iframe srcdoc="{inner}" style="width: 375px; height: 900px; border: 0"></iframe>'
    measure = "document.querySelector('iframe').contentDocument.documentElement.scrollWidth"
    seen = browse(
        tmp_path, f"<!DOCTYPE html>{frame}<script>onload = () => document.title = {measure}</script>", "--dump-dom"
    )
    (width,) = re.findall(r"<title>(\d+)</title>", seen.stdout)
    assert int(width) == 375
