"""The page of a comparison in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_report_page import DARK_PAPER, PAPER, browse, pixels

from incrowd.comparisons.datasets.invented import make_patients
from incrowd.comparisons.protocol import FixedSplit
from incrowd.comparisons.run import compare

SERIES = {(0, 114, 178), (213, 94, 0)}
DARK_SERIES = {(74, 163, 223), (255, 138, 61)}
SCRIPT = "<script>document.title='owned'</script>"


@pytest.fixture(scope="module")
def page() -> str:
    patients = make_patients(300).rename({"ward": SCRIPT})
    asked = {"methods": ["kactus", "mondrian"], "ks": [5, 20], "learners": ["nb"], "protocol": FixedSplit(), "jobs": 1}
    return compare(patients, target="readmitted", **asked).page()


def test_the_browser_finds_the_charts_and_runs_nothing(tmp_path: Path, page: str) -> None:
    seen = browse(tmp_path, page, "--dump-dom")
    assert "<title>What classifiers learn from releases of your table</title>" in seen.stdout
    assert seen.stdout.count("<svg") == 4  # by k, by risk, by purity, by what an attack gains
    assert "<script" not in seen.stdout
    assert "Content Security Policy" not in seen.stderr


@pytest.mark.parametrize("dark", [False, True])
def test_methods_have_their_colours_on_light_and_dark_screens(tmp_path: Path, page: str, dark: bool) -> None:
    picture = tmp_path / "page.png"
    flags = ["--blink-settings=preferredColorScheme=0"] if dark else []
    browse(tmp_path, page, f"--screenshot={picture}", "--window-size=800,1400", *flags)
    painted = set(pixels(picture.read_bytes()))
    assert (DARK_SERIES | {DARK_PAPER} if dark else SERIES | {PAPER}) <= painted
    assert (PAPER if dark else DARK_PAPER) not in painted
